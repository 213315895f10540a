// SPDX-License-Identifier: Apache-2.0
//
// The batch functions must give the scalar functions' bits with every set of vector instructions.
#include "numerics/core/elementary_simd.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "numerics/core/bits.h"
#include "numerics/core/elementary.h"
#include "numerics/core/random.h"

#ifndef __EMSCRIPTEN__
#include "hwy/highway.h"
#endif

namespace assay {
namespace {

// Runs `test` once with each set of instructions that this machine has.
void ForEachTarget(const std::function<void(const std::string&)>& test) {
#ifdef __EMSCRIPTEN__
  test("WASM");
#else
  int count = 0;
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    test(hwy::TargetName(target));
    ++count;
  }
  hwy::SetSupportedTargetsForTest(0);
  EXPECT_GE(count, 1);
#endif
}

template <class T>
struct Function {
  const char* name;
  void (*batch)(std::span<const T>, std::span<T>);
  T (*scalar)(T);
};
const Function<float> kFloatFunctions[] = {
    {"exp", Exp, Exp}, {"log", Log, Log}, {"tanh", Tanh, Tanh},
    {"sin", Sin, Sin}, {"cos", Cos, Cos},
};

// The two halves of SinCosPi.
void SinPi(std::span<const double> x, std::span<double> y) {
  std::vector<double> sine(x.size()), cosine(x.size());
  SinCosPi(x, sine, cosine);
  std::copy(sine.begin(), sine.end(), y.begin());
}
void CosPi(std::span<const double> x, std::span<double> y) {
  std::vector<double> sine(x.size()), cosine(x.size());
  SinCosPi(x, sine, cosine);
  std::copy(cosine.begin(), cosine.end(), y.begin());
}
double SinPi(double x) {
  double sine, cosine;
  SinCosPi(x, &sine, &cosine);
  return sine;
}
double CosPi(double x) {
  double sine, cosine;
  SinCosPi(x, &sine, &cosine);
  return cosine;
}

const Function<double> kDoubleFunctions[] = {
    {"exp", Exp, Exp}, {"log", Log, Log}, {"sinpi", SinPi, SinPi}, {"cospi", CosPi, CosPi}};

template <class T>
std::vector<T> Inputs() {
  constexpr T kInf = std::numeric_limits<T>::infinity();
  std::vector<T> x = {T(0),
                      -T(0),
                      kInf,
                      -kInf,
                      std::numeric_limits<T>::quiet_NaN(),
                      -std::numeric_limits<T>::quiet_NaN(),
                      std::numeric_limits<T>::max(),
                      std::numeric_limits<T>::lowest(),
                      std::numeric_limits<T>::denorm_min(),
                      -std::numeric_limits<T>::denorm_min(),
                      std::numeric_limits<T>::min(),
                      T(88.72283),
                      T(88.72284),
                      T(-103.97208),
                      T(-103.97209),
                      T(709.782712893384),
                      T(709.7827128933841),
                      T(-745.1332191019411),
                      T(-745.1332191019412),
                      T(0x1.8p20),
                      T(-0x1.8p20),
                      T(0x1.7ffffep20)};
  Random random(14);
  for (int i = 0; i < 30000; ++i) {
    const uint64_t bits = random.Next64();
    if constexpr (sizeof(T) == 4) {
      x.push_back(FloatFromBits(static_cast<uint32_t>(bits)));
    } else {
      x.push_back(DoubleFromBits(bits));
    }
    x.push_back(static_cast<T>(random.Uniform(-2, 2)));
    x.push_back(static_cast<T>(random.Uniform(-760, 720)));
    x.push_back(static_cast<T>(random.Uniform(0, 10)));
  }
  return x;
}

template <class T>
void ExpectScalarBits(const Function<T>& function, std::span<const T> x, std::span<const T> y,
                      const std::string& where) {
  int shown = 0;
  for (size_t i = 0; i < x.size() && shown < 3; ++i) {
    if (FloatBits(y[i]) == FloatBits(function.scalar(x[i]))) continue;
    ADD_FAILURE() << where << " " << function.name << " at " << std::hexfloat << x[i] << ": "
                  << y[i] << ", scalar " << function.scalar(x[i]);
    ++shown;
  }
}

template <class T>
void TestBits(const Function<T>& function) {
  const std::vector<T> x = Inputs<T>();
  ForEachTarget([&](const std::string& target) {
    std::vector<T> y(x.size());
    function.batch(x, y);
    ExpectScalarBits<T>(function, x, y, target);
  });
}

// Sizes around every vector width, three misalignments, and neighbours that must stay as they are.
template <class T>
void TestSizes(const Function<T>& function) {
  const std::vector<T> inputs = Inputs<T>();
  constexpr T kPoison = T(-12345);
  ForEachTarget([&](const std::string& target) {
    for (size_t n = 0; n <= 35; ++n) {
      for (size_t offset = 0; offset < 3; ++offset) {
        const std::span<const T> x(inputs.data() + 7 * n + offset, n);
        std::vector<T> y(n + 8, kPoison);
        function.batch(x, std::span<T>(y.data() + offset, n));
        const std::string where = target + " n=" + std::to_string(n);
        ExpectScalarBits<T>(function, x, std::span<const T>(y.data() + offset, n), where);
        for (size_t i = 0; i < y.size(); ++i) {
          const bool outside = i < offset || i >= offset + n;
          ASSERT_TRUE(!outside || y[i] == kPoison) << where;
        }
        std::vector<T> in_place(x.begin(), x.end());
        function.batch(in_place, in_place);
        ExpectScalarBits<T>(function, x, in_place, where + " in place");
      }
    }
  });
}

TEST(ElementarySimdTest, GivesTheBitsOfTheScalarFunctions) {
  for (const auto& function : kFloatFunctions) TestBits(function);
  for (const auto& function : kDoubleFunctions) TestBits(function);
}

TEST(ElementarySimdTest, SinCosPiHasTheScalarBitsWhereVectorsServe) {
  std::vector<double> x = {0x1p-200, 0x0.fffffp-200, 0.25, 0x1.0000000000001p-2};
  Random random(15);
  for (int i = 0; i < 40000; ++i) x.push_back(random.Uniform(0, 0.25));
  for (double v = 0.25; v > 0x1p-210; v *= 0.37) x.push_back(v);
  ForEachTarget([&](const std::string& target) {
    for (const auto& function : {kDoubleFunctions[2], kDoubleFunctions[3]}) {
      std::vector<double> y(x.size());
      function.batch(x, y);
      ExpectScalarBits<double>(function, x, y, target);
    }
  });
}

TEST(ElementarySimdTest, TakesAnySizeAndAlignmentAndWorksInPlace) {
  for (const auto& function : kFloatFunctions) TestSizes(function);
  for (const auto& function : kDoubleFunctions) TestSizes(function);
}

#ifndef __EMSCRIPTEN__
TEST(ElementarySimdDeathTest, ChecksTheSizes) {
  std::vector<float> x(4);
  std::vector<float> y(3);
  EXPECT_DEATH(Exp(x, y), "4 against 3");
}
#endif

}  // namespace
}  // namespace assay
