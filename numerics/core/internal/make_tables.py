#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Prints tables.inc, the constants of elementary.cc (needs mpmath).

Run: make_tables.py | clang-format-14 --assume-filename=tables.cc > tables.inc
"""

from mpmath import erf, floor, log, mp, mpf, nint, pi, cos

mp.prec = 1400


def double(x):
    """x rounded to the nearest double."""
    with mp.workprec(53):
        return +mpf(x)


def text(x):
    return float(x).hex()


def polynomial(f, width, degree):
    """Coefficients of the polynomial that meets f at the Chebyshev nodes of [-width, width]."""
    nodes = [width * cos(pi * (2 * k + 1) / (2 * degree + 2)) for k in range(degree + 1)]
    divided = [f(x) for x in nodes]
    for step in range(1, degree + 1):
        for k in range(degree, step - 1, -1):
            divided[k] = (divided[k] - divided[k - 1]) / (nodes[k] - nodes[k - step])
    coefficients = [mpf(0)]
    for k in range(degree, -1, -1):
        shifted = [mpf(0)] + coefficients
        for i, c in enumerate(coefficients):
            shifted[i] -= nodes[k] * c
        shifted[0] += divided[k]
        coefficients = shifted
    return coefficients[: degree + 1]


def print_erf():
    print("// Row i serves erf(c + t), c = (i + 2.5) / 4 and |t| <= 1/8: the high and low part of erf(c), then")
    print("// the slope at c in 40 bits, so that its product with a short t is exact, and the coefficients of")
    print("// t, ..., t^12 of the polynomial through the Chebyshev nodes, the first without the slope.")
    print("struct ErfRow {")
    print("  double high;")
    print("  double low;")
    print("  double slope;")
    print("  double series[12];")
    print("};")
    print("constexpr ErfRow kErf[22] = {")
    mp.prec = 300
    for i in range(22):
        center = mpf(2 * i + 5) / 8
        p = polynomial(lambda t: erf(center + t), mpf(1) / 8, 12)
        high = double(p[0])
        with mp.workprec(40):
            slope = +p[1]
        series = ", ".join(text(double(c)) for c in [p[1] - slope] + p[2:])
        row = (text(high), text(double(p[0] - high)), text(slope), series)
        print("    {%s, %s, %s, {%s}}," % row)
    print("};")


def print_log():
    print()
    print("// Row i serves log(c (1 + r)): 1/c in 13 bits, so that m / c - 1 is exact in two doubles, and log(c)")
    print("// in two doubles, the first a multiple of 2^-42. The 128 intervals of m are equal steps of its bits")
    print("// from those of kLogStart on; those that touch 1 have c = 1, which keeps log accurate near 1.")
    start = mpf(0x6955500000000) / 2**52
    print("constexpr uint64_t kLogStart = 0x3fe6955500000000;")
    print("constexpr double kLog[128][3] = {")
    mp.prec = 300

    def value(fraction):  # of the bits that lie `fraction` binades after 0.5
        return (1 + fraction) / 2 if fraction < 1 else fraction

    worst = 0
    for i in range(128):
        a, b = value(start + mpf(i) / 128), value(start + mpf(i + 1) / 128)
        if a < 1.001 and b > 0.999:
            inverse = mpf(1)
        else:
            with mp.workprec(13):
                inverse = 2 / (a + b)
        worst = max(worst, abs(a * inverse - 1), abs(b * inverse - 1))
        high = nint(-log(inverse) * 2**42) / 2**42
        low = double(-log(inverse) - high)
        print("    {%s, %s, %s}," % (text(inverse), text(high), text(low)))
    print("};")
    print("constexpr double kLogLargestR = %s;" % text(worst))


def print_two_over_pi():
    print()
    print("// 2/pi in binary: a word of zeros, then the first 19 words of its fraction.")
    print("constexpr uint64_t kTwoOverPi[20] = {")
    mp.prec = 1400
    rest = 2 / pi
    words = ["0x0000000000000000"]
    for _ in range(19):
        rest *= 2**64
        words.append("0x%016x" % int(floor(rest)))
        rest -= floor(rest)
    for i in range(0, 20, 4):
        print("    " + ", ".join(words[i : i + 4]) + ",")
    print("};")


print("// SPDX-License-Identifier: Apache-2.0")
print("// Made by make_tables.py; included inside a namespace by elementary.cc.")
print_erf()
print_log()
print_two_over_pi()
