// SPDX-License-Identifier: Apache-2.0
// <assay-cost-of-matrix-multiplication>: a product followed through a cache, number by number.
// <assay-cost-of-matrix-multiplication-model>: what a language model costs, row by row, with its formulas.
// <assay-cost-of-matrix-multiplication-race>: three loops against the library, timed in this browser.

import { css, html, nothing, svg, type SVGTemplateResult, type TemplateResult } from "lit";

import { buttons, choice, flag, slider } from "../../elements/controls.ts";
import { Demo, defineDemo, defineParams, type Outcome } from "../../elements/demo.ts";
import type { Values } from "../../elements/params.ts";
import { handle, linearScale, xAxis, yAxis } from "../../elements/plot.ts";
import { demoStyles } from "../../elements/styles.ts";
import { input, output, type Module } from "../../runtime/pool.ts";

// ---------------------------------------------------------------- numbers in words

const short = (value: number, digits = 3): string =>
  Number(value.toPrecision(digits)).toLocaleString("en", { maximumSignificantDigits: digits });

const scaled = (
  value: number,
  unit: string,
  steps: readonly (readonly [number, string])[],
): string => {
  const [size, prefix] = steps.find(([u]) => value >= u) ?? steps.at(-1)!;
  return `${short(value / size)} ${prefix}${unit}`;
};
const large = [
  [1e24, "Y"],
  [1e21, "Z"],
  [1e18, "E"],
  [1e15, "P"],
  [1e12, "T"],
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
  [1, ""],
] as const;

/** "51.5 TFLOP". */
export const flopsInWords = (flops: number): string => scaled(flops, "FLOP", large);
/** "16.1 GB", in powers of ten. */
export const bytesInWords = (bytes: number): string => scaled(bytes, "B", large);
/** "8.03 billion". */
export function countInWords(count: number): string {
  const steps = [
    [1e12, "trillion"],
    [1e9, "billion"],
    [1e6, "million"],
  ] as const;
  const step = steps.find(([u]) => count >= u);
  return step ? `${short(count / step[0])} ${step[1]}` : short(count);
}
/** "2.87 ms". */
export const timeInWords = (seconds: number): string =>
  seconds >= 7200
    ? `${short(seconds / 3600)} hours`
    : scaled(seconds, "s", [
        [1, ""],
        [1e-3, "m"],
        [1e-6, "\u00b5"],
        [1e-9, "n"],
      ]);

// ---------------------------------------------------------------- the cache

const orders = {
  ijk: "i j k: down B's columns",
  jik: "j i k",
  ikj: "i k j: along rows",
  kij: "k i j",
  jki: "j k i: down columns",
  kji: "k j i",
  tiled: "in tiles",
} as const;

const cacheParams = defineParams({
  order: { kind: "choice", label: "Order of the loops", options: orders, initial: "tiled" },
  n: { kind: "integer", label: "Rows", min: 4, max: 32, initial: 16 },
  tile: { kind: "integer", label: "Tile", min: 1, max: 32, initial: 4 },
  lines: {
    kind: "choice",
    label: "Lines of the cache",
    options: { "8": "8", "16": "16", "32": "32", "64": "64", "128": "128" },
    initial: "16",
  },
  line: {
    kind: "choice",
    label: "Numbers a line",
    options: { "1": "1", "2": "2", "4": "4", "8": "8" },
    initial: "4",
  },
  ways: {
    kind: "choice",
    label: "Places for a line",
    options: { "1": "1", "2": "2", "4": "4", all: "any" },
    initial: "all",
  },
  pad: { kind: "flag", label: "Rows end with an unused line", initial: false },
});

/** After how many multiplications step k of the timeline stands; at most 1,024 steps. */
export function multiplicationsAt(k: number, n: number): number {
  const steps = stepsOf(n);
  return Math.round((k * n ** 3) / steps);
}
export const stepsOf = (n: number): number => Math.min(1024, n ** 3);

const bits = { held: 1, changed: 2, touched: 4, missed: 8 };

class CacheDemo extends Demo<typeof cacheParams> {
  static override readonly slug = "cost-of-matrix-multiplication";
  static override readonly heading = "A product through a cache";
  static override readonly hint =
    "Play it, or step. Then change the order, the tile and the cache, and watch what has to travel.";
  static override readonly params = cacheParams;
  static override readonly rate = 30;

  static override styles = [
    demoStyles,
    css`
      .sheet {
        fill: none;
        stroke: var(--_rule);
      }
      .held {
        fill: color-mix(in srgb, var(--series-1) 32%, transparent);
      }
      .changed {
        fill: color-mix(in srgb, var(--series-4) 45%, transparent);
      }
      .touched {
        fill: var(--_ink);
      }
      .missed {
        fill: none;
        stroke: var(--series-2);
        stroke-width: 2;
      }
      .moved {
        fill: var(--series-1);
      }
      .whole {
        fill: none;
        stroke: var(--series-1);
      }
      .least {
        stroke: var(--series-2);
        stroke-width: 2;
        stroke-dasharray: 4 3;
      }
      .key {
        display: flex;
        flex-wrap: wrap;
        gap: 4px 16px;
        margin: 8px 0 0;
        padding: 0;
        list-style: none;
        font-size: 0.8125rem;
      }
      .key svg {
        display: inline-block;
        width: 14px;
        height: 14px;
        vertical-align: -2px;
      }
    `,
  ];

  private state_: Uint8Array = new Uint8Array();
  private counts: Float64Array = new Float64Array(6);
  private end: Float64Array = new Float64Array(6);
  private byOrder: Float64Array = new Float64Array(7);
  private byTile: Float64Array = new Float64Array();
  /** What the arrays above are of. */
  private n = 16;

  private get tile(): number {
    return Math.min(this.values.tile, this.values.n);
  }

  private arguments_(): { loops: [number, number, number]; cache: [number, number, number] } {
    const { n, pad, line, lines, ways } = this.values;
    const count = Number(lines);
    return {
      loops: [n, this.tile, pad ? Number(line) : 0],
      cache: [Number(line), count, ways === "all" ? count : Number(ways)],
    };
  }

  private async traceTo(
    module: Module,
    from: number,
    to: number,
  ): Promise<[Uint8Array, Float64Array]> {
    const { loops, cache } = this.arguments_();
    const [state, counts] = await module.run("trace", [
      Object.keys(orders).indexOf(this.values.order),
      ...loops,
      ...cache,
      from,
      to,
      output("u8", 3 * loops[0] ** 2),
      output("f64", 6),
    ]);
    return [state as Uint8Array, counts as Float64Array];
  }

  protected override async compute(module: Module): Promise<Outcome> {
    const { loops, cache } = this.arguments_();
    const n = loops[0];
    const [byOrder, byTile] = await module.run("curve", [
      ...loops,
      ...cache,
      output("f64", 7),
      output("f64", n),
    ]);
    const [, end] = await this.traceTo(module, 0, n ** 3);
    this.byOrder = byOrder as Float64Array;
    this.byTile = byTile as Float64Array;
    this.end = end;
    this.n = n;
    return { words: this.endWords(), bits: [this.byOrder, this.byTile, end], steps: stepsOf(n) };
  }

  protected override async step(k: number, module: Module): Promise<void> {
    const { n } = this.values;
    const [state, counts] = await this.traceTo(
      module,
      k === 0 ? 0 : multiplicationsAt(k - 1, n),
      multiplicationsAt(k, n),
    );
    this.state_ = state;
    this.counts = counts;
    this.n = n;
  }

  private endWords(): string {
    const best = this.byTile.indexOf(Math.min(...this.byTile)) + 1;
    return (
      `The whole product moves ${this.end[4]!.toLocaleString("en")} numbers, ` +
      `${short(this.end[4]! / this.end[5]!)} times the lower bound. The best tile here is ${best}.`
    );
  }

  protected override stepWords(k: number): string {
    const done = multiplicationsAt(k, this.n);
    const [a, b, c, back, moved] = this.counts;
    return (
      `${done.toLocaleString("en")} multiplications: lines fetched ${a} of A, ${b} of B, ${c} of C, ` +
      `${back} written back; ${moved!.toLocaleString("en")} numbers moved.${k === this.steps ? ` ${this.endWords()}` : ""}`
    );
  }

  private matrices(): TemplateResult {
    const w = this.width;
    const { n } = this;
    const gap = w < 480 ? 14 : 32;
    const side = Math.min(220, (w - 2 * gap) / 3);
    const cell = side / n;
    const left = (w - 3 * side - 2 * gap) / 2;
    const cells = (matrix: number, wanted: (s: number) => boolean, inset = 0): string => {
      let d = "";
      for (let i = 0; i < n * n; i++) {
        if (!wanted(this.state_[matrix * n * n + i] ?? 0)) continue;
        const x = left + matrix * (side + gap) + (i % n) * cell + inset;
        const y = 24 + Math.floor(i / n) * cell + inset;
        const size = (cell - 2 * inset).toFixed(2);
        d += `M${x.toFixed(2)},${y.toFixed(2)}h${size}v${size}h-${size}z`;
      }
      return d;
    };
    const held = (s: number): boolean => (s & bits.held) !== 0 && (s & bits.changed) === 0;
    const changed = (s: number): boolean => (s & bits.changed) !== 0;
    const touched = (s: number): boolean => (s & bits.touched) !== 0;
    const missed = (s: number): boolean => (s & bits.missed) !== 0;
    return html`<svg
      viewBox="0 0 ${w} ${side + 48}"
      role="img"
      aria-label="Matrices A, B and C. ${this.stepWords(this.k)}"
    >
      ${["A", "B", "C"].map((name, m) => {
        const x = left + m * (side + gap);
        return svg`
          <text x=${x} y="16">${name}</text>
          <path class="held" d=${cells(m, held)}></path>
          <path class="changed" d=${cells(m, changed)}></path>
          <path class="touched" d=${cells(m, touched, cell * 0.25)}></path>
          <path class="missed" d=${cells(m, missed, 1)}></path>
          <rect class="sheet" x=${x} y="24" width=${side} height=${side}></rect>
          <text x=${x} y=${side + 42}>${this.counts[m] ?? 0} lines</text>`;
      })}
    </svg>`;
  }

  private meter(): TemplateResult {
    const w = this.width;
    const most = Math.max(this.end[4]!, this.end[5]!) * 1.02;
    const x = linearScale([0, most], [0, w - 2]);
    return html`<svg
      viewBox="0 0 ${w} 48"
      role="img"
      aria-label="${this.counts[4]} of ${this.end[4]} numbers moved; the lower bound is ${Math.round(this.end[5]!)}"
    >
      <rect class="whole" x="1" y="6" width=${Math.max(0, x(this.end[4]!) - 1)} height="14"></rect>
      <rect
        class="moved"
        x="1"
        y="6"
        width=${Math.max(0, x(this.counts[4]!) - 1)}
        height="14"
      ></rect>
      <line class="least" x1=${x(this.end[5]!)} x2=${x(this.end[5]!)} y1="0" y2="26"></line>
      <text x="0" y="42">
        ${this.counts[4]!.toLocaleString("en")} of ${this.end[4]!.toLocaleString("en")} numbers
        moved
      </text>
      <text class="bound" x=${w} y="42" text-anchor="end">
        least: ${Math.round(this.end[5]!).toLocaleString("en")}
      </text>
    </svg>`;
  }

  private tiles(): TemplateResult {
    const w = this.width;
    const { n } = this;
    const top = Math.max(...this.byTile) * 1.05;
    const x = linearScale([1, n], [56, w - 14]);
    const y = linearScale([0, top], [150, 32]);
    const tile = Math.min(this.tile, n);
    const at = this.byTile[tile - 1] ?? 0;
    const d = Array.from(
      this.byTile,
      (moved, i) => `${i ? "L" : "M"}${x(i + 1).toFixed(1)},${y(moved).toFixed(1)}`,
    ).join("");
    const choose = (value: number): void =>
      this.set({ tile: Math.min(n, Math.max(1, Math.round(value))), order: "tiled" });
    return html`<svg
      viewBox="0 0 ${w} 190"
      role="group"
      aria-label="Numbers moved by side of the tile; at ${tile} it is ${at}"
    >
      ${yAxis(y, 56, "numbers moved by tile", w - 14, 3)}
      ${xAxis(x, 150, "side of the tile", w < 480 ? 4 : 8)}
      <line class="least" x1="56" x2=${w - 14} y1=${y(this.end[5]!)} y2=${y(this.end[5]!)}></line>
      <path class="line s1" d=${d}></path>
      ${handle({
        x: x(tile),
        y: y(at),
        label: "Side of the tile",
        value: tile,
        min: 1,
        max: n,
        step: 1,
        words: `tile of ${tile}: ${at} numbers moved`,
        radius: 9,
        onValue: choose,
        onPoint: (point) => choose(x.invert(point.x)),
      })}
    </svg>`;
  }

  protected override view(): TemplateResult {
    const swatch = (look: string): TemplateResult =>
      html`<svg viewBox="0 0 14 14" aria-hidden="true">
        <rect class=${look} x="2" y="2" width="10" height="10"></rect>
      </svg>`;
    const tiled = this.values.order === "tiled";
    return html`
      ${this.matrices()}
      <ul class="key">
        <li>${swatch("held")} in the cache</li>
        <li>${swatch("changed")} changed there</li>
        <li>${swatch("touched")} touched now</li>
        <li>${swatch("missed")} had to be fetched</li>
      </ul>
      ${this.meter()} ${tiled ? this.tiles() : this.orderTable()}
      <div class="controls">
        ${choice(this, "order")} ${slider(this, "n")} ${tiled ? slider(this, "tile") : nothing}
        ${choice(this, "lines")} ${choice(this, "line")} ${buttons(this, "ways")}
        ${flag(this, "pad")}
      </div>
    `;
  }

  private orderTable(): TemplateResult {
    return html`<div class="scroll" tabindex="0" role="region" aria-label="Numbers moved by order">
      <table>
        <thead>
          <tr>
            <th scope="col">order</th>
            <th scope="col" class="n">numbers moved</th>
            <th scope="col" class="n">times the least</th>
          </tr>
        </thead>
        <tbody>
          ${Object.values(orders).map(
            (words, i) =>
              html`<tr>
                <th scope="row">${words}</th>
                <td class="n">${this.byOrder[i]!.toLocaleString("en")}</td>
                <td class="n">${short(this.byOrder[i]! / this.end[5]!)}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`;
  }
}

defineDemo("assay-cost-of-matrix-multiplication", CacheDemo);

// ---------------------------------------------------------------- a model's cost

/** Published models, in the order of the module's catalogue; checked by a test. */
export const models = {
  gpt2: "GPT-2 124M",
  gpt2xl: "GPT-2 1.5B",
  gpt3: "GPT-3 175B",
  llama2: "Llama 2 7B",
  llama2_70b: "Llama 2 70B",
  llama3: "Llama 3 8B",
  llama3_70b: "Llama 3 70B",
  mistral: "Mistral 7B",
  mixtral: "Mixtral 8x7B",
  palm: "PaLM 540B",
  gemma: "Gemma 2B",
  qwen_half: "Qwen2 0.5B",
  qwen: "Qwen2 7B",
  own: "one of your own",
} as const;
export const chips = {
  t4: "T4",
  a100: "A100",
  h100: "H100",
  h200: "H200",
  tpu4: "TPU v4",
  own: "your own machine",
} as const;

const count = (label: string, min: number, max: number, initial: number, step = 1) =>
  ({ kind: "integer", label, min, max, initial, step }) as const;

const modelParams = defineParams({
  model: { kind: "choice", label: "Model", options: models, initial: "llama3" },
  mode: {
    kind: "choice",
    label: "What it does",
    options: { training: "a training step", prefill: "reads a prompt", decoding: "writes a token" },
    initial: "decoding",
  },
  batch: { kind: "real", label: "Sequences", min: 1, max: 4096, initial: 1, step: 1, log: true },
  context: {
    kind: "real",
    label: "Tokens of each",
    min: 1,
    max: 131072,
    initial: 4096,
    step: 1,
    digits: 6,
    log: true,
  },
  chip: { kind: "choice", label: "Chip", options: chips, initial: "h200" },
  precision: {
    kind: "choice",
    label: "Products in",
    options: { f32: "f32", f16: "f16", f8: "f8 or int8" },
    initial: "f16",
  },
  weights: {
    kind: "choice",
    label: "Bits of a weight",
    options: { "16": "16", "8": "8", "4": "4" },
    initial: "16",
  },
  recompute: { kind: "flag", label: "Compute layers again for the gradients", initial: false },
  layers: count("Layers", 1, 200, 32),
  width: count("Width", 64, 32768, 4096, 64),
  heads: count("Heads", 1, 256, 32),
  kv: count("Heads of keys and values", 1, 256, 8),
  head: count("Width of a head", 2, 512, 128, 2),
  hidden: count("Hidden width", 64, 131072, 14336, 64),
  vocabulary: count("Vocabulary", 256, 300000, 128256, 64),
  gated: { kind: "flag", label: "Three matrices a feed-forward block", initial: true },
  experts: count("Experts (0: none)", 0, 256, 0),
  active: count("Experts a token visits", 0, 64, 0),
  tflops: {
    kind: "real",
    label: "Peak",
    unit: "TFLOP/s",
    min: 0.001,
    max: 10000,
    initial: 0.5,
    step: 0.001,
    log: true,
  },
  gbps: {
    kind: "real",
    label: "Bandwidth",
    unit: "GB/s",
    min: 0.1,
    max: 100000,
    initial: 50,
    step: 0.1,
    log: true,
  },
  memory: {
    kind: "real",
    label: "Memory",
    unit: "GB",
    min: 0.1,
    max: 10000,
    initial: 16,
    step: 0.1,
    log: true,
  },
});

const shapeNames = [
  "layers",
  "width",
  "heads",
  "kv",
  "head",
  "hidden",
  "vocabulary",
  "gated",
  "experts",
  "active",
] as const;
type ModelValues = Values<typeof modelParams>;

/** Values of the controls from a model's ten numbers. */
export function shapeValues(shape: ArrayLike<number>): Partial<ModelValues> {
  return Object.fromEntries(
    shapeNames.map((name, i) => [name, name === "gated" ? shape[i] !== 0 : shape[i]!]),
  ) as Partial<ModelValues>;
}

export const groups = [
  "projections",
  "attention",
  "feed-forward",
  "vocabulary",
  "the rest",
] as const;
export type Group = (typeof groups)[number];

/** Where a row belongs; `kind` is the module's: 0 product, 1 attention, 2 softmax. */
export function groupOf(section: string, name: string, kind: number): Group {
  if (kind === 1 || name === "softmax") return "attention";
  if (kind === 0 && section === "head") return "vocabulary";
  if (kind === 0) return name.endsWith("projection") ? "projections" : "feed-forward";
  return "the rest";
}

interface CostRow {
  readonly section: string;
  readonly name: string;
  readonly formula: string;
  readonly numbers: string;
  readonly kind: number;
  readonly flops: number;
  readonly bytes: number;
  readonly seconds: number;
  readonly computes: boolean;
  readonly repeats: number;
}

/** Rows from the module's text and numbers. */
export function readRows(text: string, numbers: Float64Array): CostRow[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line, i) => {
      const [section = "", name = "", formula = "", substituted = ""] = line.split("\t");
      const [kind, flops, bytes, seconds, computes, repeats] = numbers.subarray(6 * i, 6 * i + 6);
      return {
        section,
        name,
        formula,
        numbers: substituted.replaceAll(" x ", " \u00d7 "),
        kind: kind!,
        flops: flops!,
        bytes: bytes!,
        seconds: seconds!,
        computes: computes === 1,
        repeats: repeats!,
      };
    });
}

/** The text of a NUL-terminated array. */
export function textOf(bytes: Uint8Array): string {
  const end = bytes.indexOf(0);
  return new TextDecoder().decode(end < 0 ? bytes : bytes.subarray(0, end));
}

class ModelDemo extends Demo<typeof modelParams> {
  static override readonly slug = "cost-of-matrix-multiplication";
  static override readonly heading = "What a model costs";
  static override readonly hint =
    "Choose a model and what it does, or type your own; each row has its formula and what it waits for.";
  static override readonly params = modelParams;

  static override styles = [
    demoStyles,
    css`
      .part {
        fill: var(--s);
        stroke: var(--_paper);
        stroke-width: 1;
      }
      .totals {
        display: grid;
        grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr));
        gap: 8px 16px;
        margin: 0 0 12px;
      }
      .totals dt {
        color: var(--_soft);
        font-size: 0.8125rem;
      }
      .totals dd {
        margin: 0;
        font-weight: 600;
      }
      table {
        width: 100%;
        margin-top: 8px;
      }
      td {
        white-space: nowrap;
      }
      details {
        margin-top: 12px;
      }
      .key {
        display: flex;
        flex-wrap: wrap;
        gap: 4px 16px;
        margin: 4px 0 0;
        padding: 0;
        list-style: none;
        font-size: 0.8125rem;
      }
      .key svg {
        display: inline-block;
        width: 14px;
        height: 12px;
      }
      .over {
        color: var(--_bad);
      }
    `,
  ];

  private shapes: Float64Array = new Float64Array();
  private rates: Float64Array = new Float64Array();
  private totals: Float64Array = new Float64Array(11);
  private rows: CostRow[] = [];

  override set(change: Partial<ModelValues>): void {
    const number = Object.keys(models).indexOf(change.model ?? "own");
    if (change.model !== undefined && change.model !== "own" && this.shapes.length > 0) {
      // The controls show the numbers of the model that was chosen.
      super.set({ ...change, ...shapeValues(this.shapes.subarray(10 * number, 10 * number + 10)) });
      return;
    }
    const typed = shapeNames.some((name) => name in change);
    super.set(typed ? { ...change, model: "own" } : change);
  }

  protected override async prepare(module: Module): Promise<void> {
    const size = 2048;
    const [, shapes, rates] = await module.run("catalogue", [
      output("u8", size),
      size,
      output("f64", 320),
      output("f64", 96),
    ]);
    this.shapes = shapes as Float64Array;
    this.rates = rates as Float64Array;
  }

  protected override async compute(module: Module): Promise<Outcome> {
    const { model, mode, chip, precision, weights, recompute } = this.values;
    const number = model === "own" ? -1 : Object.keys(models).indexOf(model);
    // A link may name a model and no sizes.
    if (number >= 0) {
      Object.assign(this.values, shapeValues(this.shapes.subarray(10 * number, 10 * number + 10)));
    }
    const shape = Float64Array.from(shapeNames, (name) => Number(this.values[name]));
    const { tflops, gbps, memory } = this.values;
    const size = 16384;
    const [totals, rows, , text] = await module.run("estimate", [
      number,
      input(shape),
      Object.keys(modelParams.mode.options).indexOf(mode),
      Math.round(this.values.batch),
      Math.round(this.values.context),
      chip === "own" ? -1 : Object.keys(chips).indexOf(chip),
      input(Float64Array.of(tflops * 1e12, gbps * 1e9, memory * 1e9)),
      Object.keys(modelParams.precision.options).indexOf(precision),
      Number(weights),
      recompute ? 2 : 0,
      output("f64", 11),
      output("f64", 288),
      output("i32", 1),
      output("u8", size),
      size,
    ]);
    this.totals = totals as Float64Array;
    this.rows = readRows(textOf(text as Uint8Array), rows as Float64Array);
    return { words: this.inWords(), bits: [this.totals, rows as Float64Array] };
  }

  private get machineMemory(): number {
    const { chip, memory } = this.values;
    return chip === "own" ? memory * 1e9 : this.rates[3 * Object.keys(chips).indexOf(chip) + 2]!;
  }

  private inWords(): string {
    const [flops, , seconds, computing] = this.totals;
    const share = (100 * computing!) / seconds!;
    const waits =
      share > 99.5
        ? "arithmetic all the time"
        : share < 0.5
          ? "memory all the time"
          : `arithmetic for ${short(share, 2)}% of the time, memory for the rest`;
    const needed = this.totals[9]!;
    const fits =
      needed <= this.machineMemory
        ? ""
        : ` It would need ${short(needed / this.machineMemory, 2)} such chips for its ${bytesInWords(needed)}.`;
    return `${flopsInWords(flops!)} in at least ${timeInWords(seconds!)}, waiting for ${waits}.${fits}`;
  }

  private bars(): TemplateResult {
    const w = this.width;
    const bar = (y: number, words: string, value: (row: CostRow) => number): SVGTemplateResult => {
      const whole = this.rows.reduce((sum, row) => sum + value(row), 0) || 1;
      let x = 0;
      return svg`<text x="0" y=${y}>${words}</text>
        ${groups.map((group, i) => {
          const part = this.rows
            .filter((row) => groupOf(row.section, row.name, row.kind) === group)
            .reduce((sum, row) => sum + value(row), 0);
          const width = (part / whole) * w;
          const from = x;
          x += width;
          const percent = Math.round((100 * part) / whole);
          return svg`<rect class="part s${i + 1}" x=${from} y=${y + 6} width=${width} height="22"></rect>
            ${width > 44 ? svg`<text x=${from + 6} y=${y + 44} >${percent}%</text>` : nothing}`;
        })}`;
    };
    const words = groups
      .map((group) => {
        const sum = this.rows
          .filter((row) => groupOf(row.section, row.name, row.kind) === group)
          .reduce((total, row) => total + row.flops, 0);
        return `${group} ${flopsInWords(sum)}`;
      })
      .join(", ");
    return html`<svg viewBox="0 0 ${w} 196" role="img" aria-label="Operations by part: ${words}">
        ${bar(14, `${flopsInWords(this.totals[0]!)} of arithmetic`, (row) => row.flops)}
        ${bar(78, `${bytesInWords(this.totals[1]!)} to and from memory`, (row) => row.bytes)}
        ${bar(142, `${timeInWords(this.totals[2]!)} at least`, (row) => row.seconds)}
      </svg>
      <ul class="key">
        ${groups.map(
          (group, i) =>
            html`<li>
              <svg viewBox="0 0 14 12" aria-hidden="true">
                <rect class="part s${i + 1}" width="14" height="12"></rect>
              </svg>
              ${group}
            </li>`,
        )}
      </ul>`;
  }

  private summary(): TemplateResult {
    const t = this.totals;
    const training = this.values.mode === "training";
    const used = t[9]! / this.machineMemory;
    const entry = (name: string, value: string, over = false): TemplateResult =>
      html`<div>
        <dt>${name}</dt>
        <dd class=${over ? "over" : ""}>${value}</dd>
      </div>`;
    const rate =
      this.values.chip === "own"
        ? 0
        : this.rates[3 * Object.keys(chips).indexOf(this.values.chip)]!;
    const peak = rate * (this.values.precision === "f16" ? 1 : 0);
    return html`<dl class="totals">
      ${entry("parameters", countInWords(t[5]!))}
      ${t[6]! < 0.9 * t[5]! ? entry("met by a token", countInWords(t[6]!)) : nothing}
      ${entry(training ? "weights and optimizer" : "weights", bytesInWords(t[7]!))}
      ${entry(training ? "kept activations" : "keys and values", bytesInWords(t[8]!))}
      ${entry("memory in all", `${bytesInWords(t[9]!)}, ${short(100 * used, 2)}% of the chip`, used > 1)}
      ${entry("tokens a second, at most", short(t[4]!))}
      ${
        peak > 0
          ? entry("of the peak, at most", `${short((100 * (t[0]! - t[10]!)) / t[2]! / peak, 2)}%`)
          : nothing
      }
    </dl>`;
  }

  private table(): TemplateResult {
    return html`<details>
      <summary>Every row, with its formula</summary>
      <div class="scroll" tabindex="0" role="region" aria-label="Rows of the estimate">
        <table>
          <thead>
            <tr>
              <th scope="col">operation</th>
              <th scope="col" class="n">in all</th>
              <th scope="col" class="n">moved</th>
              <th scope="col">waits for</th>
              <th scope="col" class="n">times</th>
              <th scope="col">forward, each</th>
              <th scope="col">with numbers</th>
            </tr>
          </thead>
          <tbody>
            ${this.rows.map(
              (row) =>
                html`<tr>
                  <th scope="row">${row.name}</th>
                  <td class="n">${flopsInWords(row.flops)}</td>
                  <td class="n">${bytesInWords(row.bytes)}</td>
                  <td>${row.computes ? "arithmetic" : "memory"}</td>
                  <td class="n">${row.repeats}</td>
                  <td><code>${row.formula}</code></td>
                  <td><code>${row.numbers}</code></td>
                </tr>`,
            )}
          </tbody>
        </table>
      </div>
      <p class="soft">
        B sequences, T new tokens, C keys, P pairs of a query and a key, d width, h heads, d_h width
        of a head, d_ff hidden width, E experts, k visited, V vocabulary.
      </p>
    </details>`;
  }

  protected override view(): TemplateResult {
    const { mode, chip, experts } = this.values;
    return html`
      ${this.summary()} ${this.bars()} ${this.table()}
      <div class="controls">
        ${choice(this, "model")} ${buttons(this, "mode")} ${slider(this, "batch")}
        ${slider(this, "context")} ${choice(this, "chip")} ${buttons(this, "precision")}
        ${mode === "training" ? flag(this, "recompute") : buttons(this, "weights")}
        ${
          chip === "own"
            ? html`${slider(this, "tflops")} ${slider(this, "gbps")} ${slider(this, "memory")}`
            : nothing
        }
      </div>
      <details>
        <summary>The model's sizes: change one to make it yours</summary>
        <div class="controls">
          ${slider(this, "layers")} ${slider(this, "width")} ${slider(this, "heads")}
          ${slider(this, "kv")} ${slider(this, "head")} ${slider(this, "hidden")}
          ${slider(this, "vocabulary")} ${flag(this, "gated")} ${slider(this, "experts")}
          ${experts > 0 ? slider(this, "active") : nothing}
        </div>
      </details>
    `;
  }
}

defineDemo("assay-cost-of-matrix-multiplication-model", ModelDemo);

// ---------------------------------------------------------------- a race in this browser

const raceParams = defineParams({
  rows: {
    kind: "choice",
    label: "Rows",
    options: { "128": "128", "256": "256", "512": "512" },
    initial: "256",
  },
});

/**
 * Seconds of one product: rounds are doubled until a run lasts `leastMs`, since a page's clock ticks ten times in a
 * millisecond; then the best of three.
 */
export async function timeProduct(
  module: Module,
  way: 0 | 1,
  now: () => number = () => performance.now(),
  leastMs = 60,
): Promise<number> {
  const timed = async (rounds: number): Promise<number> => {
    const start = now();
    await module.run("race_run", [way, rounds]);
    return now() - start;
  };
  await timed(1);
  let rounds = 1;
  let best = await timed(rounds);
  while (best < leastMs && rounds < 2 ** 16) {
    rounds *= 2;
    best = await timed(rounds);
  }
  for (let i = 0; i < 2; i++) best = Math.min(best, await timed(rounds));
  return best / 1000 / rounds;
}

class RaceDemo extends Demo<typeof raceParams> {
  static override readonly slug = "cost-of-matrix-multiplication";
  static override readonly heading = "Three loops against the library, here";
  static override readonly hint =
    "Both run in WebAssembly in one thread of this browser. What is measured is yours, and is kept nowhere.";
  static override readonly params = raceParams;

  static override styles = [
    demoStyles,
    css`
      .run {
        fill: var(--s);
      }
    `,
  ];

  private module: Module | undefined;
  private times: [number, number] | undefined;
  private racing = false;
  private trouble = "";

  protected override async compute(module: Module): Promise<Outcome> {
    this.module = module;
    await module.run("race_open", [Number(this.values.rows)]);
    const n = Number(this.values.rows);
    return {
      words: this.times
        ? `Measured here, ${n} rows: ${this.rate(0)} by three loops, ${this.rate(1)} by the library, ${short(this.times[0] / this.times[1])} times as fast. Both products are equal.`
        : "Nothing has been timed yet.",
    };
  }

  override set(change: Partial<Values<typeof raceParams>>): void {
    if ("rows" in change) this.times = undefined;
    super.set(change);
  }

  private flopsPerSecond(way: 0 | 1): number {
    return this.times ? (2 * Number(this.values.rows) ** 3) / this.times[way] : 0;
  }
  private rate(way: 0 | 1): string {
    return `${flopsInWords(this.flopsPerSecond(way))}/s`;
  }

  private readonly race = async (): Promise<void> => {
    const { module } = this;
    if (!module || this.racing) return;
    this.racing = true;
    this.trouble = "";
    this.requestUpdate();
    try {
      const times: [number, number] = [await timeProduct(module, 0), await timeProduct(module, 1)];
      await module.run("race_check", []);
      this.times = times;
    } catch (error) {
      this.trouble = `Not measured: ${error instanceof Error ? error.message : String(error)}.`;
    }
    this.racing = false;
    if (this.isConnected) this.set({});
  };

  protected override view(): TemplateResult {
    const w = this.width;
    const most = Math.max(this.flopsPerSecond(0), this.flopsPerSecond(1), 1);
    const bar = (way: 0 | 1, name: string): SVGTemplateResult => {
      const y = 8 + 52 * way;
      return svg`<text x="0" y=${y + 10}>${name}${this.times ? `: ${this.rate(way)}` : ""}</text>
        <rect class="run s${way + 1}" x="0" y=${y + 18} width=${Math.max(1, (this.flopsPerSecond(way) / most) * w)} height="16"></rect>`;
    };
    return html`<svg viewBox="0 0 ${w} 104" role="img" aria-label="Speed of both products">
        ${bar(0, "three loops, i j k")} ${bar(1, "the library, numerics/gemm")}
      </svg>
      ${this.trouble ? html`<p class="bad">${this.trouble}</p>` : nothing}
      <div class="controls">
        ${buttons(this, "rows")}
        <button class="main" ?disabled=${this.racing} @click=${this.race}>
          ${this.racing ? "Running" : "Race"}
        </button>
      </div>`;
  }
}

defineDemo("assay-cost-of-matrix-multiplication-race", RaceDemo);
