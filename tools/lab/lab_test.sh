#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# lab_test.sh PROGRAM SLUG PROFILE: verifies records that lie in the runfiles.
set -eu
exec "$1" verify "$2" --profile="$3" --verbose
