# SPDX-License-Identifier: Apache-2.0
"""measure_gpu.py builds without Bazel, from a list of sources. Is it all of them?

Reads the objects that Bazel made of the same sources (the arguments): what one of them needs of ours
another must have, and each is made of sources on the list.
"""

import os
import re
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True

import measure_gpu

OBJECTS = []


def symbols(path):
    """(defined, needed) symbols of ours in an object or archive."""
    text = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout
    defined, needed = set(), set()
    for line in text.splitlines():
        found = re.match(r"[0-9a-f ]{16} ([A-Za-z]) (\S+)$", line)
        if found and re.match(r"_Z[A-Z]*N?K?[A-Za-z0-9]*5assay", found[2]):
            (needed if found[1] == "U" else defined).add(found[2])
    return defined, needed


class Sources(unittest.TestCase):
    def test_nothing_is_missing(self):
        self.assertGreater(len(OBJECTS), 10)
        defined, needed = set(), set()
        for path in OBJECTS:
            has, wants = symbols(path)
            defined |= has
            needed |= wants
        self.assertGreater(len(needed), 20)
        self.assertEqual(needed - defined, set())

    def test_each_object_is_of_the_list(self):
        listed = {os.path.splitext(os.path.basename(path))[0] for path in measure_gpu.OURS} | {"reference", "result"}
        listed |= {"gpus", "cuda_side", "cuda_memory"}
        listed |= {name[:-3] for name in os.listdir(os.path.dirname(measure_gpu.__file__)) if name.endswith(".cu")}
        made = {re.sub(r"^lib|(\.cu)?\.(o|a|lo)$", "", os.path.basename(path)) for path in OBJECTS}
        self.assertEqual(made, listed)


if __name__ == "__main__":
    OBJECTS = [argument for argument in sys.argv[1:] if argument.endswith((".o", ".a", ".lo"))]
    unittest.main(argv=sys.argv[:1])
