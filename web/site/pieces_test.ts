// SPDX-License-Identifier: Apache-2.0
// Small pieces: numbers, names, styles made into classes, charts.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  chartReading,
  chartSvg,
  logTicks,
  logTickText,
  seriesOf,
  spread,
  thumbnail,
} from "./charts.ts";
import { tableBadge } from "./figures.ts";
import { hoistedCss, hoistStyles } from "./hoist.ts";
import type { ChartSpec, Table } from "./records.ts";
import {
  duration,
  nearest,
  numberHtml,
  numberText,
  significant,
  slugOf,
  typographic,
} from "./text.ts";

test("numbers keep their digits and gain a reader's form", () => {
  assert.equal(numberHtml("0.25"), "0.25");
  assert.equal(numberHtml("-3"), "\u22123");
  assert.equal(numberHtml("1999"), "1999");
  assert.equal(numberHtml("60000"), "60,000");
  assert.equal(numberHtml("16777216"), "16,777,216");
  assert.equal(numberHtml("1.5e-08"), '<span class="nb">1.5 \u00d7 10<sup>\u22128</sup></span>');
  assert.equal(numberText("1.5e-08"), "1.5 \u00d7 10\u207b\u2078");
  assert.equal(numberHtml("nan"), "NaN");
  assert.equal(numberHtml("<b>"), "&lt;b&gt;");
});

test("columns are shortened to significant digits, whole numbers never", () => {
  assert.equal(significant("3.319176133942392e-8", 4), "3.319e-8");
  assert.equal(significant("0.0123456789", 3), "0.0123");
  assert.equal(significant("123456789", 3), "123456789");
  assert.equal(significant("nan", 3), "nan");
});

test("names: the nearest, and slugs", () => {
  assert.equal(nearest("forwrad", ["backward", "forward"]), "forward");
  assert.equal(nearest("x", []), undefined);
  assert.equal(slugOf("Why 1/k? Because."), "why-1-k-because");
  assert.equal(slugOf("\u00dcber \u2013 alles"), "uber-alles");
});

test("inline styles become classes, the same style the same class", () => {
  const styles = new Map<string, string>();
  const html = hoistStyles(
    '<p style="color:red" class="a">x</p><b style="color:red;">y</b><i title="style=1">z</i>',
    styles,
  );
  const [name] = [...styles.keys()];
  assert.equal(styles.size, 1);
  assert.equal(html, `<p class="a ${name}">x</p><b class="${name}">y</b><i title="style=1">z</i>`);
  assert.equal(hoistedCss(styles), `.${name}{color:red;}`);
});

const table: Table = {
  id: "t",
  title: "T",
  columns: [
    { name: "n", type: "i64", unit: "1" },
    { name: "a", type: "f64", unit: "ulp" },
    { name: "b", type: "f64", unit: "ulp" },
  ],
  rows: [
    ["10", "1e-8", "nan"],
    ["100", "1e-4", "2e-8"],
    ["1000", "0.5", "3e-8"],
  ],
  hash: "",
  csv: "records/full/t.csv",
  modelled: false,
  browser: { as: "shown" },
};
const chart: ChartSpec = {
  id: "c",
  title: "One grows",
  table: "t",
  mark: "line",
  x: "n",
  y: ["a", "b"],
  x_scale: "log",
  y_scale: "log",
  alt: "Two lines. One grows.",
};

test("a chart has two pictures with names, no inline style, ids of its own and short coordinates", () => {
  const svg = chartSvg(chart, table);
  assert.equal(svg.match(/<svg /g)?.length, 2);
  assert.equal(svg.match(/role="img"/g)?.length, 2);
  assert.match(
    svg,
    /<title id="c-c-w-t">One grows<\/title><desc id="c-c-w-d">Two lines\. One grows\.<\/desc>/,
  );
  assert.ok(!/style=|<style|aria-label="/.test(svg));
  assert.ok(!/\d\.\d{3}/.test(svg.replace(/<(title|desc|text)[\s\S]*?<\/\1>/g, "")));
  for (const [, id] of svg.matchAll(/ id="([^"]*)"/g)) assert.match(id!, /^c-c-[wn]-/);
  assert.match(svg, /stroke-dasharray="6 3"/);
  assert.equal(chartSvg(chart, table), svg, "the same again");
});

test("a table that a model predicts says so beside what its bits are", () => {
  const exact = tableBadge(table);
  assert.match(exact, /class="badge exact" data-table="t"/);
  assert.ok(!exact.includes("modelled"));
  const modelled = tableBadge({ ...table, modelled: true });
  assert.ok(modelled.startsWith(exact));
  assert.match(modelled, /class="badge modelled"/);
});

test("coordinates are shortened, ticks are not", () => {
  const rows = [
    ["1", "0.0012", "nan"],
    ["7", "0.5", "nan"],
  ];
  const svg = chartSvg({ ...chart, y: ["a"] }, { ...table, rows });
  assert.match(svg, /<text [^>]*>0\.01<\/text>/);
  assert.doesNotMatch(svg, /<text [^>]*>0<\/text>/);
  const low = chartSvg({ ...chart, y: ["a"] }, { ...table, rows: [["1", "1e-4", "nan"], ...rows] });
  assert.match(low, /<text [^>]*>0\.001<\/text>/);
});

test("a chart that does not fit its table says why", () => {
  assert.throws(
    () => seriesOf({ ...chart, y: "c" }, table),
    /table t has no column c \(it has n, a, b\)/,
  );
});

test("what a cursor reads off a chart: places and words", () => {
  const places = JSON.parse(chartReading(chart, table)!) as [number, number, string][];
  assert.equal(places.length, 3);
  assert.equal(places[0]![2], "n 10: a 1 \u00d7 10\u207b\u2078, b no number");
  assert.ok(places[0]![0] < places[1]![0] && places[1]![0] < places[2]![0]);
});

test("a small chart holds no words", () => {
  const svg = thumbnail(chart, table);
  assert.match(svg, /aria-hidden="true"/);
  assert.ok(!svg.includes("<text"));
});

test("log ticks are powers of ten, thinned out; 1, 2, 5 where there are few", () => {
  assert.deepEqual(logTicks(1e-8, 1, 5), [1e-8, 1e-6, 1e-4, 1e-2, 1]);
  assert.deepEqual(logTicks(3, 60, 5), [5, 10, 20, 50]);
  assert.equal(logTickText(1e-8), "10\u207b\u2078");
  assert.equal(logTickText(2000), "2,000");
});

test("labels are spread without changing their order", () => {
  assert.deepEqual(spread([100, 102, 104], 16, 0, 400), [100, 116, 132]);
  assert.deepEqual(spread([390, 395], 16, 0, 400), [384, 400]);
});

test("times are given in the unit that suits them", () => {
  assert.deepEqual(duration("1234567"), { value: "1.23", unit: "ms" });
  assert.deepEqual(duration("850"), { value: "850", unit: "ns" });
  assert.deepEqual(duration("2500000000"), { value: "2.5", unit: "s" });
  assert.deepEqual(duration("123456"), { value: "123", unit: "\u00b5s" });
});

test("plain typing is set as a printer would", () => {
  assert.equal(
    typographic('He said "no" - and it\'s true...'),
    "He said \u201cno\u201d \u2013 and it\u2019s true\u2026",
  );
  assert.equal(typographic('("a")'), "(\u201ca\u201d)");
  assert.equal(typographic('" he', "x"), "\u201d he");
  assert.equal(typographic("the labs' own, 2-3"), "the labs\u2019 own, 2-3");
});
