#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The compiled ceilings hold every chain: twelve fused operations for each of two types on AVX2 and
# AVX-512. Compilers merge what they see to be equal, and a merged chain measures something else.
set -euo pipefail
for archive in "$@"; do
  case $archive in *.a) ;; *) continue ;; esac
  [ -e "$archive" ]
  found=$(objdump -d --no-show-raw-insn "$archive" | grep -c vfmadd || true)
  if [ "$found" -lt 48 ]; then
    echo "$archive has $found fused operations, expected at least 48: chains were merged" >&2
    exit 1
  fi
  echo "$found fused operations"
  exit 0
done
echo "no archive among: $*" >&2
exit 1
