# SPDX-License-Identifier: Apache-2.0
"""Rules about BUILD files: our macros, sizes of tests, and that no exact library goes unchecked."""

import ast
import os
import re

import build_files
from rules_cc import profile_of
from tree import Fault

EXACT_LIST = "//tests/profiles:exact_objects_test"


def macros(tree):
    """C++ targets go through the macros of //tools/bazel:cc.bzl, which carry our flags."""
    faults = []
    paths = [path for path in tree.starlark() if not path.startswith("tools/bazel/")]
    for path in paths:
        module = build_files.parse(tree, path)
        if module is None:
            faults.append(Fault(path, 1, "does not parse"))
            continue
        for node in ast.walk(module):
            name = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if re.fullmatch(r"(native\.)?cc_(library|binary|test|import|shared_library)", name):
                if not tree.allowed(path, node.lineno, "macros"):
                    faults.append(Fault(path, node.lineno, f"{name}; use assay_{name.rsplit('cc_', 1)[1]} or its kin"))
    return len(paths), faults


def test_sizes(tree):
    """Every test states its size, itself or by its macro's default."""
    defaulted = build_files.macros_with_a_size(tree)
    checked = 0
    faults = []
    for target in build_files.targets(tree):
        if not target.rule.endswith("_test") or target.path.startswith("tools/bazel/third_party"):
            continue
        checked += 1
        if "size" not in target.attributes and target.rule not in defaulted:
            faults.append(Fault(target.path, target.line, f"test {target.name} without a size"))
    return checked, faults


def manual_targets(tree):
    """No test hides from //...: the tag "manual" needs its reason."""
    checked = 0
    faults = []
    for target in build_files.targets(tree):
        if target.path.startswith("tools/bazel/"):
            continue
        checked += 1
        if "manual" in build_files.strings(target.attributes.get("tags")):
            lines = range(target.line, getattr(target.attributes["tags"], "end_lineno", target.line) + 1)
            if not any(tree.allowed(target.path, line, "manual_targets") for line in lines):
                faults.append(Fault(target.path, target.line, f"{target.name} is tagged manual"))
    return checked, faults


def exact_is_checked(tree):
    """Every library of the exact profile is reached by //tests/profiles:exact_objects_test."""
    deps = {}
    exact = {}
    for target in build_files.targets(tree):
        name = f"//{target.package}:{target.name}"
        labels = {
            build_files.label(text, target.package) for text in build_files.strings(target.attributes.get("deps"))
        }
        deps.setdefault(name, set()).update(label for label in labels if label)
        testonly = "testonly" in target.attributes
        if target.rule in build_files.LIBRARIES and profile_of(target) == "exact" and not testonly:
            if build_files.files(tree, target, "srcs"):  # headers alone have no object
                exact[name] = target
    reached = set()
    waiting = [EXACT_LIST]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += deps.get(name, ())
    faults = [
        Fault(target.path, target.line, f"{name} is exact and not below the deps of {EXACT_LIST}")
        for name, target in sorted(exact.items())
        if name not in reached
    ]
    return len(exact), faults


def room_layout(tree):
    """A room that has a header named after it has a target of that name, so that //package/room finds it."""
    named = {(target.package, target.name) for target in build_files.targets(tree)}
    checked = 0
    faults = []
    for path in tree.paths:
        parts = path.split("/")
        if len(parts) == 3 and parts[2] == parts[1] + ".h" and parts[0] not in ("tests", "tools", "web"):
            checked += 1
            package = "/".join(parts[:2])
            if (package, parts[1]) not in named:
                faults.append(Fault(package + "/BUILD", 1, f"no target named {parts[1]}, after {path}"))
    return checked, faults


def orphans(tree):
    """Every C++ and CUDA file belongs to a target, so that nothing lies about unbuilt."""
    owned = set()
    for target in build_files.targets(tree):
        owned |= build_files.files(tree, target, *target.attributes)
        if target.rule == "article":  # the macro names them itself
            owned |= {target.package + "/" + name for name in ("lab.cc", "wasm.cc")}
    paths = tree.cc()
    faults = [Fault(path, 1, "belongs to no target of a BUILD file") for path in paths if path not in owned]
    return len(paths), faults
