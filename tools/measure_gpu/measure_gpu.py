#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Measures a GPU: builds the probes with nvcc, runs them, writes a record, prints a table.

usage: python3 tools/measure_gpu/measure_gpu.py [--out=DIR] [--budget=SECONDS] [--build=DIR]
                                                [--program=FILE] [--build-only] [--help]

Needs nvcc, g++ and this checkout with .deps (tools/setup unpacks it); no Bazel, no network.

  --out=DIR          where DEVICE/YYYYMMDD-N.json is written (web/devices/measured)
  --budget=SECONDS   all in all, the build included (300); what is measured by then is kept
  --build=DIR        keeps the build there, and uses what is there (a temporary folder)
  --program=FILE     a program built before (bazel build //tools/measure_gpu)
  --build-only       builds and stops; no GPU is needed

Exit code: 0 done; 1 a result was wrong, or time ran out; 2 wrong use; 3 no GPU, or no nvcc; 4 the
build failed.
"""

import concurrent.futures
import datetime
import glob
import hashlib
import json
import os
import platform
import re
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

# Sources beside those of this folder and of the CUDA side of gpu/device.
OURS = [
    "gpu/device/internal/common.cc",
    "gpu/simt/limits.cc",
    "gpu/simt/occupancy.cc",
    "numerics/core/check.cc",
    "numerics/core/elementary.cc",
    "numerics/core/random.cc",
]
# Abseil's statuses and strings, and what they stand on.
ABSEIL = ["base", "debugging", "numeric", "profiling", "status", "strings", "synchronization", "time", "types"]
NOT_ABSEIL = re.compile(r"(_test|_benchmark|_testing|test_util|test_common|_test_helpers?|mock_\w+|benchmark\w*)\.cc$|/testing/")

QUERY = [
    "clocks.sm",
    "clocks.mem",
    "power.draw",
    "temperature.gpu",
    "utilization.gpu",
]
STATE = QUERY + ["driver_version", "ecc.mode.current", "clocks.max.sm", "clocks.max.mem", "power.limit", "pstate"]


class Stop(Exception):
    """Ends the program with a message and an exit code."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def run(command, **kwargs):
    """The output of a command, or None where it cannot be run or fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, **kwargs)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


# ---- Building.


def find_nvcc():
    candidates = [os.environ.get("CUDA_PATH", "/usr/local/cuda") + "/bin/nvcc", shutil.which("nvcc")]
    for nvcc in candidates:
        if nvcc and os.access(nvcc, os.X_OK):
            return nvcc
    raise Stop(3, "nvcc is missing: set CUDA_PATH to the CUDA toolkit")


def architectures():
    """nvcc's flags for the GPU of this machine, or for all that the articles speak of."""
    capability = run(["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"])
    if capability and re.fullmatch(r"\d+\.\d", capability.splitlines()[0]):
        number = capability.splitlines()[0].replace(".", "")
        return ["-gencode", f"arch=compute_{number},code=sm_{number}"]
    return ["-gencode", "arch=compute_75,code=sm_75", "-gencode", "arch=compute_90,code=sm_90"]


def sources():
    """(C++, CUDA, Abseil): paths of the sources, from the top of the checkout."""
    here = os.path.relpath(os.path.dirname(os.path.realpath(__file__)), ROOT)
    cc = OURS + [os.path.join(here, name) for name in ("reference.cc", "result.cc")]
    cu = sorted(
        os.path.relpath(path, ROOT)
        for path in glob.glob(os.path.join(ROOT, here, "*.cu"))
        + glob.glob(os.path.join(ROOT, "gpu/device/cuda_*.cu"))
        + [os.path.join(ROOT, "gpu/device/gpus.cu")]
    )
    abseil = sorted(
        os.path.relpath(path, ROOT)
        for folder in ABSEIL
        for path in glob.glob(os.path.join(ROOT, ".deps/abseil/absl", folder, "**/*.cc"), recursive=True)
        if not NOT_ABSEIL.search(path)
    )
    if not abseil:
        raise Stop(3, "Abseil's sources are missing: tools/setup unpacks them into .deps")
    return cc, cu, abseil


def build(folder, nvcc):
    """Builds the program in `folder`, on all cores. Returns (program, flags of nvcc)."""
    flags = ["-std=c++20", "-O3", "-fmad=false", "-diag-suppress", "2810"] + architectures()
    cc, cu, abseil = sources()
    include = ["-I", ROOT, "-isystem", os.path.join(ROOT, ".deps/abseil")]

    def compiled(source):
        target = os.path.join(folder, source.replace("/", "_") + ".o")
        if source.endswith(".cu"):
            command = [nvcc] + flags + include + ["-c", source, "-o", target]
        else:
            warnings = ["-w"] if source in abseil else ["-Wall"]
            command = ["g++", "-std=c++20", "-O2", "-ffp-contract=off"] + warnings + include + ["-c", source, "-o", target]
        if not os.path.exists(target):
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
            if done.returncode:
                raise Stop(4, f"{source} does not compile:\n{done.stderr[-4000:]}")
        return target

    os.makedirs(folder, exist_ok=True)
    program = os.path.join(folder, "measure_gpu")
    if os.path.exists(program):
        return program, flags
    # CUDA first: it takes longest.
    everything = cu + cc + abseil
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(compiled, everything))
    archive = os.path.join(folder, "libabsl.a")
    if os.path.exists(archive):
        os.remove(archive)
    own = len(cu) + len(cc)
    for command in (
        ["ar", "qcs", archive] + objects[own:],
        [nvcc] + flags + objects[:own] + [archive, "-o", program, "-lpthread"],
    ):
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Stop(4, f"linking failed:\n{done.stderr[-4000:]}")
    return program, flags


# ---- Measuring.


def gpu_state():
    """What nvidia-smi says of the GPU now, by field; empty where it says nothing."""
    line = run(["nvidia-smi", "--id=0", "--query-gpu=" + ",".join(STATE), "--format=csv,noheader,nounits"])
    values = [value.strip() for value in line.splitlines()[0].split(",")] if line else []
    return dict(zip(STATE, values)) if len(values) == len(STATE) else {}


class Watch:
    """Samples clocks, power and temperature every 100 ms while the program runs."""

    def __init__(self):
        self.samples = []  # (time, {field: float})
        self.process = None
        try:
            self.process = subprocess.Popen(
                ["nvidia-smi", "--id=0", "--query-gpu=" + ",".join(QUERY), "--format=csv,noheader,nounits", "-lms", "100"],
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        except OSError:
            return
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.samples.append((time.monotonic(), parse_sample(line)))

    def between(self, begin, end):
        """{field: {"median": ..., "max": ...}} of the samples in [begin, end], and their number."""
        return summarise_samples([values for moment, values in list(self.samples) if begin <= moment <= end])

    def close(self):
        if self.process:
            self.process.terminate()
            self.process.wait()


def parse_sample(line):
    """{field: number} of one line of nvidia-smi; fields that it cannot read are left out."""
    values = {}
    for field, text in zip(QUERY, line.split(",")):
        try:
            values[field] = float(text)
        except ValueError:
            pass
    return values


def summarise_samples(samples):
    summary = {"samples": len(samples)}
    for field in QUERY:
        values = [sample[field] for sample in samples if field in sample]
        if values:
            summary[field] = {"median": number(statistics.median(values)), "max": number(max(values))}
    return summary


def measure(program, seconds, extra=()):
    """Runs the program for at most `seconds`. Returns (exit code, device, results), where a result is
    ("probe" | "skipped" | "failed", object, what nvidia-smi saw meanwhile)."""
    watch = Watch()
    device, results = {}, []
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen([program] + list(extra), stdout=subprocess.PIPE, stderr=errors, text=True)
        timer = threading.Timer(max(seconds, 1), process.kill)
        timer.start()
        begin = time.monotonic()
        for line in process.stdout:
            kind, body = next(iter(json.loads(line).items()))
            if kind == "device":
                device = body
            elif kind == "begin":
                begin = time.monotonic()
                print(f"measuring {body}", file=sys.stderr)
            else:
                results.append((kind, body, watch.between(begin, time.monotonic())))
        code = process.wait()
        timer.cancel()
        errors.seek(0)
        words = errors.read().strip()
    watch.close()
    if code == 3:
        raise Stop(3, words or "no GPU")
    if code not in (0, 1) and code != -9:
        raise Stop(4, f"the program ended with {code}: {words}")
    return (1 if code else 0), device, results


# ---- The record.


def number(value):
    """Six significant digits, as text: records hold no floats."""
    return f"{value:.6g}"


def quartiles(samples):
    return statistics.quantiles(samples, n=4, method="inclusive") if len(samples) > 1 else [samples[0]] * 3


def figure(probe, gpu):
    """One figure/1 of a probe: all samples in ns of one run, their summary, and what work that was."""
    nanoseconds = [1e9 * seconds for seconds in probe["seconds"]]
    low, median, high = quartiles(nanoseconds)
    mean = statistics.fmean(nanoseconds)
    floor = {}
    for name in ("flops", "bytes", "steps"):
        if probe[name]:
            floor[name] = number(probe[name]) if probe[name] % 1 else str(int(probe[name]))
            if name != "steps":
                floor[name + "_per_s"] = number(1e9 * probe[name] / median)
    if probe["steps"]:
        floor["ns_per_step"] = number(median / probe["steps"])
    if probe["cycles"]:
        # The kernel's own clock over a run that is mostly that kernel.
        floor["cycles"] = str(int(probe["cycles"]))
        floor["mhz"] = number(1e3 * probe["cycles"] / nanoseconds[-1])
        if probe["steps"]:
            floor["cycles_per_step"] = number(probe["cycles"] / probe["steps"])
    return {
        "schema": "figure/1",
        "id": probe["id"],
        "kind": "measured",
        "title": probe["title"],
        "unit": "ns",
        "group": probe["id"].split("_")[0],
        "shown": f"{median:.3g}",
        "samples": [repr(value) for value in nanoseconds],
        "runs_per_sample": probe["runs_per_sample"],
        "summary": {
            "median": repr(median),
            "iqr": number(high - low),
            "min": repr(min(nanoseconds)),
            "cv": number(statistics.pstdev(nanoseconds) / mean if mean else 0.0),
            "n": len(nanoseconds),
        },
        "floor": floor,
        "check": "passed" if probe["checked"] else "none",
        "hash": {
            "algo": "sha256",
            "of": "little-endian f64 samples",
            "hex": hashlib.sha256(struct.pack(f"<{len(nanoseconds)}d", *nanoseconds)).hexdigest(),
        },
        "gpu": gpu,
    }


def canonical(document):
    """The text that is sealed: as tools/lab writes records."""
    return json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def seal(document):
    """The SHA-256 of a document without its seal."""
    return hashlib.sha256(canonical({key: document[key] for key in document if key != "seal"}).encode()).hexdigest()


def record(device, results, build_facts, before, after, date):
    """The document of one run."""
    document = {
        "schema": "measured-gpu/1",
        "device": slug(device.get("name", "")),
        "date": date,
        "gpu": {key: value if isinstance(value, str) else json.dumps(value) for key, value in device.items()},
        "build": build_facts,
        "method": {
            "warmup": 3,
            "order": "one probe after another; the samples of a probe in a row",
            "clock": "CUDA events around runs_per_sample runs in one stream; launch_round_trip and transfers of "
            "ordinary memory by std::chrono::steady_clock",
            "cache": "as the runs before left it; a buffer in DRAM is larger than L2",
        },
        "machine": {
            "kernel": platform.system() + " " + platform.release(),
            "cpu": cpu_model(),
            "load_before": before.pop("load", ""),
            "load_after": after.pop("load", ""),
            "gpu_before": before,
            "gpu_after": after,
        },
        "figures": [figure(body, gpu) for kind, body, gpu in results if kind == "probe"],
        "skipped": [body for kind, body, _ in results if kind == "skipped"],
        "failed": [body for kind, body, _ in results if kind == "failed"],
    }
    document["seal"] = seal(document)
    return document


def slug(name):
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "unknown"


def cpu_model():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            found = re.search(r"model name\s*:\s*(.*)", file.read())
    except OSError:
        return "unknown"
    return found[1] if found else "unknown"


def write(document, out):
    """Writes DEVICE/YYYYMMDD-N.json with the next free N, whole or not at all; returns its path."""
    folder = os.path.join(out, document["device"])
    os.makedirs(folder, exist_ok=True)
    day = document["date"].replace("-", "")
    n = 1
    while os.path.exists(os.path.join(folder, f"{day}-{n}.json")):
        n += 1
    path = os.path.join(folder, f"{day}-{n}.json")
    with open(path + ".part", "w", encoding="utf-8", newline="\n") as file:
        file.write(canonical(document))
    os.rename(path + ".part", path)
    return path


# ---- The table.


def rate(item):
    """What a reader wants of a figure, in words."""
    floor = item["floor"]
    if "flops_per_s" in floor and "bytes_per_s" not in floor:
        return f"{float(floor['flops_per_s']) / 1e12:10.3f} TFLOP/s"
    if "bytes_per_s" in floor:
        return f"{float(floor['bytes_per_s']) / 1e9:10.1f} GB/s"
    words = f"{float(floor['ns_per_step']):10.1f} ns a step"
    return words + (f", {float(floor['cycles_per_step']):.1f} clocks" if "cycles_per_step" in floor else "")


def table(document):
    lines = [f"{document['gpu'].get('name', 'unknown GPU')}, {document['date']}: median of samples, IQR, rate"]
    for item in document["figures"]:
        summary = item["summary"]
        median = float(summary["median"])
        spread = 100 * float(summary["iqr"]) / median if median else 0.0
        lines.append(f"  {item['id']:28} {median / 1e3:12.3f} us  {spread:5.1f} %  {rate(item)}")
    for kind in ("skipped", "failed"):
        lines += [f"  {item['id']:28} {kind.upper()}: {item['why']}" for item in document[kind]]
    passed, failed, skipped = (len(document[kind]) for kind in ("figures", "failed", "skipped"))
    return "\n".join(lines + [f"{passed} passed, {failed} failed, {skipped} skipped"])


def load():
    try:
        return f"{os.getloadavg()[0]:.2f}"
    except OSError:
        return "unreadable"


def commit():
    head = run(["git", "rev-parse", "HEAD"], cwd=ROOT)
    changes = run(["git", "status", "--porcelain"], cwd=ROOT)
    return {"commit": head or "unknown", "dirty": bool(changes) if changes is not None else True}


def parse(arguments):
    options = {"out": os.path.join(ROOT, "web/devices/measured"), "budget": "300", "build": "", "program": ""}
    flags = {"build-only": False}
    for argument in arguments:
        name, equals, value = argument.lstrip("-").partition("=")
        if argument.startswith("--") and equals and name in options and value:
            options[name] = value
        elif argument.startswith("--") and not equals and name in flags:
            flags[name] = True
        else:
            raise Stop(2, f"do not know {argument!r} (see --help)")
    try:
        options["budget"] = float(options["budget"])
    except ValueError:
        options["budget"] = 0.0
    if not 0 < options["budget"] < 1e6:
        raise Stop(2, "--budget wants a number of seconds above 0")
    return {**options, **flags}


def main(arguments):
    if "-h" in arguments or "--help" in arguments:
        print(__doc__.strip())
        return 0
    try:
        options = parse(arguments)
        deadline = time.monotonic() + options["budget"]
        # Where there is surely no GPU, nothing is built for it.
        if not options["build-only"] and not options["program"] and not glob.glob("/dev/nvidia[0-9]*"):
            if not run(["nvidia-smi", "-L"]):
                raise Stop(3, "there is no GPU: no /dev/nvidia0, and nvidia-smi lists none")
        with tempfile.TemporaryDirectory() as scratch:
            program, flags = options["program"], []
            compiler = "unknown"
            if not program:
                nvcc = find_nvcc()
                program, flags = build(options["build"] or scratch, nvcc)
                compiler = (run([nvcc, "--version"]) or "nvcc").splitlines()[-2].strip()
            if options["build-only"]:
                print(program)
                return 0
            before = {**gpu_state(), "load": load()}
            code, device, results = measure(program, deadline - time.monotonic(), ["--sustain"])
            after = {**gpu_state(), "load": load()}
        facts = {"compiler": compiler, "flags": " ".join(flags), "optimised": True, **commit()}
        document = record(device, results, facts, before, after, datetime.date.today().isoformat())
        path = write(document, options["out"])
        print(table(document))
        print(path)
        return code
    except Stop as stop:
        print(f"measure_gpu: {stop}", file=sys.stderr)
        return stop.code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
