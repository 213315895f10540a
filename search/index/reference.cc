// SPDX-License-Identifier: Apache-2.0

#include "search/index/reference.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"

namespace assay::index {
namespace {

// Adds in the documented order: term i goes to lane i mod 16, then the lanes fold in halves.
template <class T>
class LaneSum {
 public:
  void Add(int64_t i, T term) { lanes_[i % 16] += term; }
  double Total() {
    for (int half = 8; half > 0; half /= 2) {
      for (int j = 0; j < half; ++j) lanes_[j] += lanes_[j + half];
    }
    return lanes_[0];
  }

 private:
  T lanes_[16] = {};
};

class WholeSum {
 public:
  void Add(int64_t, int64_t term) { total_ += term; }
  double Total() const { return static_cast<double>(total_); }

 private:
  int64_t total_ = 0;
};

LaneSum<float> MakeSum(float) { return {}; }
WholeSum MakeSum(uint8_t) { return {}; }
float Wide(float x) { return x; }
int64_t Wide(uint8_t x) { return x; }

template <class T>
double Product(MatrixView<const T> a, int64_t i, MatrixView<const T> b, int64_t j) {
  auto sum = MakeSum(T{});
  for (int64_t c = 0; c < a.cols(); ++c) sum.Add(c, Wide(a(i, c)) * Wide(b(j, c)));
  return sum.Total();
}

// Squares outside these bounds, and products with such vectors, are summed in f64.
bool FitsF32(double square) { return 0x1p-100 <= square && square <= 0x1p120; }

double WideProduct(MatrixView<const float> a, int64_t i, MatrixView<const float> b, int64_t j) {
  LaneSum<double> sum;
  for (int64_t c = 0; c < a.cols(); ++c) sum.Add(c, double{a(i, c)} * double{b(j, c)});
  return sum.Total();
}

double Cosine(MatrixView<const float> a, int64_t i, MatrixView<const float> b, int64_t j, double xx,
              double yy) {
  if (!FitsF32(xx)) xx = WideProduct(a, i, a, i);
  if (!FitsF32(yy)) yy = WideProduct(b, j, b, j);
  if (xx == 0 || yy == 0) return 1.0;
  const bool narrow = FitsF32(xx) && FitsF32(yy);
  return 1.0 - (narrow ? Product(a, i, b, j) : WideProduct(a, i, b, j)) / std::sqrt(xx * yy);
}

// Bytes are summed exactly.
double Cosine(MatrixView<const uint8_t> a, int64_t i, MatrixView<const uint8_t> b, int64_t j,
              double xx, double yy) {
  if (xx == 0 || yy == 0) return 1.0;
  return 1.0 - Product(a, i, b, j) / std::sqrt(xx * yy);
}

template <class T>
double Value(MatrixView<const T> a, int64_t i, MatrixView<const T> b, int64_t j, Metric metric) {
  if (metric == Metric::kInnerProduct) return Product(a, i, b, j);
  if (metric == Metric::kCosine) {
    const double value = Cosine(a, i, b, j, Product(a, i, a, i), Product(b, j, b, j));
    if (std::isnan(value)) return value;
    return std::min(std::max(value, 0.0), 2.0);
  }
  auto sum = MakeSum(T{});
  for (int64_t c = 0; c < a.cols(); ++c) {
    const auto difference = Wide(a(i, c)) - Wide(b(j, c));
    sum.Add(c, difference * difference);
  }
  return sum.Total();
}

template <class T>
bool Finite(MatrixView<const T> a, int64_t i) {
  for (int64_t c = 0; c < a.cols(); ++c) {
    if (!std::isfinite(static_cast<double>(a(i, c)))) return false;
  }
  return true;
}

template <class T>
absl::StatusOr<SearchResult> Search(MatrixView<const T> rows, MatrixView<const T> queries,
                                    int64_t k, Metric metric) {
  if (k < 1) {
    return absl::InvalidArgumentError(absl::StrCat("search: k is ", k, ", expected 1 or more"));
  }
  if (rows.cols() != queries.cols()) {
    return absl::InvalidArgumentError(
        absl::StrCat("search: queries have ", queries.cols(), " columns, rows have ", rows.cols()));
  }
  SearchResult result;
  result.queries = queries.rows();
  result.k = k;
  for (int64_t q = 0; q < queries.rows(); ++q) {
    struct Hit {
      double value;
      int64_t id;
    };
    std::vector<Hit> hits;
    for (int64_t r = 0; r < rows.rows() && Finite(queries, q); ++r) {
      if (!Finite(rows, r)) continue;
      const double value = Value(queries, q, rows, r, metric);
      if (!std::isnan(value)) hits.push_back({value, r});
    }
    std::stable_sort(hits.begin(), hits.end(), [metric](const Hit& a, const Hit& b) {
      return Closer(metric, a.value, a.id, b.value, b.id);
    });
    const int64_t found = std::min<int64_t>(k, static_cast<int64_t>(hits.size()));
    result.found.push_back(found);
    for (int64_t i = 0; i < k; ++i) {
      const double none = LargerIsCloser(metric) ? -std::numeric_limits<double>::infinity()
                                                 : std::numeric_limits<double>::infinity();
      result.ids.push_back(i < found ? hits[static_cast<size_t>(i)].id : -1);
      result.distances.push_back(i < found ? hits[static_cast<size_t>(i)].value : none);
    }
  }
  return result;
}

}  // namespace

absl::StatusOr<SearchResult> SearchReference(MatrixView<const float> rows,
                                             MatrixView<const float> queries, int64_t k,
                                             Metric metric) {
  return Search(rows, queries, k, metric);
}

absl::StatusOr<SearchResult> SearchReference(MatrixView<const uint8_t> rows,
                                             MatrixView<const uint8_t> queries, int64_t k,
                                             Metric metric) {
  return Search(rows, queries, k, metric);
}

}  // namespace assay::index
