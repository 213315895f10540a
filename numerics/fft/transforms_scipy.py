# SPDX-License-Identifier: Apache-2.0
"""Our transforms and convolutions against scipy, in turns, in one run, on the same data.

usage: bazel run //numerics/fft:transforms_scipy -- [--help] [options]

Each repetition runs ours, in a process of its own, and scipy's once, in an order that turns; a ratio
is the median over the repetitions of that repetition's own quotient, with its quartiles. Times are
the CPU time of the thread. Before anything is timed the results are compared.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

try:
    import scipy
    import scipy.fft
    import scipy.signal
except ImportError:
    scipy = None

# A sample lasts at least this long; short runs are repeated within it.
SAMPLE_SECONDS = 0.005


def pair(rng, n, m):
    return rng.standard_normal(n), rng.standard_normal(m)


def images(rng, a, b):
    return rng.standard_normal(a), rng.standard_normal(b)


# name: (case of transforms_server, its numbers, operands, scipy's call)
def cases():
    fft, signal = scipy.fft, scipy.signal
    found = {}
    for n in (1000, 1024, 65536, 100000):
        found[f"dct2 {n}"] = ("dct2", [n], lambda r, n=n: [r.standard_normal(n)], lambda x: fft.dct(x, 2))
        found[f"dct4 {n}"] = ("dct4", [n], lambda r, n=n: [r.standard_normal(n)], lambda x: fft.dct(x, 4))
        found[f"dst1 {n}"] = ("dst1", [n], lambda r, n=n: [r.standard_normal(n)], lambda x: fft.dst(x, 1))
    for shape in ((64, 64), (256, 256), (1024, 1024), (1080, 1920)):
        text = "x".join(map(str, shape))
        found[f"dctn {text}"] = ("dctn", shape, lambda r, s=shape: [r.standard_normal(s)], lambda x: fft.dctn(x, 2))
        found[f"rfft2 {text}"] = ("rfft2", shape, lambda r, s=shape: [r.standard_normal(s)], fft.rfft2)
        found[f"fft2 {text}"] = (
            "fft2",
            shape,
            lambda r, s=shape: [r.standard_normal((*s, 2)).view(np.complex128)[..., 0]],
            fft.fft2,
        )
    for n, m in ((1000, 1000), (100000, 100000), (1000000, 64), (1000000, 1000)):
        for name, call in (("fftconvolve", signal.fftconvolve), ("oaconvolve", signal.oaconvolve)):
            found[f"{name} {n}x{m}"] = ("convolve", [n, m], lambda r, n=n, m=m: pair(r, n, m), call)
    for a, b in (((512, 512), (7, 7)), ((1080, 1920), (31, 31)), ((512, 512), (512, 512))):
        found[f"fftconvolve {a[0]}x{a[1]} {b[0]}x{b[1]}"] = (
            "convolve2d",
            [*a, *b],
            lambda r, a=a, b=b: images(r, a, b),
            lambda x, y: signal.fftconvolve(x, y, mode="same"),
        )
    return found


class Server:
    def __init__(self, folder):
        here = os.path.dirname(os.path.abspath(__file__))
        self.process = subprocess.Popen(
            [os.path.join(here, "transforms_server")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.folder = folder

    def ask(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        if not answer or answer.startswith("error"):
            raise RuntimeError(f"transforms_server: {answer or 'has stopped'}")
        return answer

    def prepare(self, case, numbers, operands):
        source, target = (os.path.join(self.folder, name) for name in ("in", "out"))
        with open(source, "wb") as file:
            for operand in operands:
                operand.tofile(file)
        self.ask("case", case, source, target, *numbers)
        return np.fromfile(target)

    def time(self, count):
        return float(self.ask("time", count))

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def timed(call, operands, count):
    begin = time.thread_time()
    for _ in range(count):
        call(*operands)
    return time.thread_time() - begin


def compare(server, name, case, repetitions, out):
    kind, numbers, make, call = case
    operands = make(np.random.default_rng(1))
    theirs = call(*operands)
    ours = server.prepare(kind, numbers, operands).view(theirs.dtype).reshape(theirs.shape)
    apart = np.linalg.norm(ours - theirs) / np.linalg.norm(theirs)
    if not apart < 1e-13:
        raise AssertionError(f"{name}: ours and scipy's differ by {apart}")
    counts = [
        max(1, int(SAMPLE_SECONDS / max(seconds, 1e-7))) for seconds in (server.time(1), timed(call, operands, 1))
    ]
    samples = []
    for repetition in range(repetitions):
        runs = [lambda: server.time(counts[0]) / counts[0], lambda: timed(call, operands, counts[1]) / counts[1]]
        order = (0, 1) if repetition % 2 == 0 else (1, 0)
        sample = [0.0, 0.0]
        for i in order:
            sample[i] = runs[i]()
        samples.append(sample)
    ours, theirs = np.median(samples, axis=0)
    low, ratio, high = np.quantile([b / a for a, b in samples], [0.25, 0.5, 0.75])
    print(
        f"{name:32} ours {ours * 1e6:11.2f} us  scipy {theirs * 1e6:11.2f} us  "
        f"n {repetitions:3}  scipy / ours {ratio:6.2f} [{low:.2f}, {high:.2f}]",
        file=out,
        flush=True,
    )
    return ratio


def main(arguments, out=sys.stdout):
    parser = argparse.ArgumentParser(prog="bazel run //numerics/fft:transforms_scipy --", description=__doc__)
    parser.add_argument("--filter", default="", help="only cases whose name holds this")
    parser.add_argument("--repetitions", type=int, default=15)
    options = parser.parse_args(arguments)
    if scipy is None:
        print("scipy is missing: tools/setup installs it", file=out)
        return 0
    print(f"scipy {scipy.__version__}, numpy {np.__version__}, load {os.getloadavg()[0]:.1f}", file=out)
    with tempfile.TemporaryDirectory() as folder:
        server = Server(folder)
        try:
            for name, case in cases().items():
                if options.filter in name:
                    compare(server, name, case, options.repetitions, out)
        finally:
            server.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
