// SPDX-License-Identifier: Apache-2.0
//
// Sorting by floating point keys, as integers: what (x, y) points and calibration scores need
// before they can be fitted.
//
// A number becomes an integer of the same order (OrderedKey). The first pass cuts the range of the
// keys into up to 65536 equal cells (the leading digit of key - smallest), counts, and joins
// neighbouring cells to buckets of a few thousand records; the second moves each record to its
// bucket; after that everything happens in cache: a bucket is dealt out by its own leading digit,
// with about as many digits as it has records, so that most piles hold one or two records and one
// insertion sort over the whole bucket finishes. Piles too large for that are dealt out again.
// Equal spacing adapts to the range of the keys, and dealing again to their crowding.
//
// Every step is stable, so there is one right result, whatever the number of threads.
#ifndef ASSAY_NUMERICS_ISOTONIC_RADIX_SORT_H_
#define ASSAY_NUMERICS_ISOTONIC_RADIX_SORT_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "numerics/core/bits.h"
#include "numerics/core/check.h"
#include "numerics/core/thread_pool.h"
#include "numerics/isotonic/internal/big_array.h"

namespace assay::isotonic {

// An integer that orders as x does: OrderedKey(a) < OrderedKey(b) iff a < b, equal iff a == b (so
// -0 and +0 have one key). For x not NaN.
constexpr uint64_t OrderedKey(double x) {
  const uint64_t bits = FloatBits(x + 0.0);  // -0 + 0 is +0
  const uint64_t sign = uint64_t{0} - (bits >> 63);
  return bits ^ (sign | uint64_t{1} << 63);
}

// The number whose key it is (+0 for that of the zeros).
constexpr double FromOrderedKey(uint64_t key) {
  const uint64_t sign = (key >> 63) - 1;  // all ones for a negative number
  return DoubleFromBits(key ^ (sign | uint64_t{1} << 63));
}

// The smallest and largest key of some numbers.
struct KeyRange {
  uint64_t min;
  uint64_t max;
  // Whether all of the numbers are finite: infinities and NaN lie beyond the finite ones, and so
  // show in the ends.
  bool finite() const {
    return min > OrderedKey(-std::numeric_limits<double>::infinity()) &&
           max < OrderedKey(std::numeric_limits<double>::infinity());
  }
};

// The range of x, which must not be empty (checked); NaN may be in it. f32 counts as f64.
template <class T>
KeyRange RangeOfKeys(std::span<const T> x, ThreadPool* pool);

// What is sorted: anything trivially copyable with a SortKey.
struct KeyAndIndex {
  uint64_t key;
  uint64_t index;
};
constexpr uint64_t SortKey(const KeyAndIndex& record) { return record.key; }
constexpr uint64_t SortKey(uint64_t record) { return record; }

// Records dealt into buckets of ascending keys, each in order of arrival.
template <class Record>
struct Buckets {
  internal::BigArray<Record> records;  // [n], bucket by bucket
  std::vector<int64_t> begin;          // [buckets + 1] where each bucket begins; the last is n
  std::vector<uint64_t> first_key;     // [buckets] all keys are first_key to first_key + 2^63 - 1

  int64_t size() const { return static_cast<int64_t>(first_key.size()); }
  std::span<Record> bucket(int64_t b) const {
    const int64_t from = begin[static_cast<size_t>(b)];
    return {records.data() + from, static_cast<size_t>(begin[static_cast<size_t>(b) + 1] - from)};
  }
  // Records in the largest bucket.
  int64_t largest() const {
    int64_t most = 0;
    for (int64_t b = 0; b < size(); ++b) {
      most = std::max(most, static_cast<int64_t>(bucket(b).size()));
    }
    return most;
  }
};

// Deals n records into buckets.
//   range: of the n keys; not looked at for n = 0. key_at(i): the key of record i, called twice.
//   record_at(i, key): the record. Both are called from several threads at once.
// Buckets hold about kBucketBytes where keys are spread, more where they crowd; none is empty, and
// none spans more than half of all possible keys: one bit of a key is then free within its bucket.
// Cost: two reads of the input and one write of the records; 1 MiB a thread beside the records.
template <class Record, class KeyAt, class RecordAt>
Buckets<Record> DealIntoBuckets(int64_t n, KeyRange range, KeyAt key_at, RecordAt record_at,
                                ThreadPool* pool);

// Sorts records by key, stably. scratch: as many records, overwritten.
// Cost: about three passes over the records, which should fit into cache together with scratch; at
// worst a pass for every 5 bits of the keys.
template <class Record>
void SortInCache(std::span<Record> records, Record* scratch);

// The n keys x[i] in ascending order with their i, equal keys by ascending i.
//   x: [n] not NaN, n >= 0.
// Cost: linear; 16 bytes a key beside the result while it runs.
internal::BigArray<KeyAndIndex> SortedWithIndex(std::span<const double> x, ThreadPool* pool);

// ---- Implementation ----

inline constexpr int64_t kBucketBytes = 32768;  // as the first-level cache of most machines

namespace radix_internal {

inline int BitWidth(uint64_t x) { return x == 0 ? 0 : 64 - __builtin_clzll(x); }

// ParallelFor, on the caller alone where there is no pool.
inline void ForBlocks(ThreadPool* pool, int64_t n, int64_t block,
                      absl::FunctionRef<void(int64_t begin, int64_t end)> body) {
  if (pool != nullptr) return pool->ParallelFor(n, block, body);
  for (int64_t begin = 0; begin < n; begin += block) body(begin, std::min(n, begin + block));
}

}  // namespace radix_internal

template <class T>
KeyRange RangeOfKeys(std::span<const T> x, ThreadPool* pool) {
  constexpr int64_t kBlock = 65536;
  const int64_t n = static_cast<int64_t>(x.size());
  ASSAY_CHECK_GE(n, 1);
  std::vector<KeyRange> ranges(static_cast<size_t>((n - 1) / kBlock + 1));
  radix_internal::ForBlocks(pool, n, kBlock, [&](int64_t begin, int64_t end) {
    KeyRange range{~uint64_t{0}, 0};
    for (int64_t i = begin; i < end; ++i) {
      const uint64_t key = OrderedKey(static_cast<double>(x[static_cast<size_t>(i)]));
      range.min = std::min(range.min, key);
      range.max = std::max(range.max, key);
    }
    ranges[static_cast<size_t>(begin / kBlock)] = range;
  });
  KeyRange all = ranges[0];
  for (const KeyRange& range : ranges) {
    all.min = std::min(all.min, range.min);
    all.max = std::max(all.max, range.max);
  }
  return all;
}

template <class Record, class KeyAt, class RecordAt>
Buckets<Record> DealIntoBuckets(int64_t n, KeyRange range, KeyAt key_at, RecordAt record_at,
                                ThreadPool* pool) {
  constexpr int64_t kTarget = kBucketBytes / static_cast<int64_t>(sizeof(Record));
  Buckets<Record> buckets;
  if (n == 0) {
    buckets.begin.push_back(0);
    return buckets;
  }
  const int digit_bits = std::clamp(radix_internal::BitWidth(static_cast<uint64_t>(n)) - 6, 1, 16);
  const int shift = std::max(0, radix_internal::BitWidth(range.max - range.min) - digit_bits);
  const size_t digits = static_cast<size_t>((range.max - range.min) >> shift) + 1;
  const auto digit = [min = range.min, shift](uint64_t key) {
    return static_cast<size_t>((key - min) >> shift);
  };

  // A few chunks of the input a thread, so that none waits long for another; the result is the same
  // for any cut.
  const int64_t chunk = std::clamp((n - 1) / (pool == nullptr ? 1 : 4 * pool->threads()) + 1,
                                   int64_t{1} << 16, int64_t{1} << 31);
  const size_t chunks = static_cast<size_t>((n - 1) / chunk + 1);
  std::vector<uint32_t> counts(chunks * digits);
  radix_internal::ForBlocks(pool, n, chunk, [&](int64_t begin, int64_t end) {
    uint32_t* const count = counts.data() + static_cast<size_t>(begin / chunk) * digits;
    for (int64_t i = begin; i < end; ++i) ++count[digit(key_at(i))];
  });

  // Neighbouring cells join until a bucket is full.
  std::vector<uint16_t> bucket_of(digits);
  const size_t half = size_t{1} << (digit_bits - 1);
  int64_t size = 0;
  size_t first = 0;
  for (size_t d = 0; d < digits; ++d) {
    int64_t more = 0;
    for (size_t c = 0; c < chunks; ++c) more += counts[c * digits + d];
    if (more == 0) continue;
    if (size == 0 || size + more > kTarget || (first < half && d >= half)) {
      buckets.first_key.push_back(range.min + (static_cast<uint64_t>(d) << shift));
      first = d;
      size = 0;
    }
    size += more;
    bucket_of[d] = static_cast<uint16_t>(buckets.first_key.size() - 1);
  }
  // [bucket][chunk] where the chunk writes its part of the bucket: sizes first, then their sums.
  std::vector<int64_t> place(buckets.first_key.size() * chunks);
  for (size_t c = 0; c < chunks; ++c) {
    for (size_t d = 0; d < digits; ++d) place[bucket_of[d] * chunks + c] += counts[c * digits + d];
  }
  int64_t sum = 0;
  for (size_t i = 0; i < place.size(); ++i) {
    if (i % chunks == 0) buckets.begin.push_back(sum);
    sum += std::exchange(place[i], sum);
  }
  buckets.begin.push_back(n);

  buckets.records = internal::BigArray<Record>(static_cast<size_t>(n));
  radix_internal::ForBlocks(pool, n, chunk, [&](int64_t begin, int64_t end) {
    const size_t c = static_cast<size_t>(begin / chunk);
    std::vector<Record*> out(buckets.first_key.size());
    for (size_t b = 0; b < out.size(); ++b) out[b] = buckets.records.data() + place[b * chunks + c];
    for (int64_t i = begin; i < end; ++i) {
      const uint64_t key = key_at(i);
      *out[bucket_of[digit(key)]]++ = record_at(i, key);
    }
  });
  return buckets;
}

template <class Record>
void SortInCache(std::span<Record> records, Record* scratch) {
  constexpr size_t kSmall = 32;
  const size_t n = records.size();
  Record* const a = records.data();
  if (n > kSmall) {
    uint64_t min = SortKey(a[0]), max = min;
    for (const Record& record : records) {
      min = std::min(min, SortKey(record));
      max = std::max(max, SortKey(record));
    }
    if (min == max) return;
    // Records outnumber digits at most fourfold and at least by one half, up to 2^16 digits.
    const int digit_bits = std::min(16, radix_internal::BitWidth(n));
    const int shift = std::max(0, radix_internal::BitWidth(max - min) - digit_bits);
    const size_t digits = static_cast<size_t>((max - min) >> shift) + 1;
    std::vector<uint32_t> ends(digits + 1);
    for (const Record& record : records) ++ends[((SortKey(record) - min) >> shift) + 1];
    for (size_t d = 0; d < digits; ++d) ends[d + 1] += ends[d];
    for (const Record& record : records) scratch[ends[(SortKey(record) - min) >> shift]++] = record;
    // ends[d] is where pile d ends now.
    if (shift > 0) {
      for (size_t d = 0, begin = 0; d < digits; begin = ends[d++]) {
        const size_t size = ends[d] - begin;
        if (size > kSmall) SortInCache(std::span<Record>(scratch + begin, size), a + begin);
      }
    }
  } else {
    std::copy(a, a + n, scratch);
  }
  // Insertion, which moves a record within its pile only.
  for (size_t i = 0; i < n; ++i) {
    const Record record = scratch[i];
    size_t j = i;
    for (; j > 0 && SortKey(a[j - 1]) > SortKey(record); --j) a[j] = a[j - 1];
    a[j] = record;
  }
}

}  // namespace assay::isotonic

#endif  // ASSAY_NUMERICS_ISOTONIC_RADIX_SORT_H_
