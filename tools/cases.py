# SPDX-License-Identifier: Apache-2.0
"""Runs a module's unittest cases and tells Bazel about each one.

    if __name__ == "__main__":
        cases.main()

Bazel names a file in XML_OUTPUT_FILE; with the cases written there, tools/test counts every case
and not the program as one.
"""

import os
import sys
import unittest
import xml.sax.saxutils


class _Result(unittest.TextTestResult):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.cases = []

    def _add(self, test, kind="", text=""):
        self.cases.append((test.id(), kind, text))

    def addSuccess(self, test):
        super().addSuccess(test)
        self._add(test)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._add(test, "failure", self.failures[-1][1])

    def addError(self, test, err):
        super().addError(test, err)
        self._add(test, "error", self.errors[-1][1])

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._add(test, "skipped", reason)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._add(subtest, "failure", self._exc_info_to_string(err, test))


def _write(path, cases):
    quote = xml.sax.saxutils.quoteattr
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'<testsuites>\n<testsuite name={quote(cases[0][0].split(".")[0] if cases else "")}>\n')
        for name, kind, text in cases:
            group, _, case = name.rpartition(".")
            file.write(f"<testcase classname={quote(group)} name={quote(case)}")
            file.write(f"><{kind} message={quote(text)}/></testcase>\n" if kind else "/>\n")
        file.write("</testsuite>\n</testsuites>\n")


def main():
    runner = unittest.TextTestRunner(resultclass=_Result, verbosity=2)
    program = unittest.main(module="__main__", testRunner=runner, exit=False)
    path = os.environ.get("XML_OUTPUT_FILE")
    if path:
        _write(path, program.result.cases)
    # A module without cases has tested nothing.
    sys.exit(0 if program.result.wasSuccessful() and program.result.testsRun else 1)
