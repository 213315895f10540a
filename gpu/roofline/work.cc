// SPDX-License-Identifier: Apache-2.0
#include "gpu/roofline/work.h"

#include <initializer_list>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "numerics/core/check.h"

namespace assay::roofline {
namespace {

// A sum of products of non-negative factors that remembers whether it ever left its range. Two of
// them still add up within int64_t.
class Tally {
 public:
  Tally& Add(std::initializer_list<int64_t> factors) {
    int64_t product = 1;
    for (const int64_t factor : factors) {
      ASSAY_CHECK_GE(factor, 0);
      // A later zero makes an earlier overflow harmless, so it is looked for first.
      if (factor == 0) return *this;
    }
    for (const int64_t factor : factors) {
      if (product > kMost / factor) {
        overflow_ = true;
        return *this;
      }
      product *= factor;
    }
    if (sum_ > kMost - product) {
      overflow_ = true;
      return *this;
    }
    sum_ += product;
    return *this;
  }

  bool overflow() const { return overflow_; }
  int64_t sum() const { return sum_; }

 private:
  static constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / 2;
  int64_t sum_ = 0;
  bool overflow_ = false;
};

absl::Status NotNegative(std::initializer_list<int64_t> sizes) {
  for (const int64_t size : sizes) {
    if (size < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("a size is ", size, ", expected 0 or a positive number"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Work> Done(const Tally& flops, const Tally& read, const Tally& written) {
  if (flops.overflow() || read.overflow() || written.overflow()) {
    return absl::InvalidArgumentError(
        "the sizes are too large: a count of operations or bytes is beyond 2^62");
  }
  return Work{.flops = flops.sum(), .bytes_read = read.sum(), .bytes_written = written.sum()};
}

}  // namespace

int64_t BytesOf(Precision precision) {
  switch (precision) {
    case Precision::kF64:
      return 8;
    case Precision::kF32:
      return 4;
    case Precision::kF16:
      return 2;
    case Precision::kI8:
      return 1;
  }
  ASSAY_CHECK(false);
  return 0;
}

double Intensity(const Work& work) {
  if (work.flops == 0) return 0;
  // By IEEE an infinity where nothing is moved.
  return static_cast<double>(work.flops) / static_cast<double>(work.bytes());
}

absl::StatusOr<Work> MatMul(int64_t m, int64_t n, int64_t k, Precision precision) {
  if (absl::Status status = NotNegative({m, n, k}); !status.ok()) return status;
  const int64_t size = BytesOf(precision);
  Tally read;
  if (n > 0) read.Add({m, k, size});  // without columns nobody looks at A
  if (m > 0) read.Add({k, n, size});
  return Done(Tally().Add({2, m, n, k}), read, Tally().Add({m, n, size}));
}

absl::StatusOr<Work> Elementwise(int64_t n, int64_t inputs, int64_t outputs,
                                 int64_t flops_per_element, Precision precision) {
  absl::Status status = NotNegative({n, inputs, outputs, flops_per_element});
  if (!status.ok()) return status;
  const int64_t size = BytesOf(precision);
  return Done(Tally().Add({n, flops_per_element}), Tally().Add({n, inputs, size}),
              Tally().Add({n, outputs, size}));
}

absl::StatusOr<Work> Reduction(int64_t n, Precision precision) {
  if (absl::Status status = NotNegative({n}); !status.ok()) return status;
  const int64_t size = BytesOf(precision);
  return Done(Tally().Add({n > 0 ? n - 1 : 0}), Tally().Add({n, size}), Tally().Add({1, size}));
}

absl::StatusOr<Work> Softmax(int64_t rows, int64_t columns, Precision precision) {
  if (absl::Status status = NotNegative({rows, columns}); !status.ok()) return status;
  const int64_t size = BytesOf(precision);
  Tally flops;
  if (columns > 0) {
    // c - 1 comparisons, c differences, c exponentials, c - 1 additions, c quotients.
    flops.Add({rows, columns, 3}).Add({rows, columns - 1, 2});
  }
  return Done(flops, Tally().Add({rows, columns, size}), Tally().Add({rows, columns, size}));
}

absl::StatusOr<Work> SoftmaxInThreePasses(int64_t rows, int64_t columns, Precision precision) {
  absl::StatusOr<Work> fused = Softmax(rows, columns, precision);
  if (!fused.ok() || columns == 0) return fused;
  const int64_t size = BytesOf(precision);
  // Besides three readings and two writings of the rows, each pass hands on one number a row.
  return Done(Tally().Add({fused->flops}),
              Tally().Add({rows, columns, 3, size}).Add({rows, 2, size}),
              Tally().Add({rows, columns, 2, size}).Add({rows, 2, size}));
}

absl::StatusOr<Work> Copy(int64_t n, Precision precision) {
  return Elementwise(n, 1, 1, 0, precision);
}

}  // namespace assay::roofline
