// SPDX-License-Identifier: Apache-2.0
// The built site's list of what pages may load: wasm modules and data, each with its SHA-256.

import { sha256 } from "./sha256.ts";

/** A file of the built site; `path` is relative to the site's top folder. */
export interface Asset {
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
}

export interface Manifest {
  readonly schema: "assay-manifest/1";
  /** Keys are "<slug>/demo" and "<slug>/lab". */
  readonly modules: Readonly<Record<string, Asset>>;
  /** Keys are "<slug>/<data name>". */
  readonly data: Readonly<Record<string, Asset>>;
  /** The runtime's worker script. */
  readonly worker: Asset;
}

/** The bytes that came differ from the ones that were built: never run, always shown. */
export class IntegrityError extends Error {
  override name = "IntegrityError";
  constructor(
    readonly url: string,
    readonly expected: string,
    readonly got: string,
  ) {
    super(`${url} has SHA-256 ${got}, and the manifest says ${expected}`);
  }
}

/** Top folder of the site that this script came from: scripts lie in its folder `assets`. */
export const siteRoot: string = new URL("../", import.meta.url).href;

let manifest: Promise<Manifest> | undefined;

/** The manifest, fetched once a page. Fails with a sentence when it cannot be had. */
export function loadManifest(root: string = siteRoot): Promise<Manifest> {
  manifest ??= fetch(new URL("manifest.json", root), { cache: "no-cache" })
    .then((response) => {
      if (!response.ok) throw new Error(`manifest.json: the server answered ${response.status}`);
      return response.json() as Promise<Manifest>;
    })
    .catch((error: unknown) => {
      manifest = undefined; // so that a later click may succeed
      throw error;
    });
  return manifest;
}

/**
 * Fetches a file, tells how far it is, and checks its SHA-256.
 * @param onBytes called with the number of bytes so far
 * Fails with IntegrityError when the bytes are not the built ones.
 */
export async function fetchChecked(
  url: string,
  expected: string,
  onBytes: (done: number) => void = () => {},
): Promise<Uint8Array> {
  const response = await fetch(url);
  if (!response.ok || !response.body) {
    throw new Error(`${url}: the server answered ${response.status}`);
  }
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.push(value);
    length += value.length;
    onBytes(length);
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  const got = await sha256(bytes);
  if (got !== expected) throw new IntegrityError(url, expected, got);
  return bytes;
}

/** Fetches a data file and checks it; a file stored as gzip is unpacked, and its size is that of what was packed. */
export async function fetchData(
  url: string,
  expected: string,
  onBytes?: (done: number) => void,
): Promise<Uint8Array> {
  const bytes = await fetchChecked(url, expected, onBytes);
  if (!url.endsWith(".gz")) return bytes;
  const packed = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream();
  const unpacked = packed.pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(unpacked).arrayBuffer());
}

/** 84 KB, 1.2 MB: sizes as buttons show them (1 KB = 1000 bytes). */
export function sizeInWords(bytes: number): string {
  if (bytes < 1e6) return `${Math.max(1, Math.round(bytes / 1e3))} KB`;
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
