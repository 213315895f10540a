# SPDX-License-Identifier: Apache-2.0
"""The estimator: its function, its place among scikit-learn's, and bad input."""

import copy
import functools
import pickle
import subprocess
import sys
import unittest
import warnings

import numpy as np
import sklearn.base
import sklearn.exceptions
import sklearn.isotonic
import sklearn.model_selection
import sklearn.pipeline
import sklearn.preprocessing
from sklearn.utils.estimator_checks import check_estimator

import assay
import cases
from exact_reference import exact_fit


def points(seed, n, ties=False):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, n // 3 + 1, n).astype(np.float64) if ties else rng.standard_normal(n)
    return x, x + rng.standard_normal(n), rng.uniform(0.1, 1.1, n)


class Function(unittest.TestCase):
    def test_by_hand(self):
        model = assay.IsotonicRegression().fit([1, 2, 3, 4], [1, 3, 2, 4])
        self.assertEqual(model.X_thresholds_.tolist(), [1, 2, 3, 4])
        self.assertEqual(model.y_thresholds_.tolist(), [1, 2.5, 2.5, 4])
        self.assertEqual((model.X_min_, model.X_max_, model.increasing_), (1, 4, True))
        self.assertEqual(model.predict([1, 1.5, 2.5, 3.5, 4]).tolist(), [1, 1.75, 2.5, 3.25, 4])
        self.assertEqual(model.f_([[1.5], [3.5]]).tolist(), [[1.75], [3.25]])
        self.assertTrue(np.isnan(model.predict([0, 5])).all())
        self.assertTrue(np.isnan(model.f_(0)))

    def test_same_function_as_scikit_learn(self):
        for seed in range(4):
            for ties in (False, True):
                for increasing in (True, False, "auto"):
                    for bounds in ({}, {"y_min": -0.5, "y_max": 0.5}):
                        x, y, w = points(seed, 300, ties)
                        w[::7] = 0
                        queries = np.linspace(x.min() - 1, x.max() + 1, 1001)
                        options = dict(increasing=increasing, out_of_bounds="clip", **bounds)
                        for weights in (None, w):
                            with warnings.catch_warnings():
                                warnings.simplefilter("ignore")
                                theirs = sklearn.isotonic.IsotonicRegression(**options).fit(x, y, weights)
                                ours = assay.IsotonicRegression(**options).fit(x, y, weights)
                            np.testing.assert_allclose(ours.predict(queries), theirs.predict(queries), rtol=0, atol=1e-13)
                            self.assertEqual(ours.increasing_, theirs.increasing_)
                            self.assertEqual((ours.X_min_, ours.X_max_), (theirs.X_min_, theirs.X_max_))

    def test_thresholds_are_exact(self):
        x, y, w = points(5, 200)
        order = np.argsort(x)
        model = assay.IsotonicRegression().fit(x, y, w)
        want = exact_fit(y[order], w[order])
        np.testing.assert_array_equal(model.predict(x[order]), want)
        # Nothing is lost by keeping the ends of constant runs alone.
        every = assay.IsotonicRegression().fit(x[order], want)
        np.testing.assert_array_equal(every.predict(x), model.predict(x))
        self.assertLess(len(model.X_thresholds_), len(x) / 2)

    def test_labels_take_their_own_way_to_the_same_bits(self):
        rng = np.random.default_rng(11)
        scores = rng.integers(0, 300, 2000) / 300
        labels = rng.random(2000) < scores
        for options in ({}, {"increasing": False}, {"y_min": 0.1, "y_max": 0.75}):
            # Weights of 1 are still weights, and go the way of all points.
            want = assay.IsotonicRegression(**options).fit(scores, labels, np.ones(2000))
            for dtype in (bool, np.uint8, np.int32, np.int64, np.float32, np.float64):
                got = assay.IsotonicRegression(**options).fit(scores, labels.astype(dtype))
                np.testing.assert_array_equal(got.X_thresholds_, want.X_thresholds_)
                np.testing.assert_array_equal(got.y_thresholds_, want.y_thresholds_)
                self.assertEqual(got.increasing_, want.increasing_)
        for y in (np.where(labels, 2, 0), np.where(labels, 0.5, 0), np.where(labels, -1, 0)):
            got, want = (assay.IsotonicRegression().fit(scores, y, w).y_thresholds_ for w in (None, np.ones(2000)))
            np.testing.assert_array_equal(got, want)
        w = rng.uniform(0.1, 1.1, 30)
        weighted = assay.IsotonicRegression().fit(np.arange(30), labels[:30], w)
        np.testing.assert_array_equal(weighted.predict(np.arange(30)), exact_fit(labels[:30], w))
        for options in ({"centred": True}, {"x_tolerance": 0.01}):
            got, want = (assay.IsotonicRegression(**options).fit(scores, labels, w).X_thresholds_ for w in (None, np.ones(2000)))
            np.testing.assert_array_equal(got, want)
        f32 = assay.IsotonicRegression().fit(scores.astype(np.float32), labels)
        self.assertEqual(f32.X_thresholds_.dtype, np.float32)
        wide = assay.IsotonicRegression().fit(scores.astype(np.float32).astype(np.float64), labels)
        np.testing.assert_array_equal(f32.y_thresholds_, wide.y_thresholds_.astype(np.float32))
        self.assertIs(assay.IsotonicRegression(increasing="auto").fit(scores, ~labels).increasing_, False)

    def test_labels_are_known_wherever_the_odd_one_is(self):
        for n in (1, 4096, 4097, 9000):
            for odd in {0, n // 2, n - 1}:
                y = np.ones(n)
                y[odd] = 0.5
                model = assay.IsotonicRegression(increasing=False).fit(np.arange(n), y)
                np.testing.assert_array_equal(model.predict(np.arange(n)), exact_fit(y, None, False))

    def test_outside(self):
        fit = functools.partial(assay.IsotonicRegression, y_min=None)
        x, y = [1, 2, 3], [1, 2, 3]
        self.assertTrue(np.isnan(fit().fit(x, y).predict([0.5, 3.5])).all())
        self.assertEqual(fit(out_of_bounds="clip").fit(x, y).predict([0.5, 3.5]).tolist(), [1, 3])
        model = fit(out_of_bounds="raise").fit(x, y)
        self.assertEqual(model.predict([1, 3]).tolist(), [1, 3])
        with self.assertRaisesRegex(ValueError, r"0\.5.* below"):
            model.predict([2, 0.5])
        with self.assertRaisesRegex(ValueError, r"3\.5.* above"):
            model.predict([3.5, 2])

    def test_steps(self):
        x, y = [0, 1, 2], [0, 10, 20]
        queries = [0, 0.25, 1, 1.75, 2]
        step = assay.IsotonicRegression(interpolation="step").fit(x, y)
        self.assertEqual(step.predict(queries).tolist(), [0, 0, 10, 10, 20])
        step_next = assay.IsotonicRegression(interpolation="step_next").fit(x, y)
        self.assertEqual(step_next.predict(queries).tolist(), [0, 10, 10, 20, 20])

    def test_centred_is_strict(self):
        x, y = np.arange(6.0), np.array([0.0, 2.0, 1.0, 3.0, 5.0, 4.0])
        model = assay.IsotonicRegression(centred=True).fit(x, y)
        self.assertEqual(model.predict([1.5]).tolist(), [1.5])
        inner = model.predict(np.linspace(0, 4.5, 50))
        self.assertTrue((np.diff(inner) > 0).all())

    def test_ties(self):
        x, y = [1, 1, 2, 2], [4, 0, 1, 5]
        self.assertEqual(assay.isotonic_points(x, y).tolist(), [2, 2, 3, 3])
        self.assertEqual(assay.isotonic_points(x, y, ties="tertiary").tolist(), [4, 0, 1, 5])
        self.assertEqual(assay.isotonic_points(x, y, ties="primary").tolist(), [2.5, 0, 2.5, 5])
        self.assertEqual(assay.isotonic_points(x, y, [3, 1, 1, 1]).tolist(), [3, 3, 3, 3])
        self.assertEqual(assay.isotonic_points(x, y, increasing=False).tolist(), [2.5] * 4)
        self.assertEqual(assay.isotonic_points(x, y, y_min=2.5, y_max=2.75).tolist(), [2.5, 2.5, 2.75, 2.75])
        self.assertEqual(assay.isotonic_points([3, 1, 1], [9, 2, 4]).tolist(), [9, 3, 3])
        with self.assertRaisesRegex(ValueError, "ties"):
            assay.isotonic_points(x, y, ties="quaternary")

    def test_near_ties_by_choice(self):
        x, y = [0, 1, 1 + 1e-9, 2], [0, 1, 2, 3]
        self.assertEqual(len(assay.IsotonicRegression().fit(x, y).X_thresholds_), 4)
        model = assay.IsotonicRegression(x_tolerance=1e-6).fit(x, y)
        self.assertEqual(model.X_thresholds_.tolist(), [0, 1, 2])
        self.assertEqual(model.y_thresholds_.tolist(), [0, 1.5, 3])
        self.assertEqual(assay.isotonic_points(x, y, x_tolerance=1e-6).tolist(), [0, 1.5, 1.5, 3])

    def test_types(self):
        for x_dtype, want in ((np.float32, np.float32), (np.float64, np.float64), (np.int32, np.float64)):
            for y_dtype in (np.float32, np.float64, np.int64):
                model = assay.IsotonicRegression().fit(np.arange(5, dtype=x_dtype), np.array([2, 1, 4, 3, 5], y_dtype))
                self.assertEqual(model.X_thresholds_.dtype, want)
                self.assertEqual(model.y_thresholds_.dtype, want)
                self.assertEqual(model.predict([0.5]).dtype, want)

    def test_threads_change_no_bit(self):
        x, y, w = points(6, 200_000)
        models = [assay.IsotonicRegression(threads=threads).fit(x, y, w) for threads in (1, 2, None)]
        for model in models[1:]:
            np.testing.assert_array_equal(model.y_thresholds_, models[0].y_thresholds_)
            np.testing.assert_array_equal(model.predict(x), models[0].predict(x))

    def test_strides(self):
        x, y, w = points(7, 60)
        want = assay.IsotonicRegression().fit(x[::2].copy(), y[::2].copy(), w[::2].copy()).predict(x[::2].copy())
        got = assay.IsotonicRegression().fit(x[::2], y[::2], w[::2]).predict(np.stack([x, x], 1)[::2, :1])
        np.testing.assert_array_equal(got, want)

    def test_pickles(self):
        x, y, _ = points(8, 50)
        for dtype in (np.float32, np.float64):
            model = assay.IsotonicRegression(out_of_bounds="clip").fit(x.astype(dtype), y)
            again = pickle.loads(pickle.dumps(model))
            self.assertEqual(again.get_params(), model.get_params())
            queries = np.linspace(-5, 5, 1000).astype(dtype)
            np.testing.assert_array_equal(again.predict(queries), model.predict(queries))
            np.testing.assert_array_equal(copy.deepcopy(model).predict(queries), model.predict(queries))
        self.assertEqual(pickle.loads(pickle.dumps(assay.IsotonicRegression(y_min=1))).y_min, 1)


class AmongOthers(unittest.TestCase):
    """With scikit-learn's own machinery."""

    def test_clone_and_parameters(self):
        model = assay.IsotonicRegression(y_min=0, increasing="auto")
        clone = sklearn.base.clone(model)
        self.assertEqual(clone.get_params(), model.get_params())
        self.assertIsNot(clone, model)
        self.assertEqual(repr(model), "IsotonicRegression(y_min=0, increasing='auto')")
        self.assertIs(model.set_params(y_min=1), model)
        self.assertEqual(model.y_min, 1)
        with self.assertRaisesRegex(ValueError, "nonsense"):
            model.set_params(nonsense=1)
        self.assertTrue(sklearn.base.is_regressor(model))

    def test_in_a_search_and_a_pipeline(self):
        x, y, _ = points(9, 120)
        search = sklearn.model_selection.GridSearchCV(
            assay.IsotonicRegression(out_of_bounds="clip"), {"increasing": [True, False]}
        )
        self.assertEqual(search.fit(x, y).best_params_, {"increasing": True})
        pipeline = sklearn.pipeline.make_pipeline(sklearn.preprocessing.StandardScaler(), assay.IsotonicRegression())
        self.assertEqual(pipeline.fit(x.reshape(-1, 1), y).predict(x.reshape(-1, 1)).shape, (120,))

    def test_score(self):
        x, y, w = points(10, 80)
        theirs = sklearn.isotonic.IsotonicRegression().fit(x, y, w)
        ours = assay.IsotonicRegression().fit(x, y, w)
        self.assertAlmostEqual(ours.score(x, y), theirs.score(x, y), places=13)
        self.assertAlmostEqual(ours.score(x, y, w), theirs.score(x, y, w), places=13)
        self.assertEqual(assay.IsotonicRegression().fit([1, 2], [3, 3]).score([1, 2], [3, 3]), 1.0)

    def test_not_fitted(self):
        with self.assertRaises(sklearn.exceptions.NotFittedError):
            assay.IsotonicRegression().predict([1])

    def test_checks_of_estimators(self):
        # Estimators of one feature are spared all of scikit-learn's checks. So both estimators get
        # the first of several features here, and ours passes what theirs passes, and more.
        failures = {}
        for base in (sklearn.isotonic.IsotonicRegression, assay.IsotonicRegression):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                failures[base] = dict(_failing_checks(_first_feature(base)))
        theirs, ours = failures.values()
        self.assertLessEqual(set(ours), set(theirs), ours)
        self.assertEqual(
            set(ours),
            {
                # Of several features, which we have not.
                "check_fit2d_predict1d",
                "check_fit1d",
                "check_n_features_in",
                "check_transformer_general",
                # Skipped for want of pandas; of numbers that are no arrays the former checks nothing else here.
                "check_regressor_data_not_an_array",
                "check_sample_weights_pandas_series",
            },
        )

    def test_without_scikit_learn(self):
        program = """
import sys
sys.modules["sklearn"] = sys.modules["torch"] = sys.modules["scipy"] = None  # importing them fails
import assay, pickle
model = assay.IsotonicRegression().fit([1, 2, 3, 4], [1, 3, 2, 4])
assert model.predict([2.5]).tolist() == [2.5]
assert pickle.loads(pickle.dumps(model)).predict([3.5]).tolist() == [3.25]
assert model.score([1, 2, 3, 4], [1, 3, 2, 4]) == 0.9
try:
    assay.IsotonicRegression().predict([1])
except ValueError as error:
    assert "not fitted" in str(error)
else:
    raise AssertionError("no error")
"""
        subprocess.run([sys.executable, "-c", program], check=True, env={"PYTHONPATH": ":".join(sys.path)})


def _first_feature(base):
    def first(X):
        if hasattr(X, "toarray"):
            return X
        X = np.asarray(X)
        return X[:, 0] if X.ndim == 2 and X.shape[1] > 1 else X

    class FirstFeature(base):
        def fit(self, X, y, sample_weight=None):
            return super().fit(first(X), y, sample_weight)

        def transform(self, T):
            return super().transform(first(T))

        def _more_tags(self):
            # One feature of several predicts poorly.
            return {"X_types": ["2darray"], "requires_y": True, "poor_score": True}

    # Pickle looks the class up by its name.
    FirstFeature.__qualname__ = FirstFeature.__name__ = "FirstFeature" + base.__module__.split(".")[0].capitalize()
    globals()[FirstFeature.__name__] = FirstFeature
    return FirstFeature()


def _failing_checks(estimator):
    for instance, check in check_estimator(estimator, generate_only=True):
        try:
            check(instance)
        except (Exception, unittest.SkipTest) as error:
            yield check.func.__name__, repr(error)


class BadInput(unittest.TestCase):
    def refuse(self, why, X, y, sample_weight=None, **parameters):
        with self.assertRaisesRegex(ValueError, why):
            assay.IsotonicRegression(**parameters).fit(X, y, sample_weight)
        if not parameters:
            with self.assertRaisesRegex(ValueError, why):
                assay.isotonic_points(X, y, sample_weight)

    def test_not_finite(self):
        for value, name in ((np.nan, "NaN"), (np.inf, "inf"), (-np.inf, "-inf")):
            self.refuse(rf"x\[1\] is {name}", [1, value], [1, 2])
            self.refuse(rf"y\[1\] is {name}", [1, 2], [1, value])
            self.refuse(rf"weights\[1\] is {name}", [1, 2], [1, 2], [1, value])
            for dtype in (np.float32, np.float64):
                model = assay.IsotonicRegression().fit(np.array([1, 2], dtype), [1, 2])
                with self.assertRaisesRegex(ValueError, name):
                    model.predict(np.array([1, value], dtype))

    def test_empty(self):
        self.refuse(r"0 sample\(s\)", [], [])
        with self.assertRaisesRegex(ValueError, r"0 sample\(s\)"):
            assay.IsotonicRegression().fit([1], [1]).predict([])

    def test_weights(self):
        self.refuse("all weights are 0", [1, 2], [1, 2], [0, 0])
        self.refuse("-1", [1, 2], [1, 2], [1, -1])
        model = assay.IsotonicRegression().fit([1, 2, 3], [1, 100, 3], [1, 0, 1])
        self.assertEqual(model.X_thresholds_.tolist(), [1, 3])
        one = assay.IsotonicRegression().fit([1, 2, 3], [2, 1, 3], 5)
        self.assertEqual(one.y_thresholds_.tolist(), [1.5, 1.5, 3])
        self.refuse("all weights are 0", [1, 2], [1, 2], 0)

    def test_bounds(self):
        self.refuse("lower", [1, 2], [1, 2], y_min=2, y_max=1)
        self.refuse("lower", [1, 2], [1, 2], y_min=np.nan)

    def test_sums_beyond_the_range(self):
        model = assay.IsotonicRegression().fit([1, 2, 3], [1e308, 1e308, -1e308])
        np.testing.assert_array_equal(model.y_thresholds_, exact_fit([1e308, 1e308, -1e308])[[0, 2]])

    def test_lengths_and_shapes(self):
        self.refuse(r"inconsistent numbers of samples: \[3, 2\]", [1, 2, 3], [1, 2])
        self.refuse(r"inconsistent numbers of samples: \[2, 2, 1\]", [1, 2], [1, 2], [1])
        self.refuse("1 feature", np.ones((3, 2)), [1, 2, 3])
        self.refuse("1d array", [1, 2], np.ones((2, 2)))
        self.refuse("1d array", [1, 2], [1, 2], np.ones((2, 1)))
        with self.assertRaisesRegex(ValueError, "1 feature"):
            assay.IsotonicRegression().fit([1, 2], [1, 2]).predict(np.ones((3, 2)))
        with self.assertWarnsRegex(sklearn.exceptions.DataConversionWarning, "column-vector"):
            assay.IsotonicRegression().fit([1, 2], [[1], [2]])

    def test_what_are_no_numbers(self):
        self.refuse("Complex", [1j, 2], [1, 2])
        self.refuse("could not convert|expected", np.array(["a", "b"], object), [1, 2])
        for wrong in (["a", "b"], np.array([1, 2], "M8[s]")):
            with self.assertRaises(TypeError):
                assay.IsotonicRegression().fit(wrong, [1, 2])
        self.refuse("y", [1, 2], None)

    def test_parameters(self):
        self.refuse("out_of_bounds", [1, 2], [1, 2], out_of_bounds="wrap")
        self.refuse("interpolation", [1, 2], [1, 2], interpolation="cubic")
        self.refuse("increasing", [1, 2], [1, 2], increasing="up")
        self.refuse("x_tolerance", [1, 2], [1, 2], x_tolerance=-1)
        self.refuse("threads", [1, 2], [1, 2], threads=0)

    def test_score_of_lengths_that_differ(self):
        model = assay.IsotonicRegression().fit([1, 2, 3], [1, 2, 3])
        for x, y, weights in (([1, 2, 3], [1], None), ([1], [1, 2, 3], None), ([1, 2, 3], [1, 2, 3], [1.0])):
            with self.assertRaisesRegex(ValueError, "as many of each"):
                model.score(x, y, weights)

    def test_one_x_is_a_constant_everywhere(self):
        for outside in ("nan", "clip", "raise"):
            for x, y, constant in (([2], [7], 7), ([2, 2], [7, 8], 7.5)):
                model = assay.IsotonicRegression(out_of_bounds=outside).fit(x, y)
                self.assertEqual(model.predict([-5.0, 2.0, 5.0]).tolist(), [constant] * 3)

    def test_zeros_of_both_signs_tie(self):
        model = assay.IsotonicRegression().fit([-0.0, 0.0], [1, 2])
        self.assertEqual(model.predict([0.0, -0.0]).tolist(), [1.5, 1.5])

    def test_a_guessed_direction_is_said(self):
        with self.assertWarnsRegex(UserWarning, "interval"):
            assay.IsotonicRegression(increasing="auto").fit(range(6), [0, -1, 2, -3, 4, -5])
        with self.assertWarnsRegex(UserWarning, "interval"):
            assay.isotonic_points(range(6), [0, -1, 2, -3, 4, -5], increasing="auto")


if __name__ == "__main__":
    cases.main()
