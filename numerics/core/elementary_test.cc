// SPDX-License-Identifier: Apache-2.0
//
// Known values, special cases and bits. The error bounds are tested by elementary_mpfr_test.cc.
#include "numerics/core/elementary.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "numerics/core/bits.h"
#include "numerics/core/philox.h"
#include "numerics/core/sha256.h"

namespace assay {
namespace {

template <class T>
class ElementaryTest : public testing::Test {
 public:
  static constexpr T kInf = std::numeric_limits<T>::infinity();
  static constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
  static constexpr T kMax = std::numeric_limits<T>::max();
  static constexpr T kMin = std::numeric_limits<T>::min();
  static constexpr T kTiny = std::numeric_limits<T>::denorm_min();
  static constexpr bool kFloat = sizeof(T) == 4;
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(ElementaryTest, Types);

// The same bits: tells +0 from -0 and one NaN from another.
#define EXPECT_BITS(actual, expected) \
  EXPECT_EQ(FloatBits(actual), FloatBits(static_cast<TypeParam>(expected)))

template <class T>
T SinPi(T x) {
  T sine, cosine;
  SinCosPi(x, &sine, &cosine);
  return sine;
}
template <class T>
T CosPi(T x) {
  T sine, cosine;
  SinCosPi(x, &sine, &cosine);
  return cosine;
}

TYPED_TEST(ElementaryTest, KeepsTheSignOfZeroInOddFunctions) {
  const TypeParam plus = 0;
  const TypeParam minus = -plus;
  EXPECT_BITS(Expm1(plus), plus);
  EXPECT_BITS(Expm1(minus), minus);
  EXPECT_BITS(Log1p(plus), plus);
  EXPECT_BITS(Log1p(minus), minus);
  EXPECT_BITS(Sin(plus), plus);
  EXPECT_BITS(Sin(minus), minus);
  EXPECT_BITS(SinPi(plus), plus);
  EXPECT_BITS(SinPi(minus), minus);
  EXPECT_BITS(Tanh(plus), plus);
  EXPECT_BITS(Tanh(minus), minus);
  EXPECT_BITS(Erf(plus), plus);
  EXPECT_BITS(Erf(minus), minus);
  EXPECT_BITS(Sqrt(minus), minus);
  EXPECT_BITS(Exp(minus), 1);
  EXPECT_BITS(Cos(minus), 1);
  EXPECT_BITS(CosPi(minus), 1);
}

TYPED_TEST(ElementaryTest, AnswersOneNanWithOneNan) {
  // A negative one with a payload; the answer is always the canonical one.
  TypeParam odd;
  if constexpr (sizeof(TypeParam) == 4) {
    odd = FloatFromBits(0xffc00123u);
  } else {
    odd = DoubleFromBits(uint64_t{0xfff8000000000123});
  }
  for (const TypeParam nan : {this->kNan, odd}) {
    TypeParam (*const functions[])(TypeParam) = {Exp, Expm1, Log, Log1p, Sin, Cos, Tanh, Erf, Sqrt};
    for (const auto f : functions) {
      EXPECT_BITS(f(nan), this->kNan);
    }
    EXPECT_BITS(SinPi(nan), this->kNan);
    EXPECT_BITS(CosPi(nan), this->kNan);
    EXPECT_BITS(Pow(nan, TypeParam{2}), this->kNan);
    EXPECT_BITS(Pow(TypeParam{2}, nan), this->kNan);
  }
  const TypeParam minus_one = -1;
  EXPECT_BITS(Log(minus_one), this->kNan);
  EXPECT_BITS(Log(-this->kTiny), this->kNan);
  EXPECT_BITS(Log(-this->kInf), this->kNan);
  EXPECT_BITS(Log1p(TypeParam{-2}), this->kNan);
  EXPECT_BITS(Log1p(-this->kInf), this->kNan);
  EXPECT_BITS(Sqrt(minus_one), this->kNan);
  for (const TypeParam infinity : {this->kInf, -this->kInf}) {
    EXPECT_BITS(Sin(infinity), this->kNan);
    EXPECT_BITS(Cos(infinity), this->kNan);
    EXPECT_BITS(SinPi(infinity), this->kNan);
    EXPECT_BITS(CosPi(infinity), this->kNan);
  }
}

TYPED_TEST(ElementaryTest, TakesInfinitiesToTheirLimits) {
  const TypeParam inf = this->kInf;
  EXPECT_BITS(Exp(inf), inf);
  EXPECT_BITS(Exp(-inf), 0);
  EXPECT_BITS(Expm1(inf), inf);
  EXPECT_BITS(Expm1(-inf), -1);
  EXPECT_BITS(Log(inf), inf);
  EXPECT_BITS(Log(TypeParam{0}), -inf);
  EXPECT_BITS(Log(-TypeParam{0}), -inf);
  EXPECT_BITS(Log1p(inf), inf);
  EXPECT_BITS(Log1p(TypeParam{-1}), -inf);
  EXPECT_BITS(Tanh(inf), 1);
  EXPECT_BITS(Tanh(-inf), -1);
  EXPECT_BITS(Erf(inf), 1);
  EXPECT_BITS(Erf(-inf), -1);
  EXPECT_BITS(Sqrt(inf), inf);
}

TYPED_TEST(ElementaryTest, OverflowsAndUnderflowsWhereItShould) {
  // The largest arguments whose results are finite, then the next ones.
  const TypeParam last = this->kFloat ? TypeParam(0x1.62e42ep6) : TypeParam(0x1.62e42fefa39efp9);
  const TypeParam next = std::nextafter(last, this->kInf);
  EXPECT_LT(Exp(last), this->kInf);
  EXPECT_GT(Exp(last), this->kMax * TypeParam(0.99));
  EXPECT_BITS(Exp(next), this->kInf);
  EXPECT_LT(Expm1(last), this->kInf);
  EXPECT_BITS(Expm1(next), this->kInf);
  EXPECT_BITS(Exp(this->kMax), this->kInf);
  // The smallest argument whose result rounds to the smallest number, then the next one.
  const TypeParam lowest =
      this->kFloat ? TypeParam(-0x1.9fe368p6) : TypeParam(-0x1.74910d52d3051p9);
  EXPECT_BITS(Exp(lowest), this->kTiny);
  EXPECT_BITS(Exp(std::nextafter(lowest, -this->kInf)), 0);
  EXPECT_BITS(Exp(-this->kMax), 0);
  EXPECT_BITS(Expm1(-this->kMax), -1);
}

TYPED_TEST(ElementaryTest, HandlesTheSmallestNumbers) {
  for (const TypeParam x : {this->kTiny, this->kMin - this->kTiny, this->kMin}) {
    for (const TypeParam sign : {TypeParam{1}, TypeParam{-1}}) {
      EXPECT_BITS(Expm1(sign * x), sign * x);
      EXPECT_BITS(Log1p(sign * x), sign * x);
      EXPECT_BITS(Sin(sign * x), sign * x);
      EXPECT_BITS(Tanh(sign * x), sign * x);
      EXPECT_BITS(Exp(sign * x), 1);
      EXPECT_BITS(Cos(sign * x), 1);
    }
  }
  // 2/sqrt(pi) = 1.128 and pi, times the smallest number, round to it and to 3 of it.
  EXPECT_BITS(Erf(this->kTiny), this->kTiny);
  EXPECT_BITS(SinPi(this->kTiny), 3 * this->kTiny);
  EXPECT_BITS(SinPi(-this->kTiny), -3 * this->kTiny);
  EXPECT_BITS(Log(this->kTiny), this->kFloat ? -0x1.9d1dap6 : -0x1.74385446d71c3p9);
}

TYPED_TEST(ElementaryTest, KnowsExactValues) {
  EXPECT_BITS(Exp(TypeParam{0}), 1);
  EXPECT_BITS(Log(TypeParam{1}), 0);
  EXPECT_BITS(Exp(TypeParam{1}), 0x1.5bf0a8b145769p1);
  EXPECT_BITS(Log(TypeParam{2}), 0x1.62e42fefa39efp-1);
  EXPECT_BITS(Log(TypeParam{10}), 0x1.26bb1bbb55516p1);
  EXPECT_BITS(Sin(TypeParam{1}), 0x1.aed548f090ceep-1);
  EXPECT_BITS(Cos(TypeParam{1}), 0x1.14a280fb5068cp-1);
  EXPECT_BITS(Tanh(TypeParam{1}), 0x1.85efab514f394p-1);
  EXPECT_BITS(Erf(TypeParam{1}), 0x1.af767a741088bp-1);
  EXPECT_BITS(Sqrt(TypeParam{2}), 0x1.6a09e667f3bcdp0);
  EXPECT_BITS(Erf(TypeParam{6}), 1);
  EXPECT_BITS(Tanh(TypeParam{-30}), -1);
}

TYPED_TEST(ElementaryTest, TurnsExactlyInHalfTurns) {
  const TypeParam zero = 0;
  for (int n = -9; n <= 9; ++n) {
    const TypeParam x = static_cast<TypeParam>(n);
    EXPECT_BITS(SinPi(x), std::copysign(zero, x)) << n;
    EXPECT_BITS(CosPi(x), n % 2 == 0 ? 1 : -1) << n;
    const TypeParam half = x + TypeParam(0.5);
    EXPECT_BITS(SinPi(half), n % 2 == 0 ? 1 : -1) << n;
    EXPECT_BITS(CosPi(half), 0) << n;
  }
  EXPECT_BITS(SinPi(TypeParam(0.25)), 0x1.6a09e667f3bcdp-1);
  EXPECT_BITS(CosPi(TypeParam(0.25)), 0x1.6a09e667f3bcdp-1);
  EXPECT_BITS(SinPi(TypeParam(-0.5)), -1);
  EXPECT_BITS(CosPi(this->kMax), 1);
  EXPECT_BITS(SinPi(-this->kMax), -zero);
  // The largest odd integer, and the largest number with a half.
  const TypeParam odd = this->kFloat ? TypeParam(0x1p24 - 1) : TypeParam(0x1p53 - 1);
  EXPECT_BITS(CosPi(odd), -1);
  const TypeParam half = this->kFloat ? TypeParam(0x1p23 - 0.5) : TypeParam(0x1p52 - 0.5);
  EXPECT_BITS(SinPi(half), -1);
  EXPECT_BITS(CosPi(half), 0);
}

TYPED_TEST(ElementaryTest, IsOddOrEvenToTheLastBit) {
  Philox4x32_10({}, {});
  for (uint32_t i = 0; i < 20000; ++i) {
    const auto words = Philox4x32_10({i, 0, 0, 0}, {1, 1});
    TypeParam x;
    if constexpr (sizeof(TypeParam) == 4) {
      x = FloatFromBits(words[0]);
    } else {
      x = DoubleFromBits(uint64_t{words[0]} << 32 | words[1]);
    }
    if (x != x) continue;
    EXPECT_EQ(CanonicalBits(Sin(-x)), CanonicalBits(-Sin(x)));
    EXPECT_EQ(CanonicalBits(Cos(-x)), CanonicalBits(Cos(x)));
    EXPECT_EQ(CanonicalBits(SinPi(-x)), CanonicalBits(-SinPi(x)));
    EXPECT_EQ(CanonicalBits(CosPi(-x)), CanonicalBits(CosPi(x)));
    EXPECT_BITS(Tanh(-x), -Tanh(x));
    EXPECT_BITS(Erf(-x), -Erf(x));
  }
}

TYPED_TEST(ElementaryTest, ReducesHugeArguments) {
  if constexpr (sizeof(TypeParam) == 4) {
    // Values from MPFR.
    EXPECT_BITS(Sin(0x1p127f), 0x1.3f2c62p-1);
    EXPECT_BITS(Sin(this->kMax), -0x1.0b3366p-1);
    EXPECT_BITS(Cos(this->kMax), 0x1.b4bf2cp-1);
  } else {
    EXPECT_BITS(Sin(0x1p1023), 0x1.205248cbdb760p-1);
    EXPECT_BITS(Cos(0x1p1023), -0x1.a719f26c232bfp-1);
    // The double closest to a multiple of pi/2 (Muller et al., Handbook, sec. 10.2).
    EXPECT_BITS(Cos(6381956970095103.0 * 0x1p797), -0x1.14ae72e6ba22fp-61);
    EXPECT_BITS(Sin(6381956970095103.0 * 0x1p797), 1.0);
  }
}

TYPED_TEST(ElementaryTest, FollowsTheSpecialCasesOfPow) {
  const TypeParam inf = this->kInf;
  const TypeParam nan = this->kNan;
  const TypeParam zero = 0;
  const TypeParam one = 1;
  const TypeParam odd = 3;
  const TypeParam even = 4;
  const TypeParam part = 2.5;
  // In the order of C99, annex F.9.4.4.
  EXPECT_BITS(Pow(zero, -odd), inf);
  EXPECT_BITS(Pow(-zero, -odd), -inf);
  for (const TypeParam y : {even, part, inf}) {
    EXPECT_BITS(Pow(zero, -y), inf);
    EXPECT_BITS(Pow(-zero, -y), inf);
    EXPECT_BITS(Pow(zero, y), zero);
    EXPECT_BITS(Pow(-zero, y), zero);
  }
  EXPECT_BITS(Pow(zero, odd), zero);
  EXPECT_BITS(Pow(-zero, odd), -zero);
  EXPECT_BITS(Pow(-one, inf), 1);
  EXPECT_BITS(Pow(-one, -inf), 1);
  for (const TypeParam y : {zero, -zero, one, -one, part, inf, -inf, nan}) {
    EXPECT_BITS(Pow(one, y), 1);
  }
  for (const TypeParam x : {zero, -zero, one, -one, part, -part, inf, -inf, nan}) {
    EXPECT_BITS(Pow(x, zero), 1);
    EXPECT_BITS(Pow(x, -zero), 1);
  }
  EXPECT_BITS(Pow(-odd, part), nan);
  EXPECT_BITS(Pow(-this->kTiny, TypeParam(0.5)), nan);
  for (const TypeParam x : {TypeParam(0.5), -TypeParam(0.5), this->kTiny}) {
    EXPECT_BITS(Pow(x, -inf), inf);
    EXPECT_BITS(Pow(x, inf), zero);
  }
  for (const TypeParam x : {part, -part, this->kMax}) {
    EXPECT_BITS(Pow(x, -inf), zero);
    EXPECT_BITS(Pow(x, inf), inf);
  }
  EXPECT_BITS(Pow(-inf, -odd), -zero);
  EXPECT_BITS(Pow(-inf, -even), zero);
  EXPECT_BITS(Pow(-inf, -part), zero);
  EXPECT_BITS(Pow(-inf, odd), -inf);
  EXPECT_BITS(Pow(-inf, even), inf);
  EXPECT_BITS(Pow(-inf, part), inf);
  EXPECT_BITS(Pow(inf, -part), zero);
  EXPECT_BITS(Pow(inf, part), inf);
  // Parity is lost where every number is an even integer.
  EXPECT_BITS(Pow(-one, this->kMax), 1);
  EXPECT_BITS(Pow(-part, this->kMax), inf);
  EXPECT_BITS(Pow(-part, -this->kMax), zero);
  const TypeParam largest_odd = this->kFloat ? TypeParam(0x1p24 - 1) : TypeParam(0x1p53 - 1);
  EXPECT_BITS(Pow(-one, largest_odd), -1);
  EXPECT_BITS(Pow(-part, largest_odd), -inf);
}

TYPED_TEST(ElementaryTest, RaisesToPowersExactlyWhereTheResultIsExact) {
  EXPECT_BITS(Pow(TypeParam{2}, TypeParam{10}), 1024);
  EXPECT_BITS(Pow(TypeParam{-3}, TypeParam{3}), -27);
  EXPECT_BITS(Pow(TypeParam{10}, TypeParam{5}), 100000);
  EXPECT_BITS(Pow(TypeParam{4}, TypeParam(-0.5)), 0.5);
  EXPECT_BITS(Pow(TypeParam{2}, TypeParam(this->kFloat ? -149 : -1074)), this->kTiny);
  EXPECT_BITS(Pow(TypeParam{2}, TypeParam(this->kFloat ? 128 : 1024)), this->kInf);
  EXPECT_BITS(Pow(this->kMax, TypeParam{1}), this->kMax);
  EXPECT_BITS(Pow(this->kTiny, TypeParam{1}), this->kTiny);
  EXPECT_BITS(Pow(TypeParam{2}, this->kTiny), 1);
  // Just beside 1, with the exponent that makes about e.
  const TypeParam epsilon = std::numeric_limits<TypeParam>::epsilon();
  EXPECT_NEAR(static_cast<double>(Pow(1 + epsilon, 1 / epsilon)), 2.718281828459045,
              2.0 * static_cast<double>(epsilon));
}

// The bits over a fixed set of inputs, committed as hashes: this suite runs natively and in
// WebAssembly, compiled by different compilers, and passes only if all agree.
template <class T>
std::vector<T> DenseInputs() {
  std::vector<T> inputs;
  constexpr int kEach = 60000;
  inputs.reserve(4 * kEach);
  for (uint32_t i = 0; i < kEach; ++i) {
    const auto words = Philox4x32_10({i, 0, 0, 0}, {20, 26});
    const uint64_t bits = uint64_t{words[0]} << 32 | words[1];
    const double unit = static_cast<double>(words[2]) * 0x1p-31 - 1.0;  // [-1, 1)
    if constexpr (sizeof(T) == 4) {
      inputs.push_back(FloatFromBits(words[0]));  // any bits
    } else {
      inputs.push_back(DoubleFromBits(bits));
    }
    inputs.push_back(static_cast<T>(unit));
    inputs.push_back(static_cast<T>(unit * 30.0));
    inputs.push_back(static_cast<T>(unit * 1000.0));
  }
  return inputs;
}

template <class T, class F>
std::string HashOver(const std::vector<T>& inputs, F f) {
  std::vector<T> results(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) results[i] = f(inputs[i]);
  return Sha256Hex(std::span<const T>(results));
}

struct FunctionHash {
  const char* name;
  float (*of_float)(float);
  double (*of_double)(double);
  const char* float_hash;
  const char* double_hash;
};

template <class T>
T PowOfSelf(T x) {
  return Pow(x < 0 ? -x : x, x * T(0.75));
}
template <class T>
T PowNearOne(T x) {
  return Pow(T(1) + x * T(0x1p-10), T(500) * x);
}

TEST(ElementaryBitsTest, AreTheCommittedOnes) {
  const FunctionHash functions[] = {
      // clang-format off
      // [hashes]
      {"exp", Exp, Exp,
       "fd5451aa50567d8def5f1a733ded9cc333f3ada15ca417cebdbd6d9424e9e390",
       "c0e3bb85ace7696eba2540060694a310f369e86258e25411074a57dc38caddec"},
      {"expm1", Expm1, Expm1,
       "dee1d650acf6a1536cf7f9db48aea2226a2e655f1294e25cad37589ed21117b9",
       "e58a10ef90004ffcd176f7363e1a5a22392c41c40f3e95fd9a2858cc35c3aede"},
      {"log", Log, Log,
       "1730df218496ac8c09cf039d1484db5306211da951f74b97a3b1db6d17320266",
       "f0d130e1679137c9a973b995cda0dfd9e9f2edd5f4af2727b2a900aace95393a"},
      {"log1p", Log1p, Log1p,
       "4d440ddf7b7fea726ff4fc5f6e63ec6b459cb82dfc3fa941f2f997bc49ea898f",
       "126767ae67c433b4280d7850d62b1f72af600f1bca31eb6dfda50275a39656de"},
      {"sin", Sin, Sin,
       "338fbe836e04978b63b15e788769b7b070480168a0f90dffde8d188476943c99",
       "1f56dce898e91ed56743e2975b1e5588b4f2e5934c282922774ed72b4167300a"},
      {"cos", Cos, Cos,
       "f81ae241f46a7053d318ec28aa86fe17203d5d503acb9356090a9c0b2773d1df",
       "f2036cd0906fc700d007f9d83f00e298424932b0712abfe856c8da9ce40f3983"},
      {"sinpi", SinPi<float>, SinPi<double>,
       "c20ee15c38645c225bd1ac168179cc8e22b71ce0b7c893e24e1a00cd5ecb65a8",
       "8f1ac1ca15f6f6bb1dc3d24c4159cb2725f81a221af83b2fc9338c382af725a6"},
      {"cospi", CosPi<float>, CosPi<double>,
       "832cef2bcd6ff7a2edd89c8244c8865a8ac5052ef5f4e6e9b7ad4ba0bf3e58f1",
       "faa1afbe8c8b1db662f0a4e169d155c36343008f5adcb550381ba67c40ff9e5a"},
      {"tanh", Tanh, Tanh,
       "530e9b6c6087d2ab0731ce9409c53dbd1e4b0dcdf66ff11924b4aaf3978c213c",
       "0436fc484b7013dc9309028565ba715c407686dd7af4529b288b005a6c8277f3"},
      {"erf", Erf, Erf,
       "25e881af2e4021b36ef0314d1fd2b79b0279fb4127529904dadb5d13663982ad",
       "74246c0987f67e90765a642627830bf2ddce2624e153a4c0853be6f72b13d20c"},
      {"pow", PowOfSelf<float>, PowOfSelf<double>,
       "1be3f5e2306ac89af9a17d669eae5238f2b12ca191f89f8abc8a5f89a5f56400",
       "beb09dad73df10b00d3dc094d66f706c9cf0a90c8e2bb7ca410e043aa6caeefd"},
      {"pow near 1", PowNearOne<float>, PowNearOne<double>,
       "77a5f22bbef11ff1135342fbc3ccdfe6aa54c8d5da8f6e0e690fdaa7c0acd086",
       "6f45e32d792919e7f45e5b7e2fce76c9353b0c04a7cb9304dbd846ec9bfc5ed1"},
      // clang-format on
  };
  const std::vector<float> floats = DenseInputs<float>();
  const std::vector<double> doubles = DenseInputs<double>();
  for (const FunctionHash& function : functions) {
    EXPECT_EQ(HashOver(floats, function.of_float), function.float_hash) << function.name;
    EXPECT_EQ(HashOver(doubles, function.of_double), function.double_hash) << function.name;
  }
}

}  // namespace
}  // namespace assay
