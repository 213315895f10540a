# SPDX-License-Identifier: Apache-2.0
"""External repositories: Debian's packages and what `tools/setup` unpacked into .deps.

`assay_repositories()` is what a library of ours needs; a workspace that depends on Assay calls it.
`assay_development_repositories()` adds what our tests, benchmarks and labs need.
"""

load("//tools/bazel:cuda_configure.bzl", "cuda_configure")
load("//tools/bazel:debian_optional.bzl", "debian_optional")
load("//tools/bazel:python.bzl", "debian_python")

def _unpacked_source_impl(ctx):
    # A repository rule of our own, since local_repository takes a relative path from the *main*
    # workspace, which is not ours where somebody depends on us.
    source = ctx.path(Label("//:WORKSPACE")).dirname.get_child(".deps").get_child(ctx.attr.folder)
    if not source.exists:
        fail("%s is missing: run tools/setup in the Assay checkout, which unpacks Debian's source package there" % source)
    for child in source.readdir():
        ctx.symlink(child, child.basename)

_unpacked_source = repository_rule(
    implementation = _unpacked_source_impl,
    attrs = {"folder": attr.string(mandatory = True)},
    local = True,
)

def _have(name):
    return native.existing_rule(name) != None

def assay_repositories():
    """What a single library needs; safe where the calling workspace has defined some of it already."""
    if not _have("rules_cc"):
        _shim(name = "rules_cc")
    if not _have("remote_coverage_tools"):
        _shim(name = "remote_coverage_tools", folder = "coverage")
    if not _have("rules_java"):
        native.local_repository(name = "rules_java", path = "/usr/share/bazel/rules/java")
    if not _have("platforms"):
        native.local_repository(name = "platforms", path = "/usr/share/bazel/tools/platforms")
    if not _have("bazel_skylib"):
        native.local_repository(name = "bazel_skylib", path = "/usr/share/bazel/tools/skylib")
    if not _have("com_google_absl"):
        _unpacked_source(name = "com_google_absl", folder = "abseil")
    if not _have("highway"):
        _unpacked_source(name = "highway", folder = "highway")
    if not _have("local_cuda"):
        cuda_configure(name = "local_cuda")

def assay_development_repositories():
    """What only tests, benchmarks and labs need: Debian's libraries, GoogleTest, data sets."""
    native.new_local_repository(
        name = "debian",
        path = "/usr",
        build_file = "@assay//tools/bazel/third_party:debian.BUILD",
    )
    debian_optional(
        name = "debian_peers",
        headers = {
            "dnnl": "dnnl.hpp",
            "flint": "flint/fmpz_poly.h",
            "ntl": "NTL/lzz_pX.h",
            "xsmm": "libxsmm.h",
        },
        linkopts = {
            "dnnl": ["-ldnnl"],
            "flint": ["-lflint"],
            "ntl": ["-lntl"],
            "xsmm": [
                "-lxsmm",
                "-lxsmmnoblas",
                "-ldl",
                "-lm",
            ],
        },
    )
    native.new_local_repository(
        name = "eigen",
        path = "/usr/include/eigen3",
        build_file = "@assay//tools/bazel/third_party:eigen.BUILD",
    )
    native.new_local_repository(
        name = "gtest",
        path = "/usr/src/googletest",
        build_file = "@assay//tools/bazel/third_party:gtest.BUILD",
    )
    native.new_local_repository(
        name = "nlohmann_json",
        path = "/usr/include/nlohmann",
        build_file = "@assay//tools/bazel/third_party:nlohmann_json.BUILD",
    )
    native.new_local_repository(
        name = "fashion_mnist",
        path = "/usr/share/datasets/fashion-mnist",
        build_file = "@assay//tools/bazel/third_party:fashion_mnist.BUILD",
    )
    debian_python(name = "debian_python")

def _shim_impl(ctx):
    folder = ctx.attr.folder or ctx.name
    source = ctx.path(Label("//tools/bazel:shims/%s/WORKSPACE" % folder)).dirname
    for child in source.readdir():
        ctx.symlink(child, child.basename)

_shim = repository_rule(
    implementation = _shim_impl,
    attrs = {"folder": attr.string()},
    local = True,
)
