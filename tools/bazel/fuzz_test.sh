#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# usage: fuzz_test.sh PROGRAM RUNS SECONDS MAX_LEN [INPUT ...]
# Runs a libFuzzer program from the given inputs; see fuzz.bzl.
set -eu
program=$1 runs=$2 seconds=$3 max_len=$4
shift 4
corpus=$TEST_TMPDIR/corpus
mkdir -p "$corpus"
[ $# -eq 0 ] || cp "$@" "$corpus"
# Stacks are named by binutils' addr2line: llvm-symbolizer is no package of ours.
export ASAN_OPTIONS=allow_addr2line=1:detect_stack_use_after_return=1
export UBSAN_OPTIONS=print_stacktrace=1
exec "./$program" -seed=1 -runs="$runs" -max_total_time="$seconds" -max_len="$max_len" -len_control=0 -timeout=10 \
  -rss_limit_mb=1024 -print_final_stats=1 -artifact_prefix="${TEST_UNDECLARED_OUTPUTS_DIR:-$TEST_TMPDIR}/" "$corpus"
