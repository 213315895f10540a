# SPDX-License-Identifier: Apache-2.0
"""Tests of kernels on the simulator, which nvcc shall be able to compile as well.

    simt_test(name, srcs, kernels, deps)
"""

load("//tools/bazel:cc.bzl", "assay_test")
load("//tools/bazel:cuda.bzl", "cuda_compile_test")

def simt_test(name, srcs, kernels = [], deps = [], cuda_deps = None, archs = ["75", "90"], size = "small", copts = [], tags = [], **kwargs):
    """A GoogleTest suite over the simulator, natively and in WebAssembly; nvcc compiles its kernels.

    srcs: the suite. kernels: the files whose kernels nvcc compiles as NAME_FILE_nvcc: headers
    (x.cu.h), or sources in `srcs` that hold kernels and cases together and keep the cases, and what
    they include of the simulator, inside `#ifndef __CUDACC__`. Headers in `srcs` that end in .cu.h
    are kernels without being named. cuda_deps: what the kernels alone include; `deps` if not given.
    """
    kernels = kernels + [source for source in srcs if source.endswith(".cu.h") and source not in kernels]
    assay_test(
        name = name,
        size = size,
        srcs = srcs + [kernel for kernel in kernels if kernel not in srcs],
        # `#pragma unroll` is for nvcc; g++ does not know it, and clang says where it cannot.
        copts = copts + ["-Wno-unknown-pragmas", "-Wno-pass-failed"],
        deps = deps,
        tags = tags,
        **kwargs
    )
    for kernel in kernels:
        cuda_compile_test(
            name = "%s_%s_nvcc" % (name, kernel.split(".")[0].replace("/", "_")),
            src = kernel,
            archs = archs,
            deps = deps if cuda_deps == None else cuda_deps,
            tags = tags,
        )
