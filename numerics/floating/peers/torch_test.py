# SPDX-License-Identifier: Apache-2.0
"""softmax, log_softmax and cross_entropy are PyTorch's, wherever it has the options."""

import itertools
import unittest

import numpy as np
import torch

import assay_floating as ours
import cases

F = torch.nn.functional
ROWS, COLS = 7, 13


def data(dtype, seed):
    rng = np.random.default_rng(seed)
    x = (4 * rng.standard_normal((ROWS, COLS))).astype(dtype)
    targets = rng.integers(0, COLS, ROWS).astype(np.int32)
    targets[2] = -100
    q = rng.random((ROWS, COLS)).astype(dtype)
    weight = rng.random(COLS)
    return x, targets, q / q.sum(axis=1, keepdims=True), weight


class Torch(unittest.TestCase):
    def test_softmax(self):
        for dtype, tolerance in ((np.float32, 1e-6), (np.float64, 1e-14)):
            x = data(dtype, 1)[0]
            for mine, theirs in ((ours.softmax, F.softmax), (ours.log_softmax, F.log_softmax)):
                got = mine(x, np.empty_like(x))
                expected = theirs(torch.from_numpy(x.astype(np.float64)), dim=1).numpy()
                np.testing.assert_allclose(got, expected, rtol=tolerance, atol=0)

    def test_cross_entropy_and_its_gradient(self):
        for dtype, tolerance in ((np.float32, 4e-6), (np.float64, 1e-13)):
            x, targets, q, weight = data(dtype, 2)
            wide = torch.from_numpy(x.astype(np.float64)).requires_grad_()
            for soft, smoothing, weighted, reduction in itertools.product(
                (False, True), (0.0, 0.2), (False, True), ("mean", "sum", "none")
            ):
                with self.subTest(dtype=dtype, soft=soft, smoothing=smoothing, weighted=weighted, reduction=reduction):
                    target = torch.from_numpy(q.astype(np.float64) if soft else targets.astype(np.int64))
                    expected = F.cross_entropy(
                        wide,
                        target,
                        weight=torch.from_numpy(weight) if weighted else None,
                        label_smoothing=smoothing,
                        reduction=reduction,
                    )
                    (slope,) = torch.autograd.grad(expected.sum(), wide)
                    gradient, losses = np.empty_like(x), np.empty(ROWS, dtype)
                    got = ours.cross_entropy(
                        x,
                        q if soft else targets,
                        reduction,
                        weight=weight if weighted else None,
                        label_smoothing=smoothing,
                        gradient=gradient,
                        losses=losses,
                    )
                    if reduction == "none":
                        np.testing.assert_allclose(losses, expected.detach().numpy(), rtol=tolerance)
                    else:
                        self.assertAlmostEqual(got / expected.item(), 1, delta=tolerance)
                    np.testing.assert_allclose(gradient, slope.numpy(), rtol=tolerance, atol=tolerance / 10)

    def test_infinite_logits(self):
        x = np.array([[-np.inf, 0.0, 1.0]], np.float32)
        for target, expected in ((1, np.log1p(np.e)), (0, np.inf)):
            got = ours.cross_entropy(x, np.array([target], np.int32))
            self.assertAlmostEqual(F.cross_entropy(torch.from_numpy(x), torch.tensor([target])).item(), expected, delta=1e-6)
            if np.isfinite(expected):
                self.assertAlmostEqual(got, expected, delta=1e-6)
            else:
                self.assertEqual(got, expected)


class NumPy(unittest.TestCase):
    def test_sums_and_products(self):
        rng = np.random.default_rng(3)
        for dtype in (np.float32, np.float64):
            x, y = rng.random(1000).astype(dtype), rng.random(1000).astype(dtype)
            unit = np.finfo(dtype).eps
            for method in ("naive", "pairwise", "kahan", "neumaier", "double_double", "exact"):
                self.assertAlmostEqual(ours.sum(x, method) / float(x.astype(np.float64).sum()), 1, delta=1000 * unit)
            for dot in (ours.dot, ours.dot2, ours.exact_dot):
                self.assertAlmostEqual(dot(x, y) / float(x.astype(np.float64) @ y), 1, delta=10 * unit)
            self.assertAlmostEqual(ours.norm2(x) / np.linalg.norm(x), 1, delta=10 * unit)
            self.assertAlmostEqual(ours.variance(x) / float(x.astype(np.float64).var(ddof=1)), 1, delta=1e-13)


if __name__ == "__main__":
    cases.main()
