// SPDX-License-Identifier: Apache-2.0
//
// Nearest neighbours under one line: what index.search(queries, k) computes, how the same search is
// rewritten step by step, and how far its answers can be trusted, on garments of Fashion-MNIST.

#include "tools/lab/lab.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "numerics/core/bits.h"
#include "numerics/core/random.h"
#include "numerics/core/thread_pool.h"
#include "search/index/classify.h"
#include "search/index/index.h"
#include "search/index/internal/top_k.h"
#include "search/index/types.h"
#include "web/articles/nearest-neighbours/pack.h"

namespace assay::nearest_neighbours {
namespace {

using index::FlatIndex;
using index::Metric;
using index::SearchOptions;
using index::SearchResult;
using lab::Context;
using lab::MeasureContext;
using lab::Measurements;
using lab::Profile;
using lab::Report;

constexpr int64_t kListed = 10;  // the k of index.search(queries, k=10)

// ---------------------------------------------------------------- data

absl::StatusOr<Garments> AllGarments(Context& context) {
  std::array<std::vector<uint8_t>, 4> files;
  const std::array<const char*, 4> names = {"train_images", "train_labels", "test_images",
                                            "test_labels"};
  for (size_t i = 0; i < files.size(); ++i) {
    absl::StatusOr<std::vector<uint8_t>> file = context.Data(names[i]);
    if (!file.ok()) return file.status();
    files[i] = *std::move(file);
  }
  return ReadIdx(files[0], files[1], files[2], files[3]);
}

absl::StatusOr<Garments> Load(Context& context) {
  const int64_t base = context.Integer("base", 500, kPackBase, 60000);
  const int64_t queries = context.Integer("queries", 50, kPackQueries, 10000);
  absl::StatusOr<Garments> garments = Garments{};
  if (context.profile() == Profile::kFull) {
    garments = AllGarments(context);
  } else {
    const absl::StatusOr<std::vector<uint8_t>> pack = context.Data("pack");
    if (!pack.ok()) return pack.status();
    garments = ReadPack(*pack);
  }
  if (!garments.ok()) return garments.status();
  const auto most_base = static_cast<int64_t>(garments->base_labels.size());
  const auto most_queries = static_cast<int64_t>(garments->query_labels.size());
  if (base < 100 || base > most_base || queries < 10 || queries > most_queries) {
    return absl::InvalidArgumentError(absl::StrCat("base is ", base, " and queries is ", queries,
                                                   ", expected 100 to ", most_base, " and 10 to ",
                                                   most_queries));
  }
  garments->base.resize(static_cast<size_t>(base * kPixels));
  garments->base_labels.resize(static_cast<size_t>(base));
  garments->queries.resize(static_cast<size_t>(queries * kPixels));
  garments->query_labels.resize(static_cast<size_t>(queries));
  return garments;
}

std::span<const uint8_t> Image(const std::vector<uint8_t>& images, int64_t i) {
  return std::span<const uint8_t>(images).subspan(static_cast<size_t>(i * kPixels), kPixels);
}

template <class T>
absl::StatusOr<FlatIndex<T>> IndexOf(std::span<const T> rows, int64_t dimension, Metric metric) {
  absl::StatusOr<FlatIndex<T>> built = FlatIndex<T>::Create(dimension, metric);
  if (!built.ok()) return built.status();
  if (absl::Status added = built->Add(rows); !added.ok()) return added;
  return built;
}

std::vector<float> Floats(std::span<const uint8_t> bytes, float unit) {
  std::vector<float> floats;
  floats.reserve(bytes.size());
  for (const uint8_t byte : bytes) floats.push_back(static_cast<float>(byte) / unit);
  return floats;
}

// The median of some numbers; the upper one of the two in the middle.
double Median(std::vector<double> values) {
  // A total order: no NaN comes here, and equal numbers are the same number.
  std::stable_sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// ---------------------------------------------------------------- what the neighbours are worth

// [region classify]
// Asks the index for the k nearest of every query, a block at a time, and hands each block on.
template <class Use>
absl::Status SearchAll(Context& context, const FlatIndex<uint8_t>& index,
                       const std::vector<uint8_t>& queries, int64_t k, const char* what, Use use) {
  constexpr int64_t kBlock = 500;
  ThreadPool pool(context.threads());
  const auto total = static_cast<int64_t>(queries.size()) / kPixels;
  for (int64_t first = 0; first < total; first += kBlock) {
    context.Progress(first, total, what);
    const int64_t count = std::min(kBlock, total - first);
    const auto block = std::span<const uint8_t>(queries).subspan(
        static_cast<size_t>(first * kPixels), static_cast<size_t>(count * kPixels));
    const absl::StatusOr<SearchResult> found = index.Search(block, k, {.pool = &pool});
    if (!found.ok()) return found.status();
    if (absl::Status used = use(first, *found); !used.ok()) return used;
  }
  context.Progress(total, total, what);
  return absl::OkStatus();
}
// [end classify]

int64_t NearestSquareRoot(int64_t n) {
  int64_t root = 0;
  while ((2 * root + 1) * (2 * root + 1) <= 4 * n) ++root;  // (root + 1/2)^2 <= n
  return root;
}

absl::Status Accuracy(Context& context, const Garments& garments, Report& report) {
  const auto base = static_cast<int64_t>(garments.base_labels.size());
  const auto queries = static_cast<int64_t>(garments.query_labels.size());
  const int64_t root = NearestSquareRoot(base);
  std::vector<int64_t> ks;
  for (const int64_t k : {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 30, 50, 100, 150}) {
    if (k < root) ks.push_back(k);
  }
  ks.push_back(root);
  struct Count {
    int64_t correct = 0, tied = 0, correct_smallest = 0;
  };
  std::vector<Count> counts(ks.size());
  std::vector<std::vector<uint8_t>> answers(ks.size());
  int64_t met_before = 0;

  const auto index = IndexOf<uint8_t>(garments.base, kPixels, Metric::kL2);
  if (!index.ok()) return index.status();
  const absl::Status searched = SearchAll(
      context, *index, garments.queries, root, "searching",
      [&](int64_t first, const SearchResult& found) -> absl::Status {
        for (size_t i = 0; i < ks.size(); ++i) {
          const auto votes = index::ClassifyMajority(found, garments.base_labels, ks[i], kClasses);
          const auto others = index::ClassifyMajority(found, garments.base_labels, ks[i], kClasses,
                                                      index::TieBreak::kSmallestLabel);
          if (!votes.ok()) return votes.status();
          if (!others.ok()) return others.status();
          for (int64_t q = 0; q < found.queries; ++q) {
            const int32_t truth = garments.query_labels[static_cast<size_t>(first + q)];
            const index::Vote& vote = (*votes)[static_cast<size_t>(q)];
            counts[i].correct += vote.label == truth;
            counts[i].tied += vote.tied;
            counts[i].correct_smallest += (*others)[static_cast<size_t>(q)].label == truth;
            answers[i].push_back(static_cast<uint8_t>(vote.label));
          }
        }
        for (int64_t q = 0; q < found.queries; ++q) {
          met_before += found.Distances(q)[0] == 0;
        }
        return absl::OkStatus();
      });
  if (!searched.ok()) return searched;

  auto& table = report.AddTable("accuracy", "Accuracy by the number of neighbours that vote");
  table.Column<int64_t>("k")
      .Column<double>("accuracy")
      .Column<double>("wrong")
      .Column<int64_t>("correct")
      .Column<int64_t>("tied_votes")
      .Column<int64_t>("correct_by_smallest_label");
  size_t best = 0;
  for (size_t i = 0; i < ks.size(); ++i) {
    table.Row(ks[i], static_cast<double>(counts[i].correct) / static_cast<double>(queries),
              static_cast<double>(queries - counts[i].correct) / static_cast<double>(queries),
              counts[i].correct, counts[i].tied, counts[i].correct_smallest);
    if (counts[i].correct > counts[best].correct) best = i;
  }
  const auto share = [&](size_t i) {
    return static_cast<double>(counts[i].correct) / static_cast<double>(queries);
  };
  report.Exact("base", base, "Garments searched");
  report.Exact("queries", queries, "Garments asked for");
  report.Exact("best_k", ks[best], "Number of neighbours with the best accuracy");
  report.Exact("best_accuracy", share(best), "Best accuracy");
  report.Exact("accuracy_one", share(0), "Accuracy of the one nearest neighbour");
  report.Exact("root_k", root, "The square root of the number of garments, rounded");
  report.Exact("accuracy_root", share(ks.size() - 1),
               "Accuracy with as many neighbours as that root");
  report.Exact("lost_to_root", share(best) - share(ks.size() - 1),
               "Accuracy lost by the square root rule");
  report.Exact("tie_rule_one", counts[1].correct,
               "Right answers for two neighbours, ties to the nearest");
  report.Exact("tie_rule_other", counts[1].correct_smallest,
               "Right answers for two neighbours, ties to the smallest label");
  report.Exact("met_before", met_before, "Queries that are equal to a garment in the base");
  report.ExactArray("answers", answers[best], "The answer to every query, at the best k");

  // Which classes are taken for which, at the best k.
  std::array<std::array<int64_t, kClasses>, kClasses> taken_for = {};
  for (int64_t q = 0; q < queries; ++q) {
    ++taken_for[garments.query_labels[static_cast<size_t>(q)]]
               [answers[best][static_cast<size_t>(q)]];
  }
  auto& classes =
      report.AddTable("classes", "Classes: how many are recognised, what they are taken for");
  classes.Column<std::string>("garment")
      .Column<double>("recognised")
      .Column<std::string>("taken_for")
      .Column<int64_t>("times");
  int64_t worst = 0;
  std::vector<double> recognised;
  for (int64_t c = 0; c < kClasses; ++c) {
    const auto& row = taken_for[static_cast<size_t>(c)];
    const int64_t total = std::accumulate(row.begin(), row.end(), int64_t{0});
    int64_t other = c == 0 ? 1 : 0;
    for (int64_t d = 0; d < kClasses; ++d) {
      if (d != c && row[static_cast<size_t>(d)] > row[static_cast<size_t>(other)]) other = d;
    }
    recognised.push_back(total == 0 ? 0.0
                                    : static_cast<double>(row[static_cast<size_t>(c)]) /
                                          static_cast<double>(total));
    if (recognised.back() < recognised[static_cast<size_t>(worst)]) worst = c;
    classes.Row(std::string(ClassName(c)), recognised.back(), std::string(ClassName(other)),
                row[static_cast<size_t>(other)]);
  }
  report.Exact("worst_class", std::string(ClassName(worst)), "The class that is recognised least");
  report.Exact("worst_recognised", recognised[static_cast<size_t>(worst)],
               "Share of it that is recognised");
  return absl::OkStatus();
}

// Three ways to be near.
absl::Status Metrics(Context& context, const Garments& garments, Report& report) {
  constexpr int64_t kVoters = 5;
  const int64_t selves = context.Integer("selves", 100, 500, 2000);
  const auto asked = std::vector<uint8_t>(
      garments.base.begin(),
      garments.base.begin() +
          std::min<int64_t>(selves * kPixels, static_cast<int64_t>(garments.base.size())));
  auto& table = report.AddTable("metrics", "Three ways to be near, with five voters");
  table.Column<std::string>("metric").Column<double>("accuracy").Column<double>("finds_itself");
  for (const Metric metric : {Metric::kL2, Metric::kCosine, Metric::kInnerProduct}) {
    const std::string name(index::MetricName(metric));
    const auto index = IndexOf<uint8_t>(garments.base, kPixels, metric);
    if (!index.ok()) return index.status();
    int64_t correct = 0, itself = 0;
    absl::Status status =
        SearchAll(context, *index, garments.queries, kVoters, "comparing metrics",
                  [&](int64_t first, const SearchResult& found) -> absl::Status {
                    const auto votes =
                        index::ClassifyMajority(found, garments.base_labels, kVoters, kClasses);
                    if (!votes.ok()) return votes.status();
                    for (int64_t q = 0; q < found.queries; ++q) {
                      correct += (*votes)[static_cast<size_t>(q)].label ==
                                 garments.query_labels[static_cast<size_t>(first + q)];
                    }
                    return absl::OkStatus();
                  });
    if (!status.ok()) return status;
    status = SearchAll(context, *index, asked, 1, "asking for what is there",
                       [&](int64_t first, const SearchResult& found) -> absl::Status {
                         for (int64_t q = 0; q < found.queries; ++q) {
                           // An equal garment with a smaller id counts as itself.
                           const auto nearest = Image(garments.base, found.Ids(q)[0]);
                           const auto own = Image(garments.base, first + q);
                           itself += std::equal(own.begin(), own.end(), nearest.begin());
                         }
                         return absl::OkStatus();
                       });
    if (!status.ok()) return status;
    table.Row(metric == Metric::kL2 ? std::string("squared distance") : name,
              static_cast<double>(correct) / static_cast<double>(garments.query_labels.size()),
              static_cast<double>(itself) / static_cast<double>(asked.size() / kPixels));
  }
  return absl::OkStatus();
}

// Garments that occur more than once.
void Duplicates(const Garments& garments, Report& report) {
  std::vector<int64_t> order(garments.base_labels.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  const auto compare = [&](int64_t a, int64_t b) {
    return std::memcmp(Image(garments.base, a).data(), Image(garments.base, b).data(), kPixels);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return compare(a, b) < 0; });
  int64_t copies = 0, disagree = 0;
  for (size_t i = 1; i < order.size(); ++i) {
    if (compare(order[i - 1], order[i]) != 0) continue;
    ++copies;
    disagree += garments.base_labels[static_cast<size_t>(order[i - 1])] !=
                garments.base_labels[static_cast<size_t>(order[i])];
  }
  report.Exact("copies", copies, "Garments in the base that equal another one");
  report.Exact("copies_disagree", disagree, "Of these, copies with another label");
}

// ---------------------------------------------------------------- eight rewrites

// What a search of several queries gave and what it did. Lists are [queries, kListed].
struct Lists {
  std::vector<int64_t> ids;
  std::vector<double> distances;
  int64_t allocations = 0;  // blocks of memory asked for while searching
  int64_t square_roots = 0;
  int64_t kept = 0;          // candidates that were sorted, or entered the list of the best
  int64_t matrix_bytes = 0;  // bytes of rows asked of memory
};

struct Rows {
  std::span<const float> base, queries;  // [n, 784], [m, 784]: pixel / 255
  std::span<const uint8_t> base_bytes, query_bytes;
  int64_t n = 0, m = 0;
};

void KeepBest(std::vector<std::pair<double, int64_t>>& all, Lists& lists) {
  // Pairs are in total order: distance, then id.
  std::stable_sort(all.begin(), all.end());
  lists.kept += static_cast<int64_t>(all.size());
  for (int64_t i = 0; i < kListed; ++i) {
    lists.ids.push_back(all[static_cast<size_t>(i)].second);
    lists.distances.push_back(all[static_cast<size_t>(i)].first);
  }
}

void KeepBest(index::internal::TopK& best, Lists& lists) {
  for (const index::internal::Candidate& c : best.Finish()) {
    lists.ids.push_back(c.id);
    lists.distances.push_back(c.key);
  }
  lists.kept += best.pushes();
}

// [region objects]
// A vector as a first design has it: an object on the heap, asked for one number at a time.
class Vector {
 public:
  virtual ~Vector() = default;
  virtual int64_t Size() const = 0;
  virtual float At(int64_t i) const = 0;
};
class StoredVector : public Vector {
 public:
  explicit StoredVector(std::vector<float> values) : values_(std::move(values)) {}
  int64_t Size() const override { return static_cast<int64_t>(values_.size()); }
  float At(int64_t i) const override { return values_[static_cast<size_t>(i)]; }

 private:
  std::vector<float> values_;
};
using Objects = std::vector<std::unique_ptr<Vector>>;

StoredVector Minus(const Vector& x, const Vector& y) {
  std::vector<float> difference;
  difference.reserve(static_cast<size_t>(x.Size()));
  for (int64_t i = 0; i < x.Size(); ++i) difference.push_back(x.At(i) - y.At(i));
  return StoredVector(std::move(difference));
}
float Norm(const Vector& x) {
  float sum = 0;
  for (int64_t i = 0; i < x.Size(); ++i) sum += x.At(i) * x.At(i);
  return std::sqrt(sum);
}

Lists SearchObjects(const Objects& base, const Objects& queries) {
  Lists lists;
  for (const auto& query : queries) {
    std::vector<std::pair<double, int64_t>> all;
    for (size_t r = 0; r < base.size(); ++r) {
      all.emplace_back(Norm(Minus(*query, *base[r])), static_cast<int64_t>(r));
      ++lists.allocations;
      ++lists.square_roots;
    }
    KeepBest(all, lists);
  }
  return lists;
}
// [end objects]

Objects ObjectsOf(std::span<const float> values) {
  Objects objects;
  for (size_t i = 0; i < values.size(); i += kPixels) {
    objects.push_back(std::make_unique<StoredVector>(
        std::vector<float>(values.begin() + static_cast<std::ptrdiff_t>(i),
                           values.begin() + static_cast<std::ptrdiff_t>(i + kPixels))));
  }
  return objects;
}

// One flat matrix, the rest as it was: every distance still makes a vector of differences.
Lists SearchFlat(const Rows& rows) {
  Lists lists;
  for (int64_t q = 0; q < rows.m; ++q) {
    const float* x = rows.queries.data() + q * kPixels;
    std::vector<std::pair<double, int64_t>> all;
    for (int64_t r = 0; r < rows.n; ++r) {
      const float* y = rows.base.data() + r * kPixels;
      std::vector<float> difference;
      difference.reserve(kPixels);
      ++lists.allocations;
      for (int64_t i = 0; i < kPixels; ++i) difference.push_back(x[i] - y[i]);
      float sum = 0;
      for (const float value : difference) sum += value * value;
      all.emplace_back(std::sqrt(sum), r);
      ++lists.square_roots;
    }
    KeepBest(all, lists);
  }
  return lists;
}

// [region plain]
// The squared distance from left to right: 784 additions, each of which waits for the one before.
float LeftToRight(const float* x, const float* y) {
  float sum = 0;
  for (int64_t i = 0; i < kPixels; ++i) {
    const float difference = x[i] - y[i];
    sum += difference * difference;
  }
  return sum;
}
// [end plain]

// No vector of differences.
Lists SearchWithoutTemporaries(const Rows& rows) {
  Lists lists;
  for (int64_t q = 0; q < rows.m; ++q) {
    std::vector<std::pair<double, int64_t>> all;
    for (int64_t r = 0; r < rows.n; ++r) {
      const float sum =
          LeftToRight(rows.queries.data() + q * kPixels, rows.base.data() + r * kPixels);
      all.emplace_back(std::sqrt(sum), r);
      ++lists.square_roots;
    }
    KeepBest(all, lists);
  }
  return lists;
}

// No square root: it changes no order.
Lists SearchSquared(const Rows& rows) {
  Lists lists;
  for (int64_t q = 0; q < rows.m; ++q) {
    std::vector<std::pair<double, int64_t>> all;
    for (int64_t r = 0; r < rows.n; ++r) {
      const float sum =
          LeftToRight(rows.queries.data() + q * kPixels, rows.base.data() + r * kPixels);
      // Widened here, so that emplace_back takes no reference to the sum; see below.
      all.emplace_back(static_cast<double>(sum), r);
    }
    KeepBest(all, lists);
  }
  return lists;
}

// The same, but for one reference. Only timed: emplace_back takes the address of what LeftToRight
// returns, and g++ 12 then keeps the sum in memory through all 784 additions.
Lists SearchReferenced(const Rows& rows) {
  Lists lists;
  for (int64_t q = 0; q < rows.m; ++q) {
    std::vector<std::pair<double, int64_t>> all;
    for (int64_t r = 0; r < rows.n; ++r) {
      all.emplace_back(
          LeftToRight(rows.queries.data() + q * kPixels, rows.base.data() + r * kPixels), r);
    }
    KeepBest(all, lists);
  }
  return lists;
}

// [region threshold]
// A list of the ten best behind a threshold, in place of a sort of everything.
template <class Distance>
Lists SearchThreshold(const Rows& rows, Distance distance) {
  Lists lists;
  std::array<index::internal::Candidate, kListed> storage;
  for (int64_t q = 0; q < rows.m; ++q) {
    index::internal::TopK best{std::span(storage)};
    for (int64_t r = 0; r < rows.n; ++r) {
      const float sum = distance(rows.queries.data() + q * kPixels, rows.base.data() + r * kPixels);
      if (sum <= best.threshold()) best.Offer(sum, r);
    }
    KeepBest(best, lists);
  }
  return lists;
}
// [end threshold]

// [region lanes]
// Sixteen sums instead of one: chains of 49 additions, which do not wait for each other.
float SixteenLanes(const float* x, const float* y) {
  std::array<float, 16> lanes = {};
  for (int64_t i = 0; i < kPixels; i += 16) {
    for (int64_t j = 0; j < 16; ++j) {
      const float difference = x[i + j] - y[i + j];
      lanes[static_cast<size_t>(j)] += difference * difference;
    }
  }
  for (size_t half = 8; half > 0; half /= 2) {
    for (size_t j = 0; j < half; ++j) lanes[j] += lanes[j + half];
  }
  return lanes[0];
}
// [end lanes]

// The same sixteen sums in registers, one query at a time.
Lists SearchRegisters(const FlatIndex<float>& index, const Rows& rows) {
  Lists lists;
  for (int64_t q = 0; q < rows.m; ++q) {
    const absl::StatusOr<SearchResult> found =
        index.Search(rows.queries.subspan(static_cast<size_t>(q * kPixels), kPixels), kListed,
                     {.explain = true});
    if (!found.ok()) return {};
    lists.ids.insert(lists.ids.end(), found->ids.begin(), found->ids.end());
    lists.distances.insert(lists.distances.end(), found->distances.begin(), found->distances.end());
    lists.kept += found->work.heap_pushes;
    lists.matrix_bytes += found->work.tile_bytes;
  }
  return lists;
}

// [region tiles]
// All queries at once: a tile of rows is read once for a block of queries.
template <class T>
Lists SearchTiles(const FlatIndex<T>& index, std::span<const T> queries, double unit) {
  Lists lists;
  const absl::StatusOr<SearchResult> found = index.Search(queries, kListed, {.explain = true});
  if (!found.ok()) return lists;
  lists.ids = found->ids;
  for (const double distance : found->distances) lists.distances.push_back(distance / unit);
  lists.kept = found->work.heap_pushes;
  lists.matrix_bytes = found->work.tile_bytes;
  return lists;
}
// [end tiles]

struct Rewrite {
  const char* id;
  const char* name;
  std::function<Lists()> search;
  bool rooted = false;  // its distances are not squared
};

// The first form and its eight rewrites, each on the same rows. `storage` keeps what they search
// in.
struct Prepared {
  std::vector<float> base, queries;
  std::vector<uint8_t> base_bytes, query_bytes;
  Rows rows;
  Objects base_objects, query_objects;
  std::vector<FlatIndex<float>> index;
  std::vector<FlatIndex<uint8_t>> byte_index;
  std::vector<Rewrite> rewrites;
};

absl::Status Prepare(const Garments& garments, int64_t n, int64_t m, Prepared& p) {
  p.base_bytes.assign(garments.base.begin(), garments.base.begin() + n * kPixels);
  p.query_bytes.assign(garments.queries.begin(), garments.queries.begin() + m * kPixels);
  p.base = Floats(p.base_bytes, 255.0f);
  p.queries = Floats(p.query_bytes, 255.0f);
  p.rows = {p.base, p.queries, p.base_bytes, p.query_bytes, n, m};
  p.base_objects = ObjectsOf(p.base);
  p.query_objects = ObjectsOf(p.queries);
  auto index = IndexOf<float>(p.base, kPixels, Metric::kL2);
  if (!index.ok()) return index.status();
  p.index.push_back(*std::move(index));
  auto byte_index = IndexOf<uint8_t>(p.base_bytes, kPixels, Metric::kL2);
  if (!byte_index.ok()) return byte_index.status();
  p.byte_index.push_back(*std::move(byte_index));
  const Prepared& r = p;
  p.rewrites = {
      {"objects", "rows as objects",
       [&r] { return SearchObjects(r.base_objects, r.query_objects); }, true},
      {"flat", "one flat matrix", [&r] { return SearchFlat(r.rows); }, true},
      {"temporaries", "no temporary vectors", [&r] { return SearchWithoutTemporaries(r.rows); },
       true},
      {"squared", "no square root", [&r] { return SearchSquared(r.rows); }},
      {"threshold", "a threshold, no sort", [&r] { return SearchThreshold(r.rows, LeftToRight); }},
      {"lanes", "sixteen sums", [&r] { return SearchThreshold(r.rows, SixteenLanes); }},
      {"registers", "wide registers", [&r] { return SearchRegisters(r.index[0], r.rows); }},
      {"tiles", "tiles for many queries",
       [&r] { return SearchTiles<float>(r.index[0], r.queries, 1.0); }},
      {"bytes", "bytes and integers",
       [&r] { return SearchTiles<uint8_t>(r.byte_index[0], r.query_bytes, 65025.0); }},
  };
  return absl::OkStatus();
}

int64_t ListsThatDiffer(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  int64_t lists = 0;
  for (size_t i = 0; i < a.size(); i += kListed) {
    lists += !std::equal(a.begin() + static_cast<std::ptrdiff_t>(i),
                         a.begin() + static_cast<std::ptrdiff_t>(i + kListed),
                         b.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return lists;
}

absl::Status Rewrites(Context& context, const Garments& garments, Report& report) {
  const int64_t n = std::min(context.Integer("rewrite_base", 500, 2000, 60000),
                             static_cast<int64_t>(garments.base_labels.size()));
  const int64_t m = std::min(context.Integer("rewrite_queries", 32, 32, 32),
                             static_cast<int64_t>(garments.query_labels.size()));
  if (n < kListed || m < 1) return absl::InvalidArgumentError("the rewrites need rows and queries");
  Prepared prepared;
  if (absl::Status ready = Prepare(garments, n, m, prepared); !ready.ok()) return ready;
  auto& table = report.AddTable(
      "rewrites",
      "The same search, rewritten eight times: ids and bits that changed in all lists, and "
      "for one query allocations, roots, rows kept, and megabytes of the matrix read");
  table.Column<int64_t>("step")
      .Column<std::string>("form")
      .Column<int64_t>("ids")
      .Column<int64_t>("bits")
      .Column<double>("allocated")
      .Column<double>("roots")
      .Column<double>("kept")
      .Column<double>("megabytes");
  Lists first;
  std::vector<float> first_squared;
  const auto queries = static_cast<double>(m);
  int64_t ids_changed_in_all = 0;
  for (size_t step = 0; step < prepared.rewrites.size(); ++step) {
    context.Progress(static_cast<int64_t>(step), static_cast<int64_t>(prepared.rewrites.size()),
                     "rewriting the search");
    const Rewrite& rewrite = prepared.rewrites[step];
    Lists lists = rewrite.search();
    if (lists.ids.size() != static_cast<size_t>(m * kListed)) {
      return absl::InternalError(absl::StrCat("the form \"", rewrite.name, "\" found nothing"));
    }
    // Rows of floats that no tile shares are read once a query.
    if (lists.matrix_bytes == 0) {
      lists.matrix_bytes = m * n * kPixels * static_cast<int64_t>(sizeof(float));
    }
    if (step == 0) first = lists;
    int64_t ids_changed = 0, bits_changed = 0;
    for (size_t i = 0; i < lists.ids.size(); ++i) {
      ids_changed += lists.ids[i] != first.ids[i];
      // Where the id is another one, so are the bits; roots are compared with roots.
      const auto root = static_cast<float>(first.distances[i]);
      const float other = rewrite.rooted ? static_cast<float>(lists.distances[i])
                                         : std::sqrt(static_cast<float>(lists.distances[i]));
      bits_changed += FloatBits(root) != FloatBits(other);
    }
    ids_changed_in_all += ids_changed;
    table.Row(static_cast<int64_t>(step), std::string(rewrite.name), ids_changed, bits_changed,
              static_cast<double>(lists.allocations) / queries,
              static_cast<double>(lists.square_roots) / queries,
              static_cast<double>(lists.kept) / queries,
              static_cast<double>(lists.matrix_bytes) / queries / 1e6);
    if (step == 4) {
      // What a threshold must let through if rows come in random order: the i-th is among the ten
      // best so far with probability 10 / i.
      double expected = kListed;
      for (int64_t i = kListed + 1; i <= n; ++i) {
        expected += static_cast<double>(kListed) / static_cast<double>(i);
      }
      report.Exact("kept", static_cast<double>(lists.kept) / queries,
                   "Rows that enter the list of the ten best", "a query");
      report.Modelled("kept_expected", expected,
                      "rows in random order: the i-th enters with probability 10 / i",
                      "Rows that would enter if they came in random order", "a query");
    }
  }
  report.Exact("rewrite_rows", n, "Rows that the rewrites search");
  report.Exact("rewrite_queries", m, "Queries that the rewrites answer");
  report.Exact("ids_changed", ids_changed_in_all,
               "Ids that any rewrite changed, of all lists together");
  // Of one distance: 784 differences, as many squares, one less addition, and the root.
  const int64_t operations = 3 * kPixels - 1;
  report.Exact("operations", operations, "Operations of one squared distance");
  report.Exact("root_share", 1.0 / static_cast<double>(operations + 1),
               "Share of the square root in the operations of one distance");
  report.Exact("chain_one", kPixels, "Additions in a row with one sum");
  report.Exact("chain_sixteen", kPixels / 16 + 4, "Additions in a row with sixteen sums");
  return absl::OkStatus();
}

// ---------------------------------------------------------------- the order of additions

float RightToLeft(const float* x, const float* y) {
  float sum = 0;
  for (int64_t i = kPixels - 1; i >= 0; --i) {
    const float difference = x[i] - y[i];
    sum += difference * difference;
  }
  return sum;
}

float FourSums(const float* x, const float* y) {
  std::array<float, 4> sums = {};
  for (int64_t i = 0; i < kPixels; i += 4) {
    for (int64_t j = 0; j < 4; ++j) {
      const float difference = x[i + j] - y[i + j];
      sums[static_cast<size_t>(j)] += difference * difference;
    }
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// Neighbours first, then pairs of pairs; an odd one out passes up.
float InPairs(const float* x, const float* y) {
  std::array<float, kPixels> terms;
  for (int64_t i = 0; i < kPixels; ++i) {
    const float difference = x[i] - y[i];
    terms[static_cast<size_t>(i)] = difference * difference;
  }
  for (size_t count = terms.size(); count > 1; count = (count + 1) / 2) {
    for (size_t i = 0; 2 * i + 1 < count; ++i) terms[i] = terms[2 * i] + terms[2 * i + 1];
    if (count % 2 == 1) terms[count / 2] = terms[count - 1];
  }
  return terms[0];
}

absl::Status Orders(Context& context, const Garments& garments, Report& report) {
  const auto n = static_cast<int64_t>(garments.base_labels.size());
  const int64_t m = std::min(context.Integer("order_queries", 10, 20, 50),
                             static_cast<int64_t>(garments.query_labels.size()));
  if (m < 1) return absl::InvalidArgumentError("order_queries must be at least 1");
  struct Order {
    const char* name;
    float (*distance)(const float* x, const float* y);
  };
  const std::array<Order, 5> orders = {{{"left to right", LeftToRight},
                                        {"right to left", RightToLeft},
                                        {"four sums", FourSums},
                                        {"sixteen sums", SixteenLanes},
                                        {"in pairs", InPairs}}};
  // What integers say: the order of the ten nearest without any rounding.
  const auto exact_index = IndexOf<uint8_t>(garments.base, kPixels, Metric::kL2);
  if (!exact_index.ok()) return exact_index.status();
  const auto exact = exact_index->Search(
      std::span<const uint8_t>(garments.queries).first(static_cast<size_t>(m * kPixels)), kListed);
  if (!exact.ok()) return exact.status();
  double farthest_listed = 0;
  for (const double distance : exact->distances) {
    farthest_listed = std::max(farthest_listed, distance);
  }

  auto& table = report.AddTable("orders", "Five orders of the same additions");
  table.Column<std::string>("values")
      .Column<std::string>("order")
      .Column<double>("sums_changed")
      .Column<int64_t>("most_ulps", "ulp")
      .Column<int64_t>("lists_changed")
      .Column<int64_t>("lists_unlike_exact");
  int64_t done = 0;
  const int64_t total = 2 * m;
  for (const bool scaled : {false, true}) {
    const float unit = scaled ? 255.0f : 1.0f;
    const std::vector<float> base = Floats(garments.base, unit);
    const std::vector<float> queries = Floats(
        std::span<const uint8_t>(garments.queries).first(static_cast<size_t>(m * kPixels)), unit);
    struct Count {
      int64_t changed = 0, most_ulps = 0;
      std::vector<int64_t> ids;
    };
    std::array<Count, orders.size()> counts;
    std::vector<float> reference(static_cast<size_t>(n));
    for (int64_t q = 0; q < m; ++q) {
      context.Progress(done++, total, "adding in five orders");
      for (size_t o = 0; o < orders.size(); ++o) {
        std::array<index::internal::Candidate, kListed> storage;
        index::internal::TopK best{std::span(storage)};
        for (int64_t r = 0; r < n; ++r) {
          const float sum =
              orders[o].distance(queries.data() + q * kPixels, base.data() + r * kPixels);
          best.Offer(sum, r);
          float& first = reference[static_cast<size_t>(r)];
          if (o == 0) first = sum;
          const auto ulps = static_cast<int64_t>(UlpDistance(sum, first));
          counts[o].changed += ulps != 0;
          counts[o].most_ulps = std::max(counts[o].most_ulps, ulps);
        }
        for (const auto& c : best.Finish()) counts[o].ids.push_back(c.id);
      }
    }
    int64_t most_ulps = 0, lists = 0;
    double changed = 0;
    for (size_t o = 0; o < orders.size(); ++o) {
      const double share = static_cast<double>(counts[o].changed) /
                           (static_cast<double>(m) * static_cast<double>(n));
      const int64_t lists_changed = ListsThatDiffer(counts[o].ids, counts[0].ids);
      table.Row(std::string(scaled ? "pixel / 255" : "pixel"), std::string(orders[o].name), share,
                counts[o].most_ulps, lists_changed, ListsThatDiffer(counts[o].ids, exact->ids));
      most_ulps = std::max(most_ulps, counts[o].most_ulps);
      lists = std::max(lists, lists_changed);
      changed = std::max(changed, share);
    }
    const std::string prefix = scaled ? "scaled" : "whole";
    const std::string what = scaled ? " (pixels divided by 255)" : " (pixels 0 to 255)";
    report.Exact(prefix + "_changed", changed,
                 "Largest share of sums that another order changes" + what);
    report.Exact(prefix + "_ulps", most_ulps, "Largest change of a sum" + what, "ulp");
    report.Exact(prefix + "_lists", lists, "Most lists of ten that another order changes" + what);
  }
  context.Progress(total, total, "adding in five orders");
  report.Exact("order_queries", m, "Queries for which orders were compared");
  report.Exact("farthest_listed", farthest_listed,
               "Largest squared distance in any list of ten, in whole numbers");
  report.Exact("exact_limit", int64_t{1} << 24,
               "Whole numbers up to here are exact in single precision");
  return absl::OkStatus();
}

// Rounded sums against whole numbers, for every query.
absl::Status Rounding(Context& context, const Garments& garments, Report& report) {
  const auto whole = IndexOf<uint8_t>(garments.base, kPixels, Metric::kL2);
  if (!whole.ok()) return whole.status();
  const std::vector<float> rows = Floats(garments.base, 255.0f);
  const auto rounded = IndexOf<float>(rows, kPixels, Metric::kL2);
  if (!rounded.ok()) return rounded.status();
  ThreadPool pool(context.threads());
  int64_t equal_pairs = 0, lists_with_ties = 0, lists_changed = 0, changed_without_ties = 0;
  double closest = 1;
  const absl::Status status =
      SearchAll(context, *whole, garments.queries, kListed + 1, "rounding",
                [&](int64_t first, const SearchResult& exact) -> absl::Status {
                  const std::vector<float> queries =
                      Floats(std::span<const uint8_t>(garments.queries)
                                 .subspan(static_cast<size_t>(first * kPixels),
                                          static_cast<size_t>(exact.queries * kPixels)),
                             255.0f);
                  const auto found = rounded->Search(queries, kListed, {.pool = &pool});
                  if (!found.ok()) return found.status();
                  for (int64_t q = 0; q < exact.queries; ++q) {
                    const auto distances = exact.Distances(q);
                    int64_t equal = 0;
                    for (size_t i = 0; i < kListed; ++i) {
                      const double gap = distances[i + 1] - distances[i];
                      equal += gap == 0;
                      if (gap > 0) closest = std::min(closest, gap / distances[i + 1]);
                    }
                    const bool changed = !std::equal(found->Ids(q).begin(), found->Ids(q).end(),
                                                     exact.Ids(q).begin());
                    equal_pairs += equal;
                    lists_with_ties += equal > 0;
                    lists_changed += changed;
                    changed_without_ties += changed && equal == 0;
                  }
                  return absl::OkStatus();
                });
  if (!status.ok()) return status;
  report.Exact("equal_pairs", equal_pairs,
               "Neighbours in a row that are equally far, in whole numbers");
  report.Exact("lists_with_ties", lists_with_ties, "Lists of ten that hold such a pair");
  report.Exact("rounding_lists", lists_changed,
               "Lists of ten that rounding changes, of all queries");
  report.Exact("rounding_untied", changed_without_ties,
               "Of these, lists in which no two are equally far");
  report.Exact("closest", closest, "Smallest difference of two neighbours in a row, relative");
  return absl::OkStatus();
}

// ---------------------------------------------------------------- are all points equally far?

// The median, over queries, of the nearest distance over the mean distance.
absl::StatusOr<double> NearestOverMean(std::span<const uint8_t> base,
                                       std::span<const uint8_t> queries, int64_t dimension,
                                       std::vector<int64_t>* histogram) {
  const auto index = IndexOf<uint8_t>(base, dimension, Metric::kL2);
  if (!index.ok()) return index.status();
  std::vector<double> ratios;
  const auto size = static_cast<size_t>(dimension);
  for (size_t at = 0; at < queries.size(); at += size) {
    const auto found = index->Search(queries.subspan(at, size), index->size());
    if (!found.ok()) return found.status();
    double sum = 0;
    for (const double distance : found->distances) sum += std::sqrt(distance);
    const double mean = sum / static_cast<double>(found->distances.size());
    if (mean == 0) return absl::InvalidArgumentError("all points are one");
    ratios.push_back(std::sqrt(found->distances[0]) / mean);
    if (histogram == nullptr) continue;
    for (const double distance : found->distances) {
      const auto bin = static_cast<size_t>(20.0 * std::sqrt(distance) / mean);
      ++(*histogram)[std::min(bin, histogram->size() - 1)];
    }
  }
  return Median(std::move(ratios));
}

// The columns `pixels` of some images, one after the other.
std::vector<uint8_t> Columns(std::span<const uint8_t> images, std::span<const int64_t> pixels) {
  std::vector<uint8_t> chosen;
  chosen.reserve(images.size() / kPixels * pixels.size());
  for (size_t at = 0; at < images.size(); at += kPixels) {
    for (const int64_t pixel : pixels) chosen.push_back(images[at + static_cast<size_t>(pixel)]);
  }
  return chosen;
}

std::vector<uint8_t> Noise(int64_t count, uint64_t seed, uint64_t stream) {
  Random random(seed, stream);
  std::vector<uint8_t> bytes;
  bytes.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) bytes.push_back(static_cast<uint8_t>(random.Next32() >> 24));
  return bytes;
}

absl::Status Contrast(Context& context, const Garments& garments, Report& report) {
  const auto n = static_cast<int64_t>(garments.base_labels.size());
  const int64_t m = std::min(context.Integer("contrast_queries", 10, 50, 100),
                             static_cast<int64_t>(garments.query_labels.size()));
  if (m < 1) return absl::InvalidArgumentError("contrast_queries must be at least 1");
  const uint64_t seed = context.seed();
  const auto queries =
      std::span<const uint8_t>(garments.queries).first(static_cast<size_t>(m * kPixels));
  std::vector<int64_t> order = Random(seed).Permutation(kPixels);
  auto& table = report.AddTable("contrast", "The nearest distance over the mean distance");
  table.Column<int64_t>("dimension").Column<double>("garments").Column<double>("noise");
  std::vector<int64_t> garment_bins(40), noise_bins(40);
  const std::array<int64_t, 6> dimensions = {2, 8, 32, 128, 392, kPixels};
  for (size_t i = 0; i < dimensions.size(); ++i) {
    const int64_t d = dimensions[i];
    context.Progress(static_cast<int64_t>(i), dimensions.size(), "measuring contrast");
    const auto pixels = std::span<const int64_t>(order).first(static_cast<size_t>(d));
    const bool all = d == kPixels;
    const auto images = NearestOverMean(Columns(garments.base, pixels), Columns(queries, pixels), d,
                                        all ? &garment_bins : nullptr);
    if (!images.ok()) return images.status();
    const auto noise = NearestOverMean(Noise(n * d, seed, 2 * i + 1), Noise(m * d, seed, 2 * i + 2),
                                       d, all ? &noise_bins : nullptr);
    if (!noise.ok()) return noise.status();
    table.Row(d, *images, *noise);
    if (all) {
      report.Exact("garment_contrast", *images,
                   "Nearest distance over mean distance, garments (median)");
      report.Exact("noise_contrast", *noise, "Nearest distance over mean distance, noise (median)");
    }
  }
  auto& bins = report.AddTable("distances", "How far everything is, over the mean distance");
  bins.Column<double>("distance").Column<double>("garments").Column<double>("noise");
  const double pairs = static_cast<double>(n) * static_cast<double>(m);
  for (size_t i = 0; i < garment_bins.size(); ++i) {
    bins.Row((static_cast<double>(i) + 0.5) / 20.0, static_cast<double>(garment_bins[i]) / pairs,
             static_cast<double>(noise_bins[i]) / pairs);
  }
  return absl::OkStatus();
}

// ---------------------------------------------------------------- the lab

absl::Status Run(Context& context, Report& report) {
  const absl::StatusOr<Garments> garments = Load(context);
  if (!garments.ok()) return garments.status();
  for (const auto section : {Accuracy, Metrics, Rewrites, Orders, Rounding, Contrast}) {
    if (absl::Status status = section(context, *garments, report); !status.ok()) return status;
  }
  Duplicates(*garments, report);
  return absl::OkStatus();
}

// The rewrites against the clock, on the same rows and queries, one thread.
absl::Status Measure(MeasureContext& context, Measurements& measurements) {
  const absl::StatusOr<Garments> garments = AllGarments(context);
  if (!garments.ok()) return garments.status();
  const int64_t n = context.Integer("measure_base", 5000, 5000, 20000);
  const int64_t m = context.Integer("measure_queries", 32, 32, 32);
  if (n < kListed || n > 60000 || m < 1 || m > 10000) {
    return absl::InvalidArgumentError("measure_base or measure_queries is out of range");
  }
  Prepared prepared;
  if (absl::Status ready = Prepare(*garments, n, m, prepared); !ready.ok()) return ready;
  std::vector<lab::Variant> variants;
  const std::vector<int64_t> expected = prepared.rewrites[0].search().ids;
  std::vector<Rewrite> timed = prepared.rewrites;
  timed.push_back({"referenced", "no square root, the sum passed by reference",
                   [&prepared] { return SearchReferenced(prepared.rows); }});
  for (const Rewrite& rewrite : timed) {
    lab::Variant variant;
    variant.id = rewrite.id;
    variant.title = rewrite.name;
    const auto last = std::make_shared<Lists>();
    variant.run = [&rewrite, last] { *last = rewrite.search(); };
    variant.check = [&expected, last]() -> absl::Status {
      // Rounding may exchange near ties: one list in ten.
      if (last->ids.size() == expected.size() &&
          ListsThatDiffer(last->ids, expected) * 10 <= static_cast<int64_t>(expected.size())) {
        return absl::OkStatus();
      }
      return absl::InternalError("this form found other neighbours");
    };
    const double values = static_cast<double>(n) * static_cast<double>(m) * kPixels;
    variant.flops = 3.0 * values;
    const int64_t tile_bytes = rewrite.search().matrix_bytes;
    variant.bytes = tile_bytes > 0 ? static_cast<double>(tile_bytes) : 4.0 * values;
    variants.push_back(std::move(variant));
  }
  return measurements.Compare(context, "rewrites", "The same search, rewritten eight times",
                              variants);
}

ASSAY_LAB(nearest_neighbours,
          {.title = "Nearest-neighbour search under one line", .run = &Run, .measure = &Measure});

}  // namespace
}  // namespace assay::nearest_neighbours
