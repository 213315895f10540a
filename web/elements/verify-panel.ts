// SPDX-License-Identifier: Apache-2.0
// The verify button of an article: runs its lab here, and puts a tick or a cross beside the very numbers.

import { readCsv } from "../runtime/csv.ts";
import {
  type Compared,
  firstDifference,
  type Outcome,
  startVerification,
  type Verification,
  type VerifyRecord,
} from "../runtime/verify.ts";

const element = <K extends keyof HTMLElementTagNameMap>(
  name: K,
  properties: Partial<HTMLElementTagNameMap[K]> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] => {
  const made = document.createElement(name);
  Object.assign(made, properties);
  made.append(...children);
  return made;
};

/** "14 of 14 exact figures came out bit for bit the same in this browser." */
export function summary(results: readonly Compared[]): string {
  const part = (kinds: readonly string[], what: string, outcome: string): string => {
    const all = results.filter(({ kind }) => kinds.includes(kind));
    if (all.length === 0) return "";
    const good = all.filter(({ equal }) => equal).length;
    const reduced = all.filter(({ as, equal }) => equal && as === "reduced").length;
    const size =
      reduced > 0 ? `, ${reduced === good ? "all" : reduced} of them at a smaller size` : "";
    return `${good} of ${all.length} ${what} ${outcome}${size}. `;
  };
  return (
    part(["exact"], "exact figures and tables", "came out bit for bit the same in this browser") +
    part(["modelled"], "modelled figures", "came out bit for bit the same") +
    part(["bounded"], "bounded figures", "stayed within their bound")
  ).trim();
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Wires the panel `.verify` that the page has ready: counts as text, and a place for the button. */
export class VerifyPanel {
  private running: Verification | undefined;
  private record: VerifyRecord | undefined;
  private readonly button = element("button", { type: "button", className: "main" });
  private readonly stopButton = element("button", {
    type: "button",
    textContent: "Stop",
    hidden: true,
  });
  private readonly progress = element("progress", { max: 1, value: 0, hidden: true });
  private readonly said = element("output");
  private readonly detail = element("div", { className: "mismatch" });
  private readonly label: string;

  constructor(private readonly panel: HTMLElement) {
    this.label = panel.dataset["label"] ?? "Verify";
    this.button.textContent = this.label;
    this.progress.setAttribute("aria-label", "Verification");
    this.said.setAttribute("aria-live", "polite");
    this.button.addEventListener("click", () => void this.verify());
    this.stopButton.addEventListener("click", () => this.running?.stop());
    panel.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.running?.stop();
    });
    const bar = element(
      "div",
      { className: "verify-bar" },
      this.button,
      this.stopButton,
      this.progress,
    );
    panel.querySelector(".verify-place")?.replaceChildren(bar, this.said, this.detail);
  }

  private become(state: string): void {
    this.panel.dataset["state"] = state;
    const busy = state === "running";
    this.button.disabled = busy;
    this.stopButton.hidden = this.progress.hidden = !busy;
    this.panel.dispatchEvent(new CustomEvent("verify-state", { detail: { state }, bubbles: true }));
  }

  async verify(): Promise<void> {
    if (this.running) return;
    this.become("running");
    this.stopButton.focus();
    this.detail.replaceChildren();
    for (const mark of document.querySelectorAll("[data-verified]"))
      mark.removeAttribute("data-verified");
    this.said.textContent = "Fetching the lab.";
    let outcome: Outcome;
    try {
      const response = await fetch(new URL(this.panel.dataset["record"]!, document.baseURI));
      if (!response.ok) throw new Error(`verify.json: the server answered ${response.status}`);
      this.record = (await response.json()) as VerifyRecord;
      this.running = startVerification(this.record, (done, total, what) => {
        this.progress.value = total > 0 ? done / total : 0;
        this.said.textContent =
          what === "bytes" ? "Fetching the lab." : `Running the lab: ${what}.`;
      });
      outcome = await this.running.outcome;
    } catch (error) {
      outcome = {
        state: "failed",
        message: error instanceof Error ? error.message : String(error),
      };
    }
    this.running = undefined;
    await this.show(outcome);
  }

  private async show(outcome: Outcome): Promise<void> {
    switch (outcome.state) {
      case "verified":
      case "mismatch":
        this.said.textContent = "";
        await this.markAll(outcome.results);
        this.said.textContent = `${summary(outcome.results)} It took ${outcome.seconds.toFixed(1)} s here.`;
        if (outcome.state === "mismatch") this.showMismatch(outcome);
        break;
      case "module-mismatch":
        this.said.textContent =
          "The file that came is not the one that was built for this page, so it was not run. A proxy or a half-finished upload does that; the page's numbers say nothing either way.";
        this.report({ file: outcome.url, expected: outcome.expected, got: outcome.got });
        break;
      case "failed":
        this.said.textContent = `The lab could not run in this browser: ${outcome.message}`;
        this.report({ message: outcome.message });
        break;
      case "stopped":
        this.said.textContent = "Stopped. Nothing was compared.";
        break;
    }
    this.become(outcome.state);
    this.button.textContent = outcome.state === "stopped" ? this.label : "Verify again";
    this.button.focus();
  }

  /** Marks one number after another, so that the eye can follow the count. */
  private async markAll(results: readonly Compared[]): Promise<void> {
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const step = still ? 0 : Math.min(60, 1200 / Math.max(1, results.length));
    let count = 0;
    for (const result of results) {
      mark(result);
      count += result.equal ? 1 : 0;
      this.progress.value = count / results.length;
      this.button.textContent = `${count} of ${results.length}`;
      if (step > 0) await pause(step);
    }
  }

  private showMismatch(outcome: Extract<Outcome, { state: "verified" | "mismatch" }>): void {
    const wrong = outcome.results.filter(({ equal }) => !equal);
    const rows = wrong.map((result) => {
      const row = element(
        "tr",
        {},
        element("th", { scope: "row" }, `${result.title} (${result.id})`),
        element("td", {}, element("code", {}, result.expected)),
        element("td", {}, element("code", {}, result.got)),
      );
      if (result.what === "table") void this.explainTable(row, result, outcome);
      return row;
    });
    const head = element(
      "tr",
      {},
      ...["Figure", "The record", "This browser"].map((text) =>
        element("th", { scope: "col" }, text),
      ),
    );
    const scroll = element(
      "div",
      { className: "scroll", tabIndex: 0 },
      element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows)),
    );
    scroll.setAttribute("role", "group");
    scroll.setAttribute("aria-label", "What differs");
    const one = wrong.length === 1;
    this.detail.append(
      element(
        "p",
        {},
        `${wrong.length} ${one ? "value differs" : "values differ"} from the record. That should not happen on any machine; the report below says what we would need to know.`,
      ),
      scroll,
    );
    this.report({ lab: this.record?.lab, wasm: outcome.wasm, different: wrong });
  }

  private async explainTable(
    row: HTMLTableRowElement,
    result: Compared,
    outcome: Extract<Outcome, { state: "verified" | "mismatch" }>,
  ): Promise<void> {
    const table = this.record?.tables.find(({ id }) => id === result.id);
    const got = outcome.report.tables.find(({ id }) => id === result.id);
    if (!table || !got) return;
    const response = await fetch(new URL(table.csv, document.baseURI));
    if (!response.ok) return;
    const cells = readCsv(await response.text()).slice(1);
    row.lastElementChild?.append(element("p", {}, firstDifference(cells, got.cells)));
  }

  /** Everything worth sending, to read and to copy. */
  private report(content: Record<string, unknown>): void {
    const text = JSON.stringify(
      { page: location.pathname, browser: navigator.userAgent, ...content },
      null,
      2,
    );
    const copy = element("button", { type: "button", textContent: "Copy the report" });
    copy.addEventListener("click", () => {
      void navigator.clipboard.writeText(text).then(
        () => (copy.textContent = "Copied"),
        () => (copy.textContent = "Select the text below"),
      );
    });
    const pre = element("pre", { tabIndex: 0 }, element("code", {}, text));
    pre.setAttribute("aria-label", "Report");
    this.detail.append(copy, pre);
  }
}

/** Puts the outcome beside every place that shows the figure or the table. */
function mark(result: Compared): void {
  const id = CSS.escape(result.id);
  const places = document.querySelectorAll<HTMLElement>(
    result.what === "table" ? `[data-table="${id}"]` : `[data-fig="${id}"], [data-state="${id}"]`,
  );
  const same =
    result.kind === "bounded"
      ? "within its bound in this browser"
      : "the same bits in this browser";
  const words = result.equal
    ? result.as === "shown"
      ? same
      : `${same}, at a reduced size`
    : "differs from its record in this browser";
  for (const place of places) {
    place.dataset["verified"] = result.equal ? "yes" : "no";
    place.dataset["as"] = result.as;
    if (place.dataset["state"] !== undefined) {
      place.textContent = words;
      continue;
    }
    place.querySelector("use")?.setAttribute("href", result.equal ? "#k-tick" : "#k-cross");
    const said = place.querySelector("[data-said]");
    if (said) said.textContent = `, ${words}`;
  }
}
