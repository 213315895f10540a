// SPDX-License-Identifier: Apache-2.0
// axe-core on every page, light and dark, before and after its demos have run.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";

import type { Browser, Page } from "playwright-core";

import {
  demosOf,
  launch,
  open,
  pagesOf,
  runDemo,
  serve,
  type Serving,
  site,
  waitForState,
} from "./harness.ts";

const axeSource = readFileSync(
  createRequire(import.meta.url).resolve("axe-core/axe.min.js"),
  "utf8",
);
const sites = [site("dist"), site("sample_site")];
let browser: Browser;
const servings = new Map<string, Serving>();

before(async () => {
  browser = await launch();
  for (const one of sites) servings.set(one.name, await serve(one.folder));
});
after(async () => {
  await browser.close();
  for (const serving of servings.values()) await serving.close();
});

async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axeSource);
  return page.evaluate(async () => {
    interface Axe {
      run(): Promise<{
        violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[];
      }>;
    }
    const { violations: found } = await (globalThis as unknown as { axe: Axe }).axe.run();
    return found.flatMap(({ id, nodes }) =>
      nodes.map((node) => `${id}: ${node.html.slice(0, 160)} ${node.failureSummary ?? ""}`),
    );
  });
}

for (const one of sites) {
  for (const path of pagesOf(one)) {
    test(`${one.name}/${path}`, async () => {
      const url = servings.get(one.name)!.address + path;
      // Playwright evaluates axe outside the page's policy.
      const { page, close } = await open(browser, url, { colorScheme: "light", bypassCSP: true });
      const check = async (what: string): Promise<void> => {
        for (const colorScheme of ["light", "dark"] as const) {
          await page.emulateMedia({ colorScheme });
          assert.deepEqual(await violations(page), [], `${what}, ${colorScheme}`);
        }
      };
      await check("as it loads");
      const demos = await demosOf(page);
      for (const tag of demos) {
        await runDemo(page, tag);
        await waitForState(page, tag, ["ready", "done", "paused", "failed"], 60_000);
      }
      for (const details of await page.locator("details").all()) {
        await details.evaluate((e) => ((e as HTMLDetailsElement).open = true));
      }
      const figure = page.locator(".fig").first();
      if ((await figure.count()) > 0) await figure.click();
      await check("with demos run, everything unfolded and a figure's evidence open");
      await close();
    });
  }
}
