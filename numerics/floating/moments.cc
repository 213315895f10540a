// SPDX-License-Identifier: Apache-2.0
#include "numerics/floating/moments.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include "numerics/floating/error_free.h"
#include "numerics/floating/internal/power_of_two.h"
#include "numerics/floating/norm.h"
#include "numerics/floating/sum.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "numerics/floating/moments.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace assay::floating {
namespace HWY_NAMESPACE {

#include "numerics/floating/internal/lanes-inl.h"

// Over rows of 32: the sums of x - mean and of its square, added to d and q, [32] each.
void Deviations(const double* HWY_RESTRICT x, int64_t rows, double mean, double* HWY_RESTRICT d,
                double* HWY_RESTRICT q) {
  using R = Register<double>;
  const int64_t width = R::Width();
  const auto m = R::Set(mean);
  for (int64_t lane = 0; lane < LaneCount<double>(); lane += 2 * width) {
    auto d0 = R::Load(d + lane);
    auto d1 = R::Load(d + lane + width);
    auto q0 = R::Load(q + lane);
    auto q1 = R::Load(q + lane + width);
    for (int64_t row = 0; row < rows; ++row) {
      const double* p = x + row * LaneCount<double>() + lane;
      const auto a = R::Load(p) - m;
      const auto b = R::Load(p + width) - m;
      d0 = d0 + a;
      d1 = d1 + b;
      q0 = q0 + a * a;
      q1 = q1 + b * b;
    }
    R::Store(d0, d + lane);
    R::Store(d1, d + lane + width);
    R::Store(q0, q + lane);
    R::Store(q1, q + lane + width);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::floating
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::floating {

HWY_EXPORT(Deviations);

namespace {

constexpr int64_t kLanes = 32;
constexpr int64_t kBlock = 512;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double SumLanes(double* lanes) {
  for (int64_t half = kLanes / 2; half > 0; half /= 2) {
    for (int64_t j = 0; j < half; ++j) lanes[j] += lanes[j + half];
  }
  return lanes[0];
}

HiLo<double> Times(HiLo<double> x, int exponent) {
  return {internal::TimesPowerOfTwo(x.hi, exponent), internal::TimesPowerOfTwo(x.lo, exponent)};
}

}  // namespace

void Moments::Rescale(int exponent) {
  if (exponent_ != kNoExponent && exponent_ != exponent) {
    mean_ = Times(mean_, exponent_ - exponent);
    squares_ = Times(squares_, 2 * (exponent_ - exponent));
  }
  exponent_ = exponent;
}

// x: finite, the largest |x| given, n from 1 to kBlock.
void Moments::AddBlock(const double* x, int64_t n, double largest) {
  Moments part;
  part.count_ = n;
  if (largest != 0) {
    const int exponent = internal::ExponentOf(largest);
    // Within 2^300 of 1, the units are as they are: neither squares nor their sums get lost.
    part.exponent_ = exponent >= -300 && exponent <= 300 ? 0 : exponent;
    double scaled[kBlock];
    if (part.exponent_ != 0) {
      for (int64_t i = 0; i < n; ++i) {
        scaled[i] = internal::TimesPowerOfTwo(x[i], -part.exponent_);
      }
      x = scaled;
    }
    const double count = static_cast<double>(n);
    const std::span<const double> values(x, static_cast<size_t>(n));
    const double mean = Sum(values, SumMethod::kPairwise) / count;
    double d[kLanes] = {};
    double q[kLanes] = {};
    const int64_t rows = n / kLanes;
    HWY_DYNAMIC_DISPATCH(Deviations)(x, rows, mean, d, q);
    for (int64_t i = rows * kLanes; i < n; ++i) {
      const double deviation = x[i] - mean;
      d[i % kLanes] += deviation;
      q[i % kLanes] += deviation * deviation;
    }
    const double shift = SumLanes(d) / count;  // what the mean was rounded by
    part.mean_ = FastTwoSum(mean, shift);
    part.squares_ = {std::max(0.0, SumLanes(q) - shift * shift * count), 0};
  }
  Merge(part);
}

void Moments::Merge(const Moments& other) {
  nan_ = nan_ || other.nan_;
  plus_infinity_ = plus_infinity_ || other.plus_infinity_;
  minus_infinity_ = minus_infinity_ || other.minus_infinity_;
  if (other.count_ == 0) return;
  if (count_ == 0) {
    count_ = other.count_;
    exponent_ = other.exponent_;
    mean_ = other.mean_;
    squares_ = other.squares_;
    return;
  }
  Moments b = other;
  const int exponent = std::max(exponent_, b.exponent_);
  Rescale(exponent);
  b.Rescale(exponent);
  const double mine = static_cast<double>(count_);
  const double theirs = static_cast<double>(b.count_);
  const double all = mine + theirs;
  const HiLo<double> delta = AddDoubleWords(b.mean_, {-mean_.hi, -mean_.lo});
  const double share = theirs / all;
  mean_ = AddToDoubleWord(mean_, delta.hi * share);
  squares_ = AddDoubleWords(squares_, b.squares_);
  squares_ = AddToDoubleWord(squares_, delta.hi * delta.hi * mine * share);
  count_ += b.count_;
}

// The numbers of a block that has others than finite ones.
void Moments::AddFinite(const double* x, int64_t n) {
  double finite[kBlock];
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (x[i] - x[i] == 0) {
      finite[count++] = x[i];
    } else if (x[i] != x[i]) {
      nan_ = true;
    } else {
      (x[i] > 0 ? plus_infinity_ : minus_infinity_) = true;
    }
  }
  if (count > 0) AddBlock(finite, count, NormInf({finite, static_cast<size_t>(count)}));
}

template <class T>
void Moments::AddWide(std::span<const T> x) {
  double wide[kBlock];
  while (!x.empty()) {
    const size_t count = std::min(x.size(), static_cast<size_t>(kBlock));
    const double* block = wide;
    if constexpr (std::is_same_v<T, double>) {
      block = x.data();
    } else {
      for (size_t i = 0; i < count; ++i) wide[i] = static_cast<double>(x[i]);
    }
    const double largest = NormInf({block, count});
    if (largest - largest == 0) {
      AddBlock(block, static_cast<int64_t>(count), largest);
    } else {
      AddFinite(block, static_cast<int64_t>(count));
    }
    x = x.subspan(count);
  }
}

void Moments::Add(std::span<const double> x) { AddWide(x); }
void Moments::Add(std::span<const float> x) { AddWide(x); }
void Moments::Add(std::span<const Half> x) { AddWide(x); }
void Moments::Add(std::span<const BFloat16> x) { AddWide(x); }

double Moments::Mean() const {
  if (nan_ || (plus_infinity_ && minus_infinity_)) return kNaN;
  if (plus_infinity_) return kInfinity;
  if (minus_infinity_) return -kInfinity;
  if (count_ == 0) return kNaN;
  return exponent_ == kNoExponent ? 0 : internal::TimesPowerOfTwo(mean_.hi, exponent_);
}

double Moments::Variance() const {
  if (nan_ || plus_infinity_ || minus_infinity_ || count_ < 2) return kNaN;
  if (exponent_ == kNoExponent) return 0;
  return internal::TimesPowerOfTwo(squares_.hi / static_cast<double>(count_ - 1), 2 * exponent_);
}

double Moments::PopulationVariance() const {
  if (nan_ || plus_infinity_ || minus_infinity_ || count_ < 1) return kNaN;
  if (exponent_ == kNoExponent) return 0;
  return internal::TimesPowerOfTwo(squares_.hi / static_cast<double>(count_), 2 * exponent_);
}

double Moments::StandardDeviation() const {
  if (nan_ || plus_infinity_ || minus_infinity_ || count_ < 2) return kNaN;
  if (exponent_ == kNoExponent) return 0;
  return internal::TimesPowerOfTwo(std::sqrt(squares_.hi / static_cast<double>(count_ - 1)),
                                   exponent_);
}

}  // namespace assay::floating
#endif  // HWY_ONCE
