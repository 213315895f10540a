// SPDX-License-Identifier: Apache-2.0
// Renders one article: render_article SLUG FOLDER OUTPUT. Writes page.json and the files that lie beside the page.

import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { thumbnail } from "./charts.ts";
import { evidence } from "./figures.ts";
import { hoistStyles, type HoistedStyles } from "./hoist.ts";
import { renderMarkdown } from "./markdown.ts";
import type { Page, UnfinishedPage } from "./page-data.ts";
import { Problems } from "./problem.ts";
import { readArticle } from "./records.ts";

const [slug, folder, output] = process.argv.slice(2) as [string, string, string];
const problems = new Problems();

// A page in the making has no text or no records yet: the site is built without it, and says so.
const lacks = !existsSync(join(folder, "lab.json"))
  ? "lab.json"
  : !existsSync(join(folder, "article.md"))
    ? "article.md"
    : !["full", "browser", "quick"].some((p) =>
          existsSync(join(folder, "records", p, "exact.json")),
        )
      ? "records"
      : "";
if (lacks) {
  mkdirSync(output, { recursive: true });
  writeFileSync(
    join(output, "page.json"),
    JSON.stringify({ slug, lacks } satisfies UnfinishedPage),
  );
  process.exit(0);
}

const article = readArticle(slug, folder, problems);
problems.exitIfAny();
const file = join(folder, "article.md");
const rendered = await renderMarkdown(readFileSync(file, "utf8"), file, article!, problems);
problems.exitIfAny();

const styles: HoistedStyles = new Map();
const { lab, figures, tables, claims, charts, browser } = article!;
const all = [...figures.values()];
const firstChart = rendered.charts[0];
const chart = firstChart === undefined ? undefined : charts.get(firstChart);
const page: Page = {
  slug,
  kind: lab.kind,
  title: rendered.front.title,
  description: rendered.front.description,
  summary: lab.summary,
  date: lab.date,
  minutes: Math.max(1, Math.round(rendered.words / 220)),
  words: rendered.words,
  html: hoistStyles(rendered.html, styles),
  evidence: all
    .filter(({ id }) => rendered.figures.includes(id))
    .map((figure) => evidence(figure, article!))
    .join(""),
  headings: rendered.headings,
  figures: all.map(({ id, kind, browser: how }) => ({ id, kind, as: how.as })),
  tables: [...tables.values()].map(({ id, browser: how }) => ({ id, as: how.as })),
  claims: [...claims.values()].map(({ id, verdict }) => ({ id, verdict })),
  devices: article!.devices,
  demos: rendered.demos,
  hasMaths: rendered.hasMaths,
  closure: article!.closure ?? "",
  args: article!.args,
  rooms: lab.rooms,
  data: (lab.data ?? []).map(({ name, source, licence, url }) => ({
    name,
    source,
    licence: licence ?? "",
    url: url ?? "",
  })),
  changes: rendered.front.changes ?? [],
  thumbnail: chart ? thumbnail(chart, tables.get(chart.table)!) : "",
  verifiable: browser !== undefined,
  budgets: lab.budgets ?? {},
  styles: Object.fromEntries([...styles].sort(([a], [b]) => (a < b ? -1 : 1))),
};
mkdirSync(output, { recursive: true });
writeFileSync(join(output, "page.json"), JSON.stringify(page));
if (browser) writeFileSync(join(output, "verify.json"), JSON.stringify(browser));

// The records themselves lie beside the page, for those who follow a link.
const copy = (path: string): void => {
  const from = join(folder, path);
  if (!existsSync(from)) return;
  mkdirSync(dirname(join(output, path)), { recursive: true });
  copyFileSync(from, join(output, path));
};
for (const profile of ["quick", "browser", "full"]) {
  for (const name of ["exact.json", "bounded.json", "claims.json"])
    copy(`records/${profile}/${name}`);
}
for (const { csv } of tables.values()) copy(csv);
for (const { csv } of browser?.tables ?? []) copy(csv);
