// SPDX-License-Identifier: Apache-2.0
// The contract of demos, on the sample's demo (which has a knob to misbehave) and on every demo of the site.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import type { Browser, Page } from "playwright-core";

import {
  demosOf,
  hashOfDemo,
  launch,
  open,
  runDemo,
  serve,
  type Serving,
  site,
  waitForState,
} from "./harness.ts";

const dist = site("dist");
let browser: Browser;
let sample: Serving;
let real: Serving;

before(async () => {
  browser = await launch();
  sample = await serve(site("sample_site").folder);
  real = await serve(dist.folder);
});
after(async () => {
  await browser.close();
  await sample.close();
  await real.close();
});

const tag = "assay-sample";
const begin = async (hash = "", options = {}): Promise<Awaited<ReturnType<typeof open>>> =>
  open(browser, `${sample.address}sample/${hash}`, options);
const state = (page: Page): Promise<string | null> => page.locator(tag).getAttribute("state");
const workers = (page: Page): number => page.workers().length;
const value = (page: Page, name: string): Promise<unknown> =>
  page.evaluate(
    ([t, n]) =>
      (document.querySelector(t!) as unknown as { values: Record<string, unknown> }).values[n!],
    [tag, name],
  );

/** Waits for words in the demo: its live text comes at most once a second. */
const says = (page: Page, words: RegExp): Promise<void> =>
  page.locator(tag).getByText(words).first().waitFor({ timeout: 5000 });

async function until(condition: () => boolean, what: string, ms = 3000): Promise<void> {
  const end = Date.now() + ms;
  while (!condition()) {
    assert.ok(Date.now() < end, what);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test("before a click there is a picture, a button with the size, no worker and no module", async () => {
  const { page, context, close } = await begin();
  const fetched: string[] = [];
  context.on("request", (request) => fetched.push(request.url()));
  await page.locator(tag).scrollIntoViewIfNeeded();
  await page.waitForTimeout(300);
  assert.equal(await state(page), "static");
  assert.ok(await page.locator(`${tag} figure svg.plot.w`).isVisible());
  assert.match(await page.locator(`${tag} button.main`).innerText(), /Run it here \(\d+ KB\)/);
  assert.equal(workers(page), 0);
  assert.deepEqual(
    fetched.filter((url) => url.endsWith(".wasm")),
    [],
  );
  await close();
});

test("a click loads it; the states come in order and the result is announced", async () => {
  const { page, errors, close } = await begin();
  await page.evaluate((t) => {
    const log: string[] = [];
    Object.assign(globalThis, { log });
    document.addEventListener("demo-state", (event) =>
      log.push((event as CustomEvent<{ state: string }>).detail.state),
    );
    document.addEventListener("demo-result", (event) =>
      log.push(`result ${(event as CustomEvent<{ hash: string }>).detail.hash.length}`),
    );
    void t;
  }, tag);
  await runDemo(page, tag);
  await waitForState(page, tag, ["ready"]);
  const log = await page.evaluate(() => (globalThis as unknown as { log: string[] }).log);
  assert.deepEqual(log, ["loading", "ready", "result 64"]);
  await says(page, /After 64 terms the sum is 4\.74389\./);
  assert.equal(workers(page), 1);
  assert.deepEqual(errors, []);
  await close();
});

test("the timeline plays to its end and stops by itself", async () => {
  const { page, close } = await begin("#sample=n:12");
  await runDemo(page, tag);
  await waitForState(page, tag, ["ready"]);
  await page.locator(`${tag} button`, { hasText: "Play" }).click();
  await waitForState(page, tag, ["running"]);
  await waitForState(page, tag, ["done"]);
  await says(page, /step 12 of 12/);
  await page.locator(`${tag} button`, { hasText: "Back" }).click();
  await waitForState(page, tag, ["paused"]);
  await says(page, /step 11 of 12/);
  await close();
});

test("the link holds the state: same hash after a reload, also after changes", async () => {
  const { page, close } = await begin("#sample=n:100,seed:7");
  await runDemo(page, tag);
  await waitForState(page, tag, ["ready"]);
  const first = await hashOfDemo(page, tag);
  await page.reload();
  await runDemo(page, tag);
  await waitForState(page, tag, ["ready"]);
  assert.equal(await hashOfDemo(page, tag), first);
  await page.locator(`${tag} input[type=number]`).first().fill("200");
  await page.keyboard.press("Enter");
  await page.waitForFunction(
    ([t, old]) => {
      const demo = document.querySelector(t!) as unknown as { hash: string; state: string };
      return demo.hash !== old && demo.state === "ready";
    },
    [tag, first],
  );
  assert.match(page.url(), /#sample=n:200,seed:7/);
  const changed = await hashOfDemo(page, tag);
  await page.reload();
  await runDemo(page, tag);
  await waitForState(page, tag, ["ready"]);
  assert.equal(await hashOfDemo(page, tag), changed);
  await close();
});

test("Reset gives the hash of the link back, New seed another seed", async () => {
  const { page, close } = await begin("#sample=n:100,seed:7");
  await runDemo(page, tag);
  await waitForState(page, tag, ["ready"]);
  const first = await hashOfDemo(page, tag);
  await page.locator(`${tag} input[type=number]`).first().fill("150");
  await page.keyboard.press("Enter");
  await page.waitForTimeout(300);
  assert.notEqual(await hashOfDemo(page, tag), first);
  await page.locator(`${tag} button`, { hasText: "Reset" }).click();
  await page.waitForTimeout(300);
  assert.equal(await hashOfDemo(page, tag), first);
  await page.locator(`${tag} button`, { hasText: "New seed" }).click();
  assert.notEqual(await value(page, "seed"), 7);
  await close();
});

test("a changed link is followed, also beside a part that reads alike", async () => {
  const { page, close } = await begin();
  await runDemo(page, tag);
  await waitForState(page, tag, ["ready"]);
  await page.locator(`${tag} input[type=number]`).first().fill("65");
  await page.keyboard.press("Enter");
  await says(page, /After 65 terms/);
  assert.equal(await page.evaluate(() => location.hash), "#sample=n:65,seed:7,mood:good");
  await page.evaluate(() => {
    location.hash = "#my-sample=n:65,seed:7,mood:good&sample=n:7";
  });
  await says(page, /After 7 terms/);
  assert.equal(await value(page, "n"), 7);
  await page.evaluate(() => {
    location.hash = "#my-sample=n:9";
  });
  await page.waitForTimeout(100);
  assert.equal(await value(page, "n"), 7);
  await close();
});

test("what a link gets wrong is clamped or ignored, and said", async () => {
  const { page, close } = await begin("#sample=n:999999,seed:-3,mood:angry,colour:red");
  assert.equal(await value(page, "n"), 4096);
  assert.equal(await value(page, "seed"), 0);
  assert.equal(await value(page, "mood"), "good");
  await says(page, /999999 is out of range/);
  await says(page, /"angry" makes no sense/);
  await says(page, /"colour" is no parameter/);
  await close();
});

test("Stop ends an endless call within 100 ms, and the demo goes on after it", async () => {
  const { page, close } = await begin();
  await runDemo(page, tag);
  await waitForState(page, tag, ["ready"]);
  await page.locator(`${tag} select`).selectOption("endless");
  await waitForState(page, tag, ["running"]);
  await page.waitForTimeout(200);
  const took = await page.evaluate(async (t) => {
    const demo = document.querySelector(t)!;
    const ended = new Promise<void>((resolve) =>
      demo.addEventListener("demo-state", () => resolve(), { once: true }),
    );
    const from = performance.now();
    [...demo.shadowRoot!.querySelectorAll("button")]
      .find((b) => b.textContent?.trim() === "Stop")!
      .click();
    await ended;
    return performance.now() - from;
  }, tag);
  assert.ok(took < 100, `it took ${took} ms`);
  assert.equal(await state(page), "paused");
  await page.locator(`${tag} select`).selectOption("good");
  await waitForState(page, tag, ["ready"]);
  await close();
});

for (const how of ["Stop while loading", "a move on the page"]) {
  test(`after ${how}, Run again does not wait for the old computation`, async () => {
    const { page, close } = await begin();
    await page.evaluate(
      ([t, moved]) => {
        const demo = document.querySelector(t!) as HTMLElement & {
          compute?(): Promise<never>;
          stop(): void;
          load(): Promise<void>;
        };
        // A computation that waits for something which never comes, as for data on a dead line.
        const began = new Promise<void>((resolve) => {
          demo.compute = () => {
            resolve();
            return new Promise(() => {});
          };
        });
        void demo.load();
        return began.then(() => {
          delete demo.compute;
          if (moved) document.querySelector("main")!.append(demo);
          else demo.stop();
          void demo.load();
        });
      },
      [tag, how === "a move on the page" ? "moved" : ""],
    );
    await waitForState(page, tag, ["ready"], 5000);
    await close();
  });
}

test("Escape stops too", async () => {
  const { page, close } = await begin();
  await runDemo(page, tag);
  await waitForState(page, tag, ["ready"]);
  await page.locator(`${tag} select`).selectOption("endless");
  await waitForState(page, tag, ["running"]);
  await page.locator(`${tag} select`).press("Escape");
  await waitForState(page, tag, ["paused"], 1000);
  await close();
});

test("an endless call ends by itself, in words", { timeout: 40_000 }, async () => {
  const { page, close } = await begin();
  await runDemo(page, tag);
  await waitForState(page, tag, ["ready"]);
  await page.locator(`${tag} select`).selectOption("endless");
  await waitForState(page, tag, ["failed"], 20_000);
  await says(page, /stopped after 10 s/);
  await close();
});

test("a trap is a result in words, and the demo goes on after it", async () => {
  const { page, close } = await begin();
  await runDemo(page, tag);
  await waitForState(page, tag, ["ready"]);
  await page.locator(`${tag} select`).selectOption("trap");
  await waitForState(page, tag, ["failed"]);
  await page.getByText(/out of bounds/).waitFor();
  await page.locator(`${tag} select`).selectOption("good");
  await waitForState(page, tag, ["ready"]);
  await close();
});

test("a hidden tab and a demo off screen pause, and go on when seen again", async () => {
  const { page, close } = await begin("#sample=n:2000");
  await runDemo(page, tag);
  await waitForState(page, tag, ["ready"]);
  await page.locator(`${tag} button`, { hasText: "Play" }).click();
  await waitForState(page, tag, ["running"]);
  await page.evaluate(() => {
    Object.defineProperty(document, "hidden", { value: true, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  });
  assert.equal(await state(page), "paused");
  const step = (): Promise<number> =>
    page.evaluate((t) => (document.querySelector(t) as unknown as { k: number }).k, tag);
  const before = await step();
  await page.waitForTimeout(300);
  assert.equal(await step(), before);
  await page.evaluate(() => {
    Object.defineProperty(document, "hidden", { value: false, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  });
  await waitForState(page, tag, ["running"]);
  await page.evaluate(() => scrollTo(0, 0));
  await waitForState(page, tag, ["paused"]);
  await page.locator(tag).scrollIntoViewIfNeeded();
  await waitForState(page, tag, ["running"]);
  await close();
});

test("with reduced motion there are steps and no play", async () => {
  const { page, close } = await begin("#sample=n:5", { reducedMotion: "reduce" });
  await runDemo(page, tag);
  await waitForState(page, tag, ["ready"]);
  assert.equal(await page.locator(`${tag} button`, { hasText: "Play" }).count(), 0);
  await page.locator(`${tag} button`, { hasText: "Step" }).click();
  await waitForState(page, tag, ["paused"]);
  await says(page, /step 1 of 5/);
  await close();
});

test("taken off the page, a demo gives its worker back; fifty mounts leak none", async () => {
  const { page, close } = await begin();
  await runDemo(page, tag);
  await waitForState(page, tag, ["ready"]);
  assert.equal(workers(page), 1);
  await page.evaluate((t) => document.querySelector(t)!.remove(), tag);
  await until(() => workers(page) === 0, "the worker ends");
  for (let i = 0; i < 50; i++) {
    await page.evaluate(async (t) => {
      const demo = document.createElement(t) as HTMLElement & { load(): Promise<void> };
      document.querySelector("main")!.append(demo);
      await demo.load();
      demo.remove();
    }, tag);
  }
  await until(() => workers(page) === 0, "all workers end");
  await close();
});

test("many demos at once share the pool", async () => {
  const { page, close } = await begin();
  const states = await page.evaluate(async (t) => {
    const demos = Array.from(
      { length: 8 },
      () => document.createElement(t) as HTMLElement & { load(): Promise<void>; state: string },
    );
    demos.forEach((demo) => document.querySelector("main")!.append(demo));
    await Promise.all(demos.map((demo) => demo.load()));
    return demos.map((demo) => demo.state);
  }, tag);
  assert.deepEqual(states, Array(8).fill("ready"));
  assert.ok(workers(page) <= 4, `${workers(page)} workers`);
  await close();
});

test("by keyboard alone: reach it, start it, move its slider, hear its result, leave it", async () => {
  const { page, close } = await begin();
  const inside = (): Promise<boolean> =>
    page.evaluate((t) => document.activeElement?.localName === t, tag);
  for (
    let i = 0;
    i < 80 &&
    !(await page.evaluate(
      (t) =>
        document.querySelector(t)!.shadowRoot!.activeElement?.classList.contains("main") === true,
      tag,
    ));
    i++
  ) {
    await page.keyboard.press("Tab");
  }
  assert.ok(await inside(), "Tab reaches the demo");
  await page.keyboard.press("Enter");
  await waitForState(page, tag, ["ready"]);
  assert.ok(await inside(), "the focus stays in the demo when its button goes");
  const range = page.locator(`${tag} input[type=range]`).first();
  await range.focus();
  const before = await value(page, "n");
  await page.keyboard.press("ArrowRight");
  await page.waitForTimeout(1200);
  assert.equal(await value(page, "n"), Number(before) + 1);
  await says(page, /After 65 terms/);
  let steps = 0;
  while ((await inside()) && steps < 40) {
    await page.keyboard.press("Tab");
    steps++;
  }
  assert.ok(!(await inside()), "Tab leaves the demo");
  await close();
});

test("once one demo has been used, another loads when it comes near", async () => {
  const { page, close } = await begin();
  await page.evaluate((t) => {
    const second = document.createElement(t);
    second.id = "second";
    document.querySelector("main")!.append(second);
  }, tag);
  await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
  await page.waitForTimeout(300);
  assert.equal(await page.locator("#second").getAttribute("state"), "static");
  await page.evaluate(() => scrollTo(0, 0));
  await runDemo(page, `${tag}:not(#second)`);
  await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
  await waitForState(page, "#second", ["ready"]);
  await close();
});

test("two demos of a kind keep their states apart in one link", async () => {
  const { page, close } = await begin("#sample=n:10,seed:1&second=n:20,seed:2");
  const values = await page.evaluate((t) => {
    const second = document.createElement(t) as HTMLElement & { values: { n: number } };
    second.id = "second";
    document.querySelector("main")!.append(second);
    const first = document.querySelector(t) as typeof second;
    return [first.values.n, second.values.n];
  }, tag);
  assert.deepEqual(values, [10, 20]);
  await close();
});

test("without WebAssembly the figure stays, with a sentence", async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.addInitScript(() => Reflect.deleteProperty(globalThis, "WebAssembly"));
  await page.goto(`${sample.address}sample/`);
  await waitForState(page, tag, ["unsupported"]);
  await says(page, /runs no WebAssembly/);
  assert.ok(await page.locator(`${tag} figure svg.plot.w`).isVisible());
  await context.close();
});

test("a module that does not come is said, and Try again tries again", async () => {
  let gone = true;
  const serving = await serve(site("sample_site").folder, (path, bytes) => {
    if (gone && /sample-demo.*\.wasm$/.test(path)) throw new Error("gone");
    return bytes;
  });
  const { page, close } = await open(browser, `${serving.address}sample/`);
  await runDemo(page, tag);
  await waitForState(page, tag, ["failed"]);
  await says(page, /did not work out.*404/);
  gone = false;
  await page.locator(`${tag} button`, { hasText: "Try again" }).click();
  await waitForState(page, tag, ["ready"]);
  await close();
  await serving.close();
});

for (const slug of dist.articles) {
  test(`${slug}: its demos run, break no policy, and have the same hash after a reload`, async () => {
    const { page, errors, foreign, close } = await open(browser, `${real.address}${slug}/`);
    const hashes = async (): Promise<string[]> => {
      const found: string[] = [];
      for (const name of await demosOf(page)) {
        await runDemo(page, name);
        assert.notEqual(
          await waitForState(page, name, ["ready", "done", "paused", "failed"], 30_000),
          "failed",
          await page.locator(name).innerText(),
        );
        found.push(await hashOfDemo(page, name));
      }
      return found;
    };
    const first = await hashes();
    await page.reload();
    assert.deepEqual(await hashes(), first);
    assert.deepEqual(errors, []);
    assert.deepEqual(foreign, []);
    for (const width of [320, 390]) {
      await page.setViewportSize({ width, height: 700 });
      await page.waitForTimeout(100);
      const wide = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      assert.equal(wide, 0, `scrolls sideways at ${width} px`);
    }
    await close();
  });
}
