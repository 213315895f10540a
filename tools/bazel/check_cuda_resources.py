#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what `ptxas -v` says of kernels against limits.

usage: check_cuda_resources.py [--max-registers=KERNEL=N ...] [--max-spill-bytes=N] PTXAS.txt ...

KERNEL is a kernel's name without namespaces, or a part of its mangled name; empty means every
kernel. Prints a line for each kernel. Exit code: 1 where a kernel is over a limit, a log has no
kernel at all, or a limit names a kernel that no log has.
"""

import re
import sys


SPILLS = re.compile(r"(\d+) bytes spill (?:stores|loads)")


def kernels_of(text):
    """(mangled name, architecture, registers, spilt bytes) of every kernel in a log.

    Device functions that are not inlined follow the kernel that calls them, and their spills count
    as its own.
    """
    found = []
    for part in text.split("Compiling entry function ")[1:]:
        name, arch = re.match(r"'([^']+)' for '([^']+)'", part).groups()
        registers = re.search(r"Used (\d+) registers", part)
        found.append((name, arch, int(registers[1]) if registers else 0, sum(map(int, SPILLS.findall(part)))))
    return found


def is_called(mangled, kernel):
    """Whether a mangled name is that of `kernel` (Itanium mangling puts its length before it)."""
    return not kernel or f"{len(kernel)}{kernel}" in mangled or (len(kernel) > 1 and kernel in mangled)


def check(logs, max_registers, max_spill_bytes, out=sys.stdout):
    """Prints the kernels of `logs` ({file: text}) and their faults. Returns the number of faults."""
    faults = 0
    seen = set()
    for file, text in logs.items():
        kernels = kernels_of(text)
        if not kernels:
            faults += 1
            print(f"{file}: no kernel; expected at least one", file=out)
        if sum(map(int, SPILLS.findall(text))) != sum(spilt for _, _, _, spilt in kernels):
            faults += 1
            print(f"{file}: spills of a function that no kernel precedes; is this what ptxas -v says?", file=out)
        for name, arch, registers, spilt in kernels:
            print(f"{arch} {name}: {registers} registers, {spilt} bytes spilt", file=out)
            for kernel, most in max_registers.items():
                if is_called(name, kernel):
                    seen.add(kernel)
                    if registers > most:
                        faults += 1
                        print(f"  FAULT: {registers} registers; expected at most {most}", file=out)
            if max_spill_bytes is not None and spilt > max_spill_bytes:
                faults += 1
                print(f"  FAULT: {spilt} bytes spilt; expected at most {max_spill_bytes}", file=out)
    for kernel in max_registers:
        if kernel not in seen:
            faults += 1
            print(f"no kernel is called {kernel!r}, which has a limit", file=out)
    return faults


def main(arguments):
    max_registers = {}
    max_spill_bytes = None
    logs = {}
    for argument in arguments:
        if argument.startswith("--max-registers="):
            _, kernel, most = argument.split("=")
            max_registers[kernel] = int(most)
        elif argument.startswith("--max-spill-bytes="):
            max_spill_bytes = int(argument.split("=")[1])
        else:
            with open(argument, encoding="utf-8") as file:
                logs[argument] = file.read()
    if not logs:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    return 1 if check(logs, max_registers, max_spill_bytes) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
