// SPDX-License-Identifier: Apache-2.0
//
// The upper part of a pairwise sum in virtual lanes: blocks come in, and a tree over them comes
// out, in the memory of a binary counter.
#ifndef ASSAY_NUMERICS_FLOATING_INTERNAL_PAIRWISE_LANES_H_
#define ASSAY_NUMERICS_FLOATING_INTERNAL_PAIRWISE_LANES_H_

#include <algorithm>
#include <cstdint>

namespace assay::floating::internal {

template <class T>
class PairwiseLanes {
 public:
  static constexpr int64_t kWidth = 256 / static_cast<int64_t>(sizeof(T));

  // A place for the lanes of the next 2^level blocks, already a tree; Push then takes them in. As
  // many blocks as that must have come in before, or a multiple.
  T* next() { return sum_; }
  uint64_t blocks() const { return used_; }
  void Push(int level) {
    const uint64_t count = uint64_t{1} << level;
    for (; ((used_ >> level) & 1) != 0; ++level) {
      for (int64_t j = 0; j < kWidth; ++j) sum_[j] = levels_[level][j] + sum_[j];
    }
    used_ += count;
    std::copy(sum_, sum_ + kWidth, levels_[level]);
  }

  // What is left of the counter from the smallest tree up, then the lanes in halves. -0 for
  // nothing.
  T Finish() {
    std::fill(sum_, sum_ + kWidth, T(-0.0));
    for (int level = 0; level < kMaxLevels; ++level) {
      if (((used_ >> level) & 1) == 0) continue;
      for (int64_t j = 0; j < kWidth; ++j) sum_[j] = levels_[level][j] + sum_[j];
    }
    for (int64_t half = kWidth / 2; half > 0; half /= 2) {
      for (int64_t j = 0; j < half; ++j) sum_[j] = sum_[j] + sum_[j + half];
    }
    return sum_[0];
  }

 private:
  static constexpr int kMaxLevels = 48;
  // levels_[k] holds the tree over 2^k blocks if bit k of used_, which counts blocks, is set.
  alignas(64) T levels_[kMaxLevels][kWidth];
  alignas(64) T sum_[kWidth];
  uint64_t used_ = 0;
};

}  // namespace assay::floating::internal

#endif  // ASSAY_NUMERICS_FLOATING_INTERNAL_PAIRWISE_LANES_H_
