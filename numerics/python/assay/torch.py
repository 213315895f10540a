# SPDX-License-Identifier: Apache-2.0
"""Isotonic regression of torch tensors, with gradients.

>>> import torch, assay.torch
>>> y = torch.tensor([1.0, 3.0, 2.0, 4.0], requires_grad=True)
>>> assay.torch.isotonic(y).square().sum().backward()
>>> y.grad
tensor([2., 5., 5., 8.])
"""

import math

import torch

from assay import _numerics
from assay._arrays import bound, thread_count


def isotonic(y, w=None, *, increasing=True, y_min=None, y_max=None, threads=None):
    """The isotonic fit of y along its last dimension, as `assay.isotonic` gives it, differentiable.

    y: [..., n] dense tensor on the CPU, finite, n >= 1; each row of n is fitted by itself. f32 and
      f64 are worked on as they are, f16 and bf16 in f32, and the fit rounded to their type; integers
      and bool in f64.
    w: weights that broadcast to y's shape, finite, >= 0, not all 0 in a row; None for 1.
    increasing: True, or False for a nonincreasing fit.
    y_min, y_max: numbers, bounds of the fit; None for none. They have no gradient.
    threads: None for torch.get_num_threads(); the fit does not depend on it.
    Returns a tensor of y's shape, of y's type if that is floating, else f64.

    Gradients: to y, dL/dy_i = w_i / W_B * sum of dL/dfit over i's block B, of weight W_B; to w,
    dL/dw_i = (y_i - mean_B) / W_B * the same sum; both 0 in a block whose fit lies on or beyond a
    bound. Where two blocks meet at equal means there is no derivative, and the one-sided one that
    keeps the blocks is given. An element of weight 0 passes its gradient on to its block. Error: 4
    roundings of the sums of absolute values. Once differentiable.
    Cost: linear, both ways. Raises ValueError and TypeError as `assay.isotonic` does.
    """
    _check("y", y)
    if y.dim() == 0 or y.shape[-1] == 0:
        raise ValueError(f"y has shape {tuple(y.shape)}, expected [..., n] with n >= 1")
    if not isinstance(increasing, bool):
        raise ValueError(f"increasing is {increasing!r}, expected True or False")
    if y.dtype in (torch.float16, torch.bfloat16):
        work = torch.float32
    else:
        work = y.dtype if y.dtype == torch.float32 else torch.float64
    if isinstance(w, torch.Tensor) and w.dtype == torch.float64:
        work = torch.float64  # f32 has neither the bits nor the range of such weights
    weights = None
    if w is not None:
        _check("w", w)
        try:
            weights = w.to(work).expand(y.shape)
        except RuntimeError:
            raise ValueError(
                f"w has shape {tuple(w.shape)}, y has {tuple(y.shape)}; expected one that broadcasts to it"
            ) from None
    threads = thread_count(torch.get_num_threads() if threads is None else threads, y.numel())
    lower = bound(y_min, -math.inf, "y_min")
    upper = bound(y_max, math.inf, "y_max")
    fit = _Isotonic.apply(y.to(work), weights, increasing, lower, upper, threads)
    return fit.to(y.dtype) if y.is_floating_point() else fit


def _check(name, tensor):
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"{name} is a {type(tensor).__name__}, expected a torch.Tensor")
    if tensor.device.type != "cpu" or tensor.layout != torch.strided or tensor.is_complex():
        raise TypeError(f"{name} is {tensor.dtype}, {tensor.layout} on {tensor.device}, expected real, dense, on the CPU")


def _rows(tensor):
    """The tensor as a matrix [rows, n] without gaps in its rows, over its own memory where that can be."""
    tensor = tensor.detach()
    matrix = tensor.reshape(-1, tensor.shape[-1])
    if matrix.shape[-1] > 1 and matrix.stride(-1) != 1:
        matrix = matrix.contiguous()
    return matrix.numpy()


class _Isotonic(torch.autograd.Function):
    @staticmethod
    def forward(ctx, y, weights, increasing, lower, upper, threads):
        fit = torch.empty(y.shape, dtype=y.dtype)
        rows = _rows(y), None if weights is None else _rows(weights), _rows(fit)
        if not any(ctx.needs_input_grad[:2]):
            _numerics.fit(*rows, increasing, lower, upper, threads)
            return fit
        ctx.blocks = _numerics.fit_blocks(*rows, increasing, lower, upper, threads)
        ctx.bounds = lower, upper
        ctx.threads = threads
        ctx.save_for_backward(y, weights, fit)
        return fit

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, upstream):
        y, weights, fit = ctx.saved_tensors
        gradient_y = torch.empty(y.shape, dtype=y.dtype)
        gradient_weights = torch.empty(y.shape, dtype=y.dtype) if ctx.needs_input_grad[1] else None
        _numerics.gradient(
            _rows(y),
            None if weights is None else _rows(weights),
            _rows(fit),
            ctx.blocks,
            _rows(upstream),
            *ctx.bounds,
            _rows(gradient_y),
            None if gradient_weights is None else _rows(gradient_weights),
            ctx.threads,
        )
        return gradient_y, gradient_weights, None, None, None, None
