# SPDX-License-Identifier: Apache-2.0
"""Rules about files as text: licence lines, letters, words, links, sizes, dependencies."""

import json
import os
import re

from tree import Fault

LOCK = "web/package-lock.json"
TOP = ("games", "gpu", "ml", "numerics", "search", "synth", "tests", "tools", "web")


def spdx(tree):
    """Every source has the line "SPDX-License-Identifier: Apache-2.0" at its top."""
    paths = tree.sources()
    faults = []
    for path in paths:
        if not any("SPDX-License-Identifier: Apache-2.0" in line for line in tree.lines(path)[:2]):
            faults.append(Fault(path, 1, "no SPDX-License-Identifier: Apache-2.0 in the first two lines"))
    return len(paths), faults


def ascii_sources(tree):
    """C++, CUDA, Starlark, shell and Python sources are ASCII; text for readers lies elsewhere."""
    paths = sorted(
        set(tree.cc()) | set(tree.starlark()) | set(tree.scripts("python")) | set(tree.scripts("bash"))
    )
    faults = []
    for path in paths:
        for number, line in enumerate(tree.lines(path), 1):
            if not line.isascii():
                letter = next(letter for letter in line if not letter.isascii())
                faults.append(Fault(path, number, f"not ASCII: {letter!r} (U+{ord(letter):04X})"))
    return len(paths), faults


def whitespace(tree):
    """Text ends with a line break and has neither carriage returns nor blanks at line ends."""
    paths = [path for path in tree.paths if tree.is_text(path) and not _generated(path)]
    faults = []
    for path in paths:
        text = tree.text(path)
        if text and not text.endswith("\n"):
            faults.append(Fault(path, text.count("\n") + 1, "no line break at the end of the file"))
        if "\r" in text:
            faults.append(Fault(path, 1, "carriage returns"))
        for number, line in enumerate(tree.lines(path), 1):
            if line != line.rstrip(" \t"):
                faults.append(Fault(path, number, "blanks at the end of the line"))
    return len(paths), faults


def leftovers(tree):
    """No unfinished business in sources: finish it, or write the limit down as a limit."""
    paths = [path for path in tree.sources()]
    unfinished = re.compile(r"\b(?:T[O]DO|F[I]XME|X[X]X|H[A]CK)\b")
    switched_off = re.compile(r"\bDISABLED[_]\w|\b(?:test|it|describe)\.(?:s[k]ip|on[l]y|to[d]o)\(")
    faults = []
    for path in paths:
        for number, line in enumerate(tree.lines(path), 1):
            found = unfinished.search(line) or switched_off.search(line)
            if found and not tree.allowed(path, number, "leftovers"):
                faults.append(Fault(path, number, f"left over: {found.group()}"))
    return len(paths), faults


def wording(tree):
    """The repository speaks of Assay alone: not of how it came about, nor of one machine."""
    paths = [path for path in tree.paths if tree.is_text(path) and path != LOCK]
    words = re.compile(
        r"\b(?:[c]eo|[s]ubagent|[h]elper (?:agent|session)|[t]his session|[b]efore-stop|[i]ssue #?[0-9]+)\b|(?<!\w)\.[l]ibrary\b",
        re.IGNORECASE,
    )
    # Folders of the one machine somebody works on. A path in a longer one (a URL, a variable) is fine.
    # So is a temporary folder as an example: --out=DIR.
    machine = re.compile(r"(?<![\w.$})/-])(?:/(?:[r]oot|[h]ome|[w]ork|[f]arm)/|(?<!=)/[t]mp/)")
    faults = []
    for path in paths:
        for number, line in enumerate(tree.lines(path), 1):
            found = words.search(line)
            if found:
                faults.append(Fault(path, number, f"does not belong here: {found.group()!r}"))
            found = machine.search(line)
            if found and not (_of_tests(path) and "/t" + "mp/" == found.group()):
                if not tree.allowed(path, number, "wording"):
                    faults.append(Fault(path, number, f"a path of one machine: {found.group()}"))
    return len(paths), faults


def hosts(tree):
    """No package host is written down: Debian's mirror and the npm registry are the machine's own."""
    host = re.compile(
        r"registry\.(?:npmjs|yarnpkg)\.\w|\bdeb\.[d]ebian\.org|\bftp\.[d]ebian\.org|\bpypi\.[o]rg|"
        r"files\.[p]ythonhosted|\bcrates\.[i]o\b|proxy\.[g]olang|\bcdn\.[j]sdelivr|\bunpkg\.[c]om|cdnjs\.[c]loudflare",
        re.IGNORECASE,
    )
    paths = [path for path in tree.paths if tree.is_text(path)]
    faults = []
    for path in paths:
        for number, line in enumerate(tree.lines(path), 1):
            found = host.search(line)
            if not found and path == LOCK:
                found = re.search(r"\w*://\S*", line)
            if found and not tree.allowed(path, number, "hosts"):
                faults.append(Fault(path, number, f"names a host: {found.group()}"))
    return len(paths), faults


def file_size(tree):
    """No file is larger than 1 MB."""
    faults = []
    for path in tree.paths:
        size = os.path.getsize(os.path.join(tree.root, path))
        if size > 1_000_000:
            faults.append(Fault(path, 1, f"{size:,} bytes, more than 1,000,000"))
    return len(tree.paths), faults


def top_folders(tree):
    """The nine folders of the house stand at the top, and no tenth."""
    present = {path.split("/", 1)[0] for path in tree.paths if "/" in path}
    faults = [Fault(name + "/", 1, "a tenth folder at the top") for name in present if name not in TOP]
    faults = [fault for fault in faults if fault.path not in (".ci/", ".github/")]
    faults += [Fault(name + "/", 1, "is missing at the top") for name in TOP if name not in present]
    return len(present), faults


def markdown_links(tree):
    """Relative links and anchors in Markdown lead somewhere. (The site checks those of articles.)"""
    paths = [path for path in tree.select(".md") if os.path.basename(path) != "article.md"]
    faults = []
    for path in paths:
        for number, line in _prose(tree.lines(path)):
            for target in re.findall(r"\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)", line):
                if re.match(r"[a-z]+:", target):
                    continue
                file, _, anchor = target.partition("#")
                wanted = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
                full = os.path.join(tree.root, wanted)
                if not os.path.exists(full):
                    faults.append(Fault(path, number, f"link to {target}, and {wanted} is not there"))
                elif anchor and wanted.endswith(".md") and anchor not in _anchors(tree.lines(wanted)):
                    faults.append(Fault(path, number, f"link to {target}, and there is no such heading"))
    return len(paths), faults


def readmes(tree):
    """Every package, and every room with a library, has a README."""
    wanted = set(TOP)
    for path in tree.paths:
        parts = path.split("/")
        if len(parts) == 3 and parts[2] == "BUILD" and parts[0] not in ("tests", "tools", "web"):
            wanted.add("/".join(parts[:2]))
    have = set(tree.paths)
    faults = [
        Fault(folder + "/README.md", 1, "is missing") for folder in sorted(wanted) if folder + "/README.md" not in have
    ]
    return len(wanted), faults


def dependencies(tree):
    """DEPENDENCIES.md lists just the Debian packages and the direct npm packages that we install."""
    page = "DEPENDENCIES.md"
    if page not in tree.paths:
        return 1, [Fault(page, 1, "is missing")]
    rows = {}
    for number, line in enumerate(tree.lines(page), 1):
        found = re.match(r"\| `([^`]+)` \|([^|]*)\|([^|]*)\|([^|]*)\|", line)
        if found:
            name, version, licence, why = (cell.strip() for cell in found.groups())
            rows[name] = (number, version, licence, why)
    debian = {
        line.strip()
        for path in ("tools/debian_packages.txt", "tools/debian_peers.txt")
        if path in tree.paths
        for line in tree.lines(path)
        if line.strip() and not line.startswith("#")
    }
    # The source packages stand in the command that fetches them.
    fetched = re.search(r"source --download-only ([\w ]+)\)", tree.text("tools/setup") or "")
    debian |= set(fetched.group(1).split()) if fetched else set()
    manifest = json.loads(tree.text("web/package.json"))
    npm = {**manifest.get("dependencies", {}), **manifest.get("devDependencies", {})}
    faults = []
    for name in sorted(debian | set(npm)):
        if name not in rows:
            faults.append(Fault(page, 1, f"{name} is installed and not listed"))
        elif name in npm and rows[name][1] != npm[name]:
            faults.append(
                Fault(page, rows[name][0], f"{name} is {npm[name]} in web/package.json, {rows[name][1]} here")
            )
        elif not (rows[name][2] and rows[name][3]):
            faults.append(Fault(page, rows[name][0], f"{name} without its licence or its reason"))
    for name in sorted(set(rows) - debian - set(npm)):
        faults.append(Fault(page, rows[name][0], f"{name} is listed and not installed"))
    return len(rows), faults


def _generated(path):
    return path == LOCK or "/records/" in path or path.endswith(".svg") or path == "LICENSE"


def _of_tests(path):
    name = os.path.basename(path)
    return path.startswith("tests/") or "_test." in name or ".test." in name


def _prose(lines):
    """(number, line) of Markdown outside of code."""
    fenced = False
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, re.sub(r"`[^`]*`", "", line)


def _anchors(lines):
    anchors = set()
    fenced = False
    for line in lines:
        if line.lstrip().startswith("```"):
            fenced = not fenced
        found = re.match(r"#+ (.*)", line)
        if found and not fenced:
            anchors.add(re.sub(r"[^\w\- ]", "", found.group(1).strip().lower()).replace(" ", "-"))
    return anchors
