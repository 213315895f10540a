// SPDX-License-Identifier: Apache-2.0
// The lives of modules and workers, with a worker that answers as it is told.

import assert from "node:assert/strict";
import { test } from "node:test";

import { siteRoot } from "./manifest.ts";
import { Module, pool } from "./pool.ts";
import type { Request } from "./protocol.ts";
import { startVerification } from "./verify.ts";

/** What the fake workers do with a request: a value, an error, or `never`. */
const never = Symbol("never");
let answer: (request: Request) => unknown = () => 0;

class FakeWorker {
  static all: FakeWorker[] = [];
  readonly got: Request[] = [];
  ended = false;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onerror: unknown = null;

  constructor() {
    FakeWorker.all.push(this);
  }

  postMessage(request: Request): void {
    this.got.push(request);
    queueMicrotask(() => {
      const value = answer(request);
      if (this.ended || value === never) return;
      const { id } = request;
      this.onmessage?.({
        data:
          value instanceof Error
            ? { id, ok: false, name: value.name, error: value.message }
            : { id, ok: true, value },
      });
    });
  }

  terminate(): void {
    this.ended = true;
  }
}

const asset = { path: "assets/x", sha256: "", bytes: 1 };
const manifest = {
  schema: "assay-manifest/1",
  modules: { "a/demo": asset, "a/lab": asset },
  data: {},
  worker: asset,
};
Object.assign(globalThis, {
  Worker: FakeWorker,
  location: { origin: new URL(siteRoot).origin },
  fetch: async () => ({ ok: true, json: async () => manifest }),
});

/** A call's result; its value is the request's `name`. */
const echo = (request: Request): unknown =>
  request.op === "call" ? { value: request.name, arrays: [] } : 0;
const soon = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 10));
const alive = (): FakeWorker[] => FakeWorker.all.filter(({ ended }) => !ended);

test("a set-up that fails is run again by the next call, and leaves no worker", async () => {
  answer = echo;
  let runs = 0;
  const module = new Module("a/demo", async (m) => {
    await m.call("table");
    if (++runs === 1) throw new Error("the data did not come");
  });
  await assert.rejects(module.open(), /the data did not come/);
  assert.equal(alive().length, 0);
  assert.equal((await module.call("go")).value, "go");
  assert.equal(runs, 2);
  module.close();
  assert.equal(alive().length, 0);
});

test("calls wait until the set-up is through; its own do not", async () => {
  answer = echo;
  let finish = (): void => {};
  const finished = new Promise<void>((resolve) => (finish = resolve));
  let view: Module | undefined;
  const module = new Module("a/demo", async (m) => {
    view = m;
    assert.equal((await m.call("table")).value, "table");
    await finished;
  });
  const opening = module.open();
  await soon();
  const call = module.call("go");
  await soon();
  const names = (): string[] =>
    alive().flatMap(({ got }) => got.flatMap((r) => (r.op === "call" ? [r.name] : [])));
  assert.deepEqual(names(), ["table"]);
  finish();
  await opening;
  await call;
  assert.deepEqual(names(), ["table", "go"]);
  assert.equal((await view!.call("later")).value, "later");
  module.close();
});

test("Stop ends a set-up too", async () => {
  answer = (request) => (request.op === "call" ? never : 0);
  const module = new Module("a/demo", async (m) => void (await m.call("table")));
  const opening = module.open();
  await soon();
  module.stop();
  await assert.rejects(opening, /stopped/);
  assert.equal(alive().length, 0);
  answer = echo;
  module.close();
});

test("a demo that runs out of time ends no verification, however many share the workers", async () => {
  answer = (request) => (request.op === "call" || request.op === "lab" ? never : 0);
  const demos = Array.from({ length: pool.size }, () => new Module("a/demo"));
  for (const demo of demos) await demo.open();
  const record = { schema: "verify/1", lab: "a", profile: "browser", args: {} } as const;
  const verification = startVerification(
    { ...record, data: [], figures: [], tables: [] },
    () => {},
  );
  await soon();
  const labs = alive().filter(({ got }) => got.some(({ op }) => op === "lab"));
  assert.equal(labs.length, 1);
  // A demo opened meanwhile shares with demos, not with the verification.
  const late = new Module("a/demo");
  await late.open();
  for (const demo of [...demos, late]) {
    await assert.rejects(demo.call("forever", [], { timeout: 1 }), /without a result/);
  }
  assert.equal(labs[0]!.ended, false);
  verification.stop();
  assert.deepEqual(await verification.outcome, { state: "stopped" });
  for (const demo of [...demos, late]) demo.close();
  assert.equal(alive().length, 0);
});
