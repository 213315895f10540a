// SPDX-License-Identifier: Apache-2.0
// <assay-numerical-pitfalls>: an expression, a sum or a softmax in f16, bf16, f32 and f64 at once, beside the exact
// answer: each format's bits, the value that is really stored, and which of its digits are right. For an expression
// also which operation lost them, a form that keeps them, and the errors of both over a range. Every number comes from
// wasm.cc; this file only lays it out. <assay-numerical-pitfalls-rewrite> is the same under another heading.

import { css, html, nothing, svg, type SVGTemplateResult, type TemplateResult } from "lit";

import { choice, integerField, textField } from "../../elements/controls.ts";
import { Demo, defineDemo, defineParams, type Outcome } from "../../elements/demo.ts";
import { linearScale, linePath, type Scale, yAxis } from "../../elements/plot.ts";
import { demoStyles } from "../../elements/styles.ts";
import { input, output, type Module } from "../../runtime/pool.ts";

// ---------------------------------------------------------------- what explorer.h and calculator.h send

export interface Value {
  readonly bits: string;
  readonly kind: "zero" | "subnormal" | "normal" | "infinity" | "nan";
  readonly negative: boolean;
  readonly short: string;
  readonly digits: string;
  readonly exponent: number;
  readonly more: number;
  readonly kept: number;
  readonly error: string;
  readonly ulps: string;
  readonly gap: string;
}

interface Exact {
  readonly text: string;
  readonly complete: boolean;
}

interface FormatValue {
  readonly name: string;
  readonly exponent_bits: number;
  readonly fraction_bits: number;
  readonly stored: readonly string[];
  readonly truth: Exact;
  readonly value: Value;
}

interface Step {
  readonly text: string;
  readonly exact: Exact;
  readonly amplifies: string;
  readonly values: readonly Value[];
  readonly blame: readonly string[];
}

interface Rewrite {
  readonly text: string;
  readonly by: readonly {
    readonly rule: string;
    readonly reason: string;
    readonly text: string;
  }[];
  readonly before: string;
  readonly after: string;
  readonly values: readonly Value[];
}

type Row = readonly (number | null)[];

interface Curve {
  readonly variable: string;
  readonly low: number;
  readonly high: number;
  readonly negative: boolean;
  readonly original: readonly Row[];
  readonly rewritten: readonly Row[] | null;
  readonly condition: Row;
}

interface ExpressionAnswer {
  readonly mode: "expression";
  readonly text: string;
  readonly exact: Exact;
  readonly condition: string;
  readonly variables: readonly {
    readonly name: string;
    readonly value: string;
    readonly condition: string;
  }[];
  readonly formats: readonly FormatValue[];
  readonly steps: readonly Step[];
  readonly rewrite: Rewrite | null;
  readonly searched: number;
  readonly curve: Curve | null;
}

interface SumAnswer {
  readonly mode: "sum";
  readonly terms: number;
  readonly exact: Exact;
  readonly condition: string;
  readonly methods: readonly { readonly name: string; readonly values: readonly Value[] }[];
}

interface Shares {
  readonly shares: readonly string[];
  readonly loss: string;
  readonly bad?: boolean;
}

interface SoftmaxAnswer {
  readonly mode: "softmax";
  readonly logits: readonly string[];
  readonly exact: Shares;
  readonly formats: readonly {
    readonly name: string;
    readonly naive: Shares;
    readonly stable: Shares;
  }[];
}

type Answer = ExpressionAnswer | SumAnswer | SoftmaxAnswer;

// ---------------------------------------------------------------- pure logic

export const formats = ["f16", "bf16", "f32", "f64"] as const;

/** Things to try, the first being what a mode starts with; "at" gives the values of variables. */
export const examples = {
  expression: [
    "(1e8 + 1) - 1e8",
    "0.1 + 0.2",
    "sqrt(x + 1) - sqrt(x) at x = 1e12",
    "(1 - cos(x)) / x^2 at x = 1e-6",
    "(-b + sqrt(b^2 - 4*a*c)) / (2*a) at b = 1e8, a = 1, c = 1",
    "log(exp(x) + exp(y)) at x = 100, y = 99",
    "exp(x) - 1 at x = 1e-9",
    "1/(x+1) - 2/x + 1/(x-1) at x = 1e4",
  ],
  sum: ["300 x 1", "10 x 0.1", "1, 1e100, 1, -1e100", "1000 x 0.1, -100"],
  softmax: ["100, 99, 90", "2, 1, 0.1", "12, 11, 9", "0, 20, 5", "1e8, 1e8"],
} as const;

export type Mode = keyof typeof examples;
export const modes = Object.keys(examples) as Mode[];

/** The text and the values of an example. */
export function splitExample(example: string): { text: string; at: string } {
  const [text = "", at = ""] = example.split(" at ");
  return { text, at };
}

/** "x = 1, y = 2" with one of the values changed. */
export function withValue(
  variables: readonly { readonly name: string; readonly value: string }[],
  name: string,
  value: string,
): string {
  return variables
    .map((v) => `${v.name} = ${v.name === name ? value.trim() || "1" : v.value}`)
    .join(", ");
}

/** The decade of a value on a slider, a multiple of a quarter: 12 for 1e12 and for -1e12; undefined for 0 and for words. */
export function decadeOf(value: string): number | undefined {
  const size = Math.abs(Number(value));
  return size > 0 && Number.isFinite(size) ? Math.log10(size) : undefined;
}

/** 10 to the decade in three digits, as a reader would type it. */
export function fromDecade(decade: number, negative: boolean): string {
  const whole = Math.floor(decade);
  const lead = Number((10 ** (decade - whole)).toPrecision(3));
  const text = whole >= 0 && whole < 6 ? String(Number(`${lead}e${whole}`)) : `${lead}e${whole}`;
  return negative ? `-${text}` : text;
}

/** Which step's rounding put the most into a format's error; undefined where none put half a unit. */
export function culpritOf(steps: readonly Step[], format: number): Step | undefined {
  let most = 0.5;
  let culprit: Step | undefined;
  for (const step of steps) {
    const share = Math.abs(Number(step.blame[format]));
    if (share > most) {
      most = share;
      culprit = step;
    }
  }
  return culprit;
}

const superscripts = "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079";

/** A power of ten as readers write it: 10 and raised digits. */
const power = (exponent: number): string =>
  `10${exponent < 0 ? "\u207b" : ""}${[...String(Math.abs(exponent))].map((c) => superscripts[Number(c)]).join("")}`;

/** "1.5e-8" with a raised exponent, "-2" with a true minus, "nan" as NaN, "inf" as the sign for it. */
export function numberText(text: string): string {
  if (text === "nan") return "NaN";
  if (text === "inf") return "\u221e";
  if (text === "-inf") return "\u2212\u221e";
  const [mantissa = "", exponent] = text.split("e");
  const body = mantissa.replace("-", "\u2212");
  if (exponent === undefined) return body;
  return `${body === "1" ? "" : `${body}\u202f\u00d7\u202f`}${power(Number(exponent))}`;
}

/** A stored value cut into the digits that are right, those that are noise, and what follows. */
export interface Laid {
  readonly kept: string;
  readonly lost: string;
  readonly tail: string;
}

/** Lays out a value's digits: written out for exponents from -7 to 20, else with a power of ten. */
export function layDigits(value: Value): Laid {
  const sign = value.negative ? "\u2212" : "";
  if (value.kind === "nan") return { kept: "", lost: "NaN", tail: "" };
  if (value.kind === "infinity") {
    const text = `${sign}\u221e`;
    return value.kept < 0 ? { kept: text, lost: "", tail: "" } : { kept: "", lost: text, tail: "" };
  }
  if (value.kind === "zero") {
    return value.kept < 0
      ? { kept: `${sign}0`, lost: "", tail: "" }
      : { kept: "", lost: `${sign}0`, tail: "" };
  }
  const { exponent } = value;
  const plain = exponent >= -7 && exponent <= 20;
  const more = value.more > 0 ? ` \u2026 ${value.more} more` : "";
  let digits = value.digits;
  let head = sign;
  let point = 1;
  if (plain && exponent >= 0) {
    digits = digits.padEnd(exponent + 1, "0");
    point = exponent + 1;
  } else if (plain) {
    head = `${sign}0.${"0".repeat(-exponent - 1)}`;
    point = 0;
  }
  const kept = value.kept < 0 ? digits.length : Math.min(value.kept, digits.length);
  const cut = (from: number, to: number): string => {
    const part = digits.slice(from, to);
    if (point <= from || point > to || point === digits.length) return part;
    if (point === to) return part;
    return `${part.slice(0, point - from)}.${part.slice(point - from)}`;
  };
  let left = head + cut(0, kept);
  let right = cut(kept, digits.length);
  // A point that falls between the two belongs to the second.
  if (point === kept && kept > 0 && kept < digits.length) right = `.${right}`;
  if (kept === 0) {
    right = left + right;
    left = "";
  }
  return {
    kept: left,
    lost: right,
    tail: `${more}${plain ? "" : `\u202f\u00d7\u202f${power(exponent)}`}`,
  };
}

/** What became of the digits, in words. */
export function keptText(value: Value): string {
  if (value.kept < 0) return "exact";
  if (value.kind === "nan") return "no number";
  if (value.kind === "infinity") return "out of range";
  if (value.kept === 0) return "no digit right";
  return value.kept === 1 ? "1 digit right" : `${value.kept} digits right`;
}

/** The fields of a pattern. */
export function fieldsOf(
  bits: string,
  exponentBits: number,
): { sign: string; exponent: string; fraction: string } {
  return {
    sign: bits.slice(0, 1),
    exponent: bits.slice(1, 1 + exponentBits),
    fraction: bits.slice(1 + exponentBits),
  };
}

/** The document in a zero-filled buffer. Fails with the words in it where the text made no sense. */
export function readAnswer(bytes: Uint8Array): Answer {
  const end = bytes.indexOf(0);
  const text = new TextDecoder().decode(end < 0 ? bytes : bytes.slice(0, end));
  const answer = JSON.parse(text) as Answer | { error: string };
  if ("error" in answer) throw new Error(`${answer.error}.`);
  return answer;
}

/** The answer in one sentence. */
export function wordsOf(answer: Answer): string {
  switch (answer.mode) {
    case "expression": {
      const each = answer.formats.map(
        ({ name, value }) => `${name} ${numberText(value.short)} (${keptText(value)})`,
      );
      const better = answer.rewrite ? ` A better form: ${answer.rewrite.text}.` : "";
      return `Exactly ${numberText(answer.exact.text)}. ${each.join(", ")}.${better}`;
    }
    case "sum": {
      const naive = answer.methods[0]!.values.map(
        (value, f) => `${formats[f]} ${numberText(value.short)}`,
      );
      return `${answer.terms} terms, exactly ${numberText(answer.exact.text)}. One after the other: ${naive.join(", ")}.`;
    }
    case "softmax": {
      const bad = answer.formats.filter(({ naive }) => naive.bad).map(({ name }) => name);
      return bad.length === 0
        ? "The naive softmax gets through in every format."
        : `The naive softmax breaks in ${bad.join(", ")}; logsumexp gets through.`;
    }
  }
}

// ---------------------------------------------------------------- the element

const params = defineParams({
  mode: {
    kind: "choice",
    label: "What to compute",
    options: { expression: "An expression", sum: "A sum", softmax: "A softmax" },
    initial: "expression",
  },
  text: {
    kind: "text",
    label: "Type here",
    initial: examples.expression[0],
    maxLength: 300,
    pattern: /^[-+*/^().,; \w]*$/,
  },
  at: {
    kind: "text",
    label: "Values",
    initial: "",
    maxLength: 300,
    pattern: /^[-+.,;= \w]*$/,
  },
  format: {
    kind: "choice",
    label: "Look for a better form in",
    options: { f16: "f16", bf16: "bf16", f32: "f32", f64: "f64" },
    initial: "f64",
  },
  axis: {
    kind: "text",
    label: "Curve over",
    initial: "",
    maxLength: 40,
    pattern: /^\w*$/,
  },
  low: { kind: "integer", label: "Curve from 10^", min: -300, max: 299, initial: -8 },
  high: { kind: "integer", label: "to 10^", min: -299, max: 300, initial: 20 },
});

const capacity = 1 << 19;

const laid = (value: Value): TemplateResult => {
  const { kept, lost, tail } = layDigits(value);
  return html`<span class="mono digits"
    >${kept}${lost ? html`<span class="lost">${lost}</span>` : nothing}${tail}</span
  >`;
};

const cell = (value: Value, below: TemplateResult | typeof nothing = nothing): TemplateResult =>
  html`<td>
    <span class="mono ${value.kept === 0 ? "lost" : ""}">${numberText(value.short)}</span>
    <span class="soft">${keptText(value)}</span>${below}
  </td>`;

const tickWords = (value: number): string => String(Number(value.toPrecision(3)));

/** The horizontal axis of a curve: powers of ten, under a minus where the variable is negative. */
function decades(x: Scale, y: number, { low, high, negative, variable }: Curve): SVGTemplateResult {
  const stride = Math.max(1, Math.ceil((high - low) / 5));
  const marks = Array.from(
    { length: Math.floor((high - low) / stride) + 1 },
    (_, i) => low + i * stride,
  );
  return svg`<g class="axis" aria-hidden="true">
    <line x1=${x(low)} x2=${x(high)} y1=${y} y2=${y}></line>
    ${marks.map(
      (mark) => svg`<line x1=${x(mark)} x2=${x(mark)} y1=${y} y2=${y + 5}></line>
        <text x=${x(mark)} y=${y + 18} text-anchor="middle">${negative ? "\u2212" : ""}${power(mark)}</text>`,
    )}
    <text x=${x(high)} y=${y + 34} text-anchor="end">${variable} \u2192</text>
  </g>`;
}

const headers = (first: readonly string[]): TemplateResult =>
  html`<thead>
    <tr>
      ${[...first, ...formats].map((name) => html`<th scope="col">${name}</th>`)}
    </tr>
  </thead>`;

class PitfallsDemo extends Demo<typeof params> {
  static override readonly slug = "numerical-pitfalls";
  static override readonly heading: string = "Where the digits go";
  static override readonly hint: string =
    "Type numbers and see what four formats make of them; digits that are noise are marked.";
  static override readonly params = params;
  static override styles = [
    demoStyles,
    css`
      #text {
        width: min(34rem, 100%);
      }
      .field:has(#text) {
        flex: 1 1 20rem;
      }
      .tries {
        display: flex;
        flex-wrap: wrap;
        gap: 4px 8px;
        margin: 8px 0 16px;
        align-items: center;
      }
      .tries button {
        font-family: var(--_mono);
        font-size: 0.8125rem;
        min-height: 28px;
        padding: 2px 8px;
      }
      .exactly {
        margin: 0 0 4px;
        overflow-wrap: anywhere;
      }
      .format {
        display: grid;
        grid-template-columns: 3.5rem 1fr;
        gap: 2px 8px;
        padding: 8px 0;
        border-top: 1px solid var(--_rule);
      }
      .format > :not(.name) {
        grid-column: 2;
        min-width: 0;
      }
      .name {
        font-weight: 600;
        grid-row: span 3;
      }
      .bits {
        font-family: var(--_mono);
        font-size: 0.8125rem;
        line-height: 1.7;
        overflow-wrap: anywhere;
      }
      .bits span {
        border-bottom: 2px solid var(--s);
        color: var(--s);
        margin-right: 4px;
        box-decoration-break: clone;
        -webkit-box-decoration-break: clone;
      }
      .sign {
        --s: var(--series-2);
      }
      .exponent {
        --s: var(--series-1);
        border-bottom-style: double !important;
      }
      .fraction {
        --s: var(--series-3);
        border-bottom-style: dotted !important;
      }
      .digits {
        overflow-wrap: anywhere;
      }
      .lost {
        color: var(--_bad);
        text-decoration: underline wavy 1px;
        text-underline-offset: 3px;
      }
      .key {
        display: flex;
        flex-wrap: wrap;
        gap: 2px 16px;
        margin: 0 0 8px;
        font-size: 0.8125rem;
      }
      .key .bits {
        line-height: 1.4;
      }
      table {
        margin-top: 12px;
      }
      td .soft {
        display: block;
        font-size: 0.8125rem;
      }
      td,
      th {
        white-space: nowrap;
        vertical-align: top;
      }
      .variable > div {
        flex-wrap: wrap;
      }
      .variable input[type="text"] {
        width: 9em;
      }
      .better {
        margin: 16px 0 0;
        padding: 8px 0 0;
        border-top: 1px solid var(--_rule);
      }
      .better h4,
      .panels h4 {
        margin: 0 0 4px;
        font-size: 0.9375rem;
        font-weight: 600;
      }
      .better p {
        margin: 4px 0;
        max-width: 46em;
      }
      .form {
        font-family: var(--_mono);
        font-size: 1rem;
        overflow-wrap: anywhere;
      }
      .panels {
        display: grid;
        grid-template-columns: repeat(auto-fit, minmax(min(100%, 270px), 1fr));
        gap: 16px 24px;
        margin: 16px 0 0;
      }
      .panels figure {
        margin: 0;
      }
      .legend {
        display: flex;
        flex-wrap: wrap;
        gap: 2px 16px;
        margin: 12px 0 0;
        font-size: 0.8125rem;
      }
      .legend svg {
        display: inline-block;
        width: 28px;
        height: 8px;
        margin-right: 4px;
      }
      svg .s4.line {
        stroke-dasharray: 10 3 2 3;
      }
      svg .here {
        stroke: var(--_ink);
        stroke-width: 1;
      }
    `,
  ];

  private answer: Answer | undefined;

  protected override async compute(module: Module): Promise<Outcome> {
    const { mode, text, at, axis, low, high, format } = this.values;
    // An empty array has no address to give; the length says that nothing is in it.
    const bytes = (words: string): [ReturnType<typeof input>, number] => {
      const encoded = new TextEncoder().encode(words);
      return [input(encoded.length > 0 ? encoded : new Uint8Array(1)), encoded.length];
    };
    const [document] = await module.run("analyse", [
      modes.indexOf(mode as Mode),
      ...bytes(text),
      ...bytes(at),
      ...bytes(axis),
      Math.min(low, high - 1),
      high,
      formats.indexOf(format as (typeof formats)[number]),
      output("u8", capacity),
      capacity,
    ]);
    const filled = document as Uint8Array;
    const answer = readAnswer(filled);
    this.answer = answer;
    const end = filled.indexOf(0);
    return { words: wordsOf(answer), bits: [filled.slice(0, end < 0 ? undefined : end)] };
  }

  protected override view(): TemplateResult {
    const mode = this.values.mode as Mode;
    return html`
      <div class="controls">
        <div class="field" role="group" aria-label="What to compute">
          <span class="label" aria-hidden="true">What to compute</span>
          <div>
            ${modes.map(
              (key) =>
                html`<button
                  type="button"
                  aria-pressed=${mode === key}
                  @click=${() => this.set({ mode: key, ...splitExample(examples[key][0]) })}
                >
                  ${params.mode.options[key]}
                </button>`,
            )}
          </div>
        </div>
        ${textField(this, "text")}
      </div>
      ${mode === "expression" ? this.variables() : nothing}
      <div class="tries" role="group" aria-label="Examples">
        <span class="soft">Try</span>
        ${examples[mode].map((example) => {
          const { text, at } = splitExample(example);
          return html`<button type="button" @click=${() => this.set({ text, at, axis: "" })}>
            ${text}
          </button>`;
        })}
      </div>
      ${this.result()}
    `;
  }

  /** A field and a slider for each variable. */
  private variables(): TemplateResult | typeof nothing {
    if (this.answer?.mode !== "expression" || this.answer.variables.length === 0) return nothing;
    const { variables } = this.answer;
    const { low, high } = this.values;
    return html`<div class="controls">
      ${variables.map(({ name, value }) => {
        const decade = decadeOf(value);
        const put = (text: string): void => this.set({ at: withValue(variables, name, text) });
        return html`<div class="field variable">
          <label for="value-${name}">${name}</label>
          <div>
            <input
              id="value-${name}"
              type="text"
              maxlength="40"
              autocomplete="off"
              spellcheck="false"
              .value=${value}
              @change=${(event: Event) => put((event.target as HTMLInputElement).value)}
            />
            ${
              decade === undefined
                ? nothing
                : html`<input
                    type="range"
                    aria-label="size of ${name}"
                    aria-valuetext=${value}
                    min=${Math.min(low, high - 1)}
                    max=${high}
                    step="0.25"
                    .value=${String(decade)}
                    @change=${(event: Event) =>
                      put(
                        fromDecade(
                          Number((event.target as HTMLInputElement).value),
                          value.startsWith("-"),
                        ),
                      )}
                  />`
            }
          </div>
        </div>`;
      })}
      ${choice(this, "format")}
    </div>`;
  }

  private result(): TemplateResult | typeof nothing {
    switch (this.answer?.mode) {
      case "expression":
        return this.expression(this.answer);
      case "sum":
        return this.sum(this.answer);
      case "softmax":
        return this.softmax(this.answer);
      default:
        return nothing;
    }
  }

  private exactly(exact: Exact, before: string): TemplateResult {
    return html`<p class="exactly">
      ${before}
      <span class="mono">${numberText(exact.text)}${exact.complete ? "" : "\u2026"}</span>
    </p>`;
  }

  private expression(answer: ExpressionAnswer): TemplateResult {
    const asked = answer.variables.length > 0;
    return html`
      ${this.exactly(answer.exact, "Exactly:")}
      ${
        asked
          ? html`<p class="exactly soft">
              Condition number: ${numberText(answer.condition)}. By so much the problem itself
              amplifies relative errors of ${answer.variables.map((v) => v.name).join(", ")}.
            </p>`
          : nothing
      }
      <p class="key" aria-hidden="true">
        <span class="bits"><span class="sign">sign</span></span>
        <span class="bits"><span class="exponent">exponent</span></span>
        <span class="bits"><span class="fraction">fraction</span></span>
        <span>stored value, <span class="lost">noise</span></span>
      </p>
      ${answer.formats.map((format) => this.format(answer, format))}
      ${answer.rewrite ? this.better(answer.rewrite) : nothing} ${this.curves(answer)}
      ${answer.steps.length === 0 ? nothing : this.stepTable(answer)}
    `;
  }

  private format(
    answer: ExpressionAnswer,
    { name, exponent_bits, stored, value }: FormatValue,
  ): TemplateResult {
    const { sign, exponent, fraction } = fieldsOf(value.bits, exponent_bits);
    const culprit = culpritOf(answer.steps, formats.indexOf(name as (typeof formats)[number]));
    const changed = answer.variables
      .map((v, i) => ({ name: v.name, typed: v.value, stored: stored[i]! }))
      .filter((v) => Number(v.typed) !== Number(v.stored));
    return html`<div class="format">
      <span class="name">${name}</span>
      <span
        class="bits"
        role="img"
        aria-label="${name}, ${value.kind}: sign ${sign}, exponent ${exponent}, fraction ${fraction}"
        ><span class="sign">${sign}</span><span class="exponent">${exponent}</span
        ><span class="fraction">${fraction}</span></span
      >
      ${laid(value)}
      <span class="soft"
        >${keptText(value)}${
          value.gap
            ? html`; off by ${numberText(value.ulps.replace("-", ""))} units in the last place, a
              relative error of ${numberText(value.error)}`
            : nothing
        }${value.kind === "subnormal" ? "; subnormal" : ""}${
          culprit ? html`; most of it from rounding <span class="mono">${culprit.text}</span>` : ""
        }${changed.map((v) => html`; ${v.name} stored as ${numberText(v.stored)}`)}</span
      >
    </div>`;
  }

  private better(rewrite: Rewrite): TemplateResult {
    return html`<div class="better">
      <h4>A form that keeps its digits</h4>
      <p class="form">${rewrite.text}</p>
      ${rewrite.by.map(
        (step, i) =>
          html`<p class="soft">
            By <em>${step.rule}</em>${
              i < rewrite.by.length - 1 ? html`: <span class="mono">${step.text}</span>` : ""
            }.
            ${step.reason}
          </p>`,
      )}
      <p>
        Around here the form as typed is wrong by ${numberText(rewrite.before)} bits on average in
        ${this.values.format}, this one by ${numberText(rewrite.after)}.
      </p>
      <div class="scroll" tabindex="0" role="group" aria-label="Both forms in four formats">
        <table>
          <caption class="hide">
            The expression as typed and rewritten in four formats
          </caption>
          ${headers(["form"])}
          <tbody>
            <tr>
              <th scope="row">as typed</th>
              ${(this.answer as ExpressionAnswer).formats.map(({ value }) => cell(value))}
            </tr>
            <tr>
              <th scope="row">rewritten</th>
              ${rewrite.values.map((value) => cell(value))}
            </tr>
          </tbody>
        </table>
      </div>
    </div>`;
  }

  private curves(answer: ExpressionAnswer): TemplateResult | typeof nothing {
    const { curve } = answer;
    if (!curve) return nothing;
    const names = answer.variables.map((v) => v.name);
    const conditions = curve.condition.filter((c) => c !== null);
    const most = Math.max(4, ...conditions);
    const least = Math.min(0, ...conditions);
    const panel = (
      title: string,
      rows: readonly { row: Row; style: string }[],
      range: readonly [number, number],
      unit: string,
    ): TemplateResult =>
      html`<figure>
        <h4>${title}</h4>
        ${this.panel(title, answer, curve, rows, range, unit)}
      </figure>`;
    const styled = (rows: readonly Row[]): { row: Row; style: string }[] =>
      rows.map((row, f) => ({ row, style: `s${f + 1}` }));
    return html`
      <div class="controls">
        ${
          names.length > 1
            ? html`<div class="field" role="group" aria-label="Curve over">
                <span class="label" aria-hidden="true">Curve over</span>
                <div>
                  ${names.map(
                    (name) =>
                      html`<button
                        type="button"
                        aria-pressed=${curve.variable === name}
                        @click=${() => this.set({ axis: name })}
                      >
                        ${name}
                      </button>`,
                  )}
                </div>
              </div>`
            : nothing
        }
        ${integerField(this, "low")} ${integerField(this, "high")}
      </div>
      <div class="legend" aria-hidden="true">
        ${formats.map(
          (name, f) =>
            html`<span
              ><svg viewBox="0 0 28 8"><path class="line s${f + 1}" d="M0,4H28"></path></svg
              >${name}</span
            >`,
        )}
      </div>
      <div class="panels">
        ${panel("Bits of error, as typed", styled(curve.original), [0, 64], "bits")}
        ${
          curve.rewritten
            ? panel("Bits of error, rewritten", styled(curve.rewritten), [0, 64], "bits")
            : nothing
        }
        ${panel(
          "Condition number",
          [{ row: curve.condition, style: "s5" }],
          [least, most],
          "power of ten",
        )}
      </div>
    `;
  }

  /** One picture over the curve's variable; a press on it takes that value. */
  private panel(
    title: string,
    answer: ExpressionAnswer,
    curve: Curve,
    rows: readonly { row: Row; style: string }[],
    [bottom, top]: readonly [number, number],
    unit: string,
  ): TemplateResult {
    const w = this.width < 564 ? this.width : (this.width - 24) / 2;
    const x = linearScale([curve.low, curve.high], [40, w - 12]);
    const y = linearScale([bottom, top], [170, 28]);
    const count = rows[0]!.row.length;
    const at = (i: number): number => x(curve.low + ((curve.high - curve.low) * i) / (count - 1));
    const numbers = (row: Row): number[] => row.map((v) => v ?? Number.NaN);
    const value = answer.variables.find((v) => v.name === curve.variable)!.value;
    const here = decadeOf(value);
    const largest = Math.max(...rows.flatMap(({ row }) => row.filter((v) => v !== null)));
    const words = `${title} over ${curve.variable} from 10 to the ${curve.low} to 10 to the ${curve.high}; the largest is ${tickWords(largest)}`;
    const take = (point: { x: number }): void => {
      const decade = Math.min(
        curve.high,
        Math.max(curve.low, Math.round(4 * x.invert(point.x)) / 4),
      );
      if (decade === here) return;
      this.set({
        at: withValue(answer.variables, curve.variable, fromDecade(decade, curve.negative)),
      });
    };
    return html`<svg viewBox="0 0 ${w} 210" role="img" aria-label=${words}>
      ${yAxis(y, 40, unit, w - 12)} ${decades(x, 170, curve)}
      ${
        here !== undefined && here >= curve.low && here <= curve.high
          ? svg`<line class="here" x1=${x(here)} x2=${x(here)} y1="28" y2="170"></line>`
          : nothing
      }
      ${rows.map(
        ({ row, style }) =>
          svg`<path class="line ${style}" d=${linePath(numbers(row), at, y)}></path>`,
      )}
      <rect
        class="pad"
        x="40"
        y="20"
        width=${w - 52}
        height="150"
        @click=${(event: MouseEvent) => {
          const picture = (event.target as SVGRectElement).ownerSVGElement!;
          const box = picture.getBoundingClientRect();
          take({ x: ((event.clientX - box.left) * w) / box.width });
        }}
      ></rect>
    </svg>`;
  }

  private stepTable(answer: ExpressionAnswer): TemplateResult {
    const share = (text: string): TemplateResult | typeof nothing =>
      Math.abs(Number(text)) > 0
        ? html`<span class="soft">${numberText(text)} ulp</span>`
        : nothing;
    return html`<h4 class="hide">Step by step</h4>
      <div class="scroll" tabindex="0" role="group" aria-label="Step by step">
        <table>
          <caption class="hide">
            Each operation in the order in which it runs: exactly, by how much it amplifies errors,
            and in four formats, with the error that its rounding puts into the result
          </caption>
          ${headers(["step", "exactly", "amplifies"])}
          <tbody>
            ${answer.steps.map(
              (step) =>
                html`<tr>
                  <th scope="row" class="mono">${step.text}</th>
                  <td class="mono">
                    ${numberText(step.exact.text)}${step.exact.complete ? "" : "\u2026"}
                  </td>
                  <td>× ${numberText(step.amplifies)}</td>
                  ${step.values.map((value, f) => cell(value, share(step.blame[f]!)))}
                </tr>`,
            )}
          </tbody>
        </table>
      </div>
      <p class="note">
        Under each value: its digits against the exact step, and how many units in the last place of
        the result the rounding of that step alone makes (ulp).
      </p>`;
  }

  private sum(answer: SumAnswer): TemplateResult {
    return html`
      ${this.exactly(answer.exact, `${answer.terms} terms, exactly:`)}
      <p class="exactly soft">Condition number: ${numberText(answer.condition)}</p>
      <div class="scroll" tabindex="0" role="group" aria-label="The sum by five methods">
        <table>
          <caption class="hide">
            The sum by five methods in four formats
          </caption>
          ${headers(["method"])}
          <tbody>
            ${answer.methods.map(
              ({ name, values }) =>
                html`<tr>
                  <th scope="row">${name}</th>
                  ${values.map((value) => cell(value))}
                </tr>`,
            )}
          </tbody>
        </table>
      </div>
    `;
  }

  private softmax(answer: SoftmaxAnswer): TemplateResult {
    const cells = (shares: Shares): TemplateResult =>
      html`${[...shares.shares, shares.loss].map((text) => {
        const bad = text === "nan" || text === "inf";
        return html`<td class="mono n ${bad ? "bad" : ""}">${numberText(text)}</td>`;
      })}`;
    return html`
      <p class="exactly">Shares of each logit, and the loss if the first is the right class.</p>
      <div class="scroll" tabindex="0" role="group" aria-label="Softmax in four formats">
        <table>
          <caption class="hide">
            Shares and loss, exactly and in four formats, naive and by logsumexp
          </caption>
          <thead>
            <tr>
              <th scope="col">format</th>
              <th scope="col">method</th>
              ${answer.logits.map((z) => html`<th scope="col" class="n mono">${numberText(z)}</th>`)}
              <th scope="col" class="n">loss</th>
            </tr>
          </thead>
          <tbody>
            <tr>
              <th scope="row" colspan="2">exactly</th>
              ${cells(answer.exact)}
            </tr>
            ${answer.formats.map(
              ({ name, naive, stable }) =>
                html`<tr>
                    <th scope="rowgroup" rowspan="2">${name}</th>
                    <td>naive</td>
                    ${cells(naive)}
                  </tr>
                  <tr>
                    <td>logsumexp</td>
                    ${cells(stable)}
                  </tr>`,
            )}
          </tbody>
        </table>
      </div>
    `;
  }
}

class RewriteDemo extends PitfallsDemo {
  static override readonly heading = "Find a form that keeps its digits";
  static override readonly hint =
    "Type an expression with variables, set them, and see where the digits go and how to keep them.";
}

defineDemo("assay-numerical-pitfalls", PitfallsDemo);
defineDemo("assay-numerical-pitfalls-rewrite", RewriteDemo);
