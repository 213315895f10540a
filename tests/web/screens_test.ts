// SPDX-License-Identifier: Apache-2.0
// Pictures of every page, wide and narrow, light and dark: kept with the test's outputs for people to look at, and taken
// twice under different locales and time zones, since a page must not look different for them.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import pixelmatch from "pixelmatch";
import type { Browser } from "playwright-core";
import { PNG } from "pngjs";

import { launch, open, pagesOf, serve, type Serving, site } from "./harness.ts";

const out = process.env["TEST_UNDECLARED_OUTPUTS_DIR"];
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

for (const one of sites) {
  for (const path of pagesOf(one)) {
    for (const [width, height] of [
      [1280, 900],
      [390, 844],
    ] as const) {
      for (const colorScheme of ["light", "dark"] as const) {
        const name = `${one.name}-${path.replace(/\/?index\.html$/, "") || "home"}-${width}-${colorScheme}.png`;
        test(name, async () => {
          const shot = async (locale: string, timezoneId: string): Promise<PNG> => {
            const viewport = { width, height };
            const { page, close } = await open(browser, servings.get(one.name)!.address + path, {
              viewport,
              colorScheme,
              locale,
              timezoneId,
            });
            await page.evaluate(() => document.fonts.ready);
            const bytes = await page.screenshot({ fullPage: true, animations: "disabled" });
            await close();
            return PNG.sync.read(bytes);
          };
          const first = await shot("en-GB", "UTC");
          if (out) {
            mkdirSync(out, { recursive: true });
            writeFileSync(join(out, name), PNG.sync.write(first));
          }
          // Once a page is enough: what a locale changes, it changes at every size.
          if (width !== 390 || colorScheme !== "light") return;
          const second = await shot("tr-TR", "Asia/Kathmandu");
          assert.deepEqual([second.width, second.height], [first.width, first.height]);
          const different = pixelmatch(
            first.data,
            second.data,
            undefined,
            first.width,
            first.height,
          );
          assert.ok(different <= 0.001 * first.width * first.height, `${different} pixels differ`);
        });
      }
    }
  }
}
