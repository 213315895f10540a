// SPDX-License-Identifier: Apache-2.0
// What the page and its workers say to each other.

import type { Argument, CallResult, ElementType, NumericArray } from "./instance.ts";

/** Requests carry an id that the reply repeats; `handle` names one open module in that worker. */
export type Request =
  | { id: number; op: "open"; handle: number; url: string; sha256: string }
  | { id: number; op: "close"; handle: number }
  | { id: number; op: "call"; handle: number; name: string; args: Argument[] }
  | { id: number; op: "message"; handle: number; code: number }
  | { id: number; op: "keep"; handle: number; array: NumericArray }
  | { id: number; op: "write"; handle: number; at: number; array: NumericArray }
  | { id: number; op: "read"; handle: number; at: number; type: ElementType; length: number }
  | { id: number; op: "free"; handle: number; at: number }
  | { id: number; op: "lab"; handle: number; run: LabRun };

/** One run of a lab's module: data and arguments as its record names them. */
export interface LabRun {
  readonly profile: string;
  readonly args: Readonly<Record<string, string>>;
  /** `fileSha256` is of the file as it lies on the server, `sha256` of what the lab sees. */
  readonly data: readonly { name: string; url: string; fileSha256: string; sha256: string }[];
}

export type Reply =
  | { id: number; ok: true; value: CallResult | NumericArray | number | string | null }
  | { id: number; ok: false; error: string; name: string; detail?: [string, string, string] }
  | { id: number; progress: { done: number; total: number; what: string } };

/** A request before its id is known; distributes over the union, as Omit would not. */
export type Unsent = Request extends infer R ? (R extends Request ? Omit<R, "id"> : never) : never;
