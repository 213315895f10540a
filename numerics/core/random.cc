// SPDX-License-Identifier: Apache-2.0
#include "numerics/core/random.h"

#include "numerics/core/bits.h"
#include "numerics/core/elementary.h"

namespace assay {
namespace {

std::array<uint32_t, 2> Words(uint64_t value) {
  return {static_cast<uint32_t>(value), static_cast<uint32_t>(value >> 32)};
}

struct NormalPair {
  double cosine;
  double sine;
};

NormalPair BoxMuller(double u, double v) {
  const double radius = Sqrt(-2.0 * Log(1.0 - u));
  double sine, cosine;
  SinCosPi(v + v, &sine, &cosine);
  return {radius * cosine, radius * sine};
}

template <class T>
void FillNormals(Random& random, std::span<T> out) {
  for (size_t i = 0; i < out.size(); i += 2) {
    const double u = random.Uniform();
    const double v = random.Uniform();
    const NormalPair pair = BoxMuller(u, v);
    out[i] = static_cast<T>(pair.cosine);
    if (i + 1 < out.size()) out[i + 1] = static_cast<T>(pair.sine);
  }
}

}  // namespace

Random::Random(uint64_t seed, uint64_t stream) : key_(Words(seed)), stream_(Words(stream)) {}

void Random::Seek(uint64_t position) {
  position_ = position;
  if ((position & 3) != 0) block_ = Block(position >> 2);
}

int64_t Random::Integer(int64_t bound) {
  ASSAY_CHECK_GE(bound, 1);
  const uint64_t range = static_cast<uint64_t>(bound);
  if (range <= uint64_t{1} << 32) {
    uint64_t product = uint64_t{Next32()} * range;  // below 2^64
    if (static_cast<uint32_t>(product) < range) {
      // The 2^32 mod range smallest low halves would favour some results.
      const uint32_t rejected = static_cast<uint32_t>((uint64_t{1} << 32) % range);
      while (static_cast<uint32_t>(product) < rejected) product = uint64_t{Next32()} * range;
    }
    return static_cast<int64_t>(product >> 32);
  }
  Wide128 product = MultiplyWide(Next64(), range);
  if (product.low < range) {
    const uint64_t rejected = (0 - range) % range;  // 2^64 mod range
    while (product.low < rejected) product = MultiplyWide(Next64(), range);
  }
  return static_cast<int64_t>(product.high);
}

int64_t Random::Integer(int64_t low, int64_t high) {
  ASSAY_CHECK_LT(low, high);
  const uint64_t range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  const uint64_t offset = static_cast<uint64_t>(Integer(static_cast<int64_t>(range)));
  return static_cast<int64_t>(static_cast<uint64_t>(low) + offset);
}

double Random::Normal() {
  const double u = Uniform();
  const double v = Uniform();
  return BoxMuller(u, v).cosine;
}

void Random::FillUniform(std::span<double> out) {
  size_t i = 0;
  if ((position_ & 3) == 0) {
    for (; i + 2 <= out.size(); i += 2) {  // a block at a time, without keeping it
      const auto w = Block(position_ >> 2);
      position_ += 4;
      const uint64_t first = uint64_t{w[1]} << 32 | w[0];
      const uint64_t second = uint64_t{w[3]} << 32 | w[2];
      out[i] = static_cast<double>(static_cast<int64_t>(first >> 11)) * 0x1p-53;
      out[i + 1] = static_cast<double>(static_cast<int64_t>(second >> 11)) * 0x1p-53;
    }
  }
  for (; i < out.size(); ++i) out[i] = Uniform();
}
void Random::FillUniform(std::span<float> out) {
  size_t i = 0;
  if ((position_ & 3) == 0) {
    for (; i + 4 <= out.size(); i += 4) {
      const auto w = Block(position_ >> 2);
      position_ += 4;
      for (size_t k = 0; k < 4; ++k) {
        out[i + k] = static_cast<float>(static_cast<int32_t>(w[k] >> 8)) * 0x1p-24f;
      }
    }
  }
  for (; i < out.size(); ++i) out[i] = UniformF();
}
void Random::FillNormal(std::span<double> out) { FillNormals(*this, out); }
void Random::FillNormal(std::span<float> out) { FillNormals(*this, out); }

std::vector<int64_t> Random::Permutation(int64_t n) {
  ASSAY_CHECK_GE(n, 0);
  std::vector<int64_t> values(static_cast<size_t>(n));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int64_t>(i);
  Shuffle(values);
  return values;
}

std::vector<int64_t> Random::Sample(int64_t n, int64_t k) {
  ASSAY_CHECK(0 <= k && k <= n);
  std::vector<int64_t> values(static_cast<size_t>(n));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int64_t>(i);
  for (int64_t i = 0; i < k; ++i) {
    const int64_t j = i + Integer(n - i);
    std::swap(values[static_cast<size_t>(i)], values[static_cast<size_t>(j)]);
  }
  values.resize(static_cast<size_t>(k));
  return values;
}

}  // namespace assay
