# SPDX-License-Identifier: Apache-2.0
"""The examples in the README and in the docstrings give what they say."""

import doctest
import os
import unittest

import assay
import assay._estimator
import assay._isotonic
import assay._losses
import assay.torch
import cases

README = os.path.join(os.path.dirname(os.path.abspath(__file__)), "README.md")


class Examples(unittest.TestCase):
    def run_examples(self, name, result):
        self.assertGreater(result.attempted, 0, name)
        self.assertEqual(result.failed, 0, name)

    def test_docstrings(self):
        for module in (assay._isotonic, assay._estimator, assay._losses, assay.torch):
            self.run_examples(module.__name__, doctest.testmod(module))

    def test_readme(self):
        self.run_examples("README.md", doctest.testfile(README, module_relative=False))

    def test_everything_public_is_documented(self):
        for name in assay.__all__:
            self.assertTrue(getattr(assay, name).__doc__, name)
            with open(README, encoding="utf-8") as file:
                self.assertIn(name, file.read())


if __name__ == "__main__":
    cases.main()
