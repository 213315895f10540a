# SPDX-License-Identifier: Apache-2.0
"""Fits under other losses, against the best of all fits on a grid, and bad input.

The fits themselves are tested in C++; here it is that every argument arrives where it should.
"""

import itertools
import unittest

import numpy as np

import assay
import cases


def best_loss(loss, y, w, grid, increasing=True):
    """The least sum of w * loss(y, f) over monotone f with values on the grid."""
    grid = sorted(grid)
    rows = itertools.combinations_with_replacement(grid, len(y))
    return min(np.sum(w * loss(y, np.array(f if increasing else f[::-1]))) for f in rows)


def quantile_loss(tau):
    return lambda y, f: np.where(y >= f, tau * (y - f), (1 - tau) * (f - y))


class Losses(unittest.TestCase):
    def setUp(self):
        rng = np.random.default_rng(1)
        self.y = rng.integers(0, 6, (3, 5)).astype(np.float64)
        self.w = rng.integers(1, 4, (3, 5)).astype(np.float64)

    def test_quantiles(self):
        for tau in (0.25, 0.5, 0.9):
            loss = quantile_loss(tau)
            for increasing in (True, False):
                fits = {
                    which: assay.isotonic_quantile(self.y, self.w, tau=tau, minimizer=which, increasing=increasing)
                    for which in ("lower", "middle", "upper")
                }
                for i, (y, w) in enumerate(zip(self.y, self.w)):
                    best = best_loss(loss, y, w, set(y), increasing)
                    for fit in fits.values():
                        self.assertAlmostEqual(np.sum(w * loss(y, fit[i])), best, places=12)
                        self.assertTrue((np.diff(fit[i]) * (1 if increasing else -1) >= 0).all())
                self.assertTrue((fits["lower"] <= fits["middle"]).all() and (fits["middle"] <= fits["upper"]).all())
        different = assay.isotonic_quantile([2, 1], minimizer="lower"), assay.isotonic_quantile([2, 1], minimizer="upper")
        self.assertEqual([fit.tolist() for fit in different], [[1, 1], [2, 2]])
        self.assertEqual(assay.isotonic_quantile([2, 1]).tolist(), [1.5, 1.5])

    def test_huber(self):
        self.assertEqual(assay.isotonic_huber([0, 100, 1, 2]).tolist(), [0, 2, 2, 2])
        self.assertEqual(assay.isotonic_huber([100, 0]).tolist(), [50, 50])
        # Within delta it is the fit of squares.
        np.testing.assert_array_equal(assay.isotonic_huber(self.y, self.w, delta=10), assay.isotonic(self.y, self.w))

        def loss(y, f):
            r = np.abs(y - f)
            return np.where(r <= 1.5, r * r / 2, 1.5 * (r - 0.75))

        grid = np.arange(0, 5.01, 0.25)
        for increasing in (True, False):
            fit = assay.isotonic_huber(self.y[0], self.w[0], delta=1.5, increasing=increasing)
            ours = np.sum(self.w[0] * loss(self.y[0], fit))
            self.assertLessEqual(ours, best_loss(loss, self.y[0], self.w[0], grid, increasing) + 1e-12)
        lower, upper = (assay.isotonic_huber([10, 0], delta=1, minimizer=which).tolist() for which in ("lower", "upper"))
        self.assertEqual((lower, upper), ([1, 1], [9, 9]))

    def test_divergences(self):
        np.testing.assert_array_equal(assay.isotonic_poisson(self.y, self.w), assay.isotonic(self.y, self.w))
        self.assertEqual(assay.isotonic_reverse_kl([8, 2, 16]).tolist(), [4, 4, 16])
        self.assertEqual(assay.isotonic_reverse_kl([8, 2], [1, 0]).tolist(), [8, 8])
        self.assertEqual(assay.isotonic_reverse_kl([2, 8, 1], increasing=False).tolist(), [4, 4, 1])

    def test_bounds_and_shared_weights(self):
        for fit in (assay.isotonic_quantile, assay.isotonic_huber, assay.isotonic_poisson, assay.isotonic_reverse_kl):
            clipped = fit(self.y + 1, self.w[0], y_min=2, y_max=3)
            np.testing.assert_array_equal(clipped, np.clip(fit(self.y + 1, np.stack([self.w[0]] * 3)), 2, 3))
            np.testing.assert_array_equal(fit(self.y[::2, ::-1], threads=2), fit(self.y[::2, ::-1].copy(), threads=1))
            self.assertEqual(fit(np.array([1, 2, 2], np.float32)).dtype, np.float64)

    def test_unimodal(self):
        fit, mode, error = assay.unimodal([1, 3, 2, 5, 4, 0])
        self.assertEqual((fit.tolist(), mode, error), ([1, 2.5, 2.5, 5, 4, 0], 3, 0.5))
        fit, mode, error = assay.unimodal([3, 1, 2], [1, 1, 3])
        self.assertEqual((fit.tolist(), mode, error), ([3, 1.75, 1.75], 0, 0.75))

    def test_bad_input(self):
        for fit in (
            assay.isotonic_quantile,
            assay.isotonic_huber,
            assay.isotonic_poisson,
            assay.isotonic_reverse_kl,
            assay.unimodal,
        ):
            for why, arguments in (
                ("NaN|finite", ([1.0, np.nan],)),
                ("empty", ([],)),
                ("weight", ([1.0, 2.0], [1.0, -1.0])),
                ("weight", ([1.0, 2.0], [0.0, 0.0])),
                ("shape", ([1.0, 2.0], [1.0])),
            ):
                with self.subTest(fit=fit.__name__, why=why):
                    with self.assertRaisesRegex(ValueError, why):
                        fit(*arguments)
            if fit != assay.unimodal:
                with self.assertRaisesRegex(ValueError, "increasing"):
                    fit([1.0], increasing="auto")
                with self.assertRaisesRegex(ValueError, "lower|upper"):
                    fit([1.0], y_min=2, y_max=1)
                with self.assertRaisesRegex(ValueError, "row 1"):
                    fit([[1.0, 2.0], [1.0, np.inf]])
        for wrong in (0, 1, np.nan):
            with self.assertRaisesRegex(ValueError, "tau"):
                assay.isotonic_quantile([1.0], tau=wrong)
        for wrong in (0, -1, np.inf):
            with self.assertRaisesRegex(ValueError, "delta"):
                assay.isotonic_huber([1.0], delta=wrong)
        with self.assertRaisesRegex(ValueError, "minimizer"):
            assay.isotonic_quantile([1.0], minimizer="best")
        for fit in (assay.isotonic_poisson, assay.isotonic_reverse_kl):
            with self.assertRaisesRegex(ValueError, r"y\[0\]"):
                fit([-1.0])
        with self.assertRaisesRegex(ValueError, "one row"):
            assay.unimodal([[1.0]])


if __name__ == "__main__":
    cases.main()
