// SPDX-License-Identifier: Apache-2.0
// <assay-numerical-pitfalls>: an expression, a sum or a softmax in f16, bf16, f32 and f64 at once, beside the exact
// answer: each format's bits, the value that is really stored, and which of its digits are right. Every number comes
// from wasm.cc; this file only lays it out.

import { css, html, nothing, type TemplateResult } from "lit";

import { textField } from "../../elements/controls.ts";
import { Demo, defineDemo, defineParams, type Outcome } from "../../elements/demo.ts";
import { demoStyles } from "../../elements/styles.ts";
import { input, output, type Module } from "../../runtime/pool.ts";

// ---------------------------------------------------------------- what calculator.h sends

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
  readonly value: Value;
}

interface ExpressionAnswer {
  readonly mode: "expression";
  readonly exact: Exact;
  readonly formats: readonly FormatValue[];
  readonly steps: readonly {
    readonly text: string;
    readonly exact: Exact;
    readonly condition: string;
    readonly values: readonly Value[];
  }[];
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

/** Things to try, the first being what a mode starts with. */
export const examples = {
  expression: [
    "(1e8 + 1) - 1e8",
    "0.1 + 0.2",
    "1e16 + 1 - 1e16",
    "(1000.1 - 1000) * 10",
    "65519",
    "log(exp(100) + exp(99))",
  ],
  sum: ["300 x 1", "10 x 0.1", "1, 1e100, 1, -1e100", "1000 x 0.1, -100"],
  softmax: ["100, 99, 90", "2, 1, 0.1", "12, 11, 9", "0, 20, 5", "1e8, 1e8"],
} as const;

export type Mode = keyof typeof examples;
export const modes = Object.keys(examples) as Mode[];

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
      return `Exactly ${numberText(answer.exact.text)}. ${each.join(", ")}.`;
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
    pattern: /^[-+*/().,; \w]*$/,
  },
});

const capacity = 1 << 18;

const laid = (value: Value): TemplateResult => {
  const { kept, lost, tail } = layDigits(value);
  return html`<span class="mono digits"
    >${kept}${lost ? html`<span class="lost">${lost}</span>` : nothing}${tail}</span
  >`;
};

const cell = (value: Value): TemplateResult =>
  html`<td>
    <span class="mono ${value.kept === 0 ? "lost" : ""}">${numberText(value.short)}</span>
    <span class="soft">${keptText(value)}</span>
  </td>`;

const headers = (first: readonly string[]): TemplateResult =>
  html`<thead>
    <tr>
      ${[...first, ...formats].map((name) => html`<th scope="col">${name}</th>`)}
    </tr>
  </thead>`;

class PitfallsDemo extends Demo<typeof params> {
  static override readonly slug = "numerical-pitfalls";
  static override readonly heading = "Where the digits go";
  static override readonly hint =
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
    `,
  ];

  private answer: Answer | undefined;

  protected override async compute(module: Module): Promise<Outcome> {
    const { mode, text } = this.values;
    const bytes = new TextEncoder().encode(text);
    // An empty array has no address to give; the length says that nothing is in it.
    const [document] = await module.run("analyse", [
      modes.indexOf(mode as Mode),
      input(bytes.length > 0 ? bytes : new Uint8Array(1)),
      bytes.length,
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
                  @click=${() => this.set({ mode: key, text: examples[key][0] })}
                >
                  ${params.mode.options[key]}
                </button>`,
            )}
          </div>
        </div>
        ${textField(this, "text")}
      </div>
      <div class="tries" role="group" aria-label="Examples">
        <span class="soft">Try</span>
        ${examples[mode].map(
          (text) => html`<button type="button" @click=${() => this.set({ text })}>${text}</button>`,
        )}
      </div>
      ${this.result()}
    `;
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
    return html`
      ${this.exactly(answer.exact, "Exactly:")}
      <p class="key" aria-hidden="true">
        <span class="bits"><span class="sign">sign</span></span>
        <span class="bits"><span class="exponent">exponent</span></span>
        <span class="bits"><span class="fraction">fraction</span></span>
        <span>stored value, <span class="lost">noise</span></span>
      </p>
      ${answer.formats.map(({ name, exponent_bits, value }) => {
        const { sign, exponent, fraction } = fieldsOf(value.bits, exponent_bits);
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
                ? html`; relative error ${numberText(value.error)}; the next number is
                  ${numberText(value.gap)} away`
                : nothing
            }${value.kind === "subnormal" ? "; subnormal" : ""}</span
          >
        </div>`;
      })}
      ${
        answer.steps.length === 0
          ? nothing
          : html`<div class="scroll" tabindex="0" role="group" aria-label="Step by step">
              <table>
                <caption class="hide">
                  Each operation in the order in which it runs: exactly, by how much it amplifies
                  errors, and in four formats
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
                        <td>${step.condition ? html`× ${numberText(step.condition)}` : ""}</td>
                        ${step.values.map(cell)}
                      </tr>`,
                  )}
                </tbody>
              </table>
            </div>`
      }
    `;
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
                  ${values.map(cell)}
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

defineDemo("assay-numerical-pitfalls", PitfallsDemo);
