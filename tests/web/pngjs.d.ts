// SPDX-License-Identifier: Apache-2.0
// The little that the tests use of pngjs, which brings no types.
declare module "pngjs" {
  export class PNG {
    readonly width: number;
    readonly height: number;
    readonly data: Uint8Array;
    static readonly sync: { read(bytes: Uint8Array): PNG; write(png: PNG): Uint8Array };
  }
}
