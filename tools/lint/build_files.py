# SPDX-License-Identifier: Apache-2.0
"""Reads BUILD files: Starlark's syntax is a subset of Python's, so Python's own parser serves."""

import ast
import collections
import fnmatch
import os

# One call of a rule or macro with a name. Labels of `deps` and the like are as written; `strings`
# gives every string inside an attribute, whatever it is made of (select, +, lists).
Target = collections.namedtuple("Target", "path package rule name attributes line")

# Rules that make a library with a profile.
LIBRARIES = ("assay_library", "gpu_library")


def parse(tree, path):
    """The syntax tree of a Starlark file, or None where it does not parse."""
    try:
        return ast.parse(tree.text(path))
    except (SyntaxError, TypeError):
        return None


def targets(tree):
    """Every target of every BUILD file of ours (named BUILD), in order of path and line.

    An article's lab is among them: the macro `article` makes an exact library of lab.cc. A call of article_targets in an attribute stands for the labels that it gives.
    """
    found = []
    slugs = _articles(tree)
    for path in tree.paths:
        if os.path.basename(path) != "BUILD":
            continue
        module = parse(tree, path)
        if module is None:
            continue
        module = _ArticleTargets(slugs).visit(module)
        for node in ast.walk(module):
            if not isinstance(node, ast.Call):
                continue
            attributes = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
            if "name" in attributes:
                name = attributes["name"]
                target = Target(
                    path=path,
                    package=os.path.dirname(path),
                    rule=_dotted(node.func),
                    name=name.value if isinstance(name, ast.Constant) else None,
                    attributes=attributes,
                    line=node.lineno,
                )
                found.append(target)
                if target.rule == "article":
                    found.append(_lab_of_article(target))
    return sorted(found, key=lambda target: (target.path, target.line))


def _articles(tree):
    """The slugs in web/articles.bzl."""
    if "web/articles.bzl" not in tree.paths:
        return []
    module = parse(tree, "web/articles.bzl")
    for node in module.body if module else []:
        if isinstance(node, ast.Assign) and _dotted(node.targets[0]) == "ARTICLES":
            return strings(node.value)
    return []


class _ArticleTargets(ast.NodeTransformer):
    """Replaces calls of article_targets by the list of labels."""

    def __init__(self, slugs):
        self.slugs = slugs

    def visit_Call(self, node):
        self.generic_visit(node)
        if _dotted(node.func) != "article_targets":
            return node
        name = node.args[0].value if node.args else None
        labels = [f"//web/articles/{slug}:{name or slug}" for slug in self.slugs]
        return ast.copy_location(ast.List([ast.Constant(label) for label in labels], ast.Load()), node)


def _lab_of_article(article):
    attributes = {"name": ast.Constant("lab"), "srcs": ast.List([ast.Constant("lab.cc")], ast.Load())}
    if "lab_deps" in article.attributes:
        attributes["deps"] = article.attributes["lab_deps"]
    return article._replace(rule="assay_library", name="lab", attributes=attributes)


def _dotted(node):
    if isinstance(node, ast.Attribute):
        return _dotted(node.value) + "." + node.attr
    return node.id if isinstance(node, ast.Name) else "?"


def strings(node):
    """Every string constant below `node` (an attribute's value, or None)."""
    if node is None:
        return []
    return [
        inner.value
        for inner in ast.walk(node)
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str)
    ]


def string(target, attribute, default=None):
    """An attribute that is one string constant."""
    node = target.attributes.get(attribute)
    return node.value if isinstance(node, ast.Constant) else default


def files(tree, target, *attributes):
    """Paths of the source files that the attributes name; a glob is matched against the tree."""
    patterns = [text for name in attributes for text in strings(target.attributes.get(name))]
    prefix = target.package + "/" if target.package else ""
    found = set()
    for pattern in patterns:
        if pattern.startswith(("//", "@")):
            continue
        wanted = prefix + pattern.lstrip(":")
        if "*" in wanted:
            wanted = wanted.replace("**/", "*")
            found.update(path for path in tree.paths if fnmatch.fnmatch(path, wanted))
        elif wanted in tree.paths:
            found.add(wanted)
    return found


def label(text, package):
    """`text` as written in `package`, as //package:name; None for another repository's."""
    if text.startswith("@") and not text.startswith("@assay//"):
        return None
    text = text[len("@assay") :] if text.startswith("@") else text
    if text.startswith(":"):
        return "//" + package + text
    if text.startswith("//"):
        return text if ":" in text else text + ":" + text.rsplit("/", 1)[-1]
    return "//" + package + ":" + text


def macros_with_a_size(tree):
    """Names of macros in our .bzl files whose parameter `size` has a default."""
    found = set()
    for path in tree.paths:
        if not path.endswith(".bzl"):
            continue
        module = parse(tree, path)
        for node in ast.walk(module) if module else []:
            if isinstance(node, ast.FunctionDef):
                names = [argument.arg for argument in node.args.args]
                defaulted = names[len(names) - len(node.args.defaults) :]
                if "size" in defaulted:
                    found.add(node.name)
    return found
