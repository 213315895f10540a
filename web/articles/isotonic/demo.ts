// SPDX-License-Identifier: Apache-2.0
// <assay-isotonic>: points to drag with their fit, and beside them the running totals with the string below; the walk
// and the merging of tiles, step by step. Every number shown comes from wasm.cc.

import { css, html, nothing, svg, type SVGTemplateResult, type TemplateResult } from "lit";

import { buttons, choice, flag, slider } from "../../elements/controls.ts";
import { Demo, defineDemo, defineParams, type Outcome } from "../../elements/demo.ts";
import {
  follow,
  linearScale,
  packBytes,
  type Scale,
  unpackBytes,
  xAxis,
  yAxis,
} from "../../elements/plot.ts";
import { demoStyles } from "../../elements/styles.ts";
import { input, output, type Module } from "../../runtime/pool.ts";

// ---------------------------------------------------------------- pure logic

/** The longest row, and the largest value in one; as in wasm.cc. */
export const mostNumbers = 40;
export const largest = 100;
const states = 161;
const pairs = 10;

/** The rows to begin with, in the order of rows.h. */
export const kinds = {
  hill: "a rise under noise",
  noise: "noise alone",
  steps: "five steps under noise",
  labels: "yes or no, more and more often yes",
  rising: "sorted",
  falling: "sorted the wrong way round",
} as const;

/** What a step did; as in wasm.cc. */
export const did = { nothing: 0, begin: 1, pool: 2, tick: 3, try: 4, merge: 5 } as const;

/** The drawing in a link: a byte for each place, 0 where the row is as it was, otherwise the value + 1. */
export function readDrawing(text: string): Uint8Array {
  const bytes = unpackBytes(text);
  return bytes?.length === mostNumbers && bytes.every((byte) => byte <= largest + 1)
    ? bytes
    : new Uint8Array(mostNumbers);
}

/** The opposite; an empty drawing is an empty text. */
export const writeDrawing = (drawing: Uint8Array): string =>
  drawing.some((byte) => byte > 0) ? packBytes(drawing) : "";

/** A drawing with place i brought to a value, which is rounded and kept between 0 and 100. */
export function drawAt(drawing: Uint8Array, i: number, value: number): Uint8Array {
  const next = drawing.slice();
  next[i] = Math.max(0, Math.min(largest, Math.round(value))) + 1;
  return next;
}

/** Elements [begin, end) that are one piece, and whether it is new in this state. */
export interface Piece {
  readonly begin: number;
  readonly end: number;
  readonly fresh: boolean;
}

/** The pieces of a state: of the marks that wasm.cc writes for n elements. */
export function piecesOf(ends: ArrayLike<number>, fresh: ArrayLike<number>, n: number): Piece[] {
  const pieces: Piece[] = [];
  let begin = 0;
  for (let i = 0; i < n; i++) {
    if (ends[i] === 0) begin = i + 1;
    if (ends[i] !== 2) continue;
    pieces.push({ begin, end: i + 1, fresh: fresh[i] === 1 });
    begin = i + 1;
  }
  return pieces;
}

/** A mean with one decimal where it is no whole number. */
export const short = (value: number): string =>
  (Number.isInteger(value) ? String(value) : value.toFixed(1)).replace("-", "\u2212");

/** "1 piece", "3 pieces". */
export const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? "" : "s"}`;

/** What a step did, in words. `mean` gives the mean of elements [begin, end). */
export function stepWords(
  info: ArrayLike<number>,
  mean: (begin: number, end: number) => number,
): string {
  const [what, a, b] = [info[0]!, info[1]!, info[2]!];
  switch (what) {
    case did.begin:
      return `Number ${b}, ${short(mean(a, b))}, begins a piece of its own.`;
    case did.pool:
      return `That is no higher than the piece before it: numbers ${a + 1} to ${b} are pooled at their mean, ${short(mean(a, b))}.`;
    case did.tick:
      return `Step ${a} of ${b} inside the tiles: all of them walk at once.`;
    case did.try:
      return `Level ${a}, try ${b}: from a knot of each left string, the line to the lowest total on the right.`;
    case did.merge:
      return b === 1
        ? `Level ${a}: the last two strings are merged. One string is left.`
        : `Level ${a}: pairs of strings are merged. ${b} are left.`;
    default:
      return "No piece stands yet.";
  }
}

// ---------------------------------------------------------------- the element

const params = defineParams({
  kind: { kind: "choice", label: "Row", options: kinds, initial: "hill" },
  way: {
    kind: "choice",
    label: "How",
    options: { walk: "the walk", tiles: "tiles, then merging" },
    initial: "walk",
  },
  n: { kind: "integer", label: "Numbers", min: 4, max: mostNumbers, initial: 24 },
  tile: { kind: "integer", label: "Numbers in a tile", min: 2, max: 20, initial: 6 },
  tilt: { kind: "flag", label: "Tilt the totals to level ends", initial: true },
  seed: { kind: "integer", label: "Seed", min: 0, max: 4294967295, initial: 7 },
  drawn: {
    kind: "text",
    label: "Drawing",
    initial: "",
    maxLength: 54,
    pattern: /^[-_0-9A-Za-z]*$/,
  },
});

class IsotonicDemo extends Demo<typeof params> {
  static override readonly slug = "isotonic";
  static override readonly heading = "Points and their string";
  static override readonly hint =
    "Drag a point, and the string below the running totals is pulled tight again. Then step through the two ways to find it.";
  static override readonly params = params;
  static override readonly rate = 4;
  static override styles = [
    demoStyles,
    css`
      .views {
        display: grid;
        grid-template-columns: minmax(0, 1fr) minmax(0, 1fr);
        gap: 16px 24px;
      }
      .views.narrow {
        grid-template-columns: minmax(0, 1fr);
      }
      .ghost {
        fill: none;
        stroke: var(--_soft);
        stroke-width: 1;
        stroke-dasharray: 2 3;
      }
      .piece {
        stroke: var(--series-1);
        stroke-width: 3;
        stroke-linecap: round;
      }
      .piece.fresh {
        stroke: var(--series-2);
        stroke-width: 4;
      }
      .knot {
        fill: var(--_paper);
        stroke: var(--series-1);
        stroke-width: 2;
      }
      .total {
        fill: var(--_ink);
      }
      .totals {
        fill: none;
        stroke: var(--_soft);
        stroke-width: 1;
      }
      .gap {
        stroke: var(--_rule);
        stroke-width: 1.5;
      }
      .tried {
        stroke: var(--_accent);
        stroke-width: 2;
        stroke-dasharray: 6 4;
      }
      .tile {
        stroke: var(--_soft);
        stroke-width: 1;
        stroke-dasharray: 1 4;
      }
      /* The point stays visible inside its ring. */
      svg .handle {
        fill: transparent;
      }
      .label {
        stroke: var(--_paper);
        stroke-width: 4;
        paint-order: stroke;
      }
    `,
  ];

  private y: Int32Array = new Int32Array();
  private ends: Uint8Array = new Uint8Array();
  private fresh: Uint8Array = new Uint8Array();
  private lines: Int32Array = new Int32Array();
  private info: Int32Array = new Int32Array();
  private totals: Float64Array = new Float64Array();
  private fit: Float64Array = new Float64Array();
  /** How many numbers, and of which tiles and way, the arrays above are; a moment behind `values` while they change. */
  private n = 0;
  private tile = 0;
  private cursor = 5;
  private drawing: Uint8Array = new Uint8Array(mostNumbers);
  private sent = 0;

  protected override async compute(module: Module): Promise<Outcome> {
    const { kind, way, n, tile, seed, drawn } = this.values;
    const drawing = readDrawing(drawn);
    const [y] = (await module.run("make_row", [
      Object.keys(kinds).indexOf(kind),
      n,
      seed,
      input(drawing),
      output("i32", n),
    ])) as [Int32Array];
    const [ends, fresh, lines, info, totals, fit, facts] = (await module.run("unfold", [
      way === "walk" ? 0 : 1,
      tile,
      n,
      input(y),
      output("u8", states * mostNumbers),
      output("u8", states * mostNumbers),
      output("i32", states * pairs * 2),
      output("i32", states * 3),
      output("f64", mostNumbers + 1),
      output("f64", mostNumbers),
      output("f64", 7),
    ])) as [
      Uint8Array,
      Uint8Array,
      Int32Array,
      Int32Array,
      Float64Array,
      Float64Array,
      Float64Array,
    ];
    Object.assign(this, { y, ends, fresh, lines, info, drawing, n, tile });
    this.totals = totals.subarray(0, n + 1);
    this.fit = fit.subarray(0, n);
    this.cursor = Math.min(this.cursor, n - 1);
    const [steps, pieces, same, walk, tiles, found, kept] = Array.from(facts);
    const words =
      `The fit has ${count(pieces!, "piece")}. The walk takes ${count(walk!, "step")}, one after the other; ` +
      `in tiles of ${tile} the longest chain has ${tiles}, each comparison of a search for one, and ${kept} of the ${count(found!, "piece")} that the tiles find stay as they are. ` +
      (same === 1
        ? "The library\u2019s fit has the same bits."
        : "The library\u2019s fit has other bits!");
    return { words, bits: [this.y, this.fit], steps: steps! };
  }

  protected override stepWords(k: number): string {
    if (k === 0) return "The finished fit. Step forward to see how it is found.";
    const end = k === this.steps ? ` Done, with ${count(this.pieces(k).length, "piece")}.` : "";
    return (
      stepWords(this.info.subarray(3 * k, 3 * k + 3), (begin, until) => this.mean(begin, until)) +
      end
    );
  }

  private mean(begin: number, end: number): number {
    return ((this.totals[end] ?? 0) - (this.totals[begin] ?? 0)) / (end - begin);
  }

  private pieces(k: number): Piece[] {
    const at = k * mostNumbers;
    return piecesOf(
      this.ends.subarray(at, at + this.n),
      this.fresh.subarray(at, at + this.n),
      this.n,
    );
  }

  private draw(i: number, value: number): void {
    this.drawing = drawAt(this.drawing, i, value);
    this.y[i] = this.drawing[i]! - 1;
    this.cursor = i;
    this.requestUpdate();
    // The link is written with every change: not more often than ten times a second.
    const now = performance.now();
    if (now - this.sent < 100) return;
    this.sent = now;
    this.send();
  }

  private send(): void {
    this.set({ drawn: writeDrawing(this.drawing) });
  }

  protected override view(): TemplateResult {
    const narrow = this.width < 600;
    const w = narrow ? this.width : (this.width - 24) / 2;
    const h = narrow ? 250 : 320;
    // Before the first step the finished fit is shown: that is what moves under a dragged point.
    const pieces = this.pieces(this.k > 0 ? this.k : this.steps);
    return html`
      <div class=${narrow ? "views narrow" : "views"}>
        ${this.pointsView(w, h, pieces)} ${this.totalsView(w, h, pieces)}
      </div>
      <div class="controls">
        ${buttons(this, "way")} ${this.values.way === "tiles" ? slider(this, "tile") : nothing}
      </div>
      <div class="controls">
        ${choice(this, "kind")} ${slider(this, "n")} ${flag(this, "tilt")}
        <button
          type="button"
          ?disabled=${this.values.drawn === ""}
          @click=${() => this.set({ drawn: "" })}
        >
          Take back my changes
        </button>
      </div>
    `;
  }

  /** Dotted uprights between tiles, while tiles are the way. */
  private tileMarks(x: Scale, top: number, bottom: number): SVGTemplateResult[] {
    if (this.values.way !== "tiles") return [];
    const marks: SVGTemplateResult[] = [];
    for (let i = this.tile; i < this.n; i += this.tile) {
      marks.push(svg`<line class="tile" x1=${x(i)} x2=${x(i)} y1=${top} y2=${bottom}></line>`);
    }
    return marks;
  }

  private isFresh(piece: Piece): boolean {
    return piece.fresh && this.k > 0;
  }

  private pointsView(w: number, h: number, pieces: readonly Piece[]): TemplateResult {
    const { n } = this;
    const x = linearScale([0, n], [40, w - 12]);
    const y = linearScale([0, largest], [h - 44, 32]);
    const at = (px: number): number => Math.max(0, Math.min(n - 1, Math.floor(x.invert(px))));
    const drawTo = (p: { x: number; y: number }, previous: { x: number; y: number }): void => {
      // Every place between the last and this one, so that a quick stroke leaves none out.
      const [from, to] = [at(previous.x), at(p.x)];
      const stride = from <= to ? 1 : -1;
      for (let i = from; i !== to + stride; i += stride) {
        const share = to === from ? 1 : (i - from) / (to - from);
        this.draw(i, y.invert(previous.y + share * (p.y - previous.y)));
      }
    };
    const press = (event: PointerEvent): void => follow(event, drawTo, () => this.send());
    const fresh = pieces.filter((piece) => this.isFresh(piece));
    const value = this.y[this.cursor] ?? 0;
    return html`<svg
      viewBox="0 0 ${w} ${h}"
      role="group"
      aria-label="The ${n} numbers and their fit. Drag a point, or move the round handle with the arrow keys."
    >
      ${yAxis(y, 40, "value, and the fit", w - 12)} ${xAxis(x, h - 44, "numbers", w < 360 ? 4 : 6)}
      ${this.tileMarks(x, 32, h - 44)}
      ${Array.from(
        this.y,
        (v, i) => svg`<line class="gap" x1=${x(i + 0.5)} x2=${x(i + 0.5)} y1=${y(v)}
          y2=${y(this.levelAt(pieces, i) ?? v)}></line>`,
      )}
      <path class="ghost" d=${stairs(this.fit, x, y)}></path>
      ${pieces.map((piece) => {
        const level = y(this.mean(piece.begin, piece.end));
        return svg`<line class=${this.isFresh(piece) ? "piece fresh" : "piece"}
          x1=${x(piece.begin) + 2} x2=${x(piece.end) - 2} y1=${level} y2=${level}></line>`;
      })}
      ${Array.from(
        this.y,
        (v, i) =>
          svg`<circle class="total" cx=${x(i + 0.5)} cy=${y(v)} r=${n > 30 ? 2.5 : 3.5}></circle>`,
      )}
      ${
        fresh.length === 1
          ? svg`<text class="label s2" x=${(x(fresh[0]!.begin) + x(fresh[0]!.end)) / 2}
              y=${y(this.mean(fresh[0]!.begin, fresh[0]!.end)) - 10} text-anchor="middle"
              >${short(this.mean(fresh[0]!.begin, fresh[0]!.end))}</text>`
          : nothing
      }
      <rect class="pad" x="34" y="20" width=${w - 40} height=${h - 56} @pointerdown=${press}></rect>
      <circle
        class="handle"
        cx=${x(this.cursor + 0.5)}
        cy=${y(value)}
        r="9"
        role="slider"
        tabindex="0"
        aria-label="Number ${this.cursor + 1}"
        aria-valuemin="0"
        aria-valuemax=${largest}
        aria-valuenow=${value}
        aria-valuetext="${value}, fitted ${short(this.fit[this.cursor] ?? 0)}; left and right choose the number, up and down change it"
        @keydown=${this.cursorKeys}
        @pointerdown=${press}
      ></circle>
    </svg>`;
  }

  private levelAt(pieces: readonly Piece[], i: number): number | undefined {
    const piece = pieces.find(({ begin, end }) => begin <= i && i < end);
    return piece && this.mean(piece.begin, piece.end);
  }

  private readonly cursorKeys = (event: KeyboardEvent): void => {
    const { n } = this;
    const value = this.y[this.cursor] ?? 0;
    const moves: Record<string, () => void> = {
      ArrowLeft: () => (this.cursor = (this.cursor + n - 1) % n),
      ArrowRight: () => (this.cursor = (this.cursor + 1) % n),
      Home: () => (this.cursor = 0),
      End: () => (this.cursor = n - 1),
      ArrowUp: () => this.put(value + 1),
      ArrowDown: () => this.put(value - 1),
      PageUp: () => this.put(value + 10),
      PageDown: () => this.put(value - 10),
    };
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    move();
    this.requestUpdate();
  };

  private put(value: number): void {
    this.drawing = drawAt(this.drawing, this.cursor, value);
    this.send();
  }

  private totalsView(w: number, h: number, pieces: readonly Piece[]): TemplateResult {
    const { n, totals } = this;
    const slope = this.values.tilt ? this.mean(0, n) : 0;
    const tilted = Array.from(totals, (total, k) => total - slope * k);
    const low = Math.min(...tilted);
    const high = Math.max(...tilted);
    const room = Math.max(high - low, 1) * 0.06;
    const x = linearScale([0, n], [48, w - 12]);
    const y = linearScale([low - room, high + room], [h - 44, 32]);
    const tried: SVGTemplateResult[] = [];
    for (let pair = 0; pair < pairs; pair++) {
      const at = 2 * (this.k * pairs + pair);
      const [from, to] = [this.lines[at] ?? -1, this.lines[at + 1] ?? -1];
      if (from < 0) continue;
      tried.push(svg`<line class="tried" x1=${x(from)} x2=${x(to)} y1=${y(tilted[from]!)}
        y2=${y(tilted[to]!)}></line>`);
    }
    const knots = new Set(pieces.flatMap(({ begin, end }) => [begin, end]));
    let along = 0;
    const string = [0, ...Array.from(this.fit, (value) => (along += value))];
    return html`<svg viewBox="0 0 ${w} ${h}" role="img" aria-label=${this.totalsWords(pieces)}>
      ${yAxis(y, 48, this.values.tilt ? "running total, tilted" : "running total", w - 12)}
      ${xAxis(x, h - 44, "numbers added", w < 360 ? 4 : 6)} ${this.tileMarks(x, 32, h - 44)}
      <path class="totals" d=${polyline(tilted, x, y)}></path>
      <path
        class="ghost"
        d=${polyline(
          string.map((total, k) => total - slope * k),
          x,
          y,
        )}
      ></path>
      ${pieces.map(
        (piece) => svg`<line class=${this.isFresh(piece) ? "piece fresh" : "piece"}
          x1=${x(piece.begin)} x2=${x(piece.end)} y1=${y(tilted[piece.begin]!)}
          y2=${y(tilted[piece.end]!)}></line>`,
      )}
      ${tried}
      ${tilted.map((total, k) =>
        knots.has(k)
          ? svg`<circle class="knot" cx=${x(k)} cy=${y(total)} r="4"></circle>`
          : svg`<circle class="total" cx=${x(k)} cy=${y(total)} r=${n > 30 ? 2 : 3}></circle>`,
      )}
    </svg>`;
  }

  private totalsWords(pieces: readonly Piece[]): string {
    const reached = pieces.reduce((sum, { begin, end }) => sum + end - begin, 0);
    const done = this.k === 0 || this.k === this.steps;
    return done
      ? `The string below the ${this.n} running totals is tight: ${count(pieces.length, "straight piece")}.`
      : `The string so far: ${count(pieces.length, "straight piece")} below the first ${reached} of ${this.n} totals.`;
  }
}

/** The `d` of stairs: a level over each number. */
export function stairs(levels: ArrayLike<number>, x: Scale, y: Scale): string {
  let d = "";
  for (let i = 0; i < levels.length; i++) {
    const level = y(levels[i]!).toFixed(2);
    d += `${i === 0 ? "M" : "L"}${x(i).toFixed(2)},${level}H${x(i + 1).toFixed(2)}`;
  }
  return d;
}

const polyline = (ys: readonly number[], x: Scale, y: Scale): string =>
  ys.map((value, k) => `${k === 0 ? "M" : "L"}${x(k).toFixed(2)},${y(value).toFixed(2)}`).join("");

defineDemo("assay-isotonic", IsotonicDemo);
