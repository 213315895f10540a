// SPDX-License-Identifier: Apache-2.0
// What the rendering of one article leaves for the site: page.json.

import type { Claim, InBrowser, Kind } from "./records.ts";

/** An article that has no page yet, and what is missing. */
export interface UnfinishedPage {
  readonly slug: string;
  readonly lacks: string;
}

export interface Page {
  readonly slug: string;
  readonly kind: "long-read" | "lab";
  readonly title: string;
  readonly description: string;
  readonly summary: string;
  readonly date: string;
  readonly minutes: number;
  readonly words: number;
  readonly html: string;
  readonly evidence: string;
  readonly headings: readonly { depth: number; id: string; text: string }[];
  readonly figures: readonly { id: string; kind: Kind; as: InBrowser["as"] }[];
  readonly tables: readonly { id: string; as: InBrowser["as"] }[];
  readonly claims: readonly { id: string; verdict: Claim["verdict"] }[];
  readonly devices: readonly string[];
  readonly demos: readonly string[];
  readonly hasMaths: boolean;
  readonly closure: string;
  readonly args: Readonly<Record<string, string>>;
  readonly rooms: readonly string[];
  readonly data: readonly { name: string; source: string; licence: string; url: string }[];
  readonly changes: readonly string[];
  readonly thumbnail: string;
  readonly verifiable: boolean;
  readonly budgets: { readonly wasm_kib?: number; readonly demo_wasm_kib?: number };
  readonly styles: Readonly<Record<string, string>>;
}
