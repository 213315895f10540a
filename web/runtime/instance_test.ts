// SPDX-License-Identifier: Apache-2.0
// The loader on small modules written out byte by byte, and on what must be refused.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Instance, ModuleError, typeOf } from "./instance.ts";
import { compare, firstDifference, type Report, type VerifyRecord } from "./verify.ts";

const leb = (n: number): number[] => (n < 128 ? [n] : [(n & 127) | 128, ...leb(n >> 7)]);
const section = (id: number, ...content: number[]): number[] => [
  id,
  ...leb(content.length),
  ...content,
];
const name = (text: string): number[] => [text.length, ...new TextEncoder().encode(text)];
const body = (...code: number[]): number[] => [...leb(code.length), ...code];
const head = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];

/**
 * A module with one page of memory: alloc(n) gives 1024 (or 0 for more than 4096), dealloc does nothing, twice(p, n)
 * doubles n bytes at p and returns n, crash() is unreachable.
 */
// prettier-ignore
const small = Uint8Array.from([
  ...head,
  ...section(1, 4, 0x60, 1, 0x7f, 1, 0x7f, 0x60, 1, 0x7f, 0, 0x60, 2, 0x7f, 0x7f, 1, 0x7f, 0x60, 0, 0),
  ...section(3, 4, 0, 1, 2, 3),
  ...section(5, 1, 0, 1),
  ...section(
    7, 5,
    ...name("memory"), 2, 0,
    ...name("alloc"), 0, 0,
    ...name("dealloc"), 0, 1,
    ...name("twice"), 0, 2,
    ...name("crash"), 0, 3,
  ),
  ...section(
    10, 4,
    // select(1024, 0, n <=u 4096)
    ...body(0, 0x41, 0x80, 8, 0x41, 0, 0x20, 0, 0x41, 0x80, 0x20, 0x4d, 0x1b, 0x0b),
    ...body(0, 0x0b),
    // i = n; while (i != 0) { i = i - 1; p[i] = p[i] << 1; } return n;
    ...body(
      1, 1, 0x7f, 0x20, 1, 0x21, 2, 0x02, 0x40, 0x03, 0x40, 0x20, 2, 0x45, 0x0d, 1,
      0x20, 2, 0x41, 1, 0x6b, 0x21, 2,
      0x20, 0, 0x20, 2, 0x6a, 0x20, 0, 0x20, 2, 0x6a, 0x2d, 0, 0, 0x41, 1, 0x74, 0x3a, 0, 0,
      0x0c, 0, 0x0b, 0x0b, 0x20, 1, 0x0b,
    ),
    ...body(0, 0x00, 0x0b),
  ),
]);

test("arrays go in and out, and what was not there is said", async () => {
  const instance = await Instance.create(small);
  const { value, arrays } = instance.call("twice", [
    { kind: "inout", array: Uint8Array.of(1, 2, 200) },
    3,
  ]);
  assert.equal(value, 3);
  assert.deepEqual([...arrays[0]!], [2, 4, 144]);
  assert.throws(() => instance.call("thrice", []), /no function thrice/);
  assert.throws(() => instance.alloc(5000), /out of memory: 5000 bytes/);
  assert.throws(() => instance.read(65530, "f64", 1), /outside memory/);
  assert.throws(
    () => instance.call("crash", []),
    (error: Error) => error instanceof ModuleError && /unreachable/.test(error.message),
  );
});

test("a module that asks for an unknown import is refused by name", async () => {
  const greedy = Uint8Array.from([
    ...head,
    ...section(1, 1, 0x60, 0, 0),
    ...section(2, 1, ...name("env"), ...name("fetch"), 0, 0),
  ]);
  await assert.rejects(Instance.create(greedy), /wants the import env\.fetch/);
});

test("a module without alloc is refused", async () => {
  await assert.rejects(Instance.create(Uint8Array.from(head)), /no function alloc/);
});

test("element types are told from arrays", () => {
  assert.equal(typeOf(new Float32Array(1)), "f32");
  assert.equal(typeOf(new BigUint64Array(1)), "u64");
  assert.throws(() => typeOf(new Uint8ClampedArray(1) as unknown as Uint8Array), TypeError);
});

const record: VerifyRecord = {
  schema: "verify/1",
  lab: "x",
  profile: "browser",
  args: {},
  data: [],
  figures: [
    { id: "a", kind: "exact", title: "A", value: "1", bits: "0x1", hash: "aa", as: "shown" },
    { id: "b", kind: "bounded", title: "B", value: "2", bits: "0x2", hash: "bb", as: "shown" },
  ],
  tables: [{ id: "t", title: "T", hash: "tt", rows: 1, csv: "t.csv", as: "reduced" }],
};
const report: Report = {
  schema: "report/1",
  lab: "x",
  figures: [
    { id: "a", kind: "exact", value: "1", bits: "0x1", hash: "aa" },
    {
      id: "b",
      kind: "bounded",
      value: "2.1",
      bits: "0x3",
      hash: "cc",
      error: { observed: "1", bound: "3" },
    },
    { id: "c", kind: "cited", value: "9", hash: "99" },
  ],
  tables: [{ id: "t", rows: 1, hash: "tt", cells: [["1"]] }],
};

test("a report that agrees agrees; bounded figures by their bound, cited ones not at all", () => {
  assert.deepEqual(
    compare(record, report).map(({ id, equal }) => [id, equal]),
    [
      ["a", true],
      ["b", true],
      ["t", true],
    ],
  );
});

test("every kind of difference is found", () => {
  const wrong = (change: (r: Report) => void): string[] => {
    const copy = structuredClone(report) as Report;
    change(copy);
    return compare(record, copy)
      .filter(({ equal }) => !equal)
      .map(({ id }) => id);
  };
  type Loose = {
    -readonly [K in keyof Report]: Report[K] extends readonly (infer T)[]
      ? { -readonly [P in keyof T]: T[P] }[]
      : Report[K];
  };
  assert.deepEqual(
    wrong((r) => ((r as Loose).figures[0]!.hash = "ab")),
    ["a"],
  );
  assert.deepEqual(
    wrong((r) => ((r as Loose).figures[0]!.kind = "bounded")),
    ["a"],
  );
  assert.deepEqual(
    wrong((r) => ((r as Loose).figures[1]!.error = { observed: "nan", bound: "3" })),
    ["b"],
  );
  assert.deepEqual(
    wrong((r) => ((r as Loose).tables[0]!.hash = "tu")),
    ["t"],
  );
  assert.deepEqual(
    wrong((r) => (r as Loose).figures.shift()),
    ["a"],
  );
  assert.deepEqual(
    wrong((r) => (r as Loose).figures.push({ id: "new", kind: "exact", hash: "11" })),
    ["new"],
  );
});

test("the first cell that differs is named", () => {
  assert.equal(firstDifference([["1", "2"]], [["1", "3"]]), "row 1, column 2: expected 2, got 3");
  assert.match(firstDifference([["1"]], [["1"], ["2"]]), /row 2 is only in this browser/);
});
