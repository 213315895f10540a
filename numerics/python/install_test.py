# SPDX-License-Identifier: Apache-2.0
"""What `install` makes is imported by a plain python3."""

import contextlib
import io
import os
import subprocess
import tempfile
import unittest

import cases
import install

PROGRAM = "import assay, sys; assert assay.__file__.startswith(sys.argv[1]); print(assay.isotonic([3.0, 1.0, 2.0]))"


class Install(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.target = os.path.join(folder.name, "new", "folder")

    def main(self, *arguments):
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            status = install.main(list(arguments))
        return status, said.getvalue()

    def use(self):
        return subprocess.run(
            ["/usr/bin/python3", "-B", "-c", PROGRAM, self.target],
            env={"PYTHONPATH": self.target},
            cwd="/",
            check=True,
            capture_output=True,
            text=True,
        ).stdout

    def test_installs_and_replaces(self):
        for _ in range(2):
            status, said = self.main("--target", self.target)
            self.assertEqual((status, self.use()), (0, "[2. 2. 2.]\n"), said)
            self.assertIn("PYTHONPATH=" + self.target, said)
            self.assertEqual(os.listdir(self.target), ["assay"])
        stale = os.path.join(self.target, "assay", "stale.py")
        open(stale, "w").close()
        self.main("--target", self.target)
        self.assertFalse(os.path.exists(stale))

    def test_leaves_a_folder_of_somebody_else_alone(self):
        other = os.path.join(self.target, "assay", "thesis.txt")
        os.makedirs(os.path.dirname(other))
        open(other, "w").close()
        status, said = self.main("--target", self.target)
        self.assertEqual(status, 3)
        self.assertIn("is not this package", said)
        self.assertTrue(os.path.exists(other))
        self.assertEqual(os.listdir(self.target), ["assay"])

    def test_needs_a_target(self):
        with self.assertRaises(SystemExit) as error:
            self.main()
        self.assertEqual(error.exception.code, 2)

    def test_relative_to_where_bazel_was_called(self):
        os.environ["BUILD_WORKING_DIRECTORY"] = os.path.dirname(self.target)
        self.addCleanup(os.environ.pop, "BUILD_WORKING_DIRECTORY")
        self.assertEqual(self.main("--target", "folder")[0], 0)
        self.assertEqual(self.use(), "[2. 2. 2.]\n")


if __name__ == "__main__":
    cases.main()
