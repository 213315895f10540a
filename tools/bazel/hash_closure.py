#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Hashes a list of sources and flags: hash_closure.py LIST TARGET OUT (see closure.bzl)."""

import hashlib
import json
import sys


def main(list_path: str, target: str, out_path: str) -> None:
    total = hashlib.sha256()
    files = 0
    with open(list_path, encoding="utf-8") as lines:
        for line in lines:
            kind, *fields = line.rstrip("\n").split("\t")
            if kind == "flag":
                total.update(f"flag  {fields[0]}\n".encode())
            else:
                short_path, path = fields
                with open(path, "rb") as source:
                    digest = hashlib.sha256(source.read()).hexdigest()
                total.update(f"{digest}  {short_path}\n".encode())
                files += 1
    with open(out_path, "w", encoding="utf-8") as out:
        json.dump({"closure_sha256": total.hexdigest(), "files": files, "target": target}, out, sort_keys=True)
        out.write("\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
