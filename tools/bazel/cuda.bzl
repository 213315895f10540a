# SPDX-License-Identifier: Apache-2.0
"""CUDA C++ for the articles' card (Tesla T4, sm_75) and for Hopper (sm_90), with PTX for newer ones.

    cuda_library(name, srcs, hdrs, deps, relocatable = False)
    cuda_test(name, srcs, deps)

Where the toolkit is missing both are skipped (Bazel prints SKIPPED). A cuda_test begins with
`if (!assay::HaveGpu()) GTEST_SKIP();` and so passes on a machine without a GPU; the tests' log
counts it as skipped.
"""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")
load("@local_cuda//:defs.bzl", "CUDA_FOUND", "NVCC")
load("//tools/bazel:copts.bzl", "TOOL")

_REQUIRES_CUDA = [
    "@platforms//os:linux",
    "@platforms//cpu:x86_64",
] if CUDA_FOUND else ["@platforms//:incompatible"]

_FLAGS = [
    "-std=c++20",
    "-O3",
    # Results are compared with the CPU's, where nothing fuses; a kernel that wants an FMA names it.
    "-fmad=false",
    "-lineinfo",
    "-Werror",
    "all-warnings",
    "-Xcompiler",
    "-fPIC,-Wall,-Wextra,-Werror,-ffp-contract=off",
    "-gencode",
    "arch=compute_75,code=sm_75",
    "-gencode",
    "arch=compute_90,code=sm_90",
    "-gencode",
    "arch=compute_90,code=compute_90",
]

_Relocatable = provider(doc = "Objects that wait for the device linker.", fields = ["objects"])

def _nvcc(ctx, toolchain, mode, arguments, inputs, output, message):
    ctx.actions.run_shell(
        command = """set -eu
TMPDIR=$(mktemp -d) && export TMPDIR && trap 'rm -rf "$TMPDIR"' EXIT
"$@"
""",
        arguments = [NVCC, "-ccbin", toolchain.compiler_executable] + mode + arguments + ["-o", output.path],
        inputs = inputs,
        outputs = [output],
        mnemonic = "Nvcc",
        progress_message = message,
        use_default_shell_env = True,
    )

def _cuda_objects_impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    compilation = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps]).compilation_context
    includes = ["-I.", "-I" + ctx.bin_dir.path]
    includes += ["-I" + path for path in compilation.quote_includes.to_list() if path not in [".", ctx.bin_dir.path]]
    for path in compilation.system_includes.to_list() + compilation.includes.to_list():
        includes += ["-isystem", path]
    defines = ["-D" + define for define in compilation.defines.to_list()]
    headers = depset(ctx.files.hdrs, transitive = [compilation.headers])

    objects = []
    for source in ctx.files.srcs:
        if source.extension != "cu":
            continue
        output = ctx.actions.declare_file("_cuda/%s/%s.o" % (ctx.label.name, source.basename))
        _nvcc(
            ctx,
            toolchain,
            _FLAGS + ["-rdc=" + ("true" if ctx.attr.relocatable else "false")],
            includes + defines + ["-c", source.path],
            depset(ctx.files.srcs, transitive = [headers]),
            output,
            "Compiling CUDA " + source.short_path,
        )
        objects.append(output)

    waiting = objects if ctx.attr.relocatable else []
    waiting = depset(waiting, transitive = [dep[_Relocatable].objects for dep in ctx.attr.deps if _Relocatable in dep])
    linked = []
    if ctx.attr.relocatable:
        output = ctx.actions.declare_file("_cuda/%s/device_link.o" % ctx.label.name)
        _nvcc(
            ctx,
            toolchain,
            _FLAGS + ["-dlink"],
            [file.path for file in waiting.to_list()],
            waiting,
            output,
            "Linking device code of %s" % ctx.label,
        )
        linked = [output]

    everything = depset(objects + linked)
    linking, _outputs = cc_common.create_linking_context_from_compilation_outputs(
        actions = ctx.actions,
        name = ctx.label.name,
        compilation_outputs = cc_common.create_compilation_outputs(objects = everything, pic_objects = everything),
        cc_toolchain = toolchain,
        feature_configuration = features,
        linking_contexts = [dep[CcInfo].linking_context for dep in ctx.attr.deps],
        disallow_dynamic_library = True,
        alwayslink = True,
    )
    own = cc_common.create_compilation_context(headers = depset(ctx.files.hdrs))
    info = CcInfo(
        compilation_context = cc_common.merge_cc_infos(
            direct_cc_infos = [CcInfo(compilation_context = own)],
            cc_infos = [dep[CcInfo] for dep in ctx.attr.deps],
        ).compilation_context,
        linking_context = linking,
    )
    return [
        DefaultInfo(files = everything),
        info,
        _Relocatable(objects = waiting),
    ]

_cuda_objects = rule(
    implementation = _cuda_objects_impl,
    attrs = {
        "srcs": attr.label_list(allow_files = [".cu", ".h", ".cuh"]),
        "hdrs": attr.label_list(allow_files = True),
        "deps": attr.label_list(providers = [CcInfo]),
        "relocatable": attr.bool(doc = "Device code calls across files: compile it relocatable, and link it here."),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
    incompatible_use_toolchain_transition = True,
)

def cuda_library(name, deps = [], **kwargs):
    """A library with .cu sources: a cc_library to whoever depends on it."""
    _cuda_objects(
        name = name,
        deps = deps + (["@local_cuda//:cudart"] if CUDA_FOUND else []),
        target_compatible_with = _REQUIRES_CUDA,
        **kwargs
    )

def cuda_test(name, srcs, deps = [], size = "small", tags = [], **kwargs):
    """A GoogleTest suite over CUDA libraries; `srcs` may hold .cu and .cc files."""
    device = [source for source in srcs if source.endswith(".cu")]
    if device:
        cuda_library(name = name + "_device", srcs = device, deps = deps + ["@gtest//:gtest"], testonly = True)
    native.cc_test(
        name = name,
        size = size,
        srcs = [source for source in srcs if not source.endswith(".cu")],
        copts = TOOL,
        # A GPU may come or go between two runs, so a pass is never taken from the cache.
        tags = tags + ["gpu", "external"],
        target_compatible_with = _REQUIRES_CUDA,
        deps = deps + ["@gtest//:gtest_main"] + ([":" + name + "_device"] if device else []),
        **kwargs
    )
