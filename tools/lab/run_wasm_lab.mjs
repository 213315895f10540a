// SPDX-License-Identifier: Apache-2.0
// Runs a lab's wasm module under Node, with nothing but a minimal WASI, and prints or compares its report.
//
//   node run_wasm_lab.mjs --wasm=M.wasm --profile=P [--arg=NAME=VALUE]... [--data=NAME=FILE]...
//       prints the report
//   node run_wasm_lab.mjs --wasm=M.wasm --program=LAB_PROGRAM --slug=S --profile=P[,P]... [--root=DIR]
//       runs the native program as well and demands the same bytes; bounded values, which may differ
//       between machines, are held to their own bounds instead
//
// Exit code: 0 equal or printed, 1 the bytes differ or the lab failed, 2 wrong use, 3 data is missing.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** Runs a module once. Gives { code, text }: the lab's status code and its document. */
export async function runLab(bytes, { profile, args = {}, data = {} }) {
  let exports;
  const memory = () => new Uint8Array(exports.memory.buffer);
  let stderr = "";
  const imports = {
    assay: { progress() {} },
    env: { emscripten_notify_memory_growth() {} },
    wasi_snapshot_preview1: {
      proc_exit(code) {
        throw new Error(`the module ended itself with code ${code}: ${stderr}`);
      },
      fd_write(_fd, vectors, count, written) {
        const view = new DataView(exports.memory.buffer);
        let total = 0;
        for (let i = 0; i < count; i++) {
          const at = view.getUint32(vectors + 8 * i, true);
          const length = view.getUint32(vectors + 8 * i + 4, true);
          stderr += new TextDecoder().decode(memory().slice(at, at + length));
          total += length;
        }
        view.setUint32(written, total, true);
        return 0;
      },
      fd_close: () => 0,
      fd_seek: () => 70,
      // A lab that reads a clock or the environment gets none: 52 is ENOSYS.
      clock_time_get: () => 52,
      environ_sizes_get: () => 52,
      environ_get: () => 52,
    },
  };
  const { instance } = await WebAssembly.instantiate(bytes, imports);
  exports = instance.exports;
  exports._initialize?.();
  const put = (content) => {
    const array = typeof content === "string" ? new TextEncoder().encode(content) : content;
    const at = exports.alloc(Math.max(array.length, 1)) >>> 0;
    if (at === 0) throw new Error(`the module has no room for ${array.length} bytes`);
    memory().set(array, at);
    return [at, array.length];
  };
  const call = (name, ...contents) => {
    const values = contents.map(put);
    const code = exports[name](...values.flat());
    for (const [at] of values) exports.dealloc(at);
    return code;
  };
  for (const [name, content] of Object.entries(data)) call("lab_set_data", name, content);
  for (const [name, value] of Object.entries(args)) call("lab_set_arg", name, value);
  const code = call("lab_run", profile);
  const at = exports.lab_output() >>> 0;
  const text = new TextDecoder().decode(memory().slice(at, at + exports.lab_output_len()));
  return { code, text };
}

/** The report without what may differ between machines: the values of bounded figures. */
export function exactPart(report) {
  const document = JSON.parse(report);
  for (const figure of document.figures) {
    if (figure.kind !== "bounded") continue;
    const { observed, bound } = figure.error;
    if (!(Number(observed) <= Number(bound))) {
      throw new Error(`${figure.id}: the observed error ${observed} exceeds its bound ${bound}`);
    }
    figure.value = figure.bits = figure.hash = figure.error.observed = "";
  }
  return document;
}

/** The first place where two documents differ, in words; undefined where they agree. */
export function firstDifference(a, b, where = "report") {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) {
    return a === b
      ? undefined
      : `${where}: ${JSON.stringify(a)} natively, ${JSON.stringify(b)} in wasm`;
  }
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const name = a[key]?.id ?? b[key]?.id ?? key;
    const found = firstDifference(a[key] ?? null, b[key] ?? null, `${where}.${name}`);
    if (found) return found;
  }
  return undefined;
}

function native(program, ...rest) {
  return execFileSync(program, rest, { maxBuffer: 1 << 30, stdio: ["ignore", "pipe", "inherit"] });
}

async function main(argv) {
  const options = { args: {}, data: {} };
  for (const argument of argv) {
    const match = /^--(wasm|program|slug|profile|root|arg|data)=(.*)$/s.exec(argument);
    if (!match) {
      console.error(`run_wasm_lab: do not know ${argument}`);
      return 2;
    }
    const [, name, value] = match;
    const equals = value.indexOf("=");
    if (name === "arg") options.args[value.slice(0, equals)] = value.slice(equals + 1);
    else if (name === "data")
      options.data[value.slice(0, equals)] = readFileSync(value.slice(equals + 1));
    else options[name] = value;
  }
  if (!options.wasm || !options.profile) {
    console.error("run_wasm_lab: --wasm and --profile are needed");
    return 2;
  }
  const bytes = readFileSync(options.wasm);
  if (!options.program) {
    const { code, text } = await runLab(bytes, options);
    process.stdout.write(text);
    return code === 0 ? 0 : 1;
  }
  const common = options.root ? [`--root=${options.root}`] : [];
  let failures = 0;
  for (const profile of options.profile.split(",")) {
    let expected;
    try {
      const flags = ["run", options.slug, `--profile=${profile}`, "--report", "--quiet", ...common];
      expected = native(options.program, ...flags).toString("utf8");
    } catch (error) {
      console.error(
        `run_wasm_lab: ${options.slug} ${profile}: the native program failed: ${error.message}`,
      );
      return error.status === 3 ? 3 : 1;
    }
    const data = {};
    for (const { name } of JSON.parse(expected).data) {
      data[name] = native(options.program, "data", options.slug, name, ...common);
    }
    const start = performance.now();
    const { code, text } = await runLab(bytes, { profile, args: options.args, data });
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    const found =
      code !== 0
        ? `the lab ended with status ${code}: ${text.trim()}`
        : text === expected
          ? undefined
          : firstDifference(exactPart(expected), exactPart(text));
    if (found) {
      failures++;
      console.error(`run_wasm_lab: ${options.slug} ${profile}: ${found}`);
    } else {
      const { figures, tables } = JSON.parse(text);
      console.log(
        `${options.slug} ${profile}: ${figures.length} figures and ${tables.length} tables, ${text.length} bytes, the same natively and in wasm (${seconds} s)`,
      );
    }
  }
  return failures === 0 ? 0 : 1;
}

if (process.argv[1]?.endsWith("run_wasm_lab.mjs")) {
  process.exitCode = await main(process.argv.slice(2));
}
