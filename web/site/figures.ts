// SPDX-License-Identifier: Apache-2.0
// Figures in the text, their evidence, claims, tables: HTML from records.

import { chartReading, chartSvg, columnTitle, maxSeries, seriesOf, swatch } from "./charts.ts";
import type { Article, ChartSpec, Claim, Figure, Kind, MeasuredGroup, Table } from "./records.ts";
import {
  attributes,
  duration,
  escapeHtml,
  numberHtml,
  proseHtml,
  significant,
  unitText,
} from "./text.ts";

export const kindOrder: readonly Kind[] = ["exact", "bounded", "measured", "modelled", "cited"];

/** What each kind promises, in a sentence. */
export const kindMeaning: Readonly<Record<Kind, string>> = {
  exact: "the same bits on every machine, natively and in the browser",
  bounded: "agrees with a reference within a derived bound",
  measured: "a timing on the machine named beside it; yours will differ",
  modelled: "what a stated model predicts",
  cited: "somebody else's figure",
};

/** The glyph of a kind: a small drawing in the current colour. */
export const glyph = (kind: Kind): string =>
  `<svg class="glyph" aria-hidden="true" viewBox="0 0 12 12" width="12" height="12"><use href="#k-${kind}"></use></svg>`;

/** Drawings that a page refers to; put once at the top of its body. */
export const glyphSprite: string = [
  `<svg class="sprite" aria-hidden="true" width="0" height="0">`,
  // identity: three bars
  `<symbol id="k-exact" viewBox="0 0 12 12"><path d="M1.5 3h9M1.5 6h9M1.5 9h9"></path></symbol>`,
  // an interval with its value
  `<symbol id="k-bounded" viewBox="0 0 12 12"><path d="M1.5 2.5v7M10.5 2.5v7M1.5 6h9"></path><circle class="solid" cx="6" cy="6" r="1.8"></circle></symbol>`,
  // a stop-watch
  `<symbol id="k-measured" viewBox="0 0 12 12"><circle cx="6" cy="7" r="4"></circle><path d="M6 7V4.4M4.6 1.4h2.8"></path></symbol>`,
  // a dashed curve
  `<symbol id="k-modelled" viewBox="0 0 12 12"><path d="M1 10.5C5 10.5 5 2 11 2" stroke-dasharray="2.4 1.6"></path></symbol>`,
  // an opening quotation mark
  `<symbol id="k-cited" viewBox="0 0 12 12"><path d="M4.6 3C2.6 4 2 5.6 2.2 8.6h2.2V6.2H3.2M10 3C8 4 7.400 5.6 7.600 8.6h2.200V6.200H8.600"></path></symbol>`,
  `<symbol id="k-tick" viewBox="0 0 12 12"><path d="M2 6.500l2.800 2.800L10.200 3"></path></symbol>`,
  `<symbol id="k-cross" viewBox="0 0 12 12"><path d="M2.500 2.500l7 7M9.500 2.500l-7 7"></path></symbol>`,
  `</svg>`,
].join("");

/** "exact, 12 digits of f64", "bounded, at most 3 ulp", "measured on h200": what a badge says beyond its glyph. */
export function badgeText(figure: Figure): string {
  switch (figure.kind) {
    case "exact":
      return "exact";
    case "bounded":
      return `bounded, ${figure.error?.metric ?? "error"} at most ${figure.error?.bound ?? "?"}`;
    case "measured":
      return `measured on ${figure.measured?.device ?? "?"}, ${figure.measured?.date ?? ""}`;
    case "modelled":
      return "modelled";
    case "cited":
      return `cited, ${figure.source?.author ?? ""} ${figure.source?.year ?? ""}`.trim();
  }
}

/** A time in nanoseconds, in the unit that suits it. */
function time(nanoseconds: string): string {
  const { value, unit } = duration(nanoseconds);
  return `<span class="nb">${value}&nbsp;${unit}</span>`;
}

/** The value with its unit, as the page shows it. */
export function valueHtml(figure: Figure): string {
  if (figure.type === "bool") return figure.shown === "true" ? "yes" : "no";
  if (figure.type === "str") return escapeHtml(figure.shown);
  if (figure.kind === "measured" && figure.unit === "ns") return time(figure.shown);
  const unit = unitText(figure.unit);
  const value = numberHtml(figure.shown);
  if (!unit) return value;
  return `<span class="nb">${value}${unit === "%" ? "" : "&nbsp;"}${escapeHtml(unit)}</span>`;
}

/** A figure in running text: its value on a button that opens the evidence. Works without scripts (popover). */
export function inlineFigure(figure: Figure): string {
  return (
    `<button type="button" class="fig ${figure.kind}"${attributes({
      "data-fig": figure.id,
      popovertarget: `e-${figure.id}`,
    })}><span class="v">${valueHtml(figure)}</span>${glyph(figure.kind)}` +
    `<span class="hide" data-said>, ${escapeHtml(badgeText(figure))}</span></button>`
  );
}

const row = (name: string, value: string): string => `<dt>${name}</dt><dd>${value}</dd>`;
const code = (text: string): string => `<code>${escapeHtml(text)}</code>`;

/** What the reader's browser does with a figure, in words. */
export function browserWords({ browser, kind }: Pick<Figure, "browser" | "kind">): string {
  if (kind === "cited") return "not ours to verify";
  if (browser.as === "shown") return "recomputed as shown";
  if (browser.as === "reduced") return "recomputed at a smaller size, against its own record";
  return `native only: ${browser.why}`;
}

/** The evidence of one figure: opens from its badge. */
export function evidence(figure: Figure, article: Article): string {
  const { slug } = article;
  const rows = [row("kind", `${figure.kind}: ${kindMeaning[figure.kind]}`)];
  if (figure.count === undefined) rows.push(row("value", valueHtml(figure)));
  else rows.push(row("values", numberHtml(String(figure.count))));
  if (figure.roundTrip !== undefined && figure.roundTrip !== figure.shown) {
    rows.push(row("in full", code(figure.roundTrip)));
  }
  if (figure.bits) rows.push(row("bits", code(`${figure.bits} (${figure.type})`)));
  if (figure.error) {
    const { metric, observed, bound, why, reference } = figure.error;
    rows.push(
      row("error", `${escapeHtml(metric)} ${numberHtml(observed)}, bound ${numberHtml(bound)}`),
    );
    rows.push(row("because", proseHtml(why)), row("against", proseHtml(reference)));
  }
  if (figure.model) rows.push(row("model", proseHtml(figure.model)));
  if (figure.source) {
    const { author, year, title, where, url } = figure.source;
    const link = url ? `<a href="${escapeHtml(url)}">${escapeHtml(title)}</a>` : escapeHtml(title);
    rows.push(
      row(
        "source",
        `${escapeHtml(author)} (${year}): ${link}${where ? `, ${escapeHtml(where)}` : ""}`,
      ),
    );
  }
  if (figure.measured) {
    const { device, date, median, spread, samples } = figure.measured;
    rows.push(row("machine", `${escapeHtml(device)}, ${escapeHtml(date)}`));
    rows.push(
      row(
        "method",
        `median ${time(median)}, interquartile range ${time(spread)}, ${samples} samples; your machine will differ`,
      ),
    );
  } else if (figure.hash && figure.kind !== "cited") {
    rows.push(row("hash", code(`sha256 ${figure.hash.slice(0, 16)}...`)));
  }
  rows.push(
    row(
      "here",
      `<span data-state="${escapeHtml(figure.id)}">${escapeHtml(browserWords(figure))}</span>`,
    ),
  );
  if (figure.kind !== "cited" && figure.kind !== "measured") {
    rows.push(row("again", code(`bazel run //web:lab -- verify ${slug}`)));
  }
  return (
    `<div class="evidence ${figure.kind}" id="e-${escapeHtml(figure.id)}" popover role="dialog" aria-labelledby="et-${escapeHtml(figure.id)}">` +
    `<p class="evidence-title" id="et-${escapeHtml(figure.id)}">${glyph(figure.kind)} ${proseHtml(figure.title)}</p>` +
    `<dl>${rows.join("")}</dl></div>`
  );
}

const verdictWords: Readonly<Record<Claim["verdict"], string>> = {
  holds: "holds",
  fails: "fails",
  measured: "depends on the machine",
  absent: "not decided yet",
};

/** A claim with its verdict and what the verdict rests on. */
export function claimHtml(claim: Claim): string {
  const { verdict } = claim;
  const mark = verdict === "holds" ? "tick" : verdict === "fails" ? "cross" : "";
  const symbol = mark
    ? `<svg class="glyph" aria-hidden="true" viewBox="0 0 12 12" width="12" height="12"><use href="#k-${mark}"></use></svg>`
    : "";
  const evidenceRows = claim.evidence
    .map((e) => {
      // A constant stands for itself; an expression is followed by what it came to.
      const side = (text: string, value: string): string =>
        text === value || Number(text) === Number(value)
          ? `<code>${escapeHtml(text)}</code>`
          : `<code>${escapeHtml(text)}</code> = ${numberHtml(significant(value, 4))}`;
      const op =
        { "<": "&lt;", "<=": "\u2264", ">": "&gt;", ">=": "\u2265", "==": "=", "!=": "\u2260" }[
          e.op
        ] ?? escapeHtml(e.op);
      return `<li class="${e.holds ? "holds" : "fails"}">${side(e.left, e.left_value)} <b>${op}</b> ${side(e.right, e.right_value)}: ${e.holds ? "yes" : "no"}</li>`;
    })
    .join("");
  const where =
    claim.on.length === 0
      ? ""
      : ` on ${claim.on.map(({ device, holds }) => `${escapeHtml(device)}${claim.on.every((other) => other.holds === holds) ? "" : holds ? " (yes)" : " (no)"}`).join(", ")}`;
  const how = `<details><summary>How it was decided</summary><p><code>${escapeHtml(claim.predicate)}</code></p>${
    evidenceRows ? `<ul>${evidenceRows}</ul>` : ""
  }</details>`;
  return (
    `<div class="claim ${verdict}" id="claim-${escapeHtml(claim.id)}" role="group" aria-label="Claim">` +
    `<p class="claim-text"><span class="verdict">${symbol}${verdictWords[verdict]}${claim.narrow ? ", narrowly" : ""}${where}</span> ${proseHtml(claim.text)}</p>${how}</div>`
  );
}

/** A table of records as HTML rows; `digits` of a column shorten what is shown. */
function tableRows(table: Table): string {
  const numeric = table.columns.map(({ type }) => type !== "str" && type !== "bool");
  const head = table.columns
    .map(
      (column, i) =>
        `<th scope="col"${numeric[i] ? ' class="n"' : ""}>${escapeHtml(columnTitle(column))}</th>`,
    )
    .join("");
  const body = table.rows
    .map((cells) => {
      const tds = cells.map((cell, i) => {
        const column = table.columns[i]!;
        const shown = numeric[i]
          ? numberHtml(column.type.startsWith("f") ? significant(cell, column.digits ?? 6) : cell)
          : escapeHtml(column.type === "bool" ? (cell === "true" ? "yes" : "no") : cell);
        if (i === 0) return `<th scope="row"${numeric[0] ? ' class="n"' : ""}>${shown}</th>`;
        return `<td${numeric[i] ? ' class="n"' : ""}>${shown}</td>`;
      });
      return `<tr>${tds.join("")}</tr>`;
    })
    .join("");
  return `<thead><tr>${head}</tr></thead><tbody>${body}</tbody>`;
}

/** Rows beyond which a table under a chart is given as its first and last rows, with the CSV for all. */
const mostRows = 400;

function recordLinks(table: Table, article: Article): string {
  const json = table.csv.replace(/[^/]*$/, "exact.json");
  return `<a href="${escapeHtml(table.csv)}" download>CSV</a> <a href="${escapeHtml(json)}">record</a> <span class="soft">${code(`web/articles/${article.slug}/lab.cc`)}</span>`;
}

/** What a table's numbers are: exact, and where a model predicts them that as well. */
export function tableBadge(table: Table): string {
  return (
    `<span class="badge exact" data-table="${escapeHtml(table.id)}">${glyph("exact")}` +
    `<span class="word">exact</span><span data-said class="said">${table.browser.as === "native-only" ? ", native only" : ""}</span></span>` +
    (table.modelled
      ? ` <span class="badge modelled">${glyph("modelled")}<span class="word">modelled</span></span>`
      : "")
  );
}

/** A table on its own. */
export function tableFigure(table: Table, article: Article): string {
  const id = `t-${escapeHtml(table.id)}`;
  return (
    `<figure class="table" id="${id}" aria-labelledby="${id}-c">` +
    `<div class="scroll" tabindex="0" role="group" aria-labelledby="${id}-c">` +
    `<table><caption id="${id}-c">${proseHtml(table.title)}</caption>${tableRows(table)}</table></div>` +
    `<figcaption>${tableBadge(table)} <span class="links">${recordLinks(table, article)}</span></figcaption></figure>`
  );
}

/** Timings of one group on one machine. */
export function measuredFigure(group: MeasuredGroup): string {
  const id = `m-${escapeHtml(group.id)}`;
  const ceilings = group.rows.some(({ ceiling }) => ceiling !== "");
  const head = [
    "",
    "median",
    "interquartile range",
    "samples",
    ...(ceilings ? ["of the ceiling"] : []),
  ]
    .map(
      (title, i) => `<th scope="col"${i > 0 && i < 4 ? ' class="n"' : ""}>${title || "what"}</th>`,
    )
    .join("");
  const rows = group.rows.map(
    ({ title, median, spread, samples, ceiling, checked, drifted }) =>
      `<tr><th scope="row">${escapeHtml(title)}${checked ? "" : " (result not checked)"}${drifted ? " (drifted since last time)" : ""}</th>` +
      `<td class="n">${time(median)}</td><td class="n">${time(spread)}</td><td class="n">${samples}</td>` +
      `${ceilings ? `<td>${escapeHtml(ceiling)}</td>` : ""}</tr>`,
  );
  return (
    `<figure class="table measured" id="${id}" aria-labelledby="${id}-c">` +
    `<div class="scroll" tabindex="0" role="group" aria-labelledby="${id}-c"><table>` +
    `<caption id="${id}-c">${proseHtml(group.title)}</caption><thead><tr>${head}</tr></thead><tbody>${rows.join("")}</tbody></table></div>` +
    `<figcaption><span class="badge measured">${glyph("measured")}<span class="word">measured on ${escapeHtml(group.device)}, ${escapeHtml(group.date)}</span></span> <span>your machine will differ</span></figcaption></figure>`
  );
}

/** A chart with its table. Fails with an Error when it does not fit its table. */
export function chartFigure(chart: ChartSpec, table: Table, article: Article): string {
  const series = seriesOf(chart, table);
  if (series.length > maxSeries) {
    throw new Error(
      `chart ${chart.id}: ${series.length} series, at most ${maxSeries} can be told apart`,
    );
  }
  if (table.rows.length > mostRows) {
    throw new Error(
      `table ${table.id}: ${table.rows.length} rows; a page shows at most ${mostRows}, so thin it out in the lab`,
    );
  }
  const id = `c-${escapeHtml(chart.id)}`;
  // On a desktop lines carry their names; a phone and bars need a legend.
  const legend =
    series.length > 1
      ? `<ul class="legend${chart.mark === "bar" ? "" : " n"}">${series.map(({ name }, i) => `<li>${swatch(i, chart.mark)} ${escapeHtml(name)}</li>`).join("")}</ul>`
      : "";
  const subtitle = chart.subtitle ? `<p class="fig-sub">${proseHtml(chart.subtitle)}</p>` : "";
  return (
    `<figure class="chart" id="${id}" aria-labelledby="${id}-h"${attributes({ "data-read": chartReading(chart, table) })}>` +
    `<p class="fig-title" id="${id}-h">${proseHtml(chart.title)}</p>${subtitle}${legend}${chartSvg(chart, table)}` +
    `<figcaption>${tableBadge(table)} <span class="links">${recordLinks(table, article)}</span></figcaption>` +
    `<details class="data"><summary>The numbers</summary><div class="scroll" tabindex="0" role="group" aria-labelledby="${id}-tc">` +
    `<table><caption id="${id}-tc">${proseHtml(table.title)}</caption>${tableRows(table)}</table></div></details></figure>`
  );
}
