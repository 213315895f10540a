// SPDX-License-Identifier: Apache-2.0
// The script of every article: the verify panel, reading values off charts, and formulas as MathML for those who want
// them. Pages work without it.

import { addReading } from "../elements/chart-reading.ts";
import { VerifyPanel } from "../elements/verify-panel.ts";

for (const panel of document.querySelectorAll<HTMLElement>(".verify[data-record]"))
  new VerifyPanel(panel);

for (const figure of document.querySelectorAll<HTMLElement>("figure.chart[data-read]"))
  addReading(figure);

for (const place of document.querySelectorAll<HTMLElement>(".maths-choice")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "plain";
  const set = (native: boolean): void => {
    document.documentElement.classList.toggle("mathml", native);
    button.setAttribute("aria-pressed", String(native));
    button.textContent = "Show formulas as MathML";
  };
  set(false);
  button.addEventListener("click", () => set(button.getAttribute("aria-pressed") !== "true"));
  place.replaceChildren(button);
}
