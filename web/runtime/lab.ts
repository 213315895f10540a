// SPDX-License-Identifier: Apache-2.0
// Runs a lab's module: the C face that every //web/articles/<slug>:lab_wasm has.

import { type Instance, ModuleError } from "./instance.ts";

export interface LabInput {
  /** "quick", "browser" or "full". */
  readonly profile: string;
  /** Knobs as the record lists them, by name. */
  readonly args: Readonly<Record<string, string>>;
  readonly data: readonly { name: string; bytes: Uint8Array }[];
}

/** @returns the report, JSON of schema report/1. Fails with ModuleError in the lab's own words. */
export function runLab(instance: Instance, { profile, args, data }: LabInput): string {
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
  const pass = (name: string, ...arrays: Uint8Array[]): number => {
    const values = arrays.flatMap((array) => [{ kind: "in", array } as const, array.length]);
    return Number(instance.call(name, values).value);
  };
  const output = (): string => {
    const at = Number(instance.function("lab_output")());
    return instance.string(at, Number(instance.function("lab_output_len")()));
  };
  for (const item of data) {
    if (pass("lab_set_data", bytes(item.name), item.bytes) !== 0) {
      throw new ModuleError(`the lab did not take its data ${item.name}: ${output()}`);
    }
  }
  for (const [name, value] of Object.entries(args)) {
    if (pass("lab_set_arg", bytes(name), bytes(value)) !== 0) {
      throw new ModuleError(`the lab did not take ${name} = ${value}: ${output()}`);
    }
  }
  const code = pass("lab_run", bytes(profile));
  const text = output();
  if (code !== 0) throw new ModuleError(`the lab ended with status ${code}: ${text}`);
  return text;
}
