# SPDX-License-Identifier: Apache-2.0
"""The bare fits: values, types, what is copied, layouts, and bad input."""

import array
import sys
import threading
import time
import unittest
import warnings

import numpy as np

import assay
import cases
from assay._isotonic import Problem
from exact_reference import exact_blocks, exact_fit

SMALL = np.array([1.0, 3.0, 2.0, 4.0])
SMALL_FIT = np.array([1.0, 2.5, 2.5, 4.0])


class OnlyDlpack:
    """An array that shows itself by DLPack alone."""

    def __init__(self, data):
        self.data = data

    def __dlpack__(self, stream=None):
        return self.data.__dlpack__()

    def __dlpack_device__(self):
        return self.data.__dlpack_device__()


def same_bits(test, got, want):
    test.assertEqual(got.dtype, want.dtype)
    np.testing.assert_array_equal(got, want)
    test.assertEqual(got.tobytes(), want.tobytes())  # -0 and 0 are equal otherwise


class Values(unittest.TestCase):
    def test_by_hand(self):
        same_bits(self, assay.isotonic(SMALL), SMALL_FIT)
        same_bits(self, assay.isotonic(-SMALL, increasing=False), -SMALL_FIT)
        same_bits(self, assay.isotonic([3.0, 1.0], [1.0, 3.0]), np.array([1.5, 1.5]))
        same_bits(self, assay.isotonic([7.0]), np.array([7.0]))

    def test_every_value_is_the_exact_one_rounded(self):
        rng = np.random.default_rng(1)
        for dtype in (np.float64, np.float32):
            for n in (1, 2, 7, 64, 301):
                for increasing in (True, False):
                    y = (rng.standard_normal(n) + 0.01 * np.arange(n)).astype(dtype)
                    w = rng.uniform(0.1, 1.1, n).astype(dtype)
                    with self.subTest(dtype=dtype, n=n, increasing=increasing):
                        same_bits(self, assay.isotonic(y, increasing=increasing), exact_fit(y, None, increasing, dtype))
                        same_bits(self, assay.isotonic(y, w, increasing=increasing), exact_fit(y, w, increasing, dtype))

    def test_rows_are_fitted_each_by_itself(self):
        rng = np.random.default_rng(2)
        y = rng.standard_normal((5, 40))
        w = rng.uniform(0.1, 1.1, (5, 40))
        got = assay.isotonic(y, w)
        shared = assay.isotonic(y, w[0])
        for i in range(5):
            same_bits(self, got[i], assay.isotonic(y[i], w[i]))
            same_bits(self, shared[i], assay.isotonic(y[i], w[0]))
        self.assertEqual(assay.isotonic(np.empty((0, 3))).shape, (0, 3))

    def test_bounds_clip(self):
        same_bits(self, assay.isotonic(SMALL, y_min=1.5, y_max=2.75), np.array([1.5, 2.5, 2.5, 2.75]))
        same_bits(self, assay.isotonic(SMALL, y_min=2), np.array([2.0, 2.5, 2.5, 4.0]))
        same_bits(self, assay.isotonic(SMALL, y_max=np.float32(2)), np.array([1.0, 2.0, 2.0, 2.0]))

    def test_labels_are_counted(self):
        rng = np.random.default_rng(3)
        labels = rng.random(500) < np.linspace(0.2, 0.8, 500)
        want = exact_fit(labels.astype(np.float64))
        same_bits(self, assay.isotonic(labels), want)
        same_bits(self, assay.isotonic(labels.astype(np.uint8)), want)
        same_bits(self, assay.isotonic(labels[::2]), exact_fit(labels[::2].astype(np.float64)))
        same_bits(self, assay.isotonic(labels, increasing=False), exact_fit(labels.astype(np.float64), None, False))
        rows = labels.reshape(5, 100)
        for row, fit in zip(rows, assay.isotonic(rows)):
            same_bits(self, fit, assay.isotonic(row))
        same_bits(self, assay.isotonic(labels[:3], [1, 2, 3]), exact_fit(labels[:3].astype(np.float64), [1, 2, 3]))
        same_bits(self, assay.isotonic(np.array([2, 0, 1], np.uint8)), np.array([1.0, 1.0, 1.0]))

    def test_threads_change_no_bit(self):
        rng = np.random.default_rng(4)
        y = rng.standard_normal(300_000)
        one = assay.isotonic(y, threads=1)
        for threads in (2, 3, None):
            same_bits(self, assay.isotonic(y, threads=threads), one)

    def test_blocks(self):
        rng = np.random.default_rng(5)
        y = rng.integers(0, 5, 200).astype(np.float64)
        for increasing in (True, False):
            fit, ends = assay.isotonic_blocks(y, increasing=increasing)
            same_bits(self, fit, exact_fit(y, None, increasing))
            self.assertEqual(ends.dtype, np.int64)
            self.assertEqual(ends.tolist(), [end for _, end in exact_blocks(y, None, increasing)])
        rows = y.reshape(4, 50)
        fit, ends = assay.isotonic_blocks(rows)
        self.assertEqual(len(ends), 4)
        for row, one_fit, one_ends in zip(rows, fit, ends):
            same_bits(self, one_fit, exact_fit(row))
            self.assertEqual(one_ends.tolist(), [end for _, end in exact_blocks(row)])
        _, ends = assay.isotonic_blocks([True, False, True])
        self.assertEqual(ends.tolist(), [2, 3])
        # Bounds do not merge blocks.
        self.assertEqual(assay.isotonic_blocks([1.0, 2.0, 3.0], y_max=1.0)[1].tolist(), [1, 2, 3])
        self.assertEqual(assay.isotonic_blocks(np.empty((0, 3)))[1], [])


class Layouts(unittest.TestCase):
    def test_contiguous_but_not_aligned(self):
        unaligned = np.zeros(33, np.uint8)[1:].view(np.float64)
        unaligned[:] = SMALL
        self.assertEqual(assay.isotonic(unaligned).tolist(), SMALL_FIT.tolist())
        self.assertEqual(assay.isotonic(SMALL, w=unaligned).tolist(), assay.isotonic(SMALL, w=SMALL).tolist())
        with self.assertRaisesRegex(ValueError, "not aligned"):
            assay.isotonic(unaligned, allow_copy=False)

    def test_bounds_without_a_number_between_them(self):
        for bounds in ({"y_min": np.inf}, {"y_max": -np.inf}):
            with self.assertRaisesRegex(ValueError, "finite numbers between"):
                assay.isotonic(SMALL, **bounds)

    def test_rows_that_are_too_long(self):
        for length in (2**34, 2**59):
            with self.assertRaises((ValueError, MemoryError)):
                assay.isotonic(np.broadcast_to(1.0, length), out=np.lib.stride_tricks.as_strided(np.zeros(1), (length,), (0,)))


class Certificate(unittest.TestCase):
    def test_ends_are_integers(self):
        with self.assertRaisesRegex(TypeError, "expected integers"):
            assay.certify(SMALL, SMALL_FIT, ends=[1.0, 3.0, 4.9])

    def test_holds_for_our_fits(self):
        rng = np.random.default_rng(8)
        for dtype in (np.float32, np.float64):
            y = rng.standard_normal((3, 200)).astype(dtype)
            w = rng.uniform(0.1, 1.1, (3, 200)).astype(dtype)
            for options in ({}, {"increasing": False}, {"y_min": -0.25, "y_max": 0.5}):
                fit, ends = assay.isotonic_blocks(y, w, **options)
                self.assertIsNone(assay.certify(y, fit, w, **options, ends=ends))
                self.assertIsNone(assay.certify(y[1], fit[1], w[1], **options, ends=ends[1]))
                self.assertIsNone(assay.certify(y, assay.isotonic(y, w[0], **options), w[0], **options))
        labels = rng.random(100) < 0.5
        self.assertIsNone(assay.certify(labels, assay.isotonic(labels)))

    def test_tells_one_unit_in_the_last_place(self):
        y = np.random.default_rng(9).standard_normal(100)
        fit, ends = assay.isotonic_blocks(y)
        for i in (0, 50, 99):
            for to in (-np.inf, np.inf):
                wrong = fit.copy()
                wrong[i] = np.nextafter(fit[i], to)
                with self.assertRaises(assay.CertificateError):
                    assay.certify(y, wrong)
        moved = ends.copy()
        moved[0] += 1
        with self.assertRaises(assay.CertificateError):
            assay.certify(y, fit, ends=moved)
        with self.assertRaisesRegex(assay.CertificateError, "row 1: "):
            assay.certify(np.stack([y, y]), np.stack([fit, wrong]))

    def test_allows_as_much_as_it_is_told(self):
        y, fit = np.array([3.0, 1.0]), np.array([2.0, 2.0])
        near = np.nextafter(fit, np.inf)
        with self.assertRaises(assay.CertificateError):
            assay.certify(y, near)
        self.assertIsNone(assay.certify(y, near, half_ulps=2))
        self.assertIsNone(assay.certify(y, fit, half_ulps=0))

    def test_bad_input(self):
        for why, arguments, options in (
            ("expected float64", (SMALL, SMALL_FIT.astype(np.float32)), {}),
            ("shape", (SMALL, SMALL_FIT[:3]), {}),
            ("increasing", (SMALL, SMALL_FIT), {"increasing": "auto"}),
            ("half", (SMALL, SMALL_FIT), {"half_ulps": -1}),
            ("weight", (SMALL, SMALL_FIT, [1.0, 1.0, 1.0, -1.0]), {}),
        ):
            with self.assertRaisesRegex(ValueError, why):
                assay.certify(*arguments, **options)
        with self.assertRaisesRegex(ValueError, "ends are for 1 rows, expected 2"):
            assay.certify([[1.0], [2.0]], [[1.0], [2.0]], ends=[[1]])
        with self.assertRaisesRegex(TypeError, "w holds"):
            y = SMALL.astype(np.float32)
            assay.certify(y, y, np.ones(4))


class Direction(unittest.TestCase):
    def test_auto_goes_by_the_sign_of_spearman(self):
        up = np.array([0.5, 1.5, 2.77, 8.99, 8.99, 50])
        same_bits(self, assay.isotonic(up, increasing="auto"), up)
        same_bits(self, assay.isotonic(-up, increasing="auto"), -up)
        rows = np.stack([up, -up, -up, up])
        same_bits(self, assay.isotonic(rows, increasing="auto"), rows)
        _, ends = assay.isotonic_blocks(rows, increasing="auto")
        self.assertEqual([e.tolist() for e in ends], [[1, 2, 3, 5, 6]] * 4)
        w = np.random.default_rng(10).uniform(0.1, 1.1, rows.shape)
        noisy = rows + 9 * np.sin(np.arange(rows.size)).reshape(rows.shape)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for row, weights, fit in zip(noisy, w, assay.isotonic(noisy, w, increasing="auto")):
                same_bits(self, fit, assay.isotonic(row, weights, increasing="auto"))
        out = np.zeros_like(rows)
        self.assertIs(assay.isotonic(rows, increasing="auto", out=out), out)
        same_bits(self, out, rows)

    def test_check_increasing(self):
        for y, want in (([0, 1], True), ([1, 0], False), ([1, 1, 1], False), ([1, 1.1, 1.05], True)):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                self.assertIs(assay.check_increasing(range(len(y)), y), want, y)

    def test_a_guess_is_said(self):
        guess = [0, -1, 2, -3, 4, -5]
        with self.assertWarnsRegex(UserWarning, "interval") as said:
            self.assertFalse(assay.check_increasing(range(6), guess))
        self.assertEqual(said.filename, __file__)
        with self.assertWarnsRegex(UserWarning, "interval") as said:
            assay.isotonic(guess, increasing="auto")
        self.assertEqual(said.filename, __file__)

    def test_same_answer_as_ranks_in_integers(self):
        rng = np.random.default_rng(6)
        for n in (2, 3, 10, 57):
            for _ in range(50):
                x, y = rng.integers(0, 6, n), rng.integers(0, 6, n)
                ranks = [np.array([2 * np.sum(v < a) + np.sum(v == a) for a in v]) for v in (x, y)]
                covariance = int(np.sum((ranks[0] - n) * (ranks[1] - n)))
                defined = len(set(x)) > 1 and len(set(y)) > 1
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    self.assertEqual(assay.check_increasing(x, y), defined and covariance >= 0, (x, y))


class Types(unittest.TestCase):
    def test_which_type_the_fit_has(self):
        for dtype, want in ((np.float32, np.float32), (np.float64, np.float64), (np.float16, np.float64)):
            self.assertEqual(assay.isotonic(SMALL.astype(dtype)).dtype, want)
        for dtype in (np.int8, np.uint8, np.int16, np.int32, np.int64, np.uint64, np.bool_):
            self.assertEqual(assay.isotonic(SMALL.astype(dtype)).dtype, np.float64)

    def test_weights_of_another_type_keep_their_value(self):
        y = np.array([3, 1, 2.5], np.float32)
        big = np.array([16_777_217, 1, 1])  # no f32
        got = assay.isotonic(y, big)
        same_bits(self, got, exact_fit(y, big, dtype=np.float32))
        tiny = np.array([1e-60, 1e-60, 3e-60])
        same_bits(self, assay.isotonic(y, tiny), exact_fit(y, tiny, dtype=np.float32))
        fit, ends = assay.isotonic_blocks(y, tiny)
        self.assertEqual((fit.dtype, ends.tolist()), (np.float32, [2, 3]))
        same_bits(self, assay.isotonic(y, np.array([1, 1, 1], np.float16)), np.array([2, 2, 2.5], np.float32))

    def test_what_speaks_the_buffer_protocol(self):
        for code in "fd":
            given = array.array(code, SMALL)
            for y in (given, memoryview(given)):
                got = assay.isotonic(y, allow_copy=False)
                same_bits(self, got, SMALL_FIT.astype(code))

    def test_what_speaks_dlpack(self):
        out = np.zeros(4)
        wrapped = OnlyDlpack(out)
        self.assertIs(assay.isotonic(OnlyDlpack(SMALL), OnlyDlpack(np.ones(4)), out=wrapped, allow_copy=False), wrapped)
        same_bits(self, out, SMALL_FIT)

    def test_tensors_of_torch(self):
        import torch

        y, out = torch.tensor([1.0, 3.0, 2.0, 4.0]), torch.zeros(4)
        self.assertIs(assay.isotonic(y, out=out, allow_copy=False), out)
        self.assertEqual(out.tolist(), SMALL_FIT.tolist())
        with self.assertRaisesRegex(TypeError, "assay.torch.isotonic"):
            assay.isotonic(y.requires_grad_())
        with self.assertRaisesRegex(TypeError, "cannot be read on the CPU"):
            assay.isotonic(torch.empty(3, device="meta"))

    def test_what_are_no_numbers(self):
        for y in ("abc", ["a"], [1j], [None], np.ones(1, np.complex64), np.array([1], "M8[s]"), np.ones(2, np.longdouble), object()):
            with self.assertRaises(TypeError, msg=repr(y)):
                assay.isotonic(y)
            with self.assertRaises(TypeError, msg=repr(y)):
                assay.isotonic([1.0], y)


class Copies(unittest.TestCase):
    def test_none_where_the_layout_allows_it(self):
        grid = np.arange(24.0).reshape(4, 6)[:, ::-1].copy()
        for name, y in {
            "contiguous": grid,
            "Fortran": np.asfortranarray(grid),
            "every second": grid[::2, ::2],
            "backwards": grid[::-1, ::-1],
            "broadcast": np.broadcast_to(grid[0], (3, 6)),
            "one row": grid[1],
            "one column": grid[:, 1],
            "one row backwards": grid[1, ::-1],
            "f32": grid.astype(np.float32),
            "labels": grid > 7,
        }.items():
            for w in (None, np.ones(y.shape, y.dtype)[..., ::-1]) if y.dtype != bool else (None,):
                with self.subTest(name=name, weights=w is not None):
                    got = assay.isotonic(y, w, allow_copy=False)
                    want = [exact_fit(row, dtype=got.dtype) for row in np.atleast_2d(y).astype(got.dtype)]
                    same_bits(self, got, np.array(want).reshape(y.shape))

    def test_says_why_one_is_needed(self):
        packed = np.zeros(4, np.dtype([("tag", "u1"), ("y", "f8")]))
        packed["y"] = SMALL
        for y, why in (
            (SMALL.astype(np.int32), "holds int32, and the work is done in float64"),
            (SMALL.astype(np.float16), "holds float16"),
            (SMALL.astype(">f8"), "byte order"),
            (SMALL.tolist(), "is a list"),
            (packed["y"], "not aligned"),
            (np.array([True, True, False])[::2], "gaps"),
        ):
            with self.subTest(why=why):
                with self.assertRaisesRegex(ValueError, "^y .*(%s).* copy" % why):
                    assay.isotonic(y, allow_copy=False)
                want = exact_fit(np.asarray(y).astype(np.float64))
                same_bits(self, assay.isotonic(y), want)
        with self.assertRaisesRegex(ValueError, "^w holds int64"):
            assay.isotonic(SMALL, np.array([1, 2, 3, 4]), allow_copy=False)

    def test_inputs_stay_as_they_were(self):
        y, w = SMALL.copy(), np.array([1.0, 2.0, 3.0, 4.0])
        for array in (y, w):
            array.flags.writeable = False
        assay.isotonic(y, w)
        assay.isotonic_blocks(y, w)
        same_bits(self, y, SMALL)


class Out(unittest.TestCase):
    def test_written_and_returned(self):
        out = np.zeros(4)
        self.assertIs(assay.isotonic(SMALL, out=out), out)
        same_bits(self, out, SMALL_FIT)

    def test_any_layout(self):
        packed = np.zeros(4, np.dtype([("tag", "u1"), ("y", "f8")]))["y"]
        for out in (np.zeros(8)[::2], np.zeros(4)[::-1], np.zeros((4, 3))[:, 1], packed):
            with self.subTest(strides=out.strides):
                assay.isotonic(SMALL, out=out)
                same_bits(self, out.copy(), SMALL_FIT)
                assay.isotonic(SMALL > 1, out=out)
                same_bits(self, out.copy(), np.array([0.0, 1.0, 1.0, 1.0]))

    def test_may_be_y_or_overlap_it(self):
        y = SMALL.copy()
        self.assertIs(assay.isotonic(y, out=y), y)
        same_bits(self, y, SMALL_FIT)
        line = np.array([9.0, 1.0, 3.0, 2.0, 4.0])
        assay.isotonic(line[1:], out=line[:-1])
        same_bits(self, line[:-1], SMALL_FIT)
        y = SMALL.copy()
        assay.isotonic(y, out=y[::-1])
        same_bits(self, y[::-1].copy(), SMALL_FIT)
        w = np.array([1.0, 3.0, 3.0, 1.0])
        # C++ wants the two apart, whether or not it would show.
        self.assertFalse(Problem(SMALL, w, True, None, None, None, True).may_write_to(w[::-1]))
        assay.isotonic(SMALL, w, out=w)
        same_bits(self, w, SMALL_FIT)

    def test_must_fit(self):
        frozen = np.zeros(4)
        frozen.flags.writeable = False
        for out, why in ((np.zeros(5), "shape"), (np.zeros(4, np.float32), "float32"), (frozen, "read-only")):
            with self.assertRaisesRegex(ValueError, why):
                assay.isotonic(SMALL, out=out)
        with self.assertRaises(TypeError):
            assay.isotonic(SMALL, out=[0, 0, 0, 0])

    def test_untouched_on_failure(self):
        bad = np.array([[1.0, 2.0], [np.nan, 0.0]])
        for increasing in (True, "auto"):
            out = np.full((2, 2), 7.0)
            with self.assertRaises(ValueError):
                assay.isotonic(bad, out=out, increasing=increasing)
            self.assertTrue((out == 7).all())
        out = np.full((2, 2), 7.0)
        with self.assertRaises(ValueError):
            assay.isotonic([[1.0, 2.0], [2.0, 1.0]], [[1.0, 1.0], [1.0, -1.0]], out=out, increasing="auto")
        self.assertTrue((out == 7).all())


class BadInput(unittest.TestCase):
    def refuse(self, why, *args, **kwargs):
        for function in (assay.isotonic, assay.isotonic_blocks):
            with self.assertRaisesRegex(ValueError, why):
                function(*args, **kwargs)

    def test_not_finite(self):
        for value in (np.nan, np.inf, -np.inf):
            for dtype in (np.float32, np.float64):
                self.refuse(r"y\[1\]", np.array([1, value, 2], dtype))
            self.refuse("row 1|y", np.array([[1, 2], [3, value]]))
            self.refuse(r"weights?\[1\]", [1.0, 2.0], [1.0, value])
            self.refuse("finite|NaN", [1.0, value, 2.0], increasing="auto")

    def test_empty(self):
        self.refuse("empty", [])
        self.refuse("empty", np.empty((3, 0)))

    def test_weights(self):
        self.refuse("weight", [1.0, 2.0], [1.0, -1.0])
        self.refuse("weight", [1.0, 2.0], [0.0, 0.0])
        self.refuse("weight", np.ones((2, 2)), [[1.0, 1.0], [0.0, 0.0]])
        # A weight of 0 takes no part, and its element gets the fit of the one before it.
        same_bits(self, assay.isotonic([9.0, 1.0, 9.0, 2.0], [0.0, 1.0, 0.0, 1.0]), np.array([1.0, 1.0, 1.0, 2.0]))

    def test_bounds(self):
        self.refuse("lower|upper", SMALL, y_min=2, y_max=1)
        self.refuse("lower|upper|NaN", SMALL, y_min=np.nan)
        self.refuse("lower|upper", SMALL > 2, y_min=2, y_max=1)
        for wrong in ("1", True, [1]):
            with self.assertRaisesRegex(TypeError, "y_min"):
                assay.isotonic(SMALL, y_min=wrong)

    def test_sums_beyond_the_range(self):
        got = assay.isotonic([1e308, 1e308, -1e308])
        same_bits(self, got, exact_fit([1e308, 1e308, -1e308]))
        self.assertTrue(np.isfinite(got).all())
        tiny = [5e-324, 0.0, 5e-324]
        same_bits(self, assay.isotonic(tiny), exact_fit(tiny))

    def test_auto_of_a_constant(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            same_bits(self, assay.isotonic([2.0, 2.0, 2.0, 2.0], increasing="auto"), np.full(4, 2.0))
        same_bits(self, assay.isotonic([2.0, 1.0], increasing="auto"), np.array([2.0, 1.0]))

    def test_lengths_and_shapes(self):
        self.refuse("shape", SMALL, [1.0, 2.0, 3.0])
        self.refuse("shape", np.ones((2, 3)), np.ones((2, 2)))
        self.refuse("shape", np.ones((2, 3)), np.ones(2))
        self.refuse("dimensions", 1.0)
        self.refuse("dimensions", np.ones((2, 2, 2)))
        self.refuse("", [[1.0, 2.0], [1.0]])

    def test_masked(self):
        self.refuse("masked", np.ma.array([1.0, 2.0], mask=[True, False]))
        same_bits(self, assay.isotonic(np.ma.array(SMALL)), SMALL_FIT)

    def test_options(self):
        for wrong in ("up", None, 1, "True"):
            self.refuse("increasing", SMALL, increasing=wrong)
        for wrong in (0, -1, 100_000):
            self.refuse("threads", SMALL, threads=wrong)
        for wrong in (1.5, "2", True):
            with self.assertRaisesRegex(TypeError, "threads"):
                assay.isotonic(SMALL, threads=wrong)
        self.assertEqual(assay.isotonic(SMALL, increasing=np.False_).tolist(), [2.5] * 4)

    def test_negative_zero(self):
        got = assay.isotonic([-0.0, 0.0, -0.0])
        same_bits(self, got, np.zeros(3))


class Lock(unittest.TestCase):
    def test_other_threads_run_meanwhile(self):
        # Nobody takes the lock away, so this thread runs inside a call only if the call gives it up.
        # A busy machine may let it sleep through a call, but not through all of them.
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1000)
        self.addCleanup(sys.setswitchinterval, interval)
        y = np.random.default_rng(7).standard_normal(1_000_000)
        calls = []
        ticks = []
        ended = threading.Event()

        def work():
            for _ in range(50):
                begin = time.perf_counter()
                assay.isotonic(y, threads=1)
                calls.append((begin, time.perf_counter()))
                if any(calls[-1][0] < tick < calls[-1][1] for tick in ticks):
                    break
            ended.set()

        worker = threading.Thread(target=work)
        worker.start()
        while not ended.wait(0.0005):
            ticks.append(time.perf_counter())
        worker.join()
        self.assertTrue(any(calls[-1][0] < tick < calls[-1][1] for tick in ticks), len(calls))


if __name__ == "__main__":
    cases.main()
