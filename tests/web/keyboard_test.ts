// SPDX-License-Identifier: Apache-2.0
// A walk through every page with Tab alone: everything that can be operated is reached, seen, and left again.

import assert from "node:assert/strict";
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

/** Gives every operable element a number, in demos too, and returns how many there are. */
const numberAll = (page: Page): Promise<number> =>
  page.evaluate(() => {
    let count = 0;
    const visit = (root: Document | ShadowRoot): void => {
      const query = "a[href], button, input, select, summary, [tabindex='0']";
      for (const element of root.querySelectorAll<HTMLElement>(query)) {
        const seen = element.checkVisibility({ visibilityProperty: true });
        if (seen && !element.hasAttribute("disabled")) element.dataset["walk"] = String(count++);
      }
      for (const element of root.querySelectorAll("*"))
        if (element.shadowRoot) visit(element.shadowRoot);
    };
    visit(document);
    return count;
  });

/** The number of the focused element, and whether one can see where it is. */
const focused = (page: Page): Promise<{ number: string | undefined; ring: boolean }> =>
  page.evaluate(() => {
    let element = document.activeElement;
    while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
    const style = element ? getComputedStyle(element) : undefined;
    return {
      number: (element as HTMLElement | null)?.dataset["walk"],
      ring:
        style !== undefined && style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0,
    };
  });

for (const one of sites) {
  for (const path of pagesOf(one)) {
    test(`${one.name}/${path}`, { timeout: 120_000 }, async () => {
      const { page, close } = await open(browser, servings.get(one.name)!.address + path);
      for (const tag of await demosOf(page)) {
        await runDemo(page, tag);
        await waitForState(page, tag, ["ready", "done", "paused", "failed"], 30_000);
      }
      await page.evaluate(() => {
        (document.activeElement as HTMLElement | null)?.blur();
        scrollTo(0, 0);
      });
      // Start from the top, whatever had the focus.
      await page.evaluate(() => {
        document.body.tabIndex = -1;
        document.body.focus();
      });
      const count = await numberAll(page);
      const reached = new Set<string>();
      for (let i = 0; i < count + 40; i++) {
        await page.keyboard.press("Tab");
        const { number, ring } = await focused(page);
        if (number === undefined) continue;
        assert.ok(ring, `element ${number} shows its focus`);
        reached.add(number);
      }
      const missed = Array.from({ length: count }, (_, i) => String(i)).filter(
        (number) => !reached.has(number),
      );
      const words = await page.evaluate((numbers) => {
        const found: string[] = [];
        const visit = (root: Document | ShadowRoot): void => {
          for (const element of root.querySelectorAll<HTMLElement>("[data-walk]")) {
            if (numbers.includes(element.dataset["walk"]!))
              found.push(element.outerHTML.slice(0, 100));
          }
          for (const element of root.querySelectorAll("*"))
            if (element.shadowRoot) visit(element.shadowRoot);
        };
        visit(document);
        return found;
      }, missed);
      assert.deepEqual(words, []);
      await close();
    });
  }
}
