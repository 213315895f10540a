// SPDX-License-Identifier: Apache-2.0
// A demo's parameters: declared once, clamped here (and again in C++), written to links and read from them.

/** A whole number: sizes, counts, seeds. */
export interface IntegerParam {
  readonly kind: "integer";
  readonly label: string;
  readonly min: number;
  readonly max: number;
  readonly initial: number;
  readonly step?: number;
  readonly unit?: string;
}

/** A real number. `digits` significant digits are shown, 3 by default; the link carries the shortest exact form. */
export interface RealParam {
  readonly kind: "real";
  readonly label: string;
  readonly min: number;
  readonly max: number;
  readonly initial: number;
  readonly step: number;
  readonly unit?: string;
  readonly digits?: number;
  /** Slider positions follow log10 of the value. */
  readonly log?: boolean;
}

/** One of a few words. */
export interface ChoiceParam {
  readonly kind: "choice";
  readonly label: string;
  readonly options: Readonly<Record<string, string>>;
  readonly initial: string;
}

export interface FlagParam {
  readonly kind: "flag";
  readonly label: string;
  readonly initial: boolean;
}

/** Free text: a drawn signal packed into letters, a list of numbers. Text that `pattern` refuses is ignored. */
export interface TextParam {
  readonly kind: "text";
  readonly label: string;
  readonly initial: string;
  readonly maxLength: number;
  readonly pattern?: RegExp;
}

export type Param = IntegerParam | RealParam | ChoiceParam | FlagParam | TextParam;
export type Params = Readonly<Record<string, Param>>;

type ValueOf<P extends Param> = P extends IntegerParam | RealParam
  ? number
  : P extends FlagParam
    ? boolean
    : string;

/** The values of declared parameters: `{n: number, window: string}`. */
export type Values<S extends Params> = { -readonly [K in keyof S]: ValueOf<S[K]> };

/** The values that a demo starts with when neither tag nor link says anything. */
export function initialValues<S extends Params>(params: S): Values<S> {
  const entries = Object.entries(params).map(([name, param]) => [name, param.initial]);
  return Object.fromEntries(entries) as Values<S>;
}

/** A value as it is or the nearest allowed one; undefined when nothing near makes sense. */
export function clamp(param: Param, value: unknown): number | boolean | string | undefined {
  switch (param.kind) {
    case "integer":
    case "real": {
      if (typeof value !== "number" || Number.isNaN(value)) return undefined;
      const whole = param.kind === "integer" ? Math.round(value) : value;
      return Math.min(param.max, Math.max(param.min, whole));
    }
    case "choice":
      return typeof value === "string" && Object.hasOwn(param.options, value) ? value : undefined;
    case "flag":
      return typeof value === "boolean" ? value : undefined;
    case "text": {
      if (typeof value !== "string" || value.length > param.maxLength) return undefined;
      return !param.pattern || param.pattern.test(value) ? value : undefined;
    }
  }
}

function parse(param: Param, text: string): unknown {
  if (param.kind === "integer" || param.kind === "real") {
    return text.trim() === "" ? undefined : Number(text);
  }
  if (param.kind === "flag") {
    return ["", "1", "true"].includes(text)
      ? true
      : ["0", "false"].includes(text)
        ? false
        : undefined;
  }
  return text;
}

/**
 * Reads texts (attributes, a link) over given values.
 * @returns the new values, and a note in words for each text that was unknown, unreadable or out of range
 */
export function readTexts<S extends Params>(
  params: S,
  values: Values<S>,
  texts: Readonly<Record<string, string>>,
): { values: Values<S>; notes: string[] } {
  const result: Record<string, unknown> = { ...values };
  const notes: string[] = [];
  for (const [name, text] of Object.entries(texts)) {
    const param = Object.hasOwn(params, name) ? params[name] : undefined;
    const short = text.length > 24 ? `${text.slice(0, 24)}...` : text;
    if (!param) {
      notes.push(`"${name}" is no parameter of this demo and was ignored.`);
      continue;
    }
    const wanted = parse(param, text);
    const value = clamp(param, wanted);
    if (value === undefined) {
      notes.push(`${param.label}: "${short}" makes no sense here; kept ${String(result[name])}.`);
      continue;
    }
    if (value !== wanted) notes.push(`${param.label}: ${short} is out of range; used ${value}.`);
    result[name] = value;
  }
  return { values: result as Values<S>, notes };
}

const textOf = (value: unknown): string =>
  typeof value === "boolean" ? (value ? "1" : "0") : String(value);

/** `n:64,seed:7`, the part of a link after `#name=`. */
export function stateText<S extends Params>(params: S, values: Values<S>): string {
  return Object.keys(params)
    .map((name) => `${name}:${encodeURIComponent(textOf(values[name]))}`)
    .join(",");
}

/** The texts that a link's hash holds for one demo, or undefined: `#fft=n:64,seed:7&softmax=n:3`. */
export function readHash(hash: string, name: string): Record<string, string> | undefined {
  for (const part of hash.replace(/^#/, "").split("&")) {
    if (!part.startsWith(`${name}=`)) continue;
    const texts: Record<string, string> = {};
    for (const pair of part.slice(name.length + 1).split(",")) {
      const colon = pair.indexOf(":");
      if (colon < 1) continue;
      try {
        texts[pair.slice(0, colon)] = decodeURIComponent(pair.slice(colon + 1));
      } catch {
        // A broken escape is a broken link: leave the parameter as it is.
      }
    }
    return texts;
  }
  return undefined;
}

/** The hash with one demo's part put in or replaced; parts of other demos stay, an anchor does not. */
export function writeHash(hash: string, name: string, state: string): string {
  const parts = hash
    .replace(/^#/, "")
    .split("&")
    .filter((part) => part.includes("=") && !part.startsWith(`${name}=`));
  return "#" + [...parts, `${name}=${state}`].join("&");
}
