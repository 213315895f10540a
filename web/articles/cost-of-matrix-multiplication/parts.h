// SPDX-License-Identifier: Apache-2.0
//
// parts.h: the lab in three parts: what a product moves, what it rounds, what a model costs.
#ifndef ASSAY_WEB_ARTICLES_COST_OF_MATRIX_MULTIPLICATION_PARTS_H_
#define ASSAY_WEB_ARTICLES_COST_OF_MATRIX_MULTIPLICATION_PARTS_H_

#include "absl/status/status.h"
#include "tools/lab/lab.h"

namespace assay::matmul_page {

// Intensities of shapes; traffic of loop orders, tiles and sizes through simulated caches.
absl::Status Traffic(lab::Context& context, lab::Report& report);

// One hash for any threads and strides; errors of sums, formats and of Strassen's method.
absl::Status Rounding(lab::Context& context, lab::Report& report);

// Parameters, flop, bytes and times of published models.
absl::Status Models(lab::Context& context, lab::Report& report);

}  // namespace assay::matmul_page

#endif  // ASSAY_WEB_ARTICLES_COST_OF_MATRIX_MULTIPLICATION_PARTS_H_
