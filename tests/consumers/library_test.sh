#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A fresh workspace depends on @assay//numerics/fft, has no .bazelrc of ours, and gets right results.
set -euo pipefail

checkout=$(dirname "$(readlink -f WORKSPACE)")
source=$PWD/tests/consumers/library
work=$TEST_TMPDIR/consumer
mkdir -p "$work"
sed "s|@CHECKOUT@|$checkout|" "$source/WORKSPACE.consumer" >"$work/WORKSPACE"
cp "$source/BUILD.consumer" "$work/BUILD"
cp "$source/spectrum.cc" "$work/"
ours=$(tests/consumers/spectrum)
cd "$work"

# An output base of its own, and the disk cache only to save the time of building Abseil again.
home=$(getent passwd "$(id -u)" | cut -d: -f6)
bazel() {
  env -i HOME="$home" PATH=/usr/bin:/bin LANG=C.UTF-8 bazel --nohome_rc --noworkspace_rc \
    --output_base="$TEST_TMPDIR/output" --max_idle_secs=5 "$@"
}
finish() {
  bazel shutdown || true
  chmod -R u+w "$TEST_TMPDIR/output" && rm -rf "$TEST_TMPDIR/output"
}
trap finish EXIT

bazel build --noshow_progress --symlink_prefix=/ --jobs=2 --nosandbox_debug --disk_cache="$home/.cache/assay-bazel" //:spectrum
program=$(bazel cquery --noshow_progress --output=starlark --starlark:expr='target.files_to_run.executable.path' //:spectrum 2>/dev/null || true)
[ -n "$program" ] || program=bazel-out/k8-fastbuild/bin/spectrum
result=$("$TEST_TMPDIR/output/execroot/consumer/$program")
echo "consumer's result: $result"

# A square wave of period 12 in 60 samples sounds loudest at 5 turns; and without our .bazelrc, at
# another optimisation level, the bits are those of our own build.
[[ $result == "loudest 5 bits "* ]] || { echo "expected the loudest frequency 5"; exit 1; }
[ "$result" = "$ours" ] || { echo "our own build says: $ours"; exit 1; }
