// SPDX-License-Identifier: Apache-2.0
//
// numerics/floating for Python, as far as the comparisons in this folder need it.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "numerics/core/matrix_view.h"
#include "numerics/core/thread_pool.h"
#include "numerics/floating/cross_entropy.h"
#include "numerics/floating/dot.h"
#include "numerics/floating/moments.h"
#include "numerics/floating/norm.h"
#include "numerics/floating/softmax.h"
#include "numerics/floating/sum.h"

namespace assay::floating {
namespace {

namespace py = pybind11;

template <class T>
using Array = py::array_t<T, py::array::c_style>;

void Require(const absl::Status& status) {
  if (!status.ok()) throw std::invalid_argument(std::string(status.message()));
}

template <class T>
std::span<const T> Values(const Array<T>& x) {
  return {x.data(), static_cast<size_t>(x.size())};
}

template <class T>
MatrixView<const T> Matrix(const Array<T>& x) {
  if (x.ndim() != 2) throw std::invalid_argument("expected a matrix");
  return MatrixView<const T>(x.data(), x.shape(0), x.shape(1), x.shape(1));
}
template <class T>
MatrixView<T> Writable(Array<T>& x) {
  if (x.ndim() != 2) throw std::invalid_argument("expected a matrix");
  return MatrixView<T>(x.mutable_data(), x.shape(0), x.shape(1), x.shape(1));
}

// A pool for each number of threads, kept.
ThreadPool* Pool(int threads) {
  static std::map<int, std::unique_ptr<ThreadPool>>* const pools =
      new std::map<int, std::unique_ptr<ThreadPool>>;
  if (threads <= 1) return nullptr;
  std::unique_ptr<ThreadPool>& pool = (*pools)[threads];
  if (pool == nullptr) pool = std::make_unique<ThreadPool>(threads);
  return pool.get();
}

SumMethod MethodOf(const std::string& name) {
  for (const SumMethod method : kSumMethods) {
    if (SumMethodName(method) == name) return method;
  }
  throw std::invalid_argument("no method " + name);
}

SoftmaxOptions Options(int threads, const std::string& arithmetic) {
  SoftmaxOptions options;
  options.pool = Pool(threads);
  options.arithmetic = arithmetic == "double" ? Arithmetic::kDouble : Arithmetic::kSingle;
  return options;
}

template <class T>
void Define(py::module_& m) {
  m.def("sum", [](const Array<T>& x, const std::string& method) {
    return Sum(Values(x), MethodOf(method));
  });
  m.def("dot", [](const Array<T>& x, const Array<T>& y) { return Dot(Values(x), Values(y)); });
  m.def("dot2", [](const Array<T>& x, const Array<T>& y) { return Dot2(Values(x), Values(y)); });
  m.def("exact_dot",
        [](const Array<T>& x, const Array<T>& y) { return ExactDot(Values(x), Values(y)); });
  m.def("norm2", [](const Array<T>& x) { return Norm2(Values(x)); });
  m.def("variance", [](const Array<T>& x) { return Moments(Values(x)).Variance(); });
  m.def(
      "softmax",
      [](const Array<T>& x, Array<T> out, int threads, const std::string& arithmetic) {
        Require(SoftmaxRows(Matrix(x), Writable(out), Options(threads, arithmetic)));
        return out;
      },
      py::arg("x"), py::arg("out"), py::arg("threads") = 1, py::arg("arithmetic") = "single");
  m.def(
      "log_softmax",
      [](const Array<T>& x, Array<T> out, int threads, const std::string& arithmetic) {
        Require(LogSoftmaxRows(Matrix(x), Writable(out), Options(threads, arithmetic)));
        return out;
      },
      py::arg("x"), py::arg("out"), py::arg("threads") = 1, py::arg("arithmetic") = "single");
  m.def(
      "cross_entropy",
      [](const Array<T>& x, const py::object& target, const std::string& reduction,
         std::optional<Array<double>> weight, double label_smoothing, int64_t ignore_index,
         std::optional<Array<T>> gradient, std::optional<Array<T>> losses, int threads) {
        CrossEntropyOptions<T> options;
        options.reduction = reduction == "mean"  ? Reduction::kMean
                            : reduction == "sum" ? Reduction::kSum
                                                 : Reduction::kNone;
        if (weight) options.weights = Values(*weight);
        options.label_smoothing = label_smoothing;
        options.ignore_index = ignore_index;
        options.softmax.pool = Pool(threads);
        if (gradient) options.gradient = Writable(*gradient);
        if (losses) {
          options.losses = {losses->mutable_data(), static_cast<size_t>(losses->size())};
        }
        const bool soft = py::isinstance<Array<T>>(target);
        const absl::StatusOr<Loss> loss =
            soft ? SoftCrossEntropyRows(Matrix(x), Matrix(py::cast<Array<T>>(target)), options)
                 : CrossEntropyRows(Matrix(x), Values(py::cast<Array<int32_t>>(target)), options);
        Require(loss.status());
        return loss->value;
      },
      py::arg("x"), py::arg("target"), py::arg("reduction") = "mean",
      py::arg("weight") = py::none(), py::arg("label_smoothing") = 0.0,
      py::arg("ignore_index") = -100, py::arg("gradient") = py::none(),
      py::arg("losses") = py::none(), py::arg("threads") = 1);
}

}  // namespace

PYBIND11_MODULE(assay_floating, m) {
  Define<float>(m);
  Define<double>(m);
}

}  // namespace assay::floating
