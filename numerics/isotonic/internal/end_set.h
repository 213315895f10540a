// SPDX-License-Identifier: Apache-2.0
//
// Where blocks end: one bit for each element of a row.
#ifndef ASSAY_NUMERICS_ISOTONIC_INTERNAL_END_SET_H_
#define ASSAY_NUMERICS_ISOTONIC_INTERNAL_END_SET_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay::isotonic::internal {

// A set of the ends of blocks: bit i is set if a block ends with element i.
class EndSet {
 public:
  explicit EndSet(int64_t size) : words_(static_cast<size_t>((size + 63) / 64)) {}

  void Set(int64_t i) { words_[static_cast<size_t>(i / 64)] |= uint64_t{1} << (i % 64); }
  bool Has(int64_t i) const { return words_[static_cast<size_t>(i / 64)] >> (i % 64) & 1; }

  void Clear(int64_t i) { words_[static_cast<size_t>(i / 64)] &= ~(uint64_t{1} << (i % 64)); }

  // Sets all of [begin, end), which is not empty.
  void SetAll(int64_t begin, int64_t end) {
    const int64_t first = begin / 64;
    const int64_t last = (end - 1) / 64;
    for (int64_t word = first; word <= last; ++word) {
      uint64_t mask = ~uint64_t{0};
      if (word == first) mask &= ~uint64_t{0} << (begin % 64);
      if (word == last) mask &= ~uint64_t{0} >> (63 - (end - 1) % 64);
      words_[static_cast<size_t>(word)] |= mask;
    }
  }

  // The least i >= from that is in the set; there is one.
  int64_t Next(int64_t from) const {
    int64_t word = from / 64;
    uint64_t bits = words_[static_cast<size_t>(word)] >> (from % 64) << (from % 64);
    while (bits == 0) bits = words_[static_cast<size_t>(++word)];
    return word * 64 + __builtin_ctzll(bits);
  }

  // How many from i on are in the set, in a row, up to the end of i's word at most.
  int64_t CountFrom(int64_t i) const {
    const uint64_t out = ~(words_[static_cast<size_t>(i / 64)] >> (i % 64));
    return out == 0 ? 64 : __builtin_ctzll(out);
  }

  // The greatest i in [floor, from] that is in the set, or floor - 1.
  int64_t Previous(int64_t from, int64_t floor) const {
    if (from < floor) return floor - 1;
    int64_t word = from / 64;
    uint64_t bits = words_[static_cast<size_t>(word)] << (63 - from % 64) >> (63 - from % 64);
    while (bits == 0) {
      if (--word < floor / 64) return floor - 1;
      bits = words_[static_cast<size_t>(word)];
    }
    return std::max(word * 64 + 63 - __builtin_clzll(bits), floor - 1);
  }

 private:
  std::vector<uint64_t> words_;
};

}  // namespace assay::isotonic::internal

#endif  // ASSAY_NUMERICS_ISOTONIC_INTERNAL_END_SET_H_
