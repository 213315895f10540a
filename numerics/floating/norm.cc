// SPDX-License-Identifier: Apache-2.0
#include "numerics/floating/norm.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include "numerics/floating/error_free.h"
#include "numerics/floating/exact_accumulator.h"
#include "numerics/floating/internal/pairwise_lanes.h"
#include "numerics/floating/internal/power_of_two.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "numerics/floating/norm.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace assay::floating {
namespace HWY_NAMESPACE {

#include "numerics/floating/internal/lanes-inl.h"

using Doubles = Register<double>;
constexpr int64_t kLanes = 32;

struct Magnitude {
  HWY_INLINE Doubles::V operator()(Doubles::V v) const { return Doubles::Abs(v); }
};
struct Square {
  HWY_INLINE Doubles::V operator()(Doubles::V v) const { return v * v; }
};

// out[lane] = the balanced tree over the terms of eight rows.
template <class Term, class T>
HWY_INLINE void EightRows(const T* HWY_RESTRICT x, double* HWY_RESTRICT out) {
  const Term term;
  for (int64_t lane = 0; lane < kLanes; lane += Doubles::Width()) {
    const auto row = [&](int64_t r) HWY_ATTR { return term(LoadWide(x + r * kLanes + lane)); };
    const auto a = (row(0) + row(1)) + (row(2) + row(3));
    const auto b = (row(4) + row(5)) + (row(6) + row(7));
    Doubles::Store(a + b, out + lane);
  }
}
void MagnitudesF64(const double* x, double* out) { EightRows<Magnitude>(x, out); }
void MagnitudesF32(const float* x, double* out) { EightRows<Magnitude>(x, out); }
void SquaresF64(const double* x, double* out) { EightRows<Square>(x, out); }
void SquaresF32(const float* x, double* out) { EightRows<Square>(x, out); }

// The largest |x| over whole rows of 32, NaN left out, of which *nan tells.
template <class T>
HWY_INLINE double Largest(const T* HWY_RESTRICT x, int64_t rows, bool* nan) {
  const int64_t width = Doubles::Width();
  auto m0 = Doubles::Set(0.0);
  auto m1 = m0;
  Doubles::Flags nan0, nan1;
  for (int64_t at = 0; at < rows * kLanes; at += 2 * width) {
    const auto a = LoadWide(x + at);
    const auto b = LoadWide(x + at + width);
    nan0.OrNan(a);
    nan1.OrNan(b);
    // What the maximum with a NaN is differs among machines.
    m0 = Doubles::Max(m0, Doubles::ZeroIfNan(Doubles::Abs(a)));
    m1 = Doubles::Max(m1, Doubles::ZeroIfNan(Doubles::Abs(b)));
  }
  nan0.Or(nan1);
  *nan = nan0.Any();
  double lanes[8];
  Doubles::Store(Doubles::Max(m0, m1), lanes);
  return *std::max_element(lanes, lanes + width);
}
double LargestF64(const double* x, int64_t rows, bool* nan) { return Largest(x, rows, nan); }
double LargestF32(const float* x, int64_t rows, bool* nan) { return Largest(x, rows, nan); }

}  // namespace HWY_NAMESPACE
}  // namespace assay::floating
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::floating {

HWY_EXPORT(MagnitudesF64);
HWY_EXPORT(MagnitudesF32);
HWY_EXPORT(SquaresF64);
HWY_EXPORT(SquaresF32);
HWY_EXPORT(LargestF64);
HWY_EXPORT(LargestF32);

namespace {

constexpr size_t kLanes = 32;
constexpr size_t kBlock = 8 * kLanes;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Magnitudes {
  static void Eight(const double* x, double* out) { HWY_DYNAMIC_DISPATCH(MagnitudesF64)(x, out); }
  static void Eight(const float* x, double* out) { HWY_DYNAMIC_DISPATCH(MagnitudesF32)(x, out); }
};
struct Squares {
  static void Eight(const double* x, double* out) { HWY_DYNAMIC_DISPATCH(SquaresF64)(x, out); }
  static void Eight(const float* x, double* out) { HWY_DYNAMIC_DISPATCH(SquaresF32)(x, out); }
};

// The sum of the terms of x 2^-exponent.
template <class Terms, class T>
double SumOf(std::span<const T> x, int exponent) {
  internal::PairwiseLanes<double> lanes;
  T part[kBlock];
  while (!x.empty()) {
    const size_t count = std::min(kBlock, x.size());
    const T* block = x.data();
    if (count < kBlock || exponent != 0) {
      for (size_t i = 0; i < kBlock; ++i) {
        part[i] = i < count ? static_cast<T>(internal::TimesPowerOfTwo(
                                  static_cast<double>(block[i]), -exponent))
                            : T(0);
      }
      block = part;
    }
    Terms::Eight(block, lanes.next());
    lanes.Push(0);
    x = x.subspan(count);
  }
  return lanes.Finish() + 0.0;  // of nothing -0, else
}

double LargestRows(const double* x, int64_t rows, bool* nan) {
  return HWY_DYNAMIC_DISPATCH(LargestF64)(x, rows, nan);
}
double LargestRows(const float* x, int64_t rows, bool* nan) {
  return HWY_DYNAMIC_DISPATCH(LargestF32)(x, rows, nan);
}

// The largest |x|; NaN if there is one and no infinity.
template <class T>
double Largest(std::span<const T> x) {
  const size_t whole = x.size() - x.size() % kLanes;
  bool nan = false;
  double largest = LargestRows(x.data(), static_cast<int64_t>(whole / kLanes), &nan);
  for (const T value : x.subspan(whole)) {
    const double magnitude = std::fabs(static_cast<double>(value));
    largest = magnitude > largest ? magnitude : largest;
    nan = nan || value != value;
  }
  return nan && largest < kInfinity ? kNaN : largest;
}

template <class T>
T Norm1Of(std::span<const T> x) {
  const double sum = SumOf<Magnitudes>(x, 0);
  if (sum - sum == 0) return static_cast<T>(sum);
  if (const double largest = Largest(x); largest - largest != 0) return static_cast<T>(largest);
  ExactAccumulator exact;  // the roundings of finite numbers overflowed; the sum itself need not
  for (const T value : x) exact.Add(std::fabs(static_cast<double>(value)));
  return exact.Round<T>();
}

template <class T>
T Norm2Of(std::span<const T> x) {
  const double plain = SumOf<Squares>(x, 0);
  // Squares that underflow err by 2^-1075 each, which is nothing beside 2^-900 for any n. Of f32
  // all squares are exact.
  if (std::is_same_v<T, float> ? plain - plain == 0 : plain >= 0x1p-900 && plain < kInfinity) {
    return static_cast<T>(std::sqrt(plain));
  }
  const double largest = Largest(x);
  if (largest == 0 || largest - largest != 0) return static_cast<T>(largest);
  const int exponent = internal::ExponentOf(largest);
  const double root = std::sqrt(SumOf<Squares>(x, exponent));
  return static_cast<T>(internal::TimesPowerOfTwo(root, exponent));
}

HiLo<double> SquareOf(double x) { return TwoProduct(x, x); }

}  // namespace

double Norm1(std::span<const double> x) { return Norm1Of(x); }
float Norm1(std::span<const float> x) { return Norm1Of(x); }
double Norm2(std::span<const double> x) { return Norm2Of(x); }
float Norm2(std::span<const float> x) { return Norm2Of(x); }
double NormInf(std::span<const double> x) { return Largest(x); }
float NormInf(std::span<const float> x) { return static_cast<float>(Largest(x)); }

double Hypot(double x, double y, double z) {
  const double a = std::fabs(x);
  const double b = std::fabs(y);
  const double c = std::fabs(z);
  if (a == kInfinity || b == kInfinity || c == kInfinity) return kInfinity;
  if (a != a || b != b || c != c) return kNaN;
  const double largest = std::max(std::max(a, b), c);
  if (largest == 0) return 0;
  const int exponent = internal::ExponentOf(largest);
  const auto scaled = [exponent](double v) { return internal::TimesPowerOfTwo(v, -exponent); };
  const HiLo<double> s =
      AddDoubleWords(AddDoubleWords(SquareOf(scaled(a)), SquareOf(scaled(b))), SquareOf(scaled(c)));
  // One step of Newton's on the rounded root, with what the sum and the root were rounded by.
  const double root = std::sqrt(s.hi);
  const HiLo<double> back = SquareOf(root);
  const double rest = ((s.hi - back.hi) - back.lo) + s.lo;
  return internal::TimesPowerOfTwo(root + rest / (2 * root), exponent);
}

double Hypot(double x, double y) { return Hypot(x, y, 0.0); }

// Squares of f32 are exact in f64, and their sum is rounded at 2^-53.
float Hypot(float x, float y, float z) {
  const double a = static_cast<double>(x);
  const double b = static_cast<double>(y);
  const double c = static_cast<double>(z);
  const double sum = (a * a + b * b) + c * c;
  if (sum - sum == 0) return static_cast<float>(std::sqrt(sum));
  return static_cast<float>(Hypot(a, b, c));
}

float Hypot(float x, float y) { return Hypot(x, y, 0.0f); }

template <class T>
double NormErrorBound(NormKind kind, int64_t n, double result) {
  if (n <= 0 || kind == NormKind::kInfinity) return 0;
  int height = 0;
  while ((int64_t{1} << height) < n) ++height;
  // Relative to the exact value; 2^-50 more covers the difference, and rounding here.
  const double lanes = (height + (kind == NormKind::kTwo ? 1 : 0)) * 0x1p-53;
  const double half = kind == NormKind::kTwo ? 0.5 : 1;
  double relative = half * lanes / (1 - lanes);
  if (kind == NormKind::kTwo) relative += 0x1p-53;
  if (std::is_same_v<T, float>) relative += 0x1p-24;
  const double least = static_cast<double>(std::numeric_limits<T>::denorm_min());
  return relative * result * (1 + 0x1p-20) + (result < 0x1p-120 ? least : 0);
}

template double NormErrorBound<float>(NormKind, int64_t, double);
template double NormErrorBound<double>(NormKind, int64_t, double);

}  // namespace assay::floating
#endif  // HWY_ONCE
