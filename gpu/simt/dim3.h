// SPDX-License-Identifier: Apache-2.0
// Extents and positions of grids and blocks, as CUDA's dim3.
#ifndef ASSAY_GPU_SIMT_DIM3_H_
#define ASSAY_GPU_SIMT_DIM3_H_

#include <cstdint>

namespace assay::simt {

struct Dim3 {
  uint32_t x = 1;
  uint32_t y = 1;
  uint32_t z = 1;

  constexpr Dim3() = default;
  constexpr Dim3(uint32_t x_extent, uint32_t y_extent = 1, uint32_t z_extent = 1)
      : x(x_extent), y(y_extent), z(z_extent) {}

  // The number of positions; extents of up to 2^31 x 2^16 x 2^16 do not overflow it.
  constexpr uint64_t Count() const { return uint64_t{x} * y * z; }

  friend constexpr bool operator==(const Dim3& a, const Dim3& b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
  }
};

// The position that number `index` has among all of `extent`, x fastest.
constexpr Dim3 PositionOf(uint64_t index, Dim3 extent) {
  return Dim3(static_cast<uint32_t>(index % extent.x),
              static_cast<uint32_t>(index / extent.x % extent.y),
              static_cast<uint32_t>(index / extent.x / extent.y));
}

// The number of a position among all of `extent`; the inverse of PositionOf.
constexpr uint64_t IndexOf(Dim3 position, Dim3 extent) {
  return position.x + uint64_t{extent.x} * (position.y + uint64_t{extent.y} * position.z);
}

}  // namespace assay::simt

#endif  // ASSAY_GPU_SIMT_DIM3_H_
