// SPDX-License-Identifier: Apache-2.0
// A page of another origin embeds a demo by two lines: a module script and a tag.

import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import type { Browser } from "playwright-core";

import {
  hashOfDemo,
  launch,
  open,
  runDemo,
  serve,
  type Serving,
  site,
  waitForState,
} from "./harness.ts";

let browser: Browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

/** A foreign page with nothing but the two lines. */
async function foreignPage(body: string): Promise<Serving> {
  const folder = mkdtempSync(join(process.env["TEST_TMPDIR"] ?? tmpdir(), "foreign-"));
  writeFileSync(
    join(folder, "index.html"),
    `<!doctype html><html lang="en"><title>Elsewhere</title><body style="color-scheme: dark">${body}</body></html>`,
  );
  return serve(folder, undefined, {});
}

for (const name of ["dist", "sample_site"] as const) {
  const from = site(name);
  for (const slug of from.articles) {
    test(`${name}/${slug} runs on another origin with the same result`, async () => {
      const home = await serve(from.folder);
      const own = await open(browser, `${home.address}${slug}/`);
      const tag = await own.page.evaluate(
        () =>
          [...document.querySelectorAll("*")].find((e) => e.localName.startsWith("assay-"))
            ?.localName,
      );
      if (tag === undefined) {
        await own.close();
        await home.close();
        return;
      }
      const attributes = await own.page.evaluate(
        (t) =>
          [...document.querySelector(t)!.attributes]
            .filter(({ name: key }) => !["class", "data-bytes", "state"].includes(key))
            .map(({ name: key, value }) => `${key}="${value}"`)
            .join(" "),
        tag,
      );
      await runDemo(own.page, tag);
      await waitForState(own.page, tag, ["ready", "done", "paused"], 30_000);
      const expected = await hashOfDemo(own.page, tag);
      await own.close();

      const elsewhere = await foreignPage(
        `<script type="module" src="${home.address}${slug}/demo.js"></script>\n<${tag} ${attributes}></${tag}>`,
      );
      assert.notEqual(new URL(elsewhere.address).origin, new URL(home.address).origin);
      const { page, errors, close } = await open(browser, elsewhere.address);
      await waitForState(page, tag, ["static"]);
      await runDemo(page, tag);
      await waitForState(page, tag, ["ready", "done", "paused"], 30_000);
      assert.equal(await hashOfDemo(page, tag), expected);
      assert.equal(page.workers().length > 0, true);
      assert.deepEqual(
        errors.filter((text) => !text.includes("favicon")),
        [],
      );
      await close();
      await elsewhere.close();
      await home.close();
    });
  }
}
