# SPDX-License-Identifier: Apache-2.0
"""measure_gpu.py over planted programs: what it reads, what it writes, and how it ends."""

import contextlib
import glob
import io
import json
import os
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True

import measure_gpu

DEVICE = (
    '{"device": {"name": "Tesla T4", "compute_capability": "7.5", "multiprocessors": 40, "memory_bytes": 15843721216, '
    '"ecc": true}}'
)
COPY = (
    '{"probe": {"id": "dram_copy", "title": "DRAM, y = x", "flops": 0, "bytes": 2000, "steps": 0, "cycles": 0, "checked": true, '
    '"runs_per_sample": 4, "seconds": [4e-09, 1e-09, 3e-09, 2e-09, 5e-09]}}'
)
CHASE = (
    '{"probe": {"id": "l1_latency", "title": "L1", "flops": 0, "bytes": 0, "steps": 100, "cycles": 3200, "checked": false, '
    '"runs_per_sample": 1, "seconds": [2e-06, 2e-06]}}'
)
FMA = (
    '{"probe": {"id": "fma_f32", "title": "f32", "flops": 8e9, "bytes": 0, "steps": 0, "cycles": 1590, "checked": true, '
    '"runs_per_sample": 1, "seconds": [0.001]}}'
)
SKIPPED = '{"skipped": {"id": "mma_wide", "why": "UNIMPLEMENTED: begins with sm_80"}}'
FAILED = '{"failed": {"id": "dram_triad", "why": "DATA_LOSS: value 3 is 1; expected 2"}}'


def program(folder, lines, code=0, then=""):
    """A program that prints lines and ends with a code."""
    path = os.path.join(folder, "planted")
    with open(path, "w", encoding="utf-8") as file:
        file.write("#!/bin/bash\n" + "".join(f"echo '{line}'\n" for line in lines) + f"{then}\nexit {code}\n")
    os.chmod(path, 0o755)
    return path


class MeasureGpu(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.out = os.path.join(self.folder.name, "out")

    def main(self, *arguments):
        """(exit code, what went to stdout, to stderr)."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = measure_gpu.main(list(arguments))
        return code, out.getvalue(), err.getvalue()

    def measured(self, lines, code=0, then="", *arguments):
        planted = program(self.folder.name, lines, code, then)
        return self.main(f"--program={planted}", f"--out={self.out}", *arguments)

    def record(self, name="tesla-t4/*-1.json"):
        (path,) = glob.glob(os.path.join(self.out, name))
        with open(path, encoding="utf-8") as file:
            text = file.read()
        document = json.loads(text)
        self.assertEqual(text, measure_gpu.canonical(document))
        self.assertEqual(document["seal"], measure_gpu.seal(document))
        return document

    def test_writes_every_sample_and_its_summary(self):
        code, out, _ = self.measured([DEVICE, '{"begin": "dram_copy"}', COPY])
        self.assertEqual(code, 0)
        document = self.record()
        self.assertEqual(document["schema"], "measured-gpu/1")
        self.assertEqual(document["device"], "tesla-t4")
        self.assertEqual(document["gpu"]["multiprocessors"], "40")
        self.assertEqual(document["gpu"]["ecc"], "true")
        (item,) = document["figures"]
        self.assertEqual([float(ns) for ns in item["samples"]], [4.0, 1.0, 3.0, 2.0, 5.0])
        self.assertEqual(item["summary"]["n"], 5)
        self.assertEqual(float(item["summary"]["median"]), 3.0)
        self.assertEqual(item["summary"]["iqr"], "2")
        self.assertEqual(float(item["summary"]["min"]), 1.0)
        self.assertEqual(item["floor"], {"bytes": "2000", "bytes_per_s": "6.66667e+11"})
        self.assertEqual(item["runs_per_sample"], 4)
        self.assertEqual(item["check"], "passed")
        self.assertIn("666.7 GB/s", out)
        self.assertTrue(out.rstrip().endswith("-1.json"))
        self.assertIn("1 passed, 0 failed, 0 skipped", out)

    def test_gives_rates_steps_and_clocks(self):
        code, out, _ = self.measured([DEVICE, CHASE, FMA])
        self.assertEqual(code, 0)
        chase, fma = self.record()["figures"]
        self.assertEqual(
            chase["floor"],
            {"steps": "100", "ns_per_step": "20", "cycles": "3200", "mhz": "1600", "cycles_per_step": "32"},
        )
        self.assertEqual(chase["check"], "none")
        self.assertEqual(fma["floor"]["flops_per_s"], "8e+12")
        self.assertEqual(fma["summary"]["iqr"], "0")
        self.assertIn("8.000 TFLOP/s", out)
        self.assertIn("20.0 ns a step, 32.0 clocks", out)

    def test_keeps_earlier_records(self):
        for _ in range(2):
            self.assertEqual(self.measured([DEVICE, COPY])[0], 0)
        self.record("tesla-t4/*-1.json")
        self.record("tesla-t4/*-2.json")
        self.assertEqual(len(os.listdir(os.path.join(self.out, "tesla-t4"))), 2)

    def test_says_what_failed_and_what_was_skipped(self):
        code, out, _ = self.measured([DEVICE, COPY, SKIPPED, FAILED], 1)
        self.assertEqual(code, 1)
        document = self.record()
        self.assertEqual([item["id"] for item in document["figures"]], ["dram_copy"])
        self.assertEqual(document["failed"][0]["why"], "DATA_LOSS: value 3 is 1; expected 2")
        self.assertEqual(document["skipped"][0]["id"], "mma_wide")
        self.assertIn("1 passed, 1 failed, 1 skipped", out)

    def test_ends_with_3_where_the_program_finds_no_gpu(self):
        code, out, err = self.measured([], 3, "echo no driver >&2")
        self.assertEqual((code, out), (3, ""))
        self.assertIn("no driver", err)
        self.assertFalse(os.path.exists(self.out))

    def test_ends_with_4_where_the_program_breaks(self):
        code, _, err = self.measured([DEVICE], 7, "echo broken >&2")
        self.assertEqual(code, 4)
        self.assertIn("broken", err)

    def test_keeps_what_was_measured_when_time_runs_out(self):
        begin = time.monotonic()
        code, out, _ = self.measured([DEVICE, COPY], 0, "exec sleep 60", "--budget=2")
        self.assertEqual(code, 1)
        self.assertLess(time.monotonic() - begin, 30)
        self.assertEqual(len(self.record()["figures"]), 1)
        self.assertIn("dram_copy", out)

    def test_refuses_wrong_use(self):
        for wrong in (["--color"], ["--out"], ["--out="], ["--budget=soon"], ["--budget=-1"], ["--build-only=1"], ["x"]):
            code, out, err = self.main(*wrong)
            self.assertEqual((code, out), (2, ""), wrong)
            self.assertTrue(err.startswith("measure_gpu: "), err)

    def test_explains_itself(self):
        code, out, _ = self.main("--help")
        self.assertEqual(code, 0)
        for word in ("usage:", "--out=DIR", "--budget=SECONDS", "Exit code:"):
            self.assertIn(word, out)

    def test_ends_with_3_on_a_machine_without_a_gpu(self):
        if glob.glob("/dev/nvidia[0-9]*") or measure_gpu.run(["nvidia-smi", "-L"]):
            self.skipTest("this machine has a GPU")
        code, out, err = self.main(f"--out={self.out}")
        self.assertEqual((code, out), (3, ""))
        self.assertIn("no GPU", err)

    def test_reads_what_nvidia_smi_can_say(self):
        self.assertEqual(
            measure_gpu.parse_sample("1590, 5001, 68.50, 45, 100\n"),
            {"clocks.sm": 1590.0, "clocks.mem": 5001.0, "power.draw": 68.5, "temperature.gpu": 45.0, "utilization.gpu": 100.0},
        )
        self.assertEqual(measure_gpu.parse_sample("[N/A], 5001, [Not Supported], 45\n"), {"clocks.mem": 5001.0, "temperature.gpu": 45.0})
        samples = [{"clocks.sm": 1000.0, "power.draw": 60.0}, {"clocks.sm": 900.0}, {"clocks.sm": 1590.0}]
        self.assertEqual(
            measure_gpu.summarise_samples(samples),
            {
                "samples": 3,
                "clocks.sm": {"median": "1000", "max": "1590"},
                "power.draw": {"median": "60", "max": "60"},
            },
        )

    def test_looks_at_the_time_of_a_probe_alone(self):
        watch = measure_gpu.Watch.__new__(measure_gpu.Watch)
        watch.samples = [(moment, {"clocks.sm": 100.0 * moment}) for moment in range(10)]
        seen = watch.between(3, 6)
        self.assertEqual(seen, {"samples": 4, "clocks.sm": {"median": "450", "max": "600"}})

    # As tools/lab writes and seals records: its own check would read this text.
    def test_writes_canonical_text(self):
        document = {"b": ["1", {"z": "\u00e9", "a": True}], "a": [], "seal": "x"}
        self.assertEqual(
            measure_gpu.canonical(document),
            '{\n  "a": [],\n  "b": [\n    "1",\n    {\n      "a": true,\n      "z": "\u00e9"\n    }\n  ],\n  "seal": "x"\n}\n',
        )
        self.assertEqual(
            measure_gpu.seal(document),
            "a684b35db0e46e430fee4f693b70b430dbd87f195c41942d42a180e260950f2a",
        )

    def test_makes_names_of_devices(self):
        self.assertEqual(measure_gpu.slug("NVIDIA H200"), "nvidia-h200")
        self.assertEqual(measure_gpu.slug("  "), "unknown")

    def test_finds_no_test_among_abseils_sources(self):
        for name in ("status_test.cc", "str_cat_benchmark.cc", "cord_test_helpers.cc", "internal/pow10_helper_test.cc"):
            self.assertTrue(measure_gpu.NOT_ABSEIL.search("absl/strings/" + name), name)
        for name in ("status.cc", "internal/cord_internal.cc", "latest.cc"):
            self.assertFalse(measure_gpu.NOT_ABSEIL.search("absl/strings/" + name), name)


if __name__ == "__main__":
    unittest.main()
