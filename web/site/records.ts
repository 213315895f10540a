// SPDX-License-Identifier: Apache-2.0
// One article's lab.json and records, read into what the page needs. Formats: tools/lab/schema.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { readCsv } from "../runtime/csv.ts";
import type { Problems } from "./problem.ts";

export type Kind = "exact" | "bounded" | "measured" | "modelled" | "cited";

/** How the reader's browser treats a figure: recomputed as shown, at a smaller size, or not at all (and why). */
export type InBrowser = { as: "shown" } | { as: "reduced" } | { as: "native-only"; why: string };

export interface Figure {
  readonly id: string;
  readonly kind: Kind;
  readonly title: string;
  readonly unit: string;
  readonly type: string;
  /** The value as the page shows it; of an array, the number of its elements. */
  readonly shown: string;
  readonly roundTrip?: string;
  readonly bits?: string;
  /** Elements of an array. */
  readonly count?: number;
  readonly hash: string;
  readonly error?: {
    metric: string;
    observed: string;
    bound: string;
    why: string;
    reference: string;
  };
  readonly model?: string;
  readonly source?: { author: string; year: number; title: string; where: string; url: string };
  readonly measured?: Measured;
  readonly browser: InBrowser;
}

/** What a measured figure says about its making. */
export interface Measured {
  readonly device: string;
  readonly date: string;
  readonly median: string;
  readonly spread: string;
  readonly samples: number;
}

export interface Column {
  readonly name: string;
  readonly type: string;
  readonly unit: string;
  readonly digits?: number;
}

export interface Table {
  readonly id: string;
  readonly title: string;
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly string[])[];
  readonly hash: string;
  /** Path under the article's folder. */
  readonly csv: string;
  /** The same bits everywhere, and a prediction still. */
  readonly modelled: boolean;
  readonly browser: InBrowser;
}

export interface Comparison {
  readonly left: string;
  readonly op: string;
  readonly right: string;
  readonly left_value: string;
  readonly right_value: string;
  readonly holds: boolean;
}

export interface Claim {
  readonly id: string;
  readonly text: string;
  readonly predicate: string;
  /** "holds" or "fails"; "measured" is decided on devices; "absent": not decided. */
  readonly verdict: "holds" | "fails" | "measured" | "absent";
  readonly narrow: boolean;
  /** Where it was decided, of a claim about timings. */
  readonly on: readonly { device: string; holds: boolean }[];
  readonly evidence: readonly Comparison[];
}

export interface ChartSpec {
  readonly id: string;
  readonly title: string;
  readonly subtitle?: string;
  readonly table: string;
  readonly mark: "line" | "dot" | "bar";
  readonly x: string;
  readonly y: string | readonly string[];
  readonly series?: string;
  readonly x_scale?: "linear" | "log";
  readonly y_scale?: "linear" | "log";
  readonly x_label?: string;
  readonly y_label?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly alt: string;
}

export interface LabJson {
  readonly title: string;
  readonly kind: "long-read" | "lab";
  readonly summary: string;
  readonly date: string;
  readonly rooms: readonly string[];
  readonly data?: readonly {
    name: string;
    path: string;
    source: string;
    licence?: string;
    url?: string;
  }[];
  readonly claims: readonly { id: string; text: string; predicate: string }[];
  readonly charts?: readonly ChartSpec[];
  readonly modelled?: readonly string[];
  readonly native_only?: Readonly<Record<string, string>>;
  readonly budgets?: { readonly wasm_kib?: number; readonly demo_wasm_kib?: number };
}

interface RawFigure {
  id: string;
  kind: Kind;
  title: string;
  unit: string;
  value: { type: string; shown?: string; round_trip?: string; bits?: string; count?: number };
  hash: { hex: string };
  error?: Figure["error"];
  model?: string;
  source?: Figure["source"];
}

interface RawRecords {
  lab: string;
  profile: string;
  run: { target: string; args: Record<string, string>; data: { name: string; sha256: string }[] };
  code: { closure_sha256: string; files: number };
  figures: RawFigure[];
  tables: {
    id: string;
    title: string;
    columns: Column[];
    rows: number;
    hash: { hex: string };
    csv: { path: string; sha256: string };
  }[];
}

/** What `verify` compares with in the reader's browser; written beside the page. */
export interface BrowserRecord {
  readonly schema: "verify/1";
  readonly lab: string;
  readonly profile: string;
  readonly args: Readonly<Record<string, string>>;
  readonly data: readonly { name: string; sha256: string }[];
  readonly figures: readonly {
    id: string;
    kind: Kind;
    title: string;
    value: string;
    bits: string;
    hash: string;
    as: "shown" | "reduced";
  }[];
  readonly tables: readonly {
    id: string;
    title: string;
    hash: string;
    rows: number;
    csv: string;
    as: "shown" | "reduced";
  }[];
}

export interface Article {
  readonly slug: string;
  readonly folder: string;
  readonly lab: LabJson;
  readonly figures: ReadonlyMap<string, Figure>;
  readonly tables: ReadonlyMap<string, Table>;
  readonly claims: ReadonlyMap<string, Claim>;
  readonly charts: ReadonlyMap<string, ChartSpec>;
  /** Undefined where the lab has no browser records yet. */
  readonly browser?: BrowserRecord;
  readonly args: Readonly<Record<string, string>>;
  readonly closure?: string;
  readonly devices: readonly string[];
  readonly groups: readonly MeasuredGroup[];
}

function readJson<T>(path: string, problems: Problems): T | undefined {
  if (!existsSync(path)) return undefined;
  try {
    return JSON.parse(readFileSync(path, "utf8")) as T;
  } catch (error) {
    problems.add(error instanceof Error ? error.message : String(error), path);
    return undefined;
  }
}

interface MeasuredFile {
  device: string;
  date: string;
  run: { profile: string };
  figures: {
    id: string;
    title: string;
    unit: string;
    group: string;
    group_title: string;
    shown: string;
    summary: { median: string; iqr: string; min: string; n: number };
    floor: { of_fma_f64?: string; of_fma_f32?: string; of_triad?: string };
    check: "passed" | "none";
    hash: { hex: string };
  }[];
  claims: { id: string; verdict: string }[];
  comparison: { drifted: { id: string }[] };
}

/** Measured figures of one group on one device: what a table of timings shows. */
export interface MeasuredGroup {
  readonly id: string;
  readonly title: string;
  readonly device: string;
  readonly date: string;
  readonly rows: readonly {
    title: string;
    median: string;
    spread: string;
    samples: number;
    ceiling: string;
    checked: boolean;
    drifted: boolean;
  }[];
}

interface AllMeasured {
  readonly figures: Figure[];
  readonly devices: string[];
  readonly groups: MeasuredGroup[];
  /** Verdicts of claims on each device. */
  readonly verdicts: { id: string; device: string; holds: boolean }[];
}

function deviceName(id: string, problems: Problems): string {
  return readJson<{ name: string }>(join("web/devices", `${id}.json`), problems)?.name ?? id;
}

/**
 * Reads the last measured file of each device, in the order of the devices' ids. Sessions of a smaller profile time
 * smaller work than the page speaks of, so they are passed over.
 */
function readMeasured(folder: string, problems: Problems): AllMeasured {
  const result: AllMeasured = { figures: [], devices: [], groups: [], verdicts: [] };
  const top = join(folder, "records/measured");
  if (!existsSync(top)) return result;
  for (const id of readdirSync(top).sort()) {
    // 20261130-2 before 20261130-10: by date, then by number.
    const files = readdirSync(join(top, id))
      .map((name) => /^(\d{8})-(\d+)\.json$/.exec(name))
      .filter((match) => match !== null)
      .sort((a, b) => (a[1] === b[1] ? Number(a[2]) - Number(b[2]) : a[1]! < b[1]! ? -1 : 1));
    const file = files
      .map((match) => readJson<MeasuredFile>(join(top, id, match[0]), problems))
      .findLast((session) => session?.run.profile === "full");
    if (!file) continue;
    const device = deviceName(id, problems);
    result.devices.push(device);
    const groups = new Map<string, MeasuredGroup["rows"][number][]>();
    for (const {
      id: figure,
      title,
      unit,
      shown,
      summary,
      hash,
      group,
      floor,
      check,
    } of file.figures) {
      result.figures.push({
        id: figure,
        kind: "measured",
        title,
        unit,
        type: "f64",
        shown,
        hash: hash.hex,
        measured: {
          device,
          date: file.date,
          median: summary.median,
          spread: summary.iqr,
          samples: summary.n,
        },
        browser: { as: "native-only", why: "a timing belongs to the machine that took it" },
      });
      if (!groups.has(group)) groups.set(group, []);
      const percent = (share: string): string => `${Math.round(100 * Number(share))} %`;
      const { of_fma_f64: f64, of_fma_f32: f32, of_triad: triad } = floor;
      const ceiling = [
        f64 ? `${percent(f64)} of the f64 peak` : "",
        f32 ? `${percent(f32)} of the f32 peak` : "",
        triad ? `${percent(triad)} of the memory's bandwidth` : "",
      ].filter(Boolean);
      groups.get(group)!.push({
        title,
        median: summary.median,
        spread: summary.iqr,
        samples: summary.n,
        ceiling: ceiling.join(", "),
        checked: check === "passed",
        drifted: file.comparison.drifted.some((item) => item.id === figure),
      });
    }
    for (const [group, rows] of groups) {
      const title = file.figures.find((figure) => figure.group === group)!.group_title;
      result.groups.push({ id: group, title, device, date: file.date, rows });
    }
    for (const { id: claim, verdict } of file.claims) {
      if (verdict !== "holds" && verdict !== "fails") continue;
      result.verdicts.push({ id: claim, device, holds: verdict === "holds" });
    }
  }
  return result;
}

/**
 * Reads an article's folder.
 * @param folder web/articles/<slug>
 * A missing profile is no problem: the page shows the largest one there is, and says what it cannot verify.
 */
export function readArticle(slug: string, folder: string, problems: Problems): Article | undefined {
  const lab = readJson<LabJson>(join(folder, "lab.json"), problems);
  if (!lab) {
    problems.add("lab.json is missing or cannot be read", join(folder, "lab.json"));
    return undefined;
  }
  const read = (profile: string): RawRecords[] =>
    ["exact.json", "bounded.json"].flatMap((name) => {
      const records = readJson<RawRecords>(join(folder, "records", profile, name), problems);
      return records ? [records] : [];
    });
  const profile = ["full", "browser", "quick"].find((name) => read(name).length > 0);
  const shown = profile ? read(profile) : [];
  const browser = read("browser");
  const browserFigures = new Map(browser.flatMap((r) => r.figures).map((f) => [f.id, f]));
  const browserTables = new Map(browser.flatMap((r) => r.tables).map((t) => [t.id, t]));
  const compare = (
    id: string,
    hash: string,
    other: { hash: { hex: string } } | undefined,
  ): InBrowser => {
    const why = lab.native_only?.[id];
    if (!other) return { as: "native-only", why: why ?? "its record for the browser is not there" };
    return { as: other.hash.hex === hash ? "shown" : "reduced" };
  };
  const figures = new Map<string, Figure>();
  for (const raw of shown.flatMap((r) => r.figures)) {
    const { value } = raw;
    figures.set(raw.id, {
      id: raw.id,
      kind: raw.kind,
      title: raw.title,
      unit: raw.unit,
      type: value.type,
      shown: value.shown ?? value.round_trip ?? String(value.count ?? ""),
      ...(value.round_trip === undefined ? {} : { roundTrip: value.round_trip }),
      ...(value.bits === undefined ? {} : { bits: value.bits }),
      ...(value.count === undefined ? {} : { count: value.count }),
      hash: raw.hash.hex,
      ...(raw.error ? { error: raw.error } : {}),
      ...(raw.model ? { model: raw.model } : {}),
      ...(raw.source ? { source: raw.source } : {}),
      browser: compare(raw.id, raw.hash.hex, browserFigures.get(raw.id)),
    });
  }
  const measured = readMeasured(folder, problems);
  for (const figure of measured.figures) {
    if (!figures.has(figure.id)) figures.set(figure.id, figure);
  }
  const tables = new Map<string, Table>();
  for (const raw of shown.flatMap((r) => r.tables)) {
    const csv = join("records", profile!, raw.csv.path);
    const path = join(folder, csv);
    if (!existsSync(path)) {
      problems.add(`the table ${raw.id} has no file`, path);
      continue;
    }
    const [names, ...rows] = readCsv(readFileSync(path, "utf8"));
    if (rows.length !== raw.rows || names?.length !== raw.columns.length) {
      problems.add(`${rows.length} rows, and the record says ${raw.rows}`, path);
    }
    tables.set(raw.id, {
      id: raw.id,
      title: raw.title,
      columns: raw.columns,
      rows,
      hash: raw.hash.hex,
      csv,
      modelled: lab.modelled?.includes(raw.id) ?? false,
      browser: compare(raw.id, raw.hash.hex, browserTables.get(raw.id)),
    });
  }
  for (const id of shown[0] ? (lab.modelled ?? []) : []) {
    if (!tables.has(id)) {
      problems.add(`modelled: the lab has no table ${id}`, join(folder, "lab.json"));
    }
  }
  const claims = new Map<string, Claim>();
  const verdicts = profile
    ? readJson<{ claims: Claim[] }>(join(folder, "records", profile, "claims.json"), problems)
    : undefined;
  for (const { id, text, predicate } of lab.claims) {
    const decided = verdicts?.claims.find((claim) => claim.id === id);
    if (decided && decided.predicate !== predicate) {
      problems.add(
        `claim ${id}: its predicate is not the one that was decided; run the lab again`,
        join(folder, "lab.json"),
      );
    }
    const on = measured.verdicts.filter((verdict) => verdict.id === id);
    const overall =
      on.length > 0 ? (on.every(({ holds }) => holds) ? "holds" : "fails") : undefined;
    claims.set(id, {
      id,
      text,
      predicate,
      on,
      verdict:
        decided?.verdict === "measured" && overall ? overall : (decided?.verdict ?? "absent"),
      narrow: decided?.narrow ?? false,
      evidence: decided?.evidence ?? [],
    });
  }
  return {
    slug,
    folder,
    lab,
    figures,
    tables,
    claims,
    charts: new Map((lab.charts ?? []).map((chart) => [chart.id, chart])),
    ...(browser[0] ? { browser: browserRecord(slug, browser, figures, tables) } : {}),
    args: shown[0]?.run.args ?? {},
    ...(shown[0] ? { closure: shown[0].code.closure_sha256 } : {}),
    devices: measured.devices,
    groups: measured.groups,
  };
}

function browserRecord(
  slug: string,
  records: RawRecords[],
  figures: ReadonlyMap<string, Figure>,
  tables: ReadonlyMap<string, Table>,
): BrowserRecord {
  const { args, data } = records[0]!.run;
  const as = (item: { browser: InBrowser } | undefined): "shown" | "reduced" =>
    item?.browser.as === "shown" ? "shown" : "reduced";
  return {
    schema: "verify/1",
    lab: slug,
    profile: "browser",
    args,
    data,
    figures: records
      .flatMap((r) => r.figures)
      .filter(({ kind }) => kind !== "cited")
      .map(({ id, kind, title, value, hash }) => ({
        id,
        kind,
        title,
        value: value.round_trip ?? value.shown ?? `${value.count ?? 0} values`,
        bits: value.bits ?? "",
        hash: hash.hex,
        as: as(figures.get(id)),
      })),
    tables: records
      .flatMap((r) => r.tables)
      .map(({ id, title, hash, rows, csv }) => ({
        id,
        title,
        hash: hash.hex,
        rows,
        csv: `records/browser/${csv.path}`,
        as: as(tables.get(id)),
      })),
  };
}
