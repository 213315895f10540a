// SPDX-License-Identifier: Apache-2.0
//
// Any logits: f32 in both arithmetics is f64 rounded, within two ulps and a half, or follows the
// rule for what is not finite; losses and gradients agree with the shares.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "numerics/core/bits.h"
#include "numerics/core/check.h"
#include "numerics/core/matrix_view.h"
#include "numerics/floating/cross_entropy.h"
#include "numerics/floating/fuzz/numbers.h"
#include "numerics/floating/softmax.h"

namespace assay::floating::fuzz {
namespace {

// Within `ulps` of a value known in f64, which itself errs by 2^-50.
bool Near(float computed, double expected, double ulps) {
  if (expected != expected) return FloatBits(computed) == 0x7fc00000u;
  if (std::isinf(expected)) return static_cast<double>(computed) == expected;
  const float rounded = static_cast<float>(expected);
  if (std::isinf(rounded)) return std::fabs(computed) >= std::numeric_limits<float>::max();
  if (std::isinf(computed)) return std::fabs(rounded) >= std::numeric_limits<float>::max();
  return std::fabs(static_cast<double>(computed) - expected) <=
         ulps * static_cast<double>(Ulp(rounded));
}

void FuzzRow(const std::vector<float>& x, AllMasked policy, uint32_t choice) {
  const std::vector<double> wide(x.begin(), x.end());
  std::vector<double> shares(x.size()), logs(x.size());
  Softmax(std::span<const double>(wide), std::span<double>(shares), policy);
  LogSoftmax(std::span<const double>(wide), std::span<double>(logs), policy);
  for (const Arithmetic arithmetic : {Arithmetic::kSingle, Arithmetic::kDouble}) {
    const bool single = arithmetic == Arithmetic::kSingle;
    std::vector<float> p(x.size()), l(x.size());
    Softmax(std::span<const float>(x), std::span<float>(p), policy, arithmetic);
    LogSoftmax(std::span<const float>(x), std::span<float>(l), policy, arithmetic);
    for (size_t i = 0; i < x.size(); ++i) {
      ASSAY_CHECK(Near(p[i], shares[i], single ? 2.2 : 0.51));
      ASSAY_CHECK(Near(l[i], logs[i], single ? 1.4 : 0.51));
    }
    // In place, and through a mask that keeps all.
    std::vector<float> same = x;
    std::vector<uint8_t> keep(x.size(), 1);
    const int64_t n = static_cast<int64_t>(x.size());
    SoftmaxOptions options;
    options.all_masked = policy;
    options.arithmetic = arithmetic;
    if (n > 0) options.keep = MatrixView<const uint8_t>(keep.data(), 1, n, n);
    ASSAY_CHECK(SoftmaxRows(MatrixView<const float>(same.data(), 1, n, n),
                            MatrixView<float>(same.data(), 1, n, n), options)
                    .ok());
    for (size_t i = 0; i < x.size(); ++i) ASSAY_CHECK(FloatBits(same[i]) == FloatBits(p[i]));
  }
  if (x.empty()) return;
  const size_t target = choice % x.size();
  const auto loss = CrossEntropy(std::span<const float>(x), static_cast<int64_t>(target), policy);
  ASSAY_CHECK(loss.ok());
  const bool all_masked =
      std::all_of(wide.begin(), wide.end(), [](double v) { return v == -HUGE_VAL; });
  if (!all_masked) ASSAY_CHECK(Near(*loss, 0.0 - logs[target], 1.4));
  std::vector<float> g(x.size());
  ASSAY_CHECK(CrossEntropyGradient(std::span<const float>(x), static_cast<int64_t>(target),
                                   std::span<float>(g), policy)
                  .ok());
  for (size_t i = 0; i < x.size(); ++i) {
    if (i != target && !(all_masked && policy == AllMasked::kZeros)) {
      ASSAY_CHECK(Near(g[i], shares[i], 2.2));
    }
    if (std::isfinite(shares[target])) ASSAY_CHECK(g[target] <= 0);
  }
}

void FuzzOne(Bytes bytes) {
  const uint32_t choice = bytes.Byte();
  const bool negative = (choice & 1) != 0;
  std::vector<float> x = bytes.Numbers<float>();
  // Masks are common, and logits near their largest.
  for (size_t i = 0; i < x.size() && (choice & 2) != 0; i += 1 + choice % 5) {
    x[i] = -std::numeric_limits<float>::infinity();
  }
  if ((choice & 4) != 0) {
    for (float& value : x) value = std::fmod(value, 300.0f);
  }
  FuzzRow(x, negative ? AllMasked::kNaN : AllMasked::kZeros, choice >> 3);
}

}  // namespace
}  // namespace assay::floating::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  assay::floating::fuzz::FuzzOne(
      assay::floating::fuzz::Bytes(std::span<const uint8_t>(data, size)));
  return 0;
}
