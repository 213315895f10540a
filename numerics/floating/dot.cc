// SPDX-License-Identifier: Apache-2.0
#include "numerics/floating/dot.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include "numerics/core/check.h"
#include "numerics/floating/error_free.h"
#include "numerics/floating/exact_accumulator.h"
#include "numerics/floating/internal/pairwise_lanes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "numerics/floating/dot.cc"
#include "hwy/cache_control.h"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace assay::floating {
namespace HWY_NAMESPACE {

#include "numerics/floating/internal/lanes-inl.h"

using Doubles = Register<double>;
constexpr int64_t kLanes = 32;
constexpr int64_t kRowsPerBlock = 16;
// What is fetched ahead of use.
constexpr int64_t kAhead = 1024;

// x y - p for p = x y rounded (error_free.h, TwoProduct).
HWY_INLINE Doubles::V ProductError(Doubles::V x, Doubles::V y, Doubles::V p) {
  const auto factor = Doubles::Set(134217729.0);  // 2^27 + 1
  const auto cx = factor * x;
  const auto x_high = cx - (cx - x);
  const auto x_low = x - x_high;
  const auto cy = factor * y;
  const auto y_high = cy - (cy - y);
  const auto y_low = y - y_high;
  return x_low * y_low - (((p - x_high * y_high) - x_low * y_high) - x_high * y_low);
}

// out[lane] = the balanced tree over eight rows of products. (Four registers abreast, as the sums
// have it, are too much for the compiler here: it spills them.)
template <class T>
HWY_INLINE void EightRows(const T* HWY_RESTRICT x, const T* HWY_RESTRICT y,
                          double* HWY_RESTRICT out) {
  const int64_t width = Doubles::Width();
  for (int64_t lane = 0; lane < kLanes; lane += width) {
    const auto row = [&](int64_t r) HWY_ATTR {
      const int64_t at = r * kLanes + lane;
      return LoadWide(x + at) * LoadWide(y + at);
    };
    for (int64_t r = 0; r < 8; ++r) {
      hwy::Prefetch(x + r * kLanes + lane + kAhead);
      hwy::Prefetch(y + r * kLanes + lane + kAhead);
    }
    const auto a = (row(0) + row(1)) + (row(2) + row(3));
    const auto b = (row(4) + row(5)) + (row(6) + row(7));
    Doubles::Store(a + b, out + lane);
  }
}

// The same over four times as many rows, if there are `many`.
template <class T>
HWY_INLINE void PairwiseRows(const T* HWY_RESTRICT x, const T* HWY_RESTRICT y, bool many,
                             double* HWY_RESTRICT out) {
  if (!many) {
    EightRows(x, y, out);
    return;
  }
  alignas(64) double part[4][kLanes];
  for (int64_t k = 0; k < 4; ++k) EightRows(x + k * 8 * kLanes, y + k * 8 * kLanes, part[k]);
  for (int64_t lane = 0; lane < kLanes; lane += Doubles::Width()) {
    const auto at = [&](int64_t k) HWY_ATTR { return Doubles::Load(part[k] + lane); };
    Doubles::Store((at(0) + at(1)) + (at(2) + at(3)), out + lane);
  }
}

// One step of Dot2 in one register. Products of f32 have no error in f64.
template <class T>
HWY_INLINE void Dot2Step(const T* x, const T* y, Doubles::V& s, Doubles::V& c) {
  const auto a = LoadWide(x);
  const auto b = LoadWide(y);
  const auto p = a * b;
  const auto t = s + p;
  const auto z = t - s;
  auto lost = (s - (t - z)) + (p - z);
  if (std::is_same_v<T, double>) lost = lost + ProductError(a, b, p);
  c = c + lost;
  s = t;
}

template <class T>
HWY_INLINE void Dot2Rows(const T* HWY_RESTRICT x, const T* HWY_RESTRICT y, int64_t rows,
                         double* HWY_RESTRICT s, double* HWY_RESTRICT c) {
  const int64_t width = Doubles::Width();
  for (int64_t begin = 0; begin < rows; begin += kRowsPerBlock) {
    const int64_t end = std::min(rows, begin + kRowsPerBlock);
    for (int64_t lane = 0; lane < kLanes; lane += 2 * width) {
      auto s0 = Doubles::Load(s + lane);
      auto s1 = Doubles::Load(s + lane + width);
      auto c0 = Doubles::Load(c + lane);
      auto c1 = Doubles::Load(c + lane + width);
      for (int64_t row = begin; row < end; ++row) {
        const int64_t at = row * kLanes + lane;
        Dot2Step(x + at, y + at, s0, c0);
        Dot2Step(x + at + width, y + at + width, s1, c1);
      }
      Doubles::Store(s0, s + lane);
      Doubles::Store(s1, s + lane + width);
      Doubles::Store(c0, c + lane);
      Doubles::Store(c1, c + lane + width);
    }
  }
}

void PairwiseF64(const double* x, const double* y, bool many, double* out) {
  PairwiseRows(x, y, many, out);
}
void PairwiseF32(const float* x, const float* y, bool many, double* out) {
  PairwiseRows(x, y, many, out);
}
void Dot2F64(const double* x, const double* y, int64_t rows, double* s, double* c) {
  Dot2Rows(x, y, rows, s, c);
}
void Dot2F32(const float* x, const float* y, int64_t rows, double* s, double* c) {
  Dot2Rows(x, y, rows, s, c);
}

// Products of rows of 32 and their errors. True if all |x| and |y| are below `large` and all |x y|
// at least `small`; what a NaN makes of it means nothing.
bool SplitRows(const double* HWY_RESTRICT x, const double* HWY_RESTRICT y, int64_t rows,
               double* HWY_RESTRICT high, double* HWY_RESTRICT low, double large, double small) {
  const int64_t width = Doubles::Width();
  auto largest = Doubles::Set(0.0);
  auto minus_least = Doubles::Set(-large);
  for (int64_t at = 0; at < rows * kLanes; at += width) {
    const auto a = Doubles::Load(x + at);
    const auto b = Doubles::Load(y + at);
    const auto p = a * b;
    largest = Doubles::Max(largest, Doubles::Max(Doubles::Abs(a), Doubles::Abs(b)));
    minus_least = Doubles::Max(minus_least, Doubles::Set(0.0) - Doubles::Abs(p));
    Doubles::Store(p, high + at);
    Doubles::Store(ProductError(a, b, p), low + at);
  }
  double lanes[2][8];
  Doubles::Store(largest, lanes[0]);
  Doubles::Store(minus_least, lanes[1]);
  bool within = true;
  for (int64_t i = 0; i < width; ++i) {
    within = within && lanes[0][i] < large && lanes[1][i] <= -small;
  }
  return within;
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::floating
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::floating {

HWY_EXPORT(PairwiseF64);
HWY_EXPORT(PairwiseF32);
HWY_EXPORT(Dot2F64);
HWY_EXPORT(Dot2F32);
HWY_EXPORT(SplitRows);

namespace {

constexpr size_t kLanes = 32;
constexpr size_t kBlock = 8 * kLanes;  // what Pairwise takes, and of what parts are multiples

// The tree over 32 rows or 8.
void Pairwise(const double* x, const double* y, bool many, double* out) {
  HWY_DYNAMIC_DISPATCH(PairwiseF64)(x, y, many, out);
}
void Pairwise(const float* x, const float* y, bool many, double* out) {
  HWY_DYNAMIC_DISPATCH(PairwiseF32)(x, y, many, out);
}
void Dot2Rows(const double* x, const double* y, int64_t rows, double* s, double* c) {
  HWY_DYNAMIC_DISPATCH(Dot2F64)(x, y, rows, s, c);
}
void Dot2Rows(const float* x, const float* y, int64_t rows, double* s, double* c) {
  HWY_DYNAMIC_DISPATCH(Dot2F32)(x, y, rows, s, c);
}

// In rows that are filled up, the product of -0 and 0 changes no sum.
template <class T>
struct Padded {
  Padded(std::span<const T> x_part, std::span<const T> y_part) {
    std::fill(std::copy(x_part.begin(), x_part.end(), x), x + kBlock, T(-0.0));
    std::fill(std::copy(y_part.begin(), y_part.end(), y), y + kBlock, T(0));
  }
  T x[kBlock];
  T y[kBlock];
};

template <class T>
class PairwiseDot {
 public:
  void Add(std::span<const T> x, std::span<const T> y) {
    size_t i = 0;
    for (; lanes_.blocks() % 4 == 0 && i + 4 * kBlock <= x.size(); i += 4 * kBlock) {
      Pairwise(x.data() + i, y.data() + i, true, lanes_.next());
      lanes_.Push(2);
    }
    for (; i + kBlock <= x.size(); i += kBlock) {
      Pairwise(x.data() + i, y.data() + i, false, lanes_.next());
      lanes_.Push(0);
    }
    if (i == x.size()) return;
    const Padded<T> padded(x.subspan(i), y.subspan(i));
    Pairwise(padded.x, padded.y, false, lanes_.next());
    lanes_.Push(0);
  }
  double Finish() { return lanes_.Finish(); }

 private:
  internal::PairwiseLanes<double> lanes_;
};

template <class T>
class CompensatedDot {
 public:
  CompensatedDot() { std::fill(s_, s_ + kLanes, -0.0); }
  void Add(std::span<const T> x, std::span<const T> y) {
    const size_t rows = x.size() / kLanes;
    Dot2Rows(x.data(), y.data(), static_cast<int64_t>(rows), s_, c_);
    const size_t done = rows * kLanes;
    if (done == x.size()) return;
    const Padded<T> padded(x.subspan(done), y.subspan(done));
    Dot2Rows(padded.x, padded.y, 1, s_, c_);
  }
  double Finish() {
    for (size_t half = kLanes / 2; half > 0; half /= 2) {
      for (size_t j = 0; j < half; ++j) {
        const HiLo<double> sum = TwoSum(s_[j], s_[j + half]);
        s_[j] = sum.hi;
        c_[j] = (c_[j] + c_[j + half]) + sum.lo;
      }
    }
    return s_[0] + c_[0];
  }

 private:
  alignas(64) double s_[kLanes];
  alignas(64) double c_[kLanes] = {};
};

// Where TwoProduct is exact: no split overflows, and no product's error is lost below 2^-1074.
constexpr double kLarge = 0x1p500;
constexpr double kSmall = 0x1p-960;

class ExactDotSum {
 public:
  void Add(std::span<const double> x, std::span<const double> y) {
    alignas(64) double high[kPart];
    alignas(64) double low[kPart];
    size_t i = 0;
    while (i < x.size()) {
      const size_t count = std::min(kPart, x.size() - i - (x.size() - i) % kLanes);
      const std::span<const double> xs = x.subspan(i, count);
      const std::span<const double> ys = y.subspan(i, count);
      if (count == 0) break;
      const bool within = HWY_DYNAMIC_DISPATCH(SplitRows)(
          xs.data(), ys.data(), static_cast<int64_t>(count / kLanes), high, low, kLarge, kSmall);
      if (within || OnlyZerosAreSmall(xs, ys, std::span<const double>(high, count))) {
        sum_.Add(std::span<const double>(high, count));
        sum_.Add(std::span<const double>(low, count));
      } else {
        AddSingly(xs, ys);
      }
      i += count;
    }
    AddSingly(x.subspan(i), y.subspan(i));
  }
  // Products of f32 are exact in f64.
  void Add(std::span<const float> x, std::span<const float> y) {
    alignas(64) double product[kPart];
    for (size_t i = 0; i < x.size(); i += kPart) {
      const size_t count = std::min(kPart, x.size() - i);
      for (size_t k = 0; k < count; ++k) {
        product[k] = static_cast<double>(x[i + k]) * static_cast<double>(y[i + k]);
      }
      sum_.Add(std::span<const double>(product, count));
    }
  }
  const ExactAccumulator& sum() const { return sum_; }

 private:
  static constexpr size_t kPart = 1024;
  static bool OnlyZerosAreSmall(std::span<const double> x, std::span<const double> y,
                                std::span<const double> high) {
    bool exact = true;
    for (size_t i = 0; i < x.size(); ++i) {
      exact = exact && std::fabs(x[i]) < kLarge && std::fabs(y[i]) < kLarge &&
              (std::fabs(high[i]) >= kSmall || x[i] == 0 || y[i] == 0);
    }
    return exact;
  }
  void AddSingly(std::span<const double> x, std::span<const double> y) {
    for (size_t i = 0; i < x.size(); ++i) sum_.AddProduct(x[i], y[i]);
  }
  ExactAccumulator sum_;
};

// Feeds x and y to `sum`, 16-bit types widened to f32.
template <class T, class Sum>
void Feed(std::span<const T> x, std::span<const T> y, Sum* sum) {
  if constexpr (std::is_floating_point_v<T>) {
    sum->Add(x, y);
  } else {
    float wide_x[kBlock];
    float wide_y[kBlock];
    for (size_t i = 0; i < x.size(); i += kBlock) {
      const size_t count = std::min(kBlock, x.size() - i);
      for (size_t k = 0; k < count; ++k) {
        wide_x[k] = x[i + k].ToFloat();
        wide_y[k] = y[i + k].ToFloat();
      }
      sum->Add(std::span<const float>(wide_x, count), std::span<const float>(wide_y, count));
    }
  }
}

template <class T>
using Result = std::conditional_t<std::is_same_v<T, double>, double, float>;

template <class T>
Result<T> ExactImpl(std::span<const T> x, std::span<const T> y) {
  ASSAY_CHECK_EQ(x.size(), y.size());
  ExactDotSum sum;
  Feed(x, y, &sum);
  return sum.sum().template Round<Result<T>>();
}

template <class Sum, class T>
Result<T> Impl(std::span<const T> x, std::span<const T> y) {
  ASSAY_CHECK_EQ(x.size(), y.size());
  if (x.empty()) return 0;
  Sum sum;
  Feed(x, y, &sum);
  const double s = sum.Finish();
  // As in sum.cc: what is not finite stays so to the end, and is then settled exactly.
  if (s - s != 0) return ExactImpl(x, y);
  if (s != 0) return static_cast<Result<T>>(s);
  for (size_t i = 0; i < x.size(); ++i) {
    const double a = static_cast<double>(x[i]);
    const double b = static_cast<double>(y[i]);
    if ((a != 0 && b != 0) || !std::signbit(a * b)) return 0;
  }
  return Result<T>(-0.0);
}

}  // namespace

#define ASSAY_DEFINE(T)                                        \
  Result<T> Dot(std::span<const T> x, std::span<const T> y) {  \
    return Impl<PairwiseDot<Result<T>>>(x, y);                 \
  }                                                            \
  Result<T> Dot2(std::span<const T> x, std::span<const T> y) { \
    return Impl<CompensatedDot<Result<T>>>(x, y);              \
  }                                                            \
  Result<T> ExactDot(std::span<const T> x, std::span<const T> y) { return ExactImpl(x, y); }
ASSAY_DEFINE(double)
ASSAY_DEFINE(float)
ASSAY_DEFINE(Half)
ASSAY_DEFINE(BFloat16)
#undef ASSAY_DEFINE

template <class T>
double DotErrorBound(DotMethod method, int64_t n, double abs_dot, double abs_result) {
  if (n <= 0) return 0;
  constexpr double u = 0x1p-53;
  constexpr double kUp = 1.0 + 0x1p-50;
  const auto gamma = [](double k) {
    return k * u < 0.5 ? k * u / (1 - k * u) : std::numeric_limits<double>::infinity();
  };
  int height = 0;
  while ((int64_t{1} << height) < n) ++height;
  const double count = static_cast<double>(n);
  const bool narrow = std::is_same_v<T, float>;
  const double last = (narrow ? 0x1p-24 : u) * abs_result;
  switch (method) {
    case DotMethod::kDot:
      return (narrow ? last + 2 * gamma(height) * abs_dot : gamma(height + 1) * abs_dot) * kUp;
    case DotMethod::kDot2:
      return (last + (narrow ? 2 * u * abs_result : 0) + gamma(count) * gamma(count) * abs_dot) *
             kUp;
    case DotMethod::kExactDot:
      return last * kUp;
  }
  return std::numeric_limits<double>::infinity();
}

template double DotErrorBound<float>(DotMethod, int64_t, double, double);
template double DotErrorBound<double>(DotMethod, int64_t, double, double);

}  // namespace assay::floating
#endif  // HWY_ONCE
