# SPDX-License-Identifier: Apache-2.0
"""C++ libraries, tests, benchmarks and programs of Assay: Bazel's own rules with our flags.

A library names its profile: "exact" (same bits everywhere), "fast" or "tool" (see copts.bzl). The
profile is also a tag, by which `profile_check_test` finds fused instructions in exact objects and
exact code that leans on fast code.
"""

load("//tools/bazel:copts.bzl", "PROFILES")
load("//tools/bazel:variants.bzl", "wasm_test")

_NATIVE = ["@platforms//os:linux"]

def assay_library(name, profile = "exact", copts = [], tags = [], **kwargs):
    """A cc_library compiled by the flags of `profile`."""
    if profile not in PROFILES:
        fail("assay_library %s: profile is %r, expected one of %s" % (name, profile, PROFILES.keys()))
    native.cc_library(
        name = name,
        copts = PROFILES[profile] + copts,
        # Static only: otherwise `bazel build //...` links a shared library of each one as well.
        linkstatic = True,
        tags = tags + ["profile:" + profile],
        **kwargs
    )

def assay_test(name, size = "small", wasm = True, data = [], deps = [], copts = [], tags = [], profile = "tool", **kwargs):
    """A GoogleTest suite, run natively and (unless `wasm` is False) in WebAssembly under Node.

    The WebAssembly run is the target NAME_wasm. `data` is seen natively only: read it through
    Bazel's runfiles, and keep suites with data apart with wasm = False.
    """
    native.cc_test(
        name = name,
        size = size,
        copts = PROFILES[profile] + copts,
        data = data,
        deps = deps + ["@gtest//:gtest_main"],
        tags = tags,
        **kwargs
    )
    if wasm:
        wasm_test(
            name = name + "_wasm",
            size = size,
            actual = ":" + name,
            tags = tags + ["wasm"],
        )

def assay_benchmark(name, deps = [], copts = [], tags = [], profile = "tool", **kwargs):
    """A Google Benchmark program, native only; built by //... and run by hand or by `lab measure`."""
    native.cc_binary(
        name = name,
        copts = PROFILES[profile] + copts,
        tags = tags + ["benchmark"],
        target_compatible_with = _NATIVE,
        deps = deps + ["@debian//:benchmark_main"],
        **kwargs
    )

def assay_binary(name, copts = [], tags = [], profile = "tool", **kwargs):
    """A program."""
    native.cc_binary(
        name = name,
        copts = PROFILES[profile] + copts,
        tags = tags,
        **kwargs
    )
