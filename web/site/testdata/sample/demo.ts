// SPDX-License-Identifier: Apache-2.0
// The sample demo: partial sums of the harmonic series on a timeline. Two bad buttons are there for the tests.

import { html, type TemplateResult } from "lit";

import { choice, slider } from "../../../elements/controls.ts";
import { Demo, defineDemo, defineParams, type Outcome } from "../../../elements/demo.ts";
import { linearScale, linePath, xAxis, yAxis } from "../../../elements/plot.ts";
import { output, type Module } from "../../../runtime/pool.ts";

const params = defineParams({
  n: { kind: "integer", label: "Terms", min: 2, max: 4096, initial: 64 },
  seed: { kind: "integer", label: "Seed", min: 0, max: 4294967295, initial: 1 },
  mood: {
    kind: "choice",
    label: "Mood",
    options: { good: "good", endless: "never returns", trap: "reads outside memory" },
    initial: "good",
  },
});

class SampleDemo extends Demo<typeof params> {
  static override readonly slug = "sample";
  static override readonly heading = "The sum grows, slower and slower";
  static override readonly hint = "Add more terms and watch the steps shrink.";
  static override readonly params = params;
  static override readonly rate = 30;

  private sums: Float64Array = new Float64Array();

  protected override async compute(module: Module): Promise<Outcome> {
    const { n, mood } = this.values;
    if (mood === "endless") await module.run("forever", [1]);
    if (mood === "trap") await module.run("trap");
    const [sums] = await module.run("partial_sums", [n, output("f64", n)]);
    this.sums = sums as Float64Array;
    return {
      words: `After ${n} terms the sum is ${this.sums.at(-1)!.toPrecision(6)}.`,
      bits: [this.sums],
      steps: n,
    };
  }

  protected override view(): TemplateResult {
    const { n } = this.values;
    const w = this.width;
    const x = linearScale([0, n], [48, w - 16]);
    const y = linearScale([0, 10], [216, 40]);
    const seen = this.sums.subarray(0, this.k);
    return html`
      <svg viewBox="0 0 ${w} 256" role="img" aria-label="Partial sums, ${this.k} of ${n} terms">
        ${yAxis(y, 48, "sum", w - 16)} ${xAxis(x, 216, "terms", w < 480 ? 4 : 6)}
        <path class="line s1" d=${linePath(seen, x, y)}></path>
      </svg>
      <div class="controls">${slider(this, "n")} ${choice(this, "mood")}</div>
    `;
  }
}

defineDemo("assay-sample", SampleDemo);
