// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { linearScale } from "../../elements/plot.ts";
import { Instance } from "../../runtime/instance.ts";
import {
  count,
  did,
  drawAt,
  kinds,
  largest,
  mostNumbers,
  piecesOf,
  readDrawing,
  short,
  stairs,
  stepWords,
  writeDrawing,
} from "./demo.ts";

test("a drawing goes into a link and comes back", () => {
  let drawing = new Uint8Array(mostNumbers);
  assert.equal(writeDrawing(drawing), "");
  for (let i = 0; i < mostNumbers; i += 3) drawing = drawAt(drawing, i, (i * 17) % 101);
  const text = writeDrawing(drawing);
  assert.match(text, /^[-_0-9A-Za-z]{54}$/);
  assert.deepEqual(readDrawing(text), drawing);
});

test("text that is no drawing is an empty one", () => {
  const tooLarge = writeDrawing(new Uint8Array(mostNumbers).fill(largest + 2));
  for (const text of ["", "A", "A".repeat(53), "?".repeat(54), tooLarge])
    assert.deepEqual(readDrawing(text), new Uint8Array(mostNumbers));
});

test("a value is rounded and kept in its range; 0 is a value too", () => {
  const blank = new Uint8Array(mostNumbers);
  assert.equal(drawAt(blank, 2, 41.6)[2], 43);
  assert.equal(drawAt(blank, 2, -7)[2], 1);
  assert.equal(drawAt(blank, 2, 1e9)[2], largest + 1);
  assert.equal(blank[2], 0);
});

test("marks are read as pieces", () => {
  assert.deepEqual(piecesOf([1, 2, 2, 0, 0, 2], [0, 0, 1, 0, 0, 0], 6), [
    { begin: 0, end: 2, fresh: false },
    { begin: 2, end: 3, fresh: true },
    { begin: 5, end: 6, fresh: false },
  ]);
  assert.deepEqual(piecesOf([0, 0], [0, 0], 2), []);
});

test("steps and counts in words", () => {
  const mean = (begin: number, end: number): number => begin + end / 2;
  assert.equal(stepWords([did.begin, 4, 5], mean), "Number 5, 6.5, begins a piece of its own.");
  assert.match(
    stepWords([did.pool, 2, 5], mean),
    /numbers 3 to 5 are pooled at their mean, 4\.5\./,
  );
  assert.match(stepWords([did.tick, 2, 11], mean), /Step 2 of 11/);
  assert.match(stepWords([did.try, 1, 3], mean), /Level 1, try 3/);
  assert.match(stepWords([did.merge, 1, 2], mean), /2 are left/);
  assert.match(stepWords([did.merge, 2, 1], mean), /One string is left/);
  assert.match(stepWords([did.nothing, 0, 0], mean), /No piece/);
  assert.equal(short(3), "3");
  assert.equal(short(-2.25), "\u22122.3");
  assert.equal(count(1, "piece"), "1 piece");
  assert.equal(count(0, "step"), "0 steps");
});

test("stairs have a level over each number", () => {
  const x = linearScale([0, 2], [0, 20]);
  const y = linearScale([0, 10], [100, 0]);
  assert.equal(stairs([1, 4], x, y), "M0.00,90.00H10.00L10.00,60.00H20.00");
});

// ---------------------------------------------------------------- the module

const folder = join(process.env["WORKSPACE_ROOT"]!, "web/articles/isotonic");
const instance = await Instance.create(readFileSync(join(folder, "demo_wasm.wasm")));
const states = 161;
const out = (type: "f64" | "i32" | "u8", length: number) =>
  ({ kind: "out", type, length }) as const;
const given = (array: Int32Array | Uint8Array) => ({ kind: "in", array }) as const;

function makeRow(kind: number, n: number, seed: number, drawn = new Uint8Array(mostNumbers)) {
  const { value, arrays } = instance.call("make_row", [kind, n, seed, given(drawn), out("i32", n)]);
  return { code: Number(value), y: arrays[0] as Int32Array };
}

function unfold(way: number, tile: number, n: number, y: Int32Array) {
  const { value, arrays } = instance.call("unfold", [
    way,
    tile,
    n,
    given(y),
    out("u8", states * mostNumbers),
    out("u8", states * mostNumbers),
    out("i32", states * 20),
    out("i32", states * 3),
    out("f64", 41),
    out("f64", 40),
    out("f64", 7),
  ]);
  const [ends, fresh, lines, info, totals, fit, facts] = arrays as [
    Uint8Array,
    Uint8Array,
    Int32Array,
    Int32Array,
    Float64Array,
    Float64Array,
    Float64Array,
  ];
  return { code: Number(value), ends, fresh, lines, info, totals, fit, facts };
}

test("every row, way and tile ends at the same fit, which is right", () => {
  for (let kind = 0; kind < Object.keys(kinds).length; kind++) {
    for (const n of [4, 5, 24, 40]) {
      const { code, y } = makeRow(kind, n, 3);
      assert.equal(code, 0);
      // The fit by its other definition: max over a <= i of min over b >= i of the mean of a..b.
      const expected = Array.from(y, (_, i) => {
        let most = -1;
        for (let a = 0; a <= i; a++) {
          let least = Infinity;
          let sum = 0;
          for (let b = a; b < n; b++) {
            sum += y[b]!;
            if (b >= i) least = Math.min(least, sum / (b - a + 1));
          }
          most = Math.max(most, least);
        }
        return most;
      });
      for (const way of [0, 1]) {
        for (const tile of [2, 3, 6, 20]) {
          const found = unfold(way, tile, n, y);
          assert.equal(found.code, 0);
          assert.deepEqual(Array.from(found.fit.subarray(0, n)), expected);
          const [steps, pieces, same, walk, tiles, , kept] = Array.from(found.facts);
          assert.equal(same, 1);
          if (way === 0) assert.equal(steps, walk);
          // Every try and every merge on the timeline is a comparison of the count, or several.
          else assert.ok(tiles! >= steps!);
          assert.ok(kept! <= pieces!);
          const at = steps! * mostNumbers;
          const last = piecesOf(
            found.ends.subarray(at, at + n),
            found.fresh.subarray(at, at + n),
            n,
          );
          assert.equal(last.length, pieces);
          for (const { begin, end } of last) {
            const mean = (found.totals[end]! - found.totals[begin]!) / (end - begin);
            assert.equal(found.fit[begin], mean);
          }
        }
      }
    }
  }
});

test("the walk takes a step for each number and for each pooling", () => {
  const found = unfold(0, 2, 4, Int32Array.of(1, 3, 2, 4));
  assert.equal(found.facts[0], 5);
  assert.deepEqual(
    Array.from({ length: 6 }, (_, k) => found.info[3 * k]),
    [did.nothing, did.begin, did.begin, did.begin, did.pool, did.begin],
  );
  assert.deepEqual(Array.from(found.info.subarray(12, 15)), [did.pool, 1, 3]);
  assert.deepEqual(
    piecesOf(found.ends.subarray(4 * mostNumbers), found.fresh.subarray(4 * mostNumbers), 4),
    [
      { begin: 0, end: 1, fresh: false },
      { begin: 1, end: 3, fresh: true },
    ],
  );
});

test("tiles walk at once, try lines, and merge", () => {
  const found = unfold(1, 2, 4, Int32Array.of(4, 3, 2, 1));
  const steps = found.facts[0]!;
  const what = Array.from({ length: steps + 1 }, (_, k) => found.info[3 * k]);
  assert.deepEqual(what.slice(0, 4), [did.nothing, did.tick, did.tick, did.tick]);
  assert.ok(what.slice(4, -1).every((one) => one === did.try));
  assert.equal(what.at(-1), did.merge);
  // The last line tried is the one that is drawn: from the first total to the last.
  const line = (steps - 1) * 20;
  assert.deepEqual(Array.from(found.lines.subarray(line, line + 2)), [0, 4]);
  assert.equal(found.lines[line + 2], -1);
  // A tile's walk takes three steps. The merge compares the neighbours, looks along the one piece on the right from the
  // knot of the one on the left, weighs that one, and looks along the right again from the first total.
  assert.equal(found.facts[4], 3 + 4);
});

test("what a reader draws takes the place of the row's values", () => {
  const plain = makeRow(0, 24, 7).y;
  const drawn = drawAt(drawAt(new Uint8Array(mostNumbers), 3, 99), 5, 0);
  const { y } = makeRow(0, 24, 7, drawn);
  assert.equal(y[3], 99);
  assert.equal(y[5], 0);
  assert.deepEqual(y.slice(6), plain.slice(6));
  assert.notDeepEqual(makeRow(0, 24, 8).y, plain);
});

test("refuses what is out of range, in words", () => {
  const y = Int32Array.of(1, 2, 3, 4);
  const codes = [
    makeRow(0, 3, 1).code,
    makeRow(0, 41, 1).code,
    makeRow(6, 4, 1).code,
    makeRow(-1, 4, 1).code,
    makeRow(0, 4, 1, new Uint8Array(mostNumbers).fill(102)).code,
    unfold(2, 2, 4, y).code,
    unfold(0, 1, 4, y).code,
    unfold(0, 21, 4, y).code,
    unfold(0, 2, 3, y).code,
    unfold(0, 2, 4, Int32Array.of(1, 2, 3, 101)).code,
    unfold(0, 2, 4, Int32Array.of(1, -2, 3, 4)).code,
  ];
  assert.deepEqual(codes, [1, 1, 2, 2, 5, 3, 4, 4, 1, 5, 5]);
  for (const code of codes) assert.ok(instance.message(code).length > 10);
});
