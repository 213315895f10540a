// SPDX-License-Identifier: Apache-2.0
// Which of an article's records reach its page.

import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { Problems } from "./problem.ts";
import { readArticle } from "./records.ts";

const sample = join(process.env["WORKSPACE_ROOT"]!, "web/site/testdata/sample");

/** A measured file with one figure; `median` tells it from others. */
const session = (profile: string, median: string): string =>
  JSON.stringify({
    device: "box",
    date: "2026-11-30",
    run: { profile },
    figures: [
      {
        id: "sum_time",
        title: "The sum",
        unit: "s",
        group: "sums",
        group_title: "Sums",
        shown: median,
        summary: { median, iqr: "0.1", min: median, n: 30 },
        floor: {},
        check: "passed",
        hash: { hex: "00" },
      },
    ],
    claims: [{ id: "order", verdict: "holds" }],
    comparison: { drifted: [] },
  });

function articleWith(sessions: Record<string, string>): ReturnType<typeof readArticle> {
  const folder = mkdtempSync(join(tmpdir(), "article-"));
  cpSync(sample, folder, { recursive: true, dereference: true });
  for (const [path, text] of Object.entries(sessions)) {
    const device = join(folder, "records/measured", path.split("/")[0]!);
    mkdirSync(device, { recursive: true });
    writeFileSync(join(folder, "records/measured", path), text);
  }
  const problems = new Problems();
  const article = readArticle("sample", folder, problems);
  assert.deepEqual(problems.found.map(String), []);
  return article;
}

test("of a device's sessions the last one at full size is shown", () => {
  const article = articleWith({
    "box/20261129-2.json": session("full", "2"),
    "box/20261130-2.json": session("full", "4"),
    "box/20261130-10.json": session("full", "5"),
    "box/20261130-11.json": session("quick", "0.001"),
    "phone/20261130-1.json": session("browser", "0.5"),
  })!;
  assert.equal(article.figures.get("sum_time")?.shown, "5");
  assert.deepEqual(article.devices, ["box"]);
  assert.deepEqual(
    article.groups.map(({ id, rows }) => [id, rows.map(({ median }) => median)]),
    [["sums", ["5"]]],
  );
  assert.deepEqual(article.claims.get("order")?.on, [{ id: "order", device: "box", holds: true }]);
});

test("a device with no session at full size has none", () => {
  const article = articleWith({ "box/20261130-1.json": session("quick", "0.001") })!;
  assert.equal(article.figures.has("sum_time"), false);
  assert.deepEqual([article.devices, article.groups], [[], []]);
});
