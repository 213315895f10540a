#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The check of exact objects must fail on planted faults and name them, and fail on nothing at all.
set -u
checker=$1
archive=$2

output=$(/usr/bin/python3 "$checker" "$archive") && echo "planted faults passed: $output" && exit 1
grep -q 'fused instruction in assay::PlantedFusedMultiplyAdd' <<<"$output" || { echo "no fused found: $output"; exit 1; }
grep -q "calls libm's tanh" <<<"$output" || { echo "no libm found: $output"; exit 1; }
/usr/bin/python3 "$checker" >/dev/null && echo "checking nothing passed" && exit 1
echo "both planted faults found"
