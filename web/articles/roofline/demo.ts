// SPDX-License-Identifier: Apache-2.0
// <assay-roofline>: an operation dragged along the roofs of a T4, an H200, a CPU and the reader's own machine, whose two
// numbers are measured when asked. <assay-roofline-warp>: what one warp's read moves, counted on a simulated kernel.

import { css, html, nothing, svg, type SVGTemplateResult, type TemplateResult } from "lit";

import { buttons, choice, flag, slider } from "../../elements/controls.ts";
import { Demo, defineDemo, defineParams, type Outcome } from "../../elements/demo.ts";
import type { Values } from "../../elements/params.ts";
import { handle, logScale, xAxis, yAxis } from "../../elements/plot.ts";
import { demoStyles } from "../../elements/styles.ts";
import { output, type Module } from "../../runtime/pool.ts";

// ---------------------------------------------------------------- numbers in words

/** So many significant digits without an exponent, for 0.001 to a million. */
const short = (value: number, digits = 3): string =>
  Number(value.toPrecision(digits)).toLocaleString("en", { maximumSignificantDigits: 3 });

const scaled = (value: number, steps: readonly (readonly [number, string])[]): string => {
  const [unit, name] = steps.find(([u]) => value >= u) ?? steps.at(-1)!;
  return `${short(value / unit)} ${name}`;
};

/** Operations a second: "4.29 TFLOP/s". */
export const rateInWords = (rate: number): string =>
  scaled(rate, [
    [1e15, "PFLOP/s"],
    [1e12, "TFLOP/s"],
    [1e9, "GFLOP/s"],
    [1e6, "MFLOP/s"],
  ]);

/** Seconds: "3.36 ms". */
export const timeInWords = (seconds: number): string =>
  scaled(seconds, [
    [1, "s"],
    [1e-3, "ms"],
    [1e-6, "\u00b5s"],
    [1e-9, "ns"],
  ]);

/** "0.0833 operations a byte". */
export const operationsInWords = (intensity: number): string =>
  `${short(intensity)} ${short(intensity) === "1" ? "operation" : "operations"} a byte`;

/** "10.9 times". */
export const timesInWords = (ratio: number): string => `${short(ratio)} times`;

/** Bytes in powers of 1024: "48 KB", "2.8 MB". */
export function bytesInWords(bytes: number): string {
  const [unit, name] = (
    [
      [1 << 30, "GB"],
      [1 << 20, "MB"],
      [1 << 10, "KB"],
    ] as const
  ).find(([u]) => bytes >= u) ?? [1, "bytes"];
  const value = bytes / unit;
  return `${value >= 10 ? Math.round(value) : short(value, 2)} ${name}`;
}

// ---------------------------------------------------------------- the reader's machine

/** A working set and the time of one load in it. */
export interface Chased {
  readonly bytes: number;
  readonly seconds: number;
}

/** What the reader's machine does in this browser, in one thread. */
export interface OwnMachine {
  /** f32 operations a second: multiplications and additions. */
  readonly flops: number;
  readonly flops64: number;
  /** Bytes a second of a triad far beyond the caches. */
  readonly bytes: number;
  readonly chase: readonly Chased[];
}

// As in host.h.
const mulAddF32 = 2;
const mulAddF64 = 3;
const triad = 5;
const chase = 6;

const triadBytes = 96 * 2 ** 20;
/** Working sets of the chase: two to an octave up to 64 MB. */
export const workingSets: readonly number[] = Array.from(
  { length: 27 },
  (_, i) => 64 * Math.round((4096 * 2 ** (i / 2 + 1)) / 64),
).filter((bytes) => bytes <= 64 * 2 ** 20);

/** A run lasts at least so long, since a page's clock ticks ten times in a millisecond. */
const leastMs = 30;

/**
 * Times one probe: doubles its rounds until a run lasts, then takes the best of three.
 * @returns seconds of one round, and what a round does
 */
async function probe(
  module: Module,
  kind: number,
  bytes: number,
  now: () => number,
): Promise<{ seconds: number; work: Float64Array }> {
  const [work] = await module.run("probe_open", [kind, 12, bytes, output("f64", 3)]);
  const timed = async (rounds: number): Promise<number> => {
    const start = now();
    await module.run("probe_run", [rounds]);
    return now() - start;
  };
  await timed(1);
  let rounds = 1;
  let ms = await timed(rounds);
  while (ms < leastMs && rounds < 2 ** 24) {
    // Towards the goal at once, but no more than sixteenfold: the first runs are mostly messages.
    rounds = Math.ceil(rounds * Math.min(16, Math.max(2, (1.3 * leastMs) / Math.max(ms, 0.1))));
    ms = await timed(rounds);
  }
  let best = ms;
  for (let i = 0; i < 2; i++) best = Math.min(best, await timed(rounds));
  await module.run("probe_close", []);
  return { seconds: best / 1000 / rounds, work: work as Float64Array };
}

/**
 * Measures the machine: two numbers and the steps of its caches, in about six seconds.
 * Fails as the module's calls do, also when the reader presses Stop.
 */
export async function measureHost(
  module: Module,
  progress: (done: number, of: number, what: string) => void,
  now: () => number = () => performance.now(),
): Promise<OwnMachine> {
  const of = 3 + workingSets.length;
  let done = 0;
  const next = async (
    what: string,
    kind: number,
    bytes = 0,
  ): Promise<{ seconds: number; work: Float64Array }> => {
    progress(done, of, what);
    const result = await probe(module, kind, bytes, now);
    done++;
    return result;
  };
  const f32 = await next("multiplications and additions in f32", mulAddF32);
  const f64 = await next("the same in f64", mulAddF64);
  const moved = await next("bytes to and from memory", triad, triadBytes);
  const chased: Chased[] = [];
  for (const bytes of workingSets) {
    const { seconds, work } = await next(`loads in ${bytesInWords(bytes)}`, chase, bytes);
    chased.push({ bytes, seconds: seconds / work[2]! });
  }
  return {
    flops: f32.work[0]! / f32.seconds,
    flops64: f64.work[0]! / f64.seconds,
    bytes: moved.work[1]! / moved.seconds,
    chase: chased,
  };
}

/**
 * Levels of the memory hierarchy, as gpu/roofline/measure.h finds them: a level lasts while a load takes at most 1.4 times
 * its fastest one; what lies on a slope belongs to none. A smaller set that was slower was disturbed, and counts as the
 * larger one does.
 */
export function cacheSteps(measured: readonly Chased[]): Chased[] {
  const sets = [...measured];
  for (let i = sets.length - 2; i >= 0; i--) {
    sets[i] = { bytes: sets[i]!.bytes, seconds: Math.min(sets[i]!.seconds, sets[i + 1]!.seconds) };
  }
  const steps: Chased[] = [];
  let onSlope = true;
  sets.forEach((set, i) => {
    const level = steps.at(-1);
    if (!onSlope && level && set.seconds <= 1.4 * level.seconds) {
      steps[steps.length - 1] = {
        bytes: set.bytes,
        seconds: Math.min(level.seconds, set.seconds),
      };
      return;
    }
    const after = sets[i + 1];
    onSlope = after !== undefined && after.seconds > 1.15 * set.seconds;
    if (!onSlope) steps.push(set);
  });
  return steps;
}

/** "A load takes 1.1 ns up to 48 KB, 4 ns up to 1 MB and 90 ns beyond." */
export function stepsInWords(sets: readonly Chased[]): string {
  const steps = cacheSteps(sets);
  const ns = ({ seconds }: Chased): string => `${Number((seconds * 1e9).toPrecision(2))} ns`;
  if (steps.length < 2)
    return `A load takes ${steps[0] ? ns(steps[0]) : "no time that was found"}.`;
  const parts = steps
    .slice(0, -1)
    .map((step) => `${ns(step)} up to ${bytesInWords(step.bytes)}`)
    .join(", ");
  return `A load takes ${parts} and ${ns(steps.at(-1)!)} beyond.`;
}

// ---------------------------------------------------------------- the roofs

const least = 0.03;
const most = 3000;
/** Operations a second at the bottom of the picture. */
const floor = 2e8;

const params = defineParams({
  operation: {
    kind: "choice",
    label: "Operation",
    options: {
      product: "product of two 4096 x 4096 matrices",
      layer: "a batch through a layer of 4096 x 4096",
      add: "add two arrays of 67 million",
      sum: "sum of 67 million",
      softmax: "softmax, rows of 1024",
      softmax3: "softmax in three passes",
      short: "add two arrays of a thousand",
      own: "one of your own: drag it",
    },
    initial: "add",
  },
  batch: { kind: "real", label: "Batch", min: 1, max: 4096, initial: 1, step: 1, log: true },
  intensity: {
    kind: "real",
    label: "Operations a byte",
    min: least,
    max: most,
    initial: 1,
    step: 0.01,
    log: true,
  },
  size: {
    kind: "real",
    label: "Bytes moved",
    unit: "MB",
    min: 0.001,
    max: 10000,
    initial: 800,
    step: 0.001,
    log: true,
  },
  limit: {
    kind: "integer",
    label: "Power limit of the T4",
    unit: "W",
    min: 70,
    max: 250,
    initial: 70,
    step: 5,
  },
  half: {
    kind: "choice",
    label: "Arithmetic of the GPUs",
    options: { f32: "f32", f16: "f16, tensor cores" },
    initial: "f32",
  },
  link: { kind: "flag", label: "The data start and end on the host", initial: false },
  cpu: {
    kind: "choice",
    label: "Compared with",
    options: {
      implied: "the implied CPU",
      laptop: "Intel i7-1360P (laptop)",
      desktop: "AMD Ryzen 9 7950X",
      m2: "Apple M2",
      epyc: "AMD EPYC 7763",
      xeon: "Intel Xeon Gold 6330",
    },
    initial: "implied",
  },
});

export const operations: readonly string[] = Object.keys(params.operation.options);
export const cpus: readonly string[] = Object.keys(params.cpu.options);

/** What an operation waits for, by the module's number. */
const waits = ["computing", "memory", "the link", "the start"];

/** A row of `machines`. */
interface Roof {
  readonly name: string;
  readonly peak: number;
  readonly bandwidth: number;
}

class RooflineDemo extends Demo<typeof params> {
  static override readonly slug = "roofline";
  static override readonly heading = "One operation under four roofs";
  static override readonly hint =
    "Choose an operation or drag it along. Then measure your own machine and see where it stands.";
  static override readonly params = params;

  static override styles = [
    demoStyles,
    css`
      .roof {
        fill: none;
        stroke: var(--s);
        stroke-width: 2.2;
        stroke-linejoin: round;
      }
      .s2.roof {
        stroke-dasharray: 7 3;
      }
      .s3.roof {
        stroke-dasharray: 2 3;
      }
      .s4.roof {
        stroke-dasharray: 10 3 2 3;
      }
      .sheet {
        fill: none;
        stroke: var(--series-1);
        stroke-width: 1;
        stroke-dasharray: 1 4;
      }
      .here {
        stroke: var(--_soft);
        stroke-width: 1;
      }
      .spot {
        fill: var(--s);
        stroke: var(--_paper);
        stroke-width: 1.5;
      }
      .mark {
        fill: none;
        stroke: var(--_soft);
        stroke-width: 1.2;
      }
      svg text.name {
        fill: var(--s);
        stroke: var(--_paper);
        stroke-width: 4;
        paint-order: stroke;
        font-weight: 600;
      }
      svg text.faint {
        fill: var(--_soft);
        stroke: var(--_paper);
        stroke-width: 4;
        paint-order: stroke;
      }
      table {
        width: 100%;
        margin-top: 8px;
      }
      td {
        white-space: nowrap;
      }
      .own {
        margin-top: 12px;
      }
      .own p {
        margin: 0 0 8px;
      }
      .chase {
        max-width: 30rem;
      }
    `,
  ];

  private roofs: Roof[] = [];
  private work: Float64Array = new Float64Array(3);
  private rows: Float64Array = new Float64Array(28);
  private module: Module | undefined;
  private own: OwnMachine | undefined;
  private measuring: { done: number; of: number; what: string } | undefined;
  private trouble = "";

  override set(change: Partial<Values<typeof params>>): void {
    // What is dragged or sized is no longer one of the named operations.
    const dragged = ("intensity" in change || "size" in change) && !("operation" in change);
    super.set(dragged ? { ...change, operation: "own" } : change);
  }

  protected override async compute(module: Module): Promise<Outcome> {
    this.module = module;
    const { operation, half, intensity, size, link, cpu, limit } = this.values;
    const batch = Math.round(this.values.batch);
    const number = cpus.indexOf(cpu);
    const [machines] = await module.run("machines", [limit, number, output("f64", 20)]);
    const [work, rows] = await module.run("place", [
      limit,
      number,
      operations.indexOf(operation),
      half === "f16" ? 1 : 0,
      batch,
      intensity,
      size * 1e6,
      link ? 1 : 0,
      this.own?.flops ?? 0,
      this.own?.bytes ?? 0,
      output("f64", 3),
      output("f64", 28),
    ]);
    const m = machines as Float64Array;
    const peak = (i: number): number => (half === "f16" && i !== 2 ? m[5 * i + 1]! : m[5 * i]!);
    this.roofs = [
      { name: limit > 70 ? `T4 at ${limit} W` : "T4", peak: peak(0), bandwidth: m[2]! },
      { name: "H200", peak: peak(1), bandwidth: m[7]! },
      {
        name: params.cpu.options[cpu as "implied"].replace(/ \(.*/, ""),
        peak: peak(2),
        bandwidth: m[12]!,
      },
      { name: "your machine", peak: this.own?.flops ?? 0, bandwidth: this.own?.bytes ?? 0 },
      { name: "T4, data sheet", peak: peak(3), bandwidth: m[17]! },
    ];
    this.work = work as Float64Array;
    this.rows = rows as Float64Array;
    // The reader's machine is left out of the bits: it is another one each time.
    return { words: this.inWords(), bits: [this.work, this.rows.subarray(0, 21)] };
  }

  private cell(machine: number, column: number): number {
    return this.rows[7 * machine + column]!;
  }

  private inWords(): string {
    const at = operationsInWords(this.work[2]!);
    const lead = this.cell(2, 4) / this.cell(0, 4);
    const verdict =
      lead >= 1
        ? `${timesInWords(lead)} as fast as ${this.roofs[2]!.name}`
        : `slower than ${this.roofs[2]!.name}, which is ${timesInWords(1 / lead)} as fast`;
    const own =
      this.cell(3, 4) > 0
        ? ` Your machine would take ${timeInWords(this.cell(3, 4))} and wait for ${waits[this.cell(3, 5)]!}.`
        : "";
    return (
      `At ${at} the T4 takes ${timeInWords(this.cell(0, 4))} and waits for ${waits[this.cell(0, 5)]!}: ${verdict}. ` +
      `An H200 takes ${timeInWords(this.cell(1, 4))}.${own}`
    );
  }

  // ---------------------------------------------------------------- the picture

  private picture(): TemplateResult {
    const w = this.width;
    const narrow = w < 480;
    const height = narrow ? 340 : 400;
    const top = this.values.half === "f16" ? 2e15 : 2e14;
    const x = logScale([least, most], [narrow ? 46 : 56, w - 12]);
    const y = logScale([floor, top], [height - 52, 30]);
    // While an own operation is dragged its result may lag behind.
    const wanted = this.values.operation === "own" ? this.values.intensity : (this.work[2] ?? 1);
    const intensity = Math.min(most, Math.max(least, wanted));
    const line = ({ peak, bandwidth }: Roof): string => {
      const ridge = peak / bandwidth;
      const at = (i: number): string =>
        `${x(i).toFixed(1)},${y(Math.min(peak, i * bandwidth)).toFixed(1)}`;
      return `M${at(least)}L${at(Math.min(most, ridge))}L${at(most)}`;
    };
    const roofAt = (i: number, { peak, bandwidth }: Roof): number => Math.min(peak, i * bandwidth);
    const known = this.roofs
      .slice(0, 4)
      .map((roof, i) => ({ roof, i }))
      .filter(({ roof }) => roof.peak > 0);
    const set = (value: number): void =>
      this.set({ intensity: Number(Math.min(most, Math.max(least, value)).toPrecision(3)) });
    const t4 = this.roofs[0]!;
    const summary = known
      .map(({ roof }) => `${roof.name} ${rateInWords(roofAt(intensity, roof))}`)
      .join(", ");
    // A name stands above its line, or below where another line is close above.
    const labelled = this.roofs.filter(({ peak }) => peak > 0);
    const label = (roof: Roof): SVGTemplateResult => {
      const at = y(roof.peak);
      const crowded = labelled.some((other) => at - y(other.peak) > 0 && at - y(other.peak) < 24);
      const i = this.roofs.indexOf(roof);
      const look = i === 4 ? "faint" : `name s${i + 1}`;
      return svg`<text class=${look} x=${w - 14} y=${at + (crowded ? 16 : -7)} text-anchor="end">${roof.name}</text>`;
    };
    return html`<svg
      viewBox="0 0 ${w} ${height}"
      role="group"
      aria-label="Rooflines over operations a byte. Attainable at ${operationsInWords(intensity)}: ${summary}."
    >
      ${yAxis(y, narrow ? 46 : 56, "operations a second", w - 12, 5)}
      ${xAxis(x, height - 52, "operations a byte", narrow ? 3 : 6)}
      <path class="sheet" d=${line(this.roofs[4]!)}></path>
      ${known.map(({ roof, i }) => svg`<path class="roof s${i + 1}" d=${line(roof)}></path>`)}
      ${labelled.map(label)}
      <line class="here" x1=${x(intensity)} x2=${x(intensity)} y1=${y(floor)} y2=${y(top)}></line>
      ${known.map(
        ({ roof, i }) =>
          svg`<circle class="spot s${i + 1}" r="4.5" cx=${x(intensity)} cy=${y(roofAt(intensity, roof))}></circle>`,
      )}
      ${handle({
        x: x(intensity),
        y: y(roofAt(intensity, t4)),
        label: "Operations a byte",
        value: Math.round(100 * Math.log10(intensity)) / 100,
        min: Math.log10(least),
        max: Math.log10(most),
        step: 0.05,
        words: `${operationsInWords(intensity)}, ${rateInWords(roofAt(intensity, t4))} on the T4`,
        onValue: (value) => set(10 ** value),
        onPoint: (point) => set(x.invert(point.x)),
      })}
    </svg>`;
  }

  private table(): TemplateResult {
    const cpuTime = this.cell(2, 4);
    return html`<div class="scroll" tabindex="0" role="region" aria-label="Times on each machine">
      <table>
        <thead>
          <tr>
            <th scope="col">machine</th>
            <th scope="col" class="n">time</th>
            <th scope="col" class="n">times as fast</th>
            <th scope="col">waits for</th>
          </tr>
        </thead>
        <tbody>
          ${this.roofs.slice(0, 4).map((roof, i) => {
            const time = this.cell(i, 4);
            if (!(time > 0)) return nothing;
            return html`<tr>
              <th scope="row">
                ${roof.name}${i > 1 && this.values.half === "f16" ? ", in f32" : ""}
              </th>
              <td class="n">${timeInWords(time)}</td>
              <td class="n">${i === 2 ? "1" : short(cpuTime / time)}</td>
              <td>${waits[this.cell(i, 5)]}</td>
            </tr>`;
          })}
        </tbody>
      </table>
    </div>`;
  }

  // ---------------------------------------------------------------- the reader's machine

  private readonly measure = async (): Promise<void> => {
    const module = this.module;
    if (!module || this.measuring) return;
    this.trouble = "";
    this.measuring = { done: 0, of: 1, what: "" };
    this.requestUpdate();
    try {
      this.own = await measureHost(module, (done, of, what) => {
        this.measuring = { done, of, what };
        this.requestUpdate();
      });
    } catch (error) {
      this.trouble = `Not measured: ${error instanceof Error ? error.message : String(error)}.`;
    }
    this.measuring = undefined;
    if (this.isConnected) this.set({});
  };

  private ownPanel(): TemplateResult {
    const { own, measuring } = this;
    return html`<div class="own">
      ${
        measuring
          ? html`<p>
              <progress
                max=${measuring.of}
                .value=${measuring.done}
                aria-label="Measuring"
              ></progress>
              <button @click=${this.stop}>Stop measuring</button>
              <span class="soft">${measuring.what}</span>
            </p>`
          : html`<p>
              <button @click=${this.measure}>
                ${own ? "Measure again" : "Measure this machine"}
              </button>
              <span class="soft">one thread of WebAssembly, about six seconds</span>
            </p>`
      }
      ${this.trouble ? html`<p class="bad">${this.trouble}</p>` : nothing}
      ${
        own && !measuring
          ? html`<p>${this.ownWords(own)}</p>
              ${this.chase(own)}`
          : nothing
      }
    </div>`;
  }

  private ownWords(own: OwnMachine): string {
    return (
      `In this browser: ${rateInWords(own.flops)} in f32 (${rateInWords(own.flops64)} in f64) and ` +
      `${(own.bytes / 1e9).toPrecision(3)} GB/s, so the ridge is at ${operationsInWords(own.flops / own.bytes)}. ` +
      stepsInWords(own.chase)
    );
  }

  private chase(own: OwnMachine): TemplateResult {
    const w = Math.min(480, this.width);
    const sets = own.chase;
    const x = logScale([sets[0]!.bytes, sets.at(-1)!.bytes], [44, w - 12]);
    const times = sets.map(({ seconds }) => seconds * 1e9);
    const y = logScale([Math.min(...times) * 0.8, Math.max(...times) * 1.25], [150, 30]);
    const d = sets
      .map(({ bytes }, i) => `${i ? "L" : "M"}${x(bytes).toFixed(1)},${y(times[i]!).toFixed(1)}`)
      .join("");
    const ticks = [32768, 1048576, 33554432].filter((b) => b >= x.domain[0] && b <= x.domain[1]);
    const marks = [1, 3, 10, 30, 100, 300].filter((t) => t >= y.domain[0] && t <= y.domain[1]);
    return html`<svg
      class="chase"
      viewBox="0 0 ${w} 190"
      role="img"
      aria-label="Nanoseconds of one load over the working set. ${stepsInWords(sets)}"
    >
      <g class="axis" aria-hidden="true">
        <line x1="44" x2=${w - 12} y1="150" y2="150"></line>
        ${ticks.map(
          (b) => svg`<line x1=${x(b)} x2=${x(b)} y1="150" y2="155"></line>
            <text x=${x(b)} y="168" text-anchor="middle">${bytesInWords(b)}</text>`,
        )}
        ${marks.map(
          (t) => svg`<line x1="44" x2=${w - 12} y1=${y(t)} y2=${y(t)}></line>
            <text x="38" y=${y(t) + 4} text-anchor="end">${t}</text>`,
        )}
        <text x="38" y="16" text-anchor="start">↑ ns a load</text>
        <text x=${w - 12} y="186" text-anchor="end">working set →</text>
      </g>
      <path class="line s4" d=${d}></path>
      ${sets.map(({ bytes }, i) => svg`<circle class="dot s4" r="2.5" cx=${x(bytes)} cy=${y(times[i]!)}></circle>`)}
    </svg>`;
  }

  protected override view(): TemplateResult {
    const { operation } = this.values;
    return html`
      ${this.picture()} ${this.table()} ${this.ownPanel()}
      <div class="controls">
        ${choice(this, "operation")} ${operation === "layer" ? slider(this, "batch") : nothing}
        ${operation === "own" ? html`${slider(this, "intensity")} ${slider(this, "size")}` : nothing}
        ${buttons(this, "half")} ${slider(this, "limit")} ${choice(this, "cpu")}
        ${flag(this, "link")}
      </div>
    `;
  }
}

defineDemo("assay-roofline", RooflineDemo);

// ---------------------------------------------------------------- one warp

const warpParams = defineParams({
  memory: {
    kind: "choice",
    label: "Memory",
    options: { global: "global", shared: "shared" },
    initial: "global",
  },
  stride: { kind: "integer", label: "Stride, in numbers", min: 0, max: 64, initial: 2 },
  offset: { kind: "integer", label: "First number", min: 0, max: 31, initial: 0 },
  shuffled: { kind: "flag", label: "Lanes in another order", initial: false },
});

/** How often the busiest column of 32 is asked for different words. */
export function columnLoads(places: ArrayLike<number>): number[] {
  const words = new Set(Array.from(places));
  const loads = new Array<number>(32).fill(0);
  for (const word of words) loads[word % 32]!++;
  return loads;
}

class WarpDemo extends Demo<typeof warpParams> {
  static override readonly slug = "roofline";
  static override readonly heading = "What one warp's read costs";
  static override readonly hint =
    "Thirty-two lanes read one number each. Drag the second lane, and change the memory.";
  static override readonly params = warpParams;

  static override styles = [
    demoStyles,
    css`
      .word {
        fill: none;
        stroke: var(--_rule);
        stroke-width: 0.6;
      }
      .moved {
        fill: color-mix(in srgb, var(--series-2) 28%, transparent);
      }
      .asked {
        fill: var(--series-1);
      }
      .bank {
        fill: var(--series-1);
      }
      .bank.most {
        fill: var(--series-2);
      }
      .key {
        display: flex;
        flex-wrap: wrap;
        gap: 4px 20px;
        margin: 8px 0 0;
        padding: 0;
        list-style: none;
        font-size: 0.875rem;
      }
      .key svg {
        display: inline-block;
        width: 14px;
        height: 12px;
        vertical-align: -1px;
      }
    `,
  ];

  private places: Int32Array = new Int32Array(32);
  private facts: Float64Array = new Float64Array(6);

  protected override async compute(module: Module): Promise<Outcome> {
    const { memory, stride, offset, shuffled } = this.values;
    const [places, facts] = await module.run("warp", [
      memory === "shared" ? 1 : 0,
      stride,
      offset,
      shuffled ? 1 : 0,
      output("i32", 32),
      output("f64", 6),
    ]);
    this.places = places as Int32Array;
    this.facts = facts as Float64Array;
    return { words: this.inWords(), bits: [this.places, this.facts] };
  }

  private get isShared(): boolean {
    return this.values.memory === "shared";
  }

  private inWords(): string {
    const [, bytes = 0, sectors = 0, lines = 0, passes = 0] = this.facts;
    const many = (n: number, what: string): string => `${n} ${what}${n === 1 ? "" : "s"}`;
    if (this.isShared) {
      const most = columnLoads(this.places).indexOf(passes);
      return passes === 1
        ? "No bank is asked for two different words: one pass serves the whole warp."
        : `Bank ${most} is asked for ${passes} different words, so the read takes ${passes} passes over the banks instead of one.`;
    }
    return (
      `The lanes ask for ${bytes} bytes and move ${many(sectors, "sector")} of 32 bytes in ${many(lines, "line")}: ` +
      `${32 * sectors} bytes, of which ${Math.round((100 * bytes) / (32 * sectors))} in a hundred are used.`
    );
  }

  private picture(): TemplateResult {
    const w = this.width;
    const left = w < 480 ? 32 : 40;
    const shared = this.isShared;
    const rows = Math.max(4, Math.floor(Math.max(...this.places) / 32) + 1);
    const cw = (w - left - 4) / 32;
    const ch = Math.min(16, Math.max(6, 360 / rows));
    const top = 26;
    const bottom = top + rows * ch;
    const at = (word: number): { x: number; y: number } => ({
      x: left + (word % 32) * cw,
      y: top + Math.floor(word / 32) * ch,
    });
    const asked = new Set(Array.from(this.places));
    const sectors = new Set(Array.from(this.places, (word) => Math.floor(word / 8)));
    const loads = columnLoads(this.places);
    const most = Math.max(...loads);
    const bar = Math.min(4, 80 / most);
    const height = shared ? bottom + most * bar + 44 : bottom + 22;
    const { stride, offset } = this.values;
    const second = at(offset + stride);
    const everyRow = Math.max(1, Math.ceil(16 / ch));
    return html`<svg viewBox="0 0 ${w} ${height}" role="group" aria-label=${this.inWords()}>
      <g class="axis" aria-hidden="true">
        <text x=${left} y="12" text-anchor="start">
          ${shared ? "32 banks, a word wide each \u2192" : "a line of 128 bytes, four sectors \u2192"}
        </text>
        ${Array.from({ length: rows }, (_, row) =>
          row % everyRow === 0
            ? svg`<text x=${left - 6} y=${top + row * ch + ch - 1} text-anchor="end">${32 * row}</text>`
            : nothing,
        )}
      </g>
      ${
        shared
          ? nothing
          : Array.from(sectors, (sector) => {
              const { x, y } = at(8 * sector);
              return svg`<rect class="moved" x=${x} y=${y} width=${8 * cw} height=${ch}></rect>`;
            })
      }
      <path
        class="word"
        d=${
          Array.from(
            { length: rows + 1 },
            (_, r) => `M${left},${top + r * ch}H${left + 32 * cw}`,
          ).join("") +
          Array.from({ length: 33 }, (_, c) =>
            shared || c % 8 === 0 ? `M${left + c * cw},${top}V${bottom}` : "",
          ).join("")
        }
      ></path>
      ${Array.from(asked, (word) => {
        const { x, y } = at(word);
        return svg`<rect class="asked" x=${x + 0.5} y=${y + 0.5} width=${cw - 1} height=${ch - 1}></rect>`;
      })}
      ${
        shared
          ? svg`${loads.map((load, bank) =>
              load === 0
                ? nothing
                : svg`<rect class=${load === most && most > 1 ? "bank most" : "bank"} x=${left + bank * cw + 0.5} y=${bottom + 8} width=${cw - 1} height=${load * bar}></rect>`,
            )}
            <g class="axis" aria-hidden="true"><text x=${left} y=${bottom + most * bar + 26} text-anchor="start">words asked of each bank: ${most} at most</text></g>`
          : nothing
      }
      ${handle({
        x: second.x + cw / 2,
        y: second.y + ch / 2,
        label: "Where the second lane reads",
        value: stride,
        min: 0,
        max: 64,
        step: 1,
        words: `stride ${stride}`,
        radius: 8,
        onValue: (value) => this.set({ stride: Math.round(value) }),
        onPoint: ({ x, y }) => {
          const column = Math.min(31, Math.max(0, Math.floor((x - left) / cw)));
          const row = Math.min(2, Math.max(0, Math.floor((y - top) / ch)));
          this.set({ stride: Math.min(64, Math.max(0, 32 * row + column - offset)) });
        },
      })}
    </svg>`;
  }

  protected override view(): TemplateResult {
    const shared = this.isShared;
    return html`
      ${this.picture()}
      <ul class="key">
        <li>
          <svg viewBox="0 0 14 12" aria-hidden="true">
            <rect class="asked" width="14" height="12"></rect>
          </svg>
          asked for
        </li>
        ${
          shared
            ? nothing
            : html`<li>
                <svg viewBox="0 0 14 12" aria-hidden="true">
                  <rect class="moved" width="14" height="12"></rect>
                </svg>
                moved with it
              </li>`
        }
      </ul>
      <div class="controls">
        ${buttons(this, "memory")} ${slider(this, "stride")} ${slider(this, "offset")}
        ${flag(this, "shuffled")}
      </div>
    `;
  }
}

defineDemo("assay-roofline-warp", WarpDemo);
