// SPDX-License-Identifier: Apache-2.0
#include "numerics/core/elementary.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "numerics/core/bits.h"

namespace assay {
namespace {

// Highway's vocabulary for one lane, so that kernels-inl.h serves scalars.
struct Lane {};
struct UintLane {};
template <class D>
using UintTag = UintLane;

#define ASSAY_KERNEL_INLINE [[gnu::always_inline]] inline

ASSAY_KERNEL_INLINE double Set(Lane, double x) { return x; }
ASSAY_KERNEL_INLINE uint64_t Set(UintLane, uint64_t x) { return x; }
ASSAY_KERNEL_INLINE uint64_t BitCast(UintLane, double x) { return FloatBits(x); }
ASSAY_KERNEL_INLINE double BitCast(Lane, uint64_t x) { return DoubleFromBits(x); }
ASSAY_KERNEL_INLINE bool RebindMask(Lane, bool mask) { return mask; }
ASSAY_KERNEL_INLINE double IfThenElse(bool mask, double yes, double no) { return mask ? yes : no; }
ASSAY_KERNEL_INLINE uint64_t And(uint64_t a, uint64_t b) { return a & b; }
ASSAY_KERNEL_INLINE uint64_t Or(uint64_t a, uint64_t b) { return a | b; }
ASSAY_KERNEL_INLINE uint64_t Xor(uint64_t a, uint64_t b) { return a ^ b; }
template <int kBits>
ASSAY_KERNEL_INLINE uint64_t ShiftLeft(uint64_t x) {
  return x << kBits;
}
template <int kBits>
ASSAY_KERNEL_INLINE uint64_t ShiftRight(uint64_t x) {
  return x >> kBits;
}

#include "numerics/core/internal/kernels-inl.h"
#include "numerics/core/internal/tables.inc"

constexpr Lane kLane;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr float kNanF = std::numeric_limits<float>::quiet_NaN();

double Magnitude(double x) { return DoubleFromBits(FloatBits(x) & uint64_t{0x7fffffffffffffff}); }
double WithSignOf(double magnitude, double x) {
  return DoubleFromBits(FloatBits(magnitude) | (FloatBits(x) & uint64_t{0x8000000000000000}));
}

// A value as the unevaluated sum high + low.
struct Pair {
  double high;
  double low;
};

// a + b exactly. Source: Knuth, TAOCP vol. 2, 4.2.2 theorem B.
Pair TwoSum(double a, double b) {
  const double sum = a + b;
  const double from_b = sum - a;
  return {sum, (a - (sum - from_b)) + (b - from_b)};
}

// The same for |a| >= |b| or a = 0. Source: Dekker 1971.
Pair FastTwoSum(double a, double b) {
  const double sum = a + b;
  return {sum, (a - sum) + b};
}

// a as the sum of two numbers of at most 26 bits.
Pair Split(double a) {
  const double scaled = 134217729.0 * a;  // 2^27 + 1
  const double high = scaled - (scaled - a);
  return {high, a - high};
}

// a b exactly, unless an intermediate overflows or the low part underflows. Source: Dekker 1971.
Pair TwoProduct(double a, double b) {
  const double product = a * b;
  const Pair x = Split(a);
  const Pair y = Split(b);
  return {product, ((x.high * y.high - product) + x.high * y.low + x.low * y.high) + x.low * y.low};
}

// e^x - 1 for -40 <= x <= 46 as a pair, relative error below 2^-55.
Pair Expm1Pair(double x) {
  const double n = RoundToInteger(kLane, x * kLog2E);
  const double high = x - n * kLn2High;  // exact
  const double w = n * kLn2Low;
  const double r = high - w;
  const double c = (high - r) - w;
  const double r_short = Short(kLane, r);
  const double square = (0.5 * r_short) * r_short;  // exact
  const double square_rest = (0.5 * (r - r_short)) * (r + r_short);
  const double rest = (c + c * r) + (square_rest + ((r * r) * r) * Polynomial(kLane, kExp64, r));
  const double scale = PowerOfTwo(kLane, n);
  const Pair base = TwoSum(scale, -1.0);
  const Pair linear = TwoSum(base.high, scale * r);
  const Pair sum = FastTwoSum(linear.high, scale * square);
  return FastTwoSum(sum.high, (sum.low + (linear.low + base.low)) + scale * rest);
}

// log(x) for finite x > 0 as a pair, relative error below 2^-67.
Pair LogPair(double x) {
  double e = 0.0;
  if (x < 0x1p-1022) {
    x *= 0x1p54;
    e = -54.0;
  }
  const uint64_t shifted = FloatBits(x) - kLogStart;
  const double* const row = kLog[(shifted >> 45) & 127];
  const uint64_t exponent = shifted & uint64_t{0xfff0000000000000};
  e += static_cast<double>(static_cast<int64_t>(exponent) >> 52);
  const double m = DoubleFromBits(FloatBits(x) - exponent);

  // r = m / c - 1 exactly: 1/c has 13 bits, so the products with 40 and 13 bits of m are exact.
  const double m_high = DoubleFromBits(FloatBits(m) & uint64_t{0xffffffffffffe000});
  const double inverse = row[0];
  const Pair r = FastTwoSum(m_high * inverse - 1.0, (m - m_high) * inverse);

  const double main = e * kLn2High + row[1];  // exact: multiples of 2^-42 below 2^10
  const Pair first = FastTwoSum(main, r.high);
  const Pair square = TwoProduct(r.high, r.high);
  const Pair second = FastTwoSum(first.high, -0.5 * square.high);
  constexpr double kSeries[6] = {0x1.555555555555dp-2, -0x1.000000000000bp-2,
                                 0x1.9999999665847p-3, -0x1.55555551a7e67p-3,
                                 0x1.24955a37407bap-3, -0x1.00030cef455a3p-3};
  const double cubic = (square.high * r.high) * Polynomial(kLane, kSeries, r.high);
  const double low =
      (((e * kLn2Low + row[2]) + (r.low - r.high * r.low)) + (first.low + second.low)) +
      (cubic - 0.5 * square.low);
  return FastTwoSum(second.high, low);
}

// x - n pi/2 as a pair, and n mod 4, for |x| < kReduceLimit.
struct Reduced {
  Pair angle;  // within pi/4 and a little
  int quadrant;
};
Reduced ReduceMedium(double x) {
  const double n = RoundToInteger(kLane, x * kTwoOverPiDouble);
  // Each product with n is exact, as is the first difference; the others keep their errors.
  const Pair a = TwoSum(x - n * kHalfPi1, -(n * kHalfPi2));
  const Pair b = TwoSum(a.high, -(n * kHalfPi3));
  const double low = (a.low + b.low) - n * kHalfPi4;
  return {FastTwoSum(b.high, low), static_cast<int>(static_cast<int64_t>(n) & 3)};
}

// The same for any finite x >= kReduceLimit. x = m 2^e with an integer m, so the bits of 2/pi that
// stand for multiples of 4 in x 2/pi can be left out; the next 192 give the quadrant and enough of
// the fraction for the double closest to a multiple of pi/2, which cancels 62 bits.
// Source: Payne, Hanek, "Radian reduction for trigonometric functions", SIGNUM 1983.
Reduced ReduceHuge(double x) {
  const uint64_t bits = FloatBits(x);
  const uint64_t m = (bits & uint64_t{0x000fffffffffffff}) | uint64_t{0x0010000000000000};
  const int e = static_cast<int>(bits >> 52) - 1075;  // from -32 to 971
  const int position = e - 2 + 64;                    // of the first bit wanted in kTwoOverPi
  const int word = position / 64;
  const int shift = position % 64;
  uint64_t window[3];
  for (int i = 0; i < 3; ++i) {
    const uint64_t high = kTwoOverPi[word + i] << shift;
    window[i] = shift == 0 ? high : high | kTwoOverPi[word + i + 1] >> (64 - shift);
  }
  // m times the window, modulo 2^192: the top two bits are the quadrant.
  const Wide128 p2 = MultiplyWide(m, window[2]);
  const Wide128 p1 = MultiplyWide(m, window[1]);
  uint64_t f2 = p2.low;
  uint64_t f1 = p1.low + p2.high;
  uint64_t f0 = m * window[0] + p1.high + (f1 < p1.low ? 1 : 0);
  const int quadrant = static_cast<int>((f0 + (uint64_t{1} << 61)) >> 62);
  // What remains, as a signed fraction of a quadrant in [-1/2, 1/2).
  f0 = f0 << 2 | f1 >> 62;
  f1 = f1 << 2 | f2 >> 62;
  f2 <<= 2;
  const bool negative = f0 >> 63 != 0;
  if (negative) {
    f2 = ~f2 + 1;
    f1 = ~f1 + (f2 == 0 ? 1 : 0);
    f0 = ~f0 + (f2 == 0 && f1 == 0 ? 1 : 0);
  }
  int leading = 0;
  if (f0 == 0) {
    f0 = f1;
    f1 = f2;
    f2 = 0;
    leading = 64;
  }
  const int zeros = f0 == 0 ? 0 : std::countl_zero(f0);
  if (zeros != 0) {
    f0 = f0 << zeros | f1 >> (64 - zeros);
    f1 = f1 << zeros | f2 >> (64 - zeros);
  }
  leading += zeros;
  // The first 53 bits and the next 53, each exact in a double.
  const double unit = DoubleFromBits(static_cast<uint64_t>(1023 - 53 - leading) << 52);
  const double high = static_cast<double>(static_cast<int64_t>(f0 >> 11)) * unit;
  const double low =
      static_cast<double>(static_cast<int64_t>((f0 & 0x7ff) << 42 | f1 >> 22)) * (unit * 0x1p-53);
  constexpr double kHalfPi = 0x1.921fb54442d18p0;
  constexpr double kHalfPiLow = 0x1.1a62633145c07p-54;
  const Pair product = TwoProduct(high, kHalfPi);
  const Pair angle = FastTwoSum(product.high, product.low + (high * kHalfPiLow + low * kHalfPi));
  return {negative ? Pair{-angle.high, -angle.low} : angle, quadrant};
}

Reduced Reduce(double x) {
  const double magnitude = Magnitude(x);
  if (magnitude < kReduceLimit) return ReduceMedium(x);
  const Reduced r = ReduceHuge(magnitude);
  if (x >= 0.0) return r;
  return {{-r.angle.high, -r.angle.low}, (4 - r.quadrant) & 3};
}

// sin(angle + quadrant pi/2).
double SinOfQuadrant(const Pair& angle, int quadrant) {
  const double value = (quadrant & 1) != 0 ? CosKernel64(kLane, angle.high, angle.low)
                                           : SinKernel64(kLane, angle.high, angle.low);
  return (quadrant & 2) != 0 ? -value : value;
}

// Both at once, without branches: quadrants are hard to predict.
void SinCosOfQuadrant(const Pair& angle, int quadrant, double* sine, double* cosine) {
  const double s = SinKernel64(kLane, angle.high, angle.low);
  const double c = CosKernel64(kLane, angle.high, angle.low);
  const double a = (quadrant & 1) != 0 ? c : s;
  const double b = (quadrant & 1) != 0 ? s : c;
  *sine = (quadrant & 2) != 0 ? -a : a;
  *cosine = ((quadrant + 1) & 2) != 0 ? -b : b;
}

float SinOfQuadrant32(double angle, int quadrant) {
  const double value = (quadrant & 1) != 0 ? CosKernel32(kLane, angle) : SinKernel32(kLane, angle);
  return static_cast<float>((quadrant & 2) != 0 ? -value : value);
}

// |x| = 2 k + half n + r, for |x| < 2^53, with integers k and n and |r| <= 1/4: r exactly, n mod 4.
struct HalfTurns {
  double rest;
  int quadrant;
};
HalfTurns ReduceHalfTurns(double magnitude) {
  const int64_t k = static_cast<int64_t>(magnitude * 0.5);
  const double t = magnitude - 2.0 * static_cast<double>(k);
  const double n = RoundToInteger(kLane, t + t);
  return {t - 0.5 * n, static_cast<int>(n) & 3};
}

bool IsInteger(double y) {
  const double magnitude = Magnitude(y);
  return magnitude >= 0x1p53 || static_cast<double>(static_cast<int64_t>(magnitude)) == magnitude;
}
bool IsOddInteger(double y) {
  const double magnitude = Magnitude(y);
  return magnitude < 0x1p53 && IsInteger(y) && (static_cast<int64_t>(magnitude) & 1) != 0;
}

// x^y with all special cases; core(x, y) is x^y for finite x > 0 other than 1 and finite y other
// than 0.
template <class Core>
double PowWith(double x, double y, Core core) {
  if (y == 0.0 || x == 1.0) return 1.0;
  if (x != x || y != y) return kNan;
  const double magnitude = Magnitude(x);
  if (Magnitude(y) == kInfinity) {
    if (magnitude == 1.0) return 1.0;
    return (magnitude > 1.0) == (y > 0.0) ? kInfinity : 0.0;
  }
  const bool negative = FloatBits(x) >> 63 != 0;
  const bool negate = negative && IsOddInteger(y);
  double value;
  if (magnitude == 0.0 || magnitude == kInfinity) {
    value = (magnitude == 0.0) == (y < 0.0) ? kInfinity : 0.0;
  } else if (negative && !IsInteger(y)) {
    return kNan;
  } else {
    value = magnitude == 1.0 ? 1.0 : core(magnitude, y);
  }
  return negate ? -value : value;
}

double PowCore64(double x, double y) {
  // |log x| >= 2^-53, so that beyond 2^66 the result is out of range.
  if (Magnitude(y) > 0x1p66) return (x > 1.0) == (y > 0.0) ? kInfinity : 0.0;
  const Pair log = LogPair(x);
  const Pair product = TwoProduct(y, log.high);
  if (product.high > 710.0) return kInfinity;
  if (product.high < -746.0) return 0.0;
  return Exp64(kLane, product.high, product.low + y * log.low);
}

double PowCore32(double x, double y) { return Exp32(kLane, y * Log64(kLane, x)); }

}  // namespace

// Negative numbers and NaN are told by their bits: clang takes all NaNs for equal, and would drop a
// choice between the canonical one and the square root of a NaN.
float Sqrt(float x) {
  const uint32_t bits = FloatBits(x);
  return bits > 0x7f800000u && bits != 0x80000000u ? kNanF : std::sqrt(x);
}
double Sqrt(double x) {
  const uint64_t bits = FloatBits(x);
  return bits > uint64_t{0x7ff0000000000000} && bits != uint64_t{0x8000000000000000} ? kNan
                                                                                     : std::sqrt(x);
}

float Exp(float x) { return x != x ? kNanF : static_cast<float>(Exp32(kLane, double{x})); }
double Exp(double x) { return NanAsCanonical(kLane, x, Exp64(kLane, x, 0.0)); }

float Expm1(float x) {
  if (x != x) return kNanF;
  if (x == 0.0f) return x;
  double clamped = x < 110.0f ? double{x} : 110.0;
  clamped = clamped > -110.0 ? clamped : -110.0;
  return static_cast<float>(Expm1For32(kLane, clamped));
}
double Expm1(double x) {
  if (x != x) return kNan;
  if (Magnitude(x) < 0x1p-54) return x;
  if (x > 45.0) return Exp(x);  // 1 is less than 2^-64 of it
  if (x < -40.0) return -1.0;
  return Expm1Pair(x).high;
}

float Log(float x) {
  const double y = Log32(kLane, double{x});
  return y != y ? kNanF : static_cast<float>(y);
}
double Log(double x) { return Log64(kLane, x); }

float Log1p(float x) {
  const double wide = x;
  if (x < -1.0f || x != x) return kNanF;
  if (x == 0.0f) return x;
  if (wide > -0.29 && wide < 0.41) {
    return static_cast<float>(LogOfParts32(kLane, 0.0, wide));
  }
  return static_cast<float>(Log32(kLane, 1.0 + wide));  // exact while it matters: |x| > 2^-2
}
double Log1p(double x) {
  if (x < -1.0 || x != x) return kNan;
  if (x == -1.0) return -kInfinity;
  if (Magnitude(x) < 0x1p-54 || x == kInfinity) return x;
  if (x > -0.29 && x < 0.41) return LogOfParts64(kLane, 0.0, x, 0.0);
  const Pair u = TwoSum(1.0, x);
  double e, m;
  SplitExponent(kLane, u.high, 0.0, &e, &m);
  return LogOfParts64(kLane, e, m - 1.0, u.low / u.high);
}

float Sin(float x) {
  const double wide = x;
  const double magnitude = Magnitude(wide);
  if (magnitude < kReduceLimit) {
    if (x == 0.0f) return x;
    double sine, cosine;
    SinCos32(kLane, wide, &sine, &cosine);
    return static_cast<float>(sine);
  }
  if (!(magnitude < kInfinity)) return kNanF;
  const Reduced r = Reduce(wide);
  return SinOfQuadrant32(r.angle.high, r.quadrant);
}
double Sin(double x) {
  const double magnitude = Magnitude(x);
  if (magnitude < 0.785) return magnitude < 0x1p-27 ? x : SinKernel64(kLane, x, 0.0);
  if (!(magnitude < kInfinity)) return kNan;
  const Reduced r = Reduce(x);
  return SinOfQuadrant(r.angle, r.quadrant);
}

float Cos(float x) {
  const double wide = x;
  const double magnitude = Magnitude(wide);
  if (magnitude < kReduceLimit) {
    double sine, cosine;
    SinCos32(kLane, wide, &sine, &cosine);
    return static_cast<float>(cosine);
  }
  if (!(magnitude < kInfinity)) return kNanF;
  const Reduced r = Reduce(wide);
  return SinOfQuadrant32(r.angle.high, r.quadrant + 1);
}
double Cos(double x) {
  const double magnitude = Magnitude(x);
  if (magnitude < 0.785) return CosKernel64(kLane, x, 0.0);
  if (!(magnitude < kInfinity)) return kNan;
  const Reduced r = Reduce(x);
  return SinOfQuadrant(r.angle, r.quadrant + 1);
}

void SinCosPi(float x, float* sine, float* cosine) {
  const double wide = x;
  const double magnitude = Magnitude(wide);
  if (!(magnitude < kInfinity)) {
    *sine = *cosine = kNanF;
    return;
  }
  if (magnitude >= 0x1p24) {  // an even integer
    *sine = static_cast<float>(WithSignOf(0.0, wide));
    *cosine = 1.0f;
    return;
  }
  const HalfTurns r = ReduceHalfTurns(magnitude);
  constexpr double kPi = 0x1.921fb54442d18p1;
  const float s = SinOfQuadrant32(kPi * r.rest, r.quadrant);
  const float c = SinOfQuadrant32(kPi * r.rest, r.quadrant + 1);
  *sine = s == 0.0f ? static_cast<float>(WithSignOf(0.0, wide)) : (x < 0.0f ? -s : s);
  *cosine = c == 0.0f ? 0.0f : c;
}
void SinCosPi(double x, double* sine, double* cosine) {
  const double magnitude = Magnitude(x);
  constexpr double kPi = 0x1.921fb54442d18p1;
  constexpr double kPiLow = 0x1.1a62633145c07p-53;
  if (!(magnitude < kInfinity)) {
    *sine = *cosine = kNan;
    return;
  }
  if (magnitude >= 0x1p53) {  // an even integer
    *sine = WithSignOf(0.0, x);
    *cosine = 1.0;
    return;
  }
  if (x == 0.0) {
    *sine = x;
    *cosine = 1.0;
    return;
  }
  if (magnitude < 0x1p-200) {
    // Away from the subnormals, where the product's low part would be lost.
    const Pair product = TwoProduct(x * 0x1p300, kPi);
    *sine = (product.high + (product.low + x * 0x1p300 * kPiLow)) * 0x1p-300;
    *cosine = 1.0;
    return;
  }
  const HalfTurns r = ReduceHalfTurns(magnitude);
  const Pair product = TwoProduct(r.rest, kPi);
  const Pair angle = FastTwoSum(product.high, product.low + r.rest * kPiLow);
  double s, c;
  SinCosOfQuadrant(angle, r.quadrant, &s, &c);
  *sine = s == 0.0 ? WithSignOf(0.0, x) : (x < 0.0 ? -s : s);
  *cosine = c == 0.0 ? 0.0 : c;
}

float Tanh(float x) { return x != x ? kNanF : static_cast<float>(Tanh32(kLane, double{x})); }
double Tanh(double x) {
  if (x != x) return kNan;
  const double magnitude = Magnitude(x);
  if (magnitude < 0x1p-28) return x;
  if (magnitude > 22.0) return WithSignOf(1.0, x);
  const Pair t = Expm1Pair(magnitude + magnitude);
  const Pair sum = TwoSum(t.high, 2.0);
  const double quotient = t.high / sum.high;
  const Pair product = TwoProduct(quotient, sum.high);
  const double rest =
      ((t.high - product.high) - product.low) + (t.low - quotient * (sum.low + t.low));
  return WithSignOf(quotient + rest / sum.high, x);
}

float Erf(float x) { return x != x ? kNanF : static_cast<float>(Erf(double{x})); }
double Erf(double x) {
  if (x != x) return kNan;
  if (x == 0.0) return x;
  const double magnitude = Magnitude(x);
  if (magnitude < 0.5) {
    // erf(x) = x + kLinear x + kCubic x^3 + x P(x^2), relative error 2^-64. 2/sqrt(pi) - 1 is led
    // by 24 bits, whose product with 29 bits of x is exact, and the next coefficient by 20 bits;
    // the first two coefficients of P are their rests.
    constexpr double kLinear = 0x1.06eba8p-3;
    constexpr double kCubic = -0x1.81274p-2;
    constexpr double kRest[11] = {
        0x1.0a6db446b8ea4p-30,  -0x1.812746b0379e7p-2 - kCubic, 0x1.ce2f21a042c58p-4,
        -0x1.b82ce3128e02fp-6,  0x1.565bcd105eb9cp-8,           -0x1.c02db4d6d8fefp-11,
        0x1.f9a35f854ad6cp-14,  -0x1.f4db9e8e31eccp-17,         0x1.bad050d774236p-20,
        -0x1.6bdbcfd316268p-23, 0x1.3c00e3f045b93p-26};
    // Products need their low bits below, which subnormal results lack.
    if (magnitude < 0x1p-1018) return x + x * (kLinear + kRest[0]);
    const double z = x * x;
    const double x_high = DoubleFromBits(FloatBits(x) & uint64_t{0xffffffffff000000});
    const double x_short = Short(kLane, x);
    const double square = x_short * x_short;
    const Pair linear = FastTwoSum(x, x_high * kLinear);
    const Pair sum = FastTwoSum(linear.high, (x_short * square) * kCubic);
    const double linear_rest = (x - x_high) * kLinear;
    const double cubic_rest = ((x - x_short) * ((z + x * x_short) + square)) * kCubic;
    const double rest = (cubic_rest + x * Polynomial(kLane, kRest, z)) + linear_rest;
    return sum.high + ((sum.low + linear.low) + rest);
  }
  if (magnitude >= 6.0) return WithSignOf(1.0, x);
  const int i = static_cast<int>(magnitude * 4.0) - 2;
  const ErfRow& row = kErf[i];
  const double t = magnitude - 0.25 * (static_cast<double>(i) + 2.5);
  const double t_short = Short(kLane, t);
  const Pair sum = FastTwoSum(row.high, t_short * row.slope);  // an exact product
  const double rest = (t - t_short) * row.slope + t * Polynomial(kLane, row.series, t);
  return WithSignOf(sum.high + ((sum.low + row.low) + rest), x);
}

float Pow(float x, float y) {
  const double value = PowWith(x, y, PowCore32);
  return value != value ? kNanF : static_cast<float>(value);
}
double Pow(double x, double y) { return PowWith(x, y, PowCore64); }

}  // namespace assay
