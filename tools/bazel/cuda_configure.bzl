# SPDX-License-Identifier: Apache-2.0
"""Finds the CUDA toolkit, and says so to the rules; without one the CUDA targets are skipped.

CUDA_PATH names another toolkit than /usr/local/cuda; ASSAY_NO_CUDA=1 (--repo_env) switches it off.
"""

_BUILD = """# SPDX-License-Identifier: Apache-2.0
package(default_visibility = ["//visibility:public"])

cc_library(
    name = "cudart",
    srcs = ["lib64/libcudart_static.a"],
    hdrs = glob(["include/**"], exclude = ["include/cccl/**"]),
    includes = ["include"],
    linkopts = ["-ldl", "-lrt", "-pthread"],
    target_compatible_with = ["@platforms//os:linux", "@platforms//cpu:x86_64"],
)

# CUB, Thrust and libcu++, apart since they are a thousand headers.
cc_library(
    name = "cccl",
    hdrs = glob(["include/cccl/**"]),
    includes = ["include/cccl"],
    deps = [":cudart"],
)
"""

def _impl(ctx):
    home = ctx.path(ctx.os.environ.get("CUDA_PATH", "/usr/local/cuda"))
    off = ctx.os.environ.get("ASSAY_NO_CUDA", "") not in ["", "0"]
    nvcc = home.get_child("bin").get_child("nvcc")
    found = not off and nvcc.exists and home.get_child("lib64").exists
    if found:
        ctx.symlink(home.get_child("include"), "include")
        ctx.symlink(home.get_child("lib64"), "lib64")
    ctx.file("BUILD", _BUILD if found else "")
    ctx.file("defs.bzl", "CUDA_FOUND = %s\nNVCC = %r\n" % (found, str(nvcc) if found else ""))

cuda_configure = repository_rule(
    implementation = _impl,
    environ = ["CUDA_PATH", "ASSAY_NO_CUDA"],
    local = True,
)
