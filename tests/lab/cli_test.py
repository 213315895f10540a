#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The lab program from outside: every verb, every exit code, and what it does with damaged records."""

import hashlib
import json
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = os.path.abspath(sys.argv.pop(1))

CLOSURE = {"closure_sha256": "a" * 64, "files": 3, "target": "//tests/lab:tiny_lab"}

TINY = {
    "title": "Tiny",
    "kind": "lab",
    "summary": "Small sums are not products.",
    "date": "2026-11-30",
    "rooms": ["tests/lab"],
    "data": [{"name": "letters", "path": "letters.txt", "source": "made by the test"}],
    "shown": {"sum": {"digits": 4}},
    "claims": [
        {"id": "c1", "text": "The sum is not the product.", "predicate": "not is_exact and len(sums.k) == 10"},
        {"id": "c2", "text": "A false one.", "predicate": "len(sums.k) == 11"},
        {"id": "c3", "text": "Three passes take longer.", "predicate": "median(three_passes) > median(one_pass)"},
    ],
}

OTHER = {
    "title": "Other",
    "kind": "lab",
    "summary": "An answer.",
    "date": "2026-11-30",
    "rooms": ["tests/lab"],
    "claims": [],
}


class Result:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def __repr__(self):
        return f"code {self.code}\nstdout:\n{self.out}\nstderr:\n{self.err}"


class LabTest(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(shutil.rmtree, self.root)
        for slug, document in (("tiny", TINY), ("other-lab", OTHER)):
            self.write(f"web/articles/{slug}/lab.json", json.dumps(document))
            self.write(f"web/articles/{slug}/lab_closure.json", json.dumps(CLOSURE))
        self.write("letters.txt", "abcdefghij")

    def path(self, name):
        return os.path.join(self.root, name)

    def write(self, name, text):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)

    def read(self, name):
        with open(self.path(name), encoding="utf-8", newline="") as file:
            return file.read()

    def environment(self, **changes):
        environment = {"PATH": "/usr/bin:/bin", "HOME": self.root, "TERM": "xterm"}
        environment.update(changes)
        return {key: value for key, value in environment.items() if value is not None}

    def lab(self, *arguments, root=True, code=None, **changes):
        command = [PROGRAM, *arguments] + ([f"--root={self.root}"] if root else [])
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=120, env=self.environment(**changes), cwd=self.root, check=False
        )
        result = Result(done.returncode, done.stdout, done.stderr)
        if code is not None:
            self.assertEqual(result.code, code, result)
        return result

    def record(self, slug="tiny"):
        self.lab("run", slug, "--profile=all", code=0)

    def snapshot(self, folder="web"):
        files = {}
        for top, _, names in os.walk(self.path(folder)):
            for name in names:
                path = os.path.join(top, name)
                with open(path, "rb") as file:
                    files[os.path.relpath(path, self.root)] = file.read()
        return files

    def assert_says(self, text, *words):
        for word in words:
            self.assertIn(word, text)

    @staticmethod
    def canonical(document):
        return json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n"

    def write_sealed(self, name, document):
        """As the program would have written it."""
        document.pop("seal")
        document["seal"] = hashlib.sha256(self.canonical(document).encode()).hexdigest()
        self.write(name, self.canonical(document))


class UseTest(LabTest):
    def test_help_and_version(self):
        program = self.lab("--help", code=0, root=False)
        self.assertEqual(program.err, "")
        for verb in ("list", "run", "verify", "diff", "render", "measure", "data"):
            self.assert_says(program.out, f"\n  {verb}")
            help_text = self.lab(verb, "--help", code=0, root=False)
            self.assertEqual(help_text.err, "")
            self.assert_says(help_text.out, f"usage: lab {verb}", "Examples:", "Exit codes: 0 done", "Flags of every verb:")
            self.assertGreaterEqual(help_text.out.count(f"\n  lab {verb} "), 2)
        version = self.lab("--version", code=0)
        self.assertRegex(version.out, r"^lab of commit \S+.*, built with (g\+\+|clang) .*-ffp-contract=off")

    def test_wrong_use_is_code_2_and_names_the_nearest(self):
        for arguments, words in (
            ((), "which verb?"),
            (("rnu",), "did you mean run?"),
            (("run", "tiny", "--porfile=quick"), "did you mean --profile?"),
            (("run", "tinny"), "did you mean tiny?"),
            (("run",), "name a lab, or all; there are other-lab, tiny"),
            (("run", "tiny", "--profile=fast"), "expected quick, browser, full or all"),
            (("run", "tiny", "--set", "n"), "--set wants name=value"),
            (("run", "tiny", "--seed=x"), "--seed is 'x'"),
            (("run", "tiny", "--threads=0"), "expected an integer from 1 to 1024"),
            (("run", "tiny", "--accept", "--set=n=3"), "records are made with the lab's own arguments"),
            (("run", "tiny", "--out=x", "--set=n=3"), "an experiment is printed and never written"),
            (("run", "tiny", "--out=x", "--seed=3"), "an experiment is printed and never written"),
            (("run", "tiny", "--progress=loud"), "expected auto, bar, plain or none"),
            (("list", "nothing-like-it"), "there is no lab called"),
            (("render", "tiny"), "render takes no argument"),
            (("data", "tiny"), "data wants a lab and the name of its data"),
            (("measure", "tiny", "--budget=soon"), "expected seconds"),
            (("measure", "tiny", "--device=My Machine"), "expected lower-case letters"),
            (("verify", "tiny", "--root=/no/such/folder"), "there is no such folder"),
        ):
            with self.subTest(arguments=arguments):
                root = not any(argument.startswith("--root") for argument in arguments)
                result = self.lab(*arguments, code=2, root=root)
                self.assert_says(result.err, "lab: ", words)
                self.assertEqual(result.out, "")

    def test_a_mistyped_knob_is_found_before_the_run(self):
        first = self.lab("run", "tiny", "--profile=quick", "--set=stpe=1", code=2)
        self.assert_says(first.out, "no knob 'stpe'; did you mean 'step'?")
        self.record()
        known = self.lab("run", "tiny", "--profile=quick", "--set=stpe=1", code=2)
        self.assert_says(known.err, "tiny has no knob 'stpe'; did you mean step?")
        self.assertEqual(known.out, "")
        self.assert_says(self.lab("run", "tiny", "--set=n=many", code=2).out, "expected a 64-bit integer")

    def test_list(self):
        self.assertRegex(self.lab("list", code=0).out, r"other-lab .*no records\ntiny .*no records, measures\n")
        self.record()
        document = json.loads(self.lab("list", "--json", "tiny", code=0).out)
        self.assertEqual(document["schema"], "lab-list/1")
        self.assertEqual(document["labs"][0]["recorded"], ["quick", "browser", "full"])
        self.assertEqual(document["labs"][0]["claims"], 3)

    def test_a_lab_json_with_a_mistake_is_named(self):
        broken = dict(TINY, sumary="x")
        self.write("web/articles/tiny/lab.json", json.dumps(broken))
        result = self.lab("run", "tiny", code=2)
        self.assert_says(result.out, "web/articles/tiny/lab.json: the document: unknown key \"sumary\"; did you mean \"summary\"?")
        claims = [{"id": "c1", "text": "x", "predicate": "sum <"}]
        self.write("web/articles/tiny/lab.json", json.dumps(dict(TINY, claims=claims)))
        self.assert_says(self.lab("run", "tiny", code=2).out, "claim c1: predicate 'sum <': column 6")
        claims = [{"id": "c1", "text": "x", "predicate": "summ.k < 3"}]
        self.write("web/articles/tiny/lab.json", json.dumps(dict(TINY, claims=claims)))
        self.assert_says(self.lab("run", "tiny", "--profile=full", code=2).out, "claim c1 names summ.k", "did you mean sums.k?")

    def test_what_is_missing_is_code_3(self):
        self.assert_says(self.lab("verify", "tiny", code=3).out, "no records; make them with lab run tiny --profile=browser")
        os.remove(self.path("letters.txt"))
        self.assert_says(self.lab("run", "tiny", code=3).out, "the data letters is not there; looked for")
        os.remove(self.path("web/articles/other-lab/lab.json"))
        self.assert_says(self.lab("run", "other-lab", code=3).out, "web/articles/other-lab/lab.json: cannot be read")

    def test_a_lab_that_fails_is_code_4(self):
        self.assert_says(self.lab("run", "other-lab", "--set=fault=1", code=4).out, "it was told to fail")
        aborted = self.lab("run", "other-lab", "--set=fault=3")
        self.assertEqual(aborted.code, -signal.SIGABRT)

    def test_the_worst_code_of_several_labs(self):
        self.record("other-lab")
        result = self.lab("verify", "all", code=3)
        self.assert_says(result.out, "other-lab", "equal", "missing")


class RecordTest(LabTest):
    def test_two_runs_give_the_same_bytes(self):
        self.record()
        first = self.snapshot()
        self.lab("run", "tiny", "--profile=all", code=0)
        self.lab("run", "tiny", "--profile=all", "--accept", "--threads=2", code=0, LC_ALL="de_DE.UTF-8", TZ="Asia/Tokyo")
        self.assertEqual(self.snapshot(), first)
        for name in ("one", "two"):
            self.lab("run", "tiny", f"--out={self.path(name)}", code=0)
        one, two = self.snapshot("one"), self.snapshot("two")
        self.assertEqual(list(one.values()), list(two.values()))
        self.assertEqual(len(one), 4)
        self.assertEqual(sorted(os.listdir(self.path("web/articles/tiny/records"))), ["browser", "full", "quick"])

    def test_records_are_canonical(self):
        self.record()
        for name, content in self.snapshot().items():
            if "/records/" not in name:
                continue
            text = content.decode("utf-8")
            self.assertNotIn("\r", text, name)
            self.assertTrue(text.endswith("\n"), name)
            if name.endswith(".json"):
                self.assertEqual(json.dumps(json.loads(text), indent=2, sort_keys=True, ensure_ascii=False) + "\n", text)
        exact = json.loads(self.read("web/articles/tiny/records/quick/exact.json"))
        csv = self.read("web/articles/tiny/records/quick/sums.csv")
        self.assertEqual(exact["tables"][0]["csv"]["sha256"], hashlib.sha256(csv.encode()).hexdigest())
        self.assertEqual(exact["run"]["data"][0]["sha256"], hashlib.sha256(b"abcdefghij").hexdigest())
        self.assertEqual(exact["figures"][0]["value"], {"bits": "0x3fefffffffffffff", "round_trip": "0.9999999999999999", "shown": "1.000", "type": "f64"})

    def test_verify_counts_and_prints_false_claims(self):
        self.record()
        result = self.lab("verify", "tiny", "--profile=all", code=0)
        self.assert_says(result.out, "11 of 11 exact equal, 3 of 3 others hold", "claim c2 is false, as recorded: A false one.", "claim c2 is false at this size, as recorded", "verified 1 lab: 34 of 34 exact values equal")
        document = json.loads(self.lab("verify", "tiny", "--json", code=0).out)
        self.assertEqual(document["schema"], "lab-verify/1")
        self.assertEqual(document["results"][0]["exact"], {"equal": 11, "of": 11})
        self.assertEqual([claim["verdict"] for claim in document["results"][0]["claims"]], ["holds", "fails", "absent"])
        lines = self.lab("verify", "all", "--profile=quick,full", "--stream", code=3).out.splitlines()
        self.assertEqual([json.loads(line)["outcome"] for line in lines], ["missing", "missing", "equal", "equal"])

    def test_a_changed_value_is_code_1_and_accept_writes_it(self):
        self.record()
        before = self.snapshot()
        self.write("letters.txt", "abcdefghijk")
        for verb in ("run", "verify", "diff"):
            result = self.lab(verb, "tiny", code=1)
            self.assert_says(result.out, "letters  value", "recorded  10", "now       11", "differs")
        self.assertEqual(self.snapshot(), before)
        document = json.loads(self.lab("diff", "tiny", "--json", code=1).out)
        self.assertEqual([d["id"] for d in document["results"][0]["differences"]], ["data", "letters"])
        accepted = self.lab("run", "tiny", "--accept", code=0)
        self.assert_says(accepted.out, "recorded  10", "written")
        self.lab("verify", "tiny", code=0)
        self.lab("verify", "tiny", "--profile=quick", code=1)

    def test_a_changed_verdict_is_code_1(self):
        self.record()
        claims = [dict(TINY["claims"][0], predicate="is_exact")] + TINY["claims"][1:]
        self.write("web/articles/tiny/lab.json", json.dumps(dict(TINY, claims=claims)))
        result = self.lab("verify", "tiny", code=1)
        self.assert_says(result.out, "claim c1  verdict", "recorded  holds", "now       fails")

    def test_one_kind_alone_sees_what_vanished(self):
        self.record()
        folder = "web/articles/tiny/records/browser"
        for file, flag, other in (("bounded.json", "--bounded", "--exact"), ("exact.json", "--exact", "--bounded")):
            with self.subTest(file=file):
                whole = self.read(f"{folder}/{file}")
                document = json.loads(whole)
                # A figure that the lab no longer reports.
                document["figures"].append(dict(document["figures"][0], id="vanished"))
                self.write_sealed(f"{folder}/{file}", document)
                result = self.lab("verify", "tiny", flag, code=1)
                self.assert_says(result.out, "vanished  missing")
                self.lab("verify", "tiny", code=1)
                self.lab("verify", "tiny", other, code=0)
                self.write(f"{folder}/{file}", whole)
        self.lab("verify", "tiny", "--bounded", code=0)

    def test_words_alone_are_no_difference(self):
        self.record()
        self.write("web/articles/tiny/lab.json", json.dumps(dict(TINY, shown={"sum": {"digits": 2}})))
        self.lab("verify", "tiny", code=0)
        self.assert_says(self.lab("run", "tiny", code=0).err, "the values are equal; titles, digits")
        self.lab("run", "tiny", "--accept", code=0)
        self.assertIn('"shown": "10"', self.read("web/articles/tiny/records/browser/exact.json"))

    def test_diff_gives_bits_and_ulps_between_folders(self):
        self.record()
        self.lab("run", "tiny", f"--out={self.path('other')}", code=0)
        self.lab("diff", "tiny", f"--against={self.path('other')}", code=0)
        self.assert_says(self.lab("diff", "tiny", f"--against={self.path('none')}", code=3).out, "cannot be read")
        # The next larger sum, as another machine might have found it, under a right hash and seal.
        name = "other/tiny/browser/exact.json"
        document = json.loads(self.read(name))
        figure = document["figures"][0]
        old = float(figure["value"]["round_trip"])
        word = struct.unpack("<Q", struct.pack("<d", old))[0] + 1
        new = struct.unpack("<d", struct.pack("<Q", word))[0]
        figure["value"].update(round_trip=repr(new), bits=f"0x{word:016x}")
        figure["hash"]["hex"] = hashlib.sha256(struct.pack("<d", new)).hexdigest()
        document.pop("seal")
        text = json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
        document["seal"] = hashlib.sha256(text.encode()).hexdigest()
        self.write(name, json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n")
        result = self.lab("diff", "tiny", f"--against={self.path('other')}", code=1)
        self.assert_says(result.out, "sum  value", f"recorded  {old!r}  0x{word - 1:016x}", f"now       {new!r}  0x{word:016x}  (1 ulp apart)")

    def test_paths_are_meant_where_the_caller_stands(self):
        os.makedirs(self.path("caller"))
        self.lab("run", "other-lab", "--out=here", code=0, BUILD_WORKING_DIRECTORY=self.path("caller"))
        self.assertEqual(os.listdir(self.path("caller/here/other-lab")), ["browser"])
        self.lab("list", "--root=.", root=False, code=0, BUILD_WORKING_DIRECTORY=self.path("caller"))

    def test_an_experiment_touches_no_record(self):
        self.record()
        before = self.snapshot()
        result = self.lab("run", "tiny", "--set=n=5", "--seed=9", code=0)
        self.assert_says(result.out, "experiment", "0.5", "9")
        self.assertEqual(self.snapshot(), before)

    def test_report_prints_the_labs_own_document(self):
        report = self.lab("run", "tiny", "--profile=quick", "--report", code=0)
        document = json.loads(report.out)
        self.assertEqual(document["schema"], "report/1")
        self.assertEqual(list(document), ["schema", "lab", "profile", "args", "data", "figures", "tables"])

    def test_a_bound_that_does_not_hold_is_not_recorded(self):
        # The lab's own default is sound; the fault is only in an experiment.
        result = self.lab("run", "other-lab", "--set=fault=4", code=0)
        self.assert_says(result.out, "loose")

    def test_stale_records_are_listed(self):
        self.record()
        self.assertEqual(self.lab("verify", "tiny", "--stale", code=0).out.count("fresh"), 3)
        self.write("web/articles/tiny/lab_closure.json", json.dumps(dict(CLOSURE, closure_sha256="b" * 64)))
        result = self.lab("verify", "tiny", "--stale", code=1)
        self.assertEqual(result.out.count("changed since it was recorded"), 3)
        self.assert_says(self.lab("verify", "tiny", code=0).out, "equal", "stale")
        self.lab("run", "tiny", "--accept", code=0)
        self.assertEqual(self.lab("verify", "tiny", "--stale", code=1).out.count("fresh"), 1)

    def test_without_the_hash_of_the_sources_nothing_is_recorded(self):
        os.remove(self.path("web/articles/tiny/lab_closure.json"))
        self.assert_says(self.lab("run", "tiny", code=3).out, "the records were not written")
        self.assertFalse(os.path.exists(self.path("web/articles/tiny/records")))
        self.assert_says(self.lab("verify", "tiny", "--stale", code=3).out, "no records")

    def test_data_gives_the_bytes_the_lab_sees(self):
        self.assertEqual(self.lab("data", "tiny", "letters", code=0).out, "abcdefghij")
        self.lab("data", "tiny", "letters", f"--out={self.path('out/letters')}", code=0)
        self.assertEqual(self.read("out/letters"), "abcdefghij")
        self.assert_says(self.lab("data", "tiny", "leters", code=3).err, "did you mean letters?")
        sliced = dict(TINY, data=[dict(TINY["data"][0], slice=[2, 5])])
        self.write("web/articles/tiny/lab.json", json.dumps(sliced))
        self.assertEqual(self.lab("data", "tiny", "letters", code=0).out, "cde")
        sliced["data"][0]["slice"] = [2, 50]
        self.write("web/articles/tiny/lab.json", json.dumps(sliced))
        self.assert_says(self.lab("data", "tiny", "letters", code=2).err, "has 10 bytes, and lab.json slices 2 to 50")


class DamageTest(LabTest):
    """Each damage is caught by verify and run, named with its file and its mend, and mended by --accept."""

    def setUp(self):
        super().setUp()
        self.record()
        self.folder = "web/articles/tiny/records/browser"

    def check(self, name, change, *words):
        with self.subTest(name=name, words=words):
            whole = self.read(f"{self.folder}/{name}")
            changed = change(whole)
            self.assertNotEqual(changed, whole)
            self.write(f"{self.folder}/{name}", changed)
            for verb in ("verify", "run", "diff"):
                result = self.lab(verb, "tiny", code=1)
                self.assert_says(result.out, "damaged", f"{self.folder}/{name}", "(lab run --accept)", *words)
            self.assertEqual(self.read(f"{self.folder}/{name}"), changed)
            self.lab("run", "tiny", "--accept", code=0)
            self.assertEqual(self.read(f"{self.folder}/{name}"), whole)

    def test_flipped_bit(self):
        def flip(text):
            at = text.index("9.99999")
            return text[:at] + chr(ord(text[at]) ^ 1) + text[at + 1 :]

        self.check("exact.json", flip, "does not match its seal, so the file was edited by hand or damaged")
        self.check("sums.csv", lambda text: text.replace("0.5", "0.4", 1), "its SHA-256 is not the recorded one")
        self.check("claims.json", lambda text: text.replace('"fails"', '"holds"', 1), "does not match its seal")

    def test_truncated(self):
        self.check("exact.json", lambda text: text[: len(text) // 2], "not JSON", "truncated?")
        self.check("bounded.json", lambda text: "", "not JSON")
        self.check("sums.csv", lambda text: text[:-5], "its SHA-256 is not the recorded one")

    def test_other_version(self):
        self.check("exact.json", lambda text: text.replace("records/1", "records/2"), "its schema is records/2; this program reads records/1")

    def test_edited_by_hand(self):
        self.check("exact.json", lambda text: text.replace("Sum of n steps", "Sum of some steps"), "edited by hand")
        self.check("exact.json", lambda text: text.replace("\n", "\r\n"), "layout")

    def test_a_missing_csv(self):
        os.remove(self.path(f"{self.folder}/sums.csv"))
        self.assert_says(self.lab("verify", "tiny", code=1).out, "sums.csv: the table's file is missing")

    def test_what_cannot_be_read_is_not_missing(self):
        # A link to itself cannot be read by anybody, the superuser included.
        for name in os.listdir(self.path(self.folder)):
            os.remove(self.path(f"{self.folder}/{name}"))
        os.symlink("exact.json", self.path(f"{self.folder}/exact.json"))
        for arguments in (("verify",), ("run",), ("run", "--accept"), ("diff",)):
            with self.subTest(arguments=arguments):
                result = self.lab(*arguments, "tiny", code=4)
                self.assert_says(result.out, "failed", f"{self.folder}/exact.json: cannot be read")
                self.assertEqual(os.listdir(self.path(self.folder)), ["exact.json"])
        # An empty folder holds no record, and a first one may go there.
        os.remove(self.path(f"{self.folder}/exact.json"))
        self.assert_says(self.lab("verify", "tiny", code=3).out, "no records")
        self.assert_says(self.lab("run", "tiny", code=0).out, "written")

    def test_a_record_of_another_lab(self):
        shutil.rmtree(self.path(self.folder))
        shutil.copytree(self.path("web/articles/tiny/records/quick"), self.path(self.folder))
        self.assert_says(self.lab("verify", "tiny", code=1).out, "it is the record of tiny quick")


class InterruptTest(LabTest):
    def start(self, *arguments, **changes):
        return subprocess.Popen(
            [PROGRAM, *arguments, f"--root={self.root}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environment(**changes),
            text=True,
        )

    def test_sigint_ends_with_130_and_leaves_nothing(self):
        self.record()
        before = self.snapshot()
        process = self.start("run", "tiny", "--set=spin=100000000", "--progress=plain")
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 130)
        self.assert_says(err, "interrupted")
        self.assertEqual(self.snapshot(), before)

    def test_kill_leaves_whole_records(self):
        self.record()
        self.write("letters.txt", "abcdefghijk")
        for delay in (0.001, 0.003, 0.006, 0.01, 0.02, 0.04):
            process = self.start("run", "tiny", "--profile=all", "--accept", "--quiet")
            time.sleep(delay)
            process.kill()
            process.communicate()
            for profile in ("quick", "browser", "full"):
                result = self.lab("diff", "tiny", f"--profile={profile}")
                # Old or new, but whole.
                self.assertIn(result.code, (0, 1), result)
                self.assertNotIn("damaged", result.out)
        # Other values yet, so that each folder is written, and what the killed ones left goes.
        self.write("letters.txt", "abc")
        self.lab("run", "tiny", "--profile=all", "--accept", code=0)
        self.assertEqual(sorted(os.listdir(self.path("web/articles/tiny/records"))), ["browser", "full", "quick"])


class TalkTest(LabTest):
    # Far longer than any test waits: what is to be seen is seen, and the run interrupted.
    FOREVER = "--set=spin=1000000000"

    def until(self, found, *arguments, patience=60, **changes):
        """Runs until `found` is true of stderr, interrupts, and gives all of stderr."""
        command = [PROGRAM, *arguments, f"--root={self.root}"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=self.environment(**changes))
        shown = b""
        os.set_blocking(process.stderr.fileno(), False)
        end = time.monotonic() + patience
        while time.monotonic() < end and not found(shown.decode()):
            time.sleep(0.02)
            shown += process.stderr.read() or b""
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)
        os.set_blocking(process.stderr.fileno(), True)
        shown += process.stderr.read()
        process.stderr.close()
        return shown.decode()

    def on_terminal(self, *arguments, found=None, **changes):
        """Runs with stdout and stderr on a terminal, to the end or until `found`; gives what it showed."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.root)
            os.execve(PROGRAM, [PROGRAM, *arguments, f"--root={self.root}"], self.environment(**changes))
        shown = b""
        while True:
            try:
                piece = os.read(terminal, 65536)
            except OSError:
                break
            if not piece:
                break
            shown += piece
            if found is not None and re.search(found, shown.decode()):
                os.kill(pid, signal.SIGINT)
                found = None
        os.waitpid(pid, 0)
        os.close(terminal)
        return shown.decode()

    BAR = r"\r\x1b\[Ktiny browser \[#*\.*\] +\d+ %  spinning"

    def test_plain_lines_in_a_pipe(self):
        line = r"tiny browser: +\d+ %  spinning  \d+/6000000 .*\n"
        shown = self.until(lambda text: re.search(line, text), "run", "tiny", "--set=spin=6000000")
        self.assertRegex(shown, line)
        self.assertNotIn("\r", shown)
        self.assertNotIn("\x1b", shown)

    def test_a_bar_on_a_terminal(self):
        self.assertRegex(self.on_terminal("run", "tiny", self.FOREVER, found=self.BAR), self.BAR)
        whole = self.on_terminal("run", "tiny", "--set=spin=1000")
        self.assertRegex(whole, self.BAR)
        # The bar is cleared at the end, and the outcome is in colour.
        self.assertRegex(whole, r"\r\x1b\[K(?!tiny browser \[)")
        self.assertIn("\x1b[3", whole)

    def test_no_bar_where_it_would_be_rubbish(self):
        for changes in ({"TERM": "dumb"}, {"CI": "true"}, {"TERM": None}):
            self.assertNotIn("\x1b[K", self.on_terminal("run", "tiny", "--set=spin=1000", **changes))
        self.assertNotIn("\x1b[3", self.on_terminal("run", "tiny", "--set=spin=1000", NO_COLOR="1"))

    def test_progress_can_be_chosen(self):
        self.assertIn("\x1b[K", self.lab("run", "tiny", "--set=spin=1000", "--progress=bar", code=0).err)
        for flag in ("--progress=none", "--quiet"):
            shown = self.until(lambda text: False, "run", "tiny", self.FOREVER, flag, patience=2.5)
            self.assertEqual(shown, "\nlab: interrupted; what was half written is removed\n")
        self.assertEqual(self.lab("run", "tiny", "--set=spin=1000", "--quiet", code=0).err, "")

    def test_json_is_alone_on_stdout(self):
        for arguments in (("run", "tiny", "--json"), ("verify", "tiny", "--json"), ("diff", "tiny", "--json"), ("list", "--json")):
            document = json.loads(self.lab(*arguments, code=0).out)
            self.assertTrue(document["schema"].startswith("lab-"))
        failed = self.lab("verify", "other-lab", "--json", code=3)
        self.assertEqual(json.loads(failed.out)["code"], 3)
        self.assert_says(failed.err, "no records")

    def test_a_reader_that_goes_away(self):
        done = subprocess.run(
            ["/bin/bash", "-c", f'set -o pipefail; "{PROGRAM}" run tiny --root="{self.root}" --quiet >/dev/full'],
            capture_output=True,
            text=True,
            env=self.environment(),
            check=False,
        )
        self.assertEqual(done.returncode, 4, done)
        self.assertIn("stdout cannot be written", done.stderr)


class MeasureTest(LabTest):
    FLAGS = ("--device=test-machine", "--repetitions=5", "--profile=quick", "--budget=20s")

    def measure(self, *more, **options):
        return self.lab("measure", "tiny", *self.FLAGS, *more, **options)

    def test_a_dirty_tree_is_refused_and_a_committed_one_is_not(self):
        self.assert_says(self.measure(code=2).err, "commit first, or record dirty=true with --allow-dirty")
        if shutil.which("git", path="/usr/bin:/bin") is None:
            self.skipTest("git is not installed")
        for command in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"]):
            subprocess.run(["git", *command], cwd=self.root, check=True, env=self.environment())
        result = self.measure()
        if "built without optimisation" in result.err:
            # As a sanitizer's build is: refused in its turn, and rightly.
            self.assertEqual(result.code, 2)
            return
        # On a busy machine the claim about times may be false.
        self.assertIn(result.code, (0, 1), result)
        document = json.loads(self.read("web/articles/tiny/records/measured/test-machine/" + self.today() + "-1.json"))
        self.assertFalse(document["build"]["dirty"])
        self.assertRegex(document["build"]["commit"], "^[0-9a-f]{40}$")

    def today(self):
        return time.strftime("%Y%m%d", time.gmtime())

    def test_a_file_with_everything_in_it(self):
        result = self.measure("--allow-dirty", SOURCE_DATE_EPOCH="1764460800")
        self.assertIn(result.code, (0, 1), result)
        self.assert_says(result.out, "one_pass", "median", "claim c3", "wrote web/articles/tiny/records/measured/test-machine/20251130-1.json")
        document = json.loads(self.read("web/articles/tiny/records/measured/test-machine/20251130-1.json"))
        self.assertEqual(document["schema"], "measured/1")
        self.assertEqual(document["date"], "2025-11-30")
        self.assertTrue(document["build"]["dirty"])
        for figure in document["figures"]:
            self.assertEqual(len(figure["samples"]), 5)
            self.assertEqual(figure["summary"]["n"], 5)
            self.assertEqual(figure["unit"], "ns")
        self.assertEqual([figure["check"] for figure in document["figures"]], ["passed", "none"])
        floor = document["figures"][0]["floor"]
        self.assertEqual(floor["flops"], "100")
        self.assertGreater(float(floor["of_fma_f64"]), 0)
        self.assertGreater(float(document["ceilings"]["triad_bytes_per_s"]), 1e8)
        self.assertIn("load_before", document["machine"])
        device = json.loads(self.read("web/devices/test-machine.json"))
        self.assertEqual(device["id"], "test-machine")
        self.assertGreater(device["cpu"]["logical_cores"], 0)

    def test_files_are_only_ever_added(self):
        first = self.measure("--allow-dirty", SOURCE_DATE_EPOCH="1764460800")
        self.assertIn(first.code, (0, 1), first)
        name = "web/articles/tiny/records/measured/test-machine/20251130-1.json"
        content = self.read(name)
        self.measure("--allow-dirty", SOURCE_DATE_EPOCH="1764460800")
        self.assertEqual(self.read(name), content)
        second = json.loads(self.read(name.replace("-1.json", "-2.json")))
        self.assertEqual(second["comparison"]["supersedes"], "20251130-1.json")
        self.lab("run", "tiny", "--profile=quick", code=0)
        self.lab("verify", "tiny", "--profile=quick", code=0)
        verified = self.lab("verify", "tiny", "--measured", code=0)
        self.assert_says(verified.out, "measured on test-machine: 2 files intact")
        self.write(name, content.replace('"warmup": 3', '"warmup": 4'))
        damaged = self.lab("verify", "tiny", "--measured", code=1)
        self.assert_says(damaged.err, "20251130-1.json", "does not match its seal")
        self.lab("verify", "tiny", "--profile=quick", code=1)

    def test_a_median_that_moved_is_marked_drifted(self):
        self.measure("--allow-dirty", SOURCE_DATE_EPOCH="1764460800")
        name = "web/articles/tiny/records/measured/test-machine/20251130-1.json"
        document = json.loads(self.read(name))
        # As if the machine had been far faster that day; sealed anew, as the program would.
        for figure in document["figures"]:
            figure["samples"] = ["0.001"] * 5
            figure["hash"]["hex"] = hashlib.sha256(struct.pack("<5d", *[0.001] * 5)).hexdigest()
            figure["summary"].update(median="0.001", iqr="0", min="0.001", cv="0")
        self.write_sealed(name, document)
        result = self.measure("--allow-dirty", SOURCE_DATE_EPOCH="1764460800")
        self.assertEqual(result.code, 1, result)
        self.assert_says(result.err, "drifted", "both files stay")
        second = json.loads(self.read(name.replace("-1.json", "-2.json")))
        self.assertEqual({item["id"] for item in second["comparison"]["drifted"]}, {"one_pass", "three_passes"})

    def test_only_one_profile_is_compared_and_decided(self):
        claims = TINY["claims"] + [
            {"id": "c4", "text": "Ten steps take time.", "predicate": "median(one_pass) > 0 and terms_wanted == 10"}
        ]
        self.write("web/articles/tiny/lab.json", json.dumps(dict(TINY, claims=claims)))
        first = self.measure("--allow-dirty", SOURCE_DATE_EPOCH="1764460800")
        self.assertIn(first.code, (0, 1), first)
        self.assert_says(first.err, "claim c4 is not decided: web/articles/tiny/records/quick holds no records")
        self.record()
        full_flags = [flag.replace("quick", "full") for flag in self.FLAGS]
        self.lab("measure", "tiny", *full_flags, "--allow-dirty", SOURCE_DATE_EPOCH="1764460800")
        self.measure("--allow-dirty", SOURCE_DATE_EPOCH="1764460800")
        name = "web/articles/tiny/records/measured/test-machine/20251130-{}.json"
        quick, full, again = (json.loads(self.read(name.format(number))) for number in (1, 2, 3))
        self.assertEqual([file["run"]["profile"] for file in (quick, full, again)], ["quick", "full", "quick"])
        self.assertEqual(full["comparison"], {"supersedes": "", "drifted": []})
        self.assertEqual(again["comparison"]["supersedes"], "20251130-1.json")
        verdicts = [{claim["id"]: claim["verdict"] for claim in file["claims"]} for file in (quick, full, again)]
        self.assertNotIn("c4", verdicts[0])
        self.assertEqual([verdicts[1]["c4"], verdicts[2]["c4"]], ["fails", "holds"])

    def test_nothing_to_check_is_no_pass(self):
        for arguments in (("tiny",), ("all",)):
            nothing = self.lab("verify", *arguments, "--measured", code=3)
            self.assert_says(nothing.err, "tiny: no measured files; make one with lab measure tiny")
        other = self.lab("verify", "other-lab", "--measured", code=3)
        self.assert_says(other.err, "no measured file was checked")
        document = json.loads(self.lab("verify", "tiny", "--measured", "--json", code=3).out)
        self.assertEqual(document["code"], 3)
        self.assertEqual([(item["lab"], item["files"], len(item["errors"])) for item in document["measured"]], [("tiny", 0, 1)])
        # Beside the values, files that nobody has made yet are no failure.
        self.record()
        self.lab("verify", "tiny", code=0)

    def test_a_file_of_another_name_is_not_passed_over(self):
        self.measure("--allow-dirty", SOURCE_DATE_EPOCH="1764460800")
        folder = "web/articles/tiny/records/measured/test-machine"
        self.lab("verify", "tiny", "--measured", code=0)
        for name in ("20251130.json", "20251130-1.json.orig", "20251130-x.json", "2025-1.json", "../notes.json"):
            with self.subTest(name=name):
                self.write(f"{folder}/{name}", "{}")
                self.assert_says(self.lab("verify", "tiny", "--measured", code=1).err, name.replace("../", "measured/"))
                os.remove(self.path(f"{folder}/{name}"))

    def test_the_document_has_the_code_of_a_damaged_file(self):
        self.record()
        self.measure("--allow-dirty", SOURCE_DATE_EPOCH="1764460800")
        name = "web/articles/tiny/records/measured/test-machine/20251130-1.json"
        self.assertEqual(json.loads(self.lab("verify", "tiny", "--json", code=0).out)["code"], 0)
        self.write(name, self.read(name).replace('"warmup": 3', '"warmup": 4'))
        for flags in ((), ("--measured",)):
            document = json.loads(self.lab("verify", "tiny", "--json", *flags, code=1).out)
            self.assertEqual(document["code"], 1)
            self.assert_says(document["measured"][0]["errors"][0], name, "does not match its seal")

    def test_another_machine_under_the_same_name_is_refused(self):
        self.measure("--allow-dirty")
        device = json.loads(self.read("web/devices/test-machine.json"))
        device["cpu"]["model"] = "Another CPU"
        self.write("web/devices/test-machine.json", json.dumps(device))
        self.assert_says(self.measure("--allow-dirty", code=2).err, "it describes another machine", "--device=ID")

    def test_a_lab_that_measures_nothing_is_skipped(self):
        result = self.lab("measure", "other-lab", *self.FLAGS, "--allow-dirty", code=3)
        self.assert_says(result.err, "other-lab measures nothing: skipped")


class RenderTest(LabTest):
    """With a bazel of our own, which builds what the test puts there."""

    MANIFEST = '{"schema": "assay-manifest/1"}'
    BUILD = f"""echo "$@"; mkdir -p out/web/site/dist/fft; cd out/web/site/dist
echo new >fft/index.html; echo '{MANIFEST}' >manifest.json
"""

    def bazel(self, script):
        info = f'if [ "$1" = info ]; then echo "{self.path("out")}"; exit; fi\n'
        self.write("bin/bazel", "#!/bin/bash\n" + info + script)
        os.chmod(self.path("bin/bazel"), 0o755)
        return {"PATH": self.path("bin") + ":/usr/bin:/bin"}

    def test_dist_is_replaced_as_one(self):
        self.write("dist/old.html", "old")
        self.write("dist/manifest.json", self.MANIFEST)
        environment = self.bazel(self.BUILD)
        result = self.lab("render", code=0, **environment)
        self.assert_says(result.out, "rendered dist")
        self.assert_says(result.err, "build --noshow_progress //web/site")
        self.assertEqual(self.read("dist/fft/index.html"), "new\n")
        self.assertFalse(os.path.exists(self.path("dist/old.html")))
        first = self.snapshot("dist")
        self.lab("render", code=0, **environment)
        self.assertEqual(self.snapshot("dist"), first)
        self.lab("render", f"--out={self.path('elsewhere')}", code=0, **environment)
        self.assertEqual(self.read("elsewhere/fft/index.html"), "new\n")
        for name in ("slash/", "elsewhere/", "elsewhere//"):
            self.lab("render", f"--out={name}", code=0, **environment)
        self.assertEqual(self.read("slash/fft/index.html"), "new\n")
        self.assertEqual([name for name in os.listdir(self.root) if name.startswith(".")], [])

    def test_only_a_site_is_replaced(self):
        environment = self.bazel("touch built\n" + self.BUILD)
        os.makedirs(self.path("empty"))
        self.lab("render", "--out=empty", code=0, **environment)
        self.assertEqual(self.read("empty/fft/index.html"), "new\n")
        os.remove(self.path("built"))
        self.write("precious/thesis.txt", "years of work")
        self.write("precious-too/.hidden", "as well")
        self.write("extension/manifest.json", '{"manifest_version": 3}')
        self.write("file", "no folder")
        before = self.snapshot(".")
        for name in ("precious", "precious/", "precious-too", "extension", "file", ".", self.root):
            with self.subTest(name=name):
                result = self.lab("render", f"--out={name}", code=2, **environment)
                self.assert_says(result.err, f"lab: {name}: ")
                if name != "file":
                    self.assert_says(result.err, "no manifest.json of a site, so it is not replaced")
        # Said before the build, which takes minutes; and nothing is touched.
        self.assertFalse(os.path.exists(self.path("built")))
        self.assertEqual(self.snapshot("."), before)

    def test_a_build_that_fails_leaves_dist(self):
        self.write("dist/old.html", "old")
        self.write("dist/manifest.json", self.MANIFEST)
        self.assert_says(self.lab("render", code=1, **self.bazel("exit 7\n")).err, "bazel ended with code 7")
        self.assertEqual(self.read("dist/old.html"), "old")
        self.assert_says(self.lab("render", code=4, **self.bazel("true\n")).err, "the built site is not there")
        self.assert_says(self.lab("render", code=3, PATH=self.path("empty")).err, "bazel: cannot be run", "tools/setup")


if __name__ == "__main__":
    unittest.main(verbosity=1)
