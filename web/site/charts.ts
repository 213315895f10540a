// SPDX-License-Identifier: Apache-2.0
// Charts as SVG: Observable Plot over a table, made fit for pages (no inline style, our ids, name and description).

import * as Plot from "@observablehq/plot";
import { parseHTML } from "linkedom";

import type { ChartSpec, Column, Table } from "./records.ts";
import {
  attributes,
  escapeHtml,
  numberText,
  significant,
  typographic,
  unitText,
  words,
} from "./text.ts";

/** A series of a chart: its name on the page and its points, in the table's order. */
export interface Series {
  readonly name: string;
  readonly points: readonly { x: number | string; y: number }[];
}

const dashes = ["", "6 3", "2 3", "10 3 2 3", "1 4", "8 2 2 2 2 2", "12 4", "4 6"];
const symbols = [
  "circle",
  "square",
  "triangle",
  "diamond",
  "cross",
  "star",
  "wye",
  "plus",
] as const;
export const maxSeries = dashes.length;

const colour = (i: number): string => `var(--series-${i + 1})`;

function toNumber(text: string): number {
  if (text === "true") return 1;
  if (text === "false") return 0;
  return text === "" ? NaN : Number(text.replace(/^(-?)inf$/i, "$1Infinity"));
}

/** A column's title with its unit: "error (ulp)". */
export function columnTitle(column: Column | undefined, label?: string): string {
  if (!column) return label ?? "";
  const unit = unitText(column.unit);
  if (label !== undefined) return label;
  return unit ? `${words(column.name)} (${unit})` : words(column.name);
}

/** Reads a chart's series out of its table. Fails with an Error that names the column that is not there. */
export function seriesOf(chart: ChartSpec, table: Table): Series[] {
  const at = (name: string): number => {
    const index = table.columns.findIndex((column) => column.name === name);
    if (index < 0) {
      const known = table.columns.map((column) => column.name).join(", ");
      throw new Error(
        `chart ${chart.id}: table ${table.id} has no column ${name} (it has ${known})`,
      );
    }
    return index;
  };
  const ys = typeof chart.y === "string" ? [chart.y] : chart.y;
  const x = at(chart.x);
  const isText = table.columns[x]!.type === "str" || chart.mark === "bar";
  const point = (row: readonly string[], y: number): { x: number | string; y: number } => ({
    x: isText ? row[x]! : toNumber(row[x]!),
    y: toNumber(row[y]!),
  });
  const label = (key: string): string => chart.labels?.[key] ?? words(key);
  if (chart.series === undefined) {
    return ys.map((y) => ({ name: label(y), points: table.rows.map((row) => point(row, at(y))) }));
  }
  const key = at(chart.series);
  const y = at(ys[0]!);
  const names = [...new Set(table.rows.map((row) => row[key]!))];
  return names.map((name) => ({
    name: label(name),
    points: table.rows.filter((row) => row[key] === name).map((row) => point(row, y)),
  }));
}

interface Size {
  readonly width: number;
  readonly height: number;
  readonly narrow: boolean;
}

// Widths of the column in CSS pixels, so that 13 in the picture is 13 on the screen.
const wide: Size = { width: 672, height: 380, narrow: false };
const slim: Size = { width: 350, height: 300, narrow: true };

/** Moves places apart until each is `gap` from the next, keeping their order. */
export function spread(
  places: readonly number[],
  gap: number,
  low: number,
  high: number,
): number[] {
  const order = places.map((_, i) => i).sort((a, b) => places[a]! - places[b]!);
  const result = [...places];
  for (let k = 1; k < order.length; k++) {
    const above = result[order[k - 1]!]!;
    if (result[order[k]!]! < above + gap) result[order[k]!] = above + gap;
  }
  let limit = high;
  for (let k = order.length - 1; k >= 0; k--) {
    const i = order[k]!;
    if (result[i]! > limit) result[i] = limit;
    limit = result[i]! - gap;
  }
  return result.map((place) => Math.max(low, place));
}

/** Where a log axis has its ticks: powers of ten, thinned to `most`; 1, 2 and 5 of each where there are too few. */
export function logTicks(low: number, high: number, most: number): number[] {
  const from = Math.floor(Math.log10(low) + 1e-9);
  const to = Math.ceil(Math.log10(high) - 1e-9);
  const inside = (v: number): boolean => v >= low * (1 - 1e-9) && v <= high * (1 + 1e-9);
  const powers: number[] = [];
  for (let e = from; e <= to; e++) powers.push(Number(`1e${e}`));
  const whole = powers.filter(inside);
  if (whole.length < 3) {
    return powers
      .flatMap((p) => [p, 2 * p, 5 * p])
      .map((v) => Number(v.toPrecision(1)))
      .filter(inside);
  }
  const stride = Math.ceil(whole.length / most);
  return whole.filter((_, i) => (whole.length - 1 - i) % stride === 0);
}

/** A tick in a reader's words: 0.05, 2,000, 10 to the power -6 in raised digits. */
export function logTickText(value: number): string {
  if (value >= 0.001 && value < 100000)
    return value.toLocaleString("en", { maximumSignificantDigits: 3 });
  const exponent = Math.floor(Math.log10(value) + 1e-9);
  const lead = Number((value / Number(`1e${exponent}`)).toPrecision(1));
  const raised = String(exponent).replace(/./g, (c) =>
    c === "-"
      ? "\u207b"
      : "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079"[Number(c)]!,
  );
  return `${lead === 1 ? "" : `${lead}\u00d7`}10${raised}`;
}

/** A drawn chart, and for each place along x its coordinate. */
interface Drawn {
  readonly svg: string;
  readonly at: readonly number[];
}

/** The values of x that have a point, in the order of the axis. */
function placesOf(series: readonly Series[]): (number | string)[] {
  const all = [...new Set(series.flatMap(({ points }) => points.map((p) => p.x)))];
  return all.every((x) => typeof x === "number")
    ? all.filter((x) => Number.isFinite(x)).sort((a, b) => a - b)
    : all;
}

/** What the chart says at one place: "terms 1,024: largest first 3.26e-7, smallest first 1.1e-8". */
function wordsAt(x: number | string, series: readonly Series[], xTitle: string): string {
  const place = typeof x === "number" ? numberText(significant(String(x), 6)) : x;
  const values = series.flatMap(({ name, points }) => {
    const point = points.find((p) => p.x === x);
    if (!point) return [];
    const value = Number.isFinite(point.y)
      ? numberText(significant(String(point.y), 4))
      : "no number";
    return [series.length > 1 ? `${name} ${value}` : value];
  });
  return `${xTitle} ${place}: ${values.join(", ")}`;
}

function plot(chart: ChartSpec, table: Table, size: Size): Drawn {
  const series = seriesOf(chart, table);
  const { document } = parseHTML("<!doctype html><html><body></body></html>");
  const bars = chart.mark === "bar";
  const log = { x: chart.x_scale === "log", y: chart.y_scale === "log" };
  const good = (p: { x: number | string; y: number }): boolean =>
    Number.isFinite(p.y) &&
    (!log.y || p.y > 0) &&
    (typeof p.x === "string" || (Number.isFinite(p.x) && (!log.x || p.x > 0)));
  const direct = !bars && series.length > 1;
  const longest = Math.max(...series.map(({ name }) => name.length));
  const room = direct && !size.narrow ? Math.min(170, 16 + 6.7 * longest) : 16;
  const yColumn = table.columns.find(
    (column) => column.name === (typeof chart.y === "string" ? chart.y : chart.y[0]),
  );
  const xColumn = table.columns.find((column) => column.name === chart.x);
  const yTitle =
    chart.y_label ??
    (typeof chart.y === "string" || chart.y.length === 1
      ? columnTitle(yColumn)
      : unitText(yColumn?.unit ?? ""));
  const xTitle = chart.x_label ?? columnTitle(xColumn);
  const note = (on: boolean): string => (on ? ", log scale" : "");
  const marks: Plot.Markish[] = [];
  const reference: Plot.Data = [0];
  // Bars stand on zero. Lines and dots show differences, so zero is drawn only where it is near.
  const values = series.flatMap(({ points }) => points.filter(good).map((p) => p.y));
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const zero = !log.y && (bars || (least <= 0 && most >= 0) || (least > 0 && least < 0.5 * most));
  if (zero) marks.push(Plot.ruleY(reference, { stroke: "var(--rule-strong)" }));
  series.forEach(({ points }, i) => {
    if (bars) return;
    const dash = dashes[i % dashes.length]!;
    if (chart.mark === "line") {
      // A value that is missing or infinite leaves a gap.
      const data = points.map((p) => (good(p) ? p : { x: p.x, y: NaN }));
      marks.push(
        Plot.line(data, {
          x: "x",
          y: "y",
          stroke: colour(i),
          strokeWidth: 2,
          ...(dash ? { strokeDasharray: dash } : {}),
        }),
      );
    }
    if (chart.mark === "dot" || points.length <= 24) {
      marks.push(
        Plot.dot(points.filter(good), {
          x: "x",
          y: "y",
          fill: colour(i),
          r: chart.mark === "dot" ? 3 : 2.5,
          symbol: symbols[i % symbols.length]!,
        }),
      );
    }
  });
  const shownPoints = series.flatMap(({ points }) => points.filter(good));
  const logAxis = (values: number[], most: number): Plot.ScaleOptions => {
    const domain = [Math.min(...values), Math.max(...values)];
    const ticks = logTicks(domain[0]!, domain[1]!, most);
    return { type: "log", ticks };
  };
  const categories = bars
    ? [...new Set(series.flatMap(({ points }) => points.map((p) => p.x)))]
    : [];
  // Slim bars read as heights; broad ones read as areas.
  const bandwidth = (0.9 * (size.width - 64 - room)) / Math.max(1, categories.length);
  const inset = Math.max(1, (bandwidth - 56) / 2);
  if (bars) {
    const flat = series.flatMap(({ name, points }, i) =>
      points.filter(good).map((p) => ({ ...p, name, i })),
    );
    series.forEach((_, i) => {
      const own = flat.filter((p) => p.i === i);
      marks.push(
        series.length > 1
          ? Plot.barY(own, {
              fx: "x",
              x: "name",
              y: "y",
              fill: colour(i),
              insetLeft: 1,
              insetRight: 1,
            })
          : Plot.barY(own, {
              x: "x",
              y: "y",
              fill: colour(i),
              insetLeft: inset,
              insetRight: inset,
            }),
      );
    });
  }
  if (bars && series.length === 1 && bandwidth >= 44) {
    marks.push(
      Plot.text(shownPoints, {
        x: "x",
        y: "y",
        text: (p: { y: number }) => numberText(significant(String(p.y), 3)),
        dy: -8,
        fill: "currentColor",
      }),
    );
  }
  // Names under bars stand side by side while they fit; numbers may be thinned out, words may not.
  const widest = Math.max(1, ...categories.map((c) => String(c).length)) * 7 + 10;
  const every = Math.max(1, Math.ceil((categories.length * widest) / (size.width - 64 - room)));
  const named = categories.every((c) => Number.isFinite(Number(c)))
    ? categories.filter((_, i) => (categories.length - 1 - i) % every === 0)
    : categories;
  const options: Plot.PlotOptions = {
    document: document as unknown as Document,
    width: size.width,
    height: size.height,
    marginLeft: 64,
    marginRight: room,
    marginTop: 36,
    marginBottom: 48,
    x: bars
      ? {
          label: series.length > 1 ? null : `${xTitle}`,
          ...(series.length > 1 ? { axis: null } : { domain: categories, ticks: named }),
        }
      : {
          label: xTitle + note(log.x),
          ...(log.x
            ? logAxis(
                shownPoints.map((p) => p.x as number),
                size.narrow ? 4 : 8,
              )
            : {
                type: typeof series[0]?.points[0]?.x === "string" ? "point" : "linear",
                ticks: size.narrow ? 4 : 7,
              }),
        },
    ...(bars && series.length > 1
      ? { fx: { label: xTitle, domain: categories, ticks: named } }
      : {}),
    y: {
      label: yTitle + note(log.y),
      ...(log.y
        ? logAxis(
            shownPoints.map((p) => p.y),
            7,
          )
        : { type: "linear", ticks: size.narrow ? 4 : 6 }),
      grid: true,
      ...(bars && !log.y ? { zero: true } : {}),
      ...(log.y ? {} : { nice: true }),
    },
    marks,
  };
  // Explicit, since the implicit axis of a log scale leaves out labels as it sees fit.
  const [xScale, yScale] = [options.x as Plot.ScaleOptions, options.y as Plot.ScaleOptions];
  if (log.x && !bars) {
    const { ticks, label } = xScale;
    marks.push(Plot.axisX(ticks as number[], { text: logTickText, label: label ?? null }));
  }
  if (log.y) {
    const { ticks, label } = yScale;
    marks.push(Plot.axisY(ticks as number[], { text: logTickText, label: label ?? null }));
  }
  let picture = Plot.plot(options);
  if (direct) {
    const sy = picture.scale("y")!;
    const lasts = series.map(({ points }) => points.filter(good).at(-1));
    const places = lasts.map((last) => (last ? (sy.apply(last.y) as number) : 0));
    const moved = spread(places, 16, 30, size.height - 52);
    const labels: Plot.Markish[] = [];
    lasts.forEach((last, i) => {
      if (!last || size.narrow) return;
      labels.push(
        Plot.text([last], {
          x: "x",
          y: "y",
          text: () => series[i]!.name,
          fill: colour(i),
          textAnchor: "start",
          dx: 8,
          dy: moved[i]! - places[i]!,
        }),
      );
    });
    picture = Plot.plot({ ...options, marks: [...marks, ...labels] });
  }
  const sx = picture.scale(bars && series.length > 1 ? "fx" : "x")!;
  const half = (sx.bandwidth ?? 0) / 2;
  const at = placesOf(series).map((x) => Math.round(((sx.apply(x) as number) + half) * 10) / 10);
  return { svg: tidy(picture.outerHTML, chart, size), at };
}

/** Plot's SVG as a page wants it. */
function tidy(svg: string, chart: ChartSpec, size: Size): string {
  const prefix = `c-${chart.id}-${size.narrow ? "n" : "w"}`;
  const number = (text: string): string => String(Math.round(Number(text) * 100) / 100);
  let text = svg
    .replace(/<style>[\s\S]*?<\/style>/g, "")
    .replace(/\s(?:aria-label|aria-description)="[^"]*"/g, "")
    .replace(/\sstyle="[^"]*"/g, "")
    .replace(/\sfont-(?:size|family|variant)="[^"]*"/g, "")
    .replace(/\sid="([^"]*)"/g, ` id="${prefix}-$1"`)
    .replace(/url\(#([^)]*)\)/g, `url(#${prefix}-$1)`)
    // Coordinates, not what is written: a tick of 0.001 stays one.
    .replace(/<[^>]*>/g, (tag) => tag.replace(/-?\d+\.\d{3,}(?:e-?\d+)?/g, number));
  // Raised digits are not in the fonts: set them as exponents.
  text = text.replace(/[\u207b\u2070\u00b9\u00b2\u00b3\u2074-\u2079]+/g, (raised) => {
    const plain = raised.replace(/./g, (c) => {
      const digit = "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079".indexOf(c);
      return digit < 0 ? "\u2212" : String(digit);
    });
    return `<tspan class="sup" dy="-0.4em">${plain}</tspan>`;
  });
  const head = attributes({
    class: size.narrow ? "plot n" : "plot w",
    viewBox: `0 0 ${size.width} ${size.height}`,
    width: size.width,
    height: size.height,
    fill: "currentColor",
    "text-anchor": "middle",
    role: "img",
    "aria-labelledby": `${prefix}-t`,
    "aria-describedby": `${prefix}-d`,
  });
  text = text.replace(/^<svg[^>]*>/, () => {
    const title = `<title id="${prefix}-t">${escapeHtml(typographic(chart.title))}</title>`;
    const description = `<desc id="${prefix}-d">${escapeHtml(chart.alt)}</desc>`;
    return `<svg${head}>${title}${description}`;
  });
  return text;
}

/** Marks as the series wear them, for legends: a short stroke with its dash, or a symbol. */
export function swatch(i: number, mark: ChartSpec["mark"]): string {
  const dash = dashes[i % dashes.length]!;
  const inner =
    mark === "bar"
      ? `<rect x="2" y="2" width="20" height="8" class="s${i + 1}"></rect>`
      : mark === "dot"
        ? `<circle cx="12" cy="6" r="4" class="s${i + 1}"></circle>`
        : `<line x1="0" x2="24" y1="6" y2="6" class="s${i + 1}"${attributes({ "stroke-dasharray": dash || undefined })}></line>`;
  return `<svg class="swatch" width="24" height="12" viewBox="0 0 24 12" aria-hidden="true">${inner}</svg>`;
}

/** Both pictures of a chart: one for the column of a desktop, one for a phone. The page shows one of them. */
export function chartSvg(chart: ChartSpec, table: Table): string {
  return plot(chart, table, wide).svg + plot(chart, table, slim).svg;
}

/**
 * What a reader's cursor finds along x: for each place its coordinate in both pictures and its values in words. JSON
 * for the figure's data-read; undefined where a log axis leaves places out or there is nothing to walk along.
 */
export function chartReading(chart: ChartSpec, table: Table): string | undefined {
  const series = seriesOf(chart, table);
  const column = table.columns.find(({ name }) => name === chart.x);
  const xTitle = chart.x_label ?? columnTitle(column);
  const [w, n] = [plot(chart, table, wide).at, plot(chart, table, slim).at];
  const places = placesOf(series).map(
    (x, i) => [w[i]!, n[i]!, wordsAt(x, series, xTitle)] as const,
  );
  const good = places.filter(([a, b]) => Number.isFinite(a) && Number.isFinite(b));
  return good.length > 1 ? JSON.stringify(good) : undefined;
}

/** A chart in small, without words, for the home page; decorative, the text beside it says it. */
export function thumbnail(chart: ChartSpec, table: Table): string {
  const width = 224;
  const height = 128;
  const series = seriesOf(chart, table).slice(0, maxSeries);
  const log = { x: chart.x_scale === "log", y: chart.y_scale === "log" };
  const fx = (v: number): number => (log.x ? Math.log10(v) : v);
  const fy = (v: number): number => (log.y ? Math.log10(v) : v);
  const points = series.map(({ points }) =>
    points.map((p, i) => ({ x: typeof p.x === "string" ? i : fx(p.x), y: fy(p.y) })),
  );
  const all = points.flat().filter((p) => Number.isFinite(p.x) && Number.isFinite(p.y));
  if (all.length === 0) return "";
  const xs = all.map((p) => p.x);
  const ys = all.map((p) => p.y);
  if (chart.mark === "bar" && !log.y) ys.push(0);
  const [x0, x1, y0, y1] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const sx = (v: number): number => 4 + ((v - x0) / (x1 - x0 || 1)) * (width - 8);
  const sy = (v: number): number => height - 4 - ((v - y0) / (y1 - y0 || 1)) * (height - 12);
  const r = (v: number): string => String(Math.round(v * 100) / 100);
  const shapes = points.map((list, i) => {
    if (chart.mark === "bar") {
      const step = (width - 8) / list.length;
      const base = sy(log.y ? y0 : 0);
      return list
        .filter((p) => Number.isFinite(p.y))
        .map((p, k) => {
          const top = Math.min(base, sy(p.y));
          const share = (0.7 * step) / series.length;
          return `<rect class="s${i + 1}" x="${r(4 + (k + 0.15) * step + i * share)}" y="${r(top)}" width="${r(share)}" height="${r(Math.abs(base - sy(p.y)))}"></rect>`;
        })
        .join("");
    }
    if (chart.mark === "dot") {
      const most = 160;
      const stride = Math.max(1, Math.ceil(list.length / most));
      return list
        .filter((p, k) => k % stride === 0 && Number.isFinite(p.x) && Number.isFinite(p.y))
        .map(
          (p) => `<circle class="s${i + 1}" cx="${r(sx(p.x))}" cy="${r(sy(p.y))}" r="2"></circle>`,
        )
        .join("");
    }
    let d = "";
    let pen = "M";
    for (const p of list) {
      if (!Number.isFinite(p.x) || !Number.isFinite(p.y)) pen = "M";
      else {
        d += `${pen}${r(sx(p.x))},${r(sy(p.y))}`;
        pen = "L";
      }
    }
    return `<path class="s${i + 1}" d="${d}"${attributes({ "stroke-dasharray": dashes[i % dashes.length] || undefined })}></path>`;
  });
  // A line where zero is, if it is in sight.
  const zero = !log.y && y0 <= 0 && y1 >= 0 ? Math.round(sy(0)) + 0.5 : undefined;
  const base =
    zero === undefined
      ? ""
      : `<line class="base" x1="0" x2="${width}" y1="${zero}" y2="${zero}"></line>`;
  return `<svg class="thumb" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" aria-hidden="true">${base}${shapes.join("")}</svg>`;
}
