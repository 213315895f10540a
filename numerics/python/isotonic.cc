// SPDX-License-Identifier: Apache-2.0
#include "numerics/isotonic/isotonic.h"

#include <algorithm>
#include <limits>

#include "numerics/python/arrays.h"
#include "numerics/python/module.h"

namespace assay::python {
namespace {

template <class T>
void FitTyped(const py::array& y_array, const OptionalArray& weights_array,
              const py::array& fit_array, isotonic::Options options, int threads) {
  const MatrixView<const T> y = View<const T>(y_array);
  const MatrixView<const T> weights = WeightsView<T>(weights_array, y);
  const MatrixView<T> fit = View<T>(fit_array);
  const bool spans = y.rows() == 1 && y.has_contiguous_rows() && fit.has_contiguous_rows() &&
                     weights.has_contiguous_rows();
  Run(threads, [&](ThreadPool* pool) {
    options.pool = pool;
    if (!spans) return isotonic::FitRows(y, weights, fit, options);
    return isotonic::Fit(y.row(0), WeightsRow(weights, 0), fit.row(0), options);
  });
}

void Fit(const py::array& y, const OptionalArray& weights, const py::array& fit, bool increasing,
         double lower, double upper, int threads) {
  const auto typed = IsFloat(y) ? &FitTyped<float> : &FitTyped<double>;
  typed(y, weights, fit, FitOptions(increasing, lower, upper), threads);
}

// Block ends of every row, one after the other, and how many each row has.
struct Blocks {
  explicit Blocks(int64_t rows) : ends(static_cast<size_t>(rows)) {}

  py::tuple ToPython() const {
    std::vector<int64_t> all;
    std::vector<int64_t> counts;
    for (const std::vector<int64_t>& row : ends) {
      all.insert(all.end(), row.begin(), row.end());
      counts.push_back(static_cast<int64_t>(row.size()));
    }
    return py::make_tuple(Array(all), Array(counts));
  }

  std::vector<std::vector<int64_t>> ends;
};

template <class T>
py::tuple FitBlocksTyped(const py::array& y_array, const OptionalArray& weights_array,
                         const py::array& fit_array, isotonic::Options options, int threads) {
  const MatrixView<const T> y = View<const T>(y_array);
  const MatrixView<const T> weights = WeightsView<T>(weights_array, y);
  const MatrixView<T> fit = View<T>(fit_array);
  Blocks blocks(y.rows());
  Run(threads, [&](ThreadPool* pool) {
    return ForRows(y.rows(), pool, [&](int64_t i, ThreadPool* inner) {
      isotonic::Options own = options;
      own.pool = inner;
      return isotonic::Fit(y.row(i), WeightsRow(weights, i), fit.row(i), own,
                           &blocks.ends[static_cast<size_t>(i)]);
    });
  });
  return blocks.ToPython();
}

py::tuple FitBlocks(const py::array& y, const OptionalArray& weights, const py::array& fit,
                    bool increasing, double lower, double upper, int threads) {
  const auto typed = IsFloat(y) ? &FitBlocksTyped<float> : &FitBlocksTyped<double>;
  return typed(y, weights, fit, FitOptions(increasing, lower, upper), threads);
}

// Returns the blocks, or None if they are not wanted.
py::object FitLabels(const py::array& labels_array, const py::array& fit_array, bool increasing,
                     double lower, double upper, int threads, bool wanted) {
  const MatrixView<const uint8_t> labels = View<const uint8_t>(labels_array);
  const MatrixView<double> fit = View<double>(fit_array);
  Blocks blocks(labels.rows());
  Run(threads, [&](ThreadPool* pool) {
    return ForRows(labels.rows(), pool, [&](int64_t i, ThreadPool* inner) {
      isotonic::Options options = FitOptions(increasing, lower, upper);
      options.pool = inner;
      return isotonic::FitLabels(labels.row(i), fit.row(i), options,
                                 wanted ? &blocks.ends[static_cast<size_t>(i)] : nullptr);
    });
  });
  return wanted ? py::object(blocks.ToPython()) : py::none();
}

template <class T>
void GradientTyped(const py::array& y_array, const OptionalArray& weights_array,
                   const py::array& fit_array, const py::tuple& blocks,
                   const py::array& upstream_array, double lower, double upper,
                   const py::array& gradient_y_array, const OptionalArray& gradient_weights_array,
                   int threads) {
  const MatrixView<const T> y = View<const T>(y_array);
  const MatrixView<const T> weights = WeightsView<T>(weights_array, y);
  const MatrixView<const T> fit = View<const T>(fit_array);
  const MatrixView<const T> upstream = View<const T>(upstream_array);
  const MatrixView<T> gradient_y = View<T>(gradient_y_array);
  const MatrixView<T> gradient_weights =
      gradient_weights_array ? View<T>(*gradient_weights_array) : MatrixView<T>();
  const std::span<const int64_t> ends = Span<const int64_t>(blocks[0].cast<py::array>());
  const std::span<const int64_t> counts = Span<const int64_t>(blocks[1].cast<py::array>());
  std::vector<size_t> begins(counts.size());
  for (size_t i = 1; i < begins.size(); ++i) {
    begins[i] = begins[i - 1] + static_cast<size_t>(counts[i - 1]);
  }
  const isotonic::Options options = FitOptions(true, lower, upper);
  Run(threads, [&](ThreadPool* pool) {
    return ForRows(y.rows(), pool, [&](int64_t i, ThreadPool*) {
      const size_t row = static_cast<size_t>(i);
      return isotonic::Gradient(
          y.row(i), WeightsRow(weights, i), fit.row(i),
          ends.subspan(begins[row], static_cast<size_t>(counts[row])), upstream.row(i), options,
          gradient_y.row(i), gradient_weights.empty() ? std::span<T>() : gradient_weights.row(i));
    });
  });
}

void Gradient(const py::array& y, const OptionalArray& weights, const py::array& fit,
              const py::tuple& blocks, const py::array& upstream, double lower, double upper,
              const py::array& gradient_y, const OptionalArray& gradient_weights, int threads) {
  const auto typed = IsFloat(y) ? &GradientTyped<float> : &GradientTyped<double>;
  typed(y, weights, fit, blocks, upstream, lower, upper, gradient_y, gradient_weights, threads);
}

}  // namespace

void DefineIsotonic(py::module_& module) {
  module.def("fit", &Fit);
  module.def("fit_blocks", &FitBlocks);
  module.def("fit_labels", &FitLabels);
  module.def("gradient", &Gradient);
}

}  // namespace assay::python
