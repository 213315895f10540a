// SPDX-License-Identifier: Apache-2.0
#include "numerics/isotonic/calibration.h"

#include <algorithm>

#include "absl/status/statusor.h"
#include "numerics/python/arrays.h"
#include "numerics/python/module.h"

namespace assay::python {
namespace {

using isotonic::Calibrator;
using isotonic::IsotonicRegression;

// The numbers as bytes of 0 and 1, or nothing where one is neither. What is no label is mostly seen
// in the first block, so that asking costs nothing then.
template <class T>
bool CopyLabels(std::span<const T> values, std::span<uint8_t> labels) {
  constexpr size_t kBlock = 4096;
  for (size_t begin = 0; begin < values.size(); begin += kBlock) {
    const size_t end = std::min(values.size(), begin + kBlock);
    bool good = true;
    for (size_t i = begin; i < end; ++i) {
      const bool one = values[i] == T{1};
      good &= one | (values[i] == T{0});
      labels[i] = one;
    }
    if (!good) return false;
  }
  return true;
}

template <class T>
bool TryLabels(const py::array& values, std::optional<py::array_t<uint8_t>>& labels) {
  if (!py::isinstance<py::array_t<T>>(values)) return false;
  const auto from = Span<const T>(values);
  py::array_t<uint8_t> found(static_cast<py::ssize_t>(from.size()));
  if (CopyLabels<T>(from, Span<uint8_t>(found))) labels = std::move(found);
  return true;
}

// As bytes, or None: also for a type that labels do not come in.
std::optional<py::array_t<uint8_t>> AsLabels(const py::array& values) {
  std::optional<py::array_t<uint8_t>> labels;
  TryLabels<double>(values, labels) || TryLabels<float>(values, labels) ||
      TryLabels<int64_t>(values, labels) || TryLabels<int32_t>(values, labels) ||
      TryLabels<uint8_t>(values, labels);
  return labels;
}

template <class T>
IsotonicRegression FitTyped(const py::array& scores, const py::array& labels,
                            isotonic::Options options, int threads) {
  const auto from = Span<const T>(scores);
  const auto truth = Span<const uint8_t>(labels);
  return Compute<IsotonicRegression>(
      threads, [&](ThreadPool* pool) -> absl::StatusOr<IsotonicRegression> {
        options.pool = pool;
        const absl::StatusOr<Calibrator> calibrator = Calibrator::Fit(from, truth, options);
        if (!calibrator.ok()) return calibrator.status();
        return calibrator->function();
      });
}

IsotonicRegression Fit(const py::array& scores, const py::array& labels, bool increasing,
                       double lower, double upper, int threads) {
  const auto typed = IsFloat(scores) ? &FitTyped<float> : &FitTyped<double>;
  return typed(scores, labels, FitOptions(increasing, lower, upper), threads);
}

}  // namespace

void DefineCalibration(py::module_& module) {
  module.def("as_labels", &AsLabels);
  module.def("calibrate", &Fit);
}

}  // namespace assay::python
