// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic that scalar and vector elementary functions share, written once so that both give
// the same bits.
//
// lint: allow(header_guards): included inside a namespace, once for scalars (elementary.cc) and
// once for every set of vector instructions (elementary_simd.cc).
//
// The surrounding namespace provides, for a tag D of double lanes, UintTag<D> (its 64-bit integer
// twin) and Highway's Set, BitCast, RebindMask, IfThenElse, And, Or, Xor, ShiftLeft, ShiftRight,
// + - * / and comparisons.
//
// Only IEEE + - * / and integers are used, in one fixed order, never fused. Coefficients come from
// coefficients.sollya. "64" marks kernels good for a double result, "32" those whose double
// value, rounded to float, is within 0.501 ulp.

template <int kBegin, int kCount, class D, class V, int kSize>
ASSAY_KERNEL_INLINE V EstrinPart(D d, const double (&c)[kSize], V x, V x2, V x4, V x8) {
  if constexpr (kCount == 1) {
    return Set(d, c[kBegin]);
  } else if constexpr (kCount == 2) {
    return Set(d, c[kBegin]) + Set(d, c[kBegin + 1]) * x;
  } else if constexpr (kCount <= 4) {
    return EstrinPart<kBegin, 2>(d, c, x, x2, x4, x8) +
           EstrinPart<kBegin + 2, kCount - 2>(d, c, x, x2, x4, x8) * x2;
  } else if constexpr (kCount <= 8) {
    return EstrinPart<kBegin, 4>(d, c, x, x2, x4, x8) +
           EstrinPart<kBegin + 4, kCount - 4>(d, c, x, x2, x4, x8) * x4;
  } else {
    static_assert(kCount <= 16);
    return EstrinPart<kBegin, 8>(d, c, x, x2, x4, x8) +
           EstrinPart<kBegin + 8, kCount - 8>(d, c, x, x2, x4, x8) * x8;
  }
}

// c[0] + c[1] x + c[2] x^2 + ... by Estrin's scheme, whose short chains suit both kinds of lanes.
template <class D, class V, int kSize>
ASSAY_KERNEL_INLINE V Polynomial(D d, const double (&c)[kSize], V x) {
  const V x2 = x * x;
  const V x4 = x2 * x2;
  return EstrinPart<0, kSize>(d, c, x, x2, x4, x4 * x4);
}

// The integer next to x, ties to even, for |x| < 2^51.
template <class D, class V>
ASSAY_KERNEL_INLINE V RoundToInteger(D d, V x) {
  const V magic = Set(d, 0x1.8p52);
  return (x + magic) - magic;
}

// 2^n for integral n in [-1022, 1023].
template <class D, class V>
ASSAY_KERNEL_INLINE V PowerOfTwo(D d, V n) {
  const UintTag<D> du;
  return BitCast(d, ShiftLeft<52>(BitCast(du, n + Set(d, 0x1.8p52 + 1023.0))));
}

template <class D, class V>
ASSAY_KERNEL_INLINE V NanAsCanonical(D d, V x, V y) {
  return IfThenElse(x == x, y, BitCast(d, Set(UintTag<D>(), uint64_t{0x7ff8000000000000})));
}

// x to a multiple of 2^-11, for |x| < 1: at most 11 bits, so that squares, cubes and their products
// with short constants are exact. Leading terms are split this way where their rounding would show.
template <class D, class V>
ASSAY_KERNEL_INLINE V Short(D d, V x) {
  const V magic = Set(d, 0x1.8p41);
  return (x + magic) - magic;
}

inline constexpr double kLog2E = 0x1.71547652b82fep0;
inline constexpr double kLn2 = 0x1.62e42fefa39efp-1;
// log 2 in two pieces; the first has 42 bits, so that its product with an exponent is exact.
inline constexpr double kLn2High = 0x1.62e42fefa38p-1;
inline constexpr double kLn2Low = 0x1.ef35793c7673p-45;

// exp(x) = 1 + x + x^2/2 + x^3 P(x) on |x| <= log(2)/2, error 2^-63.4.
inline constexpr double kExp64[10] = {
    0x1.555555555555bp-3,  0x1.555555555555ap-5,  0x1.111111110ed9bp-7,  0x1.6c16c16c141fep-10,
    0x1.a01a01b320a14p-13, 0x1.a01a01b1c9ef7p-16, 0x1.71ddf0db5a704p-19, 0x1.27e4c32c560a3p-22,
    0x1.af6adb8e6f1d2p-26, 0x1.1f991f6b97a84p-29};

// e^(x + low) for |low| <= 2^-40; overflows to infinity and underflows gradually to 0, and gives
// NaN (any) for NaN.
template <class D, class V>
ASSAY_KERNEL_INLINE V Exp64(D d, V x, V low) {
  x = IfThenElse(x > Set(d, 710.0), Set(d, 710.0), x);
  x = IfThenElse(x < Set(d, -746.0), Set(d, -746.0), x);
  const V n = RoundToInteger(d, x * Set(d, kLog2E));
  const V high = x - n * Set(d, kLn2High);  // exact
  const V w = n * Set(d, kLn2Low) - low;
  const V r = high - w;
  const V c = (high - r) - w;  // r + c is the reduced argument
  const V r2 = r * r;
  const V sum = Set(d, 1.0) + r;
  const V tail = ((Set(d, 1.0) - sum) + r) +
                 ((c + c * r) + (r2 * Set(d, 0.5) + (r2 * r) * Polynomial(d, kExp64, r)));
  // Two steps, since 2^n itself may not be representable; only the second can round.
  const V half = RoundToInteger(d, n * Set(d, 0.5));
  return ((sum + tail) * PowerOfTwo(d, half)) * PowerOfTwo(d, n - half);
}

// exp(x) = 1 + x + x^2 P(x) on |x| <= log(2)/2, error 2^-39.1.
inline constexpr double kExp32[7] = {
    0x1.ffffffffeadcap-2,  0x1.5555557e8ed85p-3,  0x1.5555558a9c153p-5, 0x1.1110a1409ce4cp-7,
    0x1.6c162289d316cp-10, 0x1.a186f4ddfea74p-13, 0x1.a18b82768b8fp-16};

// e^x where that is a float; elsewhere something that rounds to infinity or 0 in float.
template <class D, class V>
ASSAY_KERNEL_INLINE V Exp32(D d, V x) {
  x = IfThenElse(x > Set(d, 89.0), Set(d, 89.0), x);
  x = IfThenElse(x < Set(d, -104.0), Set(d, -104.0), x);
  const V n = RoundToInteger(d, x * Set(d, kLog2E));
  const V r = (x - n * Set(d, kLn2High)) - n * Set(d, kLn2Low);
  return (Set(d, 1.0) + (r + (r * r) * Polynomial(d, kExp32, r))) * PowerOfTwo(d, n);
}

// exp(x) - 1 = x + x^2 P(x) on |x| <= log(2)/2, relative error 2^-43.5.
inline constexpr double kExpm1For32[8] = {
    0x1.fffffffff7c02p-2,  0x1.555555556722fp-3,  0x1.5555557323442p-5,  0x1.111110e13b557p-7,
    0x1.6c164fcef334cp-10, 0x1.a01a7d39b2207p-13, 0x1.a15849cbf9e64p-16, 0x1.71e941fde69b4p-19};

// e^x - 1 for -110 <= x <= 110; +0 for -0.
template <class D, class V>
ASSAY_KERNEL_INLINE V Expm1For32(D d, V x) {
  const V n = RoundToInteger(d, x * Set(d, kLog2E));
  const V r = (x - n * Set(d, kLn2High)) - n * Set(d, kLn2Low);
  const V p = r + (r * r) * Polynomial(d, kExpm1For32, r);
  const V scale = PowerOfTwo(d, n);
  return scale * p + (scale - Set(d, 1.0));
}

template <class D, class V>
ASSAY_KERNEL_INLINE V Tanh32(D d, V x) {
  V y = x + x;
  y = IfThenElse(y > Set(d, 20.0), Set(d, 20.0), y);  // tanh(10) rounds to 1 in float
  y = IfThenElse(y < Set(d, -20.0), Set(d, -20.0), y);
  const V t = Expm1For32(d, y);
  const V result = t / (t + Set(d, 2.0));
  return IfThenElse(x == Set(d, 0.0), x, result);  // keeps the sign of 0
}

// Splits the positive normal x = 2^e m, m in [sqrt(1/2), sqrt(2)); e - offset comes as a double.
template <class D, class V>
ASSAY_KERNEL_INLINE void SplitExponent(D d, V x, V offset, V* e, V* m) {
  const UintTag<D> du;
  const auto kRootHalf = Set(du, uint64_t{0x3fe6a09e667f3bcd});
  const auto bits = BitCast(du, x) + Set(du, uint64_t{0x3ff0000000000000} - 0x3fe6a09e667f3bcd);
  *m = BitCast(d, And(bits, Set(du, uint64_t{0x000fffffffffffff})) + kRootHalf);
  // An integer below 2^52 becomes a double by taking the place of the significand of 2^52.
  const auto biased = Or(ShiftRight<52>(bits), Set(du, uint64_t{0x4330000000000000}));
  *e = BitCast(d, biased) - (Set(d, 0x1p52 + 1023.0) + offset);
}

// log((1 + s) / (1 - s)) = 2 s + s z P(z), z = s^2, on |s| <= 0.1716; relative error 2^-59.4.
inline constexpr double kLog64[7] = {
    0x1.5555555555592p-1, 0x1.999999997ff17p-2, 0x1.24924941e1c0fp-2, 0x1.c71c5213b3bd9p-3,
    0x1.74663d1bacd3cp-3, 0x1.39a1e2ca47613p-3, 0x1.2f04033909ab3p-3};

// e log(2) + log(1 + f) + correction, for 1 + f in [sqrt(1/2), sqrt(2)) and a tiny correction, as
// e log(2) + f - f^2/2 + s (f^2/2 + R) with the first three terms summed exactly.
// Source: fdlibm's arrangement (FreeBSD msun, e_log.c).
template <class D, class V>
ASSAY_KERNEL_INLINE V LogOfParts64(D d, V e, V f, V correction) {
  const V s = f / (Set(d, 2.0) + f);
  const V z = s * s;
  const V half = Set(d, 0.5);
  const V tail = s * ((half * f) * f + z * Polynomial(d, kLog64, z));
  const V main = e * Set(d, kLn2High);  // exact
  const V sum = main + f;
  const V sum_low = (main - sum) + f;  // exact: main is 0 or larger than f
  const V f_short = Short(d, f);
  const V square = (half * f_short) * f_short;  // exact
  const V square_rest = (half * (f - f_short)) * (f + f_short);
  const V high = sum - square;
  const V low = (sum - high) - square;  // exact: f^2/2 is less than the sum
  const V rest = (e * Set(d, kLn2Low) + correction) + (tail - square_rest);
  return high + ((sum_low + low) + rest);
}

template <class D, class V>
ASSAY_KERNEL_INLINE V LogSpecials(D d, V x, V y) {
  const UintTag<D> du;
  const V infinity = BitCast(d, Set(du, uint64_t{0x7ff0000000000000}));
  const V zero = Set(d, 0.0);
  y = IfThenElse(x == infinity, x, y);
  y = IfThenElse(x == zero, BitCast(d, Set(du, uint64_t{0xfff0000000000000})), y);
  return IfThenElse(x >= zero, y, BitCast(d, Set(du, uint64_t{0x7ff8000000000000})));
}

template <class D, class V>
ASSAY_KERNEL_INLINE V Log64(D d, V x) {
  const V smallest_normal = Set(d, 0x1p-1022);
  const V scaled = IfThenElse(x < smallest_normal, x * Set(d, 0x1p54), x);
  const V offset = IfThenElse(x < smallest_normal, Set(d, 54.0), Set(d, 0.0));
  V e, m;
  SplitExponent(d, scaled, offset, &e, &m);
  return LogSpecials(d, x, LogOfParts64(d, e, m - Set(d, 1.0), Set(d, 0.0)));
}

// As kLog64, relative error 2^-44.9.
inline constexpr double kLog32[5] = {0x1.555555561e42bp-1, 0x1.999996a94d79dp-2,
                                     0x1.249411ec28181p-2, 0x1.c62b158901c84p-3,
                                     0x1.91157efd62128p-3};

template <class D, class V>
ASSAY_KERNEL_INLINE V LogOfParts32(D d, V e, V f) {
  const V s = f / (Set(d, 2.0) + f);
  const V z = s * s;
  return e * Set(d, kLn2) + ((s + s) + (s * z) * Polynomial(d, kLog32, z));
}

// x is a float, so that it is normal as a double.
template <class D, class V>
ASSAY_KERNEL_INLINE V Log32(D d, V x) {
  V e, m;
  SplitExponent(d, x, Set(d, 0.0), &e, &m);
  return LogSpecials(d, x, LogOfParts32(d, e, m - Set(d, 1.0)));
}

// sin(x) = x + x^3 (kSin64Lead + P(x^2)) on |x| <= pi/4, relative error 2^-62.8. The lead is -1/6
// in 20 bits; the first coefficient of P is the rest.
inline constexpr double kSin64Lead = -0x1.55555p-3;
inline constexpr double kSin64[7] = {-0x1.5555555555555p-3 - kSin64Lead,
                                     0x1.111111111108bp-7,
                                     -0x1.a01a01a006d8cp-13,
                                     0x1.71de3a4019c09p-19,
                                     -0x1.ae643d4462f14p-26,
                                     0x1.6114a6533149ep-33,
                                     -0x1.a55ce702f015ap-41};
// cos(x) = 1 - x^2/2 + x^4 P(x^2) on |x| <= pi/4, error 2^-68.5.
inline constexpr double kCos64[7] = {
    0x1.5555555555555p-5,  -0x1.6c16c16c16b47p-10, 0x1.a01a01a001881p-16, -0x1.27e4fb603e377p-22,
    0x1.1eed76f3f5556p-29, -0x1.937d16c89a306p-37, 0x1.a1af7a6b10928p-45};

// sin(x + low), cos(x + low) for |x| <= pi/4 and |low| <= ulp(x).
template <class D, class V>
ASSAY_KERNEL_INLINE V SinKernel64(D d, V x, V low) {
  const V z = x * x;
  const V x_short = Short(d, x);
  const V short_square = x_short * x_short;
  const V lead = (x_short * short_square) * Set(d, kSin64Lead);  // exact
  const V lead_rest = ((x - x_short) * ((z + x * x_short) + short_square)) * Set(d, kSin64Lead);
  const V sum = x + lead;
  const V sum_low = (x - sum) + lead;  // exact
  const V rest = (x * z) * Polynomial(d, kSin64, z) + (low - low * (z * Set(d, 0.5)));
  return sum + (sum_low + (lead_rest + rest));
}
template <class D, class V>
ASSAY_KERNEL_INLINE V CosKernel64(D d, V x, V low) {
  const V one = Set(d, 1.0);
  const V half = Set(d, 0.5);
  const V z = x * x;
  const V x_short = Short(d, x);
  const V square = (half * x_short) * x_short;  // exact
  const V square_rest = (half * (x - x_short)) * (x + x_short);
  const V sum = one - square;
  const V sum_low = (one - sum) - square;  // exact
  const V rest = (z * z) * Polynomial(d, kCos64, z) - x * low;
  return sum + (sum_low + (rest - square_rest));
}

// As above, with relative errors of 2^-47.5 and 2^-43.3.
inline constexpr double kSin32[5] = {-0x1.5555555552239p-3, 0x1.1111110c872fap-7,
                                     -0x1.a019f939632b5p-13, 0x1.71d76d133b758p-19,
                                     -0x1.a961a0413fb74p-26};
// cos(x) = 1 + x^2 P(x^2)
inline constexpr double kCos32[5] = {-0x1.ffffffffebfe8p-2, 0x1.55555546f5984p-5,
                                     -0x1.6c16b4013ded9p-10, 0x1.a00f1207597f9p-16,
                                     -0x1.23d81996684fap-22};

template <class D, class V>
ASSAY_KERNEL_INLINE V SinKernel32(D d, V x) {
  const V z = x * x;
  return x + (x * z) * Polynomial(d, kSin32, z);
}
template <class D, class V>
ASSAY_KERNEL_INLINE V CosKernel32(D d, V x) {
  const V z = x * x;
  return Set(d, 1.0) + z * Polynomial(d, kCos32, z);
}

inline constexpr double kTwoOverPiDouble = 0x1.45f306dc9c883p-1;
// pi/2 in pieces of 33 bits, so that products with integers up to 2^20 are exact, and rests.
inline constexpr double kHalfPi1 = 0x1.921fb544p0;
inline constexpr double kHalfPi2 = 0x1.0b4611a6p-34;
inline constexpr double kHalfPi3 = 0x1.3198a2ep-69;
inline constexpr double kHalfPi4 = 0x1.b839a252049c1p-104;
inline constexpr double kHalfPi2Rest = 0x1.0b4611a626331p-34;
// Up to here n = x 2/pi stays below 2^20.
inline constexpr double kReduceLimit = 0x1.8p20;

// sin(x) and cos(x) for |x| < kReduceLimit; +0 instead of -0.
template <class D, class V>
ASSAY_KERNEL_INLINE void SinCos32(D d, V x, V* sine, V* cosine) {
  const UintTag<D> du;
  const V shifted = x * Set(d, kTwoOverPiDouble) + Set(d, 0x1.8p52);
  const V n = shifted - Set(d, 0x1.8p52);
  const V r = (x - n * Set(d, kHalfPi1)) - n * Set(d, kHalfPi2Rest);
  const V s = SinKernel32(d, r);
  const V c = CosKernel32(d, r);
  const auto quadrant = BitCast(du, shifted);  // its low bits are those of n
  const auto one = Set(du, uint64_t{1});
  const auto odd = And(quadrant, one) == one;
  const auto exchanged = RebindMask(d, odd);
  const auto sine_sign = ShiftLeft<62>(And(quadrant, Set(du, uint64_t{2})));
  const auto cosine_sign = ShiftLeft<62>(And(quadrant + one, Set(du, uint64_t{2})));
  *sine = BitCast(d, Xor(BitCast(du, IfThenElse(exchanged, c, s)), sine_sign));
  *cosine = BitCast(d, Xor(BitCast(du, IfThenElse(exchanged, s, c)), cosine_sign));
}
