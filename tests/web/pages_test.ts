// SPDX-License-Identifier: Apache-2.0
// Every page as a reader meets it: offline, without scripts, from a folder, narrow, still, in outline.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { after, before, test } from "node:test";

import type { Browser } from "playwright-core";

import { launch, open, pagesOf, serve, type Serving, site } from "./harness.ts";

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

const outline = (): {
  text: number;
  figures: number;
  tables: number;
  maths: number;
  numbers: number;
} => ({
  text: document.body.innerText.length,
  figures: document.querySelectorAll("figure svg").length,
  tables: document.querySelectorAll("table tbody tr").length,
  maths: document.querySelectorAll(".katex").length,
  numbers: document.querySelectorAll("[data-fig]").length,
});

for (const one of sites) {
  for (const path of pagesOf(one)) {
    const what = `${one.name}/${path}`;
    const url = (): string => servings.get(one.name)!.address + path;

    test(`${what} asks for nothing elsewhere and breaks no policy`, async () => {
      const watched = await open(browser, url());
      await watched.page.waitForTimeout(300);
      assert.deepEqual(watched.foreign, []);
      assert.deepEqual(watched.errors, []);
      await watched.close();
    });

    test(`${what} is complete without scripts and from a folder`, async () => {
      const served = await open(browser, url());
      const whole = await served.page.evaluate(outline);
      await served.close();
      const plain = await open(browser, url(), { javaScriptEnabled: false });
      // With scripts off nothing can be evaluated: count in the source of the page as parsed.
      assert.equal(await plain.page.locator("figure svg").count(), whole.figures);
      assert.equal(await plain.page.locator("table tbody tr").count(), whole.tables);
      assert.equal(await plain.page.locator(".katex").count(), whole.maths);
      assert.equal(await plain.page.locator("[data-fig]").count(), whole.numbers);
      for (const figure of await plain.page.locator("[data-fig] .v").all()) {
        assert.match(await figure.innerText(), /\S/);
      }
      await plain.close();
      const file = await open(browser, pathToFileURL(join(one.folder, path)).href);
      const fromFolder = await file.page.evaluate(outline);
      assert.equal(fromFolder.figures, whole.figures);
      assert.equal(fromFolder.tables, whole.tables);
      assert.equal(fromFolder.maths, whole.maths);
      assert.equal(fromFolder.numbers, whole.numbers);
      const background = await file.page.evaluate(
        () => getComputedStyle(document.documentElement).backgroundColor,
      );
      assert.notEqual(background, "rgba(0, 0, 0, 0)", "the style sheet loads from a folder");
      assert.deepEqual(file.foreign, []);
      await file.close();
    });

    test(`${what} has one h1, no skipped heading, a name for each picture and its rows`, async () => {
      const { page, close } = await open(browser, url());
      const levels = await page.evaluate(() =>
        [...document.querySelectorAll("h1,h2,h3,h4,h5,h6")].map((h) => Number(h.localName[1])),
      );
      assert.equal(levels.filter((level) => level === 1).length, 1);
      assert.equal(levels[0], 1);
      levels.forEach((level, i) =>
        assert.ok(i === 0 || level <= levels[i - 1]! + 1, `levels ${levels.join(" ")}`),
      );
      const nameless = await page.evaluate(
        () =>
          [...document.querySelectorAll("svg[role=img]")].filter((svg) => {
            const of = (name: string): string =>
              document.getElementById(svg.getAttribute(name) ?? "")?.textContent?.trim() ?? "";
            return of("aria-labelledby") === "" || of("aria-describedby") === "";
          }).length,
      );
      assert.equal(nameless, 0);
      const charts = await page.evaluate(() =>
        [...document.querySelectorAll("figure.chart, figure.table")].map((figure) => ({
          id: figure.id,
          rows: figure.querySelectorAll("tbody tr").length,
          csv: figure.querySelector('a[href$=".csv"]')?.getAttribute("href") ?? "",
          measured: figure.classList.contains("measured"),
        })),
      );
      for (const { id, rows, csv, measured } of charts) {
        if (measured) {
          // Its rows are figures of a record of timings.
          assert.ok(rows > 0, `${id}: no rows`);
          continue;
        }
        const lines =
          readFileSync(join(one.folder, path, "..", csv), "utf8")
            .trimEnd()
            .split("\n").length - 1;
        assert.equal(rows, lines, `${id}: rows of the table and of ${csv}`);
      }
      await close();
    });

    test(`${what}: charts can be read by pointer and by keyboard`, async () => {
      const { page, close } = await open(browser, url());
      for (const figure of await page.locator("figure.chart[data-read]").all()) {
        const slider = figure.locator(".reading input");
        await slider.focus();
        const before = await slider.getAttribute("aria-valuetext");
        await slider.press("ArrowRight");
        const after = await slider.getAttribute("aria-valuetext");
        assert.notEqual(after, before);
        assert.equal(await figure.locator(".reading span").innerText(), after);
        assert.equal(await figure.locator("svg.plot.w .cursor").count(), 1);
        await slider.blur();
        assert.equal(await figure.locator(".cursor").count(), 0);
        const picture = figure.locator("svg.plot.w");
        await picture.scrollIntoViewIfNeeded();
        await picture.hover();
        assert.match(await figure.locator(".reading span").innerText(), /\S: \S/);
      }
      await close();
    });

    for (const width of [320, 390]) {
      test(`${what} scrolls in one direction only at ${width} px`, async () => {
        const { page, close } = await open(browser, url(), { viewport: { width, height: 640 } });
        const wide = await page.evaluate(
          () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
        );
        assert.equal(wide, 0);
        const stuck = await page.evaluate(() =>
          [...document.querySelectorAll<HTMLElement>("*")]
            .filter(
              (e) =>
                e.scrollWidth > e.clientWidth + 1 &&
                ["auto", "scroll"].includes(getComputedStyle(e).overflowX),
            )
            .filter((e) => e.tabIndex < 0)
            .map((e) => e.outerHTML.slice(0, 80)),
        );
        assert.deepEqual(stuck, [], "what scrolls sideways can be reached by keyboard");
        await close();
      });
    }

    test(`${what} keeps still with reduced motion`, async () => {
      const { page, close } = await open(browser, url(), { reducedMotion: "reduce" });
      await page.waitForTimeout(1000);
      const running = await page.evaluate(
        () => document.getAnimations().filter((a) => a.playState === "running").length,
      );
      assert.equal(running, 0);
      await close();
    });
  }
}
