# SPDX-License-Identifier: Apache-2.0
"""The benchmark runs every case, and compares before it times."""

import io
import unittest
from unittest import mock

import cases
import peers_benchmark

SMALL = ["--sizes=500,1000", "--rows=3x50", "--repetitions=3"]


class Benchmark(unittest.TestCase):
    def test_every_case(self):
        out = io.StringIO()
        with mock.patch("peers_benchmark.SAMPLE_SECONDS", 1e-5):
            self.assertEqual(peers_benchmark.main(SMALL, out), 0)
        said = out.getvalue()
        for expected in ("cpu:", "numpy", "ours, exact", "dot float64", "torch, out", "cross_entropy, gradient", "2 thr.", "time grows as n^"):
            self.assertIn(expected, said)

    def test_a_wrong_result_is_not_timed(self):
        with mock.patch("assay_floating.sum", lambda x, method: 0.0 if method == "exact" else float(x.sum())):
            with self.assertRaisesRegex(AssertionError, "sum float32 500: ours, exact"):
                peers_benchmark.main([*SMALL, "--cases=sum"], io.StringIO())


if __name__ == "__main__":
    cases.main()
