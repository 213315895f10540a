# SPDX-License-Identifier: Apache-2.0
"""Monotone fits under other losses than squares, and the best fit that rises and then falls."""

import numpy as np

from assay import _numerics
from assay._arrays import choice, laid_out
from assay._isotonic import Problem

_MINIMIZERS = {name: getattr(_numerics.Minimizer, name) for name in ("lower", "upper", "middle")}


def isotonic_quantile(
    y, w=None, *, tau=0.5, minimizer="middle", increasing=True, y_min=None, y_max=None, threads=None
):
    """Isotonic quantiles: minimises sum(w * loss), loss = tau (y - f) above f and (1 - tau) (f - y) below.

    >>> isotonic_quantile([1, 9, 2, 3], minimizer="lower")
    array([1., 2., 2., 3.])

    y: [n] or [rows, n], finite; w: like y, or [n], finite, >= 0, not all 0; None for 1. In f64.
    tau: above 0 and below 1; 0.5 is the isotonic median, the fit of least absolute deviations.
    minimizer: of several best fits the "lower" or the "upper" one, which are values of y, or the
      "middle" between these two.
    increasing: True or False. y_min, y_max: bounds; None for none. threads: over rows; None as for
      `isotonic`.
    Returns f64 of y's shape. Exact ("middle": rounded once). Cost: O(n log n).
    Raises ValueError and TypeError as `isotonic` does, and ValueError for tau out of range.
    Source: Stout 2013, by thresholds.
    """
    which = choice(_MINIMIZERS, minimizer, "minimizer")
    return _fit(_numerics.fit_quantile, y, w, increasing, y_min, y_max, threads, float(tau), which)


def isotonic_huber(
    y, w=None, *, delta=1.0, minimizer="middle", increasing=True, y_min=None, y_max=None, threads=None
):
    """The isotonic fit under Huber's loss: squares up to a distance of delta, absolute values beyond.

    >>> isotonic_huber([0, 100, 1, 2])
    array([0., 2., 2., 2.])

    delta: positive and finite. Everything else as for `isotonic_quantile`.
    Returns f64: the best fit rounded once; "middle" is halfway between the other two as rounded.
    Cost: linear, 65 passes (130 for "middle").
    """
    which = choice(_MINIMIZERS, minimizer, "minimizer")
    return _fit(_numerics.fit_huber, y, w, increasing, y_min, y_max, threads, float(delta), which)


def isotonic_poisson(y, w=None, *, increasing=True, y_min=None, y_max=None, threads=None):
    """The most likely monotone rates of Poisson counts y * w at exposures w.

    >>> isotonic_poisson([3.0, 1.0, 4.0], [1.0, 3.0, 1.0])
    array([1.5, 1.5, 4. ])

    y: counts per unit of exposure, >= 0. Everything else as for `isotonic`, whose fit this is: for
    every Bregman divergence with the fit behind the bar the mean is best. Returns f64.
    """
    return _fit(_numerics.fit_poisson, y, w, increasing, y_min, y_max, threads)


def isotonic_reverse_kl(y, w=None, *, increasing=True, y_min=None, y_max=None, threads=None):
    """Minimises sum(w * (f log(f / y) - f + y)): blocks get the weighted geometric mean of their y.

    >>> isotonic_reverse_kl([8.0, 2.0, 16.0])
    array([ 4.,  4., 16.])

    y: >= 0; where it is 0 the fit must be 0, and at every smaller element. Everything else as for
    `isotonic_quantile`. Returns f64; relative error (2.3 max |log y| + 3) 2**-53. Cost: linear.
    """
    return _fit(_numerics.fit_reverse_kl, y, w, increasing, y_min, y_max, threads)


def unimodal(y, w=None, *, threads=None):
    """The best fit in squares that rises and then falls.

    >>> unimodal([1, 3, 2, 5, 4, 0])
    (array([1. , 2.5, 2.5, 5. , 4. , 0. ]), 3, 0.5)

    y: [n] finite, n >= 1; w: [n] finite, >= 0, not all 0; None for 1. threads: as for `isotonic`.
    Returns (fit, mode, error): [n] f64, exact and rounded once given the cut; the first element that
    has the largest fit; and sum(w * (fit - y)**2), within 5 roundings. Of cuts that are equally good
    the one with the shortest rise is taken. Cost: linear, 128 bytes an element.
    Raises ValueError and TypeError as `isotonic` does. Source: Stout 2008.
    """
    problem = Problem(y, w, True, None, None, threads, True, contiguous=True)
    if len(problem.shape) != 1:
        raise ValueError(f"y has shape {problem.shape}, expected one row")
    fit = np.empty(problem.shape)
    mode, error = _numerics.fit_unimodal(*_in_f64(problem), fit, problem.threads)
    return fit, mode, error


def _fit(fit_rows, y, w, increasing, y_min, y_max, threads, *more):
    if not isinstance(increasing, (bool, np.bool_)):
        raise ValueError(f"increasing is {increasing!r}, expected True or False")
    problem = Problem(y, w, increasing, y_min, y_max, threads, True, contiguous=True)
    fit = np.empty(problem.shape)
    bounds = problem.lower, problem.upper
    fit_rows(*_in_f64(problem), fit, problem.increasing, *bounds, problem.threads, *more)
    return fit


def _in_f64(problem):
    y = laid_out(problem.y, np.float64, "y", True, contiguous=True)
    return y, problem.w if problem.w is None else laid_out(problem.w, np.float64, "w", True, contiguous=True)
