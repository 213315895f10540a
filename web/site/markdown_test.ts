// SPDX-License-Identifier: Apache-2.0
// The renderer on the sample article, and one planted fault for every rule.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { region, type Rendered, renderMarkdown } from "./markdown.ts";
import { Problems } from "./problem.ts";
import { readArticle } from "./records.ts";

const folder = join(process.env["WORKSPACE_ROOT"]!, "web/site/testdata/sample");
const text = readFileSync(join(folder, "article.md"), "utf8");

async function render(source: string): Promise<{ rendered: Rendered; problems: string[] }> {
  const problems = new Problems();
  const article = readArticle("sample", folder, problems);
  assert.ok(article);
  const rendered = await renderMarkdown(source, "article.md", article, problems);
  return { rendered, problems: problems.found.map(String) };
}

test("the sample renders without a word", async () => {
  const { rendered, problems } = await render(text);
  assert.deepEqual(problems, []);
  assert.deepEqual(rendered.claims, ["order", "stuck"]);
  assert.deepEqual(rendered.demos, ["sample"]);
  assert.deepEqual(rendered.charts, ["errors", "bars"]);
  assert.match(
    rendered.html,
    /<button[^>]*data-fig="forward"[^>]*><span class="v">15\.40368<\/span>/,
  );
  assert.match(rendered.html, /<assay-sample class="demo" n="64" seed="7"/);
  assert.match(rendered.html, /annotation encoding="application\/x-tex"/);
});

test("a colon before a word stays a colon before a word", async () => {
  const { rendered, problems } = await render(text.replace("See it", "See std:vector, note: this"));
  assert.deepEqual(problems, []);
  assert.match(rendered.html, /See std:vector, note: this/);
});

const faults: readonly (readonly [string, (source: string) => string, RegExp])[] = [
  [
    "an unknown figure",
    (s) => s.replace("fig:forward}}", "fig:forwrad}}"),
    /^article\.md:7:\d+: there is no figure "forwrad"; the nearest is "forward"/,
  ],
  [
    "an unknown chart",
    (s) => s.replace("::chart{id=errors}", "::chart{id=eror}"),
    /no chart "eror"; the nearest is "errors"/,
  ],
  [
    "an unknown table",
    (s) => s.replace("::table{id=sums}", "::table{id=sum}"),
    /no table "sum"; the nearest is "sums"/,
  ],
  [
    "an unknown claim",
    (s) => s.replace("::claim{id=order}", "::claim{id=odrer}"),
    /no claim "odrer"; the nearest is "order"/,
  ],
  [
    "a claim left out",
    (s) => s.replace("::claim{id=order}", ""),
    /claim "order" is not on the page/,
  ],
  [
    "a claim twice",
    (s) => s.replace("::claim{id=order}", "::claim{id=order}\n\n::claim{id=order}"),
    /claim "order" is on the page twice/,
  ],
  [
    "an unknown region",
    (s) => s.replace('region="sums"', 'region="sum"'),
    /no region in lab\.cc "sum"; the nearest is "sums"/,
  ],
  [
    "a file of another folder",
    (s) => s.replace('file="lab.cc"', 'file="../lab.cc"'),
    /not a file of this folder/,
  ],
  [
    "an unknown directive",
    (s) => s.replace("::chart{", "::chrat{"),
    /no directive "chrat"; the nearest is "chart"/,
  ],
  [
    "a demo without a first frame",
    (s) => s.replace("chart=bars ", ""),
    /a demo needs a first frame/,
  ],
  [
    "a formula that does not parse",
    (s) => s.replace("\\ln k", "\\lnn k"),
    /^article\.md:14:\d+: the formula does not parse.*\\lnn/,
  ],
  [
    "a display formula that does not parse",
    (s) => s.replace("\\oplus", "\\oplus{"),
    /^article\.md:17:\d+: the formula does not parse/,
  ],
  [
    "a number with a unit",
    (s) => s.replace("## See it", "It took 12 ms.\n\n## See it"),
    /"12 ms" is a number with a unit that comes from no record/,
  ],
  [
    "a percentage",
    (s) => s.replace("## See it", "That is 40%.\n\n## See it"),
    /"40%" is a number with a unit/,
  ],
  [
    "a factor",
    (s) => s.replace("## See it", "It is 25 times faster.\n\n## See it"),
    /"25 times faster" is a number with a unit/,
  ],
  ["a second title", (s) => s.replace("## See it", "# See it"), /only first-level heading/],
  [
    "a skipped level",
    (s) => s.replace("## See it", "#### See it"),
    /heading of level 4 after level 2/,
  ],
  ["HTML", (s) => s.replace("## See it", "<b>See</b>\n\n## See it"), /HTML is not used/],
  [
    "a picture from a file",
    (s) => s.replace("## See it", "![x](y.png)\n\n## See it"),
    /pictures come from records/,
  ],
  [
    "a directive in a list",
    (s) => s.replace("::table{id=sums}", "- ::table{id=sums}"),
    /stands inside a list/,
  ],
  [
    "no front matter",
    (s) => s.replace(/^---[\s\S]*?---\n/, ""),
    /front matter with title and description is missing/,
  ],
];

for (const [what, change, expected] of faults) {
  test(`finds ${what}`, async () => {
    const source = change(text);
    assert.notEqual(source, text, "the fault is planted");
    const { problems } = await render(source);
    assert.ok(
      problems.some((problem) => expected.test(problem)),
      problems.join("\n"),
    );
  });
}

test("a number that the text stipulates passes, a word with a digit too", async () => {
  const { rendered, problems } = await render(
    text.replace("## See it", "Take :given[440 Hz], 64-bit numbers and section 3.\n\n## See it"),
  );
  assert.deepEqual(problems, []);
  assert.match(rendered.html, /Take 440 Hz, 64-bit/);
});

test("figures and short formulas keep their punctuation", async () => {
  const { rendered } = await render(
    text.replace("## See it", "So $k=1$, (and {{fig:forward}}).\n\n## See it"),
  );
  assert.match(
    rendered.html,
    /<span class="nb"><span class="katex">[\s\S]*?<\/span>,<\/span> \(and/,
  );
  assert.match(
    rendered.html,
    /<span class="nb"><button [^>]*data-fig="forward"[\s\S]*?<\/button>\)\.<\/span>/,
  );
});

test("regions lose their common indent and inner marks", () => {
  const code =
    "a\n  // [region x]\n  if (y)\n    z();\n  // [region w]\n  // [end w]\n  // [end x]\nb\n";
  assert.equal(region(code, "x"), "if (y)\n  z();");
  assert.equal(region(code, "v"), undefined);
});
