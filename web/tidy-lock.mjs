// SPDX-License-Identifier: Apache-2.0
// Takes the funding addresses out of package-lock.json, so that the lock names no host at all.
// Run by `npm run lock` after npm has written the file; `npm ci` does not read that field.

import { readFileSync, writeFileSync } from "node:fs";

const path = new URL("package-lock.json", import.meta.url);
const lock = JSON.parse(readFileSync(path, "utf8"));
for (const entry of Object.values(lock.packages)) delete entry.funding;
const text = JSON.stringify(lock, null, 2) + "\n";
if (text.includes("://")) throw new Error("package-lock.json names a host; see web/.npmrc");
writeFileSync(path, text);
