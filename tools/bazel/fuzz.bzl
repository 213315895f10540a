# SPDX-License-Identifier: Apache-2.0
"""Fuzzing in `bazel test`: libFuzzer with the address and undefined-behaviour sanitizers.

    assay_fuzz_test(
        name = "fit_fuzz",
        srcs = ["fit_fuzz.cc"],          # extern "C" int LLVMFuzzerTestOneInput(const uint8_t*, size_t)
        deps = ["//numerics/isotonic"],
    )

The program and everything below it are built by clang 14 with instrumentation, whatever the build
around it uses. A run starts from the files of corpus/NAME/ beside the BUILD file (inputs that failed
once, or that reach far), uses one seed and stops after `runs` inputs, so that it repeats; where the
machine is too slow for that it stops after `seconds`. To search longer, or to run one input again:

    bazel run //numerics/isotonic/fuzz:fit_fuzz_program -- -max_total_time=600 -max_len=4096
    bazel run //numerics/isotonic/fuzz:fit_fuzz_program -- crash-0123
"""

load("//tools/bazel:copts.bzl", "TOOL")

_OPTION = "//command_line_option:"
_SANITIZERS = "address,undefined"

def _fuzz_impl(_settings, _attr):
    return {
        _OPTION + "compilation_mode": "opt",
        _OPTION + "copt": [
            "-fsanitize=fuzzer-no-link," + _SANITIZERS,
            "-fno-sanitize-recover=all",
            "-fno-omit-frame-pointer",
            "-g1",
            # ASSAY_DCHECK is on: a fuzzer should trip over it.
            "-UNDEBUG",
            # Highway's portable target, the baseline otherwise, takes minutes to instrument.
            "-mssse3",
            "-DASSAY_FUZZ",
        ],
        _OPTION + "features": [],
        # clang links as for C unless told otherwise, and some checks need the run time of C++.
        _OPTION + "linkopt": ["-fsanitize=fuzzer," + _SANITIZERS, "-fsanitize-link-c++-runtime"],
        _OPTION + "platforms": ["//tools/bazel/platforms:linux_fuzz"],
        _OPTION + "strip": "never",
    }

_fuzz_transition = transition(
    implementation = _fuzz_impl,
    inputs = [],
    outputs = [_OPTION + name for name in [
        "compilation_mode",
        "copt",
        "features",
        "linkopt",
        "platforms",
        "strip",
    ]],
)

def _fuzz_program_impl(ctx):
    output = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.symlink(output = output, target_file = ctx.executable.actual, is_executable = True)
    return [DefaultInfo(executable = output, runfiles = ctx.runfiles(files = [output, ctx.executable.actual]))]

_fuzz_program = rule(
    implementation = _fuzz_program_impl,
    attrs = {
        "actual": attr.label(cfg = _fuzz_transition, executable = True, mandatory = True),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
    },
    executable = True,
)

def assay_fuzz_program(name, srcs, deps = [], **kwargs):
    """A libFuzzer program with its sanitizers, without a test that runs it."""

    # Links only with libFuzzer's main, so `bazel build //...` passes over it in every other build.
    native.cc_binary(
        name = name + "_instrumented",
        testonly = True,
        srcs = srcs,
        copts = TOOL,
        target_compatible_with = ["//tools/bazel/platforms:fuzzer"],
        visibility = ["//visibility:private"],
        deps = deps,
    )
    _fuzz_program(
        name = name,
        testonly = True,
        actual = ":" + name + "_instrumented",
        **kwargs
    )

def assay_fuzz_test(name, srcs, deps = [], runs = 5000, seconds = 5, max_len = 512, size = "small", tags = []):
    """Runs `runs` inputs of at most `max_len` bytes, for at most `seconds`; fails at the first fault.

    Also makes NAME_program, to fuzz by hand. The input that failed is among the test's outputs, and
    in base64 in its log.
    """
    assay_fuzz_program(
        name = name + "_program",
        srcs = srcs,
        deps = deps,
    )
    corpus = native.glob(["corpus/%s/*" % name])
    native.sh_test(
        name = name,
        size = size,
        srcs = ["//tools/bazel:fuzz_test.sh"],
        args = [
            "$(rootpath :%s_program)" % name,
            str(runs),
            str(seconds),
            str(max_len),
        ] + ["$(rootpath %s)" % path for path in corpus],
        data = [":%s_program" % name] + corpus,
        tags = tags + ["nosan"],
    )
