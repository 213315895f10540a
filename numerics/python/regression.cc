// SPDX-License-Identifier: Apache-2.0
#include "numerics/isotonic/regression.h"

#include <utility>

#include "absl/status/statusor.h"
#include "numerics/python/arrays.h"
#include "numerics/python/module.h"

namespace assay::python {
namespace {

using isotonic::Interpolation;
using isotonic::IsotonicRegression;
using isotonic::Outside;
using isotonic::Ties;
using isotonic::Trend;

isotonic::RegressionOptions Options(Trend trend, double lower, double upper, Ties ties,
                                    double x_tolerance, bool centred) {
  isotonic::RegressionOptions options;
  options.trend = trend;
  options.lower = lower;
  options.upper = upper;
  options.ties = ties;
  options.x_tolerance = x_tolerance;
  options.centred = centred;
  return options;
}

IsotonicRegression FitFunction(const py::array& x, const py::array& y, const OptionalArray& weights,
                               Trend trend, double lower, double upper, double x_tolerance,
                               bool centred, int threads) {
  const auto xs = Span<const double>(x);
  const auto ys = Span<const double>(y);
  const auto ws = Span<const double>(weights);
  return Compute<IsotonicRegression>(threads, [&](ThreadPool* pool) {
    isotonic::RegressionOptions options =
        Options(trend, lower, upper, Ties::kSecondary, x_tolerance, centred);
    options.pool = pool;
    return IsotonicRegression::Fit(xs, ys, ws, options);
  });
}

void FitPoints(const py::array& x, const py::array& y, const OptionalArray& weights,
               const py::array& fit, Trend trend, double lower, double upper, Ties ties,
               double x_tolerance, int threads) {
  const auto xs = Span<const double>(x);
  const auto ys = Span<const double>(y);
  const auto ws = Span<const double>(weights);
  const auto out = Span<double>(fit);
  Run(threads, [&](ThreadPool* pool) {
    isotonic::RegressionOptions options = Options(trend, lower, upper, ties, x_tolerance, false);
    options.pool = pool;
    return isotonic::FitPoints(xs, ys, ws, out, options);
  });
}

template <class T>
void PredictTyped(const IsotonicRegression& function, const py::array& queries,
                  const py::array& out, Interpolation interpolation, Outside outside, int threads) {
  const auto from = Span<const T>(queries);
  const auto to = Span<T>(out);
  Run(threads,
      [&](ThreadPool* pool) { return function.Predict(from, to, interpolation, outside, pool); });
}

void Predict(const IsotonicRegression& function, const py::array& queries, const py::array& out,
             Interpolation interpolation, Outside outside, int threads) {
  const auto typed = IsFloat(queries) ? &PredictTyped<float> : &PredictTyped<double>;
  typed(function, queries, out, interpolation, outside, threads);
}

IsotonicRegression FromThresholds(const py::array& x, const py::array& y) {
  const auto xs = Span<const double>(x);
  const auto ys = Span<const double>(y);
  absl::StatusOr<IsotonicRegression> function = IsotonicRegression::FromThresholds(
      std::vector<double>(xs.begin(), xs.end()), std::vector<double>(ys.begin(), ys.end()));
  Check(function.status());
  return *std::move(function);
}

py::array_t<double> Thresholds(std::span<const double> values) {
  return py::array_t<double>(static_cast<py::ssize_t>(values.size()), values.data());
}

py::tuple State(const IsotonicRegression& function) {
  return py::make_tuple(Thresholds(function.x_thresholds()), Thresholds(function.y_thresholds()));
}

// Whether the direction found by Spearman's correlation is a guess; false where nobody asked it.
bool IsAmbiguous(const IsotonicRegression& function) {
  return function.spearman().has_value() && function.spearman()->ambiguous;
}

py::tuple SpearmanCorrelation(const py::array& x, const py::array& y, int threads) {
  const auto xs = Span<const double>(x);
  const auto ys = Span<const double>(y);
  const auto found = Compute<isotonic::Spearman>(
      threads, [&](ThreadPool* pool) { return isotonic::SpearmanCorrelation(xs, ys, pool); });
  return py::make_tuple(found.rho, found.ambiguous);
}

}  // namespace

void DefineRegression(py::module_& module) {
  py::enum_<Trend>(module, "Trend")
      .value("increasing", Trend::kIncreasing)
      .value("decreasing", Trend::kDecreasing)
      .value("auto", Trend::kAuto);
  py::enum_<Ties>(module, "Ties")
      .value("primary", Ties::kPrimary)
      .value("secondary", Ties::kSecondary)
      .value("tertiary", Ties::kTertiary);
  py::enum_<Interpolation>(module, "Interpolation")
      .value("linear", Interpolation::kLinear)
      .value("step", Interpolation::kStep)
      .value("step_next", Interpolation::kStepNext);
  py::enum_<Outside>(module, "Outside")
      .value("nan", Outside::kNan)
      .value("clip", Outside::kClip)
      .value("raise", Outside::kRaise);
  py::class_<IsotonicRegression>(module, "Function")
      .def_static("fit", &FitFunction)
      .def("predict", &Predict)
      .def_property_readonly("thresholds", &State)
      .def_property_readonly("increasing", &IsotonicRegression::increasing)
      .def_property_readonly("ambiguous", &IsAmbiguous)
      .def(py::pickle(&State, [](const py::tuple& state) {
        return FromThresholds(state[0].cast<py::array>(), state[1].cast<py::array>());
      }));
  module.def("fit_points", &FitPoints);
  module.def("spearman", &SpearmanCorrelation);
}

}  // namespace assay::python
