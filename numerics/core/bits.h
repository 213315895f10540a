// SPDX-License-Identifier: Apache-2.0
//
// The bits of floating point numbers, distances between them in units in the last place, and bytes
// in a fixed order: what hashing, comparing and recording exact results needs.
#ifndef ASSAY_NUMERICS_CORE_BITS_H_
#define ASSAY_NUMERICS_CORE_BITS_H_

#include <cstdint>
#include <limits>

namespace assay {

static_assert(std::numeric_limits<float>::is_iec559 && sizeof(float) == 4);
static_assert(std::numeric_limits<double>::is_iec559 && sizeof(double) == 8);

// The IEEE 754 encoding of x, NaN payloads as they are. (Emscripten 3.1.6 has no std::bit_cast.)
constexpr uint32_t FloatBits(float x) { return __builtin_bit_cast(uint32_t, x); }
constexpr uint64_t FloatBits(double x) { return __builtin_bit_cast(uint64_t, x); }

// The number with the given encoding.
constexpr float FloatFromBits(uint32_t bits) { return __builtin_bit_cast(float, bits); }
constexpr double DoubleFromBits(uint64_t bits) { return __builtin_bit_cast(double, bits); }

// As FloatBits, but every NaN becomes the one quiet NaN 0x7fc00000 or 0x7ff8000000000000: sign and
// payload of a computed NaN differ between machines, so they must not enter a hash.
constexpr uint32_t CanonicalBits(float x) { return x != x ? 0x7fc00000u : FloatBits(x); }
constexpr uint64_t CanonicalBits(double x) {
  return x != x ? uint64_t{0x7ff8000000000000} : FloatBits(x);
}

// Number of representable steps from a to b: 0 when equal, so 0 for +0 against -0 and for NaN
// against NaN; infinities are one step beyond the largest finite numbers; a NaN against a number
// is UINT64_MAX. Subnormals count as steps like any other.
constexpr uint64_t UlpDistance(float a, float b) {
  if (a != a || b != b) return (a != a && b != b) ? 0 : std::numeric_limits<uint64_t>::max();
  const auto order = [](float x) {
    const int64_t magnitude = static_cast<int64_t>(FloatBits(x) & 0x7fffffffu);
    return FloatBits(x) >> 31 ? -magnitude : magnitude;
  };
  const int64_t difference = order(a) - order(b);
  return static_cast<uint64_t>(difference < 0 ? -difference : difference);
}
constexpr uint64_t UlpDistance(double a, double b) {
  if (a != a || b != b) return (a != a && b != b) ? 0 : std::numeric_limits<uint64_t>::max();
  constexpr uint64_t kMagnitude = uint64_t{0x7fffffffffffffff};
  const uint64_t ma = FloatBits(a) & kMagnitude;
  const uint64_t mb = FloatBits(b) & kMagnitude;
  if (FloatBits(a) >> 63 == FloatBits(b) >> 63) return ma > mb ? ma - mb : mb - ma;
  return ma + mb;
}

// Distance from |x| to the next larger number of the same format; NaN for infinities and NaN.
constexpr float Ulp(float x) {
  const uint32_t magnitude = FloatBits(x) & 0x7fffffffu;
  if (magnitude >= 0x7f800000u) return std::numeric_limits<float>::quiet_NaN();
  if (magnitude == 0x7f7fffffu) return FloatFromBits(0x73800000u);  // 2^104, as below infinity
  return FloatFromBits(magnitude + 1) - FloatFromBits(magnitude);
}
constexpr double Ulp(double x) {
  const uint64_t magnitude = FloatBits(x) & uint64_t{0x7fffffffffffffff};
  if (magnitude >= uint64_t{0x7ff0000000000000}) return std::numeric_limits<double>::quiet_NaN();
  if (magnitude == uint64_t{0x7fefffffffffffff}) return DoubleFromBits(uint64_t{0x7ca} << 52);
  return DoubleFromBits(magnitude + 1) - DoubleFromBits(magnitude);
}

// Little-endian bytes, whatever the machine's order. `out` and `in` have room for the value.
inline void StoreLittleEndian(uint32_t value, uint8_t* out) {
  for (int i = 0; i < 4; ++i) out[i] = static_cast<uint8_t>(value >> (8 * i));
}
inline void StoreLittleEndian(uint64_t value, uint8_t* out) {
  for (int i = 0; i < 8; ++i) out[i] = static_cast<uint8_t>(value >> (8 * i));
}
inline void StoreLittleEndian(float value, uint8_t* out) {
  StoreLittleEndian(CanonicalBits(value), out);
}
inline void StoreLittleEndian(double value, uint8_t* out) {
  StoreLittleEndian(CanonicalBits(value), out);
}
inline uint32_t LoadLittleEndian32(const uint8_t* in) {
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value |= static_cast<uint32_t>(in[i]) << (8 * i);
  return value;
}
inline uint64_t LoadLittleEndian64(const uint8_t* in) {
  uint64_t value = 0;
  for (int i = 0; i < 8; ++i) value |= static_cast<uint64_t>(in[i]) << (8 * i);
  return value;
}

// Big-endian words, as network formats and SHA-256 want them.
inline void StoreBigEndian(uint32_t value, uint8_t* out) {
  for (int i = 0; i < 4; ++i) out[i] = static_cast<uint8_t>(value >> (24 - 8 * i));
}
inline uint32_t LoadBigEndian32(const uint8_t* in) {
  return static_cast<uint32_t>(in[0]) << 24 | static_cast<uint32_t>(in[1]) << 16 |
         static_cast<uint32_t>(in[2]) << 8 | static_cast<uint32_t>(in[3]);
}

// The 128-bit product of a and b.
struct Wide128 {
  uint64_t high;
  uint64_t low;
};
constexpr Wide128 MultiplyWide(uint64_t a, uint64_t b) {
  __extension__ using Uint128 = unsigned __int128;
  const Uint128 product = static_cast<Uint128>(a) * b;
  return {static_cast<uint64_t>(product >> 64), static_cast<uint64_t>(product)};
}

}  // namespace assay

#endif  // ASSAY_NUMERICS_CORE_BITS_H_
