# SPDX-License-Identifier: Apache-2.0
"""tools/new_lab in a scratch copy of what it reads: names, refusals, and that nothing half-written stays."""

import os
import shutil
import stat
import subprocess
import tempfile
import unittest

import cases

SOURCE = os.path.dirname(os.path.dirname(os.path.realpath("tools/new_lab")))
LIST = '"""Pages."""\n\nARTICLES = [\n    "fft",\n]\n'


class NewLab(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.root)
        os.makedirs(os.path.join(self.root, "web/articles/fft"))
        os.makedirs(os.path.join(self.root, "tools"))
        self.tool = os.path.join(self.root, "tools/new_lab")
        shutil.copy(os.path.join(SOURCE, "tools/new_lab"), self.tool)
        shutil.copytree(os.path.join(SOURCE, "tools/new_lab_template"), os.path.join(self.root, "tools/new_lab_template"))
        self.write("web/articles.bzl", LIST)

    def write(self, path, text):
        with open(os.path.join(self.root, path), "w", encoding="utf-8") as file:
            file.write(text)

    def read(self, path):
        with open(os.path.join(self.root, path), encoding="utf-8") as file:
            return file.read()

    def run_tool(self, *arguments):
        # A Bazel that fails stands first on the path, so that nothing is built here.
        environment = {"PATH": os.path.join(self.root, "bin") + ":/usr/bin:/bin"}
        return subprocess.run([self.tool, *arguments], env=environment, capture_output=True, text=True)

    def everything(self):
        found = {}
        for folder, _, files in os.walk(os.path.join(self.root, "web")):
            for name in files:
                path = os.path.relpath(os.path.join(folder, name), self.root)
                found[path] = self.read(path)
        return found

    def refuse(self, code, words, *arguments):
        before = self.everything()
        result = self.run_tool(*arguments)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertIn(words, result.stderr)
        self.assertEqual(self.everything(), before)
        self.assertEqual(sorted(os.listdir(os.path.join(self.root, "web/articles"))), ["fft"])

    def test_writes_a_page_and_lists_it(self):
        result = self.run_tool("mean-of-means", "--no-run")
        self.assertEqual(result.returncode, 0, result.stderr)
        files = "BUILD article.md demo.ts demo_test.ts lab.cc lab.json wasm.cc".split()
        self.assertEqual(sorted(os.listdir(os.path.join(self.root, "web/articles/mean-of-means"))), files)
        self.assertEqual(self.read("web/articles.bzl"), LIST.replace("]", '    "mean-of-means",\n]'))
        self.assertIn("ASSAY_LAB(mean_of_means", self.read("web/articles/mean-of-means/lab.cc"))
        self.assertIn('"title": "Mean of means"', self.read("web/articles/mean-of-means/lab.json"))
        self.assertIn('defineDemo("assay-mean-of-means", MeanOfMeansDemo)', self.read("web/articles/mean-of-means/demo.ts"))
        for name in files:
            self.assertNotRegex(self.read("web/articles/mean-of-means/" + name), r"@[A-Z]+@")

    def test_takes_a_title(self):
        self.assertEqual(self.run_tool("mean", "--no-run", "--title=Means, of all kinds").returncode, 0)
        self.assertIn('"title": "Means, of all kinds"', self.read("web/articles/mean/lab.json"))

    def test_refuses_what_is_not_a_name(self):
        for name in ("Mean", "mean_of", "-mean", "mean-", "a--b", "1st", "mean/x", "..", "m\u00e9an", "x" * 49):
            with self.subTest(name):
                self.refuse(2, "new_lab: ", name, "--no-run")
        self.refuse(2, "which name", "--no-run")
        self.refuse(2, "'second'", "first", "second", "--no-run")
        self.refuse(2, "'--nothing'", "first", "--nothing")
        self.refuse(2, "has another meaning", "lab", "--no-run")

    def test_refuses_a_title_that_would_break_a_file(self):
        for title in ('say "x"', "back\\slash", "two\nlines", " ", "\u00b5"):
            with self.subTest(title):
                self.refuse(2, "cannot be a title", "mean", "--no-run", "--title=" + title)

    def test_refuses_to_overwrite(self):
        self.refuse(2, "web/articles/fft is there already", "fft", "--no-run")
        self.write("web/articles.bzl", LIST.replace("fft", "mean"))
        self.refuse(2, "stands in web/articles.bzl already", "mean", "--no-run")

    def test_refuses_a_list_that_it_does_not_know(self):
        self.write("web/articles.bzl", "ARTICLES = glob()\n")
        self.refuse(2, "web/articles.bzl has no list", "mean", "--no-run")

    def test_nothing_stays_where_the_lab_does_not_run(self):
        os.makedirs(os.path.join(self.root, "bin"))
        self.write("bin/bazel", "#!/bin/sh\nmkdir web/articles/mean/records\necho half >web/articles/mean/records/x\nexit 1\n")
        os.chmod(os.path.join(self.root, "bin/bazel"), stat.S_IRWXU)
        self.refuse(1, "everything is as it was before", "mean")

    def test_nothing_stays_where_a_template_cannot_be_read(self):
        os.remove(os.path.join(self.root, "tools/new_lab_template/wasm.cc.template"))
        os.symlink("nowhere", os.path.join(self.root, "tools/new_lab_template/wasm.cc.template"))
        self.refuse(1, "everything is as it was before", "mean", "--no-run")

    def test_help(self):
        result = self.run_tool("--help")
        self.assertEqual(result.returncode, 0)
        self.assertIn("usage: tools/new_lab NAME", result.stdout)


if __name__ == "__main__":
    cases.main()
