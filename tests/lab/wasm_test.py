#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""run_wasm_lab.mjs: equal natively and in wasm, and every difference noticed."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM, WASM, SCRIPT = (os.path.abspath(sys.argv.pop(1)) for _ in range(3))
NODE = os.environ.get("NODE", "/usr/bin/node")

MANIFEST = {
    "title": "Tiny",
    "kind": "lab",
    "summary": "Small sums are not products.",
    "date": "2026-11-30",
    "rooms": ["tests/lab"],
    "data": [{"name": "letters", "path": "letters.txt", "source": "made by the test"}],
    "claims": [],
}


class WasmTest(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(shutil.rmtree, self.root)
        os.makedirs(self.path("web/articles/tiny"))
        self.write("web/articles/tiny/lab.json", json.dumps(MANIFEST))
        self.write("letters.txt", "abcdefghij")

    def path(self, name):
        return os.path.join(self.root, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def node(self, *arguments):
        done = subprocess.run([NODE, SCRIPT, *arguments], capture_output=True, text=True, timeout=200, check=False)
        return done.returncode, done.stdout, done.stderr

    def compare(self, *more, wasm=WASM, program=PROGRAM):
        return self.node(
            f"--wasm={wasm}", f"--program={program}", "--slug=tiny", "--profile=quick,browser,full", f"--root={self.root}", *more
        )

    def test_every_profile_is_byte_identical(self):
        code, out, err = self.compare()
        self.assertEqual(code, 0, err)
        self.assertEqual(len(re.findall(r"\d+ figures and 1 tables, \d+ bytes, the same natively and in wasm", out)), 3)

    def test_another_argument_is_noticed(self):
        code, _, err = self.compare("--arg=step=0.10000000000000002")
        self.assertEqual(code, 1)
        self.assertIn('report.args.step: "0.1" natively, "0.10000000000000002" in wasm', err)

    def test_a_flipped_byte_of_the_module_is_noticed(self):
        with open(WASM, "rb") as file:
            module = bytearray(file.read())
        # The default of the knob `step`, an f64 constant in the code.
        constant = module.find(bytes.fromhex("9a9999999999b93f"))
        self.assertGreater(constant, 0)
        module[constant] ^= 1
        with open(self.path("flipped.wasm"), "wb") as file:
            file.write(module)
        code, _, err = self.compare(wasm=self.path("flipped.wasm"))
        self.assertEqual(code, 1)
        self.assertIn("natively", err)

    def test_bounded_values_are_held_to_their_bounds(self):
        # A native program whose bounded value is another one: allowed. Whose error exceeds its bound: not.
        def stand_in(old, new):
            self.write(
                "program",
                f"#!/bin/bash\nset -o pipefail\n"
                f'if [ "$1" = data ]; then exec "{PROGRAM}" "$@"; fi\n'
                f"\"{PROGRAM}\" \"$@\" | sed 's/{old}/{new}/'\n",
            )
            os.chmod(self.path("program"), 0o755)
            return self.compare(program=self.path("program"))

        self.assertEqual(stand_in('"observed":"1e-16"', '"observed":"1.5e-16"')[0], 0)
        code, _, err = stand_in('"observed":"1e-16"', '"observed":"3e-16"')
        self.assertEqual(code, 1)
        self.assertIn("near_one: the observed error 3e-16 exceeds its bound 2e-16", err)
        code, _, err = stand_in('"value":"0.33333334"', '"value":"0.33333337"')
        self.assertEqual(code, 1)
        self.assertIn('third.value: "0.33333337" natively, "0.33333334" in wasm', err)

    def test_missing_data_is_code_3(self):
        os.remove(self.path("letters.txt"))
        self.assertEqual(self.compare()[0], 3)

    def test_it_says_what_is_wrong(self):
        code, _, err = self.node("--wasam=x")
        self.assertEqual(code, 2)
        self.assertIn("--wasam=x", err)
        code, out, _ = self.node(f"--wasm={WASM}", "--profile=quick")
        self.assertEqual(code, 1)
        self.assertIn("the data 'letters' was not set", out)
        letters = f"--data=letters={self.path('letters.txt')}"
        code, out, _ = self.node(f"--wasm={WASM}", "--profile=quick", letters)
        self.assertEqual(code, 0)
        self.assertEqual(json.loads(out)["lab"], "tiny")
        code, out, _ = self.node(f"--wasm={WASM}", "--profile=slow", letters)
        self.assertEqual(code, 1)
        self.assertIn("expected quick, browser or full", out)

    def test_the_module_asks_for_nothing_that_pages_do_not_give(self):
        listing = subprocess.run(
            [NODE, "-e", "const m = new WebAssembly.Module(require('fs').readFileSync(process.argv[1]));"
             "console.log(WebAssembly.Module.imports(m).map((i) => i.module + '.' + i.name).sort().join('\\n'))", WASM],
            capture_output=True, text=True, check=True,
        ).stdout.split()
        allowed = {
            "assay.progress", "env.emscripten_notify_memory_growth", "wasi_snapshot_preview1.clock_time_get",
            "wasi_snapshot_preview1.fd_close", "wasi_snapshot_preview1.fd_seek", "wasi_snapshot_preview1.fd_write",
            "wasi_snapshot_preview1.proc_exit",
        }
        self.assertLessEqual(set(listing), allowed)
        self.assertIn("assay.progress", listing)


if __name__ == "__main__":
    unittest.main(verbosity=1)
