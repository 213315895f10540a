# SPDX-License-Identifier: Apache-2.0
"""A program built by clang in a build by g++."""

load("//tools/bazel:variants.bzl", "clang_transition")

def _clang_program_impl(ctx):
    output = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.symlink(output = output, target_file = ctx.executable.actual, is_executable = True)
    runfiles = ctx.runfiles(files = [output, ctx.executable.actual])
    return [DefaultInfo(executable = output, runfiles = runfiles.merge(ctx.attr.actual[0][DefaultInfo].default_runfiles))]

clang_program = rule(
    implementation = _clang_program_impl,
    attrs = {
        "actual": attr.label(cfg = clang_transition, executable = True, mandatory = True),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
    },
    executable = True,
)
