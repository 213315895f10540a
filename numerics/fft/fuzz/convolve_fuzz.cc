// SPDX-License-Identifier: Apache-2.0
//
// Convolutions and transforms of any bytes: a status where the documentation says so, and otherwise
// results that keep their proved bounds in exact arithmetic.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "numerics/core/bits.h"
#include "numerics/core/check.h"
#include "numerics/fft/checked_convolve.h"
#include "numerics/fft/convolve.h"
#include "numerics/fft/cosine.h"
#include "numerics/fft/fft.h"
#include "numerics/fft/multi.h"
#include "numerics/fft/overlap_save.h"
#include "numerics/fft/reference.h"
#include "numerics/floating/big_integer.h"

namespace assay::fft {
namespace {

using floating::Rational;

template <class T>
using Row = std::vector<T>;
template <class T>
constexpr double kUnit = static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
template <class T>
constexpr double kStep = static_cast<double>(std::numeric_limits<T>::denorm_min());

// Reads bytes, then zeros for ever.
class Bytes {
 public:
  explicit Bytes(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  uint32_t Byte() { return at_ < bytes_.size() ? bytes_[at_++] : 0; }
  uint32_t Below(uint32_t bound) { return Byte() % bound; }
  uint64_t Bits(int count) {
    uint64_t bits = 0;
    for (int k = 0; k < count; ++k) bits |= uint64_t{Byte()} << (8 * k);
    return bits;
  }

  // Small integers, numbers of any exponent and a few digits, or any bits at all.
  template <class T>
  T Number(uint32_t kind) {
    if (kind == 0) return static_cast<T>(static_cast<int>(Below(16)) - 8);
    if (kind == 1) {
      const uint64_t bits = Bits(2);
      const double wide = DoubleFromBits((bits & 0x7fff) << 48 | (bits >> 15) << 63);
      return std::isfinite(wide) ? static_cast<T>(wide) : T{1};
    }
    if (sizeof(T) == 4) return static_cast<T>(FloatFromBits(static_cast<uint32_t>(Bits(4))));
    return static_cast<T>(DoubleFromBits(Bits(8)));
  }

 private:
  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
};

// A row of up to `most` numbers, of which few are not zero.
template <class T>
Row<T> Sparse(Bytes& bytes, uint32_t most) {
  Row<T> x(1 + static_cast<size_t>(bytes.Bits(2) % most));
  const uint32_t kind = bytes.Below(3), count = bytes.Below(12);
  for (uint32_t i = 0; i <= count; ++i) {
    x[static_cast<size_t>(bytes.Bits(2)) % x.size()] = bytes.Number<T>(kind);
  }
  return x;
}

template <class T>
bool Finite(const Row<T>& x) {
  return std::all_of(x.begin(), x.end(), [](T v) { return std::isfinite(v); });
}

template <class T>
void FuzzChecked(Bytes& bytes) {
  const Row<T> a = Sparse<T>(bytes, 700), b = Sparse<T>(bytes, 700);
  CheckedOptions options;
  const uint32_t choice = bytes.Byte();
  options.relative_to = choice % 2 == 0 ? RelativeTo::kTerms : RelativeTo::kValue;
  options.direct_if_not_finite = choice / 2 % 2 == 1;
  const uint32_t power = choice / 4 % 32;
  options.tolerance =
      power == 0 ? 0 : std::max(2 * kUnit<T>, std::ldexp(1.0, -2 * static_cast<int>(power)));
  absl::StatusOr<CheckedConvolution<T>> c = ConvolveChecked<T>(a, b, options);
  const bool finite = Finite(a) && Finite(b);
  if (!finite && !options.direct_if_not_finite) {
    ASSAY_CHECK(c.status().code() == absl::StatusCode::kInvalidArgument);
    return;
  }
  ASSAY_CHECK(c.ok());
  const double tolerance = options.tolerance == 0 ? 4096 * kUnit<T> : options.tolerance;
  for (size_t k = 0; k < c->values.size(); ++k) {
    const double value = static_cast<double>(c->values[k]), bound = c->bounds[k];
    bool reached = false;
    Rational truth, terms;
    for (size_t j = k < b.size() ? 0 : k - b.size() + 1; j <= k && j < a.size(); ++j) {
      if (!std::isfinite(a[j]) || !std::isfinite(b[k - j])) {
        reached = true;
        break;
      }
      if (a[j] == 0 || b[k - j] == 0) continue;
      const Rational p =
          Rational(static_cast<double>(a[j])) * Rational(static_cast<double>(b[k - j]));
      truth = truth + p;
      terms = terms + p.Abs();
    }
    if (reached) {
      ASSAY_CHECK(std::isinf(bound));
      continue;
    }
    if (!std::isfinite(value)) {
      ASSAY_CHECK(std::isinf(bound) && !std::isfinite(static_cast<T>(truth.ToDouble())));
      continue;
    }
    ASSAY_CHECK((truth - Rational(value)).Abs() <= Rational(bound));
    const Rational against = options.relative_to == RelativeTo::kTerms ? terms : truth.Abs();
    ASSAY_CHECK(Rational(bound) <= Rational(tolerance) * against + Rational(2 * kStep<T>));
  }
}

template <class T>
void FuzzConvolve(Bytes& bytes) {
  Row<T> a = Sparse<T>(bytes, 300), b = Sparse<T>(bytes, 300);
  // The bounds are for results without overflow and underflow.
  for (Row<T>* x : {&a, &b}) {
    for (T& v : *x) {
      const double size = std::fabs(static_cast<double>(v));
      if (!(size < 0x1p40) || size < 0x1p-40) v = 0;
    }
  }
  ConvolveOptions options;
  options.mode = static_cast<ConvolveMode>(bytes.Below(3));
  const int64_t n = static_cast<int64_t>(a.size()), m = static_cast<int64_t>(b.size());
  const OutputRange range = WantedOutputs(n, m, options.mode);
  const Row<T> full = ConvolveReference<T>(a, b);
  const double most = kUnit<T> * static_cast<double>(std::min(n, m));
  double size_a = 0, size_b = 0;
  for (T v : a) size_a += std::fabs(static_cast<double>(v));
  for (T v : b) size_b += std::fabs(static_cast<double>(v));
  for (ConvolveMethod method : {ConvolveMethod::kAuto, ConvolveMethod::kDirect,
                                ConvolveMethod::kFft, ConvolveMethod::kOverlapSave}) {
    options.method = method;
    const Row<T> c = *Convolve<T>(a, b, options);
    ASSAY_CHECK(static_cast<int64_t>(c.size()) == range.end - range.begin);
    const double bound = ConvolveErrorBound<T>(a, b, options);
    for (size_t k = 0; k < c.size(); ++k) {
      const T direct = full[k + static_cast<size_t>(range.begin)];
      if (method == ConvolveMethod::kDirect) ASSAY_CHECK(c[k] == direct);
      ASSAY_CHECK(std::fabs(static_cast<double>(c[k]) - static_cast<double>(direct)) <=
                  bound + most * size_a * size_b);
    }
  }
  // A stream, cut anywhere.
  const int64_t block = m + bytes.Below(200);
  Convolver<T> stream = *Convolver<T>::Create(b, block);
  Row<T> out, whole(static_cast<size_t>(n + m - 1)),
      scratch(static_cast<size_t>(stream.plan().scratch_size()));
  ASSAY_CHECK(
      stream.plan().Convolve(a, 0, n + m - 1, std::span<T>(whole), std::span<T>(scratch)).ok());
  for (size_t at = 0; at < a.size();) {
    const size_t count = std::min<size_t>(1 + bytes.Byte(), a.size() - at);
    stream.Feed(std::span<const T>(a).subspan(at, count), &out);
    at += count;
  }
  stream.Finish(&out);
  ASSAY_CHECK(out == whole);
}

template <class T>
void FuzzCosine(Bytes& bytes) {
  const CosineKind kind = static_cast<CosineKind>(bytes.Below(8));
  const CosineNorm norm = static_cast<CosineNorm>(bytes.Below(2));
  Row<T> x = Sparse<T>(bytes, 200);
  absl::StatusOr<CosinePlan<T>> plan =
      CosinePlan<T>::Create(kind, static_cast<int64_t>(x.size()), norm);
  ASSAY_CHECK(plan.ok() == (x.size() > 1 || kind != CosineKind::kDct1));
  if (!plan.ok()) return;
  double size = 0;
  for (T& v : x) {
    if (!(std::fabs(v) < T{0x1p40f}) || std::fabs(v) < T{0x1p-40f}) v = 0;
    size += static_cast<double>(v) * static_cast<double>(v);
  }
  const CosinePlan<T> back =
      *CosinePlan<T>::Create(InverseKind(kind), static_cast<int64_t>(x.size()), norm);
  Row<T> y(x.size()), z(x.size()), scratch(static_cast<size_t>(plan->scratch_size())),
      more(static_cast<size_t>(back.scratch_size()));
  ASSAY_CHECK(plan->Transform(x, y, scratch).ok());
  ASSAY_CHECK(back.Transform(y, z, more).ok());
  double error = 0;
  for (size_t j = 0; j < x.size(); ++j) {
    const double d = static_cast<double>(z[j]) / static_cast<double>(plan->InverseDivisor()) -
                     static_cast<double>(x[j]);
    error += d * d;
  }
  // The second matrix stretches the first one's error at most twice more than the values.
  const double bound =
      2 * plan->L2ErrorBound() * (1 + back.L2ErrorBound()) + back.L2ErrorBound() + 2 * kUnit<T>;
  ASSAY_CHECK(std::sqrt(error) <= bound * std::sqrt(size) * (1 + 1e-9));
}

void FuzzShapes(Bytes& bytes) {
  std::vector<int64_t> shape;
  int64_t product = 1;
  bool right = true;
  for (uint32_t i = bytes.Below(5); i > 0; --i) {
    const uint32_t kind = bytes.Below(4);
    shape.push_back(kind == 0 ? static_cast<int64_t>(bytes.Bits(8)) : bytes.Below(12));
    right = right && shape.back() >= 1 && shape.back() <= 4096;
    product = right ? std::min<int64_t>(product * shape.back(), 1 << 20) : product;
  }
  const int axes = static_cast<int>(bytes.Below(6));
  right = right && axes >= 1 && axes <= static_cast<int>(shape.size());
  // A length that a plan would take, and much memory with it.
  if (!right && std::all_of(shape.begin(), shape.end(), [](int64_t e) { return e >= 1; })) {
    if (axes >= 1 && axes <= static_cast<int>(shape.size())) return;
  }
  absl::StatusOr<MultiPlan<double>> plan = MultiPlan<double>::Create(shape, axes);
  absl::StatusOr<MultiRealPlan<float>> real = MultiRealPlan<float>::Create(shape, axes);
  ASSAY_CHECK(plan.ok() == right && real.ok() == right);
  if (!right || product > 20000) return;
  std::vector<std::complex<double>> x(static_cast<size_t>(product));
  for (auto& v : x) v = {static_cast<double>(bytes.Byte()), 0};
  std::vector<std::complex<double>> y(x.size());
  std::vector<double> scratch(static_cast<size_t>(plan->scratch_size()));
  ASSAY_CHECK(plan->Forward(x, y, scratch).ok());
  ASSAY_CHECK(plan->Inverse(y, y, scratch).ok());
  for (size_t j = 0; j < x.size(); ++j) ASSAY_CHECK(std::abs(y[j] - x[j]) < 1e-9);
}

void FuzzOne(std::span<const uint8_t> data) {
  Bytes bytes(data);
  switch (bytes.Below(7)) {
    case 0:
      return FuzzChecked<float>(bytes);
    case 1:
      return FuzzChecked<double>(bytes);
    case 2:
      return FuzzConvolve<float>(bytes);
    case 3:
      return FuzzConvolve<double>(bytes);
    case 4:
      return FuzzCosine<float>(bytes);
    case 5:
      return FuzzCosine<double>(bytes);
    default:
      return FuzzShapes(bytes);
  }
}

}  // namespace
}  // namespace assay::fft

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  assay::fft::FuzzOne(std::span<const uint8_t>(data, size));
  return 0;
}
