// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { Instance } from "../../runtime/instance.ts";
import {
  culpritOf,
  decadeOf,
  examples,
  fieldsOf,
  fromDecade,
  keptText,
  layDigits,
  modes,
  numberText,
  readAnswer,
  splitExample,
  type Value,
  withValue,
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
  ulps: "0",
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

const analyse = (mode: string, example: string, capacity = 1 << 19): Uint8Array | number => {
  const { text, at } = splitExample(example);
  const bytes = (words: string) => {
    const encoded = new TextEncoder().encode(words);
    return [
      { kind: "in", array: encoded.length > 0 ? encoded : new Uint8Array(1) } as const,
      encoded.length,
    ] as const;
  };
  const { value: code, arrays } = instance.call("analyse", [
    modes.indexOf(mode as (typeof modes)[number]),
    ...bytes(text),
    ...bytes(at),
    ...bytes(""),
    -8,
    20,
    3,
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

test("examples, values and decades", () => {
  assert.deepEqual(splitExample("x - y at x = 1, y = 2"), { text: "x - y", at: "x = 1, y = 2" });
  assert.deepEqual(splitExample("1 + 2"), { text: "1 + 2", at: "" });
  const variables = [
    { name: "x", value: "1" },
    { name: "y", value: "-2e5" },
  ];
  assert.equal(withValue(variables, "y", " 7 "), "x = 1, y = 7");
  assert.equal(withValue(variables, "x", ""), "x = 1, y = -2e5");
  assert.equal(decadeOf("-1e12"), 12);
  assert.equal(decadeOf("0"), undefined);
  assert.equal(decadeOf("one"), undefined);
  assert.equal(fromDecade(12, false), "1e12");
  assert.equal(fromDecade(2.25, true), "-178");
  assert.equal(fromDecade(-8.5, false), "3.16e-9");
  assert.equal(fromDecade(0, false), "1");
});

test("an expression with variables brings its culprit, a better form and curves", () => {
  const answer = readAnswer(
    analyse("expression", "sqrt(x + 1) - sqrt(x) at x = 1e12") as Uint8Array,
  );
  assert.equal(answer.mode, "expression");
  if (answer.mode !== "expression") return;
  assert.equal(answer.rewrite?.text, "1 / (sqrt(x + 1) + sqrt(x))");
  assert.equal(answer.rewrite.by[0]?.rule, "conjugate");
  assert.equal(culpritOf(answer.steps, 3)?.text, "sqrt(x + 1)");
  assert.equal(culpritOf(answer.steps, 0), undefined); // infinities have no culprit in ulps
  const { curve } = answer;
  assert.ok(curve && curve.rewritten);
  for (const row of [...curve.original, ...curve.rewritten, curve.condition]) {
    assert.equal(row.length, 61);
  }
  const f64 = curve.original[3]!.filter((v) => v !== null);
  const mended = curve.rewritten[3]!.filter((v) => v !== null);
  assert.ok(Math.max(...f64) > 50 && Math.max(...mended) < 2);
  assert.match(wordsOf(answer), /A better form: 1 \/ \(sqrt\(x \+ 1\) \+ sqrt\(x\)\)\.$/);
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
  assert.throws(
    () => readAnswer(analyse("expression", "1 +") as Uint8Array),
    /expected a number, a variable/,
  );
  assert.throws(
    () => readAnswer(analyse("expression", "") as Uint8Array),
    /expected a number, a variable/,
  );
  assert.throws(() => readAnswer(analyse("sum", "1 two") as Uint8Array), /not a number/);
  assert.equal(analyse("sum", "1".repeat(301)), 1);
  assert.equal(analyse("nothing", "1"), 2);
  assert.equal(analyse("sum", "1", 10), 3);
  assert.match(instance.message(1), /longer/);
});
