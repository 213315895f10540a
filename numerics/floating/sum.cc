// SPDX-License-Identifier: Apache-2.0
#include "numerics/floating/sum.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include "numerics/floating/error_free.h"
#include "numerics/floating/exact_accumulator.h"
#include "numerics/floating/half.h"
#include "numerics/floating/internal/pairwise_lanes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "numerics/floating/sum.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace assay::floating {
namespace HWY_NAMESPACE {

#include "numerics/floating/internal/lanes-inl.h"

// Four registers at a time hold their state; a block of rows is swept once for each group of four,
// so that narrow targets do not spill. 32 rows of 256 bytes stay in the first-level cache.
constexpr int64_t kRowsPerBlock = 32;

struct KahanStep {
  template <class V>
  static void Step(V x, V& s, V& c) {
    const V y = x - c;
    const V t = s + y;
    c = (t - s) - y;
    s = t;
  }
};

struct NeumaierStep {
  template <class V>
  static void Step(V x, V& s, V& c) {
    const V t = s + x;
    const V z = t - s;
    c = c + ((s - (t - z)) + (x - z));
    s = t;
  }
};

struct DoubleDoubleStep {
  template <class V>
  static void Step(V x, V& s, V& c) {
    const V t = s + x;
    const V z = t - s;
    const V v = c + ((s - (t - z)) + (x - z));
    s = t + v;
    c = v - (s - t);
  }
};

template <class Method, class T>
void CompensatedRows(const T* HWY_RESTRICT x, int64_t rows, T* HWY_RESTRICT s, T* HWY_RESTRICT c) {
  using R = Register<T>;
  const int64_t width = R::Width();
  constexpr int64_t kLanes = LaneCount<T>();
  for (int64_t begin = 0; begin < rows; begin += kRowsPerBlock) {
    const int64_t end = std::min(rows, begin + kRowsPerBlock);
    for (int64_t lane = 0; lane < kLanes; lane += 4 * width) {
      T* sp = s + lane;
      T* cp = c + lane;
      auto s0 = R::Load(sp);
      auto s1 = R::Load(sp + width);
      auto s2 = R::Load(sp + 2 * width);
      auto s3 = R::Load(sp + 3 * width);
      auto c0 = R::Load(cp);
      auto c1 = R::Load(cp + width);
      auto c2 = R::Load(cp + 2 * width);
      auto c3 = R::Load(cp + 3 * width);
      for (int64_t row = begin; row < end; ++row) {
        const T* p = x + row * kLanes + lane;
        Method::Step(R::Load(p), s0, c0);
        Method::Step(R::Load(p + width), s1, c1);
        Method::Step(R::Load(p + 2 * width), s2, c2);
        Method::Step(R::Load(p + 3 * width), s3, c3);
      }
      R::Store(s0, sp);
      R::Store(s1, sp + width);
      R::Store(s2, sp + 2 * width);
      R::Store(s3, sp + 3 * width);
      R::Store(c0, cp);
      R::Store(c1, cp + width);
      R::Store(c2, cp + 2 * width);
      R::Store(c3, cp + 3 * width);
    }
  }
}

// out[lane] = the balanced tree over kRows rows.
template <int kRows, class T>
HWY_INLINE void PairwiseRows(const T* HWY_RESTRICT x, T* HWY_RESTRICT out) {
  using R = Register<T>;
  const int64_t width = R::Width();
  PairwiseTree<T, kRows>(out, [=](int64_t r, int64_t lane) HWY_ATTR -> FourRegisters<T> {
    const T* p = x + r * LaneCount<T>() + lane;
    return {{R::Load(p), R::Load(p + width), R::Load(p + 2 * width), R::Load(p + 3 * width)}};
  });
}

void KahanF32(const float* x, int64_t rows, float* s, float* c) {
  CompensatedRows<KahanStep>(x, rows, s, c);
}
void KahanF64(const double* x, int64_t rows, double* s, double* c) {
  CompensatedRows<KahanStep>(x, rows, s, c);
}
void NeumaierF32(const float* x, int64_t rows, float* s, float* c) {
  CompensatedRows<NeumaierStep>(x, rows, s, c);
}
void NeumaierF64(const double* x, int64_t rows, double* s, double* c) {
  CompensatedRows<NeumaierStep>(x, rows, s, c);
}
void DoubleDoubleF32(const float* x, int64_t rows, float* s, float* c) {
  CompensatedRows<DoubleDoubleStep>(x, rows, s, c);
}
void DoubleDoubleF64(const double* x, int64_t rows, double* s, double* c) {
  CompensatedRows<DoubleDoubleStep>(x, rows, s, c);
}
void PairwiseF32(const float* x, bool many, float* out) {
  many ? PairwiseRows<32>(x, out) : PairwiseRows<8>(x, out);
}
void PairwiseF64(const double* x, bool many, double* out) {
  many ? PairwiseRows<32>(x, out) : PairwiseRows<8>(x, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::floating
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::floating {

HWY_EXPORT(KahanF32);
HWY_EXPORT(KahanF64);
HWY_EXPORT(NeumaierF32);
HWY_EXPORT(NeumaierF64);
HWY_EXPORT(DoubleDoubleF32);
HWY_EXPORT(DoubleDoubleF64);
HWY_EXPORT(PairwiseF32);
HWY_EXPORT(PairwiseF64);

namespace {

template <class T>
constexpr int64_t kLanes = 256 / static_cast<int64_t>(sizeof(T));

constexpr int64_t kPairwiseRows = 8;

void CompensatedRows(SumMethod method, const float* x, int64_t rows, float* s, float* c) {
  switch (method) {
    case SumMethod::kKahan:
      HWY_DYNAMIC_DISPATCH(KahanF32)(x, rows, s, c);
      return;
    case SumMethod::kNeumaier:
      HWY_DYNAMIC_DISPATCH(NeumaierF32)(x, rows, s, c);
      return;
    default:
      HWY_DYNAMIC_DISPATCH(DoubleDoubleF32)(x, rows, s, c);
  }
}

void CompensatedRows(SumMethod method, const double* x, int64_t rows, double* s, double* c) {
  switch (method) {
    case SumMethod::kKahan:
      HWY_DYNAMIC_DISPATCH(KahanF64)(x, rows, s, c);
      return;
    case SumMethod::kNeumaier:
      HWY_DYNAMIC_DISPATCH(NeumaierF64)(x, rows, s, c);
      return;
    default:
      HWY_DYNAMIC_DISPATCH(DoubleDoubleF64)(x, rows, s, c);
  }
}

// The tree over 32 rows or 8.
void PairwiseRows(const float* x, bool many, float* out) {
  HWY_DYNAMIC_DISPATCH(PairwiseF32)(x, many, out);
}
void PairwiseRows(const double* x, bool many, double* out) {
  HWY_DYNAMIC_DISPATCH(PairwiseF64)(x, many, out);
}

template <class T>
class NaiveSum {
 public:
  void Add(std::span<const T> x) {
    T s = s_;
    for (const T value : x) s += value;
    s_ = s;
  }
  T Finish() const { return s_; }

 private:
  T s_ = T(-0.0);  // the identity of IEEE addition: -0 + x is x, for x = -0 too
};

// A list that comes in parts: all of a multiple of 512 elements but the last.
// -0 pads a row, since it changes no sum and makes no error.
template <class T>
class PairwiseSum {
 public:
  void Add(std::span<const T> x) {
    // While whole groups of four come in, the count of blocks stays a multiple of four.
    for (; lanes_.blocks() % 4 == 0 && x.size() >= 4 * kBlock; x = x.subspan(4 * kBlock)) {
      PairwiseRows(x.data(), true, lanes_.next());
      lanes_.Push(2);
    }
    for (; x.size() >= kBlock; x = x.subspan(kBlock)) {
      PairwiseRows(x.data(), false, lanes_.next());
      lanes_.Push(0);
    }
    if (x.empty()) return;
    alignas(64) T padded[kBlock];
    std::fill(std::copy(x.begin(), x.end(), padded), padded + kBlock, T(-0.0));
    PairwiseRows(padded, false, lanes_.next());
    lanes_.Push(0);
  }
  T Finish() { return lanes_.Finish(); }

 private:
  static constexpr size_t kBlock = static_cast<size_t>(kPairwiseRows * kLanes<T>);
  internal::PairwiseLanes<T> lanes_;
};

// Why kKahan keeps u|s| + (2u + 4 n u^2) A. In one lane, a step computes
//   y = x - c + g,  t = s + y + e,  c' = e + f,  s' = t
// with |g| <= u |y| from the subtraction, e the rounding error of the addition, and f what the two
// subtractions get wrong: f = 0 if |s| >= |y| (Dekker), and otherwise |f| <= u (1 + 2u) |y|, as t -
// s is then within one rounding of y and the second subtraction is exact (Sterbenz). Hence
//   (s' - c') = (s - c) + x + g - f,    |g - f| <= 2u (1 + u) |y|,    |y| <= (1 + u)(|x| + |c|),
// and |c| <= u |s'| + |f| adds at most 2u A to each of n steps. So the lane's s - c is off by no
// more than (2u + 4 n u^2) times its own A while n u <= 0.1. The lanes are combined as pairs (s,
// -c) by TwoSum, whose errors are kept in the low part; rounding the last pair costs u|s|, and the
// roundings of the low parts are of second order with at most lg L terms, which the constant 4
// covers.
template <class T>
class CompensatedSum {
 public:
  explicit CompensatedSum(SumMethod method) : method_(method) {
    std::fill(s_, s_ + kWidth, T(-0.0));
    std::fill(c_, c_ + kWidth, T(0));
  }
  void Add(std::span<const T> x) {
    const size_t rows = x.size() / kWidth;
    CompensatedRows(method_, x.data(), static_cast<int64_t>(rows), s_, c_);
    x = x.subspan(rows * kWidth);
    if (x.empty()) return;
    alignas(64) T padded[kWidth];
    std::fill(std::copy(x.begin(), x.end(), padded), padded + kWidth, T(-0.0));
    CompensatedRows(method_, padded, 1, s_, c_);
  }
  T Finish() {
    if (method_ == SumMethod::kKahan) {
      for (T& value : c_) value = -value;
    }
    for (size_t half = kWidth / 2; half > 0; half /= 2) {
      for (size_t j = 0; j < half; ++j) {
        if (method_ == SumMethod::kDoubleDouble) {
          const HiLo<T> sum = AddDoubleWords<T>({s_[j], c_[j]}, {s_[j + half], c_[j + half]});
          s_[j] = sum.hi;
          c_[j] = sum.lo;
        } else {
          const HiLo<T> sum = TwoSum(s_[j], s_[j + half]);
          s_[j] = sum.hi;
          c_[j] = (c_[j] + c_[j + half]) + sum.lo;
        }
      }
    }
    return s_[0] + c_[0];
  }

 private:
  static constexpr size_t kWidth = static_cast<size_t>(kLanes<T>);
  SumMethod method_;
  alignas(64) T s_[kWidth];
  alignas(64) T c_[kWidth];
};

// Feeds x, as it is or widened from 16 bits, to `sum`.
template <class T, class Sum>
void Feed(std::span<const T> x, Sum* sum) {
  if constexpr (std::is_floating_point_v<T>) {
    sum->Add(x);
  } else {
    constexpr size_t kPart = 512;
    float part[kPart];
    while (!x.empty()) {
      const size_t count = std::min(x.size(), kPart);
      for (size_t i = 0; i < count; ++i) part[i] = x[i].ToFloat();
      sum->Add(std::span<const float>(part, count));
      x = x.subspan(count);
    }
  }
}

template <class Sum, class T, class... Arguments>
auto SumBy(std::span<const T> x, Arguments... arguments) {
  Sum sum(arguments...);
  Feed(x, &sum);
  return sum.Finish();
}

// T: what the numbers are; W: what they are added up in.
template <class W, class T>
W ExactSum(std::span<const T> x) {
  ExactAccumulator accumulator;
  accumulator.Add(x);
  return accumulator.Round<W>();
}

template <class W, class T>
W SumImpl(std::span<const T> x, SumMethod method) {
  if (x.empty()) return W(0);
  W s = W(0);
  switch (method) {
    case SumMethod::kNaive:
      s = SumBy<NaiveSum<W>>(x);
      return s == s ? s : std::numeric_limits<W>::quiet_NaN();
    case SumMethod::kPairwise:
      s = SumBy<PairwiseSum<W>>(x);
      break;
    case SumMethod::kKahan:
    case SumMethod::kNeumaier:
    case SumMethod::kDoubleDouble:
      s = SumBy<CompensatedSum<W>>(x, method);
      break;
    case SumMethod::kExact:
      return ExactSum<W>(x);
  }
  // A partial sum that is not finite stays so to the end, in the correction as well: one test here
  // replaces a guard in every step. What the inputs mean is then settled without overflow.
  if (s - s != W(0)) return ExactSum<W>(x);
  if (s != W(0)) return s;
  const bool minus = std::all_of(x.begin(), x.end(), [](T value) {
    const W wide = static_cast<W>(value);
    return wide == W(0) && std::signbit(wide);
  });
  return minus ? W(-0.0) : W(0);
}

}  // namespace

std::string_view SumMethodName(SumMethod method) {
  switch (method) {
    case SumMethod::kNaive:
      return "naive";
    case SumMethod::kPairwise:
      return "pairwise";
    case SumMethod::kKahan:
      return "kahan";
    case SumMethod::kNeumaier:
      return "neumaier";
    case SumMethod::kDoubleDouble:
      return "double_double";
    case SumMethod::kExact:
      return "exact";
  }
  return "unknown";
}

float Sum(std::span<const float> x, SumMethod method) { return SumImpl<float>(x, method); }
double Sum(std::span<const double> x, SumMethod method) { return SumImpl<double>(x, method); }
float Sum(std::span<const Half> x, SumMethod method) { return SumImpl<float>(x, method); }
float Sum(std::span<const BFloat16> x, SumMethod method) { return SumImpl<float>(x, method); }

template <BinaryFloat T>
double SumErrorBound(SumMethod method, int64_t n, double abs_sum, double abs_result) {
  if (n <= 0) return 0;
  constexpr double u = static_cast<double>(kUnitRoundoff<T>);
  constexpr double kUp = 1.0 + 0x1p-50;
  const double count = static_cast<double>(n);
  const auto gamma = [](double k) {
    return k * u < 0.5 ? k * u / (1 - k * u) : std::numeric_limits<double>::infinity();
  };
  const double last = u * abs_result;
  switch (method) {
    case SumMethod::kNaive:
      return (count - 1) * u * abs_sum * kUp;
    case SumMethod::kPairwise: {
      int height = 0;
      while ((int64_t{1} << height) < n) ++height;
      return gamma(height) * abs_sum * kUp;
    }
    case SumMethod::kKahan:
      if (count * u > 0.1) return std::numeric_limits<double>::infinity();
      return (last + (2 * u + 4 * count * u * u) * abs_sum) * kUp;
    case SumMethod::kNeumaier:
      return (last + gamma(count) * gamma(count) * abs_sum) * kUp;
    case SumMethod::kDoubleDouble:
      return (last + 4 * count * u * u * abs_sum) * kUp;
    case SumMethod::kExact:
      return last * kUp;
  }
  return std::numeric_limits<double>::infinity();
}

template double SumErrorBound<float>(SumMethod, int64_t, double, double);
template double SumErrorBound<double>(SumMethod, int64_t, double, double);

}  // namespace assay::floating
#endif  // HWY_ONCE
