// SPDX-License-Identifier: Apache-2.0
#include "numerics/floating/sum.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include "numerics/core/check.h"
#include "numerics/floating/error_free.h"
#include "numerics/floating/exact_accumulator.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "numerics/floating/sum.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace assay::floating {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Four registers at a time hold their state; a block of rows is swept once for each group of four,
// so that narrow targets do not spill. 32 rows of 256 bytes stay in the first-level cache.
constexpr int64_t kRowsPerBlock = 32;

template <class T>
constexpr int64_t LaneCount() {
  return 256 / static_cast<int64_t>(sizeof(T));
}

// The widest register of the target, up to 64 bytes.
template <class T>
struct Register {
  using Tag = hn::CappedTag<T, 64 / sizeof(T)>;
  using V = hn::Vec<Tag>;
  static int64_t Width() { return static_cast<int64_t>(hn::Lanes(Tag())); }
  static V Load(const T* p) { return hn::LoadU(Tag(), p); }
  static void Store(V v, T* p) { hn::StoreU(v, Tag(), p); }
};

#if HWY_TARGET == HWY_WASM
// Highway 1.0.3 has no f64 arithmetic in wasm; the compiler's own vectors do.
template <>
struct Register<double> {
  typedef double V __attribute__((vector_size(16)));
  static int64_t Width() { return 2; }
  static V Load(const double* p) {
    V v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
  }
  static void Store(V v, double* p) { __builtin_memcpy(p, &v, sizeof v); }
};
#endif

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

// out[lane] = the balanced tree over eight rows.
template <class T>
void PairwiseRows(const T* HWY_RESTRICT x, T* HWY_RESTRICT out) {
  using R = Register<T>;
  const int64_t width = R::Width();
  constexpr int64_t kLanes = LaneCount<T>();
  for (int64_t lane = 0; lane < kLanes; lane += width) {
    const T* p = x + lane;
    const auto row = [&](int64_t r) HWY_ATTR { return R::Load(p + r * kLanes); };
    const auto a = (row(0) + row(1)) + (row(2) + row(3));
    const auto b = (row(4) + row(5)) + (row(6) + row(7));
    R::Store(a + b, out + lane);
  }
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
void PairwiseF32(const float* x, float* out) { PairwiseRows(x, out); }
void PairwiseF64(const double* x, double* out) { PairwiseRows(x, out); }

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
constexpr int kMaxLevels = 48;

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

void PairwiseRows(const float* x, float* out) { HWY_DYNAMIC_DISPATCH(PairwiseF32)(x, out); }
void PairwiseRows(const double* x, double* out) { HWY_DYNAMIC_DISPATCH(PairwiseF64)(x, out); }

template <class T>
T NaiveSum(std::span<const T> x) {
  T s = T(-0.0);  // the identity of IEEE addition: -0 + x is x, for x = -0 too
  for (const T value : x) s += value;
  return s;
}

// -0 pads a row, since it changes no sum and makes no error.
template <class T>
T PairwiseSum(std::span<const T> x) {
  constexpr int64_t kWidth = kLanes<T>;
  constexpr int64_t kBlock = kPairwiseRows * kWidth;
  const int64_t n = static_cast<int64_t>(x.size());
  // levels[k] holds the tree over 2^k blocks, as in a binary counter.
  alignas(64) T levels[kMaxLevels][kWidth];
  alignas(64) T sum[kWidth];
  alignas(64) T padded[kBlock];
  uint64_t used = 0;
  const auto push = [&](const T* block) {
    PairwiseRows(block, sum);
    int level = 0;
    while ((used >> level) & 1) {
      for (int64_t j = 0; j < kWidth; ++j) sum[j] = levels[level][j] + sum[j];
      used &= ~(uint64_t{1} << level);
      ++level;
    }
    std::copy(sum, sum + kWidth, levels[level]);
    used |= uint64_t{1} << level;
  };
  int64_t i = 0;
  for (; i + kBlock <= n; i += kBlock) push(x.data() + i);
  if (i < n) {
    std::fill(padded, padded + kBlock, T(-0.0));
    std::copy(x.data() + i, x.data() + n, padded);
    push(padded);
  }
  bool first = true;
  for (int level = 0; level < kMaxLevels; ++level) {
    if (((used >> level) & 1) == 0) continue;
    for (int64_t j = 0; j < kWidth; ++j) {
      sum[j] = first ? levels[level][j] : levels[level][j] + sum[j];
    }
    first = false;
  }
  for (int64_t half = kWidth / 2; half > 0; half /= 2) {
    for (int64_t j = 0; j < half; ++j) sum[j] = sum[j] + sum[j + half];
  }
  return sum[0];
}

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
T CompensatedSum(std::span<const T> x, SumMethod method) {
  constexpr int64_t kWidth = kLanes<T>;
  const int64_t n = static_cast<int64_t>(x.size());
  alignas(64) T s[kWidth];
  alignas(64) T c[kWidth];
  std::fill(s, s + kWidth, T(-0.0));
  std::fill(c, c + kWidth, T(0));
  const int64_t rows = n / kWidth;
  CompensatedRows(method, x.data(), rows, s, c);
  if (rows * kWidth < n) {
    alignas(64) T padded[kWidth];
    std::fill(padded, padded + kWidth, T(-0.0));
    std::copy(x.data() + rows * kWidth, x.data() + n, padded);
    CompensatedRows(method, padded, 1, s, c);
  }
  if (method == SumMethod::kKahan) {
    for (T& value : c) value = -value;
  }
  for (int64_t half = kWidth / 2; half > 0; half /= 2) {
    for (int64_t j = 0; j < half; ++j) {
      if (method == SumMethod::kDoubleDouble) {
        const HiLo<T> sum = AddDoubleWords<T>({s[j], c[j]}, {s[j + half], c[j + half]});
        s[j] = sum.hi;
        c[j] = sum.lo;
      } else {
        const HiLo<T> sum = TwoSum(s[j], s[j + half]);
        s[j] = sum.hi;
        c[j] = (c[j] + c[j + half]) + sum.lo;
      }
    }
  }
  return s[0] + c[0];
}

template <class T>
T ExactSum(std::span<const T> x) {
  ExactAccumulator accumulator;
  accumulator.Add(x);
  return accumulator.Round<T>();
}

template <class T>
T SumImpl(std::span<const T> x, SumMethod method) {
  if (x.empty()) return T(0);
  T s = T(0);
  switch (method) {
    case SumMethod::kNaive:
      s = NaiveSum(x);
      return s == s ? s : std::numeric_limits<T>::quiet_NaN();
    case SumMethod::kPairwise:
      s = PairwiseSum(x);
      break;
    case SumMethod::kKahan:
    case SumMethod::kNeumaier:
    case SumMethod::kDoubleDouble:
      s = CompensatedSum(x, method);
      break;
    case SumMethod::kExact:
      return ExactSum(x);
  }
  // A partial sum that is not finite stays so to the end, in the correction as well: one test here
  // replaces a guard in every step. What the inputs mean is then settled without overflow.
  if (s - s != T(0)) return ExactSum(x);
  if (s != T(0)) return s;
  const bool minus =
      std::all_of(x.begin(), x.end(), [](T value) { return value == T(0) && std::signbit(value); });
  return minus ? T(-0.0) : T(0);
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

float Sum(std::span<const float> x, SumMethod method) { return SumImpl(x, method); }
double Sum(std::span<const double> x, SumMethod method) { return SumImpl(x, method); }

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

float Dot(std::span<const float> x, std::span<const float> y) {
  ASSAY_CHECK(x.size() == y.size());
  float s = 0;
  for (size_t i = 0; i < x.size(); ++i) s += x[i] * y[i];
  return s;
}

double Dot(std::span<const double> x, std::span<const double> y) {
  ASSAY_CHECK(x.size() == y.size());
  double s = 0;
  for (size_t i = 0; i < x.size(); ++i) s += x[i] * y[i];
  return s;
}

double Dot2(std::span<const double> x, std::span<const double> y) {
  ASSAY_CHECK(x.size() == y.size());
  double s = 0;
  double c = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const HiLo<double> product = TwoProduct(x[i], y[i]);
    const HiLo<double> sum = TwoSum(s, product.hi);
    s = sum.hi;
    c += sum.lo + product.lo;
  }
  return s - s == 0 && c - c == 0 ? s + c : Dot(x, y);
}

double ExactDot(std::span<const double> x, std::span<const double> y) {
  ASSAY_CHECK(x.size() == y.size());
  ExactAccumulator accumulator;
  for (size_t i = 0; i < x.size(); ++i) {
    const HiLo<double> product = TwoProduct(x[i], y[i]);
    accumulator.Add(product.hi);
    if (product.lo - product.lo == 0) accumulator.Add(product.lo);
  }
  return accumulator.Round<double>();
}

}  // namespace assay::floating
#endif  // HWY_ONCE
