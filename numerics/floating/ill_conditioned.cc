// SPDX-License-Identifier: Apache-2.0
#include "numerics/floating/ill_conditioned.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "numerics/core/bits.h"
#include "numerics/core/check.h"
#include "numerics/core/random.h"
#include "numerics/floating/error_free.h"
#include "numerics/floating/exact_accumulator.h"

namespace assay::floating {
namespace {

double PowerOfTwo(int exponent) {  // -1022 to 1023
  return DoubleFromBits(static_cast<uint64_t>(exponent + 1023) << 52);
}

// floor(log2 x) for normal x.
int Exponent(double x) { return static_cast<int>((FloatBits(x) >> 52) & 0x7ff) - 1023; }

// A random number in (-2^exponent, 2^exponent).
double Scaled(double uniform, int exponent) { return (2 * uniform - 1) * PowerOfTwo(exponent); }

}  // namespace

template <BinaryFloat T>
std::vector<T> IllConditionedSum(int64_t n, double condition, Random& random) {
  ASSAY_CHECK(n >= 6);
  ASSAY_CHECK(condition >= 1 && condition <= (sizeof(T) == 4 ? 1e30 : 1e300));
  const int bits = Exponent(condition);
  const int64_t half = n / 2;
  std::vector<T> x(static_cast<size_t>(n));
  ExactAccumulator sum;
  for (int64_t i = 0; i < n; ++i) {
    const double spread = random.Uniform();
    const double value = random.Uniform();
    double wanted = 0;
    if (i < half) {
      // The first and the last exponents are fixed, so that the range is reached.
      const int exponent = i == 0          ? bits + 1
                           : i == half - 1 ? 0
                                           : static_cast<int>(spread * (bits + 1));
      wanted = Scaled(i == 0 ? 0.75 + value / 4 : value, exponent);
    } else {
      const int64_t left = n - 1 - i;
      const int exponent =
          static_cast<int>(static_cast<int64_t>(bits) * left / std::max<int64_t>(n - half - 1, 1));
      ExactAccumulator rest = sum;
      rest.Add(-Scaled(left == 0 ? 0.75 + value / 4 : value, exponent));
      wanted = -static_cast<double>(rest.Round<T>());
    }
    x[static_cast<size_t>(i)] = static_cast<T>(wanted);
    sum.Add(static_cast<double>(x[static_cast<size_t>(i)]));
  }
  random.Shuffle(std::span<T>(x));
  return x;
}

template std::vector<float> IllConditionedSum(int64_t, double, Random&);
template std::vector<double> IllConditionedSum(int64_t, double, Random&);

HardDot IllConditionedDot(int64_t n, double condition, Random& random) {
  ASSAY_CHECK(n >= 6);
  ASSAY_CHECK(condition >= 1 && condition <= 1e250);
  const int bits = Exponent(condition);
  const int64_t half = n / 2;
  std::vector<double> x(static_cast<size_t>(n));
  std::vector<double> y(static_cast<size_t>(n));
  ExactAccumulator sum;
  for (int64_t i = 0; i < n; ++i) {
    const size_t k = static_cast<size_t>(i);
    const double spread = random.Uniform();
    const double first = random.Uniform();
    const double second = random.Uniform();
    if (i < half) {
      const int exponent = i == 0          ? bits / 2 + 1
                           : i == half - 1 ? 0
                                           : static_cast<int>(spread * (bits / 2.0 + 1));
      x[k] = Scaled(i == 0 ? 0.75 + first / 4 : first, exponent);
      y[k] = Scaled(i == 0 ? 0.75 + second / 4 : second, exponent);
    } else {
      const int64_t left = n - 1 - i;
      const int exponent = static_cast<int>(static_cast<int64_t>(bits / 2) * left /
                                            std::max<int64_t>(n - half - 1, 1));
      // Away from zero, so that the division below is harmless.
      x[k] = Scaled(first < 0.5 ? first / 4 : 1 - first / 4, exponent);
      ExactAccumulator rest = sum;
      rest.Add(-Scaled(left == 0 ? 0.75 + second / 4 : second, exponent));
      y[k] = -rest.Round<double>() / x[k];
    }
    const HiLo<double> product = TwoProduct(x[k], y[k]);
    sum.Add(product.hi);
    sum.Add(product.lo);
  }
  HardDot dot;
  for (const int64_t i : random.Permutation(n)) {
    dot.x.push_back(x[static_cast<size_t>(i)]);
    dot.y.push_back(y[static_cast<size_t>(i)]);
  }
  return dot;
}

}  // namespace assay::floating
