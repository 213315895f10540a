// SPDX-License-Identifier: Apache-2.0
// Builds the site from rendered articles, modules and scripts: build_site PLAN. Same inputs, same bytes.

import { createHash } from "node:crypto";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join, relative, resolve } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";

import * as esbuild from "esbuild";

import { contrastProblems } from "./colours.ts";
import { hoistedCss, type HoistedStyles } from "./hoist.ts";
import type { Page, UnfinishedPage } from "./page-data.ts";
import { Problems } from "./problem.ts";
import { articlePage, homePage, type Links, sectionsOf } from "./template.ts";

interface Plan {
  /** The folder to fill. */
  readonly output: string;
  /** A file with the paths of the scripts and style sheets, one a line. */
  readonly sources: string;
  readonly articles: readonly {
    slug: string;
    rendered: string;
    demo: string;
    modules: Record<string, string>;
    data: Record<string, string>;
    demo_data: Record<string, string>;
  }[];
}

interface Asset {
  path: string;
  sha256: string;
  bytes: number;
}

const [planPath] = process.argv.slice(2) as [string];
const wholePlan = JSON.parse(readFileSync(planPath, "utf8")) as Plan;
const readPage = (rendered: string): Page | UnfinishedPage =>
  JSON.parse(readFileSync(join(rendered, "page.json"), "utf8")) as Page | UnfinishedPage;
const plan: Plan = {
  ...wholePlan,
  articles: wholePlan.articles.filter(({ slug, rendered }) => {
    const page = readPage(rendered);
    if ("lacks" in page) console.error(`${slug}: no page yet, its ${page.lacks} is missing`);
    return !("lacks" in page);
  }),
};
const output = resolve(plan.output);
const packages = join(dirname(process.argv[1]!), "node_modules");
const problems = new Problems();

const sha256 = (bytes: Uint8Array | string): string =>
  createHash("sha256").update(bytes).digest("hex");
const brotli = (bytes: Uint8Array | string): number =>
  brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }).length;

mkdirSync(join(output, "assets"), { recursive: true });

/** Puts a file into assets/ under its name and the first digits of its hash. */
function addAsset(name: string, bytes: Uint8Array): Asset {
  const digest = sha256(bytes);
  const dot = name.indexOf(".");
  const path = `assets/${name.slice(0, dot)}-${digest.slice(0, 8)}${name.slice(dot)}`;
  writeFileSync(join(output, path), bytes);
  return { path, sha256: digest, bytes: bytes.length };
}

// ------------------------------------------------------------------------------------------------ scripts

// esbuild follows links, so it works on copies; its output names no place.
const stage = join(dirname(process.argv[1]!), "sources");
for (const path of readFileSync(plan.sources, "utf8").split("\n").filter(Boolean)) {
  mkdirSync(join(stage, dirname(path)), { recursive: true });
  copyFileSync(path, join(stage, path));
}
symlinkSync(resolve(packages), join(stage, "node_modules"));

const common: esbuild.BuildOptions = {
  absWorkingDir: stage,
  // Hashes in names cover the paths of what went in: let packages lie where they are linked.
  preserveSymlinks: true,
  bundle: true,
  minify: true,
  format: "esm",
  target: ["es2022"],
  charset: "utf8",
  legalComments: "none",
  logLevel: "warning",
  conditions: ["browser", "production"],
};

const worker = await esbuild.build({
  ...common,
  entryPoints: ["web/runtime/worker.ts"],
  write: false,
});
const workerAsset = addAsset("worker.js", worker.outputFiles![0]!.contents);

const entries: Record<string, string> = { page: "web/site/page.ts" };
for (const { slug, demo } of plan.articles) if (demo) entries[`demo-${slug}`] = demo;
const scripts = await esbuild.build({
  ...common,
  entryPoints: Object.entries(entries).map(([out, path]) => ({ in: path, out })),
  splitting: true,
  outdir: "assets",
  entryNames: "[name]-[hash]",
  chunkNames: "shared-[hash]",
  metafile: true,
});
const outputs = scripts.metafile!.outputs;
for (const path of Object.keys(outputs)) copyFileSync(join(stage, path), join(output, path));
const scriptOf = new Map<string, string>();
for (const [path, { entryPoint }] of Object.entries(outputs)) {
  for (const [name, entry] of Object.entries(entries)) {
    if (entryPoint === entry) scriptOf.set(name, path);
  }
}
/** A script with everything that it loads at once. */
function closure(path: string, seen = new Set<string>()): Set<string> {
  if (seen.has(path)) return seen;
  seen.add(path);
  for (const { path: next, kind } of outputs[path]?.imports ?? []) {
    if (kind === "import-statement") closure(next, seen);
  }
  return seen;
}
const scriptBytes = (name: string): number => {
  return [...closure(scriptOf.get(name)!)].reduce(
    (sum, path) => sum + brotli(readFileSync(join(stage, path))),
    0,
  );
};

// ------------------------------------------------------------------------------------------------ style and fonts

const require = createRequire(join(packages, "x.js"));
const fontFile = (spec: string): Uint8Array => readFileSync(require.resolve(spec));
const latin =
  "U+0000-00FF,U+0131,U+0152-0153,U+02BB-02BC,U+02C6,U+02DA,U+02DC,U+0304,U+0308,U+0329,U+2000-206F,U+20AC,U+2122,U+2191,U+2193,U+2212,U+2215,U+FEFF,U+FFFD";
const greek = "U+0370-0377,U+037A-037F,U+0384-038A,U+038C,U+038E-03A1,U+03A3-03FF";
const latinExt =
  "U+0100-02BA,U+02BD-02C5,U+02C7-02CC,U+02CE-02D7,U+02DD-02FF,U+1D00-1DBF,U+1E00-1E9F,U+1EF2-1EFF,U+2020,U+20A0-20AB,U+20AD-20C0,U+2113,U+2C60-2C7F,U+A720-A7FF";

interface Face {
  readonly family: string;
  readonly file: string;
  readonly style: string;
  readonly weight: string;
  readonly range: string;
}
const serif = (subset: string, style: string, range: string): Face => ({
  family: "Source Serif 4",
  file: `@fontsource-variable/source-serif-4/files/source-serif-4-${subset}-wght-${style}.woff2`,
  style,
  weight: "200 900",
  range,
});
const plex = (face: "sans" | "mono", weight: number, subset = "latin", range = latin): Face => ({
  family: face === "sans" ? "IBM Plex Sans" : "IBM Plex Mono",
  file: `@fontsource/ibm-plex-${face}/files/ibm-plex-${face}-${subset}-${weight}-normal.woff2`,
  style: "normal",
  weight: String(weight),
  range,
});
const faces: readonly Face[] = [
  serif("latin", "normal", latin),
  serif("latin", "italic", latin),
  serif("latin-ext", "normal", latinExt),
  serif("greek", "normal", greek),
  plex("sans", 400),
  plex("sans", 600),
  plex("sans", 400, "latin-ext", latinExt),
  plex("sans", 400, "greek", greek),
  plex("mono", 400),
];
let mainFont = "";
const fontCss = faces.map(({ family, file, style, weight, range }) => {
  const asset = addAsset(basename(file), fontFile(file));
  mainFont ||= asset.path;
  return `@font-face{font-family:"${family}";font-style:${style};font-weight:${weight};font-display:swap;src:url(${basename(asset.path)}) format("woff2");unicode-range:${range}}`;
});

// KaTeX's sheet with its woff2 files only.
const katexFolder = dirname(require.resolve("katex/dist/katex.min.css"));
const katexCss = readFileSync(join(katexFolder, "katex-swap.min.css"), "utf8").replace(
  /src:([^;}]*)/g,
  (_, sources: string) => {
    const file = /url\(fonts\/([\w-]+\.woff2)\)/.exec(sources)![1]!;
    const asset = addAsset(file, readFileSync(join(katexFolder, "fonts", file)));
    return `src:url(${basename(asset.path)}) format("woff2")`;
  },
);

const pages = plan.articles.map(({ rendered }) => readPage(rendered) as Page);
const styles: HoistedStyles = new Map(pages.flatMap((page) => Object.entries(page.styles)));
const ownCss = ["tokens.css", "page.css"].map((name) =>
  readFileSync(join(stage, "web/site/css", name), "utf8"),
);
for (const message of contrastProblems(ownCss[0]!))
  problems.add(message, "web/site/css/tokens.css");
const minified = await esbuild.transform(
  [...fontCss, katexCss, ...ownCss, hoistedCss(styles)].join("\n"),
  {
    loader: "css",
    minify: true,
    // light-dark() and nesting stay as written.
    target: ["chrome123", "firefox120", "safari17.5"],
    charset: "utf8",
  },
);
const css = addAsset("site.css", Buffer.from(minified.code));

// ------------------------------------------------------------------------------------------------ modules and data

const modules: Record<string, Asset> = {};
const data: Record<string, Asset> = {};
for (const { slug, modules: files, data: labData, demo_data: demoData } of plan.articles) {
  for (const [key, path] of Object.entries(files)) {
    modules[`${slug}/${key}`] = addAsset(`${slug}-${key}.wasm`, readFileSync(path));
  }
  for (const [name, path] of Object.entries({ ...labData, ...demoData })) {
    const ending = path.endsWith(".gz") ? ".bin.gz" : ".bin";
    data[`${slug}/${name}`] = addAsset(`${slug}-${name}${ending}`, readFileSync(path));
  }
}
const sorted = <T>(values: Record<string, T>): Record<string, T> =>
  Object.fromEntries(Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(
  join(output, "manifest.json"),
  JSON.stringify(
    {
      schema: "assay-manifest/1",
      worker: workerAsset,
      modules: sorted(modules),
      data: sorted(data),
    },
    null,
    1,
  ) + "\n",
);

// ------------------------------------------------------------------------------------------------ pages

const sizes: string[] = [];
function budget(what: string, bytes: number, limit: number): void {
  sizes.push(`${what.padEnd(44)} ${String(bytes).padStart(8)} of ${limit}`);
  if (bytes > limit)
    problems.add(`${what}: ${bytes} bytes (Brotli), the budget is ${limit}`, "web/site");
}

// A balance's beam, the assayer's instrument.
const icon = addAsset(
  "icon.svg",
  Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" fill="none" stroke="#0b6a68" stroke-width="2.5" stroke-linecap="round"><path d="M16 5v22M10 27h12M5 10h22M2 19l3-9 3 9a3 3 0 0 1-6 0zM24 19l3-9 3 9a3 3 0 0 1-6 0z"/></svg>`,
  ),
);

const home: Links = {
  css: css.path,
  font: mainFont,
  icon: icon.path,
  scripts: [],
  home: "index.html",
  sections: sectionsOf(pages),
};
writeFileSync(join(output, "index.html"), homePage(pages, home));
pages.forEach((page, i) => {
  const { slug, rendered, demo } = plan.articles[i]!;
  const folder = join(output, slug);
  mkdirSync(folder, { recursive: true });
  const up = (path: string): string => `../${path}`;
  const links: Links = {
    css: up(css.path),
    font: up(mainFont),
    icon: up(icon.path),
    scripts: [scriptOf.get("page")!, ...(demo ? [scriptOf.get(`demo-${slug}`)!] : [])].map(up),
    home: "../index.html",
    sections: sectionsOf(pages),
  };
  const demoBytes =
    (modules[`${slug}/demo`]?.bytes ?? 0) +
    Object.keys(plan.articles[i]!.demo_data).reduce(
      (sum, name) => sum + data[`${slug}/${name}`]!.bytes,
      0,
    );
  const html = articlePage(page, links).replaceAll("@@bytes@@", String(demoBytes));
  writeFileSync(join(folder, "index.html"), html);
  if (demo) {
    // The address that other sites embed; it stays the same when the script behind it changes.
    writeFileSync(join(folder, "demo.js"), `import "${up(scriptOf.get(`demo-${slug}`)!)}";\n`);
  }
  for (const name of readdirSync(rendered).sort()) {
    if (name !== "page.json")
      cpSync(join(rendered, name), join(folder, name), { recursive: true, dereference: true });
  }
  for (const tag of page.demos) {
    if (!demo)
      problems.add(
        `<assay-${tag}> is on the page, and there is no demo.ts`,
        `web/articles/${slug}/article.md`,
      );
  }
  budget(`${slug}: HTML`, brotli(html), 150_000);
  if (demo) budget(`${slug}: demo script`, scriptBytes(`demo-${slug}`), 25_000);
  for (const [key, limit] of [
    ["lab", page.budgets.wasm_kib],
    ["demo", page.budgets.demo_wasm_kib],
  ] as const) {
    const path = plan.articles[i]!.modules[key];
    if (path)
      budget(
        `${slug}: ${key} module`,
        brotli(readFileSync(path)),
        Math.min(limit ? limit * 1024 : 80_000, 250_000),
      );
  }
  for (const [key, asset] of Object.entries(data)) {
    if (key.startsWith(`${slug}/`)) budget(`${key} (as it is)`, asset.bytes, 1_000_000);
  }
});
budget("style sheet", brotli(minified.code), 20_000);
budget("base script", scriptBytes("page"), 15_000);

// ------------------------------------------------------------------------------------------------ links

/** Every href and src of every page leads to a file of the site, every fragment to an id. */
function checkLinks(): void {
  const files = ["index.html", ...pages.map(({ slug }) => `${slug}/index.html`)];
  const ids = new Map<string, Set<string>>();
  const idsOf = (file: string): Set<string> => {
    let known = ids.get(file);
    if (!known) {
      const text = readFileSync(join(output, file), "utf8");
      known = new Set([...text.matchAll(/\sid="([^"]+)"/g)].map((m) => m[1]!));
      ids.set(file, known);
    }
    return known;
  };
  for (const file of files) {
    const text = readFileSync(join(output, file), "utf8");
    const all = [...text.matchAll(/\sid="([^"]+)"/g)].map((m) => m[1]!);
    for (const id of new Set(all.filter((id, k) => all.indexOf(id) !== k))) {
      problems.add(`the id "${id}" is there twice`, file);
    }
    for (const [, target] of text.matchAll(/\s(?:href|src)="([^"]+)"/g)) {
      if (/^(https?:|mailto:|data:)/.test(target!)) continue;
      const [path, fragment] = target!.split("#") as [string, string?];
      let to = path === "" ? file : relative(output, resolve(output, dirname(file), path));
      if (to.startsWith("..") || !existsSync(join(output, to))) {
        problems.add(`a link leads nowhere: ${target}`, file);
        continue;
      }
      if (statSync(join(output, to)).isDirectory()) to = join(to, "index.html");
      if (fragment && to.endsWith(".html") && !/^\w+=/.test(fragment) && !idsOf(to).has(fragment)) {
        problems.add(`a link leads nowhere: ${target}`, file);
      }
    }
    if (/\sstyle="/.test(text) || /<style/.test(text))
      problems.add("an inline style is left", file);
    if (/<script(?![^>]*\ssrc=)/.test(text)) problems.add("an inline script is left", file);
  }
}
checkLinks();
problems.exitIfAny();
if (process.env["ASSAY_SIZES"]) console.error(sizes.join("\n"));
writeFileSync(join(output, "sizes.txt"), sizes.join("\n") + "\n");
