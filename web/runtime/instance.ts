// SPDX-License-Identifier: Apache-2.0
// One standalone WebAssembly module with a plain C ABI. Runs in workers, pages and Node alike.

/** Called by a lab's C++ through the import `assay.progress`. */
export type ProgressFunction = (done: number, total: number, what: string) => void;

/** Every import that the loader provides; a module that asks for more is refused. */
export const allowedImports: readonly string[] = [
  "assay.progress",
  "env.emscripten_asm_const_int",
  "env.emscripten_notify_memory_growth",
  "env.emscripten_stack_snapshot",
  "env.emscripten_stack_unwind_buffer",
  "wasi_snapshot_preview1.clock_time_get",
  "wasi_snapshot_preview1.fd_close",
  "wasi_snapshot_preview1.fd_seek",
  "wasi_snapshot_preview1.fd_write",
  "wasi_snapshot_preview1.proc_exit",
];

const arrayTypes = {
  i8: Int8Array,
  u8: Uint8Array,
  i16: Int16Array,
  u16: Uint16Array,
  i32: Int32Array,
  u32: Uint32Array,
  f32: Float32Array,
  f64: Float64Array,
  i64: BigInt64Array,
  u64: BigUint64Array,
} as const;

/** Element types of arrays that cross the border. */
export type ElementType = keyof typeof arrayTypes;
export type NumericArray =
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | Float32Array
  | Float64Array
  | BigInt64Array
  | BigUint64Array;
export type ArrayOf<T extends ElementType> = InstanceType<(typeof arrayTypes)[T]>;

/** The element type of an array: `typeOf(new Float32Array(1))` is "f32". */
export function typeOf(array: NumericArray): ElementType {
  for (const [type, constructor] of Object.entries(arrayTypes)) {
    if (array instanceof constructor) return type as ElementType;
  }
  throw new TypeError("not a typed array that crosses the border (Uint8ClampedArray is not)");
}

/** An argument of a C function: a number, a 64-bit integer, or an array passed as a pointer. */
export type Argument =
  | number
  | bigint
  | { readonly kind: "in"; readonly array: NumericArray }
  | { readonly kind: "out"; readonly type: ElementType; readonly length: number }
  | { readonly kind: "inout"; readonly array: NumericArray };

/** What a call gives back: the C function's value, and its output arrays in the order of the arguments. */
export interface CallResult {
  readonly value: number | bigint | undefined;
  readonly arrays: NumericArray[];
}

/** A trap (out of bounds, stack, unreachable) or a refusal, said in words. */
export class ModuleError extends Error {
  override name = "ModuleError";
}

type Exported = (...values: (number | bigint)[]) => number | bigint | undefined;

/**
 * A compiled and running module. Exports expected: `memory`, `alloc(u32) -> ptr`, `dealloc(ptr)`; optional
 * `_initialize()` (run once) and `message(code) -> const char*`.
 */
export class Instance {
  private readonly exports: Record<string, unknown>;
  private readonly text = new TextDecoder();

  private constructor(exports: WebAssembly.Exports) {
    this.exports = exports;
  }

  /**
   * Compiles and starts a module.
   * Fails with ModuleError when it wants an import that is not in `allowedImports` or lacks an export named above.
   */
  static async create(bytes: Uint8Array, progress: ProgressFunction = () => {}): Promise<Instance> {
    const module = await WebAssembly.compile(bytes as Uint8Array<ArrayBuffer>);
    for (const wanted of WebAssembly.Module.imports(module)) {
      const name = `${wanted.module}.${wanted.name}`;
      if (wanted.kind !== "function" || !allowedImports.includes(name)) {
        throw new ModuleError(
          `the module wants the import ${name}, which the loader does not give`,
        );
      }
    }
    let self: Instance | undefined;
    const line = { text: "" };
    const imports = {
      assay: {
        progress: (done: number, total: number, what: number, length: number): void => {
          progress(done, total, self?.string(what, length) ?? "");
        },
      },
      env: {
        emscripten_notify_memory_growth: (): void => {},
        // Abseil asks for the stack when a check fails; there is none to give here.
        emscripten_asm_const_int: (): number => 0,
        emscripten_stack_snapshot: (): number => 0,
        emscripten_stack_unwind_buffer: (): number => 0,
      },
      wasi_snapshot_preview1: {
        proc_exit: (code: number): never => {
          throw new ModuleError(`the program ended itself with code ${code}. ${line.text}`.trim());
        },
        // Only a check that fails writes (to stderr), so the text becomes part of the error above.
        fd_write: (_fd: number, vectors: number, count: number, written: number): number => {
          if (!self) return 8;
          const view = new DataView(self.memory.buffer);
          let total = 0;
          for (let i = 0; i < count; i++) {
            const at = view.getUint32(vectors + 8 * i, true);
            const length = view.getUint32(vectors + 8 * i + 4, true);
            if (line.text.length < 2000) line.text += self.string(at, length);
            total += length;
          }
          view.setUint32(written, total, true);
          return 0;
        },
        fd_close: (): number => 0,
        fd_seek: (): number => 70,
        // Nothing exact may read a clock: 52 is ENOSYS.
        clock_time_get: (): number => 52,
      },
    };
    const instance = await WebAssembly.instantiate(module, imports);
    self = new Instance(instance.exports);
    for (const name of ["alloc", "dealloc"]) self.function(name);
    if (!(instance.exports["memory"] instanceof WebAssembly.Memory)) {
      throw new ModuleError("the module exports no memory");
    }
    if (typeof instance.exports["_initialize"] === "function") self.function("_initialize")();
    return self;
  }

  get memory(): WebAssembly.Memory {
    return this.exports["memory"] as WebAssembly.Memory;
  }

  /** Names of the exported functions. */
  get functions(): string[] {
    return Object.keys(this.exports).filter((name) => typeof this.exports[name] === "function");
  }

  function(name: string): Exported {
    const f = this.exports[name];
    if (typeof f !== "function") throw new ModuleError(`the module exports no function ${name}`);
    return f as Exported;
  }

  /** UTF-8 text at an address; up to the first NUL when no length is given. */
  string(at: number, length?: number): string {
    const bytes = new Uint8Array(this.memory.buffer);
    let end = length === undefined ? at : at + length;
    if (length === undefined) while (end < bytes.length && bytes[end] !== 0) end++;
    return this.text.decode(bytes.slice(at, end));
  }

  /** Reserves `bytes` bytes in the module's heap, aligned for any type. Fails with ModuleError when it is full. */
  alloc(bytes: number): number {
    const at = Number(this.function("alloc")(Math.max(bytes, 1))) >>> 0;
    if (at === 0) throw new ModuleError(`out of memory: ${bytes} bytes were asked for`);
    return at;
  }

  dealloc(at: number): void {
    this.function("dealloc")(at);
  }

  /** Copies an array into the module's heap; the caller frees it with `dealloc`. */
  keep(array: NumericArray): number {
    const at = this.alloc(array.byteLength);
    this.write(at, array);
    return at;
  }

  write(at: number, array: NumericArray): void {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    new Uint8Array(this.memory.buffer, at, array.byteLength).set(bytes);
  }

  /** A copy of `length` elements at an address. */
  read<T extends ElementType>(at: number, type: T, length: number): ArrayOf<T> {
    const bytes = length * arrayTypes[type].BYTES_PER_ELEMENT;
    const copy = this.memory.buffer.slice(at, at + bytes);
    if (copy.byteLength !== bytes)
      throw new ModuleError(`${bytes} bytes at ${at} lie outside memory`);
    return new arrayTypes[type](copy) as ArrayOf<T>;
  }

  /**
   * Calls a C function. Arrays are copied in, the pointers passed, outputs copied back, and all freed again, also
   * after a trap. Views are made after the call, since memory may have grown.
   */
  call(name: string, args: readonly Argument[]): CallResult {
    const f = this.function(name);
    const held: number[] = [];
    const outputs: { at: number; type: ElementType; length: number }[] = [];
    try {
      const values = args.map((arg) => {
        if (typeof arg !== "object") return arg;
        const [type, length] =
          arg.kind === "out" ? [arg.type, arg.length] : [typeOf(arg.array), arg.array.length];
        const at = this.alloc(length * arrayTypes[type].BYTES_PER_ELEMENT);
        held.push(at);
        if (arg.kind !== "out") this.write(at, arg.array);
        if (arg.kind !== "in") outputs.push({ at, type, length });
        return at;
      });
      let value;
      try {
        value = f(...values);
      } catch (error) {
        if (error instanceof ModuleError) throw error;
        throw new ModuleError(`${name} stopped: ${error instanceof Error ? error.message : error}`);
      }
      const arrays = outputs.map(({ at, type, length }) => this.read(at, type, length));
      return { value, arrays };
    } finally {
      for (const at of held) this.dealloc(at);
    }
  }

  /** The module's own words for a status code, or a plain sentence when it has none. */
  message(code: number): string {
    if (typeof this.exports["message"] !== "function") return `status ${code}`;
    return this.string(Number(this.function("message")(code)) >>> 0);
  }
}
