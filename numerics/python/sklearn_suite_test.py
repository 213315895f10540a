# SPDX-License-Identifier: Apache-2.0
"""scikit-learn's own tests of isotonic regression, as Debian installs them, run against ours."""

import os
import sys
import types

import numpy as np
import pytest
import sklearn.isotonic
import sklearn.tests

import assay

SUITE = os.path.join(os.path.dirname(sklearn.tests.__file__), "test_isotonic.py")

# What is left out, and why.
LEFT_OUT = {
    # Takes scikit-learn's model apart by its private _build_y and _build_f. That dropping points
    # inside constant runs changes no prediction is tested in estimator_test.py instead.
    "test_fast_predict",
}
CASES = 44  # of scikit-learn 1.2.1, without those


def isotonic_regression(y, *, sample_weight=None, y_min=None, y_max=None, increasing=True):
    return assay.isotonic(y, sample_weight, y_min=y_min, y_max=y_max, increasing=increasing)


def _make_unique(x, y, w):
    """Its ties at a distance of rounding, which ours makes if asked to; y increases in these tests."""
    model = assay.IsotonicRegression(x_tolerance=np.finfo(x.dtype).resolution).fit(x, y, w)
    return model.X_thresholds_, model.y_thresholds_, None


class Plugin:
    def __init__(self):
        self.passed = 0

    def pytest_collection_modifyitems(self, items):
        assert items[0].module.IsotonicRegression is assay.IsotonicRegression
        names = {item.originalname for item in items}
        assert LEFT_OUT <= names, LEFT_OUT - names
        items[:] = [item for item in items if item.originalname not in LEFT_OUT]

    def pytest_runtest_logreport(self, report):
        self.passed += report.when == "call" and report.passed


def main():
    ours = types.ModuleType("sklearn.isotonic")
    ours.IsotonicRegression = assay.IsotonicRegression
    ours.check_increasing = assay.check_increasing
    ours.isotonic_regression = isotonic_regression
    ours._make_unique = _make_unique
    sys.modules["sklearn.isotonic"] = sklearn.isotonic = ours

    plugin = Plugin()
    arguments = [SUITE, "-v", "--noconftest", "--import-mode=importlib", "-p", "no:cacheprovider"]
    if "XML_OUTPUT_FILE" in os.environ:
        arguments.append("--junitxml=" + os.environ["XML_OUTPUT_FILE"])
    status = pytest.main(arguments, plugins=[plugin])
    print(f"{plugin.passed} passed, expected {CASES}")
    return 1 if status or plugin.passed != CASES else 0


if __name__ == "__main__":
    sys.exit(main())
