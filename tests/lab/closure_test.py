#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The hash of a lab's sources: what is in it, and that every part of it counts."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

HASHER, CLOSURE, LIST = (os.path.abspath(sys.argv.pop(1)) for _ in range(3))


class ClosureTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def digest(self, *lines):
        out = os.path.join(self.folder, "out.json")
        listing = self.write("list", "".join(line + "\n" for line in lines))
        subprocess.run([HASHER, listing, "//a:lab", out], check=True)
        with open(out, encoding="utf-8") as file:
            return json.load(file)

    def test_every_part_counts(self):
        a, b = self.write("a.cc", "int a;\n"), self.write("b.h", "int b;\n")
        lines = ["flag\t-ffp-contract=off", f"file\tx/a.cc\t{a}", f"file\tx/b.h\t{b}"]
        first = self.digest(*lines)
        self.assertEqual(first["files"], 2)
        self.assertEqual(first["target"], "//a:lab")
        self.assertEqual(self.digest(*lines), first)
        others = [
            self.digest("flag\t-ffp-contract=fast", *lines[1:]),
            self.digest(lines[0], f"file\ty/a.cc\t{a}", lines[2]),
            self.digest(*lines[:2]),
            self.digest(lines[0], lines[2], lines[1]),
        ]
        self.write("b.h", "int b; \n")
        others.append(self.digest(*lines))
        hashes = {other["closure_sha256"] for other in others} | {first["closure_sha256"]}
        self.assertEqual(len(hashes), 6)

    def test_a_lab_reaches_its_sources_and_those_below(self):
        with open(LIST, encoding="utf-8") as file:
            lines = file.read().splitlines()
        paths = [line.split("\t")[1] for line in lines if line.startswith("file\t")]
        for path in (
            "tests/lab/tiny_lab.cc",
            "tools/lab/lab.h",
            "tools/lab/lab.cc",
            "tools/lab/number.cc",
            "numerics/core/sha256.cc",
            "numerics/core/bits.h",
        ):
            self.assertIn(path, paths)
        self.assertEqual(paths, sorted(set(paths)))
        for path in paths:
            self.assertRegex(path, r"^(numerics|tests/lab|tools/lab)/[a-z_0-9/.-]+\.(cc|h)$")
            self.assertNotIn("absl", path)
        self.assertNotIn("tests/lab/other_lab.cc", paths)
        self.assertIn("flag\t-ffp-contract=off", lines)
        with open(CLOSURE, encoding="utf-8") as file:
            closure = json.load(file)
        self.assertEqual(closure["files"], len(paths))
        self.assertEqual(closure["target"], "//tests/lab:tiny_lab")
        self.assertRegex(closure["closure_sha256"], "^[0-9a-f]{64}$")


if __name__ == "__main__":
    unittest.main(verbosity=1)
