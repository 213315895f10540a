// SPDX-License-Identifier: Apache-2.0
//
// SHA-256: the identity of data, records and modules.
#ifndef ASSAY_NUMERICS_CORE_SHA256_H_
#define ASSAY_NUMERICS_CORE_SHA256_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace assay {

// A running SHA-256 over bytes that come in pieces of any size.
//
//   Sha256 hash;
//   hash.Update(bytes);
//   std::array<uint8_t, 32> digest = hash.Finish();
//
// Exact. Cost: about 64 rounds a 64-byte block, no allocation. Source: FIPS 180-4, sec. 6.2.
class Sha256 {
 public:
  Sha256();

  // Appends the bytes. At most 2^61 - 1 bytes in all.
  void Update(std::span<const uint8_t> bytes);
  void Update(std::string_view text);

  // Appends the numbers as little-endian bytes, a NaN as the canonical quiet NaN (bits.h), so that
  // the digest is the same on every machine.
  void Update(std::span<const float> values);
  void Update(std::span<const double> values);
  void Update(std::span<const int32_t> values);
  void Update(std::span<const int64_t> values);
  void Update(std::span<const uint32_t> values);
  void Update(std::span<const uint64_t> values);

  // The digest of all bytes so far; the object is then as new.
  std::array<uint8_t, 32> Finish();

 private:
  void Compress(const uint8_t* block);

  std::array<uint32_t, 8> state_;
  std::array<uint8_t, 64> buffer_;
  uint64_t length_ = 0;  // in bytes
};

// The digest of `bytes`, or of the little-endian bytes of `values`, as 64 lower-case hexadecimal
// digits.
std::string Sha256Hex(std::span<const uint8_t> bytes);
std::string Sha256Hex(std::string_view text);
std::string Sha256Hex(std::span<const float> values);
std::string Sha256Hex(std::span<const double> values);

// 2 lower-case hexadecimal digits a byte.
std::string Hex(std::span<const uint8_t> bytes);

}  // namespace assay

#endif  // ASSAY_NUMERICS_CORE_SHA256_H_
