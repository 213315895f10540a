// SPDX-License-Identifier: Apache-2.0
// Makes the sample's records from its wasm module: make_records MODULE FOLDER. By hand, after changing sample/lab.cc:
//   bazel build //web/site/testdata:make_records //web/site/testdata/sample:lab_wasm

import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { Instance } from "../../runtime/instance.ts";
import { runLab } from "../../runtime/lab.ts";

interface ReportFigure {
  id: string;
  kind: string;
  title: string;
  unit: string;
  type: string;
  value?: string;
  bits?: string;
  count?: number;
  hash: string;
  error?: object;
  model?: string;
  source?: object;
}

interface ReportTable {
  id: string;
  title: string;
  columns: { name: string; type: string; unit: string }[];
  rows: number;
  cells: string[][];
  hash: string;
}

const [module, folder] = process.argv.slice(2) as [string, string];
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const hash = (hex: string): object => ({ algo: "sha256", of: "little-endian values", hex });

for (const profile of ["browser", "full"]) {
  const instance = await Instance.create(readFileSync(module));
  const report = JSON.parse(runLab(instance, { profile, args: {}, data: [] })) as {
    lab: string;
    args: Record<string, string>;
    figures: ReportFigure[];
    tables: ReportTable[];
  };
  const out = join(folder, "records", profile);
  mkdirSync(out, { recursive: true });
  const shown: Record<string, number> = { forward: 7, backward: 7, backward_value: 7 };
  const figure = (f: ReportFigure): object => ({
    schema: "figure/1",
    id: f.id,
    kind: f.kind,
    title: f.title,
    unit: f.unit,
    value: {
      type: f.type,
      ...(f.value === undefined
        ? {}
        : {
            round_trip: f.value,
            shown: shown[f.id] ? String(Number(Number(f.value).toPrecision(shown[f.id]))) : f.value,
          }),
      ...(f.bits === undefined ? {} : { bits: f.bits }),
      ...(f.count === undefined ? {} : { count: f.count }),
    },
    hash: hash(f.hash),
    ...(f.error ? { error: f.error } : {}),
    ...(f.model ? { model: f.model } : {}),
    ...(f.source ? { source: f.source } : {}),
  });
  const tables = report.tables.map((table) => {
    const lines = [table.columns.map(({ name }) => name), ...table.cells].map((row) =>
      row.join(","),
    );
    const csv = lines.join("\n") + "\n";
    writeFileSync(join(out, `${table.id}.csv`), csv);
    const { id, title, columns, rows } = table;
    return {
      id,
      title,
      columns,
      rows,
      hash: hash(table.hash),
      csv: { path: `${id}.csv`, sha256: sha256(csv) },
    };
  });
  const write = (name: string, kinds: string[], withTables: boolean): void => {
    const records = {
      schema: "records/1",
      lab: report.lab,
      profile,
      run: { target: "//web/site/testdata/sample:lab", args: report.args, data: [] },
      code: { closure_sha256: sha256("sample"), files: 1 },
      figures: report.figures.filter(({ kind }) => kinds.includes(kind)).map(figure),
      tables: withTables ? tables : [],
      seal: sha256("sample"),
    };
    writeFileSync(join(out, name), JSON.stringify(records, null, 1) + "\n");
  };
  write("exact.json", ["exact"], true);
  write("bounded.json", ["bounded", "modelled", "cited"], false);
  const value = (id: string): string => report.figures.find((f) => f.id === id)!.value!;
  const evidence = (op: string, holds: boolean): object => ({
    left: "forward",
    op,
    right: "backward",
    left_value: value("forward"),
    right_value: value("backward"),
    holds,
  });
  const claims = [
    {
      id: "order",
      text: "",
      predicate: "forward != backward",
      verdict: "holds",
      evidence: [evidence("!=", true)],
    },
    {
      id: "stuck",
      text: "",
      predicate: "forward == backward",
      verdict: "fails",
      evidence: [evidence("==", false)],
    },
  ];
  writeFileSync(
    join(out, "claims.json"),
    JSON.stringify(
      { schema: "claims/1", lab: "sample", profile, claims, seal: sha256("sample") },
      null,
      1,
    ) + "\n",
  );
}
