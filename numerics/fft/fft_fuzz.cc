// SPDX-License-Identifier: Apache-2.0
//
// As a libFuzzer target (see README.md): LLVMFuzzerTestOneInput at the end.
#include "numerics/fft/fft_fuzz.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstring>
#include <limits>
#include <vector>

#include "numerics/core/check.h"
#include "numerics/fft/convolve.h"
#include "numerics/fft/fft.h"
#include "numerics/fft/reference.h"

namespace assay::fft {
namespace {

// Bytes, then zeros for ever.
class Reader {
 public:
  explicit Reader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  uint64_t Bits(int count) {
    uint64_t value = 0;
    for (int b = 0; b < count; ++b) {
      value |= static_cast<uint64_t>(at_ < bytes_.size() ? bytes_[at_++] : 0) << (8 * b);
    }
    return value;
  }

  // A length from 1 to limit, small ones often.
  int64_t Length(int64_t limit) {
    const uint64_t bits = Bits(3);
    const int64_t most = std::min<int64_t>(limit, int64_t{1} << (1 + bits % 12));
    return 1 + static_cast<int64_t>((bits >> 8) % static_cast<uint64_t>(most));
  }

  // In [-1, 1), of a few bits so that short inputs still vary.
  double Number() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u + Bits(1);
    return static_cast<double>(static_cast<int64_t>(state_) >> 40) * 0x1p-23;
  }

 private:
  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
  uint64_t state_ = 1;
};

template <class T>
double Norm(const std::vector<std::complex<T>>& x,
            const std::vector<std::complex<T>>* minus = nullptr) {
  double sum = 0;
  for (size_t j = 0; j < x.size(); ++j) {
    double re = x[j].real(), im = x[j].imag();
    if (minus != nullptr) {
      re -= (*minus)[j].real();
      im -= (*minus)[j].imag();
    }
    sum += re * re + im * im;
  }
  return std::sqrt(sum);
}

template <class T>
void FuzzTransform(Reader& reader) {
  const double u = static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
  const int64_t n = reader.Length(4096);
  absl::StatusOr<Plan<T>> plan = Plan<T>::Create(n);
  ASSAY_CHECK(plan.ok());
  std::vector<std::complex<T>> x;
  for (int64_t j = 0; j < n; ++j) {
    const double re = reader.Number();
    const double im = reader.Number();
    x.push_back({static_cast<T>(re), static_cast<T>(im)});
  }
  std::vector<T> scratch(static_cast<size_t>(plan->scratch_size()));
  std::vector<std::complex<T>> y(x.size()), back = x;
  ASSAY_CHECK(plan->Forward(x, y, scratch).ok());
  const double e = plan->L2ErrorBound();
  const double size = Norm(x), root = std::sqrt(static_cast<double>(n));
  ASSAY_CHECK(std::fabs(Norm(y) - root * size) <= (e + 1e-12) * root * size);
  // In place, forward and inverse.
  ASSAY_CHECK(plan->Forward(back, back, scratch).ok());
  ASSAY_CHECK(back == y);
  ASSAY_CHECK(plan->Inverse(back, back, scratch).ok());
  ASSAY_CHECK(Norm(back, &x) <= (2.1 * e + u) * size);
  // The sum of all outputs is n x[0].
  std::complex<double> sum;
  for (std::complex<T> v : y) sum += std::complex<double>(v.real(), v.imag());
  const std::complex<double> x0(x[0].real(), x[0].imag());
  ASSAY_CHECK(std::abs(sum - static_cast<double>(n) * x0) <= (e + 1e-12) * root * root * size);
  // Wrong lengths are refused.
  const std::span<const std::complex<T>> in(x);
  ASSAY_CHECK(!plan->Forward(in.first(x.size() - 1), y, scratch).ok());
  ASSAY_CHECK(!plan->Forward(x, y, std::span<T>(scratch).first(scratch.size() - 1)).ok());
}

template <class T>
void FuzzConvolve(Reader& reader) {
  const int64_t n = reader.Length(2048), m = reader.Length(256);
  std::vector<T> a, b;
  for (int64_t j = 0; j < n; ++j) a.push_back(static_cast<T>(reader.Number()));
  for (int64_t j = 0; j < m; ++j) b.push_back(static_cast<T>(reader.Number()));
  ConvolveOptions by_fft, direct;
  by_fft.method = ConvolveMethod::kFft;
  direct.method = ConvolveMethod::kDirect;
  const std::vector<T> fast = *Convolve<T>(a, b, by_fft), slow = *Convolve<T>(a, b, direct);
  ASSAY_CHECK(slow == ConvolveReference<T>(a, b));
  const double bound = ConvolveErrorBound<T>(a, b);
  double abs_sum = 0;
  for (T v : b) abs_sum += std::fabs(v);
  const double slow_bound = static_cast<double>(std::numeric_limits<T>::epsilon()) * m * abs_sum;
  for (size_t k = 0; k < fast.size(); ++k) {
    ASSAY_CHECK(std::fabs(static_cast<double>(fast[k]) - slow[k]) <= bound + slow_bound);
  }
}

}  // namespace

void FuzzOne(std::span<const uint8_t> bytes) {
  Reader reader(bytes);
  switch (reader.Bits(1) % 5) {
    case 0:
      return FuzzTransform<float>(reader);
    case 1:
      return FuzzTransform<double>(reader);
    case 2:
      return FuzzConvolve<float>(reader);
    case 3:
      return FuzzConvolve<double>(reader);
    default: {
      // Any number at all as a length: a status, or a plan if it is small.
      const int64_t n = static_cast<int64_t>(reader.Bits(8));
      if (n > 100000 && n <= kMaxSize) return;
      ASSAY_CHECK(Plan<double>::Create(n).ok() == (n >= 1 && n <= 100000));
      ASSAY_CHECK(RealPlan<float>::Create(n).ok() == (n >= 1 && n <= 100000));
    }
  }
}

}  // namespace assay::fft

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  assay::fft::FuzzOne(std::span<const uint8_t>(data, size));
  return 0;
}
