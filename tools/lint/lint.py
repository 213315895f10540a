#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the tree against the rules of the house.

usage: tools/lint/lint.py [--root DIR] [--rule NAME ...] [--list] [--help]

Each rule prints how many files it looked at; a rule that looked at none fails. An exception is
written where it is made, in a comment on the line or right above it, with its reason:

    // lint: allow(exact_code): compared with libm on purpose

  tools/lint/lint.py                        every rule
  tools/lint/lint.py --rule arrows          one rule
  tools/lint/lint.py --list                 what the rules are

Exit code: 0 no fault, 1 faults, 2 wrong use, 3 a formatter is missing (tools/setup brings them).
"""

import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

import rules_build
import rules_cc
import rules_format
import rules_text
from tree import Tree

RULES = [
    rules_text.top_folders,
    rules_text.file_size,
    rules_text.spdx,
    rules_text.ascii_sources,
    rules_text.whitespace,
    rules_text.leftovers,
    rules_text.wording,
    rules_text.hosts,
    rules_text.markdown_links,
    rules_text.readmes,
    rules_text.dependencies,
    rules_cc.header_guards,
    rules_cc.includes,
    rules_cc.arrows,
    rules_cc.namespaces,
    rules_cc.portable,
    rules_cc.streams,
    rules_cc.exceptions,
    rules_cc.exact_code,
    rules_build.macros,
    rules_build.test_sizes,
    rules_build.manual_targets,
    rules_build.room_layout,
    rules_build.exact_is_checked,
    rules_build.orphans,
    rules_format.python_syntax,
    rules_format.shell_syntax,
    rules_format.cc_format,
    rules_format.starlark_format,
    rules_format.web_format,
]


def check(tree, rules, out=sys.stdout):
    """Runs the rules and prints what they say. Returns an exit code."""
    total = 0
    for rule in rules:
        name = rule.__name__
        try:
            checked, faults = rule(tree)
        except rules_format.Missing as error:
            print(f"lint: {error}", file=out)
            return 3
        for fault in sorted(set(faults)):
            print(f"{fault.path}:{fault.line}: {fault.message} [{name}]", file=out)
        if not checked:
            print(f"lint: rule {name} found nothing to check", file=out)
        total += len(set(faults)) + (not checked)
        print(f"{name + ':':18} {checked:5} checked, {len(set(faults))} faults", file=out)
    print(f"lint: {len(rules)} rules, {total} faults", file=out)
    return 1 if total else 0


def main(arguments):
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
    rules = {rule.__name__: rule for rule in RULES}
    chosen = []
    while arguments:
        argument = arguments.pop(0)
        if argument in ("-h", "--help"):
            print(__doc__.strip())
            return 0
        if argument == "--list":
            for name, rule in rules.items():
                print(f"{name:18} {rule.__doc__.splitlines()[0]}")
            return 0
        if argument == "--root" and arguments:
            root = os.path.abspath(arguments.pop(0))
        elif argument == "--rule" and arguments and arguments[0] in rules:
            chosen.append(rules[arguments.pop(0)])
        else:
            what = f"{argument} {arguments[0]}" if argument == "--rule" and arguments else argument
            print(f"lint: do not know {what!r} (see --help and --list)", file=sys.stderr)
            return 2
    return check(Tree.of(root), chosen or RULES)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
