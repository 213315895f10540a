// SPDX-License-Identifier: Apache-2.0
//
// entry.h: from a caller's views to a product whose C has its rows side by side.
#ifndef ASSAY_NUMERICS_GEMM_INTERNAL_ENTRY_H_
#define ASSAY_NUMERICS_GEMM_INTERNAL_ENTRY_H_

#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "numerics/core/matrix_view.h"
#include "numerics/core/thread_pool.h"
#include "numerics/gemm/gemm.h"
#include "numerics/gemm/internal/driver.h"
#include "numerics/gemm/internal/kernels.h"
#include "numerics/gemm/internal/short_product.h"
#include "numerics/gemm/internal/validate.h"

namespace assay::gemm::internal {

template <class Out>
bool DoesNothing(const Epilogue<Out>& e) {
  return e.row_bias.empty() && e.column_bias.empty() && e.activation == Activation::kNone &&
         e.row_maximum.empty();
}

template <class Out>
absl::Status ValidateEpilogue(const Epilogue<Out>& e, int64_t m, int64_t n) {
  const struct {
    const char* name;
    int64_t length;
    int64_t expected;
  } vectors[] = {{"row_bias", static_cast<int64_t>(e.row_bias.size()), m},
                 {"column_bias", static_cast<int64_t>(e.column_bias.size()), n},
                 {"row_maximum", static_cast<int64_t>(e.row_maximum.size()), m}};
  for (const auto& vector : vectors) {
    absl::Status status = ValidateLength(vector.name, vector.length, vector.expected);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Of views that are validated. `epilogue` may be null; turned_kernels are for B^T A^T, where that
// makes a difference.
template <class In, class Packed, class Out>
absl::Status RunViews(const Kernels<In, Packed, Out>& kernels, Out alpha, MatrixView<const In> a,
                      MatrixView<const In> b, Out beta, MatrixView<Out> c,
                      const Epilogue<Out>* epilogue, ThreadPool* pool,
                      const Kernels<In, Packed, Out>* turned_kernels = nullptr) {
  // A single column goes as a row: sums side by side are what vectors hold.
  if (c.has_contiguous_rows() && (c.cols() > 1 || c.rows() == 1)) {
    // Strides that no step takes may be anything: they become small ones.
    const int64_t m = c.rows();
    const int64_t n = c.cols();
    const int64_t k = a.cols();
    const Product<In, Out> product = {
        .m = m,
        .n = n,
        .k = k,
        .a = a.data(),
        .a_row = m == 1 ? 1 : a.row_stride(),
        .a_col = k == 1 ? 1 : a.col_stride(),
        .b = b.data(),
        .b_row = k == 1 ? n : b.row_stride(),
        .b_col = n == 1 ? 1 : b.col_stride(),
        .c = c.data(),
        .c_row = m == 1 ? n : c.row_stride(),
        .alpha = alpha,
        .beta = beta,
    };
    return RunProduct(kernels, product, epilogue, pool);
  }
  if (c.row_stride() == 1 || c.rows() == 1) {
    // C^T = B^T A^T, whose rows are side by side.
    Epilogue<Out> turned;
    if (epilogue != nullptr) {
      turned = {.row_bias = epilogue->column_bias,
                .column_bias = epilogue->row_bias,
                .activation = epilogue->activation,
                .row_maximum = {}};
    }
    absl::Status status =
        RunViews(turned_kernels == nullptr ? kernels : *turned_kernels, alpha, b.Transposed(),
                 a.Transposed(), beta, c.Transposed(), epilogue == nullptr ? nullptr : &turned,
                 pool, turned_kernels == nullptr ? nullptr : &kernels);
    if (status.ok() && epilogue != nullptr && !epilogue->row_maximum.empty()) {
      Out* const maxima = epilogue->row_maximum.data();
      StartRowMaxima(maxima, c.rows());
      for (int64_t j = 0; j < c.cols(); ++j) {
        for (int64_t i = 0; i < c.rows(); ++i) maxima[i] = MaxOf(maxima[i], c(i, j));
      }
    }
    return status;
  }
  // Neither: through a dense copy.
  Workspace workspace;
  int64_t bytes = 0;
  if (__builtin_mul_overflow(c.rows() * static_cast<int64_t>(sizeof(Out)), c.cols(), &bytes) ||
      !workspace.Allocate(bytes)) {
    return absl::ResourceExhaustedError(absl::StrCat("no memory for a copy of C, ", c.rows(), " x ",
                                                     c.cols(), ", neither of whose strides is 1"));
  }
  MatrixView<Out> dense(reinterpret_cast<Out*>(workspace.data()), c.rows(), c.cols(), c.cols());
  const auto copy = [](MatrixView<Out> from, MatrixView<Out> to) {
    for (int64_t i = 0; i < from.rows(); ++i) {
      for (int64_t j = 0; j < from.cols(); ++j) to(i, j) = from(i, j);
    }
  };
  if (beta != Out(0)) copy(c, dense);
  absl::Status status = RunViews(kernels, alpha, a, b, beta, dense, epilogue, pool, turned_kernels);
  if (status.ok()) copy(dense, c);
  return status;
}

// gemm.h's Gemm with these kernels.
template <class In, class Packed, class Out>
absl::Status Enter(const Kernels<In, Packed, Out>& kernels, Out alpha,
                   const MatrixView<const In>& a, const MatrixView<const In>& b, Out beta,
                   const MatrixView<Out>& c, const Options<Out>* options) {
  absl::Status status;
  if (!PlainlyValid(a, b, c)) {
    status = ValidateProduct(PlaceOf(a), PlaceOf(b), PlaceOf(c));
    if (!status.ok()) return status;
  }
  const Epilogue<Out>* epilogue = nullptr;
  if (options != nullptr && !DoesNothing(options->epilogue)) {
    epilogue = &options->epilogue;
    status = ValidateEpilogue(*epilogue, c.rows(), c.cols());
    if (!status.ok()) return status;
  }
  if (c.empty()) {
    if (epilogue != nullptr) {
      StartRowMaxima(epilogue->row_maximum.data(),
                     static_cast<int64_t>(epilogue->row_maximum.size()));
    }
    return absl::OkStatus();
  }
  return RunViews(kernels, alpha, a, b, beta, c, epilogue,
                  options == nullptr ? nullptr : options->pool);
}

template <class In, class Packed, class Out>
absl::Status EnterVector(const Kernels<In, Packed, Out>& kernels, Out alpha, MatrixView<const In> a,
                         std::span<const In> x, Out beta, std::span<Out> y, ThreadPool* pool) {
  const auto x_size = static_cast<int64_t>(x.size());
  const auto y_size = static_cast<int64_t>(y.size());
  if (x_size != a.cols() || y_size != a.rows()) {
    return absl::InvalidArgumentError(absl::StrCat("A is ", a.rows(), " x ", a.cols(), ", x has ",
                                                   x_size, " elements, y ", y_size,
                                                   "; expected as many as A's columns and rows"));
  }
  const Options<Out> options = {.epilogue = {}, .pool = pool};
  // As a row: y^T = x^T A^T, in which sums of neighbouring elements of y go side by side.
  return Enter(kernels, alpha, MatrixView<const In>(x.data(), 1, x_size, x_size), a.Transposed(),
               beta, MatrixView<Out>(y.data(), 1, y_size, y_size), &options);
}

template <class T>
Place PlaceOf(const Batch<T>& batch, int64_t count) {
  Place place = PlaceOf(batch.first);
  place.count = count;
  place.stride = batch.stride;
  return place;
}

template <class T>
MatrixView<T> At(const Batch<T>& batch, int64_t i) {
  const MatrixView<T>& m = batch.first;
  return {m.data() + i * batch.stride, m.rows(), m.cols(), m.row_stride(), m.col_stride()};
}

// Products of a batch that one thread does in a row.
inline int64_t BatchBlock(int64_t count, const Place& a, const Place& c) {
  const double work =
      static_cast<double>(a.cols) * static_cast<double>(c.rows) * static_cast<double>(c.cols) + 1;
  return std::max<int64_t>(
      1, std::min<int64_t>(count, static_cast<int64_t>(
                                      std::min(static_cast<double>(kWorkOfThread) / work, 1e9))));
}

template <class In, class Packed, class Out>
absl::Status EnterBatch(const Kernels<In, Packed, Out>& kernels, int64_t count, Out alpha,
                        Batch<const In> a, Batch<const In> b, Out beta, Batch<Out> c,
                        const Options<Out>& options) {
  if (count < 0) {
    return absl::InvalidArgumentError(absl::StrCat("a batch of ", count, " products"));
  }
  const Place place = PlaceOf(c, count);
  absl::Status status = ValidateProduct(PlaceOf(a, count), PlaceOf(b, count), place);
  if (!status.ok()) return status;
  const Epilogue<Out>& epilogue = options.epilogue;
  if (!epilogue.row_bias.empty() || !epilogue.row_maximum.empty()) {
    return absl::InvalidArgumentError("a batch has no row_bias and no row_maximum");
  }
  status = ValidateEpilogue(epilogue, c.first.rows(), c.first.cols());
  if (!status.ok()) return status;
  if (count == 0 || c.first.empty()) return absl::OkStatus();
  const Epilogue<Out>* const after = DoesNothing(epilogue) ? nullptr : &epilogue;
  ShortProduct<In, Packed, Out> product;
  if (after == nullptr && product.Prepare(kernels, alpha, a.first, b.first, beta, c.first)) {
    const auto run = [&](int64_t begin, int64_t end) {
      ShortProduct<In, Packed, Out> mine = product;
      for (int64_t i = begin; i < end; ++i) {
        mine.Run(a.first.data() + i * a.stride, b.first.data() + i * b.stride,
                 c.first.data() + i * c.stride);
      }
    };
    if (options.pool != nullptr) {
      options.pool->ParallelFor(count, BatchBlock(count, PlaceOf(a.first), place), run);
    } else {
      run(0, count);
    }
    return absl::OkStatus();
  }
  if (options.pool == nullptr || count == 1) {
    for (int64_t i = 0; i < count && status.ok(); ++i) {
      status = RunViews(kernels, alpha, At(a, i), At(b, i), beta, At(c, i), after, options.pool);
    }
    return status;
  }
  std::vector<absl::Status> failures(static_cast<size_t>(count));
  options.pool->ParallelFor(
      count, BatchBlock(count, PlaceOf(a.first), place), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          failures[static_cast<size_t>(i)] = RunViews<In, Packed, Out>(
              kernels, alpha, At(a, i), At(b, i), beta, At(c, i), after, nullptr);
        }
      });
  for (absl::Status& failure : failures) {
    if (!failure.ok()) return std::move(failure);
  }
  return absl::OkStatus();
}

template <class In, class Packed, class Out>
absl::Status EnterBatchOfViews(const Kernels<In, Packed, Out>& kernels, Out alpha,
                               std::span<const MatrixView<const In>> a,
                               std::span<const MatrixView<const In>> b, Out beta,
                               std::span<const MatrixView<Out>> c, ThreadPool* pool) {
  if (a.size() != c.size() || b.size() != c.size()) {
    return absl::InvalidArgumentError(absl::StrCat("a batch of ", a.size(), " A, ", b.size(),
                                                   " B and ", c.size(),
                                                   " C; expected as many of each"));
  }
  for (size_t i = 0; i < c.size(); ++i) {
    absl::Status status = ValidateProduct(PlaceOf(a[i]), PlaceOf(b[i]), PlaceOf(c[i]));
    if (!status.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("product ", i, ": ", status.message()));
    }
  }
  std::vector<absl::Status> failures(c.size());
  const auto run = [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) {
      const auto i = static_cast<size_t>(at);
      if (c[i].empty()) continue;
      failures[i] =
          RunViews<In, Packed, Out>(kernels, alpha, a[i], b[i], beta, c[i], nullptr, nullptr);
    }
  };
  const auto count = static_cast<int64_t>(c.size());
  if (pool != nullptr) {
    pool->ParallelFor(count, 1, run);
  } else {
    run(0, count);
  }
  for (absl::Status& failure : failures) {
    if (!failure.ok()) return std::move(failure);
  }
  return absl::OkStatus();
}

}  // namespace assay::gemm::internal

#endif  // ASSAY_NUMERICS_GEMM_INTERNAL_ENTRY_H_
