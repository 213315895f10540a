// SPDX-License-Identifier: Apache-2.0
// The pages' policy forbids inline styles; KaTeX, Shiki and Plot write them. Each distinct style becomes a class.

import { createHash } from "node:crypto";

/** Styles by class name; the class is a hash of the style, so pages rendered apart agree on it. */
export type HoistedStyles = Map<string, string>;

const tag = /<([a-zA-Z][a-zA-Z0-9:-]*)((?:\s+[^\s=>/"]+(?:="[^"]*")?)*)\s*(\/?)>/g;
const attribute = /\s+([^\s=>/"]+)(?:="([^"]*)")?/g;

/**
 * Takes every style attribute out of serialised HTML (attributes double-quoted) and puts a class in its place.
 * @param styles collects class -> declarations
 */
export function hoistStyles(html: string, styles: HoistedStyles): string {
  return html.replace(tag, (whole, name: string, list: string, close: string) => {
    if (!list.includes("style=")) return whole;
    const values = new Map<string, string | undefined>();
    for (const [, key, value] of list.matchAll(attribute)) values.set(key!, value);
    const style = values.get("style");
    values.delete("style");
    if (style) {
      const declarations = style
        .replace(/&quot;/g, '"')
        .replace(/&amp;/g, "&")
        .trim();
      const text = declarations.endsWith(";") ? declarations : `${declarations};`;
      const name = `z${createHash("sha256").update(text).digest("hex").slice(0, 6)}`;
      styles.set(name, text);
      values.set("class", [values.get("class"), name].filter(Boolean).join(" "));
    }
    const attributes = [...values].map(([k, v]) => (v === undefined ? ` ${k}` : ` ${k}="${v}"`));
    return `<${name}${attributes.join("")}${close ? " /" : ""}>`;
  });
}

/** The style sheet of hoisted classes, in the order of their names. */
export function hoistedCss(styles: HoistedStyles): string {
  return [...styles]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, text]) => `.${name}{${text}}`)
    .join("\n");
}
