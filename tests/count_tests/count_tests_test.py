# SPDX-License-Identifier: Apache-2.0
"""Planted build events: what each outcome of a test adds to the closing line of tools/test."""

import contextlib
import io
import json
import os
import shutil
import tempfile
import unittest
import urllib.parse

import cases
import count_tests

CONFIGURATION = {"id": "a0e22346"}

# What GoogleTest writes: one case that ran, one that skipped itself, one that a filter left out.
CASES = """<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="3" failures="0" name="AllTests">
  <testsuite name="Room" tests="3">
    <testcase name="AddsUp" status="run" result="completed" classname="Room" />
    <testcase name="NeedsAGpu" status="run" result="skipped" classname="Room">
      <skipped message="no GPU"/>
    </testcase>
    <testcase name="Filtered" status="notrun" result="suppressed" classname="Room" />
  </testsuite>
</testsuites>
"""

# What Bazel writes for a program that wrote nothing.
PASSED = '<testsuites><testsuite name="x" tests="1"><testcase name="x" status="run"></testcase></testsuite></testsuites>'
FAILED = PASSED.replace("></testcase>", '><error message="exited with error code 1"></error></testcase>')
FAILED_CASE = '<testcase name="Breaks" status="run" result="completed"><failure message="1 != 2"/></testcase>'


class ClosingLine(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="with space ")
        self.addCleanup(shutil.rmtree, self.folder)
        self.events = []

    def configured(self, label):
        configured = {"targetKind": "cc_test rule", "testSize": "SMALL"}
        self.events.append({"id": {"targetConfigured": {"label": label}}, "configured": configured})

    def result(self, label, log, run=1, shard=1, attempt=1):
        path = os.path.join(self.folder, f"{len(self.events)}.xml")
        if log is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(log)
        place = {"label": label, "run": run, "shard": shard, "attempt": attempt, "configuration": CONFIGURATION}
        output = {"name": "test.xml", "uri": "file://" + urllib.parse.quote(path)}
        self.events.append({"id": {"testResult": place}, "testResult": {"testActionOutput": [output]}})

    def summary(self, label, status):
        name = {"testSummary": {"label": label, "configuration": CONFIGURATION}}
        self.events.append({"id": name, "testSummary": {"overallStatus": status}})

    def plant(self, label, status, log):
        self.configured(label)
        self.result(label, log)
        self.summary(label, status)

    def finished(self, name, code):
        self.events.append({"id": {"buildFinished": {}}, "finished": {"exitCode": {"name": name, "code": code}}})

    def expect(self, line, code, *said):
        """The closing line, the exit code, and texts that lines before it hold."""
        path = os.path.join(self.folder, "events.json")
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(event) + "\n" for event in self.events)
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            self.assertEqual(count_tests.main(path), code, out.getvalue())
        lines = out.getvalue().splitlines()
        self.assertEqual(lines[-1], line)
        for text in said:
            self.assertTrue(any(text in other for other in lines[:-1]), lines)

    def test_a_program_without_cases_counts_as_one(self):
        self.plant("//a:x", "PASSED", PASSED)
        self.plant("//a:y", "PASSED", None)
        self.finished("SUCCESS", 0)
        self.expect("2 passed, 0 failed, 0 skipped", 0)

    def test_cases_count_one_by_one_and_skip_themselves(self):
        self.plant("//a:x", "PASSED", CASES)
        self.finished("SUCCESS", 0)
        self.expect("1 passed, 0 failed, 1 skipped", 0)

    def test_only_skips_are_not_a_success(self):
        self.plant("//a:x", "PASSED", CASES.replace('result="completed"', 'result="skipped"'))
        self.finished("SUCCESS", 0)
        self.expect("0 passed, 0 failed, 2 skipped", 1)

    def test_a_failing_case_counts_beside_those_that_passed(self):
        self.plant("//a:x", "FAILED", CASES.replace("</testsuite>", FAILED_CASE + "</testsuite>"))
        self.finished("TESTS_FAILED", 3)
        self.expect("1 passed, 1 failed, 1 skipped", 1)

    def test_a_failing_program(self):
        self.plant("//a:x", "FAILED", FAILED)
        self.plant("//a:y", "PASSED", PASSED)
        self.finished("TESTS_FAILED", 3)
        self.expect("1 passed, 1 failed, 0 skipped", 1)

    def test_a_crash_fails_though_no_case_says_so(self):
        self.plant("//a:x", "FAILED", CASES)
        self.finished("TESTS_FAILED", 3)
        self.expect("1 passed, 1 failed, 1 skipped", 1)

    def test_a_timeout_fails_with_or_without_a_log(self):
        self.plant("//a:x", "TIMEOUT", "<testsuites><testsuite")
        self.plant("//a:y", "TIMEOUT", None)
        self.finished("TESTS_FAILED", 3)
        self.expect("0 passed, 2 failed, 0 skipped", 1)

    def test_a_test_that_did_not_build_fails(self):
        self.configured("//a:x")
        self.plant("//a:y", "PASSED", PASSED)
        self.configured("//a:z")
        self.summary("//a:z", "NO_STATUS")
        self.finished("BUILD_FAILURE", 1)
        self.expect("1 passed, 2 failed, 0 skipped", 1, "//a:x", "//a:z")

    def test_a_test_that_a_filter_leaves_out_does_not_count(self):
        self.plant("//a:x", "PASSED", PASSED)
        self.configured("//a:y")
        completed = {"targetCompleted": {"label": "//a:y", "configuration": CONFIGURATION}}
        self.events.append({"id": completed, "completed": {"success": True}})
        self.finished("SUCCESS", 0)
        self.expect("1 passed, 0 failed, 0 skipped", 0)

    def test_a_test_that_was_built_and_not_run_fails(self):
        self.plant("//a:x", "PASSED", PASSED)
        self.configured("//a:y")
        completed = {"targetCompleted": {"label": "//a:y", "configuration": CONFIGURATION}}
        self.events.append({"id": completed, "completed": {"success": True}})
        self.finished("INTERRUPTED", 8)
        self.expect("1 passed, 1 failed, 0 skipped", 1, "//a:y")

    def test_a_package_that_does_not_load_fails(self):
        self.plant("//a:x", "PASSED", PASSED)
        self.finished("BUILD_FAILURE", 1)
        self.expect("1 passed, 1 failed, 0 skipped", 1, "the build failed")

    def test_an_incompatible_target_is_skipped(self):
        self.plant("//a:x", "PASSED", PASSED)
        self.configured("//gpu:y")
        completed = {"targetCompleted": {"label": "//gpu:y", "configuration": CONFIGURATION}}
        self.events.append({"id": completed, "aborted": {"reason": "SKIPPED"}})
        self.finished("SUCCESS", 0)
        self.expect("1 passed, 0 failed, 1 skipped", 0)

    def test_a_target_whose_analysis_failed_fails(self):
        self.plant("//a:x", "PASSED", PASSED)
        self.configured("//a:y")
        completed = {"targetCompleted": {"label": "//a:y", "configuration": CONFIGURATION}}
        self.events.append({"id": completed, "aborted": {"reason": "ANALYSIS_FAILURE"}})
        self.finished("BUILD_FAILURE", 1)
        self.expect("1 passed, 1 failed, 0 skipped", 1, "//a:y")

    def test_of_a_flaky_test_the_last_attempt_counts(self):
        self.configured("//a:x")
        self.result("//a:x", FAILED, attempt=1)
        self.result("//a:x", PASSED, attempt=2)
        self.summary("//a:x", "FLAKY")
        self.finished("SUCCESS", 0)
        self.expect("1 passed, 0 failed, 0 skipped", 0)

    def test_shards_and_runs_add_up(self):
        self.configured("//a:x")
        for run in (1, 2):
            for shard in (1, 2):
                self.result("//a:x", CASES, run=run, shard=shard)
        self.summary("//a:x", "PASSED")
        self.finished("SUCCESS", 0)
        self.expect("4 passed, 0 failed, 4 skipped", 0)

    def test_events_that_break_off_fail(self):
        self.plant("//a:x", "PASSED", PASSED)
        self.expect("1 passed, 1 failed, 0 skipped", 1, "the build failed")

    def test_nothing_at_all_fails(self):
        self.finished("NO_TESTS_FOUND", 4)
        self.expect("0 passed, 0 failed, 0 skipped", 1)


if __name__ == "__main__":
    cases.main()
