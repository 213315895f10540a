# SPDX-License-Identifier: Apache-2.0
"""The compiler flags of every target of ours, by profile. They stand here and nowhere else.

They are part of the targets (not of .bazelrc) so that a workspace which depends on one library of
ours compiles it just as we do.
"""

_BASE = [
    "-std=c++20",
    "-Wall",
    "-Wextra",
    "-Werror",
    # Bits are a contract: g++ fuses a*b+c across expressions, and even intrinsics, unless told not to.
    "-ffp-contract=off",
]

# Same bits on every machine, compiler and in WebAssembly. g++ 12's SLP vectoriser emits fused
# multiply-adds in spite of -ffp-contract=off; Eigen's packets change the order of additions.
EXACT = _BASE + [
    "-fno-tree-slp-vectorize",
    "-DEIGEN_DONT_VECTORIZE",
]

# Any order of operations that IEEE allows a careful programmer, fused where the source names it or
# the compiler sees it. Never -ffast-math: NaN and infinity keep their meaning.
FAST = [flag for flag in _BASE if flag != "-ffp-contract=off"] + [
    "-O3",
    "-ffp-contract=fast",
]

# Programs, input and output, tests.
TOOL = _BASE

PROFILES = {
    "exact": EXACT,
    "fast": FAST,
    "tool": TOOL,
}
