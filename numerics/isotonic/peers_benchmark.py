# SPDX-License-Identifier: Apache-2.0
"""Isotonic regression against scikit-learn and R, in turns, in one run, on the same data.

usage: bazel run -c opt //numerics/isotonic:peers_benchmark -- [--help] [options]

Each repetition runs every contender once, in an order that turns; a ratio is the median over the
repetitions of that repetition's own quotient, with its quartiles. Before anything is timed the
results are compared. A contender sits a size out that would take it longer than --limit seconds a
fit, going by the sizes before. R times itself inside R. Peers that are missing are left out, saying
what to install.
"""

import argparse
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import assay

SHAPES = {
    "random": lambda rng, n: rng.standard_normal(n),
    "sorted": lambda rng, n: np.sort(rng.standard_normal(n)),
    "reversed": lambda rng, n: -np.sort(rng.standard_normal(n)),
    "blocky": lambda rng, n: np.repeat(rng.integers(0, 100, n // 50 + 1).astype(np.float64), 50)[:n],
    # As far up over the row as the noise is wide: some pooling everywhere.
    "trend": lambda rng, n: np.arange(n) * (8.0 / n) + rng.standard_normal(n),
    "weights": lambda rng, n: np.arange(n) * (8.0 / n) + rng.standard_normal(n),
}
CASES = [*SHAPES, "rows", "calibration", "predict"]
# A sample lasts at least this long; short fits are repeated within it.
SAMPLE_SECONDS = 0.01


class Contender:
    """Somebody who fits: `run(k)` does it k times and gives the seconds, `result()` the fit."""

    def __init__(self, name, call):
        self.name = name
        self.call = call

    def run(self, times):
        begin = time.perf_counter()
        for _ in range(times):
            self.call()
        return time.perf_counter() - begin

    def result(self):
        return self.call()


class R:
    """A persistent Rscript, see peers_benchmark.R."""

    def __init__(self):
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers_benchmark.R")
        self.process = subprocess.Popen(
            ["Rscript", "--vanilla", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.fits, self.versions = [], {}
        words = self.process.stdout.readline().split()
        self.fits = [word for word in words if word in ("isoreg", "isomean")]
        self.versions = dict(zip(("R", "fdrtool"), words[len(self.fits) :]))

    def ask(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        if not answer:
            raise RuntimeError("R has stopped; its own message stands above")
        return answer

    def load(self, y, w):
        with tempfile.NamedTemporaryFile() as file:
            y.astype(np.float64).tofile(file)
            (np.ones(len(y)) if w is None else w.astype(np.float64)).tofile(file)
            file.flush()
            self.ask("load", file.name, len(y))

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class RContender:
    def __init__(self, r, fit):
        self.name = {"isoreg": "R isoreg", "isomean": "R fdrtool"}[fit]
        self.r, self.fit = r, fit

    def run(self, times):
        return float(self.r.ask("time", self.fit, times))

    def result(self):
        with tempfile.NamedTemporaryFile() as file:
            self.r.ask("save", self.fit, file.name)
            return np.fromfile(file.name)


class Benchmark:
    def __init__(self, options, out):
        self.options = options
        self.out = out
        self.results = []
        self.r = None
        self.sklearn = None
        self.missing = []
        try:
            import sklearn.isotonic

            self.sklearn = sklearn
        except ImportError:
            self.missing.append("scikit-learn is missing: tools/setup installs it")
        try:
            self.r = R()
            if "isomean" not in self.r.fits:
                self.missing.append("R's fdrtool is missing: tools/setup --peers installs it")
        except FileNotFoundError:
            self.missing.append("R is missing: tools/setup --peers installs it")

    def say(self, text=""):
        print(text, file=self.out, flush=True)

    def machine(self):
        """The device and the software, as text by name."""
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            models = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
        found = {
            "cpu": models[0] if models else platform.machine(),
            "cpus": str(len(os.sched_getaffinity(0))),
            "memory_gib": f"{os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 2**30:.0f}",
            "load": f"{os.getloadavg()[0]:.1f}",
            "kernel": platform.release(),
            "python": platform.python_version(),
            "numpy": np.__version__,
        }
        if self.sklearn:
            found["scikit-learn"] = self.sklearn.__version__
        return found | (self.r.versions if self.r else {})

    def fits(self, shape):
        """The bare fit of a row of that shape, at all sizes."""
        seen = {}  # contender -> [(n, median seconds)]
        for n in self.options.sizes:
            rng = np.random.default_rng(n)
            y = SHAPES[shape](rng, n)
            w = rng.uniform(0.1, 1.1, n) if shape == "weights" else None
            contenders = [self.ours(threads, y, w) for threads in self.options.threads]
            if self.sklearn:
                contenders.append(
                    Contender(
                        "sklearn", lambda: self.sklearn.isotonic.isotonic_regression(y, sample_weight=w)
                    )
                )
            contenders += [RContender(self.r, fit) for fit in self.r.fits if w is None or fit != "isoreg"] if self.r else []
            kept = [contender for contender in contenders if self.can(contender.name, seen.get(contender.name), n)]
            if any(isinstance(contender, RContender) for contender in kept):
                self.r.load(y, w)
            for name, median in self.compare(shape, n, kept, tolerance(y)).items():
                seen.setdefault(name, []).append((n, median))
            if self.r:
                self.r.ask("drop")
        for name, times in seen.items():
            if len(times) > 1:
                self.say(f"    {name}: time grows as n^{growth(times):.2f} from {times[0][0]:,} to {times[-1][0]:,}")

    def ours(self, threads, y, w):
        return Contender(f"ours, {threads} thr.", lambda: assay.isotonic(y, w, threads=threads))

    def rows(self):
        count, n = self.options.rows
        rng = np.random.default_rng(1)
        y = rng.standard_normal((count, n), dtype=np.float32)
        w = rng.uniform(0.1, 1.1, (count, n)).astype(np.float32)
        contenders = [self.ours(threads, y, w) for threads in self.options.threads]
        if self.sklearn:
            fit = self.sklearn.isotonic.isotonic_regression
            contenders.append(
                Contender("sklearn, loop", lambda: np.stack([fit(a, sample_weight=b) for a, b in zip(y, w)]))
            )
        self.compare("rows", (count, n), contenders, tolerance(y))

    def scores(self):
        """Scores of a classifier that is overconfident, and what came true."""
        rng = np.random.default_rng(2)
        logits = 2 * rng.standard_normal(self.options.points)
        return 1 / (1 + np.exp(-logits)), (rng.random(len(logits)) < 1 / (1 + np.exp(-0.7 * logits))).astype(np.int64)

    def models(self):
        found = [
            (f"ours, {threads} thr.", assay.IsotonicRegression(out_of_bounds="clip", threads=threads))
            for threads in self.options.threads
        ]
        if self.sklearn:
            found.append(("sklearn", self.sklearn.isotonic.IsotonicRegression(out_of_bounds="clip")))
        return found

    def calibration(self):
        scores, labels = self.scores()
        grid = np.linspace(scores.min(), scores.max(), 10_001)

        def contender(name, model):
            made = Contender(name, lambda: model.fit(scores, labels))
            made.result = lambda: model.fit(scores, labels).predict(grid)
            return made

        self.compare("calibration", len(scores), [contender(*each) for each in self.models()], tolerance(labels))

    def predict(self):
        scores, labels = self.scores()
        queries = np.random.default_rng(3).permutation(scores)

        def contender(name, model):
            model.fit(scores, labels)
            return Contender(name, lambda: model.predict(queries))

        self.compare("predict", len(queries), [contender(*each) for each in self.models()], tolerance(labels))

    def can(self, name, times, n):
        """Whether a size is to be expected within the limit, going by the sizes before."""
        if not times or name.startswith("ours"):
            return True
        exponent = max(1.0, growth(times[-2:])) if len(times) > 1 else 1.0
        expected = times[-1][1] * (n / times[-1][0]) ** exponent
        if expected > self.options.limit:
            self.say(f"{name} sits out n = {n:,}: a fit would take about {expected:.0f} s")
        return expected <= self.options.limit

    def compare(self, case, n, contenders, allowed):
        """Checks that all agree, then times them in turns. Returns median seconds by name."""
        size = f"{n:,}" if isinstance(n, int) else " x ".join(map(str, n))
        reference = contenders[0].result()
        for contender in contenders[1:]:
            off = float(np.max(np.abs(np.asarray(contender.result(), np.float64) - reference)))
            if not off <= allowed:
                raise AssertionError(
                    f"{case}, n = {n}: {contender.name} and {contenders[0].name} differ by {off}, allowed {allowed}"
                )
        del reference
        first = {contender.name: contender.run(1) for contender in contenders}
        for name, seconds in first.items():
            if seconds > self.options.limit and not name.startswith("ours"):
                self.say(f"{name} sits out n = {size}: a fit takes {seconds:.0f} s")
                contenders = [contender for contender in contenders if contender.name != name]
        first = {contender.name: first[contender.name] for contender in contenders}
        times = {name: max(1, math.ceil(SAMPLE_SECONDS / max(seconds, 1e-9))) for name, seconds in first.items()}
        slowest = sum(max(first[name], SAMPLE_SECONDS) for name in first)
        repetitions = max(3, min(self.options.repetitions, int(self.options.budget / slowest)))
        samples = {contender.name: [] for contender in contenders}
        for repetition in range(repetitions):
            turn = repetition % len(contenders)
            for contender in contenders[turn:] + contenders[:turn]:
                samples[contender.name].append(contender.run(times[contender.name]) / times[contender.name])
        ours = contenders[0].name
        for name, seconds in samples.items():
            ratios = [theirs / own for theirs, own in zip(seconds, samples[ours])]
            low, _, high = quartiles(seconds)
            ratio_low, ratio, ratio_high = quartiles(ratios)
            self.say(
                f"{case:12} {size:>13} {name:15} {scaled(statistics.median(seconds)):>10}  "
                f"IQR {scaled(high - low):>10}  n {repetitions:3}  "
                f"{ratio:9.2f} x ours [{ratio_low:.2f}, {ratio_high:.2f}]"
            )
            self.results.append(
                {"case": case, "size": n, "contender": name, "fits_per_sample": times[name], "seconds": seconds}
            )
        return {name: statistics.median(seconds) for name, seconds in samples.items()}

    def run(self):
        machine = self.machine()
        for name, value in machine.items():
            self.say(f"{name}: {value}")
        for text in self.missing:
            self.say(text)
        self.say()
        try:
            for case in self.options.cases:
                if case in SHAPES:
                    self.fits(case)
                else:
                    getattr(self, case)()
        finally:
            if self.r:
                self.r.close()
        return {"machine": machine, "missing": self.missing, "results": self.results}


def tolerance(y):
    """How far two fits of y may lie apart: peers add up a block with a rounding for each element."""
    unit = np.finfo(y.dtype).eps if y.dtype.kind == "f" else np.finfo(np.float64).eps
    return float(unit * np.max(np.abs(y)) * y.shape[-1])


def growth(times):
    """The exponent of a power law through [(n, seconds)], by least squares of logarithms."""
    x, y = np.log([n for n, _ in times]), np.log([seconds for _, seconds in times])
    return float(np.polyfit(x, y, 1)[0])


def quartiles(values):
    return np.quantile(values, [0.25, 0.5, 0.75]).tolist()


def scaled(seconds):
    for unit, factor in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1 or unit == "us":
            return f"{seconds * factor:.3g} {unit}"


def options_of(arguments):
    def whole(text):
        return int(float(text))

    def wholes(text):
        return [whole(part) for part in text.split(",")]

    def names(text):
        found = text.split(",")
        wrong = set(found) - set(CASES)
        if wrong:
            raise argparse.ArgumentTypeError(f"no case {', '.join(sorted(wrong))}; there are {', '.join(CASES)}")
        return found

    parser = argparse.ArgumentParser(
        prog="bazel run //numerics/isotonic:peers_benchmark --",
        description=__doc__.split("\n\nusage")[0],
        epilog="100,000,000 elements need 24 GiB of memory.",
    )
    parser.add_argument("--cases", type=names, default=CASES, help="which of " + ",".join(CASES))
    parser.add_argument(
        "--sizes", type=wholes, default=wholes("1e3,1e4,1e5,1e6,1e7"), help="lengths of rows (1e3 to 1e7)"
    )
    parser.add_argument("--large", action="store_true", help="rows of 1e8 as well")
    parser.add_argument("--threads", type=wholes, default=[1, 2], help="of ours; the first is what ratios are to (1,2)")
    parser.add_argument("--points", type=whole, default=6_500_000, help="of calibration and predict (6.5e6)")
    parser.add_argument("--rows", type=lambda text: wholes(text.replace("x", ",")), default=[1000, 5000], help="1000x5000")
    parser.add_argument("--repetitions", type=whole, default=15, help="at most (15), at least 3")
    parser.add_argument("--budget", type=float, default=30, help="seconds for the repetitions of one line-up (30)")
    parser.add_argument("--limit", type=float, default=10, help="seconds that one fit may take (10)")
    parser.add_argument("--json", metavar="FILE", help="every sample, for records")
    options = parser.parse_args(arguments)
    if options.large:
        options.sizes = options.sizes + [100_000_000]
    return options


def main(arguments, out=sys.stdout):
    options = options_of(arguments)
    report = Benchmark(options, out).run()
    if options.json:
        target = os.path.join(os.environ.get("BUILD_WORKING_DIRECTORY", ""), options.json)
        with open(target + ".new", "w", encoding="utf-8") as file:
            json.dump(report, file, indent=1)
            file.write("\n")
        os.replace(target + ".new", target)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
