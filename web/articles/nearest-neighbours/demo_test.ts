// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";

import { Instance } from "../../runtime/instance.ts";
import {
  drawLine,
  greysOf,
  inksOf,
  nearnessText,
  packDrawing,
  plural,
  side,
  unpackDrawing,
} from "./demo.ts";

const folder = join(process.env["WORKSPACE_ROOT"]!, "web/articles/nearest-neighbours");
const pixels = side * side;

test("a drawing goes into a link and comes back", () => {
  const inks = Uint8Array.from({ length: pixels }, (_, i) => (i * 7 + (i >> 3)) % 4);
  const text = packDrawing(inks);
  assert.equal(text.length, 262);
  assert.match(text, /^[-_0-9A-Za-z]{262}$/);
  assert.deepEqual(unpackDrawing(text), inks);
});

test("text that is no drawing is refused", () => {
  for (const text of ["", "A", "A".repeat(261), "A".repeat(264), "?".repeat(262)]) {
    assert.equal(unpackDrawing(text), undefined);
  }
});

test("inks and grey values", () => {
  assert.deepEqual(
    inksOf(Uint8Array.of(0, 42, 43, 127, 128, 212, 213, 255)),
    Uint8Array.of(0, 0, 1, 1, 2, 2, 3, 3),
  );
  assert.deepEqual(greysOf(Uint8Array.of(0, 1, 2, 3)), Uint8Array.of(0, 85, 170, 255));
  assert.deepEqual(inksOf(greysOf(Uint8Array.of(3, 1, 2, 0))), Uint8Array.of(3, 1, 2, 0));
});

test("the pen leaves no holes and stays on the sheet", () => {
  const inks = new Uint8Array(pixels);
  drawLine(inks, { x: -9, y: 14.5 }, { x: 99, y: 14.5 }, false);
  for (let column = 0; column < side; column++) assert.equal(inks[14 * side + column], 3);
  assert.equal(inks[18 * side + 5], 0);
  const far = new Uint8Array(pixels);
  drawLine(far, { x: 1e6, y: 1e6 }, { x: 1e6, y: 1e6 }, false);
  assert.equal(
    far.some((ink) => ink !== 0),
    false,
  );
});

test("the rubber takes away what the pen has drawn", () => {
  const inks = new Uint8Array(pixels);
  const [from, to] = [
    { x: 3, y: 4 },
    { x: 20, y: 22 },
  ];
  drawLine(inks, from, to, false);
  assert.ok(inks.some((ink) => ink === 3));
  drawLine(inks, from, to, true);
  assert.equal(
    inks.some((ink) => ink === 3),
    false,
  );
});

test("words", () => {
  assert.equal(plural("dress", 2), "dresses");
  assert.equal(plural("coat", 1), "coat");
  assert.equal(nearnessText("l2", 1234567), "1,234,567");
  assert.equal(nearnessText("cosine", 0.123456), "0.1235");
});

// ---------------------------------------------------------------- the module with the page's own data

const out = (type: "f64" | "i32" | "u8", length: number) =>
  ({ kind: "out", type, length }) as const;

async function loaded(): Promise<Instance> {
  const instance = await Instance.create(readFileSync(join(folder, "demo_wasm.wasm")));
  const pack = new Uint8Array(gunzipSync(readFileSync(join(folder, "pack.gz"))));
  assert.equal(instance.call("load_pack", [{ kind: "in", array: pack }, pack.length]).value, 0);
  return instance;
}

test("finds in WebAssembly what a plain loop finds", async () => {
  const instance = await loaded();
  const picture = instance.call("query", [3, out("u8", pixels), out("i32", 1)]).arrays[0]!;
  const asked = instance.call("ask", [{ kind: "in", array: picture }, 0, out("f64", 2000)]);
  assert.equal(asked.value, 0);
  const values = asked.arrays[0] as Float64Array;
  const scanned = instance.call("scan", [2000, 10, out("i32", 10), out("f64", 10), out("f64", 6)]);
  const [ids, nearness] = scanned.arrays as [Int32Array, Float64Array];
  const order = Array.from(values.keys()).sort((a, b) => values[a]! - values[b]! || a - b);
  assert.deepEqual(Array.from(ids), order.slice(0, 10));
  // The pixels behind the first three give the distances.
  const shown = instance.call("garments", [
    { kind: "in", array: ids },
    10,
    out("u8", 10 * pixels),
    out("i32", 10),
  ]).arrays[0]!;
  for (let i = 0; i < 3; i++) {
    let sum = 0;
    for (let j = 0; j < pixels; j++) {
      sum += (Number(shown[i * pixels + j]) - Number(picture[j])) ** 2;
    }
    assert.equal(nearness[i], sum);
  }
});

test("the pack is the one that the records were made with", () => {
  const pack = gunzipSync(readFileSync(join(folder, "pack.gz")));
  const records = readFileSync(join(folder, "records/browser/exact.json"), "utf8");
  assert.ok(records.includes(createHash("sha256").update(pack).digest("hex")));
});

test("refuses a damaged pack, in words", async () => {
  const instance = await Instance.create(readFileSync(join(folder, "demo_wasm.wasm")));
  const { value } = instance.call("load_pack", [{ kind: "in", array: new Uint8Array(100) }, 100]);
  assert.match(instance.message(Number(value)), /damaged/);
  assert.equal(instance.call("query", [0, out("u8", pixels), out("i32", 1)]).value, 2);
});
