#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# usage: planted_faults_test.sh FUZZ_TEST PROGRAM
# The runner of fuzz tests must fail on each planted fault and say which it is, keep the input, and
# find a fault by itself.
set -u
runner=$1 program=$2
kept=$TEST_TMPDIR/kept
faults=0

# fault WORD TEXT: the input WORD fails with TEXT in the log.
fault() {
  printf %s "$1" >"$TEST_TMPDIR/$1"
  rm -rf "$TEST_TMPDIR/corpus" "$kept" && mkdir "$kept"
  output=$(TEST_UNDECLARED_OUTPUTS_DIR=$kept "$runner" "$program" 100 10 16 "$TEST_TMPDIR/$1" 2>&1) && { echo "$1 passed: $output"; exit 1; }
  grep -q "$2" <<<"$output" || { echo "$1 failed without '$2': $output"; exit 1; }
  cmp -s "$kept"/crash-* "$TEST_TMPDIR/$1" || { echo "$1: the input is not kept"; exit 1; }
  faults=$((faults + 1))
}
fault read 'heap-buffer-overflow'
fault wrap 'planted.cc:.*signed integer overflow'
fault fail 'planted.cc:.*size < 4'

rm -rf "$TEST_TMPDIR/corpus"
output=$("$runner" "$program" 3000000 50 16 2>&1) && { echo "no fault found in: $output"; exit 1; }
grep -qE 'heap-buffer-overflow|signed integer overflow|size < 4' <<<"$output" || { echo "another failure: $output"; exit 1; }
echo "$faults planted faults fail, and one is found from nothing"
