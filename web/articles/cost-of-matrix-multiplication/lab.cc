// SPDX-License-Identifier: Apache-2.0
//
// The cost of matrix multiplication: what products move and round, what models spend on them, and
// timed: a product in three loops, in better order, in tiles, and by the library.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "numerics/core/matrix_view.h"
#include "numerics/core/random.h"
#include "numerics/gemm/gemm.h"
#include "tools/lab/lab.h"
#include "web/articles/cost-of-matrix-multiplication/parts.h"

namespace assay::matmul_page {
namespace {

absl::Status Run(lab::Context& context, lab::Report& report) {
  for (const auto part : {Traffic, Rounding, Models}) {
    if (absl::Status status = part(context, report); !status.ok()) return status;
  }
  return absl::OkStatus();
}

// ------------------------------------------------------------------ timed

// [region loops]
void Textbook(const float* a, const float* b, float* c, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
      c[i * n + j] = sum;
    }
  }
}

// C += A B for the rows, terms and columns of one tile: the same, with the last two loops
// exchanged.
void Tile(const float* a, const float* b, float* c, int64_t n, int64_t i0, int64_t j0, int64_t k0,
          int64_t tile) {
  for (int64_t i = i0; i < std::min(i0 + tile, n); ++i) {
    for (int64_t k = k0; k < std::min(k0 + tile, n); ++k) {
      const float x = a[i * n + k];
      for (int64_t j = j0; j < std::min(j0 + tile, n); ++j) c[i * n + j] += x * b[k * n + j];
    }
  }
}

void Tiled(const float* a, const float* b, float* c, int64_t n, int64_t tile) {
  std::fill(c, c + n * n, 0.0f);
  for (int64_t i = 0; i < n; i += tile) {
    for (int64_t j = 0; j < n; j += tile) {
      for (int64_t k = 0; k < n; k += tile) Tile(a, b, c, n, i, j, k, tile);
    }
  }
}
// [end loops]

absl::Status Measure(lab::MeasureContext& context, lab::Measurements& measurements) {
  constexpr int64_t n = 1024;
  Random random(context.seed(), 50);
  std::vector<float> a, b, c(n * n), truth(n * n);
  for (int64_t i = 0; i < n * n; ++i) a.push_back(static_cast<float>(random.Normal()));
  for (int64_t i = 0; i < n * n; ++i) b.push_back(static_cast<float>(random.Normal()));
  const MatrixView<const float> left(a.data(), n, n, n), right(b.data(), n, n, n);
  const MatrixView<float> out(c.data(), n, n, n);
  absl::Status status =
      gemm::Gemm<float>(1, left, right, 0, MatrixView<float>(truth.data(), n, n, n));
  if (!status.ok()) return status;
  const auto right_product = [&] {
    for (size_t i = 0; i < c.size(); ++i) {
      const float off = c[i] - truth[i];
      if (!(off < 0.01f && off > -0.01f)) return absl::InternalError("a wrong product");
    }
    return absl::OkStatus();
  };
  std::vector<lab::Variant> products;
  const auto product = [&](std::string_view id, std::string_view title, std::function<void()> run) {
    lab::Variant variant;
    variant.id = std::string(id);
    variant.title = std::string(title);
    variant.run = std::move(run);
    variant.check = right_product;
    variant.flops = 2.0 * n * n * n;
    products.push_back(std::move(variant));
  };
  product("textbook", "Three loops, i j k", [&] { Textbook(a.data(), b.data(), c.data(), n); });
  product("reordered", "Three loops, i k j", [&] { Tiled(a.data(), b.data(), c.data(), n, n); });
  product("tiles", "Tiles of 64", [&] { Tiled(a.data(), b.data(), c.data(), n, 64); });
  product("exact", "The library, the same bits everywhere",
          [&] { lab::KeepResult(gemm::Gemm<float>(1, left, right, 0, out).ok()); });
  status = measurements.Compare(context, "products", "One product of 1024 rows in f32, one thread",
                                products);
  if (!status.ok()) return status;

  // A layer of 4096 x 8192 by one input, and by sixteen.
  constexpr int64_t kRows = 4096, kCols = 8192, kBatch = 16;
  std::vector<float> weights(kRows * kCols), inputs(kCols * kBatch), outputs(kRows * kBatch);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i % 13) - 6;
  for (size_t i = 0; i < inputs.size(); ++i) inputs[i] = static_cast<float>(i % 7) - 3;
  const MatrixView<const float> layer(weights.data(), kRows, kCols, kCols);
  const auto by = [&](int64_t batch) {
    lab::Variant variant;
    variant.id = absl::StrCat("layer_", batch);
    variant.title = batch == 1 ? std::string("One input") : absl::StrCat(batch, " inputs");
    variant.run = [&, batch] {
      lab::KeepResult(gemm::Gemm<float>(1, layer, {inputs.data(), kCols, batch, batch}, 0,
                                        MatrixView<float>(outputs.data(), kRows, batch, batch))
                          .ok());
    };
    variant.flops = 2.0 * kRows * kCols * static_cast<double>(batch);
    variant.bytes = 4.0 * kRows * kCols;
    return variant;
  };
  return measurements.Compare(context, "layer", "A layer of 4096 x 8192 weights in f32, one thread",
                              std::vector<lab::Variant>{by(1), by(4), by(16)});
}

ASSAY_LAB(cost_of_matrix_multiplication,
          {.title = "The cost of matrix multiplication", .run = &Run, .measure = &Measure});

}  // namespace
}  // namespace assay::matmul_page
