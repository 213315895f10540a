// SPDX-License-Identifier: Apache-2.0
// Checks the f32 -> f16 and f32 -> bf16 conversions over all 2^32 patterns against a second method:
// walking up through the f32 numbers and through the 16-bit numbers side by side, and comparing the
// distances to both neighbours in f64, where they are exact.
//
//   bazel run //numerics/floating:half_exhaustive        about half a minute, prints what it
//   checked
#include <cstdint>
#include <cstdio>
#include <initializer_list>

#include "numerics/core/bits.h"
#include "numerics/floating/half.h"

namespace {

using assay::FloatFromBits;
using assay::floating::BF16BitsFromF32Bits;
using assay::floating::F16BitsFromF32Bits;
using assay::floating::F32BitsFromBF16Bits;
using assay::floating::F32BitsFromF16Bits;

template <class Narrow, class Widen>
int64_t CountWrong(const char* name, uint16_t infinity, double beyond, Narrow narrow, Widen widen) {
  int64_t wrong = 0;
  uint16_t low = 0;  // largest 16-bit number not above the f32 number of the moment
  const auto value = [&](uint16_t bits) {
    return bits == infinity ? beyond : static_cast<double>(FloatFromBits(widen(bits)));
  };
  double at = 0;
  double next = value(1);
  for (uint32_t bits = 0; bits < 0x7f800000u; ++bits) {
    const double x = static_cast<double>(FloatFromBits(bits));
    while (low < infinity && x >= next) {
      ++low;
      at = next;
      next = low < infinity ? value(static_cast<uint16_t>(low + 1)) : next;
    }
    uint16_t expected = low;
    if (low < infinity) {
      const double down = x - at;
      const double up = next - x;
      if (up < down || (up == down && (low & 1) != 0)) expected = static_cast<uint16_t>(low + 1);
    }
    if (narrow(bits) != expected) ++wrong;
    if (narrow(bits | 0x80000000u) != (expected | 0x8000)) ++wrong;
  }
  for (uint32_t bits = 0x7f800000u; bits < 0x80000000u; ++bits) {
    const bool is_nan = bits > 0x7f800000u;
    for (const uint32_t sign : {0u, 0x80000000u}) {
      const uint16_t got = narrow(bits | sign);
      const bool right = is_nan ? (got & 0x7fff) > infinity : (got & 0x7fff) == infinity;
      if (!right || (got >> 15) != (sign >> 31)) ++wrong;
    }
  }
  std::printf("%s: 4294967296 patterns checked, %lld wrong\n", name, static_cast<long long>(wrong));
  return wrong;
}

}  // namespace

int main() {
  const int64_t wrong =
      CountWrong("f32 -> f16", 0x7c00, 65536.0, F16BitsFromF32Bits, F32BitsFromF16Bits) +
      CountWrong("f32 -> bf16", 0x7f80, 0x1p128, BF16BitsFromF32Bits, F32BitsFromBF16Bits);
  return wrong == 0 ? 0 : 1;
}
