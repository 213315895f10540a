// SPDX-License-Identifier: Apache-2.0
// BigFloat against MPFR, bit for bit, at several precisions.
#include <mpfr.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "numerics/core/random.h"
#include "numerics/floating/anatomy.h"
#include "numerics/floating/big_float.h"
#include "numerics/floating/big_integer.h"

namespace assay::floating {

// Declared again, since addresses are not found by arguments.
BigFloat Sqrt(const BigFloat& x, Precision precision);
BigFloat Cbrt(const BigFloat& x, Precision precision);
BigFloat Exp(const BigFloat& x, Precision precision);
BigFloat Expm1(const BigFloat& x, Precision precision);
BigFloat Log(const BigFloat& x, Precision precision);
BigFloat Log1p(const BigFloat& x, Precision precision);
BigFloat Log2(const BigFloat& x, Precision precision);
BigFloat Log10(const BigFloat& x, Precision precision);
BigFloat Sin(const BigFloat& x, Precision precision);
BigFloat Cos(const BigFloat& x, Precision precision);
BigFloat Tan(const BigFloat& x, Precision precision);
BigFloat Atan(const BigFloat& x, Precision precision);
BigFloat Sinh(const BigFloat& x, Precision precision);
BigFloat Cosh(const BigFloat& x, Precision precision);
BigFloat Tanh(const BigFloat& x, Precision precision);
BigFloat Add(const BigFloat& a, const BigFloat& b, Precision precision);
BigFloat Subtract(const BigFloat& a, const BigFloat& b, Precision precision);
BigFloat Multiply(const BigFloat& a, const BigFloat& b, Precision precision);
BigFloat Divide(const BigFloat& a, const BigFloat& b, Precision precision);
BigFloat Hypot(const BigFloat& a, const BigFloat& b, Precision precision);
BigFloat Pow(const BigFloat& a, const BigFloat& b, Precision precision);

namespace {

constexpr int kPrecisions[] = {11, 53, 113, 200, 500};

class Number {
 public:
  explicit Number(int bits) { mpfr_init2(value_, bits); }
  // Exact.
  explicit Number(const BigFloat& x) {
    mpfr_init2(value_, x.width() < 2 ? 2 : x.width());
    if (x.IsNaN()) {
      mpfr_set_nan(value_);
    } else if (x.IsInfinite()) {
      mpfr_set_inf(value_, x.IsNegative() ? -1 : 1);
    } else {
      mpfr_set_zero(value_, 1);
      for (int i = (x.width() + 31) / 32; i-- > 0;) {
        mpfr_mul_2ui(value_, value_, 32, MPFR_RNDN);
        mpfr_add_ui(value_, value_, (x.significand() >> (32 * i)).Low64() & 0xffffffffu, MPFR_RNDN);
      }
      mpfr_mul_2si(value_, value_, x.exponent(), MPFR_RNDN);
      if (x.IsNegative()) mpfr_neg(value_, value_, MPFR_RNDN);
    }
  }
  Number(const Number&) = delete;
  Number& operator=(const Number&) = delete;
  ~Number() { mpfr_clear(value_); }
  mpfr_ptr get() { return value_; }

  // Exact.
  BigFloat ToBigFloat() const {
    if (mpfr_nan_p(value_)) return BigFloat::NaN();
    if (mpfr_inf_p(value_)) return BigFloat::Infinity(mpfr_signbit(value_) != 0);
    if (mpfr_zero_p(value_)) return BigFloat::Scaled(mpfr_signbit(value_) != 0, BigInteger(), 0);
    mpfr_exp_t exponent = 0;
    char* text = mpfr_get_str(nullptr, &exponent, 16, 0, value_, MPFR_RNDN);
    BigInteger significand;
    int64_t digits = 0;
    for (const char* c = text[0] == '-' ? text + 1 : text; *c != 0; ++c, ++digits) {
      significand.MultiplyAdd(16, static_cast<uint32_t>(*c <= '9' ? *c - '0' : *c - 'a' + 10));
    }
    mpfr_free_str(text);
    return BigFloat::Scaled(mpfr_signbit(value_) != 0, significand, 4 * (exponent - digits));
  }

 private:
  mpfr_t value_;
};

bool Same(const BigFloat& a, const BigFloat& b) {
  if (a.IsNaN() || b.IsNaN()) return a.IsNaN() && b.IsNaN();
  return a == b && a.IsNegative() == b.IsNegative();
}

std::string Text(const BigFloat& x) { return x.ToScientific(20); }

using Unary = BigFloat (*)(const BigFloat&, Precision);
using Binary = BigFloat (*)(const BigFloat&, const BigFloat&, Precision);
using MpfrUnary = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
using MpfrBinary = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);

struct UnaryCase {
  const char* name;
  Unary ours;
  MpfrUnary theirs;
};

const UnaryCase kUnary[] = {
    {"sqrt", &Sqrt, &mpfr_sqrt},    {"cbrt", &Cbrt, &mpfr_cbrt},    {"exp", &Exp, &mpfr_exp},
    {"expm1", &Expm1, &mpfr_expm1}, {"log", &Log, &mpfr_log},       {"log1p", &Log1p, &mpfr_log1p},
    {"log2", &Log2, &mpfr_log2},    {"log10", &Log10, &mpfr_log10}, {"sin", &Sin, &mpfr_sin},
    {"cos", &Cos, &mpfr_cos},       {"tan", &Tan, &mpfr_tan},       {"atan", &Atan, &mpfr_atan},
    {"sinh", &Sinh, &mpfr_sinh},    {"cosh", &Cosh, &mpfr_cosh},    {"tanh", &Tanh, &mpfr_tanh},
};

struct BinaryCase {
  const char* name;
  Binary ours;
  MpfrBinary theirs;
};

const BinaryCase kBinary[] = {
    {"add", &Add, &mpfr_add},           {"subtract", &Subtract, &mpfr_sub},
    {"multiply", &Multiply, &mpfr_mul}, {"divide", &Divide, &mpfr_div},
    {"hypot", &Hypot, &mpfr_hypot},     {"pow", &Pow, &mpfr_pow},
};

// A random number of `bits` bits with an exponent within +-range.
BigFloat Draw(Random& random, int bits, int64_t range) {
  BigInteger significand(1);
  for (int i = 1; i < bits; i += 16) {
    significand.MultiplyAdd(65536, static_cast<uint32_t>(random.Integer(65536)));
  }
  const bool negative = random.Integer(2) == 1;
  const int64_t exponent =
      static_cast<int64_t>(random.Integer(static_cast<uint64_t>(2 * range + 1))) - range;
  return BigFloat::Scaled(negative, significand, exponent - significand.BitWidth());
}

std::vector<BigFloat> EdgeCases() {
  std::vector<BigFloat> cases = {BigFloat(), -BigFloat(), BigFloat::Infinity(),
                                 BigFloat::Infinity(true), BigFloat::NaN()};
  for (const double x : {1.0,
                         2.0,
                         3.0,
                         4.0,
                         8.0,
                         9.0,
                         10.0,
                         27.0,
                         64.0,
                         100.0,
                         1000.0,
                         0.5,
                         0.25,
                         1.5,
                         0.75,
                         0.1,
                         1e22,
                         1e23,
                         1e300,
                         1e-300,
                         5e-324,
                         0x1p-60,
                         0x1p-200,
                         0x1p-500,
                         1e5,
                         1e15,
                         1e16,
                         709.0,
                         745.0,
                         3.141592653589793,
                         1.5707963267948966,
                         22.0,
                         355.0,
                         0.6931471805599453,
                         2.718281828459045,
                         1.0000000000000002,
                         0.9999999999999999,
                         1.00390625,
                         0.99609375,
                         0.99609374}) {
    cases.push_back(BigFloat(x));
    cases.push_back(BigFloat(-x));
  }
  for (const int bits : kPrecisions) {  // around 1 and around ties
    const BigFloat one(1.0);
    for (const int64_t gap : {bits - 1, bits, bits + 1, 2 * bits, bits / 2}) {
      const BigFloat tiny = BigFloat::Scaled(false, BigInteger(1), -gap);
      cases.push_back(tiny);
      cases.push_back(Add(one, tiny, {4000}));
      cases.push_back(Subtract(one, tiny, {4000}));
      cases.push_back(-Subtract(one, tiny, {4000}));
    }
  }
  return cases;
}

// MPFR's exponent range is narrower than ours.
bool BothInRange(const BigFloat& x) {
  return !x.IsFinite() || x.IsZero() ||
         (x.Exponent() < (int64_t{1} << 30) && x.Exponent() > -(int64_t{1} << 30));
}

TEST(BigFloatMpfrTest, FunctionsOfOneNumberAreCorrectlyRounded) {
  Random random(1);
  int64_t checked = 0;
  for (const int bits : kPrecisions) {
    std::vector<BigFloat> inputs = EdgeCases();
    const int draws = bits > 200 ? 60 : 200;
    for (int i = 0; i < draws; ++i) {
      inputs.push_back(Draw(random, bits, 4));
      inputs.push_back(Draw(random, bits, bits));
      inputs.push_back(Draw(random, 2 * bits, 12));
      inputs.push_back(Draw(random, 20, 1000));
    }
    for (const UnaryCase& c : kUnary) {
      for (const BigFloat& x : inputs) {
        Number input(x);
        Number output(bits);
        c.theirs(output.get(), input.get(), MPFR_RNDN);
        const BigFloat expected = output.ToBigFloat();
        const BigFloat got = c.ours(x, {bits});
        if (!BothInRange(got) && !Same(got, expected)) continue;
        ++checked;
        ASSERT_TRUE(Same(got, expected)) << c.name << " of " << Text(x) << " to " << bits
                                         << " bits: " << Text(got) << ", not " << Text(expected);
      }
    }
  }
  EXPECT_GT(checked, 40000);
}

TEST(BigFloatMpfrTest, FunctionsOfTwoNumbersAreCorrectlyRounded) {
  Random random(2);
  for (const int bits : kPrecisions) {
    std::vector<std::pair<BigFloat, BigFloat>> inputs;
    const std::vector<BigFloat> edges = EdgeCases();
    for (const BigFloat& x : edges) {
      for (const BigFloat& y : edges) {
        if (random.Integer(8) == 0 || (x.width() < 4 && y.width() < 4)) inputs.emplace_back(x, y);
      }
    }
    for (int i = 0; i < 150; ++i) {
      inputs.emplace_back(Draw(random, bits, 4), Draw(random, bits, 4));
      inputs.emplace_back(Draw(random, bits, 300), Draw(random, bits, 300));
      inputs.emplace_back(Draw(random, bits, 40).Abs(), Draw(random, 3, 6));
      const BigFloat x = Draw(random, bits, 4);
      inputs.emplace_back(x, Add(-x, Draw(random, 30, 1).Times2To(-bits - 2), {2 * bits + 40}));
    }
    for (const BinaryCase& c : kBinary) {
      for (const auto& [x, y] : inputs) {
        Number a(x);
        Number b(y);
        Number output(bits);
        c.theirs(output.get(), a.get(), b.get(), MPFR_RNDN);
        const BigFloat expected = output.ToBigFloat();
        const BigFloat got = c.ours(x, y, {bits});
        if (!BothInRange(got) && !Same(got, expected)) continue;
        ASSERT_TRUE(Same(got, expected))
            << c.name << " of " << Text(x) << " and " << Text(y) << " to " << bits
            << " bits: " << Text(got) << ", not " << Text(expected);
      }
    }
  }
}

TEST(BigFloatMpfrTest, MultiplyAddRoundsOnce) {
  Random random(3);
  for (const int bits : kPrecisions) {
    for (int i = 0; i < 300; ++i) {
      const BigFloat x = Draw(random, bits, 10);
      const BigFloat y = Draw(random, bits, 10);
      const BigFloat z = i % 2 == 0 ? Draw(random, bits, 20) : -Multiply(x, y, {bits});
      Number a(x), b(y), c(z), output(bits);
      mpfr_fma(output.get(), a.get(), b.get(), c.get(), MPFR_RNDN);
      ASSERT_TRUE(Same(MultiplyAdd(x, y, z, {bits}), output.ToBigFloat()))
          << Text(x) << " " << Text(y);
    }
    Number pi(bits);
    mpfr_const_pi(pi.get(), MPFR_RNDN);
    EXPECT_TRUE(Same(Pi({bits}), pi.ToBigFloat()));
  }
  for (const int bits : {64, 1000, 2000, 3000}) {
    Number pi(bits);
    mpfr_const_pi(pi.get(), MPFR_RNDN);
    EXPECT_TRUE(Same(Pi({bits}), pi.ToBigFloat()));
    Number two(BigFloat(2.0));
    Number ln2(bits);
    mpfr_log(ln2.get(), two.get(), MPFR_RNDN);
    EXPECT_TRUE(Same(Log(BigFloat(2.0), {bits}), ln2.ToBigFloat()));
  }
}

// Formats with few bits and subnormals, where a second rounding would show.
TEST(BigFloatMpfrTest, FormatsAreRoundedOnce) {
  Random random(4);
  for (const Format format : kFormats) {
    const FormatInfo info = Info(format);
    const mpfr_exp_t least = mpfr_get_emin();
    const mpfr_exp_t most = mpfr_get_emax();
    mpfr_set_emin(info.LeastExponent() + 1);
    mpfr_set_emax(info.bias + 1);
    for (const UnaryCase& c : kUnary) {
      for (int i = 0; i < 400; ++i) {
        const uint64_t bits = random.Next64() & ((info.Infinity() << 1) | 1 |
                                                 ((uint64_t{1} << info.fraction_bits) - 1));
        const BigFloat x = FromFormat(format, bits);
        Number input(x);
        Number output(info.fraction_bits + 1);
        const int ternary = c.theirs(output.get(), input.get(), MPFR_RNDN);
        mpfr_subnormalize(output.get(), ternary, MPFR_RNDN);
        const uint64_t expected = ToFormat(format, output.ToBigFloat());
        const uint64_t got = ToFormat(format, c.ours(x, PrecisionOf(format)));
        ASSERT_EQ(got, expected) << info.name << " " << c.name << " of " << Text(x);
      }
    }
    mpfr_set_emin(least);
    mpfr_set_emax(most);
  }
}

TEST(BigFloatMpfrTest, DecimalTextIsCorrectlyRounded) {
  Random random(5);
  for (const int bits : kPrecisions) {
    for (int i = 0; i < 200; ++i) {
      std::string text = i % 2 == 0 ? "-" : "";
      const uint64_t digits = 1 + random.Integer(60);
      for (uint64_t d = 0; d < digits; ++d) text += static_cast<char>('0' + random.Integer(10));
      text += "." + std::to_string(random.Integer(1000));
      const int64_t range = i % 5 == 0 ? 40000000 : i % 3 == 0 ? 9000 : 300;
      text +=
          "e" + std::to_string(
                    static_cast<int64_t>(random.Integer(static_cast<uint64_t>(2 * range))) - range);
      Number expected(bits);
      mpfr_set_str(expected.get(), text.c_str(), 10, MPFR_RNDN);
      const auto got = ParseBigFloat(text, {bits});
      ASSERT_TRUE(got.has_value());
      ASSERT_TRUE(Same(*got, expected.ToBigFloat())) << text << " to " << bits;

      const BigFloat x = Draw(random, bits, i % 4 == 0 ? 40000000 : 2000);
      const int count = 2 + static_cast<int>(random.Integer(50));
      Number number(x);
      mpfr_exp_t exponent = 0;
      char* out =
          mpfr_get_str(nullptr, &exponent, 10, static_cast<size_t>(count), number.get(), MPFR_RNDN);
      std::string want = out[0] == '-' ? "-" : "";
      const std::string all = out[0] == '-' ? out + 1 : out;
      want += all.substr(0, 1) + "." + all.substr(1) + "e" + std::to_string(exponent - 1);
      mpfr_free_str(out);
      ASSERT_EQ(x.ToScientific(count), want);
    }
  }
}

}  // namespace
}  // namespace assay::floating
