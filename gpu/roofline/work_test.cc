// SPDX-License-Identifier: Apache-2.0
//
// Each formula against the plain loop, run on numbers that count their operations and arrays that
// remember which of their elements were read and written.
#include "gpu/roofline/work.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "gtest/gtest.h"

namespace assay::roofline {
namespace {

int64_t operations = 0;  // of all Counted numbers since it was last set to 0

struct Counted {
  double value = 0;
  friend Counted operator+(Counted a, Counted b) { return Done(a.value + b.value); }
  friend Counted operator-(Counted a, Counted b) { return Done(a.value - b.value); }
  friend Counted operator*(Counted a, Counted b) { return Done(a.value * b.value); }
  friend Counted operator/(Counted a, Counted b) { return Done(a.value / b.value); }
  friend bool operator>(Counted a, Counted b) { return Done(a.value).value > b.value; }
  friend Counted Exponential(Counted a) { return Done(1 + a.value); }  // any function will do
  static Counted Done(double value) {
    ++operations;
    return {value};
  }
};

class Memory {
 public:
  explicit Memory(int64_t n)
      : values_(static_cast<size_t>(n)), read_(values_.size()), written_(values_.size()) {
    for (size_t i = 0; i < values_.size(); ++i) values_[i].value = 1.0 + static_cast<double>(i % 7);
  }
  Counted Load(int64_t i) {
    read_.at(static_cast<size_t>(i)) = 1;
    return values_[static_cast<size_t>(i)];
  }
  void Store(int64_t i, Counted value) {
    written_.at(static_cast<size_t>(i)) = 1;
    values_[static_cast<size_t>(i)] = value;
  }
  int64_t read() const { return Sum(read_); }
  int64_t written() const { return Sum(written_); }

 private:
  static int64_t Sum(const std::vector<char>& marks) {
    int64_t sum = 0;
    for (const char mark : marks) sum += mark;
    return sum;
  }
  std::vector<Counted> values_;
  std::vector<char> read_, written_;
};

constexpr Precision kAll[] = {Precision::kF64, Precision::kF32, Precision::kF16, Precision::kI8};

TEST(WorkTest, ElementsHaveTheirSizes) {
  EXPECT_EQ(BytesOf(Precision::kF64), 8);
  EXPECT_EQ(BytesOf(Precision::kF32), 4);
  EXPECT_EQ(BytesOf(Precision::kF16), 2);
  EXPECT_EQ(BytesOf(Precision::kI8), 1);
}

TEST(WorkTest, MatMulIsWhatThreeLoopsDo) {
  for (int64_t m = 0; m <= 4; ++m) {
    for (int64_t n = 0; n <= 5; ++n) {
      for (int64_t k = 0; k <= 6; ++k) {
        Memory a(m * k), b(k * n), c(m * n);
        operations = 0;
        for (int64_t i = 0; i < m; ++i) {
          for (int64_t j = 0; j < n; ++j) {
            Counted sum;
            for (int64_t l = 0; l < k; ++l) sum = sum + a.Load(i * k + l) * b.Load(l * n + j);
            c.Store(i * n + j, sum);
          }
        }
        for (const Precision precision : kAll) {
          const int64_t size = BytesOf(precision);
          const auto work = MatMul(m, n, k, precision);
          ASSERT_TRUE(work.ok()) << work.status();
          EXPECT_EQ(*work, (Work{operations, size * (a.read() + b.read()), size * c.written()}))
              << m << " " << n << " " << k;
        }
      }
    }
  }
}

TEST(WorkTest, ElementwiseIsWhatOneLoopDoes) {
  for (const int64_t n : {0, 1, 2, 17}) {
    Memory x(n), y(n), z(n);
    operations = 0;
    for (int64_t i = 0; i < n; ++i) z.Store(i, x.Load(i) + Counted{3} * y.Load(i));
    for (const Precision precision : kAll) {
      const int64_t size = BytesOf(precision);
      const auto work = Elementwise(n, 2, 1, 2, precision);
      ASSERT_TRUE(work.ok()) << work.status();
      EXPECT_EQ(*work, (Work{operations, size * (x.read() + y.read()), size * z.written()}));
    }
  }
}

TEST(WorkTest, CopyOnlyMoves) {
  const auto work = Copy(100, Precision::kF64);
  ASSERT_TRUE(work.ok()) << work.status();
  EXPECT_EQ(*work, (Work{0, 800, 800}));
  EXPECT_EQ(Intensity(*work), 0);
}

TEST(WorkTest, ReductionIsWhatOneSumDoes) {
  for (const int64_t n : {0, 1, 2, 33}) {
    Memory x(n), y(1);
    operations = 0;
    Counted sum = n > 0 ? x.Load(0) : Counted{};
    for (int64_t i = 1; i < n; ++i) sum = sum + x.Load(i);
    y.Store(0, sum);
    const auto work = Reduction(n, Precision::kF32);
    ASSERT_TRUE(work.ok()) << work.status();
    EXPECT_EQ(*work, (Work{operations, 4 * x.read(), 4 * y.written()})) << n;
  }
}

TEST(WorkTest, SoftmaxIsWhatItsLoopsDo) {
  for (const int64_t rows : {0, 1, 3}) {
    for (const int64_t columns : {0, 1, 2, 9}) {
      Memory x(rows * columns), y(rows * columns);
      // In three passes what is handed on goes through memory too.
      Memory maximum(rows), sum(rows), e(rows * columns), z(rows * columns);
      int64_t fused = 0;
      operations = 0;
      for (int64_t r = 0; r < rows && columns > 0; ++r) {
        const int64_t row = r * columns;
        Counted most = x.Load(row);
        for (int64_t c = 1; c < columns; ++c) {
          if (x.Load(row + c) > most) most = x.Load(row + c);
        }
        Counted total;
        std::vector<Counted> kept;
        for (int64_t c = 0; c < columns; ++c) {
          kept.push_back(Exponential(x.Load(row + c) - most));
          total = c == 0 ? kept[0] : total + kept.back();
        }
        for (int64_t c = 0; c < columns; ++c) {
          y.Store(row + c, kept[static_cast<size_t>(c)] / total);
        }
      }
      fused = operations;
      operations = 0;
      int64_t first_pass = 0;
      for (int64_t r = 0; r < rows && columns > 0; ++r) {
        Counted most = x.Load(r * columns);
        for (int64_t c = 1; c < columns; ++c) {
          if (x.Load(r * columns + c) > most) most = x.Load(r * columns + c);
        }
        maximum.Store(r, most);
      }
      first_pass = x.read();
      Memory again(rows * columns);  // the second pass reads the rows anew
      for (int64_t r = 0; r < rows && columns > 0; ++r) {
        const Counted most = maximum.Load(r);
        Counted total;
        for (int64_t c = 0; c < columns; ++c) {
          const Counted one = Exponential(again.Load(r * columns + c) - most);
          total = c == 0 ? one : total + one;
          e.Store(r * columns + c, one);
        }
        sum.Store(r, total);
      }
      for (int64_t r = 0; r < rows && columns > 0; ++r) {
        const Counted total = sum.Load(r);
        for (int64_t c = 0; c < columns; ++c) {
          z.Store(r * columns + c, e.Load(r * columns + c) / total);
        }
      }
      const auto one = Softmax(rows, columns, Precision::kF32);
      ASSERT_TRUE(one.ok()) << one.status();
      EXPECT_EQ(*one, (Work{fused, 4 * x.read(), 4 * y.written()})) << rows << " " << columns;
      const auto three = SoftmaxInThreePasses(rows, columns, Precision::kF32);
      ASSERT_TRUE(three.ok()) << three.status();
      EXPECT_EQ(*three,
                (Work{operations,
                      4 * (first_pass + maximum.read() + again.read() + sum.read() + e.read()),
                      4 * (maximum.written() + e.written() + sum.written() + z.written())}))
          << rows << " " << columns;
    }
  }
}

TEST(WorkTest, IntensityIsOperationsAByte) {
  EXPECT_EQ(Intensity({.flops = 6, .bytes_read = 8, .bytes_written = 4}), 0.5);
  EXPECT_EQ(Intensity({.flops = 0, .bytes_read = 0, .bytes_written = 0}), 0);
  EXPECT_EQ(Intensity({.flops = 1, .bytes_read = 0, .bytes_written = 0}),
            std::numeric_limits<double>::infinity());
  // A square product in f32 has n / 6.
  const auto work = MatMul(4096, 4096, 4096, Precision::kF32);
  ASSERT_TRUE(work.ok());
  EXPECT_EQ(Intensity(*work), 4096.0 / 6);
}

TEST(WorkTest, RefusesNegativeSizes) {
  const Precision p = Precision::kF32;
  for (const auto& work :
       {MatMul(-1, 1, 1, p), MatMul(1, -1, 1, p), MatMul(1, 1, -1, p), Elementwise(-1, 1, 1, 1, p),
        Elementwise(1, -1, 1, 1, p), Elementwise(1, 1, -1, 1, p), Elementwise(1, 1, 1, -1, p),
        Reduction(-1, p), Softmax(-1, 1, p), Softmax(1, -1, p), SoftmaxInThreePasses(-1, 1, p),
        SoftmaxInThreePasses(1, -1, p), Copy(-1, p)}) {
    EXPECT_EQ(work.status().code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST(WorkTest, RefusesCountsThatOverflow) {
  const Precision p = Precision::kF64;
  const int64_t root = int64_t{1} << 31, most = std::numeric_limits<int64_t>::max();
  for (const auto& work :
       {MatMul(root, root, 1, p), MatMul(most, 1, 1, p), MatMul(1, 1, most, p),
        Elementwise(most, 1, 1, 0, p), Elementwise(1, most, 0, 0, p),
        Elementwise(root, 0, 0, root, p), Reduction(most, p), Softmax(root, root, p),
        SoftmaxInThreePasses(root, root / 8, p), Copy(most / 8, p)}) {
    EXPECT_EQ(work.status().code(), absl::StatusCode::kInvalidArgument);
  }
  // Just within: 2^61 operations.
  const auto work = MatMul(int64_t{1} << 20, int64_t{1} << 20, int64_t{1} << 20, p);
  ASSERT_TRUE(work.ok()) << work.status();
  EXPECT_EQ(work->flops, int64_t{1} << 61);
  // Nothing times anything is nothing.
  ASSERT_TRUE(MatMul(0, most, 0, p).ok());
}

}  // namespace
}  // namespace assay::roofline
