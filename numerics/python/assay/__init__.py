# SPDX-License-Identifier: Apache-2.0
"""Numerical libraries whose results are the same bits everywhere.

    import assay
    assay.isotonic([1.0, 3.0, 2.0, 4.0])    # array([1. , 2.5, 2.5, 4. ])

isotonic, isotonic_blocks, isotonic_points    monotone fits of arrays
certify                                       proves that such a fit is the optimal one
isotonic_quantile, isotonic_huber,
isotonic_poisson, isotonic_reverse_kl         monotone fits under other losses
unimodal                                      the best fit that rises and then falls
IsotonicRegression                            scikit-learn's estimator of that name, over ours
check_increasing                              which way a relation goes
torch                                         fits of tensors, with gradients (imported when asked for)

scikit-learn and torch are used where they are, and not needed.
"""

import importlib

from assay._estimator import IsotonicRegression, isotonic_points
from assay._isotonic import CertificateError, certify, check_increasing, isotonic, isotonic_blocks
from assay._losses import isotonic_huber, isotonic_poisson, isotonic_quantile, isotonic_reverse_kl, unimodal

__all__ = [
    "CertificateError",
    "IsotonicRegression",
    "certify",
    "check_increasing",
    "isotonic",
    "isotonic_blocks",
    "isotonic_huber",
    "isotonic_points",
    "isotonic_poisson",
    "isotonic_quantile",
    "isotonic_reverse_kl",
    "unimodal",
]


def __getattr__(name):
    if name == "torch":
        return importlib.import_module("assay.torch")
    raise AttributeError(f"module 'assay' has no attribute {name!r}")
