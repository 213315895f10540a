# SPDX-License-Identifier: Apache-2.0
"""Plants a fault for every rule of the lint, and a tree without one."""

import io
import os
import shutil
import tempfile
import unittest

import build_files
import cases
import lint
import rules_build
import rules_cc
import rules_format
import rules_text
import tree as trees

SPDX = "// SPDX-License-Identifier: Apache-2.0\n"
HASH_SPDX = "# SPDX-License-Identifier: Apache-2.0\n"
# Written apart, so that this file is not itself a fault.
UNFINISHED = "TO" + "DO"


def library(name="fft", **attributes):
    lines = "".join(f"    {key} = {value},\n" for key, value in attributes.items())
    return HASH_SPDX + f'assay_library(\n    name = "{name}",\n    srcs = ["{name}.cc"],\n{lines})\n'


class PlantedFaults(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.root)

    def tree(self, files):
        for path, text in files.items():
            full = os.path.join(self.root, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "wb") as file:
                file.write(text if isinstance(text, bytes) else text.encode("utf-8"))
        return trees.Tree.of(self.root)

    def expect(self, rule, files, *wanted):
        """The rule's faults over `files` are as many as `wanted`, each holding its text."""
        _, faults = rule(self.tree(files))
        said = [f"{fault.path}:{fault.line}: {fault.message}" for fault in sorted(set(faults))]
        self.assertEqual(len(said), len(wanted), said)
        for text, want in zip(said, sorted(wanted)):
            self.assertIn(want, text)

    def test_top_folders(self):
        nine = {f"{name}/README.md": "# x\n" for name in rules_text.TOP}
        self.expect(rules_text.top_folders, nine)
        self.expect(rules_text.top_folders, {"third_party/x": "x\n"}, "third_party/:1: a tenth folder")
        shutil.rmtree(os.path.join(self.root, "games"))
        self.expect(rules_text.top_folders, {}, "games/:1: is missing", "third_party/:1")

    def test_file_size(self):
        self.expect(rules_text.file_size, {"web/a.bin": b"\0" * 1_000_000})
        self.expect(rules_text.file_size, {"web/b.bin": b"\0" * 1_000_001}, "web/b.bin:1: 1,000,001 bytes")

    def test_spdx(self):
        good = {"a/x.cc": SPDX, "tools/run": "#!/bin/bash\n" + HASH_SPDX, "a/BUILD": HASH_SPDX, "README.md": "x\n"}
        self.expect(rules_text.spdx, good)
        bad = {"a/y.ts": "export {};\n", "b/BUILD": "\n\n\n" + HASH_SPDX}
        self.expect(rules_text.spdx, bad, "a/y.ts:1", "b/BUILD:1")

    def test_ascii_sources(self):
        self.expect(rules_text.ascii_sources, {"a/x.ts": "// \u00b5\n", "a/x.cc": "// u\n"})
        self.expect(rules_text.ascii_sources, {"a/y.cc": "\n// \u00b5\n"}, "a/y.cc:2: not ASCII")

    def test_whitespace(self):
        self.expect(rules_text.whitespace, {"a.md": "x\n"})
        bad = {"b.md": "x \n", "c.md": "x", "d.md": "x\r\n"}
        self.expect(rules_text.whitespace, bad, "b.md:1: blanks", "c.md:1: no line break", "d.md:1: carriage")

    def test_leftovers(self):
        self.expect(rules_text.leftovers, {"a/x.cc": "// XXXX and mktemp.XXXXXX\n"})
        bad = {"a/y.cc": f"// {UNFINISHED}: later\n", "a/z_test.cc": "TEST(A, DISABLED" + "_B) {}\n"}
        bad["a/z.test.ts"] = "test." + 'only("x", () => {});\n'
        self.expect(rules_text.leftovers, bad, "a/y.cc:1", "a/z_test.cc:1", "a/z.test.ts:1")

    def test_leftovers_with_a_reason(self):
        reason = "// lint: allow(leftovers): the word itself is meant\n"
        self.expect(rules_text.leftovers, {"a/x.cc": f"{reason}// {UNFINISHED}\n"})
        no_reason = "// lint: allow(leftovers):\n"
        self.expect(rules_text.leftovers, {"a/y.cc": f"{no_reason}// {UNFINISHED}\n"}, "a/y.cc:2")

    def test_wording(self):
        good = {"a.md": "A link ../home/x.md, $HOME/wo" "rk/, emscripten#14779.\n", "tests/a.sh": "echo /t" "mp/x\n"}
        self.expect(rules_text.wording, good)
        bad = {"b.md": "As is" + "sue #7 says.\n", "c/x.cc": '// see "/ro' + 'ot/x"\n', "d.sh": "cd /t" + "mp/x\n"}
        self.expect(rules_text.wording, bad, "b.md:1: does not belong", "c/x.cc:1: a path", "d.sh:1: a path")

    def test_hosts(self):
        self.expect(rules_text.hosts, {"a.md": "A page on https://example.org/x\n"})
        bad = {"b.sh": "curl https://registry." + "npmjs.org/x\n", rules_text.LOCK: '{"url": "https://x/y"}\n'}
        self.expect(rules_text.hosts, bad, "b.sh:1: names a host", "web/package-lock.json:1: names a host")

    def test_markdown_links(self):
        good = {"a.md": "# One two\n[x](b/c.md#deep-down) [y](#one-two) [z](https://x.org) `[n](o)`\n"}
        good["b/c.md"] = "## Deep, down\n[up](../a.md)\n"
        self.expect(rules_text.markdown_links, good)
        bad = {"d.md": "[x](b/none.md)\n[y](a.md#three)\n"}
        self.expect(rules_text.markdown_links, bad, "d.md:1: link to b/none.md", "d.md:2: link to a.md#three")

    def test_readmes(self):
        files = {f"{name}/README.md": "# x\n" for name in rules_text.TOP}
        self.expect(rules_text.readmes, {**files, "numerics/fft/BUILD": "", "numerics/fft/README.md": "# x\n"})
        self.expect(rules_text.readmes, {"search/index/BUILD": ""}, "search/index/README.md:1: is missing")

    def dependencies(self, rows):
        return {
            "DEPENDENCIES.md": "".join(f"| {' | '.join(row)} |\n" for row in rows),
            "tools/debian_packages.txt": "# why\nzip\n",
            "tools/setup": "(cd x && apt source --download-only abseil)\n",
            "web/package.json": '{"devDependencies": {"lit": "3.3.3"}}\n',
        }

    def test_dependencies(self):
        rows = [("`zip`", "3.0", "Info-ZIP", "packs"), ("`lit`", "3.3.3", "BSD-3-Clause", "controls")]
        rows += [("`abseil`", "2022", "Apache-2.0", "status")]
        self.expect(rules_text.dependencies, self.dependencies(rows))
        rows[1] = ("`lit`", "3.3.2", "BSD-3-Clause", "controls")
        self.expect(rules_text.dependencies, self.dependencies(rows), "lit is 3.3.3")
        rows[1] = ("`vue`", "3.3.3", "MIT", "controls")
        wanted = ("lit is installed and not listed", "vue is listed and not installed")
        self.expect(rules_text.dependencies, self.dependencies(rows), *wanted)
        rows = [("`zip`", "3", "", "x")]
        wanted = ("abseil is installed", "lit is installed", "zip without")
        self.expect(rules_text.dependencies, self.dependencies(rows), *wanted)
        rows = [("`zip`", "3.0", "Info-ZIP", "packs"), ("`lit`", "3.3.3", "BSD-3-Clause", "controls")]
        rows += [("`abseil`", "2022", "Apache-2.0", "status")]
        peers = {"tools/debian_peers.txt": "# why\nr-base-core\n"}
        self.expect(rules_text.dependencies, {**self.dependencies(rows), **peers}, "r-base-core is installed")
        rows += [("`r-base-core`", "4.2.2", "GPL-2.0-or-later", "a peer")]
        self.expect(rules_text.dependencies, {**self.dependencies(rows), **peers})
        os.remove(os.path.join(self.root, "DEPENDENCIES.md"))
        self.expect(rules_text.dependencies, {}, "DEPENDENCIES.md:1: is missing")

    def header(self, guard):
        return f"{SPDX}#ifndef {guard}\n#define {guard}\n#endif  // {guard}\n"

    def test_header_guards(self):
        good = {"numerics/fft/fft.h": self.header("ASSAY_NUMERICS_FFT_FFT_H_")}
        good["numerics/fft/k-inl.h"] = "#if defined(ASSAY_NUMERICS_FFT_K_INL_H_) == defined(HWY_TARGET_TOGGLE)\n#endif\n"
        good["numerics/fft/again.h"] = SPDX + "// lint: allow(header_guards): included once for each type\nint x;\n"
        self.expect(rules_cc.header_guards, good)
        bad = {"a/b.h": self.header("B_H_"), "a/c.h": "#pragma once\n"}
        self.expect(rules_cc.header_guards, bad, "a/b.h:2: guard is B_H_", "a/c.h:1: no header guard")

    def test_includes(self):
        good = {"numerics/fft/fft.h": "x\n", "numerics/fft/fft.cc": '#include <cmath>\n#include "numerics/fft/fft.h"\n'}
        good["numerics/fft/made.cc"] = '#include "absl/status/status.h"\n#include "numerics/fft/made.h"\n'
        good["numerics/fft/BUILD"] = 'genrule(name = "made", outs = ["made.h"])\n'
        self.expect(rules_cc.includes, good)
        bad = '#include "fft.h"\n#include <numerics/fft/fft.h>\n#include "numerics/fft/none.h"\n#include <benchmark/x.h>\n'
        lines = [f"search/index/x.cc:{line}:" for line in (1, 2, 3)]
        self.expect(rules_cc.includes, {"search/index/x.cc": bad}, *lines)

    def test_arrows(self):
        good = {"search/index/x.cc": '#include "numerics/core/check.h"\n', "web/a.cc": '#include "search/index/x.h"\n'}
        good["tools/lab/lab.cc"] = '#include "numerics/core/sha256.h"\n// #include "web/x.h"\n'
        self.expect(rules_cc.arrows, good)
        bad = {"numerics/core/x.cc": '#include "numerics/fft/fft.h"\n'}
        bad["numerics/fft/y.cc"] = '#include "tools/lab/lab.h"\n'
        bad["search/index/BUILD"] = 'assay_library(name = "index", deps = ["//web/articles/fft:lab"])\n'
        wanted = ("numerics/core/x.cc:1", "numerics/fft/y.cc:1", "search/index/BUILD:1: index may not depend")
        self.expect(rules_cc.arrows, bad, *wanted)

    def test_namespaces(self):
        good = {"a/x.cc": '// using namespace std\nnamespace hn = hwy::HWY_NAMESPACE;\nconst char* s = "using namespace";\n'}
        self.expect(rules_cc.namespaces, good)
        bad = {"a/y.cc": "using namespace std;\nnamespace assay::cuda {}\n"}
        self.expect(rules_cc.namespaces, bad, "a/y.cc:1: using namespace", "a/y.cc:2: a namespace called cuda")

    def test_portable(self):
        self.expect(rules_cc.portable, {"a/x.cc": "#include <span>\n"})
        bad = {"a/y.cc": "#include <format>\nstd::jthread t;\n#pragma once\n"}
        self.expect(rules_cc.portable, bad, "a/y.cc:1", "a/y.cc:2", "a/y.cc:3")

    def test_streams(self):
        files = {"numerics/fft/BUILD": library(), "numerics/fft/fft.cc": "#include <string>\n"}
        self.expect(rules_cc.streams, {**files, "numerics/fft/fft_test.cc": "#include <iostream>\n"})
        files["numerics/fft/fft.cc"] = "#include <iostream>\nvoid f() { std::cout << 1; }\n"
        self.expect(rules_cc.streams, files, "numerics/fft/fft.cc:1", "numerics/fft/fft.cc:2")

    def test_exceptions(self):
        files = {"numerics/fft/BUILD": library(), "numerics/fft/fft.cc": "// throw\nint thrown;\n"}
        self.expect(rules_cc.exceptions, files)
        files["numerics/fft/fft.cc"] = "void f() { throw 1; }\n"
        self.expect(rules_cc.exceptions, files, "numerics/fft/fft.cc:1")

    def exact(self, code, profile=""):
        attributes = {"profile": f'"{profile}"'} if profile else {}
        return {"numerics/fft/BUILD": library(**attributes), "numerics/fft/fft.cc": code}

    def test_exact_code(self):
        good = 'double a = Exp(x) + assay::Log(y) + std::sqrt(z) + table.exp(1);\nlogs(1);\nconst char* s = "exp(x)";\n'
        self.expect(rules_cc.exact_code, self.exact(good))
        for line in (
            "double a = std::exp(x);",
            "float a = expf(x);",
            "double a = ::tanh(x);",
            "double a = __builtin_fma(x, y, z);",
            "#include <random>",
            "std::mt19937_64 engine;",
            "std::shuffle(a, b, c);",
            "std::sort(a, b);",
            "std::unordered_map<int, int> m;",
            "absl::flat_hash_map<int, int> m;",
            "auto t = std::chrono::steady_clock::now();",
            "v = hn::MulAdd(a, b, c);",
        ):
            with self.subTest(line):
                self.expect(rules_cc.exact_code, self.exact("\n" + line + "\n"), "numerics/fft/fft.cc:2")

    def test_exact_code_knows_profiles_and_labs(self):
        self.expect(rules_cc.exact_code, self.exact("double a = std::exp(x);\n", "fast"))
        self.expect(rules_cc.exact_code, {"web/articles/fft/lab.cc": "double a = pow(x, y);\n"}, "lab.cc:1: pow(")

    def test_exact_code_with_a_reason(self):
        sort = "// By distance, then id: a total order.\nstd::sort(a, b);\n"
        table = "std::unordered_map<int, int> m;  // looked up, never iterated\n"
        libm = "// lint: allow(exact_code): shown beside ours\ndouble a = std::exp(x);\n"
        self.expect(rules_cc.exact_code, self.exact(sort + table + libm))

    def test_macros(self):
        self.expect(rules_build.macros, {"a/BUILD": library(), "tools/bazel/cc.bzl": "native.cc_library()\n"})
        bad = {"b/BUILD": 'cc_library(name = "x")\n', "b/x.bzl": 'def f():\n    native.cc_test(name = "y")\n'}
        self.expect(rules_build.macros, bad, "b/BUILD:1: cc_library", "b/x.bzl:2: native.cc_test")
        self.expect(rules_build.macros, {"b/BUILD": "(\n", "b/x.bzl": ""}, "b/BUILD:1: does not parse")

    def test_test_sizes(self):
        good = {"a/x.bzl": 'def my_test(name, size = "small"):\n    pass\n', "a/BUILD": 'my_test(name = "x")\n'}
        self.expect(rules_build.test_sizes, good)
        self.expect(rules_build.test_sizes, {"b/BUILD": 'sh_test(name = "y")\n'}, "b/BUILD:1: test y")

    def test_manual_targets(self):
        reason = "    # lint: allow(manual_targets): a toolchain, of no use alone\n"
        good = {"a/BUILD": f'x(\n    name = "x",\n{reason}    tags = ["manual"],\n)\n'}
        self.expect(rules_build.manual_targets, good)
        self.expect(rules_build.manual_targets, {"b/BUILD": 'x(name = "y", tags = ["manual"])\n'}, "b/BUILD:1: y")

    def test_room_layout(self):
        self.expect(rules_build.room_layout, {"numerics/fft/BUILD": library("fft"), "numerics/fft/fft.h": "\n"})
        bad = {"search/index/BUILD": library("flat"), "search/index/index.h": "\n"}
        self.expect(rules_build.room_layout, bad, "search/index/BUILD:1: no target named index")

    def test_exact_is_checked(self):
        files = self.exact("\n")
        files["tests/profiles/BUILD"] = 'exact_objects_test(\n    name = "exact_objects_test",\n    deps = ["//a"],\n)\n'
        files["a/BUILD"] = 'assay_library(\n    name = "a",\n    deps = select({"x": ["//numerics/fft"]}),\n)\n'
        self.expect(rules_build.exact_is_checked, files)
        files["a/BUILD"] = 'assay_library(name = "a")\n'
        self.expect(rules_build.exact_is_checked, files, "//numerics/fft:fft is exact")
        files["numerics/fft/BUILD"] = library(profile='"fast"')
        self.expect(rules_build.exact_is_checked, files)

    def test_exact_is_checked_for_labs(self):
        files = {"web/articles.bzl": 'ARTICLES = [\n    "mean",\n]\n', "web/articles/mean/lab.cc": "\n"}
        files["web/articles/mean/BUILD"] = 'article(\n    name = "mean",\n    lab_deps = ["//numerics/fft"],\n)\n'
        files["tests/profiles/BUILD"] = 'exact_objects_test(name = "exact_objects_test", deps = article_targets("lab"))\n'
        self.expect(rules_build.exact_is_checked, {**files, **self.exact("\n")})
        files["web/articles.bzl"] = "ARTICLES = [\n]\n"
        self.expect(rules_build.exact_is_checked, files, "//numerics/fft:fft is exact", "//web/articles/mean:lab is exact")

    def test_orphans(self):
        good = {"a/BUILD": 'x(\n    name = "x",\n    srcs = ["x.cc"],\n    hdrs = glob(["internal/*.h"]),\n)\n'}
        good.update({"a/x.cc": "\n", "a/internal/y.h": "\n", "web/articles/m/BUILD": 'article(name = "m")\n'})
        good["web/articles/m/lab.cc"] = "\n"
        self.expect(rules_build.orphans, good)
        self.expect(rules_build.orphans, {"a/scratch.cc": "\n"}, "a/scratch.cc:1: belongs to no target")

    def test_python_syntax(self):
        self.expect(rules_format.python_syntax, {"a/x.py": "#!/usr/bin/python3\nx = 1\n"})
        bad = {"a/y.py": "def f(:\n", "a/z": "#!/usr/bin/env python3\nx = 1\n"}
        self.expect(rules_format.python_syntax, bad, "a/y.py:1: does not parse", "a/z:1: #!/usr/bin/env")

    def test_shell_syntax(self):
        self.expect(rules_format.shell_syntax, {"a/x.sh": "echo x\n"})
        self.expect(rules_format.shell_syntax, {"a/y": "#!/bin/bash\nif true; then\n"}, "a/y:")

    def test_cc_format(self):
        style = {".clang-format": "BasedOnStyle: Google\n"}
        self.expect(rules_format.cc_format, {**style, "a/x.cc": "int x = 1;\n"})
        self.expect(rules_format.cc_format, {"a/y.cc": "int  y=1;\n"}, "a/y.cc:1: not formatted")

    def test_starlark_format(self):
        self.expect(rules_format.starlark_format, {"a/BUILD": 'sh_test(name = "x")\n'})
        bad = {"b/BUILD": 'sh_test(name="x")\n', "c/BUILD": 'load("//a:b.bzl", "unused")\n'}
        self.expect(rules_format.starlark_format, bad, "b/BUILD:1: not formatted", "c/BUILD:1: load:")

    def test_web_format(self):
        style = {"web/.prettierrc.json": "{}\n", "web/.prettierignore": "*.md\n"}
        self.expect(rules_format.web_format, {**style, "web/x.ts": "export const x = 1;\n"})
        bad = {"web/y.ts": "export const y=1\n", "web/z.ts": "export const = ;\n"}
        self.expect(rules_format.web_format, bad, "web/y.ts:1: not formatted", "web/z.ts:1: ")

    def test_every_rule_has_a_planted_fault(self):
        tested = {name[len("test_") :] for name in dir(self) if name.startswith("test_")}
        self.assertEqual({rule.__name__ for rule in lint.RULES} - tested, set())

    def test_a_rule_that_checks_nothing_fails(self):
        out = io.StringIO()
        self.assertEqual(lint.check(self.tree({}), [rules_cc.namespaces], out), 1)
        self.assertIn("namespaces found nothing to check", out.getvalue())

    def test_the_exit_code_tells(self):
        self.assertEqual(lint.check(self.tree({"a/x.cc": SPDX}), [rules_text.spdx], io.StringIO()), 0)
        self.assertEqual(lint.check(self.tree({"a/x.cc": "\n"}), [rules_text.spdx], io.StringIO()), 1)


class Reading(unittest.TestCase):
    def test_comments_and_strings_are_blanked_in_place(self):
        text = 'int a = 1\'000; // b\n/* c\nd */ char e = \'"\'; f("g \\" // h"); R"(i " j)" k\n#include "l.h"  // m\n'
        code = trees.blank_comments_and_strings(text)
        self.assertEqual(code.count("\n"), text.count("\n"))
        self.assertEqual(len(code), len(text))
        for word in ("a", "1'000", "char e", "f(", " k", '"l.h"'):
            self.assertIn(word, code)
        for word in ("b", "c\n", "d */", "g", "// h", "i ", "j"):
            self.assertNotIn(word, code)

    def test_a_tree_without_git_honours_gitignore(self):
        with tempfile.TemporaryDirectory() as root:
            for path in ("a/x.cc", "dist/y.cc", "bazel-out/z.cc", "web/node_modules/n.js", "a/__pycache__/x.pyc"):
                os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
                open(os.path.join(root, path), "w", encoding="utf-8").close()
            with open(os.path.join(root, ".gitignore"), "w", encoding="utf-8") as file:
                file.write("/bazel-*\n/dist/\n/web/node_modules/\n__pycache__/\n")
            self.assertEqual(trees.Tree.of(root).paths, [".gitignore", "a/x.cc"])

    def test_labels(self):
        self.assertEqual(build_files.label(":x", "a/b"), "//a/b:x")
        self.assertEqual(build_files.label("x.cc", "a/b"), "//a/b:x.cc")
        self.assertEqual(build_files.label("//c/d", "a/b"), "//c/d:d")
        self.assertEqual(build_files.label("@assay//c:e", "a/b"), "//c:e")
        self.assertIsNone(build_files.label("@gtest//:gtest", "a/b"))


if __name__ == "__main__":
    cases.main()
