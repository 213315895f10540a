// SPDX-License-Identifier: Apache-2.0
#include "numerics/isotonic/losses.h"

#include "numerics/isotonic/unimodal.h"
#include "numerics/python/arrays.h"
#include "numerics/python/module.h"

namespace assay::python {
namespace {

using isotonic::Minimizer;

using FitRow = std::function<absl::Status(std::span<const double>, std::span<const double>,
                                          std::span<double>, const isotonic::Options&)>;

// Fits each row of y.
void FitRowsBy(const FitRow& fit_row, const py::array& y_array, const OptionalArray& weights_array,
               const py::array& fit_array, const isotonic::Options& options, int threads) {
  const auto y = View<const double>(y_array);
  const auto weights = WeightsView<double>(weights_array, y);
  const auto fit = View<double>(fit_array);
  Run(threads, [&](ThreadPool* pool) {
    return ForRows(y.rows(), pool, [&](int64_t i, ThreadPool* inner) {
      isotonic::Options own = options;
      own.pool = inner;
      return fit_row(y.row(i), WeightsRow(weights, i), fit.row(i), own);
    });
  });
}

void FitQuantile(const py::array& y, const OptionalArray& weights, const py::array& fit,
                 bool increasing, double lower, double upper, int threads, double tau,
                 Minimizer which) {
  FitRowsBy(
      [&](auto y, auto weights, auto fit, auto& options) {
        return isotonic::FitQuantile(y, weights, tau, which, fit, options);
      },
      y, weights, fit, FitOptions(increasing, lower, upper), threads);
}

void FitHuber(const py::array& y, const OptionalArray& weights, const py::array& fit,
              bool increasing, double lower, double upper, int threads, double delta,
              Minimizer which) {
  FitRowsBy(
      [&](auto y, auto weights, auto fit, auto& options) {
        return isotonic::FitHuber(y, weights, delta, which, fit, options);
      },
      y, weights, fit, FitOptions(increasing, lower, upper), threads);
}

void FitPoisson(const py::array& y, const OptionalArray& weights, const py::array& fit,
                bool increasing, double lower, double upper, int threads) {
  FitRowsBy(&isotonic::FitPoisson, y, weights, fit, FitOptions(increasing, lower, upper), threads);
}

void FitReverseKl(const py::array& y, const OptionalArray& weights, const py::array& fit,
                  bool increasing, double lower, double upper, int threads) {
  FitRowsBy(&isotonic::FitReverseKl, y, weights, fit, FitOptions(increasing, lower, upper),
            threads);
}

py::tuple FitUnimodal(const py::array& y, const OptionalArray& weights, const py::array& fit,
                      int threads) {
  const auto ys = Span<const double>(y);
  const auto ws = Span<const double>(weights);
  const auto out = Span<double>(fit);
  const auto found = Compute<isotonic::Unimodal>(
      threads, [&](ThreadPool* pool) { return isotonic::FitUnimodal(ys, ws, out, pool); });
  return py::make_tuple(found.mode, found.error);
}

}  // namespace

void DefineLosses(py::module_& module) {
  py::enum_<Minimizer>(module, "Minimizer")
      .value("lower", Minimizer::kLower)
      .value("upper", Minimizer::kUpper)
      .value("middle", Minimizer::kMiddle);
  module.def("fit_quantile", &FitQuantile);
  module.def("fit_huber", &FitHuber);
  module.def("fit_poisson", &FitPoisson);
  module.def("fit_reverse_kl", &FitReverseKl);
  module.def("fit_unimodal", &FitUnimodal);
}

}  // namespace assay::python
