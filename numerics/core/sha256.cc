// SPDX-License-Identifier: Apache-2.0
#include "numerics/core/sha256.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "numerics/core/bits.h"

namespace assay {
namespace {

// The first 32 bits of the fractional parts of the square roots of the first 8 primes.
constexpr std::array<uint32_t, 8> kInitialState = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                                   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

// The same of the cube roots of the first 64 primes.
constexpr std::array<uint32_t, 64> kRound = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

template <class T>
void UpdateWithWords(Sha256& hash, std::span<const T> values) {
  std::array<uint8_t, 512> bytes;
  constexpr size_t kStep = bytes.size() / sizeof(T);
  for (size_t begin = 0; begin < values.size(); begin += kStep) {
    const size_t count = std::min(kStep, values.size() - begin);
    for (size_t i = 0; i < count; ++i) {
      StoreLittleEndian(values[begin + i], bytes.data() + i * sizeof(T));
    }
    hash.Update(std::span<const uint8_t>(bytes.data(), count * sizeof(T)));
  }
}

}  // namespace

Sha256::Sha256() : state_(kInitialState), buffer_{} {}

void Sha256::Compress(const uint8_t* block) {
  std::array<uint32_t, 64> w;
  for (size_t t = 0; t < 16; ++t) w[t] = LoadBigEndian32(block + 4 * t);
  for (size_t t = 16; t < 64; ++t) {
    const uint32_t s0 = std::rotr(w[t - 15], 7) ^ std::rotr(w[t - 15], 18) ^ (w[t - 15] >> 3);
    const uint32_t s1 = std::rotr(w[t - 2], 17) ^ std::rotr(w[t - 2], 19) ^ (w[t - 2] >> 10);
    w[t] = w[t - 16] + s0 + w[t - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (size_t t = 0; t < 64; ++t) {
    const uint32_t t1 = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                        ((e & f) ^ (~e & g)) + kRound[t] + w[t];
    const uint32_t t2 =
        (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  state_[0] += a;
  state_[1] += b;
  state_[2] += c;
  state_[3] += d;
  state_[4] += e;
  state_[5] += f;
  state_[6] += g;
  state_[7] += h;
}

void Sha256::Update(std::span<const uint8_t> bytes) {
  if (bytes.empty()) return;
  const size_t used = static_cast<size_t>(length_ % 64);
  length_ += bytes.size();
  size_t begin = 0;
  if (used != 0) {
    begin = std::min(bytes.size(), 64 - used);
    std::memcpy(buffer_.data() + used, bytes.data(), begin);
    if (used + begin < 64) return;
    Compress(buffer_.data());
  }
  for (; begin + 64 <= bytes.size(); begin += 64) Compress(bytes.data() + begin);
  if (begin < bytes.size()) {
    std::memcpy(buffer_.data(), bytes.data() + begin, bytes.size() - begin);
  }
}

void Sha256::Update(std::string_view text) {
  Update(std::span<const uint8_t>(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
}
void Sha256::Update(std::span<const float> values) { UpdateWithWords(*this, values); }
void Sha256::Update(std::span<const double> values) { UpdateWithWords(*this, values); }
void Sha256::Update(std::span<const uint32_t> values) { UpdateWithWords(*this, values); }
void Sha256::Update(std::span<const uint64_t> values) { UpdateWithWords(*this, values); }
void Sha256::Update(std::span<const int32_t> values) {
  // A signed type may be read through its unsigned twin.
  Update(
      std::span<const uint32_t>(reinterpret_cast<const uint32_t*>(values.data()), values.size()));
}
void Sha256::Update(std::span<const int64_t> values) {
  Update(
      std::span<const uint64_t>(reinterpret_cast<const uint64_t*>(values.data()), values.size()));
}

std::array<uint8_t, 32> Sha256::Finish() {
  const uint64_t length_bits = length_ * 8;
  std::array<uint8_t, 72> padding = {0x80};
  const size_t used = static_cast<size_t>(length_ % 64);
  const size_t zeros_end = used < 56 ? 56 - used : 120 - used;  // the length then ends a block
  StoreBigEndian(static_cast<uint32_t>(length_bits >> 32), padding.data() + zeros_end);
  StoreBigEndian(static_cast<uint32_t>(length_bits), padding.data() + zeros_end + 4);
  Update(std::span<const uint8_t>(padding.data(), zeros_end + 8));
  std::array<uint8_t, 32> digest;
  for (size_t i = 0; i < 8; ++i) StoreBigEndian(state_[i], digest.data() + 4 * i);
  *this = Sha256();
  return digest;
}

std::string Hex(std::span<const uint8_t> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const uint8_t byte : bytes) {
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
  }
  return text;
}

namespace {
template <class Piece>
std::string HexOf(Piece piece) {
  Sha256 hash;
  hash.Update(piece);
  return Hex(hash.Finish());
}
}  // namespace

std::string Sha256Hex(std::span<const uint8_t> bytes) { return HexOf(bytes); }
std::string Sha256Hex(std::string_view text) { return HexOf(text); }
std::string Sha256Hex(std::span<const float> values) { return HexOf(values); }
std::string Sha256Hex(std::span<const double> values) { return HexOf(values); }

}  // namespace assay
