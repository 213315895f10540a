// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";

import {
  complex,
  drawAt,
  drawnPlaces,
  endOf,
  pairs,
  placeOf,
  polynomial,
  power,
  presets,
  readCoefficients,
  readDrawing,
  short,
  writeDrawing,
} from "./demo.ts";

test("a drawing goes through a link and comes back equal", () => {
  const drawing = new Int8Array(drawnPlaces);
  for (let i = 0; i < drawnPlaces; i++) drawing[i] = ((i * 37) % 255) - 127;
  const text = writeDrawing(drawing);
  assert.match(text, /^[-_0-9A-Za-z]*$/);
  assert.ok(text.length <= 88);
  assert.deepEqual(readDrawing(text), drawing);
});

test("an empty drawing is an empty text, and what is no drawing is an empty drawing", () => {
  assert.equal(writeDrawing(new Int8Array(drawnPlaces)), "");
  for (const text of ["", "AAAA", "%%%", "x".repeat(86), "A".repeat(87)]) {
    const drawing = readDrawing(text);
    assert.equal(drawing.length, drawnPlaces);
    if (text.length < 80)
      assert.ok(
        drawing.every((v) => v === 0),
        text,
      );
  }
});

test("drawing a sample sets the places it is read from, and no neighbour's", () => {
  for (let n = 8; n <= drawnPlaces; n++) {
    for (let j = 0; j < n; j++) {
      const drawing = drawAt(new Int8Array(drawnPlaces), n, j, 1.25, 0.25);
      for (let i = 0; i < n; i++) {
        const place = Math.floor((i * drawnPlaces) / n); // as wasm.cc reads it
        assert.equal(drawing[place], i === j ? 64 : 0, `n ${n}, drew ${j}, looked at ${i}`);
      }
    }
  }
});

test("a stroke off the picture is clamped", () => {
  assert.equal(drawAt(new Int8Array(drawnPlaces), 64, 5, 99, 0)[5], 127);
  assert.equal(drawAt(new Int8Array(drawnPlaces), 64, 5, -99, 0)[5], -127);
});

test("the timeline walks through every needle of every bin", () => {
  assert.deepEqual(placeOf(0, 32), { bin: 0, laid: 0 });
  assert.deepEqual(placeOf(1, 32), { bin: 0, laid: 1 });
  assert.deepEqual(placeOf(32, 32), { bin: 0, laid: 32 });
  assert.deepEqual(placeOf(33, 32), { bin: 1, laid: 1 });
  for (let bin = 0; bin < 17; bin++)
    assert.deepEqual(placeOf(endOf(bin, 32), 32), { bin, laid: 32 });
});

test("coefficients are read as people write them", () => {
  assert.deepEqual(readCoefficients("1 2, -3"), Int32Array.of(1, 2, -3));
  assert.deepEqual(readCoefficients(" 7 "), Int32Array.of(7));
  for (const text of ["", "  ", "1.5", "1000", "1 2 3 4 5 6 7 8 9", "-", "1 - 2"])
    assert.equal(readCoefficients(text), undefined, JSON.stringify(text));
  for (const [a, b] of Object.values(pairs)) {
    assert.ok(readCoefficients(a));
    assert.ok(readCoefficients(b));
  }
});

test("polynomials read as in a book", () => {
  assert.equal(polynomial([3, 7, 2]), "3 + 7x + 2x\u00b2");
  assert.equal(polynomial([0, -1, 0, 1]), "\u2212x + x\u00b3");
  assert.equal(polynomial([1, 0, -4]), "1 \u2212 4x\u00b2");
  assert.equal(polynomial([0, 0]), "0");
  assert.equal(polynomial([-1]), "\u22121");
  assert.equal(power(12), "x\u00b9\u00b2");
});

test("numbers keep their sign and lose a negative zero", () => {
  assert.equal(short(-0.001), "0.00");
  assert.equal(short(-1.239), "\u22121.24");
  assert.equal(complex(3, -1.414), "3.00 \u2212 1.41i");
  assert.equal(complex(-0.0001, 0), "0.00 + 0.00i");
});

test("the signals keep the order that the module numbers them by", () => {
  assert.deepEqual(Object.keys(presets), [
    "none",
    "waves",
    "between",
    "square",
    "saw",
    "pulse",
    "chirp",
  ]);
});
