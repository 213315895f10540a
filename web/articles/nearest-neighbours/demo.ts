// SPDX-License-Identifier: Apache-2.0
// <assay-nearest-neighbours>: draw a garment, or take one, and see which of two thousand are nearest to it.

import { css, html, svg, type PropertyValues, type TemplateResult } from "lit";

import { buttons, slider } from "../../elements/controls.ts";
import { Demo, defineDemo, defineParams, type Outcome } from "../../elements/demo.ts";
import {
  follow,
  linearScale,
  packBytes,
  paintGrey,
  unpackBytes,
  xAxis,
  yAxis,
} from "../../elements/plot.ts";
import type { Values } from "../../elements/params.ts";
import { demoStyles } from "../../elements/styles.ts";
import { input, output, type Module } from "../../runtime/pool.ts";

export const side = 28;
const pixels = side * side;
const rows = 2000;
const names = [
  "T-shirt",
  "trouser",
  "pullover",
  "dress",
  "coat",
  "sandal",
  "shirt",
  "sneaker",
  "bag",
  "ankle boot",
];
const metrics = ["l2", "product", "cosine"];

const params = defineParams({
  garment: { kind: "integer", label: "Garment to ask for", min: 0, max: 199, initial: 0 },
  k: { kind: "integer", label: "Neighbours, k", min: 1, max: 25, initial: 10 },
  rows: {
    kind: "integer",
    label: "Garments looked at",
    min: 0,
    max: rows,
    initial: rows,
    step: 20,
  },
  metric: {
    kind: "choice",
    label: "Nearness",
    options: { l2: "squared distance", cosine: "cosine", product: "inner product" },
    initial: "l2",
  },
  pen: { kind: "choice", label: "Pen", options: { ink: "ink", rubber: "rubber" }, initial: "ink" },
  drawing: {
    kind: "text",
    label: "Drawing",
    initial: "",
    maxLength: 262,
    pattern: /^([-_0-9A-Za-z]{262})?$/,
  },
});

// ---------------------------------------------------------------- the drawing: 28 x 28 inks of four strengths

/** Inks 0 to 3 of a sheet as text for a link: four to a byte, the first lowest. */
export function packDrawing(inks: Uint8Array): string {
  const bytes = new Uint8Array(pixels / 4);
  inks.forEach((ink, i) => (bytes[i >> 2]! |= (ink & 3) << (2 * (i & 3))));
  return packBytes(bytes);
}

/** The inks again; undefined when the text is no drawing. */
export function unpackDrawing(text: string): Uint8Array | undefined {
  const bytes = unpackBytes(text);
  if (bytes?.length !== pixels / 4) return undefined;
  return Uint8Array.from({ length: pixels }, (_, i) => (bytes[i >> 2]! >> (2 * (i & 3))) & 3);
}

/** The nearest of the four inks for each grey value 0 to 255, and back. */
export const inksOf = (greys: Uint8Array): Uint8Array =>
  greys.map((grey) => Math.round((grey * 3) / 255));
export const greysOf = (inks: Uint8Array): Uint8Array => inks.map((ink) => ink * 85);

/**
 * Draws a line with a round, soft pen, or rubs one out. Coordinates are in squares of the sheet and may lie outside it.
 * @param inks changed in place
 */
export function drawLine(
  inks: Uint8Array,
  from: { x: number; y: number },
  to: { x: number; y: number },
  rub: boolean,
): void {
  const length = Math.hypot(to.x - from.x, to.y - from.y);
  const steps = Math.min(400, Math.ceil(length * 3));
  for (let s = 0; s <= steps; s++) {
    const t = steps === 0 ? 0 : s / steps;
    const [x, y] = [from.x + (to.x - from.x) * t, from.y + (to.y - from.y) * t];
    for (let row = Math.floor(y) - 2; row <= y + 2; row++) {
      for (let column = Math.floor(x) - 2; column <= x + 2; column++) {
        if (row < 0 || row >= side || column < 0 || column >= side) continue;
        const far = Math.hypot(column + 0.5 - x, row + 0.5 - y);
        const ink = far < 0.9 ? 3 : far < 1.4 ? 2 : far < 1.8 ? 1 : 0;
        const at = row * side + column;
        inks[at] = rub ? Math.min(inks[at]!, 3 - ink) : Math.max(inks[at]!, ink);
      }
    }
  }
}

/** "3 of 10 are coats": plurals of the ten names. */
export const plural = (name: string, n: number): string =>
  n === 1 ? name : name === "dress" ? "dresses" : `${name}s`;

const whole = (value: number): string => value.toLocaleString("en");

/** A value as the metric's users read it. */
export function nearnessText(metric: string, value: number): string {
  return metric === "cosine" ? value.toFixed(4) : whole(value).replace("-", "\u2212");
}

// ---------------------------------------------------------------- the element

class NearestNeighboursDemo extends Demo<typeof params> {
  static override readonly slug = "nearest-neighbours";
  static override readonly heading = "Which garments are nearest?";
  static override readonly hint =
    "Draw on the sheet, or take a garment, and see the nearest of two thousand and how they vote.";
  static override readonly params = params;

  static override styles = [
    demoStyles,
    css`
      .nn {
        display: grid;
        grid-template-columns: minmax(0, 15rem) minmax(0, 1fr);
        gap: 16px 24px;
        align-items: start;
      }
      .sheet {
        position: relative;
        aspect-ratio: 1;
        border: 1px solid var(--_rule);
      }
      canvas {
        display: block;
        width: 100%;
        height: 100%;
        image-rendering: pixelated;
      }
      .sheet svg {
        position: absolute;
        inset: 0;
        width: 100%;
        height: 100%;
      }
      .cursor {
        fill: none;
        stroke: none;
      }
      svg:focus-visible .cursor {
        stroke: var(--_accent);
        stroke-width: 0.3;
      }
      .tools {
        display: flex;
        flex-wrap: wrap;
        gap: 8px;
        align-items: end;
        margin-top: 8px;
      }
      .near {
        display: grid;
        grid-template-columns: repeat(auto-fill, minmax(72px, 1fr));
        gap: 12px 10px;
        margin: 16px 0 0;
        padding: 0;
        list-style: none;
      }
      .near canvas {
        height: auto;
        aspect-ratio: 1;
        border: 1px solid var(--_rule);
        background: var(--_paper);
      }
      .near li {
        font-size: 0.8125rem;
        line-height: 1.3;
        min-width: 0;
      }
      .near .won canvas {
        border-color: var(--_accent);
        box-shadow: 0 0 0 1px var(--_accent);
      }
      .near span {
        display: block;
        overflow-wrap: anywhere;
      }
      .seen {
        fill: none;
        stroke: var(--_soft);
        stroke-width: 2.2;
        stroke-linecap: round;
        opacity: 0.45;
      }
      .kept {
        fill: var(--series-1);
        stroke: var(--_paper);
        stroke-width: 1;
      }
      .threshold {
        stroke: var(--series-2);
        stroke-width: 1.5;
        stroke-dasharray: 6 3;
      }
      svg text.limit {
        fill: var(--series-2);
        stroke: var(--_paper);
        stroke-width: 4;
        paint-order: stroke;
      }
      @media (max-width: 34rem) {
        .nn {
          grid-template-columns: minmax(0, 1fr);
        }
        .sheet {
          max-width: 18rem;
        }
      }
    `,
  ];

  private greys: Uint8Array = new Uint8Array(pixels);
  private truth = -1;
  private nearness: Float64Array = new Float64Array(rows); // of every garment
  private ids: Int32Array = new Int32Array();
  private listed: Float64Array = new Float64Array();
  private pictures: Uint8Array = new Uint8Array();
  private labels: Int32Array = new Int32Array();
  private facts: Float64Array = new Float64Array(6);
  private stroke: Uint8Array | undefined; // the inks while the pen is down
  private cursor = { column: 14, row: 14 };

  protected override async prepare(module: Module): Promise<void> {
    const pack = await this.data("pack");
    await module.run("load_pack", [input(pack), pack.length]);
  }

  override set(change: Partial<Values<typeof params>>): void {
    // A garment that is asked for takes the place of a drawing.
    super.set("garment" in change && !("drawing" in change) ? { ...change, drawing: "" } : change);
  }

  protected override async compute(module: Module): Promise<Outcome> {
    const { garment, k, rows: looked, metric, drawing } = this.values;
    const inks = drawing === "" ? undefined : unpackDrawing(drawing);
    const [greys, truth] = await module.run("query", [
      garment,
      output("u8", pixels),
      output("i32", 1),
    ]);
    this.greys = inks ? greysOf(inks) : (greys as Uint8Array);
    this.truth = inks ? -1 : Number(truth![0]);
    const [nearness] = await module.run("ask", [
      input(this.greys),
      metrics.indexOf(metric),
      output("f64", rows),
    ]);
    const [ids, listed, facts] = await module.run("scan", [
      looked,
      k,
      output("i32", k),
      output("f64", k),
      output("f64", 6),
    ]);
    const [pictures, labels] = await module.run("garments", [
      input(ids!),
      k,
      output("u8", k * pixels),
      output("i32", k),
    ]);
    this.nearness = nearness as Float64Array;
    this.ids = ids as Int32Array;
    this.listed = listed as Float64Array;
    this.facts = facts as Float64Array;
    this.pictures = pictures as Uint8Array;
    this.labels = labels as Int32Array;
    return { words: this.inWords(), bits: [this.nearness, this.ids, this.listed, this.facts] };
  }

  private inWords(): string {
    const [found = 0, entered = 0, winner = -1, votes = 0, tied = 0] = this.facts;
    const { rows: looked } = this.values;
    if (winner < 0) return "No garment has been looked at, so nobody votes.";
    const name = names[winner]!;
    const asked = this.truth < 0 ? "The drawing" : `This ${names[this.truth]!}`;
    const verdict =
      this.truth < 0
        ? ""
        : this.truth === winner
          ? " That is what it is."
          : ` It is labelled ${names[this.truth]!}.`;
    const tie = tied ? " (a tie, which the nearest decides)" : "";
    return (
      `${asked} is called ${name} by ${votes} of its ${found} nearest${tie}.${verdict} ` +
      `Of ${whole(looked)} garments looked at, ${whole(entered)} entered the list.`
    );
  }

  // ---------------------------------------------------------------- drawing

  private get rubs(): boolean {
    return this.values.pen === "rubber";
  }

  private begin(): Uint8Array {
    this.stroke ??= unpackDrawing(this.values.drawing) ?? inksOf(this.greys);
    return this.stroke;
  }

  private finish(): void {
    if (!this.stroke) return;
    const drawing = packDrawing(this.stroke);
    this.stroke = undefined;
    this.set({ drawing });
  }

  private paintSheet(): void {
    const canvas = this.renderRoot.querySelector<HTMLCanvasElement>(".sheet canvas");
    if (canvas) paintGrey(canvas, this.stroke ? greysOf(this.stroke) : this.greys, side, side);
  }

  private readonly penKeys = (event: KeyboardEvent): void => {
    const moves: Record<string, readonly [number, number]> = {
      ArrowLeft: [-1, 0],
      ArrowRight: [1, 0],
      ArrowUp: [0, -1],
      ArrowDown: [0, 1],
    };
    const move = moves[event.key];
    const centre = ({ column, row }: typeof this.cursor): { x: number; y: number } => ({
      x: column + 0.5,
      y: row + 0.5,
    });
    const before = centre(this.cursor);
    if (move) {
      const clamped = (value: number): number => Math.max(0, Math.min(side - 1, value));
      this.cursor = {
        column: clamped(this.cursor.column + move[0]),
        row: clamped(this.cursor.row + move[1]),
      };
      if (event.shiftKey) {
        drawLine(this.begin(), before, centre(this.cursor), this.rubs);
        this.finish();
      }
    } else if (event.key === " " || event.key === "Backspace" || event.key === "Delete") {
      drawLine(this.begin(), before, before, event.key !== " " || this.rubs);
      this.finish();
    } else {
      return;
    }
    event.preventDefault();
    this.requestUpdate();
  };

  private sheet(): TemplateResult {
    const { column, row } = this.cursor;
    const ink = inksOf(this.greys)[row * side + column]!;
    const strengths = ["no ink", "light ink", "half ink", "full ink"];
    const what = this.truth < 0 ? "your drawing" : `a ${names[this.truth]!}`;
    return html`<div>
      <div class="sheet">
        <canvas role="img" aria-label="The sheet shows ${what}."></canvas>
        <svg
          viewBox="0 0 ${side} ${side}"
          tabindex="0"
          role="application"
          aria-label="Sheet to draw on. Arrow keys move the pen, space draws, Backspace rubs out, Shift with an arrow draws along. Row ${
            row + 1
          }, column ${column + 1}: ${strengths[ink]!}."
          @keydown=${this.penKeys}
        >
          <rect
            class="pad"
            width=${side}
            height=${side}
            @pointerdown=${(event: PointerEvent) =>
              follow(
                event,
                (point, previous) => {
                  drawLine(this.begin(), previous, point, this.rubs);
                  this.paintSheet();
                },
                () => this.finish(),
              )}
          ></rect>
          <rect class="cursor" x=${column} y=${row} width="1" height="1"></rect>
        </svg>
      </div>
      <div class="tools">
        ${buttons(this, "pen")}
        <button @click=${() => this.set({ drawing: packDrawing(new Uint8Array(pixels)) })}>
          Blank sheet
        </button>
        <button
          aria-disabled=${this.values.drawing === ""}
          @click=${() => this.set({ drawing: "" })}
        >
          The garment again
        </button>
      </div>
    </div>`;
  }

  // ---------------------------------------------------------------- pictures

  private scatter(): TemplateResult {
    const { metric, rows: looked, k } = this.values;
    const unit = metric === "cosine" ? 1 : 1e6;
    const title = {
      l2: "squared distance, millions",
      product: "inner product, millions",
      cosine: "cosine distance",
    }[metric]!;
    let low = Infinity;
    let high = -Infinity;
    for (const value of this.nearness) {
      low = Math.min(low, value / unit);
      high = Math.max(high, value / unit);
    }
    const x = linearScale([0, rows], [40, 322]);
    const y = linearScale([Math.min(0, low), high > low ? high : low + 1], [232, 32]);
    let seen = "";
    for (let row = 0; row < looked; row++) {
      seen += `M${x(row).toFixed(1)},${y(this.nearness[row]! / unit).toFixed(1)}h0`;
    }
    const threshold = this.facts[5]! / unit;
    const full = Number.isFinite(threshold);
    const nearest = this.ids[0] ?? -1;
    const summary =
      nearest < 0
        ? "nothing has been looked at yet."
        : `the nearest is number ${nearest}, and the list of ${k} ends at ${full ? threshold.toPrecision(3) : "no limit yet"}.`;
    return html`<svg
      viewBox="0 0 344 276"
      role="img"
      aria-label="Each garment's ${title}, in the order they are looked at: ${summary}"
    >
      ${yAxis(y, 40, title, 322)} ${xAxis(x, 232, "garments looked at", 4)}
      <path class="seen" d=${seen}></path>
      ${
        full
          ? svg`<line class="threshold" x1="40" x2="322" y1=${y(threshold)} y2=${y(threshold)}></line>
            <text class="limit" x="322" y=${y(threshold) + (metric === "product" ? 16 : -7)} text-anchor="end">the list ends here</text>`
          : ""
      }
      ${Array.from(this.ids, (id, i) =>
        id < 0
          ? ""
          : svg`<circle class="kept" r="4" cx=${x(id)} cy=${y(this.listed[i]! / unit)}></circle>`,
      )}
    </svg>`;
  }

  protected override view(): TemplateResult {
    const { metric } = this.values;
    const winner = this.facts[2];
    return html`
      <div class="nn">${this.sheet()}${this.scatter()}</div>
      <ol class="near" aria-label="The nearest garments, nearest first">
        ${Array.from(this.ids, (id, i) =>
          id < 0
            ? ""
            : html`<li class=${this.labels[i] === winner ? "won" : ""}>
                <canvas
                  class="found"
                  role="img"
                  aria-label="Garment ${id}, ${names[this.labels[i]!]!}"
                ></canvas>
                <span>${names[this.labels[i]!]!}${this.labels[i] === winner ? " \u2713" : ""}</span>
                <span class="soft">${nearnessText(metric, this.listed[i]!)}</span>
              </li>`,
        )}
      </ol>
      <div class="controls">
        ${slider(this, "garment")} ${slider(this, "k")} ${slider(this, "rows")}
        ${buttons(this, "metric")}
      </div>
    `;
  }

  protected override updated(changed: PropertyValues): void {
    super.updated(changed);
    this.paintSheet();
    this.renderRoot.querySelectorAll<HTMLCanvasElement>("canvas.found").forEach((canvas, i) => {
      paintGrey(canvas, this.pictures.subarray(i * pixels, (i + 1) * pixels), side, side);
    });
  }

  // Pictures are painted in the page's ink, which changes with the scheme.
  private readonly scheme = globalThis.matchMedia?.("(prefers-color-scheme: dark)");
  private readonly repaint = (): void => this.requestUpdate();
  override connectedCallback(): void {
    super.connectedCallback();
    this.scheme?.addEventListener("change", this.repaint);
  }
  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.scheme?.removeEventListener("change", this.repaint);
  }
}

defineDemo("assay-nearest-neighbours", NearestNeighboursDemo);
