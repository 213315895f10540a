#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Reads archives of the exact profile: no fused multiply-add in the code, no call into libm.

usage: check_exact_objects.py ARCHIVE...

Exit code: 0 all clean, 1 something found or nothing to check.
"""

import re
import subprocess
import sys

# vfmadd132ps and its kin, four-operand FMA4, and the bfloat16 dot product, which fuses as well.
FUSED = re.compile(r"\bv?fn?m(?:add|sub)(?:sub|add)?(?:132|213|231)?[sp][sdh]\b|\bvdpbf16ps\b")

# glibc chooses among variants of these by CPU, so their bits differ between machines. sqrt, floor,
# ceil, trunc, rint and fabs are exact in IEEE arithmetic and allowed.
LIBM = {
    name + suffix
    for name in (
        "acos acosh asin asinh atan atan2 atanh cbrt cos cosh erf erfc exp exp10 exp2 expm1 fma hypot lgamma log "
        "log10 log1p log2 pow sin sincos sinh tan tanh tgamma"
    ).split()
    for suffix in ("", "f", "l")
}


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def faults_of(archive):
    function = "?"
    for line in run("/usr/bin/objdump", "-d", "--no-show-raw-insn", "-C", archive).splitlines():
        if line.endswith(">:"):
            function = line[line.index("<") + 1 : -2]
        elif FUSED.search(line):
            yield f"{archive}: fused instruction in {function}: {line.split(':', 1)[1].strip()}"
    for line in run("/usr/bin/nm", "-u", archive).splitlines():
        words = line.split()
        if len(words) == 2 and words[1].split("@")[0] in LIBM:
            yield f"{archive}: calls libm's {words[1]}"


def main(archives):
    faults = [fault for archive in archives for fault in faults_of(archive)]
    for fault in faults[:50]:
        print(fault)
    objects = sum(len(run("/usr/bin/ar", "t", archive).split()) for archive in archives)
    print(f"{objects} exact objects in {len(archives)} archives checked, {len(faults)} faults")
    return 1 if faults or not objects else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
