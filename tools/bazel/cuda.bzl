# SPDX-License-Identifier: Apache-2.0
"""CUDA C++ for the articles' card (Tesla T4, sm_75) and for Hopper (sm_90), with PTX for newer ones.

    cuda_library(name, srcs, hdrs, deps, relocatable = False)
    cuda_test(name, srcs, deps)                         GoogleTest over CUDA libraries
    gpu_library(name, srcs, hdrs, deps, gpu_deps)       one source, two libraries: see below
    gpu_test(name, srcs, deps, gpu_deps)                one suite on the simulator and on a GPU
    cuda_cubin(name, src, arch, deps)                   NAME.cubin and NAME.ptxas.txt
    cuda_compile_test(name, src, deps)                  the kernels of one file compile with nvcc
    cuda_resource_test(name, src, max_registers, deps)  and take at most so many registers

Where the toolkit is missing all but the simulated halves are skipped (Bazel prints SKIPPED). A
cuda_test begins with `if (!assay::HaveGpu()) GTEST_SKIP();` and so passes on a machine without a
GPU; the tests' log counts it as skipped.
"""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")
load("@local_cuda//:defs.bzl", "CUDA_FOUND", "NVCC")
load("//tools/bazel:cc.bzl", "assay_library", "assay_test")
load("//tools/bazel:copts.bzl", "TOOL")

# target_compatible_with of what needs the toolkit.
REQUIRES_CUDA = [
    "@platforms//os:linux",
    "@platforms//cpu:x86_64",
] if CUDA_FOUND else ["@platforms//:incompatible"]

# What the device code of one file and its kernels' registers depend on.
_DEVICE_FLAGS = [
    "-std=c++20",
    "-O3",
    # Results are compared with the CPU's, where nothing fuses; a kernel that wants an FMA names it.
    "-fmad=false",
    "-lineinfo",
    "-Werror",
    "all-warnings",
    # nvcc takes `status = F()` for a status that is dropped; one that really is has number 3004.
    "-diag-suppress",
    "2810",
]

_FLAGS = _DEVICE_FLAGS + [
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

def _nvcc(ctx, toolchain, mode, arguments, inputs, output, message, log = None):
    """Runs nvcc; what it says goes to the file `log` where there is one."""
    ctx.actions.run_shell(
        command = """set -eu
TMPDIR=$(mktemp -d) && export TMPDIR && trap 'rm -rf "$TMPDIR"' EXIT
log=$1 && shift
if [ -z "$log" ]; then "$@"; else "$@" >"$log" 2>&1 || { cat "$log" >&2 && exit 1; }; fi
""",
        arguments = [log.path if log else "", NVCC, "-ccbin", toolchain.compiler_executable] + mode + arguments +
                    ["-o", output.path],
        inputs = inputs,
        outputs = [output] + ([log] if log else []),
        mnemonic = "Nvcc",
        progress_message = message,
        use_default_shell_env = True,
    )

def _preprocessing(ctx):
    """The merged compilation context of `deps`, and the flags that it makes."""
    compilation = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps]).compilation_context
    flags = ["-I.", "-I" + ctx.bin_dir.path]
    flags += ["-I" + path for path in compilation.quote_includes.to_list() if path not in [".", ctx.bin_dir.path]]
    for path in compilation.system_includes.to_list() + compilation.includes.to_list():
        flags += ["-isystem", path]
    return compilation, flags + ["-D" + define for define in compilation.defines.to_list()]

def _cuda_objects_impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    compilation, search = _preprocessing(ctx)
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
            search + ["-c", source.path],
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
        target_compatible_with = REQUIRES_CUDA,
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
        target_compatible_with = REQUIRES_CUDA,
        deps = deps + ["@gtest//:gtest_main"] + ([":" + name + "_device"] if device else []),
        **kwargs
    )

def _twin(label):
    """The CUDA half of a gpu_library: "//gpu/device" gives "//gpu/device:device_cuda"."""
    if ":" in label:
        return label + "_cuda"
    return "%s:%s_cuda" % (label, label.split("/")[-1])

def _as_cc(srcs):
    # g++ and emcc do not know what a .cu is.
    return ["-x", "c++"] if [source for source in srcs if source.endswith(".cu")] else []

# `#pragma unroll` is for nvcc; g++ does not know it, and clang says where it cannot.
_NVCC_ONLY = ["-Wno-unknown-pragmas", "-Wno-pass-failed"]

def gpu_library(name, srcs = [], hdrs = [], deps = [], gpu_deps = [], profile = "exact", copts = [], testonly = False, visibility = None, **kwargs):
    """One source, compiled twice: NAME by g++ or emcc for the simulator, NAME_cuda by nvcc.

    srcs: .cu files (kernels, host code over gpu/device) and private headers. deps: libraries of
    one kind only, which both halves use; gpu_deps: gpu_librarys, of which each half takes its own.
    """
    assay_library(
        name = name,
        srcs = srcs,
        hdrs = hdrs,
        copts = copts + _as_cc(srcs) + _NVCC_ONLY,
        profile = profile,
        deps = deps + gpu_deps,
        testonly = testonly,
        visibility = visibility,
        **kwargs
    )
    cuda_library(
        name = name + "_cuda",
        srcs = srcs,
        hdrs = hdrs,
        deps = deps + [_twin(dep) for dep in gpu_deps],
        testonly = testonly,
        visibility = visibility,
    )

def gpu_test(name, srcs, deps = [], gpu_deps = [], size = "small", copts = [], tags = [], **kwargs):
    """One GoogleTest suite (.cu files): NAME and NAME_wasm on the simulator, NAME_cuda on a GPU."""
    assay_test(
        name = name,
        size = size,
        srcs = srcs,
        copts = copts + _as_cc(srcs) + _NVCC_ONLY,
        deps = deps + gpu_deps,
        tags = tags,
        **kwargs
    )
    cuda_test(
        name = name + "_cuda",
        size = size,
        srcs = srcs,
        deps = deps + [_twin(dep) for dep in gpu_deps],
        tags = tags,
    )

def _cuda_cubin_impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    compilation, search = _preprocessing(ctx)
    cubin = ctx.actions.declare_file(ctx.label.name + ".cubin")
    log = ctx.actions.declare_file(ctx.label.name + ".ptxas.txt")
    _nvcc(
        ctx,
        toolchain,
        # A kernel that nobody launches is what such a file is made of.
        _DEVICE_FLAGS + ["-diag-suppress", "177", "-Xptxas", "-v", "-arch=sm_" + ctx.attr.arch],
        search + ["-x", "cu", "-cubin", ctx.file.src.path],
        depset([ctx.file.src], transitive = [compilation.headers]),
        cubin,
        "Compiling CUDA %s for sm_%s" % (ctx.file.src.short_path, ctx.attr.arch),
        log = log,
    )
    return [
        DefaultInfo(files = depset([cubin]), runfiles = ctx.runfiles(files = [cubin])),
        OutputGroupInfo(ptxas = depset([log])),
    ]

_cuda_cubin = rule(
    implementation = _cuda_cubin_impl,
    attrs = {
        "src": attr.label(allow_single_file = True, mandatory = True),
        "arch": attr.string(mandatory = True),
        "deps": attr.label_list(providers = [CcInfo]),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
    incompatible_use_toolchain_transition = True,
)

def cuda_cubin(name, src, arch = "75", deps = [], **kwargs):
    """Machine code of one file's kernels for one architecture ("75", "90", "90a"): NAME.cubin.

    `src` is a .cu, a header or a .cc with kernels. What ptxas says of registers, shared memory and
    spills is in NAME.ptxas.txt (output group `ptxas`).
    """
    _cuda_cubin(
        name = name,
        src = src,
        arch = arch,
        deps = deps + (["@local_cuda//:cudart"] if CUDA_FOUND else []),
        target_compatible_with = REQUIRES_CUDA,
        **kwargs
    )

def _cuda_resources_test_impl(ctx):
    logs = depset(transitive = [cubin[OutputGroupInfo].ptxas for cubin in ctx.attr.cubins]).to_list()
    arguments = ["--max-registers=%s=%s" % item for item in ctx.attr.max_registers.items()]
    arguments += ["--max-spill-bytes=%d" % ctx.attr.max_spill_bytes] if ctx.attr.max_spill_bytes >= 0 else []
    script = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.write(
        script,
        "#!/bin/bash\nexec /usr/bin/python3 %s %s\n" % (
            ctx.file._checker.short_path,
            " ".join(arguments + [log.short_path for log in logs]),
        ),
        is_executable = True,
    )
    return [DefaultInfo(executable = script, runfiles = ctx.runfiles(files = logs + [ctx.file._checker]))]

_cuda_resources_test = rule(
    implementation = _cuda_resources_test_impl,
    attrs = {
        "cubins": attr.label_list(mandatory = True),
        "max_registers": attr.string_dict(doc = "kernel to number, as text; \"\" is every kernel"),
        "max_spill_bytes": attr.int(default = -1),
        "_checker": attr.label(default = "//tools/bazel:check_cuda_resources.py", allow_single_file = True),
    },
    test = True,
)

def cuda_resource_test(name, src, max_registers = None, spills = 0, deps = [], archs = ["75", "90"], size = "small", tags = []):
    """What one thread of the kernels in `src` takes, as ptxas says for each of `archs`.

    max_registers: the most, for all kernels (a number) or by name ({"Reverse": 40}, by substring
    where a template has several). spills: the most bytes spilt, or None for as many as may be.
    """
    cubins = []
    for arch in archs:
        cuda_cubin(name = "%s_sm_%s" % (name, arch), src = src, arch = arch, deps = deps, testonly = True)
        cubins.append(":%s_sm_%s" % (name, arch))
    limits = max_registers if type(max_registers) == "dict" else {"": max_registers} if max_registers else {}
    _cuda_resources_test(
        name = name,
        size = size,
        cubins = cubins,
        max_registers = {kernel: str(most) for kernel, most in limits.items()},
        max_spill_bytes = -1 if spills == None else spills,
        tags = tags,
        target_compatible_with = REQUIRES_CUDA,
    )

def cuda_compile_test(name, src, deps = [], archs = ["75", "90"], size = "small", tags = []):
    """The kernels of `src` (a header, .cu or .cc) compile with nvcc for each of `archs`, at least one."""
    cuda_resource_test(name, src, None, None, deps, archs, size, tags)
