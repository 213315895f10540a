// SPDX-License-Identifier: Apache-2.0
//
// NumPy's arrays as views, and statuses as Python's exceptions. What stands in numerics/python is
// the only code of ours that throws: pybind11 hands exceptions on to Python.
#ifndef ASSAY_NUMERICS_PYTHON_ARRAYS_H_
#define ASSAY_NUMERICS_PYTHON_ARRAYS_H_

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <functional>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "numerics/core/matrix_view.h"
#include "numerics/core/thread_pool.h"
#include "numerics/isotonic/isotonic.h"

namespace assay::python {

namespace py = pybind11;

// An array, or nothing for None.
using OptionalArray = std::optional<py::array>;

// The exception of a status that is not OK: ValueError for what the caller gave, with the message.
// What C++ prints as nan is NaN to Python's libraries, some of which look for it.
inline void Check(const absl::Status& status) {
  if (status.ok()) return;
  std::string message(status.message());
  if (const size_t found = message.find(" is nan"); found != std::string::npos) {
    message.replace(found, 7, " is NaN");
  }
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kFailedPrecondition:
      throw py::value_error(message);
    case absl::StatusCode::kResourceExhausted:
      throw std::bad_alloc();
    default:
      throw std::runtime_error(message);
  }
}

// A matrix over the array's own memory; one dimension makes one row. The caller in Python has made
// type and layout fit; TypeError or ValueError says where it has not. T const: for reading only.
template <class T>
MatrixView<T> View(const py::array& array) {
  using Value = std::remove_const_t<T>;
  if (!py::isinstance<py::array_t<Value>>(array)) {
    throw py::type_error("an array of " + std::string(py::str(array.dtype())) + ", expected " +
                         std::string(py::str(py::dtype::of<Value>())));
  }
  if (array.ndim() != 1 && array.ndim() != 2) {
    throw py::value_error("an array of " + std::to_string(array.ndim()) +
                          " dimensions, expected 1 or 2");
  }
  const bool row = array.ndim() == 1;
  const int64_t rows = row ? 1 : array.shape(0);
  const int64_t row_bytes = row ? 0 : array.strides(0);
  const int64_t cols = array.shape(row ? 0 : 1);
  const int64_t col_bytes = array.strides(row ? 0 : 1);
  const int64_t size = sizeof(Value);
  if (row_bytes % size != 0 || col_bytes % size != 0 ||
      reinterpret_cast<uintptr_t>(array.data()) % alignof(Value) != 0) {
    throw py::value_error("an array whose elements are not aligned");
  }
  T* data = nullptr;
  if constexpr (std::is_const_v<T>) {
    data = static_cast<T*>(array.data());
  } else {
    data = static_cast<T*>(py::array(array).mutable_data());  // ValueError if it is read-only
  }
  return MatrixView<T>(data, rows, cols, row_bytes / size, col_bytes / size);
}

// The same for an array of one dimension without gaps.
template <class T>
std::span<T> Span(const py::array& array) {
  const MatrixView<T> view = View<T>(array);
  if (array.ndim() != 1 || !view.has_contiguous_rows()) {
    throw py::value_error("an array with gaps or of two dimensions, expected one without");
  }
  return {view.data(), static_cast<size_t>(view.cols())};
}

template <class T>
std::span<T> Span(const OptionalArray& array) {
  return array ? Span<T>(*array) : std::span<T>();
}

// Weights for y: none, one row for each, or one row for all (row stride 0).
template <class T>
MatrixView<const T> WeightsView(const OptionalArray& weights, MatrixView<const T> y) {
  if (!weights) return {};
  const MatrixView<const T> view = View<const T>(*weights);
  if (weights->ndim() == 2) return view;
  return MatrixView<const T>(view.data(), y.rows(), view.cols(), 0, view.col_stride());
}

// Calls work(pool) without Python's lock. The pool lives for the call: starting a thread costs some
// microseconds, and no thread is left for a fork of the process to lose.
inline void Run(int threads, const std::function<absl::Status(ThreadPool*)>& work) {
  absl::Status status;
  {
    const py::gil_scoped_release released;
    if (threads > 1) {
      ThreadPool pool(threads);
      status = work(&pool);
    } else {
      status = work(nullptr);
    }
  }
  Check(status);
}

// The value of such a computation.
template <class T>
T Compute(int threads, const std::function<absl::StatusOr<T>(ThreadPool*)>& work) {
  std::optional<T> value;
  Run(threads, [&](ThreadPool* pool) {
    absl::StatusOr<T> result = work(pool);
    if (result.ok()) value = *std::move(result);
    return result.status();
  });
  return *std::move(value);
}

// Calls row(i, pool) for every row: rows side by side where there are as many as threads, and
// otherwise one after the other, each with all threads. The first failure, by number of row.
inline absl::Status ForRows(int64_t rows, ThreadPool* pool,
                            const std::function<absl::Status(int64_t, ThreadPool*)>& row) {
  std::vector<absl::Status> statuses(static_cast<size_t>(rows));
  const auto one = [&](int64_t i, ThreadPool* inner) {
    statuses[static_cast<size_t>(i)] = row(i, inner);
  };
  if (pool != nullptr && rows >= pool->threads()) {
    pool->ParallelFor(rows, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) one(i, nullptr);
    });
  } else {
    for (int64_t i = 0; i < rows; ++i) one(i, pool);
  }
  for (int64_t i = 0; i < rows; ++i) {
    const absl::Status& status = statuses[static_cast<size_t>(i)];
    if (status.ok()) continue;
    return rows == 1 ? status
                     : absl::Status(status.code(), "row " + std::to_string(i) + ": " +
                                                       std::string(status.message()));
  }
  return absl::OkStatus();
}

// Row i of weights that may be absent.
template <class T>
std::span<const T> WeightsRow(MatrixView<const T> weights, int64_t i) {
  return weights.empty() ? std::span<const T>() : weights.row(i);
}

inline isotonic::Options FitOptions(bool increasing, double lower, double upper) {
  isotonic::Options options;
  options.direction =
      increasing ? isotonic::Direction::kIncreasing : isotonic::Direction::kDecreasing;
  options.lower = lower;
  options.upper = upper;
  return options;
}

inline bool IsFloat(const py::array& array) { return py::isinstance<py::array_t<float>>(array); }

template <class T>
py::array_t<T> Array(const std::vector<T>& values) {
  return py::array_t<T>(static_cast<py::ssize_t>(values.size()), values.data());
}

}  // namespace assay::python

#endif  // ASSAY_NUMERICS_PYTHON_ARRAYS_H_
