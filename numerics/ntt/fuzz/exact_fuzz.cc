// SPDX-License-Identifier: Apache-2.0
//
// Any integer factors by any route: the product equals the schoolbook's, or is refused for the same
// reason.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "numerics/core/check.h"
#include "numerics/ntt/exact_product.h"
#include "numerics/ntt/fuzz/bytes.h"
#include "numerics/ntt/modular.h"

namespace assay::ntt {
namespace {

void FuzzOne(std::span<const uint8_t> data) {
  Bytes bytes(data);
  const auto numbers = [&](size_t n) {
    const int shift = static_cast<int>(bytes.Next(1) % 64);
    std::vector<int64_t> x;
    for (size_t i = 0; i < n; ++i) {
      const int64_t value = static_cast<int64_t>(bytes.Word()) >> shift;
      x.push_back(bytes.Coin() ? value : static_cast<int64_t>(0 - static_cast<uint64_t>(value)));
    }
    return x;
  };
  const std::vector<int64_t> a = numbers(bytes.Length(600)), b = numbers(bytes.Length(600));
  const auto twin = MultiplyExactReference(a, b);
  ExactOptions options;
  const uint64_t route = bytes.Next(1) % 4;
  if (route < 3) options.route = static_cast<ExactRoute>(route);
  const auto product = MultiplyExact(a, b, options);
  if (route < 3 && product.status().code() == absl::StatusCode::kFailedPrecondition) return;
  ASSAY_CHECK(product.status() == twin.status());
  if (product.ok()) ASSAY_CHECK(product->coefficients == *twin);
  if (twin.ok() && product->primes > 0) {
    for (int64_t c : *twin) {
      ASSAY_CHECK(static_cast<double>(c < 0 ? -static_cast<Int128>(c) : c) <=
                  product->coefficient_bound);
    }
  }
}

}  // namespace
}  // namespace assay::ntt

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  assay::ntt::FuzzOne(std::span<const uint8_t>(data, size));
  return 0;
}
