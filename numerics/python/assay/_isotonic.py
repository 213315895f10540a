# SPDX-License-Identifier: Apache-2.0
"""Isotonic regression of a row of numbers, or of each row of a matrix: the bare fits."""

import math

import numpy as np

from assay import _numerics
from assay._arrays import bound, is_direct, laid_out, thread_count, view, warn, writable


def isotonic(y, w=None, *, increasing=True, y_min=None, y_max=None, out=None, threads=None, allow_copy=True):
    """The nondecreasing sequence nearest to y: minimises sum(w * (fit - y)**2).

    >>> isotonic([1.0, 3.0, 2.0, 4.0])
    array([1. , 2.5, 2.5, 4. ])

    y: [n], or [rows, n] to fit each row by itself; n >= 1, finite. An ndarray, or anything with the
      buffer protocol, `__array__` or `__dlpack__` on the CPU, or lists. Any strides. f32 and f64 are
      worked on as they are; f16 and integers in f64 (integers beyond 2**53 are rounded). bool, and
      uint8 of nothing but 0 and 1, are labels, whose fit in f64 is counted in integers.
    w: weights like y, or [n] for all rows alike; finite, >= 0, not all 0 in a row; None for 1. An
      element of weight 0 gets the fit of its neighbour before it (or else after it). Weights that an
      f32 y cannot have exactly are kept: the work is done in f64 and the fit rounded to f32.
    increasing: True, False for a nonincreasing fit, or "auto": by the sign of Spearman's rank
      correlation of y (of each row) with its index; where its 95% interval spans 0, a UserWarning.
    y_min, y_max: bounds of the fit, which is the free fit, clipped. None for none.
    out: where to write, of the fit's shape and type, writable; may be y itself.
    threads: None for one below 131,072 elements and for all CPUs of this process from there on. The
      fit does not depend on it.
    allow_copy: with False, ValueError where y or w cannot be read in place, saying why.
    Returns `out`, or a new array: f32 for an f32 y, else f64.

    Exact: each value is the exact mean of its block, rounded once; -0 counts as 0. Cost: linear.
    The interpreter's lock is released meanwhile; y, w and out must not change then.
    Raises ValueError for empty, NaN or infinite y, weights that are negative, not finite or all 0,
    lengths that differ, y_min > y_max; TypeError for what are no numbers. `out` is then as it was.
    Source: Barlow, Bartholomew, Bremner, Brunk 1972; see numerics/isotonic/README.md.
    """
    problem = Problem(y, w, increasing, y_min, y_max, threads, allow_copy)
    if out is None:
        fit = np.empty(problem.shape, problem.dtype)
        problem.fit_into(fit)
        return fit
    target = writable(out, "out")
    if target.shape != problem.shape or target.dtype != problem.dtype:
        raise ValueError(
            f"out is {target.dtype} of shape {target.shape}, expected {problem.dtype} of shape {problem.shape}"
        )
    if problem.may_write_to(target):
        problem.fit_into(target)
    else:
        fit = np.empty(problem.shape, problem.dtype)
        problem.fit_into(fit)
        target[...] = fit
    return out


def isotonic_blocks(y, w=None, *, increasing=True, y_min=None, y_max=None, threads=None, allow_copy=True):
    """The fit and its blocks: where it is constant, as one pool of elements.

    >>> isotonic_blocks([1.0, 3.0, 2.0, 4.0])
    (array([1. , 2.5, 2.5, 4. ]), array([1, 3, 4]))

    Arguments, cost and errors as for `isotonic`.
    Returns (fit, ends): ends[k] is one past the last element of block k, as int64, ascending up to
    n; for y of two dimensions a list of such arrays, one a row. Blocks are maximal: two of them side
    by side have different exact means, though these may round to one value. Elements of weight 0
    belong to the block whose fit they get, and bounds do not merge blocks.
    """
    problem = Problem(y, w, increasing, y_min, y_max, threads, allow_copy, contiguous=True)
    fit = np.empty(problem.shape, problem.dtype)
    ends, counts = problem.fit_into(fit, blocks=True)
    if fit.ndim == 1:
        return fit, ends
    return fit, np.split(ends, np.cumsum(counts)[:-1]) if len(counts) else []


class CertificateError(ArithmeticError):
    """A fit that is not the optimal one; says which element, what was found and what was expected."""


def certify(y, fit, w=None, *, increasing=True, y_min=None, y_max=None, half_ulps=1, ends=None):
    """Proves that a fit is the optimal one, correctly rounded, from the fit alone.

    >>> certify([1.0, 3.0, 2.0, 4.0], [1.0, 2.5, 2.5, 4.0])

    y, w, increasing, y_min, y_max: as for `isotonic` ("auto" aside).
    fit: of y's shape and of the type that `isotonic` gives, wherever it comes from.
    half_ulps: how far the fit may lie from the exact one, in half steps between neighbouring
      numbers, 0 to 2**20. 1 is correctly rounded, 0 exactly equal. Beyond 1 the fit must also be
      constant over the blocks of the exact one.
    ends: if given, block ends to be proven too, as `isotonic_blocks` gives them.
    Returns None where the proof holds, and raises CertificateError where it does not. Cost: linear,
    two passes (ends: two more). Every comparison is made without rounding.
    Raises ValueError and TypeError for what is no problem of isotonic regression.
    Source: the min-max formula; see numerics/isotonic/certificate.h.
    """
    if not isinstance(increasing, (bool, np.bool_)):
        raise ValueError(f"increasing is {increasing!r}, expected True or False")
    problem = Problem(y, w, increasing, y_min, y_max, 1, True, contiguous=True)
    claimed = view(fit, "fit")
    if claimed.shape != problem.shape or claimed.dtype != problem.dtype:
        raise ValueError(
            f"fit is {claimed.dtype} of shape {claimed.shape}, expected {problem.dtype} of shape {problem.shape}"
        )
    if problem.work_dtype != problem.dtype:
        raise TypeError(f"w holds what {problem.dtype} has not exactly: a fit of that type cannot be proven")
    n = problem.shape[-1]
    rows = laid_out(problem.y, problem.dtype, "y", True, contiguous=True).reshape(-1, n)
    fits = laid_out(claimed, problem.dtype, "fit", True, contiguous=True).reshape(-1, n)
    weights = [None] * len(rows) if problem.w is None else np.broadcast_to(problem.w, problem.shape).reshape(-1, n)
    cuts = [None] * len(rows) if ends is None else [ends] if len(problem.shape) == 1 else ends
    if len(cuts) != len(rows):
        raise ValueError(f"ends are for {len(cuts)} rows, expected {len(rows)}")
    for i, (row, row_fit, row_weights, row_ends) in enumerate(zip(rows, fits, weights, cuts)):
        bounds = problem.lower, problem.upper
        flaw = _numerics.certify(row, row_weights, row_fit, problem.increasing, *bounds, half_ulps)
        if flaw is None and row_ends is not None:
            row_ends = view(row_ends, "ends")
            if row_ends.dtype.kind not in "iu":
                raise TypeError(f"ends hold {row_ends.dtype}, expected integers")
            row_ends = laid_out(row_ends, np.int64, "ends", True, contiguous=True)
            flaw = _numerics.certify_blocks(row, row_weights, row_ends, problem.increasing)
        if flaw is not None:
            raise CertificateError(flaw if len(problem.shape) == 1 else f"row {i}: {flaw}")


def check_increasing(x, y):
    """Whether y rather increases with x: the sign of Spearman's rank correlation, as scikit-learn decides.

    x, y: [n] numbers, finite. Equal values share the mean of their ranks.
    Returns a bool: True for a correlation >= 0, False for a negative or undefined one (x or y
    constant). The sums are integers, so the sign is exact. Cost: two sorts.
    Warns (UserWarning) where the 95% interval of the correlation, by Fisher's transform, spans 0.
    Raises ValueError if lengths differ or a value is not finite.
    """
    x = laid_out(view(x, "x"), np.float64, "x", True, contiguous=True)
    y = laid_out(view(y, "y"), np.float64, "y", True, contiguous=True)
    rho, ambiguous = _numerics.spearman(x, y, thread_count(None, x.size))
    if ambiguous:
        warn_ambiguous()
    return rho >= 0


def warn_ambiguous():
    """Says that the direction was all but a guess."""
    warn(
        "Confidence interval of the Spearman correlation coefficient spans zero. "
        "Determination of ``increasing`` may be suspect."
    )


class Problem:
    """Arguments of a fit, checked and laid out for C++."""

    def __init__(self, y, w, increasing, y_min, y_max, threads, allow_copy, contiguous=False):
        array = view(y, "y")
        if array.ndim not in (1, 2):
            raise ValueError(f"y has {array.ndim} dimensions, expected 1, or 2 for rows")
        if array.shape[-1] == 0:
            raise ValueError(f"y is empty: its shape is {array.shape}, expected a value or more in each row")
        self.shape = array.shape
        self.dtype = np.dtype(np.float32 if array.dtype == np.float32 else np.float64)
        self.lower = bound(y_min, -math.inf, "y_min")
        self.upper = bound(y_max, math.inf, "y_max")
        self.threads = thread_count(threads, array.size)
        self.labels = w is None and _are_labels(array)
        self.work_dtype = self.dtype
        self.w = None
        if w is not None:
            weights = view(w, "w")
            if weights.shape not in (self.shape, self.shape[-1:]):
                raise ValueError(f"w has shape {weights.shape}, y has {self.shape}; expected as many weights as values")
            if not np.can_cast(weights.dtype, self.dtype, "safe"):
                self.work_dtype = np.dtype(np.float64)
            self.w = laid_out(weights, self.work_dtype, "w", allow_copy, contiguous, given=w)
        if self.labels:
            # A bool is a byte of 0 or 1 already.
            self.y = laid_out(array.view(np.uint8), np.uint8, "y", allow_copy, contiguous=True, given=y)
        else:
            self.y = laid_out(array, self.work_dtype, "y", allow_copy, contiguous, given=y)
        self.increasing = self._directions(increasing)

    def fit_into(self, fit, blocks=False):
        """Fills `fit`; returns what _numerics gives for the blocks, if they are wanted."""
        if fit.dtype != self.work_dtype:
            wide = np.empty(self.shape, self.work_dtype)
            found = self.fit_into(wide, blocks)
            fit[...] = wide
            return found
        if isinstance(self.increasing, bool):
            return self._fit_rows(slice(None), self.increasing, fit, blocks)
        found = [
            self._fit_rows(slice(begin, end), direction, fit[begin:end], blocks)
            for begin, end, direction in _runs(self.increasing)
        ]
        return tuple(np.concatenate(part) for part in zip(*found)) if blocks else None

    def may_write_to(self, target):
        """Whether the fit can go straight into `target`: laid out for C++, and over no input but y as a whole."""
        if not is_direct(target, self.work_dtype) or not isinstance(self.increasing, bool):
            return False
        if self.labels and target.strides[-1] != target.itemsize:
            return False
        if self.w is not None and np.may_share_memory(target, self.w):
            return False
        same = target.ctypes.data == self.y.ctypes.data and target.strides == self.y.strides
        return same or not np.may_share_memory(target, self.y)

    def _fit_rows(self, rows, increasing, fit, blocks):
        y, w = self.y, self.w
        if y.ndim == 2:
            y = y[rows]
            w = w if w is None or w.ndim == 1 else w[rows]
        options = (fit, increasing, self.lower, self.upper, self.threads)
        if self.labels:
            return _numerics.fit_labels(y, *options, blocks)
        return (_numerics.fit_blocks if blocks else _numerics.fit)(y, w, *options)

    def _directions(self, increasing):
        """True or False, or for "auto" over several rows an array of them."""
        if isinstance(increasing, (bool, np.bool_)):
            return bool(increasing)
        if not (isinstance(increasing, str) and increasing == "auto"):
            raise ValueError(f"increasing is {increasing!r}, expected True, False or 'auto'")
        index = np.arange(self.shape[-1], dtype=np.float64)
        if self.y.ndim == 1:
            return check_increasing(index, self.y)
        if len(self.y) == 0:
            return True
        return np.array([check_increasing(index, row) for row in self.y], dtype=bool)


def _are_labels(array):
    return array.dtype == np.bool_ or (array.dtype == np.uint8 and (array.size == 0 or array.max() <= 1))


def _runs(flags):
    """(begin, end, flag) of each run of equal flags."""
    cuts = np.flatnonzero(flags[1:] != flags[:-1]) + 1
    edges = [0, *cuts.tolist(), len(flags)]
    return [(begin, end, bool(flags[begin])) for begin, end in zip(edges, edges[1:]) if begin < end]
