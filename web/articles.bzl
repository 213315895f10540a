# SPDX-License-Identifier: Apache-2.0
"""The pages of the site, in the order of the home page. `tools/new_lab` adds a line."""

ARTICLES = [
    "cost-of-matrix-multiplication",
    "fft",
    "numerical-pitfalls",
    "nearest-neighbours",
    "isotonic",
    "roofline",
]

def article_targets(target = None):
    """Labels of one target in every article: article_targets("lab"); without a name, the articles."""
    return ["//web/articles/%s:%s" % (slug, target or slug) for slug in ARTICLES]
