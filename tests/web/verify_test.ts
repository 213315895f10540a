// SPDX-License-Identifier: Apache-2.0
// Native = WebAssembly in Chromium, by the very button that readers press; and what tampering comes to.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import type { Browser, Page } from "playwright-core";

import { launch, open, serve, type Serving, site } from "./harness.ts";

const sites = [site("dist"), site("sample_site")];
const sample = sites[1]!;
let browser: Browser;

before(async () => {
  browser = await launch();
});
after(() => browser.close());

/** Presses Verify and waits for the end: the panel's state and its sentence. */
async function verify(page: Page, timeout = 120_000): Promise<{ state: string; words: string }> {
  await page.locator(".verify button.main").click();
  await page.waitForFunction(
    () =>
      !["running", undefined].includes(
        document.querySelector<HTMLElement>(".verify")?.dataset["state"],
      ),
    undefined,
    { timeout },
  );
  return page.evaluate(() => ({
    state: document.querySelector<HTMLElement>(".verify")!.dataset["state"]!,
    words: document.querySelector(".verify output")!.textContent!,
  }));
}

for (const one of sites) {
  for (const slug of one.articles) {
    test(`${one.name}/${slug}: every value comes out the same in Chromium`, async () => {
      const serving: Serving = await serve(one.folder);
      const { page, errors, close } = await open(browser, `${serving.address}${slug}/`);
      const { state, words } = await verify(page);
      assert.equal(state, "verified", words);
      const [, same, all] = /^(\d+) of (\d+) exact/.exec(words) ?? [];
      assert.ok(same !== undefined && same === all, words);
      const unmarked = await page.evaluate(
        () => document.querySelectorAll('[data-verified="no"]').length,
      );
      assert.equal(unmarked, 0);
      assert.deepEqual(errors, []);
      await close();
      await serving.close();
    });
  }
}

async function tampered(
  change: (path: string, bytes: Buffer) => Buffer | string,
): Promise<{ state: string; words: string; page: Page; end(): Promise<void> }> {
  const serving = await serve(sample.folder, change);
  const { page, close } = await open(browser, `${serving.address}sample/`);
  const outcome = await verify(page);
  return {
    ...outcome,
    page,
    end: async () => {
      await close();
      await serving.close();
    },
  };
}

test("a changed digit in a record is a mismatch, shown in full", async () => {
  const { state, words, page, end } = await tampered((path, bytes) => {
    if (!path.endsWith("verify.json")) return bytes;
    const record = JSON.parse(bytes.toString()) as { figures: { id: string; hash: string }[] };
    const figure = record.figures.find(({ id }) => id === "forward")!;
    figure.hash = figure.hash.replace(/.$/, (digit) => (digit === "0" ? "1" : "0"));
    return JSON.stringify(record);
  });
  assert.equal(state, "mismatch");
  assert.match(words, /^4 of 5 exact/);
  assert.equal(await page.locator('[data-fig="forward"][data-verified="no"]').count(), 1);
  const shown = await page.locator(".mismatch").innerText();
  assert.match(shown, /largest term first \(forward\)/);
  assert.match(shown, /Chrom/, "the report names the browser");
  await end();
});

test("a changed cell of a table is a mismatch that names the place", async () => {
  const { state, page, end } = await tampered((path, bytes) => {
    if (path.endsWith("records/browser/sums.csv"))
      // A quoted cell is the same cell.
      return bytes
        .toString()
        .replace(/^16,/m, '"16",')
        .replace(/^64,.*$/m, "64,1,2");
    if (!path.endsWith("verify.json")) return bytes;
    return bytes.toString().replace(/("id":"sums"[^}]*"hash":")./, (_, head: string) => `${head}x`);
  });
  assert.equal(state, "mismatch");
  await page.getByText("row 3, column 2: expected 1,").waitFor();
  await end();
});

test("a changed byte of the module is found before it runs", async () => {
  const { state, words, end } = await tampered((path, bytes) => {
    if (!/sample-lab.*\.wasm$/.test(path)) return bytes;
    const other = Buffer.from(bytes);
    other[other.length - 1]! ^= 1;
    return other;
  });
  assert.equal(state, "module-mismatch");
  assert.match(words, /not the one that was built/);
  await end();
});

test("a missing module is said in words", async () => {
  const { state, words, end } = await tampered((path, bytes) => {
    if (/sample-lab.*\.wasm$/.test(path)) throw new Error("gone");
    return bytes;
  });
  assert.equal(state, "failed");
  assert.match(words, /could not run.*404/);
  await end();
});

test("a policy without wasm is said in words", async () => {
  const strict = "default-src 'self'";
  const serving = await serve(
    sample.folder,
    (path, bytes) =>
      path.endsWith(".html") ? bytes.toString().replace(/<meta http-equiv[^>]*>/, "") : bytes,
    { "content-security-policy": strict },
  );
  const { page, close } = await open(browser, `${serving.address}sample/`);
  const { state, words } = await verify(page);
  assert.equal(state, "failed");
  assert.match(words, /could not run in this browser/);
  await close();
  await serving.close();
});

test("Stop ends a verification", async () => {
  const serving = await serve(sample.folder, (path, bytes) => {
    // A long run: the knob is in the record.
    if (!path.endsWith("verify.json")) return bytes;
    return bytes.toString().replace(/"n":"\d+"/, '"n":"4000000000"');
  });
  const { page, close } = await open(browser, `${serving.address}sample/`);
  await page.locator(".verify button.main").click();
  await page.waitForTimeout(500);
  const took = await page.evaluate(async () => {
    const panel = document.querySelector<HTMLElement>(".verify")!;
    const ended = new Promise<void>((resolve) =>
      panel.addEventListener("verify-state", () => resolve(), { once: true }),
    );
    const from = performance.now();
    [...panel.querySelectorAll("button")].find((button) => button.textContent === "Stop")!.click();
    await ended;
    return performance.now() - from;
  });
  assert.ok(took < 100, `it took ${took} ms`);
  assert.equal(await page.locator(".verify").getAttribute("data-state"), "stopped");
  await close();
  await serving.close();
});
