// SPDX-License-Identifier: Apache-2.0
// <assay-fft>: a signal, drawn or picked or both, taken apart needle by needle.
// <assay-fft-product>: two polynomials multiplied by the schoolbook and by their values.
// Every number shown comes from wasm.cc.

import { css, html, nothing, svg, type SVGTemplateResult, type TemplateResult } from "lit";

import { choice, flag, slider, textField } from "../../elements/controls.ts";
import { Demo, defineDemo, defineParams, type Outcome } from "../../elements/demo.ts";
import {
  follow,
  linearScale,
  linePath,
  packBytes,
  stemPath,
  unpackBytes,
  xAxis,
  yAxis,
} from "../../elements/plot.ts";
import { demoStyles } from "../../elements/styles.ts";
import { input, output, type Module } from "../../runtime/pool.ts";

// ---------------------------------------------------------------- pure logic

/** Places of a drawing; each sample takes the one it falls on. */
export const drawnPlaces = 64;

/** The signals to pick from, in the order of wasm.cc. */
export const presets = {
  none: "nothing",
  waves: "three waves",
  between: "a wave between bins",
  square: "a square",
  saw: "a saw",
  pulse: "one pulse",
  chirp: "a rising pace",
} as const;

/** The drawing in a link: 64 signed bytes, or none. Anything else is no drawing. */
export function readDrawing(text: string): Int8Array {
  const bytes = unpackBytes(text);
  return bytes?.length === drawnPlaces ? new Int8Array(bytes.buffer) : new Int8Array(drawnPlaces);
}

/** The opposite; an empty drawing is an empty text. */
export function writeDrawing(drawing: Int8Array): string {
  return drawing.some((v) => v !== 0) ? packBytes(new Uint8Array(drawing)) : "";
}

/**
 * A drawing with sample j of n brought to `value`, given what the preset has there. Every place that the sample
 * takes its value from, or that no other sample uses, changes.
 */
export function drawAt(
  drawing: Int8Array,
  n: number,
  j: number,
  value: number,
  base: number,
): Int8Array {
  const next = drawing.slice();
  const level = Math.max(-127, Math.min(127, Math.round((value - base) * 64)));
  const from = Math.floor((j * drawnPlaces) / n);
  const to = Math.floor(((j + 1) * drawnPlaces) / n);
  next.fill(level, from, Math.max(to, from + 1));
  return next;
}

/** Where step t of the timeline stands: which bin, and how many of its needles are laid. Step 0 is before the first. */
export function placeOf(t: number, n: number): { bin: number; laid: number } {
  if (t <= 0) return { bin: 0, laid: 0 };
  return { bin: Math.floor((t - 1) / n), laid: ((t - 1) % n) + 1 };
}

/** The step at which bin k is complete. */
export const endOf = (bin: number, n: number): number => (bin + 1) * n;

/** Coefficients from text, constant term first: "1 2, -3". Undefined where a piece is no integer. */
export function readCoefficients(text: string): Int32Array | undefined {
  const pieces = text.split(/[\s,]+/).filter((piece) => piece !== "");
  if (pieces.length === 0 || pieces.length > 8) return undefined;
  const numbers = pieces.map(Number);
  if (!numbers.every((v) => Number.isInteger(v) && Math.abs(v) <= 999)) return undefined;
  return Int32Array.from(numbers);
}

const superscripts = "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079";

/** x with its power: "", "x", "x²". */
export function power(k: number): string {
  if (k === 0) return "";
  return k === 1 ? "x" : `x${[...String(k)].map((c) => superscripts[Number(c)]).join("")}`;
}

/** A polynomial in words: "3 + 7x + 2x²". */
export function polynomial(coefficients: ArrayLike<number>): string {
  let text = "";
  for (let k = 0; k < coefficients.length; k++) {
    const c = coefficients[k]!;
    if (c === 0) continue;
    const size = Math.abs(c);
    const number = size === 1 && k > 0 ? "" : String(size);
    const sign = text === "" ? (c < 0 ? "\u2212" : "") : c < 0 ? " \u2212 " : " + ";
    text += `${sign}${number}${power(k)}`;
  }
  return text || "0";
}

/** One term as the head of a row: "3x", "x", "\u22121", and "0" where there is none. */
export const term = (c: number, k: number): string =>
  c === 0 ? "0" : polynomial([...Array.from({ length: k }, () => 0), c]);

/** A number with two decimals and a true minus. */
export const short = (value: number): string =>
  (Object.is(Math.round(value * 100), -0) ? 0 : value).toFixed(2).replace("-", "\u2212");

/** A complex number: "3.00 − 1.41i". */
export function complex(re: number, im: number): string {
  const minus = Math.round(im * 100) < 0;
  return `${short(re)} ${minus ? "\u2212" : "+"} ${short(Math.abs(im))}i`;
}

// ---------------------------------------------------------------- the needles

const needleParams = defineParams({
  preset: { kind: "choice", label: "Signal", options: presets, initial: "waves" },
  n: { kind: "integer", label: "Samples", min: 8, max: 64, initial: 32 },
  hann: { kind: "flag", label: "Hann\u2019s window", initial: false },
  drawn: {
    kind: "text",
    label: "Drawing",
    initial: "",
    maxLength: 88,
    pattern: /^[-_0-9A-Za-z]*$/,
  },
});

class NeedleDemo extends Demo<typeof needleParams> {
  static override readonly slug = "fft";
  static override readonly heading = "Needles find the waves";
  static override readonly hint =
    "Pick a signal, draw on it, then let the needles turn: each pace becomes one bar.";
  static override readonly params = needleParams;
  static override readonly rate = 40;
  static override readonly playOnLoad = true;
  static override styles = [
    demoStyles,
    css`
      .needle {
        stroke: var(--_accent);
        stroke-width: 2.5;
      }
      .chain {
        fill: none;
        stroke: var(--series-1);
        stroke-width: 1.5;
        stroke-linejoin: round;
      }
      .reach {
        stroke: var(--series-2);
        stroke-width: 2;
        stroke-dasharray: 4 3;
      }
      .round {
        fill: none;
        stroke: var(--_rule);
      }
      .bar-mark {
        fill: var(--series-1);
      }
      .bar-mark.now {
        fill: var(--series-2);
      }
      /* Not found yet: an outline, so that a drawing shows its spectrum at once. */
      .bar-mark.ahead {
        fill: none;
        stroke: var(--_soft);
        stroke-width: 0.75;
        stroke-dasharray: 2 2;
      }
      .stem {
        stroke-width: 1.5;
        fill: none;
      }
      .now-line {
        stroke: var(--_accent);
        stroke-width: 1;
        stroke-dasharray: 2 2;
      }
    `,
  ];

  private base: Float64Array = new Float64Array();
  private signal: Float64Array = new Float64Array();
  private amplitudes: Float64Array = new Float64Array();
  private chains: Float64Array = new Float64Array();
  private rebuilt: Float64Array = new Float64Array();
  /** How many samples the arrays above are of; a moment behind `values.n` while it changes. */
  private n = 0;
  private cursor = 10;
  private drawing: Int8Array = new Int8Array(drawnPlaces);
  private sent = 0;

  protected override async compute(module: Module): Promise<Outcome> {
    const { n, preset, hann, drawn } = this.values;
    const bins = Math.floor(n / 2) + 1;
    this.drawing = readDrawing(drawn);
    const [base, signal, amplitudes, chains, rebuilt, gap] = await module.run("analyse", [
      n,
      Object.keys(presets).indexOf(preset),
      hann ? 1 : 0,
      input(this.drawing),
      output("f64", n),
      output("f64", n),
      output("f64", bins),
      output("f64", bins * (n + 1) * 2),
      output("f64", (bins + 1) * n),
      output("f64", 1),
    ]);
    this.base = base as Float64Array;
    this.signal = signal as Float64Array;
    this.amplitudes = amplitudes as Float64Array;
    this.chains = chains as Float64Array;
    this.rebuilt = rebuilt as Float64Array;
    this.n = n;
    this.cursor = Math.min(this.cursor, n - 1);
    const strongest = this.amplitudes.indexOf(Math.max(...this.amplitudes));
    const found = this.amplitudes[strongest]!;
    const words =
      found < 1e-12
        ? "The signal is zero: every needle comes back to where it began."
        : `Of ${bins} needles the strongest makes ${strongest === 1 ? "one turn" : `${strongest} turns`}, amplitude ${found.toPrecision(3)}. ` +
          `The chains of needles and the FFT differ by ${(gap as Float64Array)[0]!.toPrecision(2)} at most.`;
    return { words, bits: [this.signal, this.amplitudes], steps: bins * n };
  }

  protected override stepWords(t: number): string {
    const { bin, laid } = placeOf(t, this.n);
    if (t === 0) return "No needle has turned yet.";
    const [re, im] = this.at(bin, laid);
    const reach = Math.hypot(re, im).toPrecision(3);
    return laid < this.n
      ? `Pace ${bin}, needle ${laid} of ${this.n}: the chain reaches ${reach}.`
      : `Pace ${bin} is done: its chain reaches ${reach}, the amplitude of this wave.`;
  }

  private at(bin: number, laid: number): [number, number] {
    const i = 2 * (bin * (this.n + 1) + laid);
    return [this.chains[i] ?? 0, this.chains[i + 1] ?? 0];
  }

  private draw(j: number, value: number): void {
    this.drawing = drawAt(this.drawing, this.n, j, value, this.base[j] ?? 0);
    this.cursor = j;
    // The link is written with every change: not more often than ten times a second.
    const now = performance.now();
    if (now - this.sent < 100) return;
    this.sent = now;
    this.send();
  }

  private send(): void {
    this.set({ drawn: writeDrawing(this.drawing), n: this.n });
  }

  protected override view(): TemplateResult {
    const w = this.width;
    const narrow = w < 520;
    const { n } = this;
    const { bin, laid } = placeOf(this.k, n);
    return html`
      ${this.signalView(w, bin, laid)}
      ${
        narrow
          ? html`${this.chainView(w, 260, bin, laid)} ${this.spectrumView(w, bin, laid)}`
          : html`<svg viewBox="0 0 ${w} 270" role="img" aria-label=${this.pictureWords(bin, laid)}>
              ${this.chainParts(0, 260, 262, bin, laid)} ${this.spectrumParts(290, w, bin, laid)}
            </svg>`
      }
      <div class="controls">
        ${choice(this, "preset")} ${slider(this, "n")} ${flag(this, "hann")}
      </div>
      <div class="bar">
        <button type="button" ?disabled=${this.k === 0} @click=${() => void this.jump(-1)}>
          Pace before
        </button>
        <button type="button" ?disabled=${this.k >= this.steps} @click=${() => void this.jump(1)}>
          Next pace
        </button>
        <button
          type="button"
          ?disabled=${this.values.drawn === ""}
          @click=${() => this.set({ drawn: "" })}
        >
          Wipe the drawing
        </button>
      </div>
    `;
  }

  /** To the end of the next pace, or of the one before. */
  private async jump(by: 1 | -1): Promise<void> {
    this.pause();
    const { bin, laid } = placeOf(this.k, this.n);
    const complete = laid === this.n ? bin + 1 : bin;
    const wanted = by > 0 ? complete + 1 : laid === this.n ? complete - 1 : complete;
    await this.goTo(wanted * this.n);
  }

  private pictureWords(bin: number, laid: number): string {
    if (laid === 0) return "No needle has turned yet; the spectrum is empty.";
    const [re, im] = this.at(bin, laid);
    return (
      `Pace ${bin}: ${laid} of ${this.n} needles laid end to end reach ${Math.hypot(re, im).toPrecision(3)}. ` +
      `The spectrum shows ${laid === this.n ? bin + 1 : bin} finished bars.`
    );
  }

  private signalView(w: number, bin: number, laid: number): TemplateResult {
    const { n } = this;
    const limit = Math.max(1.5, ...this.signal.map(Math.abs));
    const x = linearScale([0, n - 1], [44, w - 16]);
    const y = linearScale([-limit, limit], [168, 32]);
    const done = laid === n ? bin + 1 : bin;
    const rebuilt = this.rebuilt.subarray(done * n, (done + 1) * n);
    const sampleAt = (px: number): number => Math.max(0, Math.min(n - 1, Math.round(x.invert(px))));
    const drawTo = (p: { x: number; y: number }, previous: { x: number; y: number }): void => {
      // Every sample between the last place and this one, so that a quick stroke has no holes.
      const [from, to] = [sampleAt(previous.x), sampleAt(p.x)];
      const stride = from <= to ? 1 : -1;
      for (let j = from; j !== to + stride; j += stride) {
        const share = to === from ? 1 : (j - from) / (to - from);
        this.draw(j, y.invert(previous.y + share * (p.y - previous.y)));
      }
    };
    const value = this.signal[this.cursor] ?? 0;
    return html`<svg
      viewBox="0 0 ${w} 212"
      role="group"
      aria-label="The signal, ${n} samples. Draw on it, or move the round handle with the arrow keys."
    >
      ${yAxis(y, 44, "signal", w - 16)} ${xAxis(x, 168, "sample", w < 480 ? 4 : 8)}
      <path class="stem s1" d=${stemPath(this.signal, x, y)}></path>
      ${Array.from(
        this.signal,
        (v, j) =>
          svg`<circle class="dot s1" cx=${x(j)} cy=${y(v)} r=${n > 40 ? 2.5 : 3.5}></circle>`,
      )}
      ${
        done > 0
          ? svg`<path class="line s2" d=${linePath(rebuilt, x, y)}></path>
            <text class="label s2" x=${w - 16} y="22" text-anchor="end">${done === 1 ? "one wave" : `${done} waves added up`}</text>`
          : nothing
      }
      ${
        laid > 0
          ? svg`<line class="now-line" x1=${x(laid - 1)} x2=${x(laid - 1)} y1="28" y2="168"></line>`
          : nothing
      }
      <rect
        class="pad"
        x="38"
        y="20"
        width=${w - 48}
        height="156"
        @pointerdown=${(event: PointerEvent) => follow(event, drawTo, () => this.send())}
      ></rect>
      <circle
        class="handle"
        cx=${x(this.cursor)}
        cy=${y(value)}
        r="9"
        role="slider"
        tabindex="0"
        aria-label="Sample ${this.cursor}"
        aria-valuemin=${-1.5}
        aria-valuemax=${1.5}
        aria-valuenow=${value.toFixed(2)}
        aria-valuetext="${value.toFixed(2)}; left and right choose the sample, up and down change it"
        @keydown=${this.cursorKeys}
        @pointerdown=${(event: PointerEvent) => follow(event, drawTo, () => this.send())}
      ></circle>
    </svg>`;
  }

  private readonly cursorKeys = (event: KeyboardEvent): void => {
    const { n } = this;
    const value = this.signal[this.cursor] ?? 0;
    const clampTo = (v: number): number => Math.max(-1.5, Math.min(1.5, v));
    const moves: Record<string, () => void> = {
      ArrowLeft: () => (this.cursor = (this.cursor + n - 1) % n),
      ArrowRight: () => (this.cursor = (this.cursor + 1) % n),
      Home: () => (this.cursor = 0),
      End: () => (this.cursor = n - 1),
      ArrowUp: () => this.put(clampTo(value + 0.125)),
      ArrowDown: () => this.put(clampTo(value - 0.125)),
      PageUp: () => this.put(clampTo(value + 0.5)),
      PageDown: () => this.put(clampTo(value - 0.5)),
    };
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    move();
    this.requestUpdate();
  };

  private put(value: number): void {
    this.drawing = drawAt(this.drawing, this.n, this.cursor, value, this.base[this.cursor] ?? 0);
    this.send();
  }

  private chainView(w: number, height: number, bin: number, laid: number): TemplateResult {
    return html`<svg
      viewBox="0 0 ${w} ${height}"
      role="img"
      aria-label=${this.pictureWords(bin, laid)}
    >
      ${this.chainParts((w - 240) / 2, 240, height, bin, laid)}
    </svg>`;
  }

  /** The chain of the current pace inside a square, and the needle as the hand of a clock in its corner. */
  private chainParts(
    left: number,
    size: number,
    height: number,
    bin: number,
    laid: number,
  ): SVGTemplateResult {
    const { n } = this;
    // The whole chain of this pace, and where it begins, in view from its first needle on.
    let [left0, right0, low0, high0] = [-0.15, 0.15, -0.15, 0.15];
    for (let j = 0; j <= n; j++) {
      const [re, im] = this.at(bin, j);
      left0 = Math.min(left0, re);
      right0 = Math.max(right0, re);
      low0 = Math.min(low0, im);
      high0 = Math.max(high0, im);
    }
    const room = Math.min(size, height - 30) - 12;
    const unit = room / Math.max(right0 - left0, high0 - low0);
    const px = (re: number): number => left + size / 2 + unit * (re - (left0 + right0) / 2);
    const py = (im: number): number => 24 + (height - 30) / 2 - unit * (im - (low0 + high0) / 2);
    const [re, im] = this.at(bin, laid);
    const [before, beforeIm] = this.at(bin, Math.max(0, laid - 1));
    const xs: number[] = [];
    const ys: number[] = [];
    for (let j = 0; j <= laid; j++) {
      const [a, b] = this.at(bin, j);
      xs.push(px(a));
      ys.push(b);
    }
    // The hand: pace `bin`, after laid - 1 samples; clockwise, as in w^(jk).
    const angle = laid === 0 ? 0 : (-2 * Math.PI * bin * (laid - 1)) / n;
    const hand = { x: left + size - 20, y: 26, r: 18 };
    return svg`
      <text x=${left} y="14">${laid === 0 ? "needles, end to end" : `pace ${bin}: needles, end to end`}</text>
      <g class="grid"><line x1=${px(left0)} x2=${px(right0)} y1=${py(0)} y2=${py(0)}></line>
        <line x1=${px(0)} x2=${px(0)} y1=${py(high0)} y2=${py(low0)}></line></g>
      <circle class="round" cx=${hand.x} cy=${hand.y} r=${hand.r}></circle>
      <line class="needle" x1=${hand.x} y1=${hand.y}
        x2=${hand.x + hand.r * Math.cos(angle)} y2=${hand.y - hand.r * Math.sin(angle)}></line>
      <path class="chain" d=${linePath(ys, (i) => xs[i]!, py)}></path>
      <line class="reach" x1=${px(0)} y1=${py(0)} x2=${px(re)} y2=${py(im)}></line>
      ${laid > 0 ? svg`<line class="needle" x1=${px(before)} y1=${py(beforeIm)} x2=${px(re)} y2=${py(im)}></line>` : nothing}
      <circle class="dot s2" cx=${px(re)} cy=${py(im)} r="4"></circle>
    `;
  }

  private spectrumView(w: number, bin: number, laid: number): TemplateResult {
    return html`<svg
      viewBox="0 0 ${w} 270"
      role="img"
      aria-label="The spectrum: ${this.spectrumWords(bin, laid)}"
    >
      ${this.spectrumParts(0, w, bin, laid)}
    </svg>`;
  }

  private spectrumWords(bin: number, laid: number): string {
    const done = laid === this.n ? bin + 1 : bin;
    if (done === 0) return "no bar yet.";
    const seen = this.amplitudes.subarray(0, done);
    const strongest = seen.indexOf(Math.max(...seen));
    return `${done} bars, the highest at pace ${strongest} with ${seen[strongest]!.toPrecision(3)}.`;
  }

  private spectrumParts(left: number, w: number, bin: number, laid: number): SVGTemplateResult {
    const bins = this.amplitudes.length;
    const x = linearScale([-0.5, bins - 0.5], [left + 44, w - 16]);
    const top = Math.max(0.25, ...this.amplitudes);
    const y = linearScale([0, top * 1.05], [220, 36]);
    const width = Math.max(2, (x(1) - x(0)) * 0.7);
    const done = laid === this.n ? bin + 1 : bin;
    const [re, im] = this.at(bin, laid);
    const shown = (k: number): number =>
      k === bin && laid > 0 && laid < this.n ? Math.hypot(re, im) : this.amplitudes[k]!;
    return svg`
      ${yAxis(y, left + 44, "amplitude", w - 16)}
      ${xAxis(x, 220, "pace: turns over the signal", w - left < 480 ? 4 : 6)}
      ${Array.from(this.amplitudes, (_, k) => {
        const value = shown(k);
        const kind = k < done ? "" : k === bin && laid > 0 ? "now" : "ahead";
        return svg`<rect class="bar-mark ${kind}" x=${x(k) - width / 2} width=${width}
          y=${Math.min(y(value), 219)} height=${Math.max(1, 220 - y(value))}></rect>`;
      })}
    `;
  }
}

defineDemo("assay-fft", NeedleDemo);

// ---------------------------------------------------------------- the product

/** Pairs to begin with; "own" takes the two text fields. */
export const pairs: Readonly<Record<string, readonly [string, string]>> = {
  small: ["1 2", "3 1"],
  waves: ["1 2 0 3", "3 1 4"],
  binomial: ["1 3 3 1", "1 4 6 4 1"],
  digits: ["4 3 2 1", "8 7 6 5"],
};

const productParams = defineParams({
  pair: {
    kind: "choice",
    label: "Factors",
    options: {
      small: "as in the text",
      waves: "six coefficients",
      binomial: "(1 + x)\u00b3 and (1 + x)\u2074",
      digits: "1234 and 5678, x = 10",
      own: "my own",
    },
    initial: "waves",
  },
  points: { kind: "integer", label: "Points", min: 1, max: 16, initial: 8 },
  a: {
    kind: "text",
    label: "First, constant term first",
    initial: "1 2 0 3",
    maxLength: 48,
    pattern: /^[-0-9 ,]*$/,
  },
  b: { kind: "text", label: "Second", initial: "3 1 4", maxLength: 48, pattern: /^[-0-9 ,]*$/ },
});

class ProductDemo extends Demo<typeof productParams> {
  static override readonly slug = "fft";
  static override readonly heading = "One product, two ways";
  static override readonly hint =
    "Step through: the schoolbook adds along diagonals, the other way multiplies values at points. Then take too few points.";
  static override readonly params = productParams;
  static override readonly rate = 2;
  static override styles = [
    demoStyles,
    css`
      .ways {
        display: grid;
        grid-template-columns: minmax(0, 1fr);
        gap: 16px 40px;
        align-items: start;
      }
      .ways.wide {
        grid-template-columns: fit-content(45%) minmax(0, 1fr);
      }
      h4 {
        margin: 0 0 8px;
        font-size: 0.9375rem;
        font-weight: 600;
      }
      td.on {
        background: var(--_wash);
        color: var(--_accent);
        font-weight: 600;
      }
      td.dim {
        color: var(--_soft);
      }
      td.wrapped {
        color: var(--_bad);
        font-weight: 600;
      }
      tr.now td {
        background: var(--_wash);
      }
      .result {
        margin: 8px 0 0;
        overflow-wrap: anywhere;
      }
      th,
      td {
        white-space: nowrap;
      }
    `,
  ];

  private a: Int32Array = new Int32Array();
  private b: Int32Array = new Int32Array();
  private grid: Float64Array = new Float64Array();
  private school: Float64Array = new Float64Array();
  private points: Float64Array = new Float64Array();
  private back: Float64Array = new Float64Array();

  protected override async compute(module: Module): Promise<Outcome> {
    const { pair, points } = this.values;
    const [first, second] = pairs[pair] ?? [this.values.a, this.values.b];
    const a = readCoefficients(first);
    const b = readCoefficients(second);
    if (!a || !b) {
      throw new Error("each factor needs one to eight integers from \u2212999 to 999");
    }
    const used = Math.max(points, a.length, b.length);
    const length = a.length + b.length - 1;
    const [grid, school, values, back, error] = await module.run("multiply", [
      a.length,
      input(a),
      b.length,
      input(b),
      used,
      output("f64", a.length * b.length),
      output("f64", length),
      output("f64", 6 * used),
      output("f64", used),
      output("f64", 1),
    ]);
    this.a = a;
    this.b = b;
    this.grid = grid as Float64Array;
    this.school = school as Float64Array;
    this.points = values as Float64Array;
    this.back = back as Float64Array;
    const words =
      used < length
        ? `${used} points are too few for ${length} coefficients: the highest powers wrap round and land on the lowest.`
        : `Both ways give ${polynomial(this.school)}; before rounding they differ by ${(error as Float64Array)[0]!.toPrecision(2)} at most.`;
    return { words, bits: [this.school, this.back], steps: Math.max(used, length) + 1 };
  }

  protected override stepWords(t: number): string {
    const n = this.back.length;
    if (t === 0) return "The factors, before any product.";
    const parts: string[] = [];
    if (t <= this.school.length) {
      parts.push(`Schoolbook: the coefficient of ${power(t - 1) || "1"} is ${this.school[t - 1]}.`);
    }
    if (t <= n) parts.push(`Values: point ${t - 1} of ${n}.`);
    else if (t === this.steps) parts.push(`Back to coefficients: ${this.resultWords()}.`);
    return parts.join(" ");
  }

  private resultWords(): string {
    return polynomial(Array.from(this.back, Math.round));
  }

  protected override view(): TemplateResult {
    return html`
      <p class="soft">(${polynomial(this.a)}) (${polynomial(this.b)})</p>
      <div class="ways ${this.width < 560 ? "" : "wide"}">
        ${this.schoolbook()} ${this.byValues()}
      </div>
      ${this.results()}
      <div class="controls">
        ${choice(this, "pair")} ${slider(this, "points")}
        ${this.values.pair === "own" ? html`${textField(this, "a")} ${textField(this, "b")}` : nothing}
      </div>
    `;
  }

  private schoolbook(): TemplateResult {
    const t = this.k;
    const nb = this.b.length;
    return html`<div>
      <h4>Schoolbook: ${this.a.length} × ${nb} products</h4>
      <div class="scroll" tabindex="0" role="region" aria-label="Grid of products">
        <table>
          <thead>
            <tr>
              <th scope="col">×</th>
              ${Array.from(this.b, (v, j) => html`<th scope="col" class="n">${term(v, j)}</th>`)}
            </tr>
          </thead>
          <tbody>
            ${Array.from(
              this.a,
              (v, i) =>
                html`<tr>
                  <th scope="row">${term(v, i)}</th>
                  ${Array.from(this.b, (_, j) => {
                    const now = i + j === t - 1;
                    const kind = now ? "n on" : i + j < t ? "n" : "n dim";
                    return html`<td class=${kind}>
                      ${i + j < t ? String(this.grid[i * nb + j]).replace("-", "\u2212") : "\u00b7"}
                    </td>`;
                  })}
                </tr>`,
            )}
          </tbody>
        </table>
      </div>
    </div>`;
  }

  /** What both ways came to so far, one under the other. */
  private results(): TemplateResult {
    const t = this.k;
    const complete = t >= this.steps && this.steps > 0;
    const wrapped = this.back.length < this.school.length;
    return html`<p class="result">
        Diagonals added: <strong>${polynomial(this.school.map((c, k) => (k < t ? c : 0)))}</strong>
      </p>
      <p class="result">
        Back from values:
        ${
          complete
            ? html`<strong>${this.resultWords()}</strong> ${
                  wrapped ? html`<span class="bad">(wrapped round)</span>` : nothing
                }`
            : html`<span class="soft">after the last point</span>`
        }
      </p>`;
  }

  private byValues(): TemplateResult {
    const t = this.k;
    const n = this.back.length;
    const cell = (k: number, i: number): string =>
      complex(this.points[6 * k + i]!, this.points[6 * k + i + 1]!);
    return html`<div>
      <h4>By values: ${n} products</h4>
      <div class="scroll" tabindex="0" role="region" aria-label="Values at the points">
        <table>
          <thead>
            <tr>
              <th scope="col">point</th>
              <th scope="col" class="n">first</th>
              <th scope="col" class="n">second</th>
              <th scope="col" class="n">product</th>
            </tr>
          </thead>
          <tbody>
            ${Array.from(
              { length: n },
              (_, k) =>
                html`<tr class=${k === t - 1 ? "now" : ""}>
                  <th scope="row">w${k === 0 ? "\u2070" : power(k).slice(1) || "\u00b9"}</th>
                  ${[0, 2, 4].map(
                    (i) =>
                      html`<td class=${k < t ? "n" : "n dim"}>
                        ${k < t ? cell(k, i) : "\u00b7"}
                      </td>`,
                  )}
                </tr>`,
            )}
          </tbody>
        </table>
      </div>
    </div>`;
  }
}

defineDemo("assay-fft-product", ProductDemo);
