#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The verdict table beside Oclgrind, the checker of OpenCL kernels.

usage: gpu/simt/verdicts/verdicts_peers.py [--verdicts PROGRAM] [--keep DIR] [--help]

The kernels are the table's own: what OpenCL C can say is translated line by line, so that a line
of the report is a line of the CUDA source. Rows that need what OpenCL C 1.2 has no word for (warps,
shuffles, grid barriers, waiting for other groups, leaving before a barrier, freed memory), or of
kinds that Oclgrind does not look for, are counted apart. Oclgrind runs with --data-races,
--uninitialized and --uniform-writes, and compiles without optimisation, or it names wrong lines.

  --verdicts PROGRAM   //gpu/simt/verdicts:verdicts_table, built (default: bazel-bin/gpu/simt/verdicts/verdicts_table)
  --keep DIR           leave the translated kernels there

Exit code: 0 the table was printed, 2 wrong use, 3 something is missing (Debian's package oclgrind,
or the program).
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.realpath(__file__))
FILES = ["shared_races", "histograms", "global_races", "barriers", "memory"]
SECONDS = 20  # for one run of Oclgrind

# What a report must say to be about a finding; other findings have no counterpart there.
WORDS = {
    "kRace": "data race",
    "kSameValueStores": "data race",
    "kUninitialisedRead": "ninitialized",
    "kOutOfBounds": "Invalid (?:read|write)|exceeds static array size",
    "kMisaligned": "not aligned",
    "kDivergentBarrier": "divergence",
    "kDeadlock": "divergence",
}

EXTENTS = {"kOne": (1,), "kThread": (1,), "kWarp": (32,), "kTwoWarps": (64,), "kBlock": (128,)}

# CUDA to OpenCL C, none across lines.
RULES = [
    (r"BUG\((.*)\);", r"\1;"),
    (r"KERNEL_RETURN", "return"),
    (r"SHARED\(([\w ]+), (\w+), ([^;]*)\);", lambda m: "__local %s %s[%s];" % (m[1], m[2], m[3].replace(", ", "]["))),
    (r"__sync(?:threads|warp)\(\)", "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)"),
    (r"__threadfence\(\)", "mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)"),
    (r"pointer_cast<(?:const )?(\w+)>\((&[^;]*?\])\)", r"((__local \1*)(\2))"),
    (r"pointer_cast<const (\w+)>\(((?:[^()]|\([^()]*\))*)\)", r"((__global const \1*)(\2))"),
    (r"make_(int\d)\(", r"(\1)("),
    (r"static_cast<([\w ]+)>\(", r"(\1)("),
    (r"atomicAdd\(", "atomic_add("),
    (r"atomicExch\(", "atomic_xchg("),
    (r"atomicCAS\(", "atomic_cmpxchg("),
    (r"sptr<int> ", "__local int* "),
]
BUILT_IN = {"threadIdx": "get_local_id", "blockIdx": "get_group_id", "blockDim": "get_local_size", "gridDim": "get_num_groups"}
FOREIGN = re.compile(r"__shfl|__match|__ballot|__any|__all_sync|__syncwarp\([^)]|GRID_SYNC|__threadfence_block|__nanosleep|_volatile|_acquire|_release|DYNAMIC_SHARED")


class Missing(Exception):
    """Something that has to be installed or built."""


def translate(text):
    """The CUDA lines as OpenCL C, each on its own line; kernels by name with their text and the line of the bug."""
    lines = text.split("\n")
    kernels = {}
    start = 0
    while start < len(lines):
        if not lines[start].startswith("template <bool kBug>"):
            start += 1
            continue
        end = next(k for k in range(start, len(lines)) if lines[k] == "}")
        body = "\n".join(lines[start : end + 1])
        name = re.search(r"void (\w+)\(", body)[1]
        bug = next(k for k in range(start, end) if "BUG(" in lines[k]) + 1
        said = re.sub(r"//.*", "", body)
        foreign = FOREIGN.search(said) or ("KERNEL_RETURN" in said and "__sync" in said)
        header, rest = body.split("{\n", 1)
        count = header.count("\n")
        code = [""] * (start + count)
        code.append("__kernel void %s(__global const int* in, __global int* out, int n) {" % name)
        for line in ("\n" + rest).split("\n")[1:]:
            for pattern, by in RULES:
                line = re.sub(pattern, by, line)
            for cuda, opencl in BUILT_IN.items():
                for number, axis in enumerate("xyz"):
                    line = line.replace("%s.%s" % (cuda, axis), "%s(%d)" % (opencl, number))
            code.append(line)
        kernels[name] = (None if foreign else "\n".join(code) + "\n", bug, "__syncwarp" in said)
        start = end
    return kernels


def extent(text):
    numbers = EXTENTS.get(text) or tuple(int(x) for x in re.findall(r"\d+", text.replace("Dim3", "")))
    return numbers + (1,) * (3 - len(numbers))


def table():
    """Rows of table.inc: (name, finding, grid, block, n, options)."""
    text = open(os.path.join(HERE, "table.inc"), encoding="ascii").read()
    rows = []
    for line in re.findall(r"^VERDICT\((.*)\),$", text, re.M):
        fields = [field.strip() for field in re.split(r",(?![^()]*\))", line)]
        rows.append((fields[0], fields[1], extent(fields[2]), extent(fields[3]), int(fields[4]), " ".join(fields[5:])))
    return rows


def oclgrind(folder, name, source, grid, block, n, garbage, bug):
    """What Oclgrind prints about a kernel, and how long it took."""
    with open(os.path.join(folder, name + ".cl"), "w", encoding="ascii") as file:
        file.write(source)
    sim = os.path.join(folder, name + ".sim")
    total = [g * b for g, b in zip(grid, block)]
    with open(sim, "w", encoding="ascii") as file:
        file.write(
            "%s.cl\n%s\n%d %d %d\n%d %d %d\n" % (name, name, *total, *block)
            + "<size=%d range=0:1:%d int>\n" % (4 * n, n - 1)
            + ("<size=%d noinit>\n" if garbage else "<size=%d fill=0 int>\n") % (4 * n)
            + "<size=4 int>\n%d\n" % n
        )
    start = time.perf_counter()
    try:
        run = subprocess.run(
            ["oclgrind-kernel", "--data-races", "--uninitialized", "--uniform-writes", "--build-options", "-cl-opt-disable -w -DkBug=%d" % bug, sim],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        said = run.stdout + run.stderr
    except subprocess.TimeoutExpired:
        said = "did not end"
    if "Build failure" in said:
        raise Missing("%s does not compile as OpenCL C: %s" % (name, said))
    return said, time.perf_counter() - start


def judge(said, finding, line):
    """Whether a report has the finding, and whether with the line of the bug."""
    reports = [report for report in re.split(r"\n\s*\n(?=\S)", said) if re.search(WORDS.get(finding, "(?!)"), report)]
    return bool(reports), any("At line %d " % line in report for report in reports)


def ours(program):
    """name to (times named, times accused, microseconds), as the program prints."""
    run = subprocess.run([program], capture_output=True, text=True, check=False)
    if run.returncode not in (0, 1):
        raise Missing("%s failed: %s" % (program, run.stderr.strip()))
    rows = [line.split("\t") for line in run.stdout.splitlines()]
    return {row[0]: (int(row[2]), int(row[3]), float(row[4])) for row in rows}


def compare(program, folder):
    if not shutil.which("oclgrind-kernel"):
        raise Missing("oclgrind-kernel is not installed (Debian: apt install oclgrind)")
    if not os.access(program, os.X_OK):
        raise Missing("%s is not there; build //gpu/simt/verdicts:verdicts_table" % program)
    mine = ours(program)
    kernels = {}
    for file in FILES:
        kernels.update(translate(open(os.path.join(HERE, file + ".cu.h"), encoding="ascii").read()))
    print("%-30s %-20s %9s %9s | %9s %6s %9s %9s" % ("row", "finding", "named", "us", "Oclgrind", "line", "accused", "us"))
    sums = {"rows": 0, "found": 0, "line": 0, "accused": 0, "ours": 0, "our_accused": 0}
    times = []
    apart = []
    nothing = "__kernel void Nothing(__global const int* in, __global int* out, int n) {}\n"
    idle = min(oclgrind(folder, "Nothing", nothing, (1, 1, 1), (1, 1, 1), 1, False, 0)[1] for _ in range(5))
    for name, finding, grid, block, n, options in table():
        source, line, has_warps = kernels[name]
        if source is None or finding not in WORDS or (has_warps and block[0] * block[1] > 32):
            apart.append(name)
            continue
        garbage = "garbage" in options
        said, seconds = oclgrind(folder, name, source, grid, block, n, garbage, 1)
        found, with_line = judge(said, finding, line)
        clean, _ = oclgrind(folder, name, source, grid, block, n, garbage, 0)
        accused = bool(clean.strip())
        named, my_accused, microseconds = mine[name]
        print(
            "%-30s %-20s %7d/5 %9.0f | %9s %6s %9s %9.0f"
            % (name, finding[1:], named, microseconds, "found" if found else "-", "yes" if with_line else "-", "yes" if accused else "-", 1e6 * seconds)
        )
        sums["rows"] += 1
        sums["found"] += found
        sums["line"] += with_line
        sums["accused"] += accused
        sums["ours"] += named == 5
        sums["our_accused"] += my_accused > 0
        times.append(((seconds - idle) * 1e6 / microseconds, seconds * 1e6 / microseconds))
    rest, whole = (sorted(ratios)[len(ratios) // 2] for ratios in zip(*times))
    only_here = [name for name in mine if name in apart or name not in kernels]
    print()
    print("%(rows)d rows that both can run: named with its line by ours %(ours)d, found by Oclgrind %(found)d, with its line %(line)d" % sums)
    print("clean kernels accused: ours %(our_accused)d, Oclgrind %(accused)d" % sums)
    print(
        "time of Oclgrind over ours, median: %.0f, and %.0f without the %.0f ms that it takes for a kernel that does nothing"
        % (whole, rest, 1e3 * idle)
    )
    print(
        "%d rows only here, of them named %d: %s"
        % (len(only_here), sum(mine[name][0] == 5 for name in only_here), ", ".join(only_here))
    )


def main(arguments):
    program = "bazel-bin/gpu/simt/verdicts/verdicts_table"
    keep = None
    while arguments:
        argument = arguments.pop(0)
        if argument in ("-h", "--help"):
            print(__doc__.strip())
            return 0
        if argument == "--verdicts" and arguments:
            program = arguments.pop(0)
        elif argument == "--keep" and arguments:
            keep = arguments.pop(0)
        else:
            print("verdicts_peers: do not know %r (see --help)" % argument, file=sys.stderr)
            return 2
    try:
        if keep:
            os.makedirs(keep, exist_ok=True)
            compare(os.path.abspath(program), keep)
        else:
            with tempfile.TemporaryDirectory() as folder:
                compare(os.path.abspath(program), folder)
    except Missing as error:
        print("verdicts_peers: %s" % error, file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
