// SPDX-License-Identifier: Apache-2.0
//
// Random numbers that are the same everywhere: Philox words and our own distributions over them.
#ifndef ASSAY_NUMERICS_CORE_RANDOM_H_
#define ASSAY_NUMERICS_CORE_RANDOM_H_

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "numerics/core/check.h"
#include "numerics/core/philox.h"

namespace assay {

// A stream of random 32-bit words with distributions on top. Word number k of a stream is a pure
// function of (seed, stream, k): word k mod 4 of Philox4x32_10 with the seed as key, k / 4 in the
// low half of the counter and the stream in the high half. So streams never overlap, and work split
// over threads stays reproducible if every block takes a stream of its own, or seeks to its own
// position.
//
//   Random random(/*seed=*/7);
//   double u = random.Uniform();
//
// Every function says how many words it draws; each call draws in the order of its description.
// Not safe to share between threads. Not for cryptography.
class Random {
 public:
  explicit Random(uint64_t seed, uint64_t stream = 0);

  // The number of words drawn so far, and a jump to word `position` of the stream; both O(1). A
  // stream has 2^64 words.
  uint64_t position() const { return position_; }
  void Seek(uint64_t position);

  // 32 random bits; draws 1 word.
  uint32_t Next32() {
    const uint32_t index = static_cast<uint32_t>(position_ & 3);
    if (index == 0) block_ = Block(position_ >> 2);
    ++position_;
    return block_[index];
  }

  // 64 random bits, the first word in the low half; draws 2 words.
  uint64_t Next64() {
    const uint64_t low = Next32();
    const uint64_t high = Next32();
    return high << 32 | low;
  }

  // k 2^-53 for k uniform in [0, 2^53): in [0, 1), mean 1/2 - 2^-54; draws 2 words.
  double Uniform() { return static_cast<double>(static_cast<int64_t>(Next64() >> 11)) * 0x1p-53; }

  // k 2^-24 for k uniform in [0, 2^24): in [0, 1); draws 1 word.
  float UniformF() { return static_cast<float>(static_cast<int32_t>(Next32() >> 8)) * 0x1p-24f; }

  // low + (high - low) Uniform(), which can round to high; draws 2 words.
  double Uniform(double low, double high) { return low + (high - low) * Uniform(); }

  // Uniform in [0, bound), exactly, for bound >= 1 (checked). Draws 1 word for bound <= 2^32, else
  // 2, and as many again for each rejection, which has probability (2^w mod bound) / 2^w < 1/2 for
  // w = 32 or 64. Source: Lemire, "Fast random integer generation in an interval", 2019.
  int64_t Integer(int64_t bound);

  // Uniform in [low, high), for low < high (checked) and high - low below 2^63; draws as Integer.
  int64_t Integer(int64_t low, int64_t high);

  // True with probability p (in steps of 2^-53); draws 2 words.
  bool Bernoulli(double p) { return Uniform() < p; }

  // Standard normal by Box and Muller, sqrt(-2 log u) cos(2 pi v) with u = 1 - Uniform(), then
  // v = Uniform(); the largest value is 8.57. Draws 4 words.
  double Normal();
  // The same rounded to float.
  float NormalF() { return static_cast<float>(Normal()); }

  // Fill `out` as one call after the other of Uniform() or UniformF() would.
  void FillUniform(std::span<double> out);
  void FillUniform(std::span<float> out);

  // Fills `out` with standard normals, two from each pair (u, v): element 2 i is what Normal()
  // would give, element 2 i + 1 has the sine in place of the cosine. Draws 4 ceil(size / 2) words.
  void FillNormal(std::span<double> out);
  void FillNormal(std::span<float> out);

  // Exchanges the elements into one of the size! orders, each as likely as any other (but for the
  // 2^64 seeds): for i from size - 1 down to 1, swaps i with Integer(i + 1). Draws as those calls.
  // Source: Fisher, Yates; Knuth, TAOCP vol. 2, algorithm 3.4.2P.
  template <class T>
  void Shuffle(std::span<T> values) {
    using std::swap;
    for (int64_t i = static_cast<int64_t>(values.size()) - 1; i > 0; --i) {
      const int64_t j = Integer(i + 1);
      swap(values[static_cast<size_t>(i)], values[static_cast<size_t>(j)]);
    }
  }
  template <class T>
  void Shuffle(std::vector<T>& values) {
    Shuffle(std::span<T>(values));
  }

  // The numbers 0, ..., n - 1, shuffled. n >= 0 (checked).
  std::vector<int64_t> Permutation(int64_t n);

  // k different numbers of 0, ..., n - 1 in random order, each such list as likely as any other:
  // the first k places of a Fisher-Yates shuffle from the front. 0 <= k <= n (checked). Draws as
  // Integer(n), Integer(n - 1), ..., k calls. Cost: O(n) memory.
  std::vector<int64_t> Sample(int64_t n, int64_t k);

 private:
  // Words 4 index, ..., 4 index + 3 of the stream.
  std::array<uint32_t, 4> Block(uint64_t index) const {
    return Philox4x32_10(
        {static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32), stream_[0], stream_[1]},
        key_);
  }

  std::array<uint32_t, 2> key_;
  std::array<uint32_t, 2> stream_;
  uint64_t position_ = 0;
  std::array<uint32_t, 4> block_{};  // of position_, unless that begins one
};

}  // namespace assay

#endif  // ASSAY_NUMERICS_CORE_RANDOM_H_
