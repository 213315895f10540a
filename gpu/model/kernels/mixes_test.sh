#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The committed mixes are those of the cubins that nvcc makes here. Another version of ptxas than the
# one that a mix names may choose other instructions: then there is nothing to compare.
#
# usage: mixes_test.sh SASS_MIX (CUBIN MIX)...
set -eu
sass_mix=$1
shift
compared=0
while [ $# -gt 0 ]; do
  "$sass_mix" "$1" > "$TEST_TMPDIR/derived.mix"
  here=$(grep '^tool ' "$TEST_TMPDIR/derived.mix")
  there=$(grep '^tool ' "$2")
  if [ "$here" = "$there" ]; then
    # Comments stand in the committed file alone.
    grep -v '^#' "$2" | diff - "$TEST_TMPDIR/derived.mix" || {
      echo "$2 is not what nvcc makes of the kernels; regenerate it:" >&2
      echo "  sass_mix $1 > $2" >&2
      exit 1
    }
    compared=$((compared + 1))
  else
    echo "SKIPPED: $2 is of '$there', here is '$here'"
  fi
  shift 2
done
echo "compared $compared mixes"
