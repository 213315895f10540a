# SPDX-License-Identifier: Apache-2.0
"""The same targets in another build: WebAssembly, or clang beside g++.

A configuration transition rebuilds `actual` and all below it, so plain `bazel build //...` and
`bazel test //...` cover every variant.

    wasm_test(name, actual)             a cc_test run under Node
    clang_test(name, actual, args)      a cc_test or program built by clang, run natively
    wasm_module(name, deps, exports)    NAME.wasm with a plain C interface for pages and workers
"""

_OPTION = "//command_line_option:"
_SETTINGS = [_OPTION + name for name in [
    "compilation_mode",
    "conlyopt",
    "copt",
    "cpu",
    "crosstool_top",
    "cxxopt",
    "dynamic_mode",
    "features",
    "force_pic",
    "linkopt",
    "platforms",
]]

def _wasm_impl(_settings, _attr):
    return {
        _OPTION + "compilation_mode": "opt",
        _OPTION + "conlyopt": [],
        _OPTION + "copt": [],
        _OPTION + "cpu": "wasm32",
        _OPTION + "crosstool_top": "//tools/bazel/toolchains/emscripten:suite",
        _OPTION + "cxxopt": [],
        _OPTION + "dynamic_mode": "off",
        _OPTION + "features": [],
        _OPTION + "force_pic": False,
        _OPTION + "linkopt": [],
        _OPTION + "platforms": ["//tools/bazel/platforms:wasm"],
    }

wasm_transition = transition(implementation = _wasm_impl, inputs = [], outputs = _SETTINGS)

def _clang_impl(_settings, _attr):
    return {_OPTION + "platforms": ["//tools/bazel/platforms:linux_clang"]}

clang_transition = transition(
    implementation = _clang_impl,
    inputs = [],
    outputs = [_OPTION + "platforms"],
)

_ALLOWLIST = attr.label(default = "@bazel_tools//tools/allowlists/function_transition_allowlist")

def _wasm_test_impl(ctx):
    actual = ctx.attr.actual[0]
    script = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.write(
        script,
        """#!/bin/bash
# WebAssembly sees no environment: what Bazel says through it goes on the command line.
set -eu
args=()
[ -z "${XML_OUTPUT_FILE:-}" ] || args+=("--gtest_output=xml:$XML_OUTPUT_FILE")
[ -z "${TESTBRIDGE_TEST_ONLY:-}" ] || args+=("--gtest_filter=$TESTBRIDGE_TEST_ONLY")
# Node 24 has dropped the flag by which Emscripten 3.1.6's glue is kept from Node's own fetch.
flag=--no-experimental-fetch
[ "$(node -p 'process.versions.node.split(".")[0]')" -lt 24 ] || flag=--no-warnings
exec node "$flag" --stack-size=4000 "%s" "${args[@]}" "$@"
""" % ctx.executable.actual.short_path,
        is_executable = True,
    )
    runfiles = ctx.runfiles(files = [ctx.executable.actual])
    return [DefaultInfo(executable = script, runfiles = runfiles.merge(actual[DefaultInfo].default_runfiles))]

wasm_test = rule(
    implementation = _wasm_test_impl,
    attrs = {
        "actual": attr.label(cfg = wasm_transition, executable = True, mandatory = True),
        "_allowlist_function_transition": _ALLOWLIST,
    },
    test = True,
)

def _clang_test_impl(ctx):
    actual = ctx.attr.actual[0]
    script = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.write(
        script,
        "#!/bin/bash\nexec \"%s\" \"$@\"\n" % ctx.executable.actual.short_path,
        is_executable = True,
    )
    runfiles = ctx.runfiles(files = [ctx.executable.actual])
    return [DefaultInfo(executable = script, runfiles = runfiles.merge(actual[DefaultInfo].default_runfiles))]

clang_test = rule(
    implementation = _clang_test_impl,
    attrs = {
        "actual": attr.label(cfg = clang_transition, executable = True, mandatory = True),
        "_allowlist_function_transition": _ALLOWLIST,
    },
    test = True,
)

def _wasm_module_impl(ctx):
    libraries = []
    for dep in ctx.attr.deps:
        for input in dep[CcInfo].linking_context.linker_inputs.to_list():
            for library in input.libraries:
                archive = library.static_library or library.pic_static_library
                if archive:
                    libraries.append((archive, library.alwayslink))
    output = ctx.outputs.wasm
    arguments = ctx.actions.args()
    arguments.add_all([
        "-O3",
        "-msimd128",
        "--no-entry",
        "-sSTANDALONE_WASM=1",
        "-sALLOW_MEMORY_GROWTH=1",
        "-sFILESYSTEM=0",
        "-sMALLOC=emmalloc",
        "-sSTACK_OVERFLOW_CHECK=0",
        # The functions a module asks of its host are declared with an import name in the source.
        "-sERROR_ON_UNDEFINED_SYMBOLS=0",
        "-sWARN_ON_UNDEFINED_SYMBOLS=0",
        "-sEXPORTED_FUNCTIONS=" + ",".join(["_" + name for name in ctx.attr.exports]),
        "-o",
        output,
    ])
    seen = {}
    for archive, alwayslink in libraries:
        if archive.path in seen:
            continue
        seen[archive.path] = True
        if alwayslink:
            arguments.add_all(["-Wl,--whole-archive", archive, "-Wl,--no-whole-archive"])
        else:
            arguments.add(archive)
    ctx.actions.run(
        executable = ctx.executable._emcc,
        arguments = [arguments],
        inputs = [archive for archive, _ in libraries],
        outputs = [output],
        mnemonic = "WasmLink",
        progress_message = "Linking WebAssembly module " + output.short_path,
    )
    return [DefaultInfo(files = depset([output]), runfiles = ctx.runfiles(files = [output]))]

wasm_module = rule(
    implementation = _wasm_module_impl,
    doc = """Links `deps` into NAME.wasm with a plain C interface: standalone, no JavaScript glue.

`exports` names the C functions (extern "C", without the leading underscore) that the page calls.
""",
    attrs = {
        "deps": attr.label_list(cfg = wasm_transition, providers = [CcInfo], mandatory = True),
        "exports": attr.string_list(mandatory = True),
        "_allowlist_function_transition": _ALLOWLIST,
        "_emcc": attr.label(
            default = "//tools/bazel/toolchains/emscripten:emcc.sh",
            allow_single_file = True,
            cfg = "exec",
            executable = True,
        ),
    },
    outputs = {"wasm": "%{name}.wasm"},
)
