# SPDX-License-Identifier: Apache-2.0
"""Sums, dot products, softmax and its loss against NumPy and PyTorch, in turns, on the same data.

usage: bazel run -c opt //numerics/floating/peers:peers_benchmark -- [--help] [options]

Each repetition runs every contender once, in an order that turns; a ratio is the median over the
repetitions of that repetition's own quotient, with its quartiles: above 1, ours is faster. Results
are compared before anything is timed. Contenders on one thread are timed by the thread's own clock,
the others by the wall. PyTorch allocates its result unless it says "out": what a caller of
torch.softmax pays, and what is left of it where the memory is there already.
"""

import argparse
import json
import os
import platform
import statistics
import sys
import time

# PyTorch's threads would spin on after their work, in the time of whoever comes next.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import numpy as np
import torch

import assay_floating as ours

SAMPLE_SECONDS = 0.005
CASES = ["sum", "dot", "softmax", "log_softmax", "cross_entropy"]


class Benchmark:
    def __init__(self, options, out):
        self.options, self.out, self.results = options, out, []

    def say(self, text=""):
        print(text, file=self.out, flush=True)

    def machine(self):
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            models = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
        return {
            "cpu": models[0] if models else platform.machine(),
            "cpus": str(len(os.sched_getaffinity(0))),
            "load": f"{os.getloadavg()[0]:.1f}",
            "numpy": np.__version__,
            "torch": torch.__version__,
        }

    def compare(self, case, size, threads, contenders, tolerance):
        """contenders: name -> call, ours first; tolerance: relative, of the largest element."""
        torch.set_num_threads(threads)
        reference = np.asarray(next(iter(contenders.values()))(), np.float64)
        for name, call in contenders.items():
            off = np.max(np.abs(np.asarray(call(), np.float64) - reference)) / np.max(np.abs(reference))
            if not off <= tolerance:
                raise AssertionError(f"{case} {size}: {name} differs by {off}, allowed {tolerance}")
        clock = time.thread_time if threads == 1 else time.perf_counter

        def run(call, times):
            begin = clock()
            for _ in range(times):
                call()
            return (clock() - begin) / times

        names = list(contenders)
        times = {name: max(1, int(SAMPLE_SECONDS / max(run(contenders[name], 1), 1e-7))) for name in names}
        samples = {name: [] for name in names}
        for repetition in range(self.options.repetitions):
            turn = repetition % len(names)
            for name in names[turn:] + names[:turn]:
                samples[name].append(run(contenders[name], times[name]))
        for name in names:
            ratios = [theirs / mine for theirs, mine in zip(samples[name], samples[names[0]])]
            low, ratio, high = np.quantile(ratios, [0.25, 0.5, 0.75])
            self.say(
                f"{case:24} {size:>12} {threads} thr. {name:18} {1e6 * statistics.median(samples[name]):11.1f} us"
                f"  {ratio:7.2f} x ours [{low:.2f}, {high:.2f}]"
            )
            self.results.append({"case": case, "size": size, "threads": threads, "contender": name, "seconds": samples[name]})

    def growth(self, case):
        """The exponent of a power law through the medians of a case, by contender."""
        if len(self.options.sizes) < 2:
            return
        seen = {}
        for result in self.results:
            if result["case"] == case:
                seen.setdefault(result["contender"], []).append((result["size"], statistics.median(result["seconds"])))
        for name, points in seen.items():
            exponent = np.polyfit(*np.log(np.array(points).T), 1)[0]
            self.say(f"    {name}: time grows as n^{exponent:.2f} from {points[0][0]:,} to {points[-1][0]:,}")

    def sum(self):
        for dtype in (np.float32, np.float64):
            for n in self.options.sizes:
                x = np.random.default_rng(n).random(n).astype(dtype)
                contenders = {"ours, pairwise": lambda x=x: ours.sum(x, "pairwise"), "numpy": lambda x=x: x.sum()}
                for method in ("naive", "kahan", "neumaier", "exact"):
                    contenders["ours, " + method] = lambda x=x, method=method: ours.sum(x, method)
                contenders["torch"] = lambda t=torch.from_numpy(x): t.sum().item()
                self.compare("sum " + np.dtype(dtype).name, n, 1, contenders, n * float(np.finfo(dtype).eps))
            self.growth("sum " + np.dtype(dtype).name)

    def dot(self):
        for dtype in (np.float32, np.float64):
            for n in self.options.sizes:
                rng = np.random.default_rng(n)
                x, y = rng.random(n).astype(dtype), rng.random(n).astype(dtype)
                contenders = {
                    "ours, dot": lambda x=x, y=y: ours.dot(x, y),
                    "ours, dot2": lambda x=x, y=y: ours.dot2(x, y),
                    "ours, exact": lambda x=x, y=y: ours.exact_dot(x, y),
                    "torch": lambda x=torch.from_numpy(x), y=torch.from_numpy(y): torch.dot(x, y).item(),
                }
                self.compare("dot " + np.dtype(dtype).name, n, 1, contenders, n * float(np.finfo(dtype).eps))
            self.growth("dot " + np.dtype(dtype).name)

    def logits(self):
        rows, cols = self.options.rows
        return np.random.default_rng(1).standard_normal((rows, cols), dtype=np.float32)

    def softmax_of(self, name):
        x = self.logits()
        out = np.empty_like(x)
        t, t_out = torch.from_numpy(x), torch.empty(x.shape)
        mine = getattr(ours, name)
        theirs = getattr(torch, name)
        inner = getattr(torch, "_" + name)  # the same function with a place for its result
        for threads in self.options.threads:
            self.compare(
                name,
                "x".join(map(str, x.shape)),
                threads,
                {
                    "ours": lambda: mine(x, out, threads)[0],
                    "ours, in double": lambda: mine(x, out, threads, "double")[0],
                    "torch": lambda: theirs(t, 1)[0].numpy(),
                    "torch, out": lambda: inner(t, 1, False, out=t_out)[0].numpy(),
                },
                1e-5,
            )

    def softmax(self):
        self.softmax_of("softmax")

    def log_softmax(self):
        self.softmax_of("log_softmax")

    def cross_entropy(self):
        x = self.logits()
        targets = np.random.default_rng(2).integers(0, x.shape[1], len(x)).astype(np.int32)
        gradient = np.empty_like(x)
        t, t_targets = torch.from_numpy(x), torch.from_numpy(targets.astype(np.int64))
        with_gradient = t.clone().requires_grad_()

        def train():
            with_gradient.grad = None
            loss = torch.nn.functional.cross_entropy(with_gradient, t_targets)
            loss.backward()
            return loss.item()

        size = "x".join(map(str, x.shape))
        for threads in self.options.threads:
            self.compare(
                "cross_entropy",
                size,
                threads,
                {
                    "ours": lambda: ours.cross_entropy(x, targets, threads=threads),
                    "torch": lambda: torch.nn.functional.cross_entropy(t, t_targets).item(),
                },
                1e-5,
            )
            self.compare(
                "cross_entropy, gradient",
                size,
                threads,
                {
                    "ours": lambda: ours.cross_entropy(x, targets, gradient=gradient, threads=threads),
                    "torch": train,
                },
                1e-5,
            )

    def run(self):
        machine = self.machine()
        for name, value in machine.items():
            self.say(f"{name}: {value}")
        self.say()
        for case in self.options.cases:
            getattr(self, case)()
        return {"machine": machine, "results": self.results}


def main(arguments, out=sys.stdout):
    def wholes(text):
        return [int(float(part)) for part in text.replace("x", ",").split(",")]

    def names(text):
        found = text.split(",")
        if set(found) - set(CASES):
            raise argparse.ArgumentTypeError(f"there are {', '.join(CASES)}")
        return found

    parser = argparse.ArgumentParser(
        prog="bazel run //numerics/floating/peers:peers_benchmark --", description=__doc__.split("\n\nusage")[0]
    )
    parser.add_argument("--cases", type=names, default=CASES, help="which of " + ",".join(CASES))
    parser.add_argument("--sizes", type=wholes, default=[2048, 1 << 17, 1 << 24], help="of sums and dot products")
    parser.add_argument("--rows", type=wholes, default=[4096, 4096], help="4096x4096")
    parser.add_argument("--threads", type=wholes, default=[1, 2], help="1,2")
    parser.add_argument("--repetitions", type=int, default=15)
    parser.add_argument("--json", metavar="FILE", help="every sample")
    options = parser.parse_args(arguments)
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
