# SPDX-License-Identifier: Apache-2.0
"""Isotonic regression of points: scikit-learn's estimator, and fits under other rules for ties."""

import inspect
import math
import numbers
import sys

import numpy as np

from assay import _numerics
from assay._arrays import bound, choice, laid_out, thread_count, view, warn
from assay._isotonic import check_increasing, warn_ambiguous

_OUTSIDE = {name: getattr(_numerics.Outside, name) for name in ("nan", "clip", "raise")}
_INTERPOLATION = {name: getattr(_numerics.Interpolation, name) for name in ("linear", "step", "step_next")}
_TIES = {name: getattr(_numerics.Ties, name) for name in ("primary", "secondary", "tertiary")}


def isotonic_points(
    x, y, w=None, *, ties="secondary", increasing=True, y_min=None, y_max=None, x_tolerance=0.0, threads=None
):
    """The isotonic fit of each point (x, y): monotone in x, nearest to y.

    >>> isotonic_points([3, 1, 1], [9, 2, 4])
    array([9., 3., 3.])

    x, y: [n] finite, in any order, n >= 1. w: [n] finite, >= 0, not all 0; None for 1.
    ties: what becomes of points of the same x. "secondary": they are one point at their weighted
      mean. "primary": they are ordered by y, and their fits may differ. "tertiary": their means are
      monotone, and each keeps its distance from its mean.
    increasing: True, False, or "auto" (see `check_increasing`).
    y_min, y_max: bounds of the fit; None for none.
    x_tolerance: points also tie that lie less than this beyond the first of their tie.
    threads: as for `isotonic`.
    Returns [n] f64. Exact, rounded once ("tertiary": 2.5 ulp). Cost: a radix sort and a linear pass.
    A point of weight 0 takes no part and gets the fit of its tie, or else of the point before it.
    Raises ValueError for empty, NaN or infinite values, bad weights, lengths that differ.
    """
    x, y, w = _in_f64(*_points(x, y, w)[:3])
    if isinstance(increasing, str) and increasing == "auto":
        increasing = check_increasing(x, y)
    fit = np.empty(len(x))
    _numerics.fit_points(
        x,
        y,
        w,
        fit,
        _trend(increasing),
        bound(y_min, -math.inf, "y_min"),
        bound(y_max, math.inf, "y_max"),
        choice(_TIES, ties, "ties"),
        float(x_tolerance),
        thread_count(threads, len(x)),
    )
    return fit


class IsotonicRegression:
    """Isotonic regression of points: a monotone function fitted to (X, y), with scikit-learn's interface.

    >>> IsotonicRegression().fit([1, 2, 3, 4], [1, 3, 2, 4]).predict([2.5, 3.5])
    array([2.5 , 3.25])

    Takes the place of sklearn.isotonic.IsotonicRegression: same parameters, attributes and results to
    rounding, also in pipelines, searches and clones. What differs: every threshold is the exact one,
    rounded once; points tie where their X is equal (see x_tolerance); and negative weights, y_min
    above y_max and sums beyond the range of f64 are errors or right, where they go wrong silently.

    y_min, y_max: bounds of the fit; None for none.
    increasing: True, False, or "auto", by the sign of Spearman's rank correlation of X and y.
    out_of_bounds: predictions outside of the X seen: "nan", "clip" (the nearest one's), or "raise".
      A single X makes a constant everywhere.
    interpolation: "linear" between thresholds, or "step" (the y before) or "step_next" (the y after).
    centred: contracts each constant run to its mean X, so that the function is strictly monotone
      within (Oron, Flournoy 2017).
    x_tolerance: points also tie that lie less than this beyond the first of their tie.
    threads: None for one below 131,072 points and for all CPUs from there on; results do not depend
      on it.

    Attributes, once fitted: X_thresholds_, y_thresholds_, [m] the function's corners; X_min_, X_max_;
    increasing_; f_, the function itself, for X inside of these.
    Types: X of f32 gives f32 thresholds and predictions, worked out in f64; anything else f64.
    Pickles.
    """

    _estimator_type = "regressor"

    def __init__(
        self,
        *,
        y_min=None,
        y_max=None,
        increasing=True,
        out_of_bounds="nan",
        interpolation="linear",
        centred=False,
        x_tolerance=0.0,
        threads=None,
    ):
        self.y_min = y_min
        self.y_max = y_max
        self.increasing = increasing
        self.out_of_bounds = out_of_bounds
        self.interpolation = interpolation
        self.centred = centred
        self.x_tolerance = x_tolerance
        self.threads = threads

    def fit(self, X, y, sample_weight=None):
        """Fits the function.

        X: [n] or [n, 1], finite, in any order. y: [n] finite. sample_weight: [n] finite, >= 0, not
        all 0, or one number for all; points of weight 0 are left out.
        Returns self. Cost: a radix sort and a linear pass; about 50 bytes a point.
        Raises ValueError for empty, NaN or infinite values, bad weights, lengths that differ.
        """
        choice(_OUTSIDE, self.out_of_bounds, "out_of_bounds")
        choice(_INTERPOLATION, self.interpolation, "interpolation")
        x, y, w, dtype = _points(X, y, sample_weight)
        lower, upper = bound(self.y_min, -math.inf, "y_min"), bound(self.y_max, math.inf, "y_max")
        threads = thread_count(self.threads, len(x))
        trend = _trend(self.increasing)
        # Labels have a way of their own, to the same bits.
        plain = w is None and trend != _numerics.Trend.auto and not self.centred and self.x_tolerance == 0
        labels = _numerics.as_labels(y) if plain else None
        if labels is not None:
            self.increasing_ = bool(self.increasing)
            function = _numerics.calibrate(x, labels, self.increasing_, lower, upper, threads)
        else:
            x, y, w = _in_f64(x, y, w)
            tolerance, centred = float(self.x_tolerance), bool(self.centred)
            function = _numerics.Function.fit(x, y, w, trend, lower, upper, tolerance, centred, threads)
            if function.ambiguous:
                warn_ambiguous()
            self.increasing_ = function.increasing
        self._set_function(function, dtype)
        return self

    def transform(self, T):
        """The function at T: [k] or [k, 1] finite. Returns [k] of the type of the thresholds.

        Linear between thresholds, with an error of 5 roundings of their y's difference and one of the
        result, two in f32; exact for steps. Cost: a table look-up and a few steps a query.
        Raises ValueError for NaN and infinities, and outside of the X seen for out_of_bounds="raise".
        """
        queries = _one_feature(_numbers(T, "X"))
        if not hasattr(self, "f_"):
            raise _not_fitted(self)
        queries = laid_out(queries, self.f_.dtype, "X", True, contiguous=True)
        return self.f_.predict(queries, self.interpolation, self.out_of_bounds, self.threads)

    def predict(self, T):
        """As `transform`."""
        return self.transform(T)

    def fit_transform(self, X, y=None, sample_weight=None):
        """As `fit(X, y, sample_weight).transform(X)`."""
        return self.fit(X, y, sample_weight).transform(X)

    def score(self, X, y, sample_weight=None):
        """The coefficient of determination of predict(X): 1 is perfect, 0 no better than y's mean."""
        predicted = self.predict(X)
        y = laid_out(_one_feature(_numbers(y, "y")), np.float64, "y", True)
        weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        if len(predicted) != len(y) or weights.shape != y.shape:
            raise ValueError(
                f"X has {len(predicted)} elements, y {len(y)}, sample_weight shape {weights.shape}; expected as many of each"
            )
        residual = np.sum(weights * (y - predicted) ** 2)
        total = np.sum(weights * (y - np.average(y, weights=weights)) ** 2)
        if total == 0:
            return 1.0 if residual == 0 else 0.0
        return float(1 - residual / total)

    def get_feature_names_out(self, input_features=None):
        """["isotonicregression0"]; input_features is ignored."""
        return np.asarray([f"{type(self).__name__.lower()}0"], dtype=object)

    def get_params(self, deep=True):
        """The parameters by name; deep is ignored."""
        return {name: getattr(self, name) for name in self._parameters()}

    def set_params(self, **params):
        """Sets parameters by name. Returns self. Raises ValueError for a name that is none."""
        known = self._parameters()
        for name, value in params.items():
            if name not in known:
                raise ValueError(f"Invalid parameter {name!r} for estimator {self}. Valid parameters are: {known}.")
            setattr(self, name, value)
        return self

    def __repr__(self):
        defaults = inspect.signature(type(self).__init__).parameters
        changed = [
            f"{name}={value!r}" for name, value in self.get_params().items() if not value == defaults[name].default
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

    @classmethod
    def _parameters(cls):
        return [
            name
            for name, parameter in inspect.signature(cls.__init__).parameters.items()
            if parameter.kind == parameter.KEYWORD_ONLY
        ]

    def _set_function(self, function, dtype):
        self.f_ = _Function(function, dtype)
        x, y = function.thresholds
        self.X_thresholds_ = x.astype(dtype)
        self.y_thresholds_ = y.astype(dtype)
        self.X_min_ = self.X_thresholds_[0]
        self.X_max_ = self.X_thresholds_[-1]

    def _more_tags(self):
        return {"X_types": ["1darray"], "requires_y": True}


class _Function:
    """A fitted function and the type of its arguments and values. Pickles."""

    def __init__(self, function, dtype):
        self.function = function
        self.dtype = dtype

    def __call__(self, x):
        """The function at x, linear between thresholds, NaN outside."""
        x = np.asarray(x, dtype=self.dtype)
        return self.predict(np.ascontiguousarray(x.reshape(-1)), "linear", "nan", None).reshape(x.shape)

    def predict(self, queries, interpolation, out_of_bounds, threads):
        outside = choice(_OUTSIDE, out_of_bounds, "out_of_bounds")
        if len(self.function.thresholds[0]) == 1:
            # One point is a constant everywhere, as in scikit-learn.
            outside = choice(_OUTSIDE, "clip", "out_of_bounds")
        elif out_of_bounds == "raise":
            self._refuse_outside(queries)
        out = np.empty_like(queries)
        threads = thread_count(threads, len(queries))
        self.function.predict(queries, out, choice(_INTERPOLATION, interpolation, "interpolation"), outside, threads)
        return out

    def _refuse_outside(self, queries):
        # In the words that scikit-learn's estimator has from scipy.
        x = self.function.thresholds[0]
        least, most = queries.min(), queries.max()
        if least < x[0]:
            raise ValueError(f"A value ({least}) in x_new is below the interpolation range's minimum value ({x[0]}).")
        if most > x[-1]:
            raise ValueError(f"A value ({most}) in x_new is above the interpolation range's maximum value ({x[-1]}).")


def _points(x, y, w):
    """x, y, w as rows of one length (w may be None), and the type that results have: x's, f32 or f64."""
    if y is None:
        raise ValueError("y is None: this estimator requires y to be passed, but the target y is None")
    x = _one_feature(_numbers(x, "X"))
    y = _numbers(y, "y")
    if y.ndim == 2 and y.shape[1] == 1:
        _warn_of_column()
        y = y.reshape(-1)
    if y.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {y.shape} instead")
    dtype = np.dtype(np.float32 if x.dtype == np.float32 else np.float64)
    lengths = [len(x), len(y)]
    if isinstance(w, numbers.Number):
        w = np.full(len(x), float(w))
    elif w is not None:
        w = _numbers(w, "sample_weight")
        if w.ndim != 1:
            raise ValueError(f"sample_weight should be a 1d array, got an array of shape {w.shape} instead")
        lengths.append(len(w))
    if len(set(lengths)) > 1:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {lengths}")
    x = laid_out(x, dtype, "X", True, contiguous=True)
    y = laid_out(y, np.uint8 if y.dtype == np.bool_ else y.dtype.newbyteorder("="), "y", True, contiguous=True)
    return x, y, w, dtype


def _in_f64(*arrays):
    return [a if a is None else laid_out(a, np.float64, "", True, contiguous=True) for a in arrays]


def _numbers(value, name):
    """An array of real numbers, not empty."""
    if hasattr(value, "toarray"):
        raise TypeError(f"{name} is a sparse matrix, expected dense data")
    if not hasattr(value, "dtype") or value.dtype == object:
        value = np.asarray(value)
        if value.dtype == object:
            value = value.astype(np.float64)
    if np.iscomplexobj(value):
        raise ValueError(f"Complex data not supported: {name} holds {value.dtype}")
    array = view(value, name)
    if array.ndim == 0:
        raise ValueError(f"{name} is a single value, expected a 1d array: reshape(-1) makes one")
    if array.size == 0:
        what = "sample(s)" if len(array) == 0 else "feature(s)"
        raise ValueError(f"Found array with 0 {what} (shape={array.shape}) while a minimum of 1 is required. ({name})")
    return array


def _one_feature(array):
    """[n] of [n] or [n, 1]."""
    if not (array.ndim == 1 or (array.ndim == 2 and array.shape[1] == 1)):
        raise ValueError("Isotonic regression input X should be a 1d array or 2d array with 1 feature")
    return array.reshape(-1)


def _trend(increasing):
    if isinstance(increasing, (bool, np.bool_)):
        return _numerics.Trend.increasing if increasing else _numerics.Trend.decreasing
    if isinstance(increasing, str) and increasing == "auto":
        return _numerics.Trend.auto
    raise ValueError(f"increasing is {increasing!r}, expected True, False or 'auto'")


def _warn_of_column():
    exceptions = sys.modules.get("sklearn.exceptions")
    kind = exceptions.DataConversionWarning if exceptions else UserWarning
    warn("A column-vector y was passed when a 1d array was expected", kind)


class NotFittedError(ValueError, AttributeError):
    """An estimator is asked before it was fitted. scikit-learn's own, where scikit-learn is loaded."""


def _not_fitted(estimator):
    exceptions = sys.modules.get("sklearn.exceptions")
    kind = exceptions.NotFittedError if exceptions else NotFittedError
    return kind(f"This {type(estimator).__name__} instance is not fitted yet: call fit first")
