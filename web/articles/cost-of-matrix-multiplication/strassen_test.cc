// SPDX-License-Identifier: Apache-2.0
#include "web/articles/cost-of-matrix-multiplication/strassen.h"

#include <cstdint>

#include "gtest/gtest.h"
#include "numerics/core/random.h"

namespace assay::matmul_page {
namespace {

// Whole numbers that count what is done to them.
struct Counted {
  int64_t value = 0;
  static inline int64_t operations = 0;
  friend Counted operator+(Counted a, Counted b) {
    return ++operations, Counted{a.value + b.value};
  }
  friend Counted operator-(Counted a, Counted b) {
    return ++operations, Counted{a.value - b.value};
  }
  friend Counted operator*(Counted a, Counted b) {
    return ++operations, Counted{a.value * b.value};
  }
};

TEST(StrassenTest, IsTheProductAndTakesTheOperationsSaid) {
  Random random(1);
  for (const int64_t n : {8, 16, 24}) {
    Square<Counted> a, b;
    for (int64_t i = 0; i < n * n; ++i) {
      a.push_back({random.Integer(-50, 50)});
      b.push_back({random.Integer(-50, 50)});
    }
    const Square<Counted> expected = Classic(a, b, n);
    for (int levels = 0; levels <= 3; ++levels) {
      Counted::operations = 0;
      const Square<Counted> found = Strassen(a, b, n, levels);
      EXPECT_EQ(Counted::operations, StrassenOperations(n, levels));
      for (size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i].value, expected[i].value);
    }
  }
}

}  // namespace
}  // namespace assay::matmul_page
