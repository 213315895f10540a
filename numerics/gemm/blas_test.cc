// SPDX-License-Identifier: Apache-2.0
//
// What testers of BLAS ask, of gemm.h and fast.h: every shape, transposition, leading dimension,
// alpha and beta; what is read and written and what is not; what is refused.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "numerics/core/matrix_view.h"
#include "numerics/core/random.h"
#include "numerics/core/thread_pool.h"
#include "numerics/gemm/fast.h"
#include "numerics/gemm/gemm.h"
#include "numerics/gemm/reference.h"

namespace assay::gemm {
namespace {

using ::testing::Message;

// Rows side by side, columns side by side, neither, and cut out of something larger.
enum class Layout { kRows, kColumns, kStrided, kCutOut };
constexpr Layout kLayouts[] = {Layout::kRows, Layout::kColumns, Layout::kStrided, Layout::kCutOut};

// A matrix in memory of its own, in which every element that is not the matrix's is a canary.
template <class T>
class Stored {
 public:
  Stored(int64_t rows, int64_t cols, Layout layout, Random& random) : rows_(rows), cols_(cols) {
    switch (layout) {
      case Layout::kRows:
        row_ = cols;
        col_ = 1;
        break;
      case Layout::kColumns:
        row_ = 1;
        col_ = rows;
        break;
      case Layout::kStrided:
        row_ = 2 * cols + 3;
        col_ = 2;
        break;
      case Layout::kCutOut:
        row_ = cols + 5;
        col_ = 1;
        break;
    }
    offset_ = 3;
    values_.assign(static_cast<size_t>(offset_ + rows * std::max<int64_t>(row_, 1) +
                                       cols * std::max<int64_t>(col_, 1) + 7),
                   kCanary);
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < cols; ++j) At(i, j) = static_cast<T>(random.Uniform(-1, 1));
    }
  }

  T& At(int64_t i, int64_t j) {
    return values_[static_cast<size_t>(offset_ + i * row_ + j * col_)];
  }
  MatrixView<T> view() { return {values_.data() + offset_, rows_, cols_, row_, col_}; }
  MatrixView<const T> read() const { return {values_.data() + offset_, rows_, cols_, row_, col_}; }
  void Fill(T value) {
    for (int64_t i = 0; i < rows_; ++i) {
      for (int64_t j = 0; j < cols_; ++j) At(i, j) = value;
    }
  }
  // Equal in every element, canaries included.
  bool SameAs(const Stored& other) const {
    for (size_t i = 0; i < values_.size(); ++i) {
      if (!SameBits(values_[i], other.values_[i])) return false;
    }
    return values_.size() == other.values_.size();
  }

 private:
  static constexpr T kCanary = T(-77.25);
  int64_t rows_, cols_, row_ = 1, col_ = 1, offset_ = 0;
  std::vector<T> values_;
};

// gamma(n) of gemm.h.
template <class T>
double Gamma(int64_t n) {
  const double u = sizeof(T) == 4 ? 0x1p-24 : 0x1p-53;
  return static_cast<double>(n) * u / (1 - static_cast<double>(n) * u);
}

template <class T>
class BlasTest : public testing::Test {
 protected:
  // One product every way, compared with the reference and, where fast, with the bound.
  void Check(int64_t m, int64_t n, int64_t k, Layout la, Layout lb, Layout lc, T alpha, T beta,
             ThreadPool* pool) {
    SCOPED_TRACE(Message() << m << " x " << n << " x " << k << ", layouts " << static_cast<int>(la)
                           << static_cast<int>(lb) << static_cast<int>(lc) << ", alpha " << alpha
                           << ", beta " << beta);
    const Stored<T> a(m, k, la, random_);
    const Stored<T> b(k, n, lb, random_);
    Stored<T> c(m, n, lc, random_);
    if (beta == T(0)) c.Fill(std::numeric_limits<T>::quiet_NaN());  // must not be read
    Stored<T> expected = c;
    Stored<T> fast = c;
    Stored<T> magnitudes = c;
    ReferenceGemm(alpha, a.read(), b.read(), beta, expected.view());
    Options<T> options;
    options.pool = pool;
    ASSERT_TRUE((pool == nullptr ? Gemm<T>(alpha, a.read(), b.read(), beta, c.view())
                                 : Gemm<T>(alpha, a.read(), b.read(), beta, c.view(), options))
                    .ok());
    ASSERT_TRUE(c.SameAs(expected));
    ASSERT_TRUE(FastGemm<T>(alpha, a.read(), b.read(), beta, fast.view(), options).ok());
    const double gamma = 2 * Gamma<T>(std::min(k, kBlock) + (k + kBlock - 1) / kBlock + 2);
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        double magnitude = beta == T(0) ? 0 : std::fabs(static_cast<double>(beta));  // |C| <= 1
        for (int64_t p = 0; p < k; ++p) {
          magnitude += std::fabs(static_cast<double>(alpha) * static_cast<double>(a.read()(i, p)) *
                                 static_cast<double>(b.read()(p, j)));
        }
        ASSERT_NEAR(static_cast<double>(fast.At(i, j)), static_cast<double>(expected.At(i, j)),
                    gamma * magnitude)
            << i << ", " << j;
      }
    }
  }

  Random random_{20};
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(BlasTest, Types);

TYPED_TEST(BlasTest, EveryShapeOfSmallSizesAndLayouts) {
  using T = TypeParam;
  constexpr int64_t kSizes[] = {0, 1, 2, 3, 5, 7, 9, 12, 13, 17, 31, 32, 33, 35, 64, 65};
  constexpr T kFactors[] = {T(0), T(1), T(-1), T(0.7)};
  int turn = 0;
  for (const int64_t m : kSizes) {
    for (const int64_t n : kSizes) {
      for (const int64_t k : kSizes) {
        // Layouts and factors by turns, with steps that share no divisor.
        ++turn;
        this->Check(m, n, k, kLayouts[turn % 4], kLayouts[turn / 4 % 4], kLayouts[turn / 16 % 4],
                    kFactors[turn * 5 / 3 % 4], kFactors[turn * 7 / 5 % 4], nullptr);
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST(BlasTest, EveryLayoutAroundTheSizesOfBlocks) {
  using T = TypeParam;
  constexpr struct {
    int64_t m, n, k;
  } kShapes[] = {{37, 70, 255},  {26, 33, 256}, {13, 131, 257},  {8, 40, 512},  {1, 333, 513},
                 {333, 1, 300},  {2, 2, 1000},  {100, 66, 258},  {11, 700, 30}, {50, 1100, 20},
                 {1, 2300, 300}, {9, 2300, 70}, {60, 1100, 290}, {300, 5, 33}};
  ThreadPool pool(2);
  for (const auto& [m, n, k] : kShapes) {
    for (const Layout la : kLayouts) {
      for (const Layout lb : kLayouts) {
        for (const Layout lc : kLayouts) {
          this->Check(m, n, k, la, lb, lc, T(1.25), T(-0.5), lb == la ? &pool : nullptr);
          if (this->HasFatalFailure()) return;
        }
      }
    }
  }
}

TYPED_TEST(BlasTest, ThreadsChangeNothing) {
  using T = TypeParam;
  for (const int threads : {1, 2, 3, 5}) {
    ThreadPool pool(threads);
    this->Check(150, 170, 270, Layout::kRows, Layout::kRows, Layout::kRows, T(1), T(0), &pool);
    this->Check(7, 1500, 300, Layout::kRows, Layout::kColumns, Layout::kColumns, T(1), T(2), &pool);
    this->Check(1500, 7, 300, Layout::kColumns, Layout::kRows, Layout::kRows, T(1), T(2), &pool);
    // Inside a loop of the same pool.
    pool.ParallelFor(3, 1, [&](int64_t, int64_t) {
      Random random(4);
      const Stored<T> a(90, 120, Layout::kRows, random);
      const Stored<T> b(120, 110, Layout::kRows, random);
      Stored<T> c(90, 110, Layout::kRows, random);
      Stored<T> expected = c;
      ReferenceGemm<T>(1, a.read(), b.read(), 0, expected.view());
      Options<T> options;
      options.pool = &pool;
      EXPECT_TRUE(Gemm<T>(1, a.read(), b.read(), 0, c.view(), options).ok());
      EXPECT_TRUE(c.SameAs(expected));
    });
  }
}

TYPED_TEST(BlasTest, NanAndInfinitySpreadAndAreNotReadWhereTheyDoNotCount) {
  using T = TypeParam;
  constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
  constexpr T kInf = std::numeric_limits<T>::infinity();
  for (const int64_t n : {3, 40}) {
    Stored<T> a(n, n, Layout::kRows, this->random_);
    Stored<T> b(n, n, Layout::kRows, this->random_);
    a.At(1, 2) = kInf;
    b.At(2, 0) = 0;  // 0 times infinity
    b.At(0, 1) = kNan;
    Stored<T> c(n, n, Layout::kRows, this->random_);
    Stored<T> expected = c;
    ReferenceGemm<T>(1, a.read(), b.read(), 1, expected.view());
    ASSERT_TRUE(Gemm<T>(1, a.read(), b.read(), 1, c.view()).ok());
    EXPECT_TRUE(c.SameAs(expected));
    EXPECT_TRUE(std::isnan(c.At(1, 0)) && std::isnan(c.At(0, 1)) && std::isinf(c.At(1, 2)));

    // alpha = 0: A and B do not count.
    Stored<T> scaled(n, n, Layout::kRows, this->random_);
    const Stored<T> before = scaled;
    ASSERT_TRUE(Gemm<T>(0, a.read(), b.read(), 2, scaled.view()).ok());
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j) EXPECT_EQ(scaled.At(i, j), 2 * before.read()(i, j));
    }
    // alpha = beta = 0: zeros over NaN.
    scaled.Fill(kNan);
    ASSERT_TRUE(Gemm<T>(0, a.read(), b.read(), 0, scaled.view()).ok());
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j) EXPECT_EQ(scaled.At(i, j), 0);
    }
    // A NaN as alpha or beta counts.
    ASSERT_TRUE(Gemm<T>(kNan, a.read(), b.read(), 0, scaled.view()).ok());
    EXPECT_TRUE(std::isnan(scaled.At(n - 1, n - 1)));
    scaled.Fill(1);
    ASSERT_TRUE(Gemm<T>(0, a.read(), b.read(), kNan, scaled.view()).ok());
    EXPECT_TRUE(std::isnan(scaled.At(0, 0)));
  }
}

TYPED_TEST(BlasTest, KeepsSubnormalsAndSignsOfZeros) {
  using T = TypeParam;
  constexpr T kTiny = std::numeric_limits<T>::denorm_min();
  const T a[] = {kTiny, -T(0)};
  const T b[] = {1, 1};
  T c[] = {0};
  ASSERT_TRUE(Gemm<T>(1, {a, 1, 2, 2}, {b, 2, 1, 1}, 0, MatrixView<T>(c, 1, 1, 1)).ok());
  EXPECT_EQ(c[0], kTiny);
  // 0 + -0 is 0; -1 times that is -0.
  ASSERT_TRUE(Gemm<T>(-1, {a + 1, 1, 1, 1}, {b, 1, 1, 1}, 0, MatrixView<T>(c, 1, 1, 1)).ok());
  EXPECT_TRUE(c[0] == 0 && std::signbit(c[0]));
}

TYPED_TEST(BlasTest, AMatrixMayBeBroadcast) {
  using T = TypeParam;
  const T row[] = {1, 2, 3};
  std::vector<T> c(40 * 40);
  // A's rows are one, B's columns too.
  ASSERT_TRUE(
      Gemm<T>(1, {row, 40, 3, 0, 1}, {row, 3, 40, 1, 0}, 0, MatrixView<T>(c.data(), 40, 40, 40))
          .ok());
  EXPECT_EQ(c, std::vector<T>(40 * 40, 14));
}

TYPED_TEST(BlasTest, StridesThatNoStepTakesMayBeAnything) {
  using T = TypeParam;
  constexpr int64_t kHuge = int64_t{1} << 58;
  const std::vector<T> ones(200, 1);
  for (const int64_t n : {1, 5, 130}) {
    std::vector<T> c(static_cast<size_t>(n));
    // A row times a matrix of one row: 1 x 1 by 1 x n.
    ASSERT_TRUE(Gemm<T>(1, {ones.data(), 1, 1, kHuge, kHuge}, {ones.data(), 1, n, kHuge, 1}, 0,
                        MatrixView<T>(c.data(), 1, n, kHuge))
                    .ok());
    EXPECT_EQ(c, std::vector<T>(static_cast<size_t>(n), 1));
    // A column of one by a single row, stored as columns.
    ASSERT_TRUE(Gemm<T>(1, {ones.data(), n, 1, 1, kHuge}, {ones.data(), 1, 1, kHuge, kHuge}, 0,
                        MatrixView<T>(c.data(), n, 1, 1, kHuge))
                    .ok());
    EXPECT_EQ(c, std::vector<T>(static_cast<size_t>(n), 1));
    ASSERT_TRUE(GemmBatched<T>(1, 1, {MatrixView<const T>(ones.data(), 1, n, kHuge), kHuge},
                               {MatrixView<const T>(ones.data(), n, 1, 1, kHuge), kHuge}, 0,
                               {MatrixView<T>(c.data(), 1, 1, kHuge), kHuge})
                    .ok());
    EXPECT_EQ(c[0], static_cast<T>(n));
  }
}

TYPED_TEST(BlasTest, Epilogues) {
  using T = TypeParam;
  constexpr struct {
    int64_t m, n, k;
  } kShapes[] = {{1, 1, 1},     {5, 9, 4},      {30, 70, 300}, {130, 500, 40},
                 {700, 90, 60}, {3, 1400, 300}, {20, 3, 0}};
  ThreadPool pool(3);
  int turn = 0;
  for (const auto& [m, n, k] : kShapes) {
    for (int choice = 0; choice < 32; ++choice) {
      SCOPED_TRACE(Message() << m << " x " << n << " x " << k << ", choice " << choice);
      std::vector<T> row_bias(static_cast<size_t>(m));
      std::vector<T> column_bias(static_cast<size_t>(n));
      this->random_.FillUniform(std::span<T>(row_bias));
      this->random_.FillUniform(std::span<T>(column_bias));
      std::vector<T> maximum(static_cast<size_t>(m), 5);
      std::vector<T> expected_maximum = maximum;
      Options<T> options;
      if ((choice & 1) != 0) options.epilogue.row_bias = row_bias;
      if ((choice & 2) != 0) options.epilogue.column_bias = column_bias;
      options.epilogue.activation = static_cast<Activation>(choice >> 2 & 3);
      if ((choice & 16) != 0) options.epilogue.row_maximum = maximum;
      options.pool = choice % 3 == 0 ? &pool : nullptr;
      const Layout layout = kLayouts[++turn * 7 / 4 % 4];
      const Stored<T> a(m, k, Layout::kRows, this->random_);
      const Stored<T> b(k, n, Layout::kRows, this->random_);
      Stored<T> c(m, n, layout, this->random_);
      Stored<T> expected = c;
      Epilogue<T> epilogue = options.epilogue;
      if ((choice & 16) != 0) epilogue.row_maximum = expected_maximum;
      ReferenceGemm<T>(1, a.read(), b.read(), 1, expected.view(), epilogue);
      ASSERT_TRUE(Gemm<T>(1, a.read(), b.read(), 1, c.view(), options).ok());
      ASSERT_TRUE(c.SameAs(expected));
      ASSERT_EQ(maximum, expected_maximum);
    }
  }
}

TYPED_TEST(BlasTest, ReluMakesZerosPositiveAndKeepsNan) {
  using T = TypeParam;
  const T one[] = {1};
  T c[] = {-T(0), T(0), -1, 2, std::numeric_limits<T>::quiet_NaN()};
  Options<T> options;
  options.epilogue.activation = Activation::kRelu;
  ASSERT_TRUE(
      Gemm<T>(0, {one, 1, 1, 1}, {one, 1, 5, 0, 0}, 1, MatrixView<T>(c, 1, 5, 5), options).ok());
  for (const int i : {0, 1, 2}) EXPECT_TRUE(c[i] == 0 && !std::signbit(c[i])) << i;
  EXPECT_EQ(c[3], 2);
  EXPECT_TRUE(std::isnan(c[4]));
}

TYPED_TEST(BlasTest, MaximaOfNanAndZerosDoNotDependOnTheOrder) {
  using T = TypeParam;
  ThreadPool pool(2);
  const T one[] = {1};
  for (const int64_t n : {1, 20, 3000}) {
    for (const int64_t at : {int64_t{0}, n / 2, n - 1}) {
      std::vector<T> b(static_cast<size_t>(n), -T(0));
      std::vector<T> c(b.size());
      T maximum = 0;
      Options<T> options;
      options.epilogue.row_maximum = std::span<T>(&maximum, 1);
      options.pool = &pool;
      const auto run = [&] {
        // alpha = -1: 0 + 0 b is 0 and becomes -0.
        return Gemm<T>(0, {one, 1, 1, 1}, {b.data(), 1, n, n}, 1, MatrixView<T>(c.data(), 1, n, n),
                       options);
      };
      c.assign(b.size(), -T(0));
      ASSERT_TRUE(run().ok());
      EXPECT_TRUE(maximum == 0 && std::signbit(maximum));
      c[static_cast<size_t>(at)] = 0;
      ASSERT_TRUE(run().ok());
      EXPECT_TRUE(maximum == 0 && !std::signbit(maximum));
      for (const T others : {T(0), T(1), T(-1)}) {
        c.assign(b.size(), others);
        c[static_cast<size_t>(at)] = -std::numeric_limits<T>::quiet_NaN();
        ASSERT_TRUE(run().ok());
        EXPECT_TRUE(std::isnan(maximum));
      }
    }
  }
}

TYPED_TEST(BlasTest, MatrixTimesVector) {
  using T = TypeParam;
  ThreadPool pool(2);
  for (const int64_t m : {0, 1, 5, 33, 700}) {
    for (const int64_t k : {0, 1, 7, 300}) {
      for (const Layout layout : kLayouts) {
        const Stored<T> a(m, k, layout, this->random_);
        const Stored<T> x(k, 1, Layout::kRows, this->random_);
        Stored<T> y(m, 1, Layout::kRows, this->random_);
        Stored<T> expected = y;
        Stored<T> product = y;
        ReferenceGemm<T>(T(0.5), a.read(), x.read(), T(2), expected.view());
        ASSERT_TRUE(Gemv<T>(T(0.5), a.read(),
                            std::span<const T>(x.read().data(), static_cast<size_t>(k)), T(2),
                            std::span<T>(y.view().data(), static_cast<size_t>(m)), &pool)
                        .ok());
        EXPECT_TRUE(y.SameAs(expected)) << m << " x " << k;
        ASSERT_TRUE(Gemm<T>(T(0.5), a.read(), x.read(), T(2), product.view()).ok());
        EXPECT_TRUE(product.SameAs(expected)) << m << " x " << k;
      }
    }
  }
  std::vector<T> x(3);
  std::vector<T> y(2);
  EXPECT_EQ(Gemv<T>(1, MatrixView<const T>(x.data(), 1, 2, 2), x, 0, std::span<T>(y)).message(),
            "A is 1 x 2, x has 3 elements, y 2; expected as many as A's columns and rows");
}

TYPED_TEST(BlasTest, Batches) {
  using T = TypeParam;
  ThreadPool pool(3);
  constexpr struct {
    int64_t m, n, k;
  } kShapes[] = {{4, 4, 4}, {7, 5, 3}, {33, 17, 20}, {2, 90, 300}, {0, 3, 2}, {3, 3, 0}};
  for (const auto& [m, n, k] : kShapes) {
    for (int choice = 0; choice < 8; ++choice) {
      SCOPED_TRACE(Message() << m << " x " << n << " x " << k << ", choice " << choice);
      constexpr int64_t kCount = 5;
      // A shared, or one after another; C in columns of one wide matrix, or apart.
      const Stored<T> a(kCount * m, k, Layout::kRows, this->random_);
      const Stored<T> b(k, kCount * n, Layout::kRows, this->random_);
      Stored<T> c(m, kCount * n, Layout::kCutOut, this->random_);
      Stored<T> expected = c;
      Stored<T> views = c;
      const int64_t a_stride = (choice & 1) != 0 ? m * k : 0;
      Options<T> options;
      options.pool = (choice & 2) != 0 ? &pool : nullptr;
      if ((choice & 4) != 0) options.epilogue.activation = Activation::kRelu;
      const auto part = [m = m, n = n](auto view, int64_t i) {
        return decltype(view)(view.data() + i * n, m, n, view.row_stride(), 1);
      };
      std::vector<MatrixView<const T>> as;
      std::vector<MatrixView<const T>> bs;
      std::vector<MatrixView<T>> cs;
      for (int64_t i = 0; i < kCount; ++i) {
        as.emplace_back(a.read().data() + i * a_stride, m, k, k);
        bs.emplace_back(b.read().data() + i * n, k, n, kCount * n);
        cs.push_back(part(views.view(), i));
        ReferenceGemm<T>(2, as.back(), bs.back(), -1, part(expected.view(), i), options.epilogue);
      }
      ASSERT_TRUE(GemmBatched<T>(kCount, 2, {as[0], a_stride}, {bs[0], n}, -1,
                                 {part(c.view(), 0), n}, options)
                      .ok());
      EXPECT_TRUE(c.SameAs(expected));
      if ((choice & 4) != 0) continue;
      ASSERT_TRUE(GemmBatched<T>(T(2), std::span<const MatrixView<const T>>(as),
                                 std::span<const MatrixView<const T>>(bs), T(-1),
                                 std::span<const MatrixView<T>>(cs), options.pool)
                      .ok());
      EXPECT_TRUE(views.SameAs(expected));
    }
  }
}

// Refused, with a message that holds `part`, and nothing written.
template <class T>
void ExpectRefused(const absl::Status& status, const std::vector<T>& c, const std::string& part) {
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find(part), absl::string_view::npos) << status;
  EXPECT_EQ(c, std::vector<T>(c.size(), 7));
}

TYPED_TEST(BlasTest, RefusesWhatDoesNotFit) {
  using T = TypeParam;
  const std::vector<T> a(100, 1);
  std::vector<T> c(100, 7);
  const MatrixView<T> c44(c.data(), 4, 4, 4);
  const auto in = [&](int64_t rows, int64_t cols, int64_t row, int64_t col = 1) {
    return MatrixView<const T>(a.data(), rows, cols, row, col);
  };
  ExpectRefused(Gemm<T>(1, in(4, 3, 3), in(4, 4, 4), 0, c44), c,
                "A is 4 x 3, B is 4 x 4, C is 4 x 4; expected A m x k, B k x n, C m x n");
  ExpectRefused(Gemm<T>(1, in(3, 3, 3), in(3, 4, 4), 0, c44), c, "A is 3 x 3");
  ExpectRefused(Gemm<T>(1, in(4, 3, 3), in(3, 5, 5), 0, c44), c, "B is 3 x 5");
  ExpectRefused(Gemm<T>(1, in(4, -3, 3), in(-3, 4, 4), 0, c44), c, "must not be negative");
  ExpectRefused(Gemm<T>(1, in(4, 3, -3), in(3, 4, 4), 0, c44), c, "strides must not be negative");
  ExpectRefused(Gemm<T>(1, in(4, 3, 3, -1), in(3, 4, 4), 0, c44), c, "from column to column");
  // A leading dimension below the row's length: rows of C run into each other.
  ExpectRefused(Gemm<T>(1, in(4, 3, 3), in(3, 4, 4), 0, MatrixView<T>(c.data(), 4, 4, 3)), c,
                "elements of C share memory: C is 4 x 4 with strides 3 and 1");
  ExpectRefused(Gemm<T>(1, in(4, 3, 3), in(3, 4, 4), 0, MatrixView<T>(c.data(), 4, 4, 0)), c,
                "elements of C share memory");
  // Numbers beyond any memory; nothing is read before they are refused.
  constexpr int64_t kHuge = int64_t{1} << 40;
  ExpectRefused(Gemm<T>(1, in(4, kHuge, kHuge), in(kHuge, 4, kHuge), 0, c44), c, "passes 2^63");
  Options<T> options;
  options.epilogue.row_bias = std::span<const T>(a.data(), 3);
  ExpectRefused(Gemm<T>(1, in(4, 3, 3), in(3, 4, 4), 0, c44, options), c,
                "row_bias has 3 elements; expected 4 or none");
  options.epilogue = {};
  options.epilogue.column_bias = std::span<const T>(a.data(), 5);
  ExpectRefused(Gemm<T>(1, in(4, 3, 3), in(3, 4, 4), 0, c44, options), c, "column_bias has 5");
  options.epilogue = {};
  std::vector<T> maximum(2, 7);
  options.epilogue.row_maximum = maximum;
  ExpectRefused(Gemm<T>(1, in(4, 3, 3), in(3, 4, 4), 0, c44, options), c, "row_maximum has 2");
  ExpectRefused(FastGemm<T>(1, in(4, 3, 3), in(3, 4, 4), 0, c44, options), c, "row_maximum has 2");
  // Batches.
  ExpectRefused(GemmBatched<T>(-1, 1, {in(4, 3, 3), 0}, {in(3, 4, 4), 0}, 0, {c44, 16}), c,
                "a batch of -1 products");
  ExpectRefused(GemmBatched<T>(3, 1, {in(4, 3, 3), 0}, {in(3, 4, 4), 0}, 0, {c44, 15}), c,
                "elements of C share memory");
  ExpectRefused(GemmBatched<T>(3, 1, {in(4, 3, 3), -1}, {in(3, 4, 4), 0}, 0, {c44, 16}), c,
                "-1 from matrix to matrix");
  const std::vector<MatrixView<const T>> two = {in(4, 4, 4), in(4, 4, 4)};
  const std::vector<MatrixView<const T>> bad = {in(4, 4, 4), in(3, 4, 4)};
  const std::vector<MatrixView<T>> outs = {c44, MatrixView<T>(c.data() + 16, 4, 4, 4)};
  const auto spans = [](const std::vector<MatrixView<const T>>& v) {
    return std::span<const MatrixView<const T>>(v);
  };
  ExpectRefused(GemmBatched<T>(T(1), spans(two), spans(two).first(1), T(0),
                               std::span<const MatrixView<T>>(outs)),
                c, "a batch of 2 A, 1 B and 2 C");
  ExpectRefused(
      GemmBatched<T>(T(1), spans(two), spans(bad), T(0), std::span<const MatrixView<T>>(outs)), c,
      "product 1: A is 4 x 4, B is 3 x 4");
}

TYPED_TEST(BlasTest, RefusesCThatSharesMemoryAndAcceptsWhatLiesBetween) {
  using T = TypeParam;
  std::vector<T> memory(400, 7);
  T* const p = memory.data();
  const std::vector<T> b(100, 0);
  const MatrixView<const T> b44(b.data(), 4, 4, 4);
  const auto run = [&](MatrixView<const T> a, MatrixView<T> c) { return Gemm<T>(1, a, b44, 1, c); };
  ExpectRefused(run({p, 4, 4, 4}, {p, 4, 4, 4}), memory, "A and C share memory");
  ExpectRefused(run({p, 4, 4, 4}, {p + 15, 4, 4, 4}), memory, "A and C share memory");
  ExpectRefused(run({p, 4, 4, 20}, {p + 3, 4, 4, 20}), memory, "A and C share memory");
  ExpectRefused(run({p, 4, 4, 20}, {p + 20, 4, 4, 20}), memory, "A and C share memory");
  ExpectRefused(run({p, 4, 4, 1, 4}, {p + 4, 4, 4, 20}), memory, "A and C share memory");
  // C's rows run on into the next line of the array, where A begins.
  ExpectRefused(run({p + 20, 4, 4, 20}, {p + 18, 4, 4, 20}), memory, "A and C share memory");
  ExpectRefused(Gemm<T>(1, b44, {p, 4, 4, 4}, 1, MatrixView<T>(p + 8, 4, 4, 4)), memory,
                "B and C share memory");
  // Side by side, column blocks of one matrix, and one row's parts; columns by turns.
  EXPECT_TRUE(run({p, 4, 4, 4}, {p + 16, 4, 4, 4}).ok());
  EXPECT_TRUE(run({p, 4, 4, 20}, {p + 4, 4, 4, 20}).ok());
  EXPECT_TRUE(run({p + 10, 4, 4, 20}, {p + 4, 4, 4, 20}).ok());
  EXPECT_TRUE(run({p + 18, 4, 4, 20}, {p + 24, 4, 4, 20}).ok());
  EXPECT_TRUE(run({p, 4, 4, 1, 20}, {p + 4, 4, 4, 1, 20}).ok());
  // An A of which nothing is read may lie anywhere.
  EXPECT_TRUE(Gemm<T>(1, {p, 4, 0, 4}, {p, 0, 4, 4}, 1, MatrixView<T>(p, 4, 4, 4)).ok());
  EXPECT_EQ(memory, std::vector<T>(400, 7));
}

}  // namespace
}  // namespace assay::gemm
