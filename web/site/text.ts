// SPDX-License-Identifier: Apache-2.0
// Small pieces of text: escaping, names, numbers as a page shows them.

/** Text for HTML content and double-quoted attributes. */
export function escapeHtml(text: string): string {
  return text
    .replace(/&/g, "&amp;")
    .replace(/</g, "&lt;")
    .replace(/>/g, "&gt;")
    .replace(/"/g, "&quot;");
}

/** An attribute list: `undefined` and `false` leave an attribute out, `true` gives it without a value. */
export function attributes(
  values: Readonly<Record<string, string | number | boolean | undefined>>,
): string {
  return Object.entries(values)
    .map(([name, value]) => {
      if (value === undefined || value === false) return "";
      return value === true ? ` ${name}` : ` ${name}="${escapeHtml(String(value))}"`;
    })
    .join("");
}

/** "naive_error" as words: "naive error". */
export const words = (name: string): string => name.replace(/[_-]+/g, " ");

/** A heading's id: lower-case letters and digits joined by hyphens. */
export function slugOf(text: string): string {
  return (
    text
      .normalize("NFKD")
      .replace(/[\u0300-\u036f]/g, "")
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-+|-+$/g, "") || "section"
  );
}

/** Edit distance (Levenshtein), for the nearest known name. */
export function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(
        row[j]! + 1,
        next[j - 1]! + 1,
        row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1),
      );
    }
    row = next;
  }
  return row[b.length]!;
}

/** The name closest to a wrong one, or undefined when there is none at all. */
export function nearest(wrong: string, names: Iterable<string>): string | undefined {
  return [...names].sort((a, b) => distance(wrong, a) - distance(wrong, b) || (a < b ? -1 : 1))[0];
}

const grouped = (digits: string): string => digits.replace(/\B(?=(\d{3})+(?!\d))/g, ",");

/**
 * A decimal text as a reader sees it, in HTML: "1e-05" becomes 1 x 10 to the -5 set properly, "60000" gets its comma.
 * The digits themselves are never changed. Text that is no number comes back escaped.
 */
export function numberHtml(text: string): string {
  const special: Record<string, string> = { nan: "NaN", inf: "\u221e", "-inf": "\u2212\u221e" };
  const match = /^([-+]?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(text);
  if (!match) return special[text.toLowerCase()] ?? escapeHtml(text);
  const [, sign, whole, fraction, exponent] = match;
  const minus = sign === "-" ? "\u2212" : "";
  // Years and the like stay whole: a comma only from five digits on.
  const head = whole!.length > 4 ? grouped(whole!) : whole!;
  const mantissa = `${minus}${head}${fraction === undefined ? "" : `.${fraction}`}`;
  if (exponent === undefined || Number(exponent) === 0) return mantissa;
  const power = `10<sup>${Number(exponent) < 0 ? "\u2212" : ""}${Math.abs(Number(exponent))}</sup>`;
  return `<span class="nb">${mantissa} \u00d7 ${power}</span>`;
}

const raised = "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079";

/** The same in plain text, for labels that cannot hold HTML. */
export function numberText(text: string): string {
  return numberHtml(text)
    .replace(/<sup>(.*?)<\/sup>/g, (_, digits: string) =>
      digits.replace(/./g, (c) => (c === "\u2212" ? "\u207b" : raised[Number(c)]!)),
    )
    .replace(/<[^>]+>/g, "")
    .replace(/&lt;/g, "<")
    .replace(/&gt;/g, ">")
    .replace(/&quot;/g, '"')
    .replace(/&amp;/g, "&");
}

/** "1" is no unit to show. */
export const unitText = (unit: string): string => (unit === "1" || unit === "" ? "" : unit);

/**
 * Shortens a shortest-round-trip decimal to significant digits, rounding the exact decimal half up. Used for tables,
 * where a column of seventeen digits helps nobody; the CSV keeps them all.
 */
export function significant(text: string, digits: number): string {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value)) return text;
  if (/^[-+]?\d+$/.test(text)) return text;
  const rounded = Number(value.toPrecision(digits));
  const magnitude = Math.abs(rounded);
  if (magnitude !== 0 && (magnitude < 1e-4 || magnitude >= 1e9)) {
    return rounded.toExponential().replace("e+", "e");
  }
  return String(rounded);
}

/** Nanoseconds in the unit that suits them, three significant digits: "1.23 ms". */
export function duration(nanoseconds: string): { value: string; unit: string } {
  const ns = Number(nanoseconds);
  if (!Number.isFinite(ns)) return { value: nanoseconds, unit: "ns" };
  const units: readonly (readonly [string, number])[] = [
    ["s", 1e9],
    ["ms", 1e6],
    ["\u00b5s", 1e3],
    ["ns", 1],
  ];
  const [unit, size] = units.find(([, s]) => ns >= s) ?? units.at(-1)!;
  const value = ns / size;
  return {
    value: value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3))),
    unit,
  };
}

/**
 * Plain typing as a printer sets it: curly quotes, dashes between spaces, an ellipsis. Digits and code never pass here.
 * @param before the character that stands before the text, "" at the beginning
 */
export function typographic(text: string, before = ""): string {
  let previous = before;
  let out = "";
  for (let i = 0; i < text.length; i++) {
    const c = text[i]!;
    const opens = previous === "" || /[\s([{\u2013\u2014\u201c\u2018/]/.test(previous);
    let set = c;
    if (c === '"') set = opens ? "\u201c" : "\u201d";
    else if (c === "'") set = opens && /[A-Za-z]/.test(text[i + 1] ?? "") ? "\u2018" : "\u2019";
    else if (c === "-" && previous === " " && text[i + 1] === " ") set = "\u2013";
    else if (text.startsWith("...", i)) {
      set = "\u2026";
      i += 2;
    }
    out += set;
    previous = set;
  }
  return out;
}

/** The same for text that goes into HTML. */
export const proseHtml = (text: string): string => escapeHtml(typographic(text));
