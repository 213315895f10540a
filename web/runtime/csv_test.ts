// SPDX-License-Identifier: Apache-2.0
// CSV as RFC 4180 has it.

import assert from "node:assert/strict";
import { test } from "node:test";

import { readCsv } from "./csv.ts";

test("CSV with quotes, commas and line ends inside", () => {
  assert.deepEqual(readCsv('a,b\n1,"x, ""y""\nz"\n'), [
    ["a", "b"],
    ["1", 'x, "y"\nz'],
  ]);
  assert.deepEqual(readCsv("a\n1"), [["a"], ["1"]]);
});
