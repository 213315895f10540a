# SPDX-License-Identifier: Apache-2.0
"""The files that the lint looks at, and how it reads them."""

import collections
import fnmatch
import os
import re
import subprocess

Fault = collections.namedtuple("Fault", "path line message")

CC = (".h", ".cc", ".cu", ".cuh", ".inc")
WEB = (".ts", ".mjs", ".js", ".css", ".html")


class Tree:
    """A workspace: its root and the paths (relative, with /) of the files that belong to it."""

    def __init__(self, root, paths):
        self.root = root
        self.paths = sorted(paths)
        self._texts = {}
        self._codes = {}

    @classmethod
    def of(cls, root):
        """What git tracks or would track; without git, what .gitignore does not name."""
        paths = _from_git(root)
        if paths is None:
            paths = _from_walk(root)
        return cls(root, [path for path in paths if os.path.isfile(os.path.join(root, path))])

    def bytes(self, path):
        with open(os.path.join(self.root, path), "rb") as file:
            return file.read()

    def text(self, path):
        """The text of a file, or None where it is binary."""
        if path not in self._texts:
            data = self.bytes(path)
            try:
                text = None if b"\0" in data[:8192] else data.decode("utf-8")
            except UnicodeDecodeError:
                text = None
            self._texts[path] = text
        return self._texts[path]

    def lines(self, path):
        return (self.text(path) or "").split("\n")

    def code(self, path):
        """The lines of a C++ file with comments and the insides of strings blanked."""
        if path not in self._codes:
            self._codes[path] = blank_comments_and_strings(self.text(path) or "").split("\n")
        return self._codes[path]

    def is_text(self, path):
        return self.text(path) is not None

    def select(self, *suffixes):
        return [path for path in self.paths if path.endswith(suffixes) and self.is_text(path)]

    def cc(self):
        return self.select(*CC)

    def starlark(self):
        return [path for path in self.paths if is_starlark(path)]

    def scripts(self, language):
        """Scripts of "python" or "bash", by suffix or by their first line."""
        suffix = {"python": ".py", "bash": ".sh"}[language]
        found = []
        for path in self.paths:
            name = os.path.basename(path)
            if path.endswith(suffix):
                found.append(path)
            elif "." not in name.lstrip(".") and self.is_text(path):
                first = self.lines(path)[0]
                if first.startswith("#!") and language in first:
                    found.append(path)
        return found

    def sources(self):
        """Everything that carries an SPDX line."""
        found = set(self.cc()) | set(self.select(*WEB)) | set(self.starlark())
        return sorted(found | set(self.scripts("python")) | set(self.scripts("bash")))

    def allowed(self, path, line, rule):
        """True where line (from 1) or a comment right above says `lint: allow(RULE): why`."""
        lines = self.lines(path)
        pattern = re.compile(r"lint: allow\(" + re.escape(rule) + r"\): \w")
        if pattern.search(lines[line - 1]):
            return True
        above = line - 2
        while above >= 0 and re.match(r"\s*(//|#(?!include|if|define)|<!--)", lines[above]):
            if pattern.search(lines[above]):
                return True
            above -= 1
        return False


def is_starlark(path):
    name = os.path.basename(path)
    return name in ("BUILD", "WORKSPACE") or name.endswith((".bzl", ".BUILD"))


def blank_comments_and_strings(text):
    """`text` with every comment and string literal replaced by blanks, line breaks kept."""
    token = re.compile(
        r"//[^\n]*"
        r"|/\*.*?\*/"
        r'|R"(?P<tag>[^()\s\\]{0,16})\(.*?\)(?P=tag)"'
        r'|"(?:\\.|[^"\\\n])*"'
        # A quote between two digits separates thousands.
        r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])*'",
        re.DOTALL,
    )

    def blank(match):
        found = match.group()
        kept = re.sub(r"[^\n]", " ", found)
        if found.startswith('"') or found.startswith("'"):
            kept = found[0] + kept[1:-1] + found[-1]
        return kept

    # Directives keep what they name: #include "x" is code.
    parts = re.split(r"(?m)^([ \t]*#[ \t]*(?:include|define HWY_TARGET_INCLUDE)\b[^\n]*)$", text)
    return "".join(part if i % 2 else token.sub(blank, part) for i, part in enumerate(parts))


def _from_git(root):
    if not os.path.exists(os.path.join(root, ".git")):
        return None
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=root,
            check=True,
            capture_output=True,
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        return None  # no git here, or a folder of somebody else
    return {path.decode("utf-8") for path in listed.split(b"\0") if path}


def _from_walk(root):
    try:
        with open(os.path.join(root, ".gitignore"), encoding="utf-8") as file:
            patterns = [line.strip() for line in file if line.strip() and not line.startswith("#")]
    except OSError:
        patterns = []

    def ignored(path):
        for pattern in patterns:
            anchored = "/" in pattern.rstrip("/")
            name = path if anchored else os.path.basename(path)
            if fnmatch.fnmatch(name, pattern.strip("/")):
                return True
        return False

    found = []
    for folder, folders, files in os.walk(root):
        inside = os.path.relpath(folder, root)
        prefix = "" if inside == "." else inside + "/"
        folders[:] = [
            name
            for name in folders
            if name != ".git" and not ignored(prefix + name) and not os.path.islink(os.path.join(folder, name))
        ]
        found += [prefix + name for name in files if not ignored(prefix + name)]
    return found
