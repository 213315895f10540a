# SPDX-License-Identifier: Apache-2.0
"""Python: extension modules in C++, and tests and programs under Debian's own /usr/bin/python3.

    assay_python_extension(name = "assay/_numerics.so", srcs = ["bindings.cc"], deps = [...])
    assay_py_library(name = "assay", srcs = [...], data = [":assay/_numerics.so"])
    assay_py_test(name = "isotonic_test", srcs = ["isotonic_test.py"], deps = [":assay"])
"""

load("//tools/bazel:copts.bzl", "PROFILES")

_NATIVE = [
    "@platforms//cpu:x86_64",
    "@platforms//os:linux",
]

# What the tests import, so that a new version of it runs them again (see _debian_python_impl).
_VERSIONS = "@debian_python//:versions.txt"

# Python puts the folder of the program first on its path, with links resolved: the source tree, where
# a package lies without its modules in C++.
_ENV = {"PYTHONSAFEPATH": "1"}

def assay_python_extension(name, srcs, deps = [], **kwargs):
    """A module that Python loads: the shared library NAME (with .so), over pybind11.

    Exceptions and type information are on in these sources alone, where pybind11 needs them;
    everything but the module's entry is hidden.
    """
    native.cc_binary(
        name = name,
        srcs = srcs,
        copts = PROFILES["tool"] + ["-fvisibility=hidden"],
        linkopts = ["-Wl,--exclude-libs,ALL"],
        linkshared = True,
        target_compatible_with = _NATIVE,
        deps = deps + ["@debian_python//:pybind11"],
        **kwargs
    )

def assay_py_library(name, imports = ["."], **kwargs):
    """A py_library whose folder is on the path of those who depend on it."""
    native.py_library(name = name, imports = imports, **kwargs)

def assay_py_binary(name, imports = ["."], **kwargs):
    """A py_binary, which its test can import.

    Bazel must not put an __init__.py into the folder of the workspace: it is called assay, as the
    package is, and would be found first.
    """
    native.py_binary(name = name, imports = imports, legacy_create_init = 0, env = _ENV, **kwargs)

def assay_py_test(name, size = "small", main = None, data = [], deps = [], tags = [], extension = True, **kwargs):
    """A py_test, as assay_py_binary. It ends in cases.main() (tools/cases.py), which counts its cases.

    Args:
      name: the target.
      size: as in any test.
      main: the file to run; by default the one in srcs.
      data: further files; the versions of Debian's Python packages are added.
      deps: libraries.
      tags: as in any test.
      extension: whether it loads a module of ours. One that is built for a sanitizer does not load
        into a Python that is not, so the test is left out there.
      **kwargs: of py_test.
    """
    native.py_test(
        name = name,
        size = size,
        main = main,
        legacy_create_init = 0,
        data = data + [_VERSIONS],
        env = _ENV,
        deps = deps + ["//tools:cases"],
        tags = tags + (["nosan"] if extension else []),
        **kwargs
    )

def _debian_python_impl(ctx):
    # The headers, and the versions of the packages that tests import: Bazel sees neither by itself.
    ctx.symlink("/usr/include/python3.11", "python3.11")
    ctx.symlink("/usr/include/pybind11", "pybind11")
    ctx.symlink(Label("//tools/bazel/third_party:python.BUILD"), "BUILD")
    packages = ["python3", "python3-numpy", "python3-scipy", "python3-sklearn", "python3-torch", "python3-pytest"]
    found = ctx.execute(["dpkg-query", "-W"] + packages)
    if found.return_code != 0:
        fail("Python packages are missing: run tools/setup, which installs them (%s)" % found.stderr.strip())
    ctx.file("versions.txt", found.stdout)

debian_python = repository_rule(
    implementation = _debian_python_impl,
    doc = "Debian's Python 3.11 as :headers, :pybind11 and versions.txt.",
    local = True,
)
