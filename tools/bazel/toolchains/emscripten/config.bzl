# SPDX-License-Identifier: Apache-2.0
"""Debian's Emscripten 3.1.6 as a C++ toolchain. A cc_test or cc_binary links to one .js file."""

load("@bazel_tools//tools/build_defs/cc:action_names.bzl", "ACTION_NAMES")
load(
    "@bazel_tools//tools/cpp:cc_toolchain_config_lib.bzl",
    "feature",
    "flag_group",
    "flag_set",
    "tool_path",
)

_COMPILE = [
    ACTION_NAMES.c_compile,
    ACTION_NAMES.cpp_compile,
    ACTION_NAMES.cpp_header_parsing,
    ACTION_NAMES.assemble,
    ACTION_NAMES.preprocess_assemble,
]

_LINK = [ACTION_NAMES.cpp_link_executable]

def _flags(name, actions, flags):
    return feature(
        name = name,
        enabled = True,
        flag_sets = [flag_set(actions = actions, flag_groups = [flag_group(flags = flags)])],
    )

def _impl(ctx):
    return cc_common.create_cc_toolchain_config_info(
        ctx = ctx,
        toolchain_identifier = "emscripten",
        host_system_name = "x86_64-linux",
        target_system_name = "wasm32-emscripten",
        target_cpu = "wasm32",
        target_libc = "musl",
        compiler = "clang",
        abi_version = "wasm32",
        abi_libc_version = "musl",
        cxx_builtin_include_directories = [
            "/usr/share/emscripten/cache/sysroot/include",
            "/usr/lib/llvm-14/lib/clang/14.0.6/include",
        ],
        tool_paths = [
            tool_path(name = "gcc", path = "emcc.sh"),
            tool_path(name = "ld", path = "emcc.sh"),
            tool_path(name = "cpp", path = "emcc.sh"),
            tool_path(name = "ar", path = "/usr/bin/llvm-ar-14"),
            tool_path(name = "nm", path = "/usr/bin/llvm-nm-14"),
            tool_path(name = "objdump", path = "/usr/bin/llvm-objdump-14"),
            tool_path(name = "strip", path = "/bin/false"),
            tool_path(name = "gcov", path = "/bin/false"),
        ],
        features = [
            feature(name = "opt"),
            feature(name = "fastbuild"),
            feature(name = "dbg"),
            feature(name = "supports_pic", enabled = False),
            feature(name = "supports_start_end_lib", enabled = False),
            feature(name = "supports_dynamic_linker", enabled = False),
            _flags("wasm_compile", _COMPILE, [
                "-msimd128",
                "-ffp-contract=off",
                "-O3",
                "-DNDEBUG",
                "-Wno-builtin-macro-redefined",
                "-D__DATE__=\"redacted\"",
                "-D__TIME__=\"redacted\"",
                "-D__TIMESTAMP__=\"redacted\"",
            ]),
            _flags("wasm_link", _LINK, [
                "-msimd128",
                "-sSINGLE_FILE=1",
                "-sENVIRONMENT=node",
                "-sNODERAWFS=1",
                "-sALLOW_MEMORY_GROWTH=1",
                "-sTOTAL_STACK=1048576",
                "-sEXIT_RUNTIME=1",
                "-O2",
                # Keeps line breaks: without it Node prints the failing "line", all of the program.
                "-g1",
            ]),
        ],
    )

emscripten_config = rule(implementation = _impl, provides = [CcToolchainConfigInfo])
