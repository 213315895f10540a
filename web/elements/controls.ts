// SPDX-License-Identifier: Apache-2.0
// Native controls bound to a demo's parameters: `slider(this, "n")` in a demo's view().

import { html, type TemplateResult } from "lit";

import type { IntegerParam, Param, Params, RealParam, Values } from "./params.ts";

/** What controls need of a demo. */
export interface Controlled<S extends Params> {
  readonly values: Values<S>;
  set(change: Partial<Values<S>>): void;
}

function paramOf<S extends Params>(demo: Controlled<S>, name: keyof S): Param {
  const { params } = demo.constructor as unknown as { params: Params };
  const param = params[name as string];
  if (!param) throw new Error(`no parameter ${String(name)}`);
  return param;
}

function change<S extends Params>(demo: Controlled<S>, name: keyof S, value: unknown): void {
  demo.set({ [name]: value } as Partial<Values<S>>);
}

const labelOf = (param: IntegerParam | RealParam): string =>
  param.unit ? `${param.label} (${param.unit})` : param.label;

/** A number as controls show it: whole numbers in full, reals with the parameter's digits. */
export function shownNumber(param: IntegerParam | RealParam, value: number): string {
  return param.kind === "integer"
    ? String(value)
    : String(Number(value.toPrecision(param.digits ?? 3)));
}

const logSteps = 1000;

/** A range with a number field beside it, both for the same parameter. */
export function slider<S extends Params>(
  demo: Controlled<S>,
  name: keyof S & string,
): TemplateResult {
  const param = paramOf(demo, name) as IntegerParam | RealParam;
  const value = demo.values[name] as number;
  const log = param.kind === "real" && param.log === true;
  const ratio = Math.log(param.max / param.min);
  const toPosition = (v: number): number =>
    log ? Math.round((logSteps * Math.log(v / param.min)) / ratio) : v;
  const toValue = (p: number): number =>
    log ? Number((param.min * Math.exp((ratio * p) / logSteps)).toPrecision(3)) : p;
  return html`<div class="field">
    <label for=${name}>${labelOf(param)}</label>
    <div>
      <input
        id=${name}
        type="range"
        min=${log ? 0 : param.min}
        max=${log ? logSteps : param.max}
        step=${log ? 1 : (param.step ?? 1)}
        .value=${String(toPosition(value))}
        aria-valuetext="${shownNumber(param, value)} ${param.unit ?? ""}"
        @input=${(event: Event) =>
          change(demo, name, toValue(Number((event.target as HTMLInputElement).value)))}
      />
      ${numberInput(demo, name, param, value)}
    </div>
  </div>`;
}

function numberInput<S extends Params>(
  demo: Controlled<S>,
  name: keyof S & string,
  param: IntegerParam | RealParam,
  value: number,
): TemplateResult {
  return html`<input
    type="number"
    aria-label=${labelOf(param)}
    min=${param.min}
    max=${param.max}
    step=${param.kind === "integer" ? (param.step ?? 1) : "any"}
    .value=${String(value)}
    @change=${(event: Event) => {
      const field = event.target as HTMLInputElement;
      change(demo, name, field.value === "" ? NaN : Number(field.value));
      field.value = String(demo.values[name]);
    }}
  />`;
}

/** A number field alone, for seeds and other numbers that no slider suits. */
export function integerField<S extends Params>(
  demo: Controlled<S>,
  name: keyof S & string,
): TemplateResult {
  const param = paramOf(demo, name) as IntegerParam;
  return html`<span class="inline">
    <span class="soft">${labelOf(param)}</span>
    ${numberInput(demo, name, param, demo.values[name] as number)}
  </span>`;
}

/** A drop-down list. */
export function choice<S extends Params>(
  demo: Controlled<S>,
  name: keyof S & string,
): TemplateResult {
  const param = paramOf(demo, name);
  if (param.kind !== "choice") throw new Error(`${name} is no choice`);
  return html`<div class="field">
    <label for=${name}>${param.label}</label>
    <select
      id=${name}
      @change=${(event: Event) => change(demo, name, (event.target as HTMLSelectElement).value)}
    >
      ${Object.entries(param.options).map(
        ([key, words]) =>
          html`<option value=${key} ?selected=${demo.values[name] === key}>${words}</option>`,
      )}
    </select>
  </div>`;
}

/** Buttons side by side, one pressed: for two to five options that deserve to be seen at once. */
export function buttons<S extends Params>(
  demo: Controlled<S>,
  name: keyof S & string,
): TemplateResult {
  const param = paramOf(demo, name);
  if (param.kind !== "choice") throw new Error(`${name} is no choice`);
  return html`<div class="field" role="group" aria-label=${param.label}>
    <span class="label" aria-hidden="true">${param.label}</span>
    <div>
      ${Object.entries(param.options).map(
        ([key, words]) =>
          html`<button
            type="button"
            aria-pressed=${demo.values[name] === key}
            @click=${() => change(demo, name, key)}
          >
            ${words}
          </button>`,
      )}
    </div>
  </div>`;
}

/** A tick box. */
export function flag<S extends Params>(
  demo: Controlled<S>,
  name: keyof S & string,
): TemplateResult {
  const param = paramOf(demo, name);
  return html`<div class="field check">
    <label>
      <input
        type="checkbox"
        .checked=${demo.values[name] as boolean}
        @change=${(event: Event) => change(demo, name, (event.target as HTMLInputElement).checked)}
      />
      ${param.label}
    </label>
  </div>`;
}

/** A line of text; taken over on Enter or when the field is left. */
export function textField<S extends Params>(
  demo: Controlled<S>,
  name: keyof S & string,
): TemplateResult {
  const param = paramOf(demo, name);
  if (param.kind !== "text") throw new Error(`${name} is no text`);
  return html`<div class="field">
    <label for=${name}>${param.label}</label>
    <input
      id=${name}
      type="text"
      maxlength=${param.maxLength}
      autocomplete="off"
      spellcheck="false"
      .value=${demo.values[name] as string}
      @change=${(event: Event) => {
        const field = event.target as HTMLInputElement;
        change(demo, name, field.value);
        field.value = String(demo.values[name]);
      }}
    />
  </div>`;
}
