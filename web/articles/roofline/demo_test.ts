// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { Instance } from "../../runtime/instance.ts";
import type { Argument } from "../../runtime/instance.ts";
import type { Module } from "../../runtime/pool.ts";
import {
  bytesInWords,
  columnLoads,
  cacheSteps,
  cpus,
  measureHost,
  operations,
  operationsInWords,
  rateInWords,
  stepsInWords,
  timeInWords,
  timesInWords,
  workingSets,
} from "./demo.ts";

const folder = join(process.env["WORKSPACE_ROOT"]!, "web/articles/roofline");
const out = (length: number) => ({ kind: "out", type: "f64", length }) as const;
const opened = (): Promise<Instance> =>
  Instance.create(readFileSync(join(folder, "demo_wasm.wasm")));

test("words", () => {
  assert.equal(rateInWords(4.285e12), "4.29 TFLOP/s");
  assert.equal(rateInWords(788e12), "788 TFLOP/s");
  assert.equal(rateInWords(38e9), "38 GFLOP/s");
  assert.equal(timeInWords(0.0033584), "3.36 ms");
  assert.equal(timeInWords(3.05e-6), "3.05 \u00b5s");
  assert.equal(timeInWords(2), "2 s");
  assert.equal(timeInWords(5e-10), "0.5 ns");
  assert.equal(operationsInWords(1 / 12), "0.0833 operations a byte");
  assert.equal(operationsInWords(0.9999), "1 operation a byte");
  assert.equal(operationsInWords(682.67), "683 operations a byte");
  assert.equal(timesInWords(19.477), "19.5 times");
  assert.equal(bytesInWords(49152), "48 KB");
  assert.equal(bytesInWords(2 ** 25), "32 MB");
  assert.equal(bytesInWords(46336), "45 KB");
  assert.equal(bytesInWords(64), "64 bytes");
});

test("levels of the caches, without the slopes between", () => {
  const sets = [1, 1.1, 1, 2, 4, 4.2, 4.1, 8, 16].map((ns, i) => ({
    bytes: 4096 * 2 ** i,
    seconds: ns * 1e-9,
  }));
  assert.deepEqual(
    cacheSteps(sets).map(({ bytes, seconds }) => [bytes / 4096, Math.round(seconds * 1e9)]),
    [
      [4, 1],
      [64, 4],
      [256, 16],
    ],
  );
  assert.equal(
    stepsInWords(sets),
    "A load takes 1 ns up to 16 KB, 4 ns up to 256 KB and 16 ns beyond.",
  );
  // One set that was disturbed makes no level of its own.
  const disturbed = sets.map((set, i) => (i === 1 ? { ...set, seconds: 3e-9 } : set));
  assert.equal(stepsInWords(disturbed), stepsInWords(sets));
  assert.equal(stepsInWords(sets.slice(0, 1)), "A load takes 1 ns.");
  assert.equal(stepsInWords([]), "A load takes no time that was found.");
});

test("working sets rise and end at 64 MB", () => {
  assert.equal(workingSets.at(-1), 64 * 2 ** 20);
  workingSets.forEach((bytes, i) => {
    assert.equal(bytes % 64, 0);
    if (i > 0) assert.ok(bytes > workingSets[i - 1]! && bytes < 1.5 * workingSets[i - 1]!);
  });
});

// ---------------------------------------------------------------- the module

const place = (
  module: Instance,
  o: Partial<Record<"cpu" | "operation" | "half" | "batch" | "link", number>> & {
    intensity?: number;
    bytes?: number;
    own?: readonly [number, number];
    watts?: number;
  },
): { value: unknown; work: Float64Array; rows: Float64Array } => {
  const { value, arrays } = module.call("place", [
    o.watts ?? 70,
    o.cpu ?? 0,
    o.operation ?? 0,
    o.half ?? 0,
    o.batch ?? 1,
    o.intensity ?? 1,
    o.bytes ?? 1e6,
    o.link ?? 0,
    o.own?.[0] ?? 0,
    o.own?.[1] ?? 0,
    out(3),
    out(28),
  ]);
  const [work, rows] = arrays as [Float64Array, Float64Array];
  return { value, work, rows };
};

test("machines have the rates of their files", async () => {
  const module = await opened();
  const m = module.call("machines", [70, 0, out(20)]).arrays[0] as Float64Array;
  assert.ok(Math.abs(m[0]! / 4.285e12 - 1) < 0.01);
  assert.ok(Math.abs(m[1]! / 24e12 - 1) < 0.01);
  assert.equal(m[2], 240e9);
  assert.equal(m[10], 220e9);
  assert.equal(m[12], 22e9);
  assert.ok(Math.abs(m[15]! / 8.14e12 - 1) < 0.01);
  for (let cpu = 0; cpu < cpus.length; cpu++)
    assert.equal(module.call("machines", [70, cpu, out(20)]).value, 0);
  assert.equal(module.call("machines", [70, cpus.length, out(20)]).value, 1);
  assert.equal(module.call("machines", [70, -1, out(20)]).value, 1);
});

test("the three verdicts", async () => {
  const module = await opened();
  const lead = (o: Parameters<typeof place>[1]): number => {
    const { value, rows } = place(module, o);
    assert.equal(value, 0);
    return rows[14 + 4]! / rows[4]!;
  };
  const number = (name: string): number => operations.indexOf(name);
  const product = lead({ operation: number("product") });
  assert.ok(product > 19 && product < 20, String(product));
  const add = lead({ operation: number("add") });
  assert.ok(add > 10 && add < 12, String(add));
  assert.ok(lead({ operation: number("add"), link: 1 }) < 0.6);
  assert.ok(lead({ operation: number("short") }) < 0.5);
  // Both cards have a link to cross, the CPU has none.
  const seconds = (machine: number, link: number): number =>
    place(module, { operation: number("add"), link }).rows[7 * machine + 2]!;
  for (const card of [0, 1]) {
    assert.equal(seconds(card, 0), 0);
    assert.ok(seconds(card, 1) > 0.01);
  }
  assert.equal(seconds(2, 1), 0);
});

test("an operation of one's own is its intensity and its bytes", async () => {
  const module = await opened();
  const own = operations.length - 1;
  const { work, rows } = place(module, {
    operation: own,
    intensity: 2,
    bytes: 1e9,
    own: [10e9, 5e9],
  });
  assert.deepEqual(Array.from(work), [2e9, 1e9, 2]);
  // The reader's machine: 0.2 s of computing and of moving.
  assert.ok(Math.abs(rows[21]! - 0.2) < 1e-12);
  assert.ok(Math.abs(rows[22]! - 0.2) < 1e-12);
  assert.ok(Math.abs(rows[25]! - 0.2) < 1e-12);
  // Unknown: nothing.
  assert.deepEqual(
    Array.from(place(module, { operation: own }).rows.subarray(21)),
    [0, 0, 0, 0, 0, 0, 0],
  );
});

test("a batch shares the weights, and tensor cores raise the roof", async () => {
  const module = await opened();
  const layer = operations.indexOf("layer");
  const at = (batch: number): Float64Array =>
    place(module, { operation: layer, half: 1, batch }).rows;
  assert.equal(at(1)[5], 1);
  assert.equal(at(64)[5], 1);
  assert.equal(at(256)[5], 0);
  assert.ok(at(64)[4]! < 1.1 * at(1)[4]!);
});

test("more watts raise the ceiling and leave the slope", async () => {
  const module = await opened();
  const number = (name: string): number => operations.indexOf(name);
  const time = (operation: string, watts: number): number =>
    place(module, { operation: number(operation), watts }).rows[4]!;
  assert.ok(time("product", 140) < 0.7 * time("product", 70));
  assert.ok(time("product", 140) > 0.5 * time("product", 70));
  assert.equal(time("add", 250), time("add", 70));
});

test("refuses what makes no sense, in words", async () => {
  const module = await opened();
  const code = (o: Parameters<typeof place>[1]): string =>
    module.message(Number(place(module, o).value));
  assert.match(code({ cpu: 99 }), /no CPU/);
  assert.match(code({ operation: operations.length }), /no operation/);
  assert.match(code({ operation: -1 }), /no operation/);
  assert.match(code({ batch: 0 }), /batch/);
  assert.match(code({ batch: 5000 }), /batch/);
  assert.match(code({ intensity: NaN }), /operations a byte/);
  assert.match(code({ intensity: 1e6 }), /operations a byte/);
  assert.match(code({ bytes: 0 }), /bytes/);
  assert.match(code({ bytes: Infinity }), /bytes/);
  assert.match(code({ watts: 69 }), /power limit/);
  assert.match(code({ watts: NaN }), /power limit/);
  assert.match(code({ own: [NaN, 1] }), /rate/);
  assert.match(code({ own: [1, -1] }), /rate/);
  assert.equal(
    module.message(Number(module.call("probe_run", [1]).value)).slice(0, 12),
    "open a probe",
  );
  for (const [kind, bytes] of [
    [-1, 64],
    [7, 64],
    [6, 0],
    [6, 2 ** 31],
    [6, NaN],
  ])
    assert.match(
      module.message(Number(module.call("probe_open", [kind!, 12, bytes!, out(3)]).value)),
      /no such probe/,
    );
});

/** A module whose calls reach an instance; `tick` hears how many rounds each run was asked for. */
function fakeModule(instance: Instance, tick: (kind: number, rounds: number) => void): Module {
  let kind = 0;
  const run = (name: string, args: Argument[] = []): Promise<unknown> => {
    if (name === "probe_open") kind = Number(args[0]);
    // The real probe runs once, whatever is asked: this test is about what is made of its times.
    const given = name === "probe_run" ? [1] : args;
    const { value, arrays } = instance.call(name, given);
    if (value) return Promise.reject(new Error(instance.message(Number(value))));
    if (name === "probe_run") tick(kind, Number(args[0]));
    return Promise.resolve(arrays);
  };
  return { run } as unknown as Module;
}

test("measures two numbers and the steps by the page's clock", async () => {
  const instance = await opened();
  let ms = 0;
  // A round of anything takes a tenth of a millisecond here, but every second run is disturbed.
  let runs = 0;
  const module = fakeModule(instance, (_, rounds) => (ms += 0.1 * rounds * (runs++ % 2 ? 2 : 1)));
  const seen: number[] = [];
  const own = await measureHost(
    module,
    (done, of) => {
      seen.push(done);
      assert.equal(of, 3 + workingSets.length);
    },
    () => ms,
  );
  assert.equal(seen.length, 3 + workingSets.length);
  // 12 chains of 4096 steps of 4 lanes, 2 operations each, in 0.1 ms.
  assert.ok(Math.abs(own.flops / ((2 * 12 * 4096 * 4) / 1e-4) - 1) < 1e-9);
  assert.ok(Math.abs(own.flops64 / own.flops - 0.5) < 1e-9);
  assert.ok(Math.abs(own.bytes / ((96 * 2 ** 20) / 1e-4) - 1) < 1e-2);
  assert.equal(own.chase.length, workingSets.length);
  for (const { seconds } of own.chase) assert.ok(Math.abs(seconds / (1e-4 / 4096) - 1) < 1e-9);
});

// ---------------------------------------------------------------- one warp

test("words asked of each bank", () => {
  const at = (stride: number): number[] =>
    columnLoads(Array.from({ length: 32 }, (_, lane) => stride * lane));
  assert.deepEqual(at(1), new Array(32).fill(1));
  assert.equal(at(32)[0], 32);
  assert.equal(at(2)[0], 2);
  assert.equal(at(2)[1], 0);
  // A broadcast asks for one word, however many lanes want it.
  assert.equal(at(0)[0], 1);
});

test("a simulated warp moves sectors and passes over banks", async () => {
  const module = await opened();
  const warp = (
    shared: number,
    stride: number,
    offset = 0,
    shuffled = 0,
  ): { value: unknown; places: Int32Array; facts: Float64Array } => {
    const { value, arrays } = module.call("warp", [
      shared,
      stride,
      offset,
      shuffled,
      { kind: "out", type: "i32", length: 32 },
      out(6),
    ]);
    return { value, places: arrays[0] as Int32Array, facts: arrays[1] as Float64Array };
  };
  for (const [stride, sectors, lines] of [
    [0, 1, 1],
    [1, 4, 1],
    [2, 8, 2],
    [8, 32, 8],
    [33, 32, 32],
  ]) {
    const { value, facts, places } = warp(0, stride!);
    assert.equal(value, 0);
    assert.equal(facts[2], sectors);
    assert.equal(facts[3], lines);
    assert.equal(facts[5], 1);
    assert.equal(places[31], 31 * stride!);
  }
  for (const [stride, passes] of [
    [0, 1],
    [1, 1],
    [2, 2],
    [32, 32],
    [33, 1],
    [48, 16],
  ]) {
    const { facts, places } = warp(1, stride!);
    assert.equal(facts[4], passes);
    assert.equal(facts[4], Math.max(...columnLoads(places)));
    assert.equal(facts[5], 1);
  }
  assert.equal(warp(0, 1, 1).facts[2], 5);
  const shuffled = warp(0, 1, 0, 1);
  assert.notEqual(shuffled.places.join(), warp(0, 1).places.join());
  assert.equal(shuffled.facts[2], 4);
  for (const [stride, offset] of [
    [-1, 0],
    [65, 0],
    [1, -1],
    [1, 32],
  ])
    assert.match(module.message(Number(warp(0, stride!, offset!).value)), /stride/);
});
