// SPDX-License-Identifier: Apache-2.0
// Native = WebAssembly in Node: every lab's module of the built site, its record, its imports, its identity.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";

import { allowedImports, Instance } from "../../web/runtime/instance.ts";
import { runLab } from "../../web/runtime/lab.ts";
import type { Manifest } from "../../web/runtime/manifest.ts";
import { compare, type Report, type VerifyRecord } from "../../web/runtime/verify.ts";

const root = process.env["WORKSPACE_ROOT"]!;

for (const name of ["dist", "sample_site"]) {
  const folder = join(root, "web/site", name);
  const manifest = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8")) as Manifest;

  test(`${name}: every file of the manifest is the one that it names`, () => {
    const assets = [
      manifest.worker,
      ...Object.values(manifest.modules),
      ...Object.values(manifest.data),
    ];
    for (const { path, sha256, bytes } of assets) {
      const content = readFileSync(join(folder, path));
      assert.equal(content.length, bytes, path);
      assert.equal(createHash("sha256").update(content).digest("hex"), sha256, path);
    }
  });

  for (const [key, { path }] of Object.entries(manifest.modules)) {
    test(`${name}: ${key} asks only for what the loader gives`, async () => {
      const module = await WebAssembly.compile(readFileSync(join(folder, path)));
      for (const wanted of WebAssembly.Module.imports(module)) {
        assert.ok(
          allowedImports.includes(`${wanted.module}.${wanted.name}`),
          `${wanted.module}.${wanted.name}`,
        );
      }
    });

    const [slug, what] = key.split("/") as [string, string];
    if (what !== "lab") continue;
    test(`${name}: ${slug} gives every value of its record in Node`, async () => {
      const record = JSON.parse(
        readFileSync(join(folder, slug, "verify.json"), "utf8"),
      ) as VerifyRecord;
      const instance = await Instance.create(readFileSync(join(folder, path)));
      const data = record.data.map(({ name: item }) => {
        const asset = manifest.data[`${slug}/${item}`];
        assert.ok(asset, `the site has the data ${item}`);
        const bytes = readFileSync(join(folder, asset.path));
        return {
          name: item,
          bytes: new Uint8Array(asset.path.endsWith(".gz") ? gunzipSync(bytes) : bytes),
        };
      });
      const { profile, args } = record;
      const report = JSON.parse(runLab(instance, { profile, args, data })) as Report;
      const wrong = compare(record, report).filter(({ equal }) => !equal);
      assert.deepEqual(wrong, []);
      assert.ok(record.figures.length + record.tables.length > 0);
    });
  }
}
