// SPDX-License-Identifier: Apache-2.0
#include "numerics/isotonic/radix_sort.h"

namespace assay::isotonic {

internal::BigArray<KeyAndIndex> SortedWithIndex(std::span<const double> x, ThreadPool* pool) {
  internal::BigArray<KeyAndIndex> sorted(x.size());
  if (x.empty()) return sorted;
  const Buckets<KeyAndIndex> buckets = DealIntoBuckets<KeyAndIndex>(
      static_cast<int64_t>(x.size()), RangeOfKeys(x, pool),
      [x](int64_t i) { return OrderedKey(x[static_cast<size_t>(i)]); },
      [](int64_t i, uint64_t key) {
        return KeyAndIndex{key, static_cast<uint64_t>(i)};
      },
      pool);
  // Each bucket is sorted where it lies, its place in the result being the scratch.
  radix_internal::ForBlocks(pool, buckets.size(), 8, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      const std::span<KeyAndIndex> bucket = buckets.bucket(b);
      KeyAndIndex* const place = sorted.data() + buckets.begin[static_cast<size_t>(b)];
      SortInCache(bucket, place);
      std::copy(bucket.begin(), bucket.end(), place);
    }
  });
  return sorted;
}

}  // namespace assay::isotonic
