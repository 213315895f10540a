# SPDX-License-Identifier: Apache-2.0
"""Puts the package `assay` into a folder, for Debian's python3.

usage: bazel run //numerics/python:install -- --target DIR

Makes DIR/assay, or replaces the one that an earlier call has made. Then

    PYTHONPATH=DIR /usr/bin/python3 -c 'import assay; print(assay.isotonic([3, 1, 2]))'

The module in it is for Debian 12's Python 3.11 on x86-64; it needs NumPy, and torch and scikit-learn
only for what is named after them. Exit code: 0 done, 2 wrong use, 3 DIR/assay is something else.
"""

import argparse
import os
import shutil
import sys
import tempfile

import assay


def install(target):
    """Copies the package into the folder `target`, whole or not at all. Returns the copy's path."""
    source = os.path.dirname(assay.__file__)
    final = os.path.join(target, "assay")
    if os.path.lexists(final) and not os.path.isfile(os.path.join(final, "_numerics.so")):
        raise FileExistsError(f"{final} is there and is not this package; give another --target")
    os.makedirs(target, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target, prefix=".assay-") as folder:
        new = os.path.join(folder, "assay")
        os.mkdir(new)
        for name in sorted(os.listdir(source)):
            if name.endswith((".py", ".so")):
                shutil.copyfile(os.path.join(source, name), os.path.join(new, name))
        if os.path.lexists(final):
            os.rename(final, os.path.join(folder, "old"))
        os.rename(new, final)
    return final


def main(arguments):
    parser = argparse.ArgumentParser(
        prog="bazel run //numerics/python:install --", description="Puts the package assay into a folder."
    )
    parser.add_argument("--target", required=True, metavar="DIR", help="the folder; it is made if need be")
    target = parser.parse_args(arguments).target
    # Bazel runs programs elsewhere, and says where it was called.
    target = os.path.join(os.environ.get("BUILD_WORKING_DIRECTORY", ""), os.path.expanduser(target))
    try:
        print(f"installed {install(os.path.abspath(target))}")
    except OSError as error:
        print(f"install: {error}", file=sys.stderr)
        return 3
    print(f"use it with PYTHONPATH={os.path.abspath(target)} /usr/bin/python3")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
