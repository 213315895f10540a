// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";

import {
  clamp,
  initialValues,
  readHash,
  readTexts,
  stateText,
  writeHash,
  type Params,
} from "./params.ts";

const params = {
  n: { kind: "integer", label: "Points", min: 2, max: 64, initial: 8 },
  x: { kind: "real", label: "Width", min: -1, max: 1, step: 0.1, initial: 0.5 },
  window: {
    kind: "choice",
    label: "Window",
    options: { hann: "Hann", flat: "Flat" },
    initial: "hann",
  },
  grid: { kind: "flag", label: "Grid", initial: true },
  list: { kind: "text", label: "List", initial: "1 2", maxLength: 40, pattern: /^[-0-9. ,e]*$/ },
} satisfies Params;
const start = initialValues(params);

test("state goes through a link and comes back equal", () => {
  const values = { n: 17, x: 0.1 + 0.2 - 0.5, window: "flat", grid: false, list: "3, 4.5 -1e-3" };
  const hash = writeHash("#top", "fft", stateText(params, values));
  const texts = readHash(hash, "fft");
  assert.ok(texts);
  const read = readTexts(params, start, texts);
  assert.deepEqual(read.values, values);
  assert.deepEqual(read.notes, []);
});

test("out-of-range values are clamped and said", () => {
  const read = readTexts(params, start, { n: "1000", x: "-7" });
  assert.equal(read.values.n, 64);
  assert.equal(read.values.x, -1);
  assert.equal(read.notes.length, 2);
  assert.match(read.notes[0]!, /Points.*1000.*64/);
});

test("nonsense is ignored and said", () => {
  const read = readTexts(params, start, {
    n: "many",
    window: "toString",
    list: "<b>",
    colour: "red",
  });
  assert.deepEqual(read.values, start);
  assert.equal(read.notes.length, 4);
});

test("infinities clamp, NaN does not pass", () => {
  assert.equal(clamp(params.n, Infinity), 64);
  assert.equal(clamp(params.n, NaN), undefined);
  assert.equal(clamp(params.n, 3.6), 4);
});

test("a link keeps the parts of other demos and drops an anchor", () => {
  assert.equal(writeHash("#a=n:1&b=n:2", "a", "n:3"), "#b=n:2&a=n:3");
  assert.equal(writeHash("#where-it-fails", "a", "n:3"), "#a=n:3");
  assert.equal(readHash("#a-two=n:1", "a"), undefined);
  assert.deepEqual(readHash("#a=n:%E0%A4%A", "a"), {});
});
