# SPDX-License-Identifier: Apache-2.0
"""One page of the site: web/articles/<slug>/BUILD is one call of `article`.

    load("//tools/bazel:article.bzl", "article")

    article(
        name = "fft",
        lab_deps = ["//numerics/fft"],      # what lab.cc includes, beside tools/lab:lab
        demo_deps = ["//numerics/fft"],     # what wasm.cc includes
        demo_exports = ["spectrum"],        # its C functions, beside alloc, dealloc and message
        data = {"images": ":images"},       # files that the lab fetches in the browser, by name
        native_data = [":all_images"],      # further files that it reads natively
        demo_data = {"sketches": ":pack"},  # files that the demo fetches after a click, by name
    )

makes
    :fft              the rendered article, for //web/site
    :lab              the lab as a C++ library, for //web:lab
    :lab_closure      the hash of the sources that its numbers depend on
    :lab_wasm         the lab as a wasm module
    :lab_program      the lab alone as a program, and its tests (lab.bzl)
    :demo_wasm        the demo's module, where there is a wasm.cc
    :types_test       demo.ts checked, where there is one
"""

load("//tools/bazel:cc.bzl", "assay_library")
load("//tools/bazel:closure.bzl", "lab_closure")
load("//tools/bazel:lab.bzl", "LAB_EXPORTS", "lab_rules")
load("//tools/bazel:variants.bzl", "wasm_module")
load(
    "//tools/bazel:web.bzl",
    "ArticleInfo",
    "NODE_ATTRS",
    "TypeScriptInfo",
    "run_node",
    "typescript_test",
)

def _article_impl(ctx):
    slug = ctx.label.name
    rendered = ctx.actions.declare_directory(slug + ".page")
    folder = ctx.label.package
    run_node(
        ctx,
        ctx.file._renderer,
        [slug, folder, rendered.path],
        inputs = depset(ctx.files.srcs + ctx.files._devices),
        outputs = [rendered],
        mnemonic = "RenderArticle",
        progress_message = "Rendering the article " + slug,
    )
    modules = []
    for key, target in [("lab", ctx.file.lab_wasm), ("demo", ctx.file.demo_wasm)]:
        if target:
            modules.append((key, target))
    data = [(name, target.files.to_list()[0]) for target, name in ctx.attr.data.items()]
    demo_data = [(name, target.files.to_list()[0]) for target, name in ctx.attr.demo_data.items()]
    sources = depset(
        [ctx.file.demo] if ctx.file.demo else [],
        transitive = [target[TypeScriptInfo].sources for target in ctx.attr.demo_sources],
    )
    return [
        DefaultInfo(files = depset([rendered])),
        ArticleInfo(
            slug = slug,
            rendered = rendered,
            demo = ctx.file.demo,
            sources = sources,
            modules = modules,
            data = data,
            demo_data = demo_data,
        ),
    ]

_article = rule(
    implementation = _article_impl,
    attrs = dict(
        NODE_ATTRS,
        srcs = attr.label_list(allow_files = True),
        demo = attr.label(allow_single_file = [".ts"]),
        demo_sources = attr.label_list(providers = [TypeScriptInfo]),
        lab_wasm = attr.label(allow_single_file = [".wasm"]),
        demo_wasm = attr.label(allow_single_file = [".wasm"]),
        data = attr.label_keyed_string_dict(allow_files = True),
        demo_data = attr.label_keyed_string_dict(allow_files = True),
        _devices = attr.label(default = "//web/devices"),
        _renderer = attr.label(default = "//web/site:render_article", allow_single_file = [".mjs"]),
    ),
)

def article(name, lab_deps = [], demo_deps = [], demo_exports = [], data = {}, native_data = [], demo_data = {}):
    """See the top of this file.

    Args:
      name: the folder's name: slug, lab and page.
      lab_deps: C++ libraries of lab.cc.
      demo_deps: C++ libraries of wasm.cc.
      demo_exports: C functions of wasm.cc that demo.ts calls.
      data: name -> label of one file, as lab.json names it.
      native_data: labels of further files that the native lab reads.
      demo_data: name -> label of one file; counted in the size on the demo's button.
    """
    if not native.package_name().endswith("/" + name):
        fail("article %s: the folder is %s, expected one of that name" % (name, native.package_name()))
    assay_library(
        name = "lab",
        srcs = ["lab.cc"],
        deps = ["//tools/lab"] + lab_deps,
        alwayslink = True,
        visibility = ["//visibility:public"],
    )
    lab_closure(name = "lab_closure", lab = ":lab", visibility = ["//visibility:public"])
    wasm_module(
        name = "lab_wasm",
        deps = [":lab", "//tools/lab:wasm_entry"],
        exports = LAB_EXPORTS,
        visibility = ["//visibility:public"],
    )
    if native.package_name() == "web/articles/" + name:
        lab_rules(slug = name, data = data.values() + native_data)
    has_module = len(native.glob(["wasm.cc"])) > 0
    if has_module:
        assay_library(name = "demo", srcs = ["wasm.cc"], deps = demo_deps, alwayslink = True)
        wasm_module(
            name = "demo_wasm",
            deps = [":demo"],
            exports = ["alloc", "dealloc", "message"] + demo_exports,
            visibility = ["//visibility:public"],
        )
    has_demo = len(native.glob(["demo.ts"])) > 0
    if has_demo:
        typescript_test(
            name = "types_test",
            size = "small",
            srcs = ["demo.ts", "//web/elements", "//web/runtime"],
            tags = ["node"],
        )
    _article(
        name = name,
        srcs = native.glob([
            "*.cc",
            "*.h",
            "article.md",
            "demo.ts",
            "lab.json",
            "records/**",
        ]),
        demo = "demo.ts" if has_demo else None,
        demo_sources = ["//web/elements", "//web/runtime"],
        lab_wasm = ":lab_wasm",
        demo_wasm = ":demo_wasm" if has_module else None,
        data = {label: key for key, label in data.items()},
        demo_data = {label: key for key, label in demo_data.items()},
        visibility = ["//visibility:public"],
    )
