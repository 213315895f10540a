# SPDX-License-Identifier: Apache-2.0
"""The benchmark runs, compares before it times, and does without peers that are missing."""

import contextlib
import io
import json
import os
import shutil
import tempfile
import unittest
from unittest import mock

import numpy as np

import cases
import peers_benchmark

SMALL = ["--sizes=200,2000", "--rows=3x50", "--points=500", "--budget=0.01", "--repetitions=3"]


def run(*arguments):
    out = io.StringIO()
    with mock.patch("peers_benchmark.SAMPLE_SECONDS", 1e-4):
        status = peers_benchmark.main([*SMALL, *arguments], out)
    return status, out.getvalue()


class Benchmark(unittest.TestCase):
    def test_every_case(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report.json")
            status, said = run("--json=" + path)
            self.assertEqual(status, 0)
            self.assertEqual(os.listdir(folder), ["report.json"])
            with open(path, encoding="utf-8") as file:
                report = json.load(file)
        self.assertEqual({result["case"] for result in report["results"]}, set(peers_benchmark.CASES))
        for result in report["results"]:
            self.assertGreaterEqual(len(result["seconds"]), 3)
            self.assertGreater(min(result["seconds"]), 0)
        names = {result["contender"] for result in report["results"]}
        self.assertLessEqual({"ours, 1 thr.", "ours, 2 thr.", "sklearn", "sklearn, loop"}, names)
        if shutil.which("Rscript"):
            self.assertIn("R isoreg", names)
        self.assertIn("cpu", report["machine"])
        self.assertIn("time grows as n^", said)

    def test_without_r(self):
        with mock.patch.dict(os.environ, {"PATH": ""}):
            status, said = run("--cases=random")
        self.assertEqual(status, 0)
        self.assertIn("R is missing: tools/setup --peers installs it", said)
        self.assertIn("sklearn", said)
        self.assertNotIn("R isoreg", said)

    def test_a_wrong_fit_is_not_timed(self):
        wrong = mock.patch("sklearn.isotonic.isotonic_regression", lambda y, sample_weight: np.sort(y))
        with wrong, self.assertRaisesRegex(AssertionError, "random, n = 200: sklearn"):
            run("--cases=random")

    def test_who_is_too_slow_sits_out(self):
        _, said = run("--cases=random", "--limit=1e-9")
        self.assertRegex(said, "sklearn sits out n = 200: a fit takes")
        self.assertIn("ours, 2 thr.", said)
        # Whoever grows past the limit is told by the sizes before.
        benchmark = peers_benchmark.Benchmark(peers_benchmark.options_of(["--limit=1"]), io.StringIO())
        self.addCleanup(lambda: benchmark.r and benchmark.r.close())
        self.assertTrue(benchmark.can("sklearn", [(1, 0.001), (10, 0.01)], 999))
        self.assertFalse(benchmark.can("sklearn", [(1, 0.001), (10, 0.01)], 1001))
        self.assertFalse(benchmark.can("R isoreg", [(1, 0.001), (10, 0.1)], 40))
        self.assertTrue(benchmark.can("ours, 1 thr.", [(1, 1.0)], 10))

    def test_wrong_use(self):
        with contextlib.redirect_stderr(io.StringIO()) as said, self.assertRaises(SystemExit) as error:
            run("--cases=nonsense")
        self.assertEqual(error.exception.code, 2)
        self.assertIn("no case nonsense", said.getvalue())


class Arithmetic(unittest.TestCase):
    def test_growth(self):
        self.assertAlmostEqual(peers_benchmark.growth([(10, 3.0), (100, 300.0), (1000, 30000.0)]), 2)

    def test_scaled(self):
        self.assertEqual([peers_benchmark.scaled(s) for s in (2, 0.0025, 1e-5, 1e-8)], ["2 s", "2.5 ms", "10 us", "0.01 us"])


if __name__ == "__main__":
    cases.main()
