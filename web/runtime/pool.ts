// SPDX-License-Identifier: Apache-2.0
// The page's worker pool and the modules open in it.

import type { Argument, ArrayOf, CallResult, ElementType, NumericArray } from "./instance.ts";
import { ModuleError } from "./instance.ts";
import { IntegrityError, loadManifest, siteRoot } from "./manifest.ts";
import type { LabRun, Reply, Request, Unsent } from "./protocol.ts";

/** Thrown into every pending call when its worker is ended by Stop, a time-out or a disconnect. */
export class StoppedError extends Error {
  override name = "StoppedError";
}

export type Progress = (done: number, total: number, what: string) => void;

/** An array given to a C function as `const T*`. */
export const input = (array: NumericArray): Argument => ({ kind: "in", array });
/** An array that a C function fills, as `T*`; comes back in `arrays`. */
export const output = (type: ElementType, length: number): Argument => ({
  kind: "out",
  type,
  length,
});
/** An array that a C function changes, as `T*`; the changed copy comes back in `arrays`. */
export const inout = (array: NumericArray): Argument => ({ kind: "inout", array });

interface Pending {
  resolve(value: never): void;
  reject(error: Error): void;
  progress: Progress | undefined;
}

/** An error as it was in the worker. */
function revived({ name, error: message, detail }: Extract<Reply, { ok: false }>): Error {
  if (detail) return new IntegrityError(...detail);
  const error = name === "ModuleError" ? new ModuleError(message) : new Error(message);
  error.name = name;
  return error;
}

/** One worker and what waits for it. */
class Slot {
  readonly handles = new Set<Module>();
  readonly pending = new Map<number, Pending>();
  private static nextId = 1;

  constructor(
    readonly worker: Worker,
    /** False for the worker of one module alone. */
    readonly shared: boolean,
  ) {
    worker.onmessage = ({ data }: MessageEvent<Reply>) => {
      const waiting = this.pending.get(data.id);
      if (!waiting) return;
      if ("progress" in data) {
        waiting.progress?.(data.progress.done, data.progress.total, data.progress.what);
        return;
      }
      this.pending.delete(data.id);
      if (data.ok) {
        waiting.resolve(data.value as never);
      } else {
        waiting.reject(revived(data));
      }
    };
    worker.onerror = (event) => {
      event.preventDefault();
      pool.end(this, new Error(`the worker failed: ${event.message || "its script did not load"}`));
    };
  }

  send<T>(request: Unsent, progress?: Progress): Promise<T> {
    const id = Slot.nextId++;
    return new Promise<T>((resolve, reject) => {
      this.pending.set(id, { resolve, reject, progress });
      this.worker.postMessage({ ...request, id } as Request);
    });
  }
}

/** Ends calls that take longer than this, in milliseconds. */
const defaultTimeout = 10_000;

/**
 * An open module: a C-ABI wasm instance in one of the page's workers. Survives the end of its worker: the next call
 * opens it again and runs `setup` first.
 */
export class Module {
  private slot: Slot | undefined;
  private opening: Promise<Slot> | undefined;
  private closed = false;
  private static nextHandle = 1;
  private readonly handle = Module.nextHandle++;

  constructor(
    /** Key in the manifest: "fft/demo". */
    readonly key: string,
    private readonly setup: (module: Module) => Promise<void> = async () => {},
    private readonly onProgress?: Progress,
    /** Asks for a worker of its own, which no other module can end or keep waiting: for runs of many seconds. */
    private readonly alone = false,
  ) {}

  /** Opens the module now instead of at the first call. */
  async open(): Promise<void> {
    await this.opened();
  }

  private opened(): Promise<Slot> {
    if (this.closed) return Promise.reject(new StoppedError("the demo has been closed"));
    if (this.slot) return Promise.resolve(this.slot);
    this.opening ??= this.start().finally(() => (this.opening = undefined));
    return this.opening;
  }

  private async start(): Promise<Slot> {
    const manifest = await loadManifest();
    const asset = manifest.modules[this.key];
    if (!asset) throw new Error(`the built site has no module ${this.key}`);
    if (this.closed) throw new StoppedError("the demo has been closed");
    const slot = pool.take(new URL(manifest.worker.path, siteRoot).href, this.alone);
    slot.handles.add(this);
    const url = new URL(asset.path, siteRoot).href;
    const { sha256 } = asset;
    try {
      await slot.send({ op: "open", handle: this.handle, url, sha256 }, (done, _total, what) =>
        this.onProgress?.(done, asset.bytes, what),
      );
      await this.setUp(slot);
      if (!slot.handles.has(this)) throw new StoppedError("stopped");
    } catch (error) {
      // Half set up is not open: the next call begins anew.
      this.release(slot);
      throw error;
    }
    this.slot = slot;
    return slot;
  }

  /** Runs `setup` on a view of this module whose calls pass already; everybody else's wait until it is through. */
  private async setUp(slot: Slot): Promise<void> {
    let inSetup = true;
    const view = Object.create(this) as Module;
    view.opened = () => (inSetup ? Promise.resolve(slot) : this.opened());
    view.discard = () => (inSetup ? Promise.resolve() : this.discard());
    try {
      await this.setup(view);
    } finally {
      inSetup = false;
    }
  }

  /** Gives up the place in a worker. One that holds nothing else is ended. */
  private release(slot: Slot): void {
    if (!slot.handles.delete(this)) return;
    if (slot.handles.size === 0) pool.end(slot, new StoppedError("closed"));
    else void slot.send({ op: "close", handle: this.handle }).catch(() => {});
  }

  /** The worker ended; what was kept in the module's memory is gone. */
  lose(): void {
    this.slot = undefined;
  }

  private async request<T>(request: Unsent, options: CallOptions = {}): Promise<T> {
    const slot = await this.opened();
    const limit = options.timeout ?? defaultTimeout;
    const timer = setTimeout(
      () => pool.end(slot, new StoppedError(`stopped after ${limit / 1000} s without a result`)),
      limit,
    );
    try {
      return await slot.send<T>(request, options.progress);
    } catch (error) {
      // A trap leaves the C stack as it was: start afresh next time.
      if (error instanceof ModuleError) await this.discard();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  private async discard(): Promise<void> {
    const slot = this.slot;
    this.slot = undefined;
    slot?.handles.delete(this);
    if (slot && pool.alive(slot)) await slot.send({ op: "close", handle: this.handle });
  }

  /** Calls an exported C function; `value` is what it returned. */
  call(name: string, args: Argument[] = [], options: CallOptions = {}): Promise<CallResult> {
    return this.request({ op: "call", handle: this.handle, name, args }, options);
  }

  /**
   * Calls a C function that returns a status code and gives its output arrays.
   * Fails with StatusError, in the module's own words, when the code is not 0.
   */
  async run(
    name: string,
    args: Argument[] = [],
    options: CallOptions = {},
  ): Promise<NumericArray[]> {
    const { value, arrays } = await this.call(name, args, options);
    if (value) throw new StatusError(Number(value), await this.message(Number(value)));
    return arrays;
  }

  message(code: number): Promise<string> {
    return this.request({ op: "message", handle: this.handle, code });
  }

  /** Copies an array into the module's memory and gives its address, to be passed as a plain number. */
  keep(array: NumericArray): Promise<number> {
    return this.request({ op: "keep", handle: this.handle, array });
  }

  async write(at: number, array: NumericArray): Promise<void> {
    await this.request({ op: "write", handle: this.handle, at, array });
  }

  read<T extends ElementType>(at: number, type: T, length: number): Promise<ArrayOf<T>> {
    return this.request({ op: "read", handle: this.handle, at, type, length });
  }

  async free(at: number): Promise<void> {
    await this.request({ op: "free", handle: this.handle, at });
  }

  /** Runs a lab's module and gives its report, JSON of schema report/1. */
  lab(run: LabRun, options: CallOptions): Promise<string> {
    return this.request({ op: "lab", handle: this.handle, run }, options);
  }

  /** True while a call of this module or of a neighbour in its worker has not come back. */
  get busy(): boolean {
    return this.opening !== undefined || (this.slot?.pending.size ?? 0) > 0;
  }

  /** Ends the running call, if any, by ending its worker: at once, whatever the C++ is doing. */
  stop(reason = "stopped"): void {
    const slot = this.slot ?? pool.slotOf(this);
    if (slot?.pending.size) pool.end(slot, new StoppedError(reason));
  }

  /** Gives the module up. An idle worker that holds nothing else is ended. */
  close(): void {
    this.closed = true;
    const slot = this.slot ?? pool.slotOf(this);
    this.slot = undefined;
    if (slot) this.release(slot);
  }
}

export interface CallOptions {
  /** Milliseconds after which the worker is ended; 10 s by default. */
  readonly timeout?: number;
  readonly progress?: Progress;
}

/** A status code that was not 0, with the module's words for it. */
export class StatusError extends Error {
  override name = "StatusError";
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

class Pool {
  private slots: Slot[] = [];

  /** Most workers that modules share. A module that asks for a worker of its own gets one beyond them. */
  readonly size = Math.max(2, Math.min(4, (globalThis.navigator?.hardwareConcurrency ?? 2) - 1));

  get workers(): number {
    return this.slots.length;
  }

  alive(slot: Slot): boolean {
    return this.slots.includes(slot);
  }

  slotOf(module: Module): Slot | undefined {
    return this.slots.find((slot) => slot.handles.has(module));
  }

  /** A new worker for a module that wants it alone or while there is room, otherwise the one with the fewest modules. */
  take(url: string, alone: boolean): Slot {
    const shared = this.slots.filter((slot) => slot.shared);
    if (alone || shared.length < this.size) {
      const slot = new Slot(startWorker(url), !alone);
      this.slots.push(slot);
      return slot;
    }
    return shared.reduce((a, b) => (b.handles.size < a.handles.size ? b : a));
  }

  end(slot: Slot, reason: Error): void {
    slot.worker.terminate();
    this.slots = this.slots.filter((other) => other !== slot);
    for (const module of slot.handles) module.lose();
    slot.handles.clear();
    const waiting = [...slot.pending.values()];
    slot.pending.clear();
    for (const { reject } of waiting) reject(reason);
  }
}

/** A browser starts no worker from another origin, but it does start a local script that imports one. */
function startWorker(url: string): Worker {
  if (new URL(url).origin === globalThis.location.origin)
    return new Worker(url, { type: "module" });
  const shim = URL.createObjectURL(
    new Blob([`import ${JSON.stringify(url)};`], { type: "text/javascript" }),
  );
  const worker = new Worker(shim, { type: "module" });
  setTimeout(() => URL.revokeObjectURL(shim), 60_000);
  return worker;
}

/** The page's one pool. */
export const pool = new Pool();
