// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { Instance } from "../../runtime/instance.ts";
import type { Argument } from "../../runtime/instance.ts";
import type { Module } from "../../runtime/pool.ts";
import {
  bytesInWords,
  chips,
  countInWords,
  flopsInWords,
  groupOf,
  models,
  multiplicationsAt,
  readRows,
  shapeValues,
  stepsOf,
  textOf,
  timeInWords,
  timeProduct,
} from "./demo.ts";

const folder = join(process.env["WORKSPACE_ROOT"]!, "web/articles/cost-of-matrix-multiplication");
const out = (type: "f64" | "u8" | "i32", length: number) =>
  ({ kind: "out", type, length }) as const;
const opened = (): Promise<Instance> =>
  Instance.create(readFileSync(join(folder, "demo_wasm.wasm")));

test("words", () => {
  assert.equal(flopsInWords(5.1525e13), "51.5 TFLOP");
  assert.equal(flopsInWords(0), "0 FLOP");
  assert.equal(bytesInWords(16.06e9), "16.1 GB");
  assert.equal(countInWords(8030261248), "8.03 billion");
  assert.equal(countInWords(12), "12");
  assert.equal(timeInWords(0.002867), "2.87 ms");
  assert.equal(timeInWords(36000), "10 hours");
  assert.equal(textOf(Uint8Array.of(72, 105, 0, 33)), "Hi");
});

test("steps of the timeline reach every product's end", () => {
  for (const n of [4, 10, 16, 32]) {
    assert.ok(stepsOf(n) <= 1024);
    assert.equal(multiplicationsAt(0, n), 0);
    assert.equal(multiplicationsAt(stepsOf(n), n), n ** 3);
    for (let k = 1; k <= stepsOf(n); k++)
      assert.ok(multiplicationsAt(k, n) > multiplicationsAt(k - 1, n));
  }
});

test("rows fall into groups", () => {
  assert.equal(groupOf("dense layer", "scores", 1), "attention");
  assert.equal(groupOf("dense layer", "query projection", 0), "projections");
  assert.equal(groupOf("expert layer", "router", 0), "feed-forward");
  assert.equal(groupOf("head", "logits", 0), "vocabulary");
  assert.equal(groupOf("head", "final norm", 3), "the rest");
});

// ---------------------------------------------------------------- the module

const trace = (
  module: Instance,
  o: Partial<Record<"order" | "n" | "tile" | "pad" | "line" | "lines" | "ways" | "to", number>>,
): { value: unknown; state: Uint8Array; counts: Float64Array } => {
  const n = o.n ?? 8;
  const to = o.to ?? n ** 3;
  const { value, arrays } = module.call("trace", [
    o.order ?? 6,
    n,
    o.tile ?? 4,
    o.pad ?? 0,
    o.line ?? 4,
    o.lines ?? 16,
    o.ways ?? 16,
    to - 1,
    to,
    out("u8", 3 * Math.min(n, 64) ** 2),
    out("f64", 6),
  ]);
  return { value, state: arrays[0] as Uint8Array, counts: arrays[1] as Float64Array };
};

test("a cache that holds all fetches each line once", async () => {
  const module = await opened();
  for (let order = 0; order < 7; order++) {
    const { value, counts } = trace(module, { order, lines: 64, ways: 64 });
    assert.equal(value, 0);
    assert.deepEqual(Array.from(counts.subarray(0, 5)), [16, 16, 16, 16, 256]);
  }
});

test("the curve ends where traces end, and nothing goes below the least", async () => {
  const module = await opened();
  const n = 12;
  const { value, arrays } = module.call("curve", [n, 5, 0, 4, 8, 8, out("f64", 7), out("f64", n)]);
  assert.equal(value, 0);
  const [orders, tiles] = arrays as [Float64Array, Float64Array];
  for (let order = 0; order < 7; order++) {
    const { counts } = trace(module, { order, n, tile: 5, line: 4, lines: 8, ways: 8 });
    assert.equal(counts[4], orders[order]);
    assert.ok(counts[4]! >= counts[5]!);
  }
  assert.equal(tiles[4], orders[6]);
});

test("refuses bad loops and caches in words", async () => {
  const module = await opened();
  const words = (o: Parameters<typeof trace>[1]): string =>
    module.message(Number(trace(module, o).value));
  for (const bad of [{ n: 1 }, { n: 65 }, { tile: 0 }, { tile: 9 }, { order: 7 }, { pad: -1 }])
    assert.match(words(bad), /tile/);
  for (const bad of [
    { lines: 0 },
    { lines: 257 },
    { ways: 3 },
    { ways: 0 },
    { line: 0 },
    { line: 17 },
  ])
    assert.match(words(bad), /ways/);
});

const names = Object.keys(models);
const estimate = (
  module: Instance,
  o: {
    model?: keyof typeof models;
    shape?: number[];
    mode?: number;
    batch?: number;
    context?: number;
    chip?: number;
    own?: number[];
    recompute?: number;
  },
): { value: unknown; totals: Float64Array; rows: ReturnType<typeof readRows> } => {
  const model = o.model ?? "llama3";
  const { value, arrays } = module.call("estimate", [
    model === "own" ? -1 : names.indexOf(model),
    { kind: "in", array: Float64Array.from(o.shape ?? new Array<number>(10).fill(0)) },
    o.mode ?? 2,
    o.batch ?? 1,
    o.context ?? 4096,
    o.chip ?? 3,
    { kind: "in", array: Float64Array.from(o.own ?? [1e12, 1e11, 1e10]) },
    1,
    16,
    o.recompute ?? 0,
    out("f64", 11),
    out("f64", 288),
    out("i32", 1),
    out("u8", 16384),
    16384,
  ]);
  const [totals, numbers, count, text] = arrays as [
    Float64Array,
    Float64Array,
    Int32Array,
    Uint8Array,
  ];
  const rows = readRows(textOf(text), numbers);
  if (value === 0) assert.equal(rows.length, count[0]);
  return { value, totals, rows };
};

const catalogue = (module: Instance): { names: string[]; shapes: Float64Array } => {
  const { arrays } = module.call("catalogue", [
    out("u8", 2048),
    2048,
    out("f64", 320),
    out("f64", 96),
  ]);
  const text = textOf(arrays[0] as Uint8Array);
  return { names: text.split("\n").filter((line) => line), shapes: arrays[1] as Float64Array };
};

test("lists are those of the module", async () => {
  const listed = catalogue(await opened()).names;
  assert.deepEqual(listed, [
    ...Object.values(models)
      .slice(0, -1)
      .map((name) => `model ${name}`),
    ...Object.values(chips)
      .slice(0, -1)
      .map((name) => `chip ${name}`),
  ]);
});

test("a model typed with the numbers of Llama 3 8B is Llama 3 8B", async () => {
  const module = await opened();
  const at = 10 * names.indexOf("llama3");
  const shape = Array.from(catalogue(module).shapes.subarray(at, at + 10));
  assert.equal(shapeValues(shape).layers, 32);
  assert.equal(shapeValues(shape).gated, true);
  const typed = estimate(module, { model: "own", shape });
  const named = estimate(module, {});
  assert.equal(typed.value, 0);
  assert.deepEqual(typed.totals, named.totals);
  assert.equal(named.totals[5], 8030261248);
});

test("formulas with their numbers put in are the counts", async () => {
  const module = await opened();
  const { rows, totals } = estimate(module, { model: "mixtral", mode: 1, batch: 3, context: 100 });
  let sum = 0;
  for (const row of rows) {
    const value = row.numbers
      .split(" + ")
      .map((term) =>
        term
          .split(" \u00d7 ")
          .map((factor) => factor.split("^").map(Number))
          .reduce((product, [base, power]) => product * base! ** (power ?? 1), 1),
      )
      .reduce((a, b) => a + b, 0);
    assert.equal(value * row.repeats, row.flops, row.name);
    sum += row.flops;
  }
  assert.equal(sum, totals[0]);
});

test("decoding waits for memory, training mostly for arithmetic", async () => {
  const module = await opened();
  const token = estimate(module, {}).totals;
  assert.ok(token[3]! < 0.01 * token[2]!);
  const step = estimate(module, { mode: 0 }).totals;
  assert.ok(step[3]! > 0.8 * step[2]!);
  const again = estimate(module, { mode: 0, recompute: 2 }).totals;
  assert.ok(again[0]! > 1.2 * step[0]! && again[8]! < step[8]!);
});

test("refuses what makes no sense, in words", async () => {
  const module = await opened();
  const words = (o: Parameters<typeof estimate>[1]): string =>
    module.message(Number(estimate(module, o).value));
  assert.match(words({ chip: 9 }), /no such/);
  assert.match(words({ mode: 3 }), /no such/);
  assert.match(words({ batch: NaN }), /no such/);
  assert.match(words({ model: "own" }), /layers/);
  assert.match(words({ model: "own", shape: new Array<number>(10).fill(NaN) }), /size/);
  assert.match(words({ model: "gpt2", context: 2000 }), /learned positions/);
  assert.match(words({ chip: -1, own: [0, 1, 1] }), /rate/);
});

test("both ways of a race make the same product", async () => {
  const module = await opened();
  assert.equal(module.call("race_open", [8]).value, 3);
  assert.equal(module.call("race_open", [100]).value, 0);
  let ms = 0;
  const run = (name: string, args: Argument[] = []): Promise<unknown> => {
    const { value, arrays } = module.call(name, args);
    ms += Number(args[1]) * (args[0] === 1 ? 2 : 10);
    return value
      ? Promise.reject(new Error(module.message(Number(value))))
      : Promise.resolve(arrays);
  };
  const fake = { run } as unknown as Module;
  assert.equal(await timeProduct(fake, 0, () => ms), 0.01);
  assert.equal(module.call("race_check", []).value, 4);
  assert.equal(await timeProduct(fake, 1, () => ms), 0.002);
  assert.equal(module.call("race_check", []).value, 0);
  assert.equal(module.call("race_run", [0, 0]).value, 3);
});
