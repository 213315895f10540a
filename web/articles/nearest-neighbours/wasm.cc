// SPDX-License-Identifier: Apache-2.0
//
// The C face of <assay-nearest-neighbours>: a query against the garments of the pack. Functions
// return 0 or a code that message() explains. Not for several threads.

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "search/index/classify.h"
#include "search/index/index.h"
#include "search/index/internal/top_k.h"
#include "search/index/types.h"
#include "web/articles/nearest-neighbours/pack.h"

#if defined(__EMSCRIPTEN__)
#include <emscripten.h>
#define ASSAY_DEMO_EXPORT extern "C" EMSCRIPTEN_KEEPALIVE
#else
#define ASSAY_DEMO_EXPORT extern "C"
#endif

namespace {

using assay::index::FlatIndex;
using assay::index::Metric;
using assay::index::internal::Candidate;
using assay::index::internal::TopK;
using assay::nearest_neighbours::Garments;
using assay::nearest_neighbours::kClasses;
using assay::nearest_neighbours::kPackBase;
using assay::nearest_neighbours::kPixels;

constexpr int32_t kMaxK = 25;

enum Code : int {
  kOk = 0,
  kBadPack = 1,
  kNoPack = 2,
  kBadGarment = 3,
  kBadMetric = 4,
  kBadK = 5,
  kBadRows = 6,
  kNoQuestion = 7,
  kFailed = 8,
};

struct Demo {
  Garments garments;
  std::vector<FlatIndex<uint8_t>> indexes;  // one for each metric
  // Of the last question: the value of every row.
  std::optional<Metric> metric;
  std::array<double, kPackBase> values;
};

Demo& State() {
  static Demo demo;
  return demo;
}

}  // namespace

ASSAY_DEMO_EXPORT void* alloc(uint32_t n) { return std::malloc(n); }
ASSAY_DEMO_EXPORT void dealloc(void* p) { std::free(p); }

ASSAY_DEMO_EXPORT const char* message(int code) {
  switch (code) {
    case kOk:
      return "ok";
    case kBadPack:
      return "the garments are damaged: this is not the file that the page was built with";
    case kNoPack:
      return "no garments are loaded yet";
    case kBadGarment:
      return "there is no garment of this number";
    case kBadMetric:
      return "the metric must be 0 (distance), 1 (inner product) or 2 (cosine)";
    case kBadK:
      return "k must lie between 1 and 25";
    case kBadRows:
      return "the number of rows must lie between 0 and 2000";
    case kNoQuestion:
      return "ask before scanning";
    case kFailed:
      return "the search failed";
  }
  return "unknown code";
}

// Takes the unpacked garments and builds the indexes.
ASSAY_DEMO_EXPORT int load_pack(const uint8_t* bytes, uint32_t n) {
  absl::StatusOr<Garments> garments =
      assay::nearest_neighbours::ReadPack(std::span<const uint8_t>(bytes, n));
  if (!garments.ok()) return kBadPack;
  Demo demo;
  demo.garments = *std::move(garments);
  for (const Metric metric : {Metric::kL2, Metric::kInnerProduct, Metric::kCosine}) {
    auto index = FlatIndex<uint8_t>::Create(kPixels, metric);
    if (!index.ok() || !index->Add(demo.garments.base).ok()) return kFailed;
    demo.indexes.push_back(*std::move(index));
  }
  State() = std::move(demo);
  return kOk;
}

// A garment to ask for (0 to 199): 784 pixels and its label.
ASSAY_DEMO_EXPORT int query(int32_t number, uint8_t* pixels, int32_t* label) {
  const Demo& demo = State();
  if (demo.indexes.empty()) return kNoPack;
  if (number < 0 || number >= assay::nearest_neighbours::kPackQueries) return kBadGarment;
  std::memcpy(pixels, demo.garments.queries.data() + number * kPixels, kPixels);
  *label = demo.garments.query_labels[static_cast<size_t>(number)];
  return kOk;
}

// Garments that were found.
//   ids: [n], each 0 to 1,999, or -1 for none. pixels: [n, 784]; labels: [n]; zeros and -1 for
//   none.
ASSAY_DEMO_EXPORT int garments(const int32_t* ids, int32_t n, uint8_t* pixels, int32_t* labels) {
  const Demo& demo = State();
  if (demo.indexes.empty()) return kNoPack;
  if (n < 0 || n > kMaxK) return kBadK;
  for (int32_t i = 0; i < n; ++i) {
    if (ids[i] < -1 || ids[i] >= kPackBase) return kBadGarment;
    uint8_t* picture = pixels + i * kPixels;
    if (ids[i] < 0) {
      std::memset(picture, 0, kPixels);
      labels[i] = -1;
    } else {
      std::memcpy(picture, demo.garments.base.data() + ids[i] * kPixels, kPixels);
      labels[i] = demo.garments.base_labels[static_cast<size_t>(ids[i])];
    }
  }
  return kOk;
}

// Computes the value of every row for a picture of 784 pixels.
//   values: [2000] squared distance, inner product or cosine distance of each row.
ASSAY_DEMO_EXPORT int ask(const uint8_t* picture, int32_t metric, double* values) {
  Demo& demo = State();
  if (demo.indexes.empty()) return kNoPack;
  if (metric < 0 || metric > 2) return kBadMetric;
  const auto found = demo.indexes[static_cast<size_t>(metric)].Search(
      std::span<const uint8_t>(picture, kPixels), kPackBase);
  if (!found.ok() || found->found[0] != kPackBase) return kFailed;
  for (size_t i = 0; i < kPackBase; ++i) {
    demo.values[static_cast<size_t>(found->ids[i])] = found->distances[i];
  }
  std::memcpy(values, demo.values.data(), sizeof(demo.values));
  demo.metric = static_cast<Metric>(metric);
  return kOk;
}

// The list of the k best after the first `rows` rows of the last question.
//   ids, nearness: [k], best first; -1 and an infinity where there are fewer.
//   facts: [6] hits, rows that have entered the list so far, label with most votes (-1: nobody
//     votes), its votes, 1 if another label has as many, value of the last on the list (the
//     threshold; an infinity until the list is full).
ASSAY_DEMO_EXPORT int scan(int32_t rows, int32_t k, int32_t* ids, double* nearness, double* facts) {
  const Demo& demo = State();
  if (!demo.metric) return kNoQuestion;
  if (k < 1 || k > kMaxK) return kBadK;
  if (rows < 0 || rows > kPackBase) return kBadRows;
  const double sign = assay::index::LargerIsCloser(*demo.metric) ? -1.0 : 1.0;
  std::array<Candidate, kMaxK> storage;
  TopK best{std::span<Candidate>(storage).first(static_cast<size_t>(k))};
  for (int32_t row = 0; row < rows; ++row) {
    const double key = sign * demo.values[static_cast<size_t>(row)];
    if (key <= best.threshold()) best.Offer(key, row);
  }
  assay::index::SearchResult result;
  result.queries = 1;
  result.k = k;
  result.ids.assign(static_cast<size_t>(k), -1);
  result.distances.assign(static_cast<size_t>(k), sign * std::numeric_limits<double>::infinity());
  const double threshold = sign * best.threshold();
  size_t i = 0;
  for (const Candidate& candidate : best.Finish()) {
    result.ids[i] = candidate.id;
    result.distances[i++] = sign * candidate.key;
  }
  result.found = {static_cast<int64_t>(i)};
  const auto votes = assay::index::ClassifyMajority(result, demo.garments.base_labels, k, kClasses);
  if (!votes.ok()) return kFailed;
  for (size_t j = 0; j < static_cast<size_t>(k); ++j) {
    ids[j] = static_cast<int32_t>(result.ids[j]);
    nearness[j] = result.distances[j];
  }
  facts[0] = static_cast<double>(result.found[0]);
  facts[1] = static_cast<double>(best.pushes());
  facts[2] = (*votes)[0].label;
  facts[3] = static_cast<double>((*votes)[0].votes);
  facts[4] = (*votes)[0].tied ? 1 : 0;
  facts[5] = threshold;
  return kOk;
}
