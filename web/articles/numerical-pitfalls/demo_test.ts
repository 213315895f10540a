// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { Instance } from "../../runtime/instance.ts";
import {
  examples,
  fieldsOf,
  keptText,
  layDigits,
  modes,
  numberText,
  readAnswer,
  type Value,
  wordsOf,
} from "./demo.ts";

const value = (change: Partial<Value>): Value => ({
  bits: "0",
  kind: "normal",
  negative: false,
  short: "1",
  digits: "1",
  exponent: 0,
  more: 0,
  kept: -1,
  error: "0",
  gap: "1",
  ...change,
});

const joined = (change: Partial<Value>): string => {
  const { kept, lost, tail } = layDigits(value(change));
  return `${kept}|${lost}|${tail}`;
};

test("digits are cut between right and noise", () => {
  assert.equal(joined({ digits: "10000000149", exponent: -1, kept: 8 }), "0.10000000|149|");
  assert.equal(joined({ digits: "99975", exponent: -2, kept: 3 }), "0.0999|75|");
  assert.equal(joined({ digits: "12345", exponent: 2, kept: 2 }), "12|3.45|");
  assert.equal(joined({ digits: "12345", exponent: 2, kept: 3 }), "123|.45|");
  assert.equal(joined({ digits: "12345", exponent: 2, kept: 4 }), "123.4|5|");
  assert.equal(joined({ digits: "12345", exponent: 2, kept: 0 }), "|123.45|");
  assert.equal(joined({ digits: "12345", exponent: 2 }), "123.45||");
  assert.equal(joined({ digits: "1", exponent: 8 }), "100000000||");
  assert.equal(joined({ digits: "1", exponent: 8, negative: true }), "\u2212100000000||");
  assert.equal(
    joined({ digits: "15", exponent: -300, kept: 1 }),
    "1|.5|\u202f\u00d7\u202f10\u207b\u00b3\u2070\u2070",
  );
  assert.equal(joined({ digits: "15", exponent: 0, more: 7, kept: 1 }), "1|.5| \u2026 7 more");
});

test("special values are words", () => {
  assert.equal(joined({ kind: "nan", kept: 0 }), "|NaN|");
  assert.equal(joined({ kind: "infinity", kept: 0, negative: true }), "|\u2212\u221e|");
  assert.equal(joined({ kind: "infinity", kept: -1 }), "\u221e||");
  assert.equal(joined({ kind: "zero", kept: 0 }), "|0|");
  assert.equal(joined({ kind: "zero", negative: true }), "\u22120||");
  assert.equal(keptText(value({ kept: 1 })), "1 digit right");
  assert.equal(keptText(value({ kept: 0 })), "no digit right");
  assert.equal(keptText(value({ kind: "nan", kept: 0 })), "no number");
});

test("numbers as readers write them", () => {
  assert.equal(numberText("1.5e-8"), "1.5\u202f\u00d7\u202f10\u207b\u2078");
  assert.equal(numberText("1e100"), "10\u00b9\u2070\u2070");
  assert.equal(numberText("-2.5"), "\u22122.5");
  assert.equal(numberText("nan"), "NaN");
  assert.equal(numberText("-inf"), "\u2212\u221e");
});

test("fields of a pattern", () => {
  assert.deepEqual(fieldsOf("1011110000000000", 5), {
    sign: "1",
    exponent: "01111",
    fraction: "0000000000",
  });
});

const folder = join(process.env["WORKSPACE_ROOT"]!, "web/articles/numerical-pitfalls");
const instance = await Instance.create(readFileSync(join(folder, "demo_wasm.wasm")));

const analyse = (mode: string, text: string, capacity = 1 << 18): Uint8Array | number => {
  const bytes = new TextEncoder().encode(text);
  const { value: code, arrays } = instance.call("analyse", [
    modes.indexOf(mode as (typeof modes)[number]),
    { kind: "in", array: bytes.length > 0 ? bytes : new Uint8Array(1) },
    bytes.length,
    { kind: "out", type: "u8", length: capacity },
    capacity,
  ]);
  return code === 0 ? (arrays[0] as Uint8Array) : Number(code);
};

test("the module answers every example, the same twice", () => {
  for (const mode of modes) {
    for (const text of examples[mode]) {
      const bytes = analyse(mode, text) as Uint8Array;
      const answer = readAnswer(bytes);
      assert.equal(answer.mode, mode);
      assert.ok(wordsOf(answer).length > 20);
      assert.deepEqual(analyse(mode, text), bytes);
    }
  }
});

test("says in words what came out", () => {
  assert.equal(
    wordsOf(readAnswer(analyse("expression", "(1e8 + 1) - 1e8") as Uint8Array)),
    "Exactly 1. f16 NaN (no number), bf16 0 (no digit right), f32 0 (no digit right), f64 1 (exact).",
  );
  assert.equal(
    wordsOf(readAnswer(analyse("sum", "300 x 1") as Uint8Array)),
    "300 terms, exactly 300. One after the other: f16 300, bf16 256, f32 300, f64 300.",
  );
  assert.equal(
    wordsOf(readAnswer(analyse("softmax", "100, 99, 90") as Uint8Array)),
    "The naive softmax breaks in f16, bf16, f32; logsumexp gets through.",
  );
});

test("refuses what makes no sense, in words", () => {
  assert.throws(() => readAnswer(analyse("expression", "1 +") as Uint8Array), /expected a number/);
  assert.throws(() => readAnswer(analyse("expression", "") as Uint8Array), /expected a number/);
  assert.throws(() => readAnswer(analyse("sum", "1 two") as Uint8Array), /not a number/);
  assert.equal(analyse("sum", "1".repeat(301)), 1);
  assert.equal(analyse("nothing", "1"), 2);
  assert.equal(analyse("sum", "1", 10), 3);
  assert.match(instance.message(1), /longer/);
});
