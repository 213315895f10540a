// SPDX-License-Identifier: Apache-2.0
#include "numerics/floating/internal/exact_blocks.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "numerics/core/bits.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "numerics/floating/internal/exact_blocks.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace assay::floating::internal {
namespace HWY_NAMESPACE {

#include "numerics/floating/internal/lanes-inl.h"

using Doubles = Register<double>;

// The sum over a register, exact here.
HWY_INLINE double Across(Doubles::V v) {
  double lanes[8];
  Doubles::Store(v, lanes);
  double sum = 0;
  for (int64_t i = 0; i < Doubles::Width(); ++i) sum += lanes[i];
  return sum;
}

// The largest |x|, NaN left out.
template <class T>
double Largest(const T* HWY_RESTRICT x, int64_t n) {
  const int64_t width = Doubles::Width();
  auto m0 = Doubles::Set(0.0);
  auto m1 = m0;
  for (int64_t i = 0; i < n; i += 2 * width) {
    m0 = Doubles::Max(m0, Doubles::Abs(LoadWide(x + i)));
    m1 = Doubles::Max(m1, Doubles::Abs(LoadWide(x + i + width)));
  }
  double lanes[8];
  Doubles::Store(Doubles::Max(m0, m1), lanes);
  double largest = 0;
  for (int64_t i = 0; i < width; ++i) largest = lanes[i] > largest ? lanes[i] : largest;
  return largest;
}

// Cuts a block at kLevels values of sigma; true if nothing is left.
template <int kLevels, class T>
bool Cut(const T* HWY_RESTRICT x, int64_t n, const double* HWY_RESTRICT sigma,
         double* HWY_RESTRICT sum) {
  const int64_t width = Doubles::Width();
  const auto s1 = Doubles::Set(sigma[0]);
  const auto s2 = Doubles::Set(sigma[1]);
  const auto s3 = Doubles::Set(sigma[2]);
  const auto zero = Doubles::Set(0.0);
  auto a1 = zero, a2 = zero, a3 = zero, b1 = zero, b2 = zero, b3 = zero;
  Doubles::Flags left_a, left_b;
  for (int64_t i = 0; i < n; i += 2 * width) {
    auto a = LoadWide(x + i);
    auto b = LoadWide(x + i + width);
    const auto qa1 = (s1 + a) - s1;
    const auto qb1 = (s1 + b) - s1;
    a = a - qa1;
    b = b - qb1;
    a1 = a1 + qa1;
    b1 = b1 + qb1;
    const auto qa2 = (s2 + a) - s2;
    const auto qb2 = (s2 + b) - s2;
    a = a - qa2;
    b = b - qb2;
    a2 = a2 + qa2;
    b2 = b2 + qb2;
    if (kLevels > 2) {
      const auto qa3 = (s3 + a) - s3;
      const auto qb3 = (s3 + b) - s3;
      a = a - qa3;
      b = b - qb3;
      a3 = a3 + qa3;
      b3 = b3 + qb3;
    }
    left_a.OrNotZero(a);
    left_b.OrNotZero(b);
  }
  sum[0] = Across(a1 + b1);
  sum[1] = Across(a2 + b2);
  sum[2] = Across(a3 + b3);
  left_a.Or(left_b);
  return !left_a.Any();
}

double LargestF32(const float* x, int64_t n) { return Largest(x, n); }
double LargestF64(const double* x, int64_t n) { return Largest(x, n); }
bool CutF32(const float* x, int64_t n, const double* sigma, double* sum) {
  return Cut<2>(x, n, sigma, sum);
}
bool CutF64(const double* x, int64_t n, const double* sigma, double* sum) {
  return Cut<3>(x, n, sigma, sum);
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::floating::internal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::floating::internal {

HWY_EXPORT(LargestF32);
HWY_EXPORT(LargestF64);
HWY_EXPORT(CutF32);
HWY_EXPORT(CutF64);

namespace {

struct Sigmas {
  double sigma[3];
};

// False for a largest number that is out of the question.
bool SigmasFor(double largest, Sigmas* sigmas) {
  if (!(largest < 0x1p1000)) return false;
  // largest < 2^(field - 1022); 11 bits more for 2048 numbers.
  const uint64_t field = std::max<uint64_t>(FloatBits(largest) >> 52, 1);
  sigmas->sigma[0] = DoubleFromBits((field + 12) << 52);
  sigmas->sigma[1] = sigmas->sigma[0] * 0x1p-42;
  sigmas->sigma[2] = sigmas->sigma[1] * 0x1p-42;
  return true;
}

}  // namespace

bool SumExactly(const float* x, int64_t n, double sum[3]) {
  Sigmas s;
  if (!SigmasFor(HWY_DYNAMIC_DISPATCH(LargestF32)(x, n), &s)) return false;
  return HWY_DYNAMIC_DISPATCH(CutF32)(x, n, s.sigma, sum) && sum[0] - sum[0] == 0;
}

bool SumExactly(const double* x, int64_t n, double sum[3]) {
  Sigmas s;
  if (!SigmasFor(HWY_DYNAMIC_DISPATCH(LargestF64)(x, n), &s)) return false;
  return HWY_DYNAMIC_DISPATCH(CutF64)(x, n, s.sigma, sum) && sum[0] - sum[0] == 0;
}

}  // namespace assay::floating::internal
#endif  // HWY_ONCE
