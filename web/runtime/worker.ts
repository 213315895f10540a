// SPDX-License-Identifier: Apache-2.0
// The one worker script of the site: holds open modules and runs what the page asks for, in order.

import { Instance } from "./instance.ts";
import { runLab } from "./lab.ts";
import { fetchChecked, fetchData, IntegrityError } from "./manifest.ts";
import type { Reply, Request } from "./protocol.ts";
import { sha256 } from "./sha256.ts";

const scope = globalThis as unknown as {
  postMessage(message: Reply, transfer: Transferable[]): void;
  onmessage: ((event: MessageEvent<Request>) => void) | null;
};

const instances = new Map<number, Instance>();
let current = 0;

/** At most one progress message in 50 ms: the page cannot show more. */
let lastProgress = 0;
function progress(done: number, total: number, what: string): void {
  const now = performance.now();
  if (now - lastProgress < 50 && done !== total) return;
  lastProgress = now;
  scope.postMessage({ id: current, progress: { done, total, what } }, []);
}

function opened(handle: number): Instance {
  const instance = instances.get(handle);
  if (!instance) throw new Error(`module ${handle} is not open in this worker`);
  return instance;
}

async function answer(request: Request): Promise<{ value: unknown; transfer: Transferable[] }> {
  switch (request.op) {
    case "open": {
      const bytes = await fetchChecked(request.url, request.sha256, (done) =>
        progress(done, 0, "bytes"),
      );
      instances.set(request.handle, await Instance.create(bytes, progress));
      return { value: bytes.length, transfer: [] };
    }
    case "close":
      instances.delete(request.handle);
      return { value: null, transfer: [] };
    case "call": {
      const result = opened(request.handle).call(request.name, request.args);
      return { value: result, transfer: result.arrays.map((array) => array.buffer as ArrayBuffer) };
    }
    case "message":
      return { value: opened(request.handle).message(request.code), transfer: [] };
    case "keep":
      return { value: opened(request.handle).keep(request.array), transfer: [] };
    case "write":
      opened(request.handle).write(request.at, request.array);
      return { value: null, transfer: [] };
    case "read": {
      const array = opened(request.handle).read(request.at, request.type, request.length);
      return { value: array, transfer: [array.buffer as ArrayBuffer] };
    }
    case "free":
      opened(request.handle).dealloc(request.at);
      return { value: null, transfer: [] };
    case "lab": {
      const data = [];
      for (const item of request.run.data) {
        const bytes = await fetchData(item.url, item.fileSha256, (done) =>
          progress(done, 0, "bytes"),
        );
        const got = await sha256(bytes);
        if (got !== item.sha256) throw new IntegrityError(item.url, item.sha256, got);
        data.push({ name: item.name, bytes });
      }
      const { profile, args } = request.run;
      return { value: runLab(opened(request.handle), { profile, args, data }), transfer: [] };
    }
  }
}

// Requests wait for one another: a module is not re-entered, and `current` names whose progress it is.
let queue: Promise<void> = Promise.resolve();
scope.onmessage = ({ data: request }) => {
  queue = queue.then(async () => {
    current = request.id;
    try {
      const { value, transfer } = await answer(request);
      scope.postMessage({ id: request.id, ok: true, value } as Reply, transfer);
    } catch (error) {
      const { name, message } = error instanceof Error ? error : new Error(String(error));
      const failure = { id: request.id, ok: false, name, error: message } as const;
      scope.postMessage(
        error instanceof IntegrityError
          ? { ...failure, detail: [error.url, error.expected, error.got] }
          : failure,
        [],
      );
    }
  });
};
