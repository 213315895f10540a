# SPDX-License-Identifier: Apache-2.0
"""Rules about C++ and CUDA: guards, includes, arrows, and what exact code may not do."""

import os
import re

import build_files
from tree import Fault

# Which packages a package may know; numerics/core and tools/lab are narrower than theirs.
ARROWS = {
    "numerics/core": {"numerics/core"},
    "numerics": {"numerics"},
    "gpu": {"gpu", "numerics"},
    "ml": {"ml", "gpu", "numerics"},
    "search": {"search", "ml", "gpu", "numerics"},
    "synth": {"synth", "ml", "gpu", "numerics"},
    "games": {"games", "ml", "gpu", "numerics"},
    "tools": {"tools", "gpu", "numerics"},
    "web": {"web", "tools", "games", "search", "synth", "ml", "gpu", "numerics"},
    "tests": {"tests", "web", "tools", "games", "search", "synth", "ml", "gpu", "numerics"},
}
PACKAGES = {name for name in ARROWS if "/" not in name}

# Libraries that are not ours and may be included with quotes all the same.
EXTERNAL = ("absl/", "hwy/", "Eigen/", "unsupported/Eigen/", "nlohmann/", "gtest/", "gmock/", "benchmark/")

LIBM = (
    "acos acosh asin asinh atan atan2 atanh cbrt cos cosh erf erfc exp exp10 exp2 expm1 fma hypot lgamma "
    "lerp log log10 log1p log2 pow sin sincos sinh tan tanh tgamma"
).split()


def guard_of(path):
    return "ASSAY_" + re.sub(r"[^A-Z0-9]", "_", path.upper()) + "_"


def header_guards(tree):
    """A header is guarded by ASSAY_ and its path: ASSAY_NUMERICS_FFT_FFT_H_."""
    paths = tree.select(".h", ".cuh")
    faults = []
    for path in paths:
        guard = guard_of(path)
        code = "\n".join(tree.code(path))
        per_target = re.search(r"#if defined\((\w+)\) == defined\(HWY_TARGET_TOGGLE\)", code)
        if per_target:
            # Highway includes such a header once for each instruction set, by a guard that toggles.
            if per_target.group(1) != guard:
                faults.append(Fault(path, 1, f"guard is {per_target.group(1)}, expected {guard}"))
            continue
        found = re.search(r"#ifndef (\w+)\s*\n#define (\w+)", code)
        if not found:
            # A header that is meant to be included more than once says so in its opening comment.
            if not any(tree.allowed(path, line, "header_guards") for line in range(1, min(30, len(tree.lines(path))))):
                faults.append(Fault(path, 1, f"no header guard, expected {guard}"))
        elif found.groups() != (guard, guard):
            line = code[: found.start()].count("\n") + 1
            faults.append(Fault(path, line, f"guard is {found.group(1)}, expected {guard}"))
        elif not tree.text(path).rstrip().endswith(f"#endif  // {guard}"):
            faults.append(Fault(path, len(tree.lines(path)), f"the last line is not `#endif  // {guard}`"))
    return len(paths), faults


def includes(tree):
    """Our headers are included with quotes by their path from the top, and exist."""
    paths = tree.cc()
    known = set(tree.paths)
    for target in build_files.targets(tree):  # headers that a rule makes
        known |= {target.package + "/" + name for name in build_files.strings(target.attributes.get("outs"))}
        known |= {target.package + "/" + name for name in build_files.strings(target.attributes.get("out"))}
    faults = []
    for path in paths:
        for number, line in enumerate(tree.code(path), 1):
            found = re.match(r'\s*#\s*(?:include|define HWY_TARGET_INCLUDE)\s*([<"])([^>"]+)[>"]', line)
            if not found:
                continue
            mark, name = found.groups()
            ours = name.split("/")[0] in PACKAGES and "/" in name
            if mark == "<" and ours:
                faults.append(Fault(path, number, f'<{name}> should be "{name}"'))
            elif mark == '"' and ours and name not in known:
                faults.append(Fault(path, number, f'"{name}" is not in the tree'))
            elif mark == '"' and not ours and not name.startswith(EXTERNAL):
                if not tree.allowed(path, number, "includes"):
                    faults.append(Fault(path, number, f'"{name}" is not a path from the top of the workspace'))
    return len(paths), faults


def may_know(path, other):
    """Whether the file or package at `path` may depend on the one at `other`."""
    for name in sorted(ARROWS, key=len, reverse=True):
        if path == name or path.startswith(name + "/"):
            return any(other == known or other.startswith(known + "/") for known in ARROWS[name])
    return True


def arrows(tree):
    """Dependencies point down only, in includes and in BUILD files; libraries know nothing of labs."""
    faults = []
    checked = 0
    for path in tree.cc():
        checked += 1
        if path.startswith("tools/lint/"):
            continue
        for number, line in enumerate(tree.code(path), 1):
            found = re.match(r'\s*#\s*include\s*"([^"]+)"', line)
            if found and found.group(1).split("/")[0] in PACKAGES and not may_know(path, found.group(1)):
                faults.append(Fault(path, number, f"may not know {found.group(1)}"))
    for path in tree.starlark():
        if os.path.basename(path) != "BUILD":
            continue
        checked += 1
    for target in build_files.targets(tree):
        test = target.rule.endswith("_test") or target.rule.endswith("_benchmark")
        for attribute in ("deps", "srcs", "hdrs"):
            for text in build_files.strings(target.attributes.get(attribute)):
                name = build_files.label(text, target.package)
                if name is None or not text.startswith("//") or name.startswith("//tools/bazel"):
                    continue
                other = name[2:].split(":")[0]
                # Tests and benchmarks may lean on what the library itself may not, inside the arrows
                # of their package.
                place = target.package.split("/")[0] if test else target.package
                if not may_know(place, other):
                    faults.append(Fault(target.path, target.line, f"{target.name} may not depend on {text}"))
    return checked, faults


def namespaces(tree):
    """No `using namespace`; ours is assay, or below it."""
    paths = tree.cc()
    faults = []
    for path in paths:
        for number, line in enumerate(tree.code(path), 1):
            if re.search(r"\busing\s+namespace\b", line) and not tree.allowed(path, number, "namespaces"):
                faults.append(Fault(path, number, "using namespace"))
            # With CUB included, std::vector inside a namespace called cuda means cuda::std::vector.
            if re.search(r"\bnamespace\s+(?:\w+::)*cuda\b", line):
                faults.append(Fault(path, number, "a namespace called cuda"))
    return len(paths), faults


def portable(tree):
    """Only C++20 that g++ 12 and clang 14 with Emscripten's libc++ share."""
    header = re.compile(r"#\s*include\s*<(format|ranges|source_location|expected|stop_token|syncstream|semaphore|latch|barrier)>")
    name = re.compile(r"\bstd::(?:format|ranges|views|jthread|source_location|stop_token)\b")
    paths = tree.cc()
    faults = []
    for path in paths:
        for number, line in enumerate(tree.code(path), 1):
            found = header.search(line) or name.search(line) or re.search(r"#\s*pragma\s+once", line)
            if found and not tree.allowed(path, number, "portable"):
                faults.append(Fault(path, number, f"not in every compiler of ours: {found.group()}"))
    return len(paths), faults


def streams(tree):
    """No <iostream> in libraries: it costs 138 KB of WebAssembly, and libraries are silent."""
    paths = sorted(_sources_of_libraries(tree, ("exact", "fast", "tool")))
    faults = []
    for path in paths:
        for number, line in enumerate(tree.code(path), 1):
            found = re.search(r"#\s*include\s*<(iostream|sstream|fstream|iomanip)>|\bstd::(?:cout|cerr)\b", line)
            if found and not tree.allowed(path, number, "streams"):
                faults.append(Fault(path, number, f"streams in a library: {found.group()}"))
    return len(paths), faults


def exceptions(tree):
    """Nothing throws: recoverable bad input is a status, our own bugs are checks."""
    paths = sorted(_sources_of_libraries(tree, ("exact", "fast", "tool")))
    faults = []
    for path in paths:
        for number, line in enumerate(tree.code(path), 1):
            if re.search(r"\bthrow\b|\bcatch\s*\(", line) and not tree.allowed(path, number, "exceptions"):
                faults.append(Fault(path, number, "throw or catch in a library"))
    return len(paths), faults


def exact_code(tree):
    """Exact code has no libm, <random>, std::shuffle, unstable sort without a total order, or hash order."""
    calls = r"(?:%s)(?:f|l)?" % "|".join(LIBM)
    banned = [
        (re.compile(r"\bstd::" + calls + r"\s*\("), "libm; use numerics/core/elementary.h"),
        (re.compile(r"(?<![\w:.>])(?:::)?" + calls + r"\s*\("), "libm; use numerics/core/elementary.h"),
        (re.compile(r"\b__builtin_" + calls + r"\s*\("), "libm or a fused operation"),
        (re.compile(r"#\s*include\s*<random>|\bstd::(?:mt19937|minstd_rand|random_device|\w+_distribution)\w*"), "use numerics/core/random.h"),
        (re.compile(r"\bstd::(?:random_)?shuffle\b|\bs?rand\s*\(\s*\)"), "use numerics/core/random.h"),
        (re.compile(r"\bstd::hash\b|\babsl::Hash\b"), "hashes differ between libraries"),
        (re.compile(r"#\s*include\s*<(?:chrono|ctime)>|\bstd::chrono\b"), "a clock"),
        (re.compile(r"\b(?:hn::|hwy::\w+::)?(?:Neg)?Mul(?:Add|Sub)(?:Sub|Add)?\s*\("), "fused on some machines; use Mul and Add"),
    ]
    hashed = re.compile(r"\bstd::unordered_\w+|\babsl::(?:flat|node)_hash_\w+")
    unstable = re.compile(r"\bstd::(?:sort|nth_element|partial_sort\w*|make_heap|push_heap|pop_heap|sort_heap|priority_queue)\b")
    paths = sorted(_sources_of_libraries(tree, ("exact",)) | _sources_of_labs(tree))
    faults = []
    for path in paths:
        for number, line in enumerate(tree.code(path), 1):
            for pattern, advice in banned:
                found = pattern.search(line)
                if found and not tree.allowed(path, number, "exact_code"):
                    faults.append(Fault(path, number, f"{found.group().strip()} in exact code: {advice}"))
                    break
            found = hashed.search(line)
            if found and not _says(tree, path, number, "never iterated"):
                faults.append(
                    Fault(path, number, f"{found.group()} in exact code without a comment `never iterated`")
                )
            found = unstable.search(line)
            if found and not _says(tree, path, number, "total order"):
                faults.append(
                    Fault(path, number, f"{found.group()} in exact code without a comment `total order`")
                )
    return len(paths), faults


def _says(tree, path, number, words):
    """True where the line or the three above it carry a comment with these words."""
    for line in tree.lines(path)[max(0, number - 4) : number]:
        if "//" in line and words in line.split("//", 1)[1]:
            return True
    return False


def profile_of(target):
    return build_files.string(target, "profile", "exact")


def _sources_of_libraries(tree, profiles):
    found = set()
    for target in build_files.targets(tree):
        planted = "testonly" in target.attributes
        if target.rule in build_files.LIBRARIES and profile_of(target) in profiles and not planted:
            found |= build_files.files(tree, target, "srcs", "hdrs", "textual_hdrs")
    return found


def _sources_of_labs(tree):
    return {path for path in tree.paths if re.match(r"web/articles/[^/]+/(lab|wasm)\.cc$", path)}
