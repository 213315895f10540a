#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Debian's Emscripten as a Bazel tool: it must not meet another Python, needs acorn from Debian's
# Node modules to link at -O3, and its cache is frozen and complete.
export EMSDK_PYTHON=/usr/bin/python3 NODE_PATH=/usr/share/nodejs EMCC_SKIP_SANITY_CHECK=1
exec /usr/bin/em++ "$@"
