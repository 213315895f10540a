# SPDX-License-Identifier: Apache-2.0
"""One article's lab as a program, and its tests; `article` (article.bzl) makes them all by lab_rules.

    lab_rules(slug, data)            :lab_files, :lab_data, :lab_program, :lab_test, :lab_wasm_test
    lab_program(name, lab, ...)      the lab alone as a program
    lab_test(name, slug, ...)        the quick records are what the lab computes
    lab_wasm_test(name, slug, ...)   native and wasm reports are the same bytes, quick and browser
"""

load("//tools/bazel:cc.bzl", "assay_binary")

# The C functions of a lab module, beside those that tools/lab/wasm_entry.cc exports by itself.
LAB_EXPORTS = [
    "alloc",
    "dealloc",
    "lab_output",
    "lab_output_len",
    "lab_reset",
    "lab_run",
    "lab_set_arg",
    "lab_set_data",
]

def lab_program(name, lab, data = [], tags = [], **kwargs):
    """A program that holds one lab: what //web:lab is for all. A test need not wait for the others."""
    assay_binary(
        name = name,
        data = data,
        tags = tags,
        target_compatible_with = ["@platforms//os:linux"],
        deps = [
            lab,
            "//tools/lab/program:main",
        ],
        **kwargs
    )

def lab_test(name, slug, program, size = "medium", profile = "quick", tags = [], data = [], **kwargs):
    """`lab verify SLUG`: every record of the profile, recomputed; records come from the runfiles.

    Args:
      name: of the test.
      slug: of the lab.
      program: what lab_program made, or //web:lab.
      size: of the test.
      profile: quick unless a lab's test has time for more.
      tags: of the test.
      data: lab.json, the records and the data files.
      **kwargs: as of any test.
    """
    native.sh_test(
        name = name,
        size = size,
        srcs = ["//tools/lab:lab_test.sh"],
        args = ["$(rootpath %s)" % program, slug, profile],
        data = [program] + data,
        tags = tags,
        **kwargs
    )

def lab_wasm_test(name, slug, program, wasm, size = "medium", profiles = ["quick", "browser"], tags = [], data = [], **kwargs):
    """The lab's module under Node gives the bytes of the native program.

    Args:
      name: of the test.
      slug: of the lab.
      program: what lab_program made.
      wasm: what wasm_module made.
      size: of the test.
      profiles: which to compare.
      tags: of the test.
      data: lab.json and the data files.
      **kwargs: as of any test.
    """
    native.sh_test(
        name = name,
        size = size,
        srcs = ["//tools/lab:lab_wasm_test.sh"],
        args = [
            "$(rootpath //tools/lab:run_wasm_lab.mjs)",
            "--wasm=$(rootpath %s)" % wasm,
            "--program=$(rootpath %s)" % program,
            "--slug=" + slug,
            "--profile=" + ",".join(profiles),
        ],
        data = [
            program,
            wasm,
            "//tools/lab:run_wasm_lab.mjs",
        ] + data,
        tags = tags + [
            "node",
            "wasm",
        ],
        **kwargs
    )

def lab_rules(slug, data = []):
    """What every article's lab has beside its library and its module.

    :lab_files are lab.json and the records, :lab_data what the native lab reads, :lab_program the lab
    alone as a program; :lab_test is there once quick records are, :lab_wasm_test always.

    Args:
      slug: of the lab.
      data: labels of the files that the native lab reads, beside the data sets that Debian installs.
    """
    native.filegroup(
        name = "lab_files",
        srcs = native.glob([
            "lab.json",
            "records/**",
        ]),
        visibility = ["//visibility:public"],
    )
    native.filegroup(
        name = "lab_data",
        # A dictionary for its keys: an article may name the data sets too.
        srcs = {label: None for label in ["@fashion_mnist//:files"] + data}.keys(),
        visibility = ["//visibility:public"],
    )
    lab_program(
        name = "lab_program",
        data = [
            ":lab_closure",
            ":lab_data",
        ],
        lab = ":lab",
    )
    if native.glob(["records/quick/*.json"]):
        lab_test(
            name = "lab_test",
            data = [":lab_files"],
            program = ":lab_program",
            slug = slug,
        )
    lab_wasm_test(
        name = "lab_wasm_test",
        data = [":lab_files"],
        program = ":lab_program",
        slug = slug,
        wasm = ":lab_wasm",
    )
