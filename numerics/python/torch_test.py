# SPDX-License-Identifier: Apache-2.0
"""Fits of tensors and their gradients."""

import unittest

import numpy as np
import torch

import assay
import assay.torch
import cases


def random(seed, *shape, dtype=torch.float64):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def positive(seed, *shape, dtype=torch.float64):
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype) + 0.1


def dense_jacobian(y, w, ends):
    """d fit / d y by its definition: block diagonal, w_j / W_B."""
    jacobian = np.zeros((len(y), len(y)))
    for begin, end in zip([0, *ends], ends):
        jacobian[begin:end, begin:end] = w[begin:end] / w[begin:end].sum()
    return jacobian


class Fits(unittest.TestCase):
    def test_weights_keep_their_bits_and_range(self):
        y = torch.tensor([3.0, 1.0])
        for weights in ([1e-60, 3e-60], [1e60, 3e60], [0.1, 0.3]):
            w = torch.tensor(weights, dtype=torch.float64)
            expected = assay.isotonic(y.numpy(), w=w.numpy())
            fit = assay.torch.isotonic(y, w)
            self.assertEqual(fit.dtype, torch.float32)
            self.assertEqual(fit.tolist(), expected.astype(np.float32).tolist())

    def test_same_bits_as_arrays(self):
        for dtype in (torch.float32, torch.float64):
            y, w = random(1, 6, 50, dtype=dtype), positive(2, 6, 50, dtype=dtype)
            for options in ({}, {"increasing": False}, {"y_min": -0.5, "y_max": 0.25}, {"threads": 2}):
                got = assay.torch.isotonic(y, w, **options)
                want = assay.isotonic(y.numpy(), w.numpy(), **options)
                self.assertEqual(got.dtype, dtype)
                self.assertEqual(got.numpy().tobytes(), want.tobytes())
                # The same with gradients on the way, which takes another path.
                again = assay.torch.isotonic(y.clone().requires_grad_(), w, **options)
                self.assertEqual(again.detach().numpy().tobytes(), want.tobytes())

    def test_any_number_of_dimensions_and_any_strides(self):
        y = random(3, 4, 3, 2, 5)
        got = assay.torch.isotonic(y)
        self.assertEqual(got.shape, y.shape)
        self.assertTrue(torch.equal(got[2, 1, 0], assay.torch.isotonic(y[2, 1, 0])))
        self.assertTrue(torch.equal(assay.torch.isotonic(y.transpose(0, 3))[1, 2, 1], assay.torch.isotonic(y[:, 2, 1, 1])))
        self.assertEqual(assay.torch.isotonic(torch.empty(0, 3)).shape, (0, 3))

    def test_types(self):
        for dtype, want in (
            (torch.float16, torch.float16),
            (torch.bfloat16, torch.bfloat16),
            (torch.int32, torch.float64),
            (torch.bool, torch.float64),
        ):
            got = assay.torch.isotonic(torch.tensor([1, 0, 1]).to(dtype))
            self.assertEqual(got.dtype, want)
            self.assertEqual(got.tolist(), [0.5, 0.5, 1.0])

    def test_bad_input(self):
        y = torch.tensor([1.0, 2.0])
        for error, why, arguments in (
            (ValueError, "finite|NaN", (torch.tensor([1.0, float("nan")]),)),
            (ValueError, "shape", (torch.empty(3, 0),)),
            (ValueError, "shape", (torch.tensor(1.0),)),
            (ValueError, "broadcast", (y, torch.ones(3))),
            (ValueError, "weight", (y, torch.tensor([1.0, -1.0]))),
            (ValueError, "weight", (y, torch.zeros(2))),
            (TypeError, "torch.Tensor", ([1.0],)),
            (TypeError, "torch.Tensor", (y, [1.0, 1.0])),
            (TypeError, "on meta", (torch.empty(3, device="meta"),)),
            (TypeError, "dense", (y.to_sparse(),)),
            (TypeError, "real", (y.to(torch.complex64),)),
        ):
            with self.subTest(why=why):
                with self.assertRaisesRegex(error, why):
                    assay.torch.isotonic(*arguments)
        with self.assertRaisesRegex(ValueError, "increasing"):
            assay.torch.isotonic(y, increasing="auto")
        with self.assertRaisesRegex(ValueError, "lower|upper"):
            assay.torch.isotonic(y, y_min=2, y_max=1)
        with self.assertRaisesRegex(ValueError, "finite|NaN"):
            assay.torch.isotonic(torch.tensor([1.0, float("inf")], requires_grad=True))


class Gradients(unittest.TestCase):
    def check(self, function, *inputs):
        self.assertTrue(torch.autograd.gradcheck(function, [x.clone().requires_grad_() for x in inputs]))

    def test_by_hand(self):
        y = torch.tensor([1.0, 3.0, 2.0, 4.0], requires_grad=True)
        assay.torch.isotonic(y).square().sum().backward()
        self.assertEqual(y.grad.tolist(), [2.0, 5.0, 5.0, 8.0])

    def test_against_the_definition(self):
        for increasing in (True, False):
            y, w, upstream = random(4, 60), positive(5, 60), random(6, 60)
            _, ends = assay.isotonic_blocks(y.numpy(), w.numpy(), increasing=increasing)
            want = dense_jacobian(y.numpy(), w.numpy(), ends).T @ upstream.numpy()
            leaf = y.clone().requires_grad_()
            assay.torch.isotonic(leaf, w, increasing=increasing).backward(upstream)
            np.testing.assert_allclose(leaf.grad.numpy(), want, rtol=1e-13, atol=1e-14)

    def test_against_finite_differences(self):
        for seed in range(5):
            y, w = random(10 + seed, 12), positive(20 + seed, 12)
            self.check(lambda y: assay.torch.isotonic(y), y)
            self.check(lambda y, w: assay.torch.isotonic(y, w), y, w)
            self.check(lambda y, w: assay.torch.isotonic(y, w, increasing=False), y, w)
            self.check(lambda y, w: assay.torch.isotonic(y, w, y_min=-0.2, y_max=0.3), y, w)
            self.check(lambda w: assay.torch.isotonic(y, w), w)

    def test_rows_and_weights_for_all_rows(self):
        y, w = random(7, 4, 9), positive(8, 9)
        self.check(lambda y, w: assay.torch.isotonic(y, w), y, w)
        self.check(lambda y, w: assay.torch.isotonic(y.T, w[:4], threads=2), y, w)
        self.check(lambda y, w: assay.torch.isotonic(y, w.expand(4, 9)), y, w)

    def test_a_clipped_block_has_none(self):
        y = torch.tensor([-2.0, 0.5, 0.25, 3.0, 1.0], requires_grad=True)
        w = torch.ones(5, requires_grad=True)
        assay.torch.isotonic(y, w, y_min=-1, y_max=2).sum().backward()
        self.assertEqual(y.grad.tolist(), [0.0, 1.0, 1.0, 0.0, 0.0])
        # (y - mean) / 2 times the sum of upstream, which is 2.
        self.assertEqual(w.grad.tolist(), [0.0, 0.125, -0.125, 0.0, 0.0])

    def test_a_weight_of_zero_passes_its_gradient_on(self):
        y = torch.tensor([1.0, 9.0, 2.0], requires_grad=True)
        assay.torch.isotonic(y, torch.tensor([1.0, 0.0, 1.0])).backward(torch.tensor([1.0, 10.0, 100.0]))
        self.assertEqual(y.grad.tolist(), [11.0, 0.0, 100.0])

    def test_types(self):
        for dtype in (torch.float16, torch.bfloat16, torch.float32):
            y = torch.tensor([2, 1, 3], dtype=dtype, requires_grad=True)
            assay.torch.isotonic(y).sum().backward()
            self.assertEqual((y.grad.dtype, y.grad.tolist()), (dtype, [1.0, 1.0, 1.0]))

    def test_a_descent_reaches_the_data(self):
        target = torch.tensor([0.0, 1.0, 1.0, 3.0], dtype=torch.float64)
        y = torch.tensor([3.0, 1.0, 2.0, 0.0], dtype=torch.float64, requires_grad=True)
        descent = torch.optim.SGD([y], lr=0.4)
        losses = []
        for _ in range(60):
            descent.zero_grad()
            loss = (assay.torch.isotonic(y) - target).square().sum()
            loss.backward()
            descent.step()
            losses.append(loss.item())
        # All of y is one block to begin with: only its mean moves, to the mean of the target.
        self.assertAlmostEqual(losses[-1], float(((target - target.mean()) ** 2).sum()), places=9)

    def test_no_second_derivative(self):
        y = torch.tensor([2.0, 1.0], requires_grad=True)
        (first,) = torch.autograd.grad(assay.torch.isotonic(y).square().sum(), y, create_graph=True)
        with self.assertRaisesRegex(RuntimeError, "once_differentiable"):
            first.sum().backward()


if __name__ == "__main__":
    cases.main()
