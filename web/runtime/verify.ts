// SPDX-License-Identifier: Apache-2.0
// Compares what a lab's module reports in this browser with the record, bit for bit.

import { IntegrityError, loadManifest, siteRoot } from "./manifest.ts";
import { Module, type Progress, StoppedError } from "./pool.ts";

/** One line of a record: a figure or a table. */
export interface Expected {
  readonly id: string;
  readonly kind: string;
  readonly title: string;
  readonly value: string;
  readonly bits: string;
  readonly hash: string;
  /** "shown": the very value of the page; "reduced": the same figure at the size that a browser manages. */
  readonly as: "shown" | "reduced";
}

export interface ExpectedTable {
  readonly id: string;
  readonly title: string;
  readonly hash: string;
  readonly rows: number;
  readonly csv: string;
  readonly as: "shown" | "reduced";
}

/** <slug>/verify.json */
export interface VerifyRecord {
  readonly schema: "verify/1";
  readonly lab: string;
  readonly profile: string;
  readonly args: Readonly<Record<string, string>>;
  readonly data: readonly { name: string; sha256: string }[];
  readonly figures: readonly Expected[];
  readonly tables: readonly ExpectedTable[];
}

/** What a lab's module reports (schema report/1), as far as it is compared. */
export interface Report {
  readonly schema: string;
  readonly lab: string;
  readonly figures: readonly {
    id: string;
    kind: string;
    value?: string;
    bits?: string;
    count?: number;
    hash: string;
    error?: { observed: string; bound: string };
  }[];
  readonly tables: readonly {
    id: string;
    rows: number;
    hash: string;
    cells: readonly (readonly string[])[];
  }[];
}

export interface Compared {
  readonly id: string;
  readonly what: "figure" | "table";
  readonly kind: string;
  readonly title: string;
  readonly as: "shown" | "reduced";
  readonly equal: boolean;
  readonly expected: string;
  readonly got: string;
}

/**
 * Compares a report with its record: exact and modelled figures and tables by hash over their bits; a bounded figure by
 * its own bound, since its bits may differ. A figure that one side lacks is a mismatch.
 */
export function compare(record: VerifyRecord, report: Report): Compared[] {
  const results: Compared[] = [];
  const say = (value: string, bits: string, hash: string): string =>
    `${value}${bits ? ` (${bits})` : ""}, sha256 ${hash.slice(0, 16)}...`;
  const seen = new Set<string>();
  for (const expected of record.figures) {
    seen.add(expected.id);
    const { id, kind, title, as } = expected;
    const got = report.figures.find((figure) => figure.id === id);
    const value = got?.value ?? (got?.count === undefined ? "" : `${got.count} values`);
    const within =
      got?.error !== undefined && Number(got.error.observed) <= Number(got.error.bound);
    const equal =
      got !== undefined &&
      got.kind === kind &&
      (kind === "bounded" ? within : got.hash === expected.hash);
    results.push({
      id,
      what: "figure",
      kind,
      title,
      as,
      equal,
      expected: say(expected.value, expected.bits, expected.hash),
      got: got ? say(value, got.bits ?? "", got.hash) : "nothing: the lab did not report it",
    });
  }
  for (const expected of record.tables) {
    seen.add(expected.id);
    const { id, title, as, hash, rows } = expected;
    const got = report.tables.find((table) => table.id === id);
    results.push({
      id,
      what: "table",
      kind: "exact",
      title,
      as,
      equal: got?.hash === hash,
      expected: say(`${rows} rows`, "", hash),
      got: got ? say(`${got.rows} rows`, "", got.hash) : "nothing: the lab did not report it",
    });
  }
  for (const extra of [
    ...report.figures.filter(({ kind }) => kind !== "cited"),
    ...report.tables,
  ]) {
    if (seen.has(extra.id)) continue;
    results.push({
      id: extra.id,
      what: "cells" in extra ? "table" : "figure",
      kind: "exact",
      title: extra.id,
      as: "reduced",
      equal: false,
      expected: "nothing: the record lacks it",
      got: say("", "", extra.hash),
    });
  }
  return results;
}

/** The first cell in which two tables differ, in words; for a mismatch shown in full. */
export function firstDifference(
  expected: readonly (readonly string[])[],
  got: readonly (readonly string[])[],
): string {
  for (let row = 0; row < Math.max(expected.length, got.length); row++) {
    const a = expected[row];
    const b = got[row];
    if (!a || !b) return `row ${row + 1} is only in ${a ? "the record" : "this browser's result"}`;
    for (let column = 0; column < Math.max(a.length, b.length); column++) {
      if (a[column] !== b[column]) {
        return `row ${row + 1}, column ${column + 1}: expected ${a[column]}, got ${b[column]}`;
      }
    }
  }
  return "the shown digits are the same, the bits are not";
}

/** How a verification ended; the page has words for each. */
export type Outcome =
  | {
      state: "verified" | "mismatch";
      results: Compared[];
      report: Report;
      wasm: string;
      seconds: number;
    }
  | { state: "module-mismatch"; url: string; expected: string; got: string }
  | { state: "failed"; message: string }
  | { state: "stopped" };

/** A running verification. */
export interface Verification {
  readonly outcome: Promise<Outcome>;
  stop(): void;
}

/** Longest run allowed, in milliseconds: a record says at most 10 s on a desktop, a phone is slower. */
const limit = 180_000;

/** Starts the lab of a record in a worker. */
export function startVerification(record: VerifyRecord, progress: Progress): Verification {
  const key = `${record.lab}/lab`;
  // A worker of its own: a demo that is stopped or takes too long must not end a verification.
  const module = new Module(key, undefined, (done, total) => progress(done, total, "bytes"), true);
  let stopped = false;
  const run = async (): Promise<Outcome> => {
    const began = performance.now();
    try {
      const manifest = await loadManifest();
      const data = record.data.map(({ name, sha256 }) => {
        const asset = manifest.data[`${record.lab}/${name}`];
        if (!asset) throw new Error(`the built site has no data ${name}`);
        return { name, sha256, fileSha256: asset.sha256, url: new URL(asset.path, siteRoot).href };
      });
      const { profile, args } = record;
      const text = await module.lab({ profile, args, data }, { timeout: limit, progress });
      const report = JSON.parse(text) as Report;
      const results = compare(record, report);
      return {
        state: results.every(({ equal }) => equal) ? "verified" : "mismatch",
        results,
        report,
        wasm: manifest.modules[key]!.sha256,
        seconds: (performance.now() - began) / 1000,
      };
    } catch (error) {
      if (stopped || (error instanceof StoppedError && !/without a result/.test(error.message))) {
        return { state: "stopped" };
      }
      if (error instanceof Error && error.name === "IntegrityError") {
        const { url, expected, got } = error as IntegrityError;
        return { state: "module-mismatch", url, expected, got };
      }
      return { state: "failed", message: error instanceof Error ? error.message : String(error) };
    } finally {
      module.close();
    }
  };
  return {
    outcome: run(),
    stop(): void {
      stopped = true;
      module.stop();
      module.close();
    },
  };
}
