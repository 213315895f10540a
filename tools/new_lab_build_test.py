# SPDX-License-Identifier: Apache-2.0
"""A new lab in a scratch copy of the tree: made, run, verified, rendered and tested by its own Bazel."""

import os
import pwd
import shutil
import subprocess
import tempfile
import unittest

import cases
import tree as trees

ROOT = os.path.dirname(os.path.dirname(os.path.realpath("tools/new_lab")))
NAME = "mean-of-means"


class NewLabBuilds(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.copy = os.path.join(self.folder, "assay")
        for path in trees.Tree.of(ROOT).paths:
            os.makedirs(os.path.dirname(os.path.join(self.copy, path)), exist_ok=True)
            shutil.copy2(os.path.join(ROOT, path), os.path.join(self.copy, path), follow_symlinks=False)
        for unpacked in (".deps", "web/node_modules"):
            os.symlink(os.path.join(ROOT, unpacked), os.path.join(self.copy, unpacked))
        # An output base of its own; the disk cache only saves compiling Abseil again.
        self.environment = {"HOME": pwd.getpwuid(os.getuid()).pw_dir, "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
        self.start_up = [f"--output_base={self.folder}/base", "--max_idle_secs=5"]
        self.addCleanup(self.clean)

    def clean(self):
        self.run_in_copy("bazel", *self.start_up, "shutdown", check=False)
        subprocess.run(["chmod", "-R", "u+w", self.folder], check=False)
        shutil.rmtree(self.folder, ignore_errors=True)

    def run_in_copy(self, *command, check=True):
        result = subprocess.run(
            command, cwd=self.copy, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        if check:
            self.assertEqual(result.returncode, 0, f"{' '.join(command)}\n{result.stdout[-8000:]}")
        return result.stdout

    def test_a_new_lab_builds_runs_verifies_and_renders(self):
        said = self.run_in_copy("tools/new_lab", NAME, *["--bazel-option=" + option for option in self.start_up])
        self.assertEqual(said.count("2 claims hold"), 3, said)  # quick, browser, full
        # The page itself is rendered because the pattern names every target, tests or not.
        tested = self.run_in_copy("bazel", *self.start_up, "test", "--noshow_progress", f"//web/articles/{NAME}/...")
        for test in ("demo_test", "lab_test", "lab_wasm_test", "types_test"):
            self.assertRegex(tested, rf"//web/articles/{NAME}:{test} +(\(cached\) )?PASSED")
        # The lint finds nothing in what was written.
        lint = self.run_in_copy("/usr/bin/python3", "tools/lint/lint.py", check=False)
        self.assertIn("web_format:", lint)  # the last rule ran
        self.assertNotIn(f"web/articles/{NAME}/", lint)
        # And it stands where the lab program and the home page look for it.
        with open(os.path.join(self.copy, "web/articles.bzl"), encoding="utf-8") as file:
            self.assertIn(f'    "{NAME}",\n', file.read())


if __name__ == "__main__":
    cases.main()
