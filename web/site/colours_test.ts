// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { contrast, contrastProblems } from "./colours.ts";

const css = readFileSync(join(process.env["WORKSPACE_ROOT"]!, "web/site/css/tokens.css"), "utf8");

test("contrast is that of WCAG", () => {
  assert.equal(contrast("#000000", "#ffffff"), 21);
  assert.ok(Math.abs(contrast("#777777", "#ffffff") - 4.48) < 0.01);
});

test("every pair of the palette can be read, light and dark", () => {
  assert.deepEqual(contrastProblems(css), []);
});

test("a pale colour is found", () => {
  const pale = css.replace(
    /--ink-soft: light-dark\(#[0-9a-f]{6}/,
    "--ink-soft: light-dark(#bbbbbb",
  );
  assert.match(contrastProblems(pale).join("\n"), /--ink-soft on --paper \(light\)/);
});
