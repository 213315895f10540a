# SPDX-License-Identifier: Apache-2.0
"""The README, word for word: its program builds and says what it should, its commands and targets exist."""

import os
import pwd
import re
import shutil
import subprocess
import tempfile
import unittest

import cases

ROOT = os.path.dirname(os.path.realpath("README.md"))
PAGES = ("README.md", "CONTRIBUTING.md", "tools/README.md", "tests/README.md", "web/README.md", "gpu/README.md")
# A name that stands for the reader's own.
OWN = "mean-of-means"


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def commands(text):
    """What stands in indented or fenced blocks and in single words of code."""
    blocks = re.findall(r"^    (.+)$", text, re.MULTILINE) + re.findall(r"`([^`\n]+)`", text)
    return [line.strip() for line in blocks]


class Readme(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.home = pwd.getpwuid(os.getuid()).pw_dir
        self.environment = {"HOME": self.home, "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
        self.start_up = [f"--output_base={self.folder}/base", "--max_idle_secs=5"]
        self.addCleanup(self.clean)

    def clean(self):
        for place in (os.path.join(self.folder, "mine"), ROOT):
            if os.path.isdir(os.path.join(self.folder, "base")) and os.path.isdir(place):
                self.run_in(place, "bazel", *self.start_up, "shutdown")
        subprocess.run(["chmod", "-R", "u+w", self.folder], check=False)
        shutil.rmtree(self.folder, ignore_errors=True)

    def run_in(self, place, *command):
        return subprocess.run(command, cwd=place, env=self.environment, capture_output=True, text=True)

    def test_its_program_builds_in_a_workspace_of_its_own(self):
        blocks = re.findall(r"^```(\w+)\n(.*?)^```$", read("README.md"), re.MULTILINE | re.DOTALL)
        python = [text for language, text in blocks if language == "python"]
        program = next(text for language, text in blocks if language == "cpp")
        mine = os.path.join(self.folder, "mine")
        os.mkdir(mine)
        self.assertIn("/path/to/assay", python[0])
        for name, text in (
            ("WORKSPACE", python[0].replace("/path/to/assay", ROOT)),
            ("BUILD", python[1]),
            ("near.cc", program),
        ):
            with open(os.path.join(mine, name), "w", encoding="utf-8") as file:
                file.write(text)
        # The disk cache only saves the time of compiling Abseil again.
        flags = ["--noshow_progress", f"--disk_cache={self.home}/.cache/assay-bazel"]
        result = self.run_in(mine, "bazel", "--nohome_rc", *self.start_up, "run", *flags, "//:near")
        self.assertEqual(result.returncode, 0, result.stderr[-8000:])
        self.assertEqual(result.stdout, "1\n2\n")
        self.assertIn("prints 1 and 2", read("README.md"))

    def test_its_tools_exist_and_know_the_options_given(self):
        seen = set()
        for page in PAGES:
            for line in commands(read(page)):
                found = re.match(r"(tools/[\w/.]*[\w.])(?!/)((?: +-[\w=,./-]+)*)", line)
                if not found:
                    continue
                tool = os.path.join(ROOT, found.group(1))
                self.assertTrue(os.path.exists(tool), line)
                if os.path.isdir(tool) or not os.access(tool, os.X_OK):
                    continue
                seen.add(found.group(1))
                text = self.run_in(ROOT, tool, "--help").stdout
                self.assertIn("usage: ", text, line)
                for option in found.group(2).split():
                    name = option.split("=")[0]
                    if name != "--config":  # Bazel's, passed on
                        self.assertIn(name, text, line)
        self.assertLessEqual({"tools/site", "tools/test", "tools/new_lab", "tools/format"}, seen)

    def test_its_targets_exist(self):
        labels = set()
        for page in PAGES:
            for line in commands(read(page)):
                labels.update(re.findall(r"(?<![\w@/.:])//[a-z][\w-]*(?:/[\w-]+)*(?:/\.\.\.|:[\w.-]+)?", line))
        labels = sorted(label for label in labels if OWN not in label)
        self.assertIn("//web:lab", labels)
        self.assertIn("//numerics/fft:fft_test_wasm", labels)
        # A package may be named without naming one of its targets.
        asked = [label if re.search(r":|\.\.\.$", label) else label + ":all" for label in labels]
        query = f"set({' '.join(asked)})"
        result = self.run_in(ROOT, "bazel", *self.start_up, "query", "--noshow_progress", "--keep_going", query)
        self.assertEqual(result.returncode, 0, result.stderr)


if __name__ == "__main__":
    cases.main()
