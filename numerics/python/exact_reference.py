# SPDX-License-Identifier: Apache-2.0
"""The isotonic fit in rational numbers: obviously right, and slow."""

from fractions import Fraction

import numpy as np


def exact_blocks(y, w=None, increasing=True):
    """[(mean, end)] of the fit of y, in Fractions; every weight positive."""
    sign = 1 if increasing else -1
    weights = [1] * len(y) if w is None else w
    blocks = []  # sum of w y, sum of w, end
    for i, (value, weight) in enumerate(zip(y, weights)):
        weight = Fraction(float(weight))
        total, size = sign * Fraction(float(value)) * weight, weight
        while blocks and blocks[-1][0] / blocks[-1][1] >= total / size:
            total, size = total + blocks[-1][0], size + blocks[-1][1]
            blocks.pop()
        blocks.append((total, size, i + 1))
    return [(sign * total / size, end) for total, size, end in blocks]


def rounded(value, dtype):
    """A Fraction as the nearest number of f32 or f64, ties to even."""
    if dtype == np.float64:
        return np.float64(float(value))  # Python rounds quotients of integers correctly
    near = np.float32(float(value))  # at most one number off, having been rounded twice
    ways = [np.nextafter(near, np.float32(-np.inf)), near, np.nextafter(near, np.float32(np.inf))]
    return min(ways, key=lambda way: (abs(Fraction(float(way)) - value), int(way.view(np.int32)) & 1))


def exact_fit(y, w=None, increasing=True, dtype=np.float64):
    """The fit of y, each value the exact one rounded once."""
    fit = np.empty(len(y), dtype)
    begin = 0
    for mean, end in exact_blocks(y, w, increasing):
        fit[begin:end] = rounded(mean, dtype)
        begin = end
    return fit
