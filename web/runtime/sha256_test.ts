// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";

import { sha256, sha256Plain } from "./sha256.ts";

test("knows the digests of FIPS 180-4's examples", () => {
  const digest = (text: string): string => sha256Plain(new TextEncoder().encode(text));
  assert.equal(digest("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  assert.equal(digest(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
});

test("agrees with Node for every length around the block size", async () => {
  for (let length = 0; length < 200; length++) {
    const bytes = Uint8Array.from({ length }, (_, i) => (i * 37 + length) & 255);
    const expected = createHash("sha256").update(bytes).digest("hex");
    assert.equal(sha256Plain(bytes), expected, `length ${length}`);
    assert.equal(await sha256(bytes), expected, `length ${length}`);
  }
});

test("hashes a view into a larger buffer, not the buffer", () => {
  const all = Uint8Array.from({ length: 300 }, (_, i) => i & 255);
  const part = all.subarray(17, 191);
  assert.equal(sha256Plain(part), createHash("sha256").update(part).digest("hex"));
});
