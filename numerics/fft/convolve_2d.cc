// SPDX-License-Identifier: Apache-2.0
#include "numerics/fft/convolve_2d.h"

#include <algorithm>
#include <array>
#include <complex>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "numerics/core/check.h"
#include "numerics/core/thread_pool.h"
#include "numerics/fft/fft.h"
#include "numerics/fft/internal/bounds.h"
#include "numerics/fft/internal/costs.h"
#include "numerics/fft/internal/direct.h"
#include "numerics/fft/multi.h"

namespace assay::fft {
namespace {

// Which outputs of the full convolution are wanted, and the operands' sizes.
struct Problem {
  Extent2d a, b;
  OutputRange rows, columns;

  int64_t OutputRows() const { return rows.end - rows.begin; }
  int64_t OutputColumns() const { return columns.end - columns.begin; }
};

bool Holds(Extent2d a, Extent2d b) { return a.rows >= b.rows && a.columns >= b.columns; }

absl::Status Check(Extent2d a, Extent2d b, ConvolveMode mode) {
  auto wrong = [&](absl::string_view expected) {
    return absl::InvalidArgumentError(absl::StrCat("convolve: images of ", a.rows, " x ", a.columns,
                                                   " and ", b.rows, " x ", b.columns, ", expected ",
                                                   expected));
  };
  for (int64_t extent : {a.rows, a.columns, b.rows, b.columns}) {
    if (extent < 1) return wrong("extents of at least 1");
    if (extent > kMaxSize / 2) return wrong(absl::StrCat("extents of at most ", kMaxSize / 2));
  }
  if (a.rows + b.rows > kMaxSize / (a.columns + b.columns)) {
    return wrong(absl::StrCat("at most ", kMaxSize, " elements in the full result"));
  }
  if (mode == ConvolveMode::kValid && !Holds(a, b) && !Holds(b, a)) {
    return wrong("one image to hold the other along both axes");
  }
  return absl::OkStatus();
}

Problem Pose(Extent2d a, Extent2d b, ConvolveMode mode) {
  return {a, b, WantedOutputs(a.rows, b.rows, mode), WantedOutputs(a.columns, b.columns, mode)};
}

// A tile of the transform, and how many of its outputs are right: rows x columns of the tile less
// those that the filter's extent wraps around. As OverlapSave, over two axes.
struct Tiles {
  Extent2d size, step;
  double cost;
};

// A transform over both axes: each passes over the tile, and a tile is filled and read out.
double TransformCost(Extent2d size) {
  return 2 * internal::RealTransformCost(size.rows * size.columns);
}

// What it takes to cover rows x columns outputs.
double TilesCost(Extent2d size, Extent2d step, int64_t rows, int64_t columns) {
  const double count = static_cast<double>((rows - 1) / step.rows + 1) *
                       static_cast<double>((columns - 1) / step.columns + 1);
  return (2 * count + 1) * TransformCost(size) + internal::PlanCost(size.rows + size.columns) +
         internal::MemoryCost(static_cast<double>(rows) * static_cast<double>(columns));
}

// The transform that takes in everything: outputs that are not wanted may be wrapped around.
Tiles Whole(const Problem& p) {
  auto size = [](int64_t n, int64_t m, OutputRange range) {
    return GoodSize(std::max({n, m, range.end, n + m - 1 - range.begin}));
  };
  const Extent2d whole = {size(p.a.rows, p.b.rows, p.rows),
                          size(p.a.columns, p.b.columns, p.columns)};
  const double cells = static_cast<double>(whole.rows * whole.columns);
  return {whole, whole, 3 * TransformCost(whole) + internal::MemoryCost(cells)};
}

// The filter: the image that is held, or the smaller one.
bool FilterIsA(const Problem& p) { return p.a.rows * p.a.columns < p.b.rows * p.b.columns; }

Tiles BestTiles(const Problem& p) {
  const Extent2d filter = FilterIsA(p) ? p.a : p.b;
  auto sizes = [](int64_t m, int64_t outputs) {
    std::vector<int64_t> found;
    for (int64_t power = 8; power <= kMaxSize / 2; power *= 2) {
      for (int64_t size : {power / 2 * 3, power}) {
        if (size >= 2 * m) found.push_back(size);
      }
      if (power >= 32 * m || power >= 2 * (m + outputs)) break;
    }
    return found;
  };
  Tiles best = {{0, 0}, {0, 0}, std::numeric_limits<double>::infinity()};
  for (int64_t rows : sizes(filter.rows, p.OutputRows())) {
    for (int64_t columns : sizes(filter.columns, p.OutputColumns())) {
      const Extent2d size = {rows, columns};
      const Extent2d step = {rows - filter.rows + 1, columns - filter.columns + 1};
      const double cost = TilesCost(size, step, p.OutputRows(), p.OutputColumns());
      if (cost < best.cost) best = {size, step, cost};
    }
  }
  return best;
}

double Direct(const Problem& p) {
  const double outputs =
      static_cast<double>(p.OutputRows()) * static_cast<double>(p.OutputColumns());
  const double rows = static_cast<double>(std::min(p.a.rows, p.b.rows));
  const double columns = static_cast<double>(std::min(p.a.columns, p.b.columns));
  // Each row of the filter passes over the outputs once; they stay in a cache.
  return outputs * rows * (columns + 5) + internal::MemoryCost(outputs);
}

ConvolveMethod Choose(const Problem& p) {
  const double direct = Direct(p), whole = Whole(p).cost, tiles = BestTiles(p).cost;
  if (direct <= whole && direct <= tiles) return ConvolveMethod::kDirect;
  return whole <= tiles ? ConvolveMethod::kFft : ConvolveMethod::kOverlapSave;
}

// Calls body(begin, end) for blocks of [0, n).
template <class Body>
void Split(ThreadPool* pool, int64_t n, int64_t block, Body body) {
  if (pool == nullptr) return body(int64_t{0}, n);
  pool->ParallelFor(n, block, body);
}

template <class T>
std::vector<T> ConvolveDirect(std::span<const T> a, std::span<const T> b, const Problem& p,
                              ThreadPool* pool) {
  std::vector<T> c(static_cast<size_t>(p.OutputRows() * p.OutputColumns()));
  // The operand with the longer rows, with margins: beyond a row AddProducts reads its neighbours,
  // and does not look at them.
  const bool a_is_short = p.a.columns <= p.b.columns;
  const std::span<const T> l = a_is_short ? b : a, s = a_is_short ? a : b;
  std::vector<T> wide(l.size() + 2 * internal::kMargin);
  std::copy(l.begin(), l.end(), wide.begin() + internal::kMargin);
  const T* const rows = wide.data() + internal::kMargin;
  const int64_t long_columns = std::max(p.a.columns, p.b.columns);
  const int64_t short_columns = std::min(p.a.columns, p.b.columns);
  Split(pool, p.OutputRows(), 4, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t y = p.rows.begin + row;
      for (int64_t i = std::max<int64_t>(0, y - p.b.rows + 1); i <= std::min(y, p.a.rows - 1);
           ++i) {
        const int64_t at_short = a_is_short ? i : y - i, at_long = a_is_short ? y - i : i;
        internal::AddProducts(s.data() + at_short * short_columns, short_columns,
                              rows + at_long * long_columns, long_columns, p.columns.begin,
                              p.columns.end,
                              a_is_short ? internal::Order::kRising : internal::Order::kFalling,
                              c.data() + row * p.OutputColumns());
      }
    }
  });
  return c;
}

template <class T>
absl::StatusOr<MultiRealPlan<T>> PlanOf(const Tiles& tiles) {
  return MultiRealPlan<T>::Create(std::array<int64_t, 2>{tiles.size.rows, tiles.size.columns}, 2);
}

// One image, or a window of it from (top, left) on, in the corner of a tile, zeros around.
template <class T>
void FillTile(std::span<const T> image, Extent2d size, int64_t top, int64_t left, Extent2d tile,
              T* to) {
  std::fill(to, to + tile.rows * tile.columns, T{0});
  const int64_t first = std::max<int64_t>(0, -left);
  const int64_t last = std::min(tile.columns, size.columns - left);
  if (first >= last) return;
  for (int64_t row = std::max<int64_t>(0, -top); row < std::min(tile.rows, size.rows - top);
       ++row) {
    std::copy_n(image.data() + (top + row) * size.columns + left + first, last - first,
                to + row * tile.columns + first);
  }
}

template <class T>
absl::StatusOr<std::vector<T>> ConvolveTiles(std::span<const T> a, std::span<const T> b,
                                             const Problem& p, const Tiles& tiles, bool whole,
                                             ThreadPool* pool) {
  absl::StatusOr<MultiRealPlan<T>> plan = PlanOf<T>(tiles);
  if (!plan.ok()) return plan.status();
  const bool filter_is_a = FilterIsA(p);
  const std::span<const T> filter = filter_is_a ? a : b, image = filter_is_a ? b : a;
  const Extent2d filter_size = filter_is_a ? p.a : p.b, image_size = filter_is_a ? p.b : p.a;
  const size_t cells = static_cast<size_t>(tiles.size.rows * tiles.size.columns);
  auto transform = [&](std::vector<T>* cell, std::vector<std::complex<T>>* spectrum,
                       std::vector<T>* scratch) {
    ASSAY_CHECK(plan->Forward(*cell, *spectrum, *scratch).ok());
  };
  std::vector<std::complex<T>> known(static_cast<size_t>(plan->spectrum_size()));
  {
    std::vector<T> cell(cells), scratch(static_cast<size_t>(plan->scratch_size()));
    FillTile(filter, filter_size, 0, 0, tiles.size, cell.data());
    transform(&cell, &known, &scratch);
  }
  std::vector<T> c(static_cast<size_t>(p.OutputRows() * p.OutputColumns()));
  // Whole: outputs stand where they belong. Otherwise a tile begins filter - 1 before its outputs.
  const Extent2d lead =
      whole ? Extent2d{0, 0} : Extent2d{filter_size.rows - 1, filter_size.columns - 1};
  const int64_t down = whole ? 1 : (p.OutputRows() - 1) / tiles.step.rows + 1;
  const int64_t across = whole ? 1 : (p.OutputColumns() - 1) / tiles.step.columns + 1;
  Split(pool, down * across, 1, [&](int64_t begin, int64_t end) {
    std::vector<T> cell(cells), scratch(static_cast<size_t>(plan->scratch_size()));
    std::vector<std::complex<T>> spectrum(known.size());
    for (int64_t i = begin; i < end; ++i) {
      const int64_t y = i / across * tiles.step.rows, x = i % across * tiles.step.columns;
      const int64_t top = whole ? 0 : p.rows.begin + y - lead.rows;
      const int64_t left = whole ? 0 : p.columns.begin + x - lead.columns;
      FillTile(image, image_size, top, left, tiles.size, cell.data());
      transform(&cell, &spectrum, &scratch);
      internal::MultiplySpectra(reinterpret_cast<T*>(spectrum.data()),
                                reinterpret_cast<const T*>(known.data()), plan->spectrum_size());
      ASSAY_CHECK(plan->Inverse(spectrum, cell, scratch).ok());
      const int64_t from_row = whole ? p.rows.begin : lead.rows;
      const int64_t from_column = whole ? p.columns.begin : lead.columns;
      const int64_t rows = std::min(tiles.step.rows, p.OutputRows() - y);
      const int64_t columns = std::min(tiles.step.columns, p.OutputColumns() - x);
      for (int64_t row = 0; row < rows; ++row) {
        std::copy_n(cell.data() + (from_row + row) * tiles.size.columns + from_column, columns,
                    c.data() + (y + row) * p.OutputColumns() + x);
      }
    }
  });
  return c;
}

template <class T>
bool AllFinite(std::span<const T> x) {
  return std::all_of(x.begin(), x.end(), [](T v) { return v - v == 0; });
}

}  // namespace

Extent2d ConvolvedSize(Extent2d a, Extent2d b, ConvolveMode mode) {
  const Problem p = Pose(a, b, mode);
  return {p.OutputRows(), p.OutputColumns()};
}

ConvolveMethod ChooseConvolution2d(Extent2d a, Extent2d b, ConvolveMode mode) {
  ASSAY_CHECK(Check(a, b, mode).ok());
  return Choose(Pose(a, b, mode));
}

template <class T>
absl::StatusOr<std::vector<T>> Convolve2d(std::span<const T> a, Extent2d a_size,
                                          std::span<const T> b, Extent2d b_size,
                                          ConvolveOptions options) {
  absl::Status status = Check(a_size, b_size, options.mode);
  if (!status.ok()) return status;
  if (static_cast<int64_t>(a.size()) != a_size.rows * a_size.columns ||
      static_cast<int64_t>(b.size()) != b_size.rows * b_size.columns) {
    return absl::InvalidArgumentError(absl::StrCat(
        "convolve: images of ", a.size(), " and ", b.size(), " elements, expected ", a_size.rows,
        " x ", a_size.columns, " and ", b_size.rows, " x ", b_size.columns));
  }
  const Problem p = Pose(a_size, b_size, options.mode);
  ConvolveMethod method = options.method;
  if (method == ConvolveMethod::kAuto) method = Choose(p);
  if (options.direct_if_not_finite && !(AllFinite(a) && AllFinite(b))) {
    method = ConvolveMethod::kDirect;
  }
  if (method == ConvolveMethod::kDirect) return ConvolveDirect(a, b, p, options.pool);
  const bool whole = method == ConvolveMethod::kFft;
  return ConvolveTiles(a, b, p, whole ? Whole(p) : BestTiles(p), whole, options.pool);
}

template <class T>
double Convolve2dErrorBound(std::span<const T> a, Extent2d a_size, std::span<const T> b,
                            Extent2d b_size, ConvolveMode mode) {
  ASSAY_CHECK(Check(a_size, b_size, mode).ok());
  const Problem p = Pose(a_size, b_size, mode);
  double factor = 0;
  for (const Tiles& tiles : {Whole(p), BestTiles(p)}) {
    absl::StatusOr<MultiRealPlan<T>> plan = PlanOf<T>(tiles);
    if (!plan.ok()) return std::numeric_limits<double>::infinity();
    factor =
        std::max(factor, internal::BoundFactor<T>(plan->L2ErrorBound(), plan->PathErrorBound(), 1));
  }
  return factor * internal::NormBound(a) * internal::NormBound(b);
}

template absl::StatusOr<std::vector<float>> Convolve2d(std::span<const float>, Extent2d,
                                                       std::span<const float>, Extent2d,
                                                       ConvolveOptions);
template absl::StatusOr<std::vector<double>> Convolve2d(std::span<const double>, Extent2d,
                                                        std::span<const double>, Extent2d,
                                                        ConvolveOptions);
template double Convolve2dErrorBound(std::span<const float>, Extent2d, std::span<const float>,
                                     Extent2d, ConvolveMode);
template double Convolve2dErrorBound(std::span<const double>, Extent2d, std::span<const double>,
                                     Extent2d, ConvolveMode);

}  // namespace assay::fft
