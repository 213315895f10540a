// SPDX-License-Identifier: Apache-2.0
// What the browser tests share: a static server with the site's policy, and Debian's Chromium.

import { readdirSync, readFileSync, statSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";

import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from "playwright-core";

const root = process.env["WORKSPACE_ROOT"]!;

/** A built site under test: the real one, or the sample with one small page. */
export interface Site {
  readonly name: string;
  readonly folder: string;
  /** Slugs of its articles. */
  readonly articles: readonly string[];
}

export function site(name: "dist" | "sample_site"): Site {
  const folder = join(root, "web/site", name);
  const articles = readdirSync(folder)
    .filter((entry) => statSync(join(folder, entry)).isDirectory() && entry !== "assets")
    .sort();
  return { name, folder, articles };
}

/** Paths of all the pages of a site, relative to its top. */
export const pagesOf = (of: Site): string[] => [
  "index.html",
  ...of.articles.map((slug) => `${slug}/index.html`),
];

export const policy =
  "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; object-src 'none'; base-uri 'none'; frame-ancestors 'self'";

const types: Readonly<Record<string, string>> = {
  ".css": "text/css",
  ".csv": "text/csv",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
  ".woff2": "font/woff2",
};

export interface Serving {
  readonly address: string;
  close(): Promise<void>;
}

/**
 * Serves a folder on 127.0.0.1.
 * @param change may give other bytes for a path: how the tests tamper with what arrives
 */
export async function serve(
  folder: string,
  change: (path: string, bytes: Buffer) => Buffer | string = (_, bytes) => bytes,
  headers: Readonly<Record<string, string>> = { "content-security-policy": policy },
): Promise<Serving> {
  const server: Server = createServer((request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url!, "http://x").pathname)).replace(
      /\/$/,
      "/index.html",
    );
    let bytes: Buffer | string;
    try {
      bytes = change(path.slice(1), readFileSync(join(folder, path)));
    } catch {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, {
      "content-type": types[extname(path)] ?? "application/octet-stream",
      "access-control-allow-origin": "*",
      "cache-control": "no-cache",
      ...headers,
    });
    response.end(bytes);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    address: `http://127.0.0.1:${port}/`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

export const launch = (): Promise<Browser> =>
  chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--disable-dev-shm-usage",
    ],
  });

/** A page that keeps count of what must not happen. */
export interface Watched {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Requests to anywhere but the server. */
  readonly foreign: string[];
  /** Violations of the policy, script errors, and errors on the console. */
  readonly errors: string[];
  close(): Promise<void>;
}

export async function open(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<Watched> {
  const context = await browser.newContext(options);
  const foreign: string[] = [];
  const errors: string[] = [];
  await context.route("**/*", async (route) => {
    const target = new URL(route.request().url());
    if (["127.0.0.1", "localhost", ""].includes(target.hostname)) return route.continue();
    foreign.push(target.href);
    return route.abort();
  });
  const page = await context.newPage();
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error") errors.push(message.text());
  });
  await page.goto(url, { waitUntil: "load" });
  return { page, context, foreign, errors, close: () => context.close() };
}

/** Waits until a demo is in one of the states. */
export async function waitForState(
  page: Page,
  selector: string,
  states: readonly string[],
  timeout = 20_000,
): Promise<string> {
  const handle = await page.waitForFunction(
    ([query, wanted]) => {
      const state = document.querySelector(query as string)?.getAttribute("state");
      return (wanted as string[]).includes(state ?? "") ? state : null;
    },
    [selector, states] as const,
    { timeout },
  );
  return (await handle.jsonValue()) as string;
}

/** Tags of the demos on a page. */
export const demosOf = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll("*")]
      .map((e) => e.localName)
      .filter((name) => name.startsWith("assay-")),
  );

/** Starts a demo by its button, as a reader does, and waits for its first result. */
export async function runDemo(page: Page, tag: string): Promise<string> {
  const demo = page.locator(tag);
  await demo.scrollIntoViewIfNeeded();
  const button = demo.locator("button.main").first();
  const isStatic = async (): Promise<boolean> => (await demo.getAttribute("state")) === "static";
  if (await isStatic()) {
    // Once another demo was used, this one loads by itself when it comes near, and the button goes.
    await button.click({ timeout: 5000 }).catch(async (error: unknown) => {
      if (await isStatic()) throw error;
    });
  }
  return waitForState(page, tag, ["ready", "running", "paused", "done", "failed", "unsupported"]);
}

/** The hash of the last result that a demo has announced. */
export const hashOfDemo = (page: Page, tag: string): Promise<string> =>
  page.evaluate((name) => (document.querySelector(name) as unknown as { hash: string }).hash, tag);
