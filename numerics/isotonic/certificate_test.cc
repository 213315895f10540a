// SPDX-License-Identifier: Apache-2.0
#include "numerics/isotonic/certificate.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "numerics/core/bits.h"
#include "numerics/core/random.h"
#include "numerics/isotonic/isotonic_reference.h"

namespace assay::isotonic {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Direction kDirections[] = {Direction::kIncreasing, Direction::kDecreasing};

template <class T>
T Next(T x, T towards) {
  return std::nextafter(x, towards);
}

// Spans of vectors, so that literals may be written in calls.
template <class T>
absl::Status Certified(const std::vector<T>& y, const std::vector<T>& weights,
                       const std::vector<T>& fit, const Options& options = {}, int half_ulps = 1) {
  return Certify(std::span<const T>(y), std::span<const T>(weights), std::span<const T>(fit),
                 options, half_ulps);
}
template <class T>
absl::Status BlocksCertified(const std::vector<T>& y, const std::vector<T>& weights,
                             const std::vector<int64_t>& ends,
                             Direction direction = Direction::kIncreasing) {
  return CertifyBlocks(std::span<const T>(y), std::span<const T>(weights), ends, direction);
}

void ExpectRefused(const absl::Status& status, const char* text) {
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_NE(std::string(status.message()).find(text), std::string::npos) << status;
}

// One kind of data each: what is easy, ties, what rounds, what differs in scale, and no weight.
template <class T>
struct Data {
  std::vector<T> y, weights;
};
template <class T>
Data<T> MakeData(int kind, int64_t n, Random& random) {
  Data<T> data;
  for (int64_t i = 0; i < n; ++i) {
    const double u = random.Uniform(), v = random.Uniform();
    switch (kind) {
      case 0:  // a trend with noise
        data.y.push_back(static_cast<T>(static_cast<double>(i) / 8 + 4 * u));
        break;
      case 1:  // few values: means tie
        data.y.push_back(static_cast<T>(random.Integer(3)));
        data.weights.push_back(static_cast<T>(1 + random.Integer(2)));
        break;
      case 2:  // means one half ulp apart from numbers
        data.y.push_back(Next(T(1), T(2)) * (random.Bernoulli(0.5) ? T(1) : T(-1)) +
                         static_cast<T>(random.Integer(3)) * std::numeric_limits<T>::epsilon());
        break;
      case 3: {  // every exponent, weights too, and weights of 0
        const auto any = [&](double x) {
          return static_cast<T>((x - 0.5) *
                                std::pow(2.0, static_cast<double>(random.Integer(
                                                  std::numeric_limits<T>::min_exponent,
                                                  std::numeric_limits<T>::max_exponent))));
        };
        data.y.push_back(any(u));
        data.weights.push_back(i % 4 == 1 ? T(0)
                                          : std::abs(any(v)) + std::numeric_limits<T>::min());
        break;
      }
      case 4:  // least numbers: means between 0 and them
        data.y.push_back(static_cast<T>(random.Integer(-2, 3)) *
                         std::numeric_limits<T>::denorm_min());
        data.weights.push_back(static_cast<T>(random.Integer(1, 4)));
        break;
      default:  // largest numbers: sums overflow
        data.y.push_back(std::numeric_limits<T>::max() * static_cast<T>(u < 0.5 ? -1 : 1));
        data.weights.push_back(std::numeric_limits<T>::max());
    }
  }
  return data;
}
constexpr int kKinds = 6;

template <class T>
class CertificateTest : public testing::Test {};
using Types = testing::Types<double, float>;
TYPED_TEST_SUITE(CertificateTest, Types);

TYPED_TEST(CertificateTest, AcceptsWhatRationalArithmeticFinds) {
  using T = TypeParam;
  Random random(1);
  for (int kind = 0; kind < kKinds; ++kind) {
    for (int64_t n = 1; n <= 24; n += kind == 3 ? 5 : 1) {
      for (Direction direction : kDirections) {
        const Data<T> data = MakeData<T>(kind, n, random);
        Options options{.direction = direction};
        std::vector<int64_t> ends;
        const std::vector<T> fit = FitReference<T>(data.y, data.weights, options, &ends);
        EXPECT_TRUE(Certified(data.y, data.weights, fit, options).ok())
            << kind << " " << n << Certified(data.y, data.weights, fit, options);
        EXPECT_TRUE(BlocksCertified(data.y, data.weights, ends, direction).ok())
            << kind << " " << n << BlocksCertified(data.y, data.weights, ends, direction);
        options.lower = static_cast<double>(fit[static_cast<size_t>(random.Integer(n))]);
        options.upper = options.lower + random.Uniform();
        const std::vector<T> clipped = FitReference<T>(data.y, data.weights, options);
        EXPECT_TRUE(Certified(data.y, data.weights, clipped, options).ok()) << kind << " " << n;
      }
    }
  }
}

// Any change of one run by one step must be noticed, in either direction, whatever the data.
TYPED_TEST(CertificateTest, RefusesEveryFitThatIsOneStepOff) {
  using T = TypeParam;
  Random random(2);
  for (int kind = 0; kind < kKinds; ++kind) {
    for (int64_t n : {1, 2, 5, 16}) {
      for (Direction direction : kDirections) {
        const Data<T> data = MakeData<T>(kind, n, random);
        const Options options{.direction = direction};
        const std::vector<T> fit = FitReference<T>(data.y, data.weights, options);
        for (size_t begin = 0, end = 0; begin < fit.size(); begin = end) {
          while (end < fit.size() && fit[end] == fit[begin]) ++end;
          for (const T towards : {T(-1), T(1)}) {
            std::vector<T> moved = fit;
            for (size_t i = begin; i < end; ++i) {
              moved[i] = Next(fit[i], towards * std::numeric_limits<T>::infinity());
            }
            EXPECT_EQ(Certified(data.y, data.weights, moved, options).code(),
                      absl::StatusCode::kFailedPrecondition)
                << kind << " " << n << " " << begin << " " << static_cast<double>(towards);
          }
          // One element alone, where the run is longer: order or a mean is broken.
          std::vector<T> one = fit;
          one[begin] = Next(fit[begin], std::numeric_limits<T>::infinity());
          if (end - begin > 1) {
            EXPECT_EQ(Certified(data.y, data.weights, one, options).code(),
                      absl::StatusCode::kFailedPrecondition)
                << kind << " " << n << " " << begin;
          }
        }
      }
    }
  }
}

// The true ends are the only ones that pass: every other end is added, each one left out or moved.
TYPED_TEST(CertificateTest, RefusesEveryOtherDivisionIntoBlocks) {
  using T = TypeParam;
  Random random(3);
  for (int kind = 0; kind < kKinds; ++kind) {
    for (int64_t n : {2, 7, 16}) {
      for (Direction direction : kDirections) {
        const Data<T> data = MakeData<T>(kind, n, random);
        std::vector<int64_t> ends;
        FitReference<T>(data.y, data.weights, {.direction = direction}, &ends);
        std::vector<std::vector<int64_t>> wrong;
        for (int64_t end = 1; end < n; ++end) {
          std::vector<int64_t> other;
          bool there = false;
          for (int64_t e : ends) {
            if (e == end) there = true;
            if (e > end && !there && (other.empty() || other.back() < end)) other.push_back(end);
            if (e != end) other.push_back(e);
          }
          wrong.push_back(other);  // split at `end`, or merged there
          if (there && end + 1 < n && other != ends) {
            other.insert(std::lower_bound(other.begin(), other.end(), end + 1), end + 1);
            if (std::adjacent_find(other.begin(), other.end()) == other.end())
              wrong.push_back(other);
          }
        }
        for (const std::vector<int64_t>& other : wrong) {
          EXPECT_EQ(BlocksCertified(data.y, data.weights, other, direction).code(),
                    absl::StatusCode::kFailedPrecondition)
              << kind << " " << n << " " << testing::PrintToString(other) << " for "
              << testing::PrintToString(ends);
        }
      }
    }
  }
}

TEST(CertificateTest, NamesWhatItFinds) {
  const std::vector<double> y = {1, 3, 2, 4}, none;
  EXPECT_TRUE(Certified(y, none, {1, 2.5, 2.5, 4}).ok());
  EXPECT_TRUE(Certified<double>({}, {}, {}).ok());
  ExpectRefused(Certified(y, none, {1, 2.5, 2.25, 4}), "fit[1] and fit[2] are 2.5 and 2.25");
  ExpectRefused(
      Certified(y, none, {1, 2.75, 2.75, 4}),
      "fit[2] is 2.75; expected no more than the mean of elements 1 to 2, whose mean is about 2.5");
  ExpectRefused(Certified(y, none, {1, 2.25, 2.25, 4}), "fit[1] is 2.25; expected no less than");
  // Merged with the element before, at the right mean of the three.
  ExpectRefused(Certified(y, none, {2, 2, 2, 4}),
                "fit[0] is 2; expected no more than the mean of elements 0 to 0");
  // Split, each part at its own mean.
  ExpectRefused(Certified(y, none, {1, 3, 2, 4}), "expected no decrease");
  // The total is lost: element 0's block at the value of a block one shorter.
  ExpectRefused(Certified<double>({3, 1, 2, 4}, none, {2, 2, 2.5, 4}), "fit[2] is 2.5");
  ExpectRefused(Certified(y, none, {1, 2.5, 2.5, std::nan("")}), "fit[3] is nan");
  ExpectRefused(Certified(y, none, {1, 2.5, 2.5, kInfinity}), "infinite");
  ExpectRefused(Certified(y, none, {-kInfinity, 2.5, 2.5, 4}), "infinite");
  const Options decreasing{.direction = Direction::kDecreasing};
  EXPECT_TRUE(Certified<double>({4, 2, 3, 1}, none, {4, 2.5, 2.5, 1}, decreasing).ok());
  ExpectRefused(Certified<double>({4, 2, 3, 1}, none, {4, 2.5, 2.75, 1}, decreasing),
                "expected no increase");

  ExpectRefused(BlocksCertified(y, none, {1, 3}), "the last block ends at 3; expected 4");
  ExpectRefused(BlocksCertified(y, none, {1, 3, 3, 4}), "block_ends[2] is 3; expected more than 3");
  ExpectRefused(BlocksCertified(y, none, {1, 3, 5}), "block_ends[2] is 5");
  ExpectRefused(BlocksCertified(y, none, {1, 2, 3, 4}), "expected strictly increasing means");
  ExpectRefused(BlocksCertified(y, none, {3, 4}), "a block that no first part would leave");
  ExpectRefused(BlocksCertified<double>({2, 2}, none, {1, 2}), "expected strictly increasing");
}

TEST(CertificateTest, TellsATieFromWhatIsBesideIt) {
  const double one = 1, up = Next(1.0, 2.0), two_up = Next(up, 2.0);
  // Halfway between 1 (even) and the next number (odd), so 1; halfway between that and the next
  // even one, so the latter.
  EXPECT_TRUE(Certified<double>({up, one}, {}, {one, one}).ok());
  ExpectRefused(Certified<double>({up, one}, {}, {up, up}), "no more than");
  EXPECT_TRUE(Certified<double>({two_up, up}, {}, {two_up, two_up}).ok());
  ExpectRefused(Certified<double>({two_up, up}, {}, {up, up}), "no less than");
  // A weight off by one step breaks the tie, 2^-105 of the value away.
  EXPECT_TRUE(Certified<double>({up, one}, {up, one}, {up, up}).ok());
  ExpectRefused(Certified<double>({up, one}, {up, one}, {one, one}), "no less than");
  // So does the least number there is.
  const double least = std::numeric_limits<double>::denorm_min();
  EXPECT_TRUE(Certified<double>({up, one, least}, {1, 1, least}, {one, one, one}).ok());
  ExpectRefused(Certified<double>({up, one, least}, {1, 1, least}, {up, up, up}), "no more than");
}

TEST(CertificateTest, AllowsAsManyHalfStepsAsItIsTold) {
  const std::vector<double> y = {3, 1, 2};
  std::vector<double> fit = {2, 2, 2};
  for (int steps = 0; steps <= 4; ++steps) {
    for (int allowed = 0; allowed <= 10; ++allowed) {
      EXPECT_EQ(Certified(y, {}, fit, {}, allowed).ok(), allowed >= 2 * steps) << steps << allowed;
    }
    for (double& v : fit) v = Next(v, 3.0);
  }
  const std::vector<double> third = {1.0 / 3, 1.0 / 3, 1.0 / 3};
  EXPECT_TRUE(Certified<double>({1, 0, 0}, {}, third, {}, 1).ok());
  EXPECT_FALSE(Certified<double>({1, 0, 0}, {}, third, {}, 0).ok());
  EXPECT_EQ(Certified(y, {}, y, {}, -1).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Certified(y, {}, y, {}, (1 << 20) + 1).code(), absl::StatusCode::kInvalidArgument);
}

TEST(CertificateTest, HoldsClippedFitsToTheirBounds) {
  const std::vector<double> y = {1, 3, 2, 4}, none;
  Options options{.lower = 2, .upper = 3};
  EXPECT_TRUE(Certified(y, none, {2, 2.5, 2.5, 3}, options).ok());
  ExpectRefused(Certified(y, none, {1, 2.5, 2.5, 3}, options), "fit[0] is 1; expected 2 to 3");
  ExpectRefused(Certified(y, none, {2, 2.5, 2.5, 4}, options), "fit[3] is 4; expected 2 to 3");
  // Too much is clipped.
  ExpectRefused(Certified(y, none, {2, 2, 2, 3}, options), "fit[1] is 2; expected no less than");
  ExpectRefused(Certified(y, none, {2, 3, 3, 3}, options), "fit[2] is 3; expected no more than");
  // Too little.
  ExpectRefused(Certified(y, none, {2.25, 2.5, 2.5, 3}, options), "fit[0] is 2.25");
  options = {.lower = 2.5, .upper = 2.5};
  EXPECT_TRUE(Certified(y, none, {2.5, 2.5, 2.5, 2.5}, options).ok());
  // f32 has no 0.1; the nearest number stands for it.
  const Options tenth{.lower = 0.1};
  EXPECT_TRUE(Certified<float>({0.0f, 1.0f}, {}, {0.1f, 1.0f}, tenth).ok());
  // Nor has it 1e300; its largest number is the nearest.
  const float most = std::numeric_limits<float>::max();
  EXPECT_TRUE(Certified<float>({0.0f}, {}, {most}, {.lower = 1e300}).ok());
  ExpectRefused(Certified<float>({0.0f}, {}, {1.0f}, {.lower = 1e300}), "expected 3.40282");
  options = {.lower = 3, .upper = 2};
  EXPECT_EQ(Certified(y, none, y, options).code(), absl::StatusCode::kInvalidArgument);
}

TEST(CertificateTest, GivesElementsOfWeight0TheFitOfTheirNeighbours) {
  const std::vector<double> y = {9, 3, 7, 1, 0}, w = {0, 1, 0, 1, 0}, fit = {2, 2, 2, 2, 2};
  EXPECT_TRUE(Certified(y, w, fit).ok());
  ExpectRefused(Certified(y, w, {1, 2, 2, 2, 2}), "fit[0] is 1; expected that of element 1, 2");
  ExpectRefused(Certified(y, w, {2, 2, 2, 2, 3}), "fit[4] is 3; expected that of element 3, 2");
  EXPECT_TRUE(BlocksCertified(y, w, {5}).ok());
  const std::vector<double> rising = {9, 1, 7, 3, 0};
  EXPECT_TRUE(Certified(rising, w, {1, 1, 1, 3, 3}).ok());
  EXPECT_TRUE(BlocksCertified(rising, w, {3, 5}).ok());
  ExpectRefused(Certified(rising, w, {1, 1, 3, 3, 3}), "fit[2] is 3");
  ExpectRefused(BlocksCertified(rising, w, {2, 5}), "begins with element 2 of weight 0");
  ExpectRefused(BlocksCertified(rising, w, {1, 3, 5}), "weight 0 alone");
  // Read from the right the block is the last one's, yet the rule is the same.
  const std::vector<double> falling = {9, 3, 7, 1, 0};
  EXPECT_TRUE(Certified(falling, w, {3, 3, 3, 1, 1}, {.direction = Direction::kDecreasing}).ok());
  EXPECT_TRUE(BlocksCertified(falling, w, {3, 5}, Direction::kDecreasing).ok());
}

TEST(CertificateTest, RefusesWhatFitRefuses) {
  const std::vector<double> y = {1, 2}, fit = {1, 2};
  for (const absl::Status& status :
       {Certified(y, {}, {1}), Certified(y, {1}, fit), Certified(y, {1, -1}, fit),
        Certified(y, {0, 0}, fit), Certified(y, {1, kInfinity}, fit),
        Certified<double>({1, std::nan("")}, {}, fit), Certified<double>({1, kInfinity}, {}, fit),
        Certified(y, {}, fit, {.lower = std::nan("")}), BlocksCertified(y, {0, 0}, {1, 2})}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  }
}

// A million elements that pool in long blocks, made with known blocks: block k holds 1000 elements
// of mean k, falling from k + 499.5 ulps to k - 499.5.
TEST(CertificateTest, ProvesAMillionElements) {
  std::vector<double> y, fit;
  std::vector<int64_t> ends;
  for (int64_t k = 1; k <= 1000; ++k) {
    for (int64_t i = 0; i < 1000; ++i) {
      y.push_back(static_cast<double>(k) + (499.5 - static_cast<double>(i)) * 0x1p-40);
      fit.push_back(static_cast<double>(k));
    }
    ends.push_back(1000 * k);
  }
  EXPECT_TRUE(Certified(y, {}, fit, {}, 0).ok()) << Certified(y, {}, fit, {}, 0);
  EXPECT_TRUE(BlocksCertified(y, {}, ends).ok()) << BlocksCertified(y, {}, ends);
  y[777777] += 0x1p-40;
  ExpectRefused(Certified(y, {}, fit, {}, 0), "whose mean is about 778");
}

}  // namespace
}  // namespace assay::isotonic
