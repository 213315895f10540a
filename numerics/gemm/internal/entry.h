// SPDX-License-Identifier: Apache-2.0
//
// entry.h: from a caller's views to a product whose C has its rows side by side.
#ifndef ASSAY_NUMERICS_GEMM_INTERNAL_ENTRY_H_
#define ASSAY_NUMERICS_GEMM_INTERNAL_ENTRY_H_

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <span>
#include <type_traits>
#include <utility>

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

// The same without options, as most callers have it.
template <class T>
absl::Status Enter(const Kernels<T, T, T>& kernels, T alpha, const MatrixView<const T>& a,
                   const MatrixView<const T>& b, T beta, const MatrixView<T>& c) {
  ShortProduct<T, T, T> product;
  if (PlainlyValid(a, b, c) && product.Prepare(kernels, alpha, a, b, beta, c)) {
    product.Run(a.data(), b.data(), c.data());
    return absl::OkStatus();
  }
  return Enter<T, T, T>(kernels, alpha, a, b, beta, c, nullptr);
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
template <class Out>
int64_t BatchBlock(int64_t count, const Batch<Out>& c, int64_t k) {
  const double work = static_cast<double>(k) * static_cast<double>(c.first.rows()) *
                          static_cast<double>(c.first.cols()) +
                      1;
  const double enough = static_cast<double>(kWorkOfThread) / work;
  return std::clamp<int64_t>(static_cast<int64_t>(enough), 1, count);
}

// Runs parts [begin, end) of `count`, which return a status, on a pool if there is one; a failure,
// if there is one.
template <class Run>
absl::Status InBlocks(int64_t count, int64_t block, ThreadPool* pool, const Run& run) {
  if (pool == nullptr || count == 1) return run(0, count);
  std::mutex mutex;
  absl::Status failure;
  pool->ParallelFor(count, block, [&](int64_t begin, int64_t end) {
    absl::Status status = run(begin, end);
    if (status.ok()) return;
    std::lock_guard<std::mutex> lock(mutex);
    failure.Update(std::move(status));
  });
  return failure;
}

template <class In, class Packed, class Out>
absl::Status EnterBatch(const Kernels<In, Packed, Out>& kernels, int64_t count, Out alpha,
                        Batch<const In> a, Batch<const In> b, Out beta, Batch<Out> c,
                        const Options<Out>& options) {
  if (count < 0) {
    return absl::InvalidArgumentError(absl::StrCat("a batch of ", count, " products"));
  }
  absl::Status status = ValidateProduct(PlaceOf(a, count), PlaceOf(b, count), PlaceOf(c, count));
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
  if (after == nullptr && PlainlyValid(a.first, b.first, c.first) &&
      product.Prepare(kernels, alpha, a.first, b.first, beta, c.first)) {
    return InBlocks(count, BatchBlock(count, c, a.first.cols()), options.pool,
                    [&](int64_t begin, int64_t end) {
                      ShortProduct<In, Packed, Out> mine = product;
                      for (int64_t i = begin; i < end; ++i) {
                        mine.Run(a.first.data() + i * a.stride, b.first.data() + i * b.stride,
                                 c.first.data() + i * c.stride);
                      }
                      return absl::OkStatus();
                    });
  }
  // A single product may have the threads for itself.
  ThreadPool* const inside = count == 1 ? options.pool : nullptr;
  return InBlocks(count, BatchBlock(count, c, a.first.cols()), options.pool,
                  [&](int64_t begin, int64_t end) {
                    absl::Status done;
                    for (int64_t i = begin; i < end; ++i) {
                      done.Update(RunViews<In, Packed, Out>(kernels, alpha, At(a, i), At(b, i),
                                                            beta, At(c, i), after, inside));
                    }
                    return done;
                  });
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
  return InBlocks(static_cast<int64_t>(c.size()), 1, pool, [&](int64_t begin, int64_t end) {
    absl::Status done;
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
      if (c[i].empty()) continue;
      done.Update(
          RunViews<In, Packed, Out>(kernels, alpha, a[i], b[i], beta, c[i], nullptr, nullptr));
    }
    return done;
  });
}

}  // namespace assay::gemm::internal

#endif  // ASSAY_NUMERICS_GEMM_INTERNAL_ENTRY_H_
