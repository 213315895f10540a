# SPDX-License-Identifier: Apache-2.0
"""tools/compile_commands: what it makes of Bazel's answer, and one real answer that a compiler takes."""

import importlib.machinery
import importlib.util
import json
import os
import pwd
import shutil
import subprocess
import tempfile
import unittest

import cases

TOOL = os.path.realpath("tools/compile_commands")
ROOT = os.path.dirname(os.path.dirname(TOOL))


def _load():
    loader = importlib.machinery.SourceFileLoader("compile_commands", TOOL)
    spec = importlib.util.spec_from_loader("compile_commands", loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def _action(compiler, source, *flags):
    return {"arguments": [compiler, *flags, "-MD", "-MF", "x.d", "-c", source, "-o", "x.o"]}


class Commands(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.root)
        for path in ("a/x.cc", "a/only_wasm.cc", "external/absl/y.cc"):
            os.makedirs(os.path.dirname(os.path.join(self.root, path)), exist_ok=True)
            open(os.path.join(self.root, path), "w", encoding="utf-8").close()

    def commands(self, *actions):
        return _load().commands({"actions": list(actions)}, self.root)

    def test_keeps_our_sources_and_what_clang_knows(self):
        found = self.commands(
            _action("/usr/bin/gcc", "a/x.cc", "-std=c++0x", "-fno-canonical-system-headers", "-std=c++20", '-D__DATE__="r"'),
            _action("/usr/bin/gcc", "external/absl/y.cc"),
            _action("/usr/bin/gcc", "bazel-out/k8-opt/bin/a/made.cc"),
            _action("/usr/bin/gcc", "a/gone.cc"),
        )
        arguments = ["g++", "-std=c++20", "-c", "a/x.cc", "-o", "x.o"]
        self.assertEqual(found, [{"directory": self.root, "file": "a/x.cc", "arguments": arguments}])

    def test_prefers_the_native_command(self):
        native = _action("/usr/bin/gcc", "a/x.cc", "-DNATIVE")
        wasm = _action("tools/bazel/toolchains/emscripten/emcc.sh", "a/x.cc", "-DWASM")
        for actions in ((native, wasm), (wasm, native)):
            self.assertIn("-DNATIVE", self.commands(*actions)[0]["arguments"])

    def test_gives_clang_the_target_of_what_is_only_wasm(self):
        wasm = _action("tools/bazel/toolchains/emscripten/emcc.sh", "a/only_wasm.cc", "-msimd128")
        arguments = self.commands(wasm)[0]["arguments"]
        self.assertEqual(arguments[:3], ["clang++-14", "-target", "wasm32-unknown-emscripten"])
        self.assertIn("-msimd128", arguments)


class RealAnswer(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        home = pwd.getpwuid(os.getuid()).pw_dir
        self.environment = {"HOME": home, "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
        self.start_up = [f"--output_base={self.folder}/base", "--max_idle_secs=5"]
        self.addCleanup(self.clean)

    def clean(self):
        subprocess.run(["bazel", *self.start_up, "shutdown"], cwd=ROOT, env=self.environment, capture_output=True)
        subprocess.run(["chmod", "-R", "u+w", self.folder])
        shutil.rmtree(self.folder, ignore_errors=True)

    def run_tool(self, *arguments):
        options = ["--bazel-option=" + option for option in self.start_up]
        return subprocess.run([TOOL, *options, *arguments], env=self.environment, capture_output=True, text=True)

    def test_a_compiler_takes_what_it_writes(self):
        output = os.path.join(self.folder, "compile_commands.json")
        result = self.run_tool("--targets=//numerics/core:sha256", "--output=" + output)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(output, encoding="utf-8") as file:
            entries = {entry["file"]: entry for entry in json.load(file)}
        entry = entries["numerics/core/sha256.cc"]
        self.assertTrue(os.path.samefile(entry["directory"], ROOT))
        self.assertTrue(os.path.isdir(os.path.join(self.folder, "external")))
        compiled = subprocess.run(
            entry["arguments"] + ["-fsyntax-only"], cwd=entry["directory"], env=self.environment, capture_output=True
        )
        self.assertEqual(compiled.returncode, 0, compiled.stderr)

    def test_wrong_use_is_told(self):
        result = self.run_tool("--target=//numerics/...")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--target=//numerics/...", result.stderr)

    def test_help(self):
        result = self.run_tool("--help")
        self.assertEqual(result.returncode, 0)
        self.assertIn("usage: tools/compile_commands", result.stdout)


if __name__ == "__main__":
    cases.main()
