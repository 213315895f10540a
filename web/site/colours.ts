// SPDX-License-Identifier: Apache-2.0
// Contrast of the palette by arithmetic (WCAG 2.2), light and dark.

export type Scheme = "light" | "dark";

/** Custom properties of tokens.css that are colours: name -> hex for each scheme. */
export function readColours(css: string): Map<string, Record<Scheme, string>> {
  const colours = new Map<string, Record<Scheme, string>>();
  for (const [, name, light, dark] of css.matchAll(
    /--([\w-]+):\s*light-dark\((#[0-9a-f]{6}),\s*(#[0-9a-f]{6})\)/g,
  )) {
    colours.set(name!, { light: light!, dark: dark! });
  }
  return colours;
}

function luminance(hex: string): number {
  const channel = (at: number): number => {
    const value = parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
}

/** Contrast ratio of two colours, 1 to 21. */
export function contrast(a: string, b: string): number {
  const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

/** Pairs in use, with the least contrast that they need: 4.5 for text, 3 for marks. */
export const pairs: readonly (readonly [string, string, number])[] = [
  ...["paper", "wash"].flatMap((ground) => [
    ["ink", ground, 7] as const,
    ["ink-soft", ground, 4.5] as const,
    ["accent", ground, 4.5] as const,
    ["bad", ground, 4.5] as const,
  ]),
  ...["exact", "bounded", "measured", "modelled", "cited"].map(
    (name) => [name, "paper", 4.5] as const,
  ),
  // Lines are named in their own colour, so series need text's contrast.
  ...Array.from({ length: 8 }, (_, i) => [`series-${i + 1}`, "paper", 4.5] as const),
  ["rule-strong", "paper", 3],
  ...["comment", "keyword", "string", "constant", "function", "punctuation"].map(
    (name) => [`code-token-${name}`, "paper", 4.5] as const,
  ),
];

/** What is wrong with a palette, a line for each pair that is too close. */
export function contrastProblems(css: string): string[] {
  const colours = readColours(css);
  const found: string[] = [];
  for (const [front, ground, least] of pairs) {
    for (const scheme of ["light", "dark"] as const) {
      const [a, b] = [colours.get(front)?.[scheme], colours.get(ground)?.[scheme]];
      if (!a || !b) {
        found.push(`--${a ? ground : front} is no colour of tokens.css`);
        continue;
      }
      const ratio = contrast(a, b);
      if (ratio < least) {
        found.push(
          `--${front} on --${ground} (${scheme}): contrast ${ratio.toFixed(2)}, at least ${least} is needed`,
        );
      }
    }
  }
  return found;
}
