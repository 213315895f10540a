// SPDX-License-Identifier: Apache-2.0
//
// The k best of a stream of (key, id), smaller key first, smaller id first between equal keys.

#ifndef ASSAY_SEARCH_INDEX_INTERNAL_TOP_K_H_
#define ASSAY_SEARCH_INDEX_INTERNAL_TOP_K_H_

#include <cstdint>
#include <limits>
#include <span>

#include "search/index/types.h"

namespace assay::index::internal {

struct Candidate {
  double key;
  int64_t id;

  friend constexpr bool operator<(const Candidate& a, const Candidate& b) {
    return a.key != b.key ? a.key < b.key : a.id < b.id;
  }
};

// Up to this k the list is kept sorted: an insertion moves k/2 entries of 16 bytes on average,
// which is less than the mispredicted branches of a heap. Beyond it, a binary heap with the worst
// on top.
inline constexpr int64_t kSortedListLimit = 64;

// Borrows `storage`, whose size is k >= 1. The kept set depends on the offered set alone, not on
// the order of the offers. Keys must not be NaN.
class TopK {
 public:
  TopK() = default;
  explicit TopK(std::span<Candidate> storage)
      : list_(storage.data()), k_(static_cast<int64_t>(storage.size())) {}

  // A candidate with a key above this cannot enter; one with an equal key may, by its id.
  double threshold() const { return threshold_; }
  int64_t size() const { return size_; }
  int64_t pushes() const { return pushes_; }
  int64_t moves() const { return moves_; }

  void Offer(double key, int64_t id) {
    const Candidate candidate{key, id};
    if (size_ == k_ && !(candidate < Worst())) return;
    ++pushes_;
    if (k_ <= kSortedListLimit) {
      InsertSorted(candidate);
    } else {
      InsertHeap(candidate);
    }
    if (size_ == k_) threshold_ = Worst().key;
  }

  // Sorts the kept candidates, best first. Offer must not be called afterwards.
  std::span<const Candidate> Finish() {
    if (k_ > kSortedListLimit) {
      // Heap sort: no allocation, and a total order needs no stable sort.
      for (int64_t end = size_ - 1; end > 0; --end) {
        const Candidate worst = list_[0];
        const Candidate last = list_[end];
        SiftDown(last, end);
        list_[end] = worst;
      }
    }
    return {list_, static_cast<size_t>(size_)};
  }

 private:
  const Candidate& Worst() const { return k_ <= kSortedListLimit ? list_[size_ - 1] : list_[0]; }

  void InsertSorted(const Candidate& candidate) {
    int64_t hole = size_ == k_ ? size_ - 1 : size_++;
    for (; hole > 0 && candidate < list_[hole - 1]; --hole) {
      list_[hole] = list_[hole - 1];
      ++moves_;
    }
    list_[hole] = candidate;
  }

  void InsertHeap(const Candidate& candidate) {
    if (size_ == k_) {
      SiftDown(candidate, k_);
      return;
    }
    int64_t hole = size_++;
    while (hole > 0) {
      const int64_t parent = (hole - 1) / 2;
      if (!(list_[parent] < candidate)) break;
      list_[hole] = list_[parent];
      ++moves_;
      hole = parent;
    }
    list_[hole] = candidate;
  }

  // Puts `candidate` in the place of the root of the heap list_[0, end).
  void SiftDown(const Candidate& candidate, int64_t end) {
    int64_t hole = 0;
    for (;;) {
      int64_t child = 2 * hole + 1;
      if (child >= end) break;
      if (child + 1 < end && list_[child] < list_[child + 1]) ++child;
      if (!(candidate < list_[child])) break;
      list_[hole] = list_[child];
      ++moves_;
      hole = child;
    }
    list_[hole] = candidate;
  }

  Candidate* list_ = nullptr;
  int64_t k_ = 0;
  int64_t size_ = 0;
  int64_t pushes_ = 0;
  int64_t moves_ = 0;
  double threshold_ = std::numeric_limits<double>::infinity();
};

}  // namespace assay::index::internal

#endif  // ASSAY_SEARCH_INDEX_INTERNAL_TOP_K_H_
