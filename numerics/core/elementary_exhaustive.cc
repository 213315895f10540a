// SPDX-License-Identifier: Apache-2.0
//
// Measures the float functions of elementary.h over all 2^32 inputs (minutes a function, so a
// program to run by hand and not a test):
//
//   elementary_exhaustive [--threads=N] [--step=N] [--batch] [FUNCTION...]
//
// With --batch it compares the batch forms of elementary_simd.h with the scalar functions instead,
// bit by bit, with each set of vector instructions that the machine has.
//
// The reference is the platform's double function, taken to be good to 2 ulp of double, which is
// 2^-27 ulp of float; where that could matter to the question whether a result is the correctly
// rounded one, MPFR decides. Prints for each function the largest error in ulp, where it is, and
// how many results are not the correctly rounded ones. Exit status 1 if an error exceeds 1 ulp or a
// special case is wrong.
#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "hwy/highway.h"
#include "numerics/core/bits.h"
#include "numerics/core/elementary.h"
#include "numerics/core/elementary_simd.h"
#include "numerics/core/thread_pool.h"

namespace assay {
namespace {

// sin(pi x) for x >= 0 by an exact reduction, which keeps the relative error near the zeros.
double SinPiOfMagnitude(double x, int quadrant) {
  const double t = std::fmod(x, 2.0);
  const double n = std::nearbyint(2.0 * t);
  const double r = 3.14159265358979323846 * (t - 0.5 * n);
  quadrant += static_cast<int>(n);
  const double value = (quadrant & 1) != 0 ? std::cos(r) : std::sin(r);
  return (quadrant & 2) != 0 ? -value : value;
}
double SinPiReference(double x) {
  const double value = SinPiOfMagnitude(std::fabs(x), 0);
  return value == 0.0 ? std::copysign(0.0, x) : (x < 0.0 ? -value : value);
}
double CosPiReference(double x) {
  const double value = SinPiOfMagnitude(std::fabs(x), 1);
  return value == 0.0 ? 0.0 : value;
}
float SinPi(float x) {
  float sine, cosine;
  SinCosPi(x, &sine, &cosine);
  return sine;
}
float CosPi(float x) {
  float sine, cosine;
  SinCosPi(x, &sine, &cosine);
  return cosine;
}

struct Function {
  const char* name;
  float (*ours)(float);
  double (*reference)(double);
  int (*exact)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
};
const Function kFunctions[] = {
    {"exp", Exp, std::exp, mpfr_exp},
    {"expm1", Expm1, std::expm1, mpfr_expm1},
    {"log", Log, std::log, mpfr_log},
    {"log1p", Log1p, std::log1p, mpfr_log1p},
    {"sin", Sin, std::sin, mpfr_sin},
    {"cos", Cos, std::cos, mpfr_cos},
    {"sinpi", SinPi, SinPiReference, mpfr_sinpi},
    {"cospi", CosPi, CosPiReference, mpfr_cospi},
    {"tanh", Tanh, std::tanh, mpfr_tanh},
    {"erf", Erf, std::erf, mpfr_erf},
};

// f(x) rounded once to float, by MPFR: with float's precision and exponent range.
float Correct(const Function& function, float x) {
  mpfr_t argument, value;
  mpfr_init2(argument, 24);
  mpfr_init2(value, 200);
  mpfr_set_flt(argument, x, MPFR_RNDN);
  function.exact(value, argument, MPFR_RNDN);
  const float result = mpfr_get_flt(value, MPFR_RNDN);
  mpfr_clears(argument, value, static_cast<mpfr_ptr>(nullptr));
  return result;
}

struct Survey {
  double largest = 0.0;
  float where = 0.0f;
  int64_t misrounded = 0;
  int64_t decided_by_mpfr = 0;
  int64_t wrong = 0;  // special cases
};

Survey Look(const Function& function, int64_t begin, int64_t end, int64_t step) {
  constexpr double kMargin = 0x1p-26;
  Survey survey;
  for (int64_t i = begin; i < end; ++i) {
    const float x = FloatFromBits(static_cast<uint32_t>(i * step));
    const float y = function.ours(x);
    const double reference = function.reference(x);
    if (reference != reference || std::isinf(reference) || reference == 0.0) {
      // The same value, the same sign of zero; and one NaN for all.
      if (CanonicalBits(y) != CanonicalBits(static_cast<float>(reference)) ||
          CanonicalBits(y) != FloatBits(y)) {
        ++survey.wrong;
        survey.where = x;
      }
      continue;
    }
    const float rounded = static_cast<float>(reference);
    if (std::isinf(rounded) || std::isinf(y)) {
      if (y != rounded && y != Correct(function, x)) {
        ++survey.wrong;
        survey.where = x;
      }
      continue;
    }
    // One ulp at the exact result.
    const double magnitude = std::fabs(reference);
    const int exponent = magnitude < 0x1p-126 ? -126 : std::ilogb(magnitude);
    const double ulp = DoubleFromBits(static_cast<uint64_t>(1023 + exponent - 23) << 52);
    const double error = std::fabs(double{y} - reference) / ulp;
    if (error > survey.largest) {
      survey.largest = error;
      survey.where = x;
    }
    if (error > 0.5 - kMargin) {
      if (error > 0.5 + kMargin) {
        ++survey.misrounded;
      } else {
        ++survey.decided_by_mpfr;
        if (Correct(function, x) != y) ++survey.misrounded;
      }
    }
  }
  return survey;
}

bool Run(const Function& function, int64_t step, ThreadPool& pool) {
  const int64_t count = (int64_t{1} << 32) / step;
  const Survey survey = pool.ParallelReduce(
      count, int64_t{1} << 22, Survey{},
      [&](int64_t begin, int64_t end) { return Look(function, begin, end, step); },
      [](Survey a, const Survey& b) {
        if (b.largest > a.largest) {
          a.largest = b.largest;
          if (a.wrong == 0) a.where = b.where;
        }
        if (b.wrong != 0) a.where = b.where;
        a.misrounded += b.misrounded;
        a.decided_by_mpfr += b.decided_by_mpfr;
        a.wrong += b.wrong;
        return a;
      });
  std::printf("%-6s %12lld inputs  largest error %.7f ulp  at %-15a  misrounded %lld  wrong %lld\n",
              function.name, static_cast<long long>(count), survey.largest,
              static_cast<double>(survey.where), static_cast<long long>(survey.misrounded),
              static_cast<long long>(survey.wrong));
  std::fflush(stdout);
  return survey.largest <= 1.0 && survey.wrong == 0;
}

struct BatchFunction {
  const char* name;
  void (*batch)(std::span<const float>, std::span<float>);
  float (*scalar)(float);
};
const BatchFunction kBatchFunctions[] = {
    {"exp", Exp, Exp}, {"log", Log, Log}, {"tanh", Tanh, Tanh},
    {"sin", Sin, Sin}, {"cos", Cos, Cos},
};

// The number of inputs on which the batch form differs from the scalar function.
bool RunBatch(const BatchFunction& function, int64_t step, ThreadPool& pool) {
  const int64_t count = (int64_t{1} << 32) / step;
  bool good = true;
  const std::vector<int64_t> targets = hwy::SupportedAndGeneratedTargets();
  std::vector<int64_t> different(targets.size());
  // All targets for a block of scalar results, which cost the most.
  constexpr int64_t kBlock = int64_t{1} << 20;
  std::vector<float> x(kBlock);
  std::vector<float> expected(kBlock);
  std::vector<float> y(kBlock);
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    const size_t n = static_cast<size_t>(std::min(kBlock, count - begin));
    pool.ParallelFor(static_cast<int64_t>(n), 4096, [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; ++i) {
        const size_t at = static_cast<size_t>(i);
        x[at] = FloatFromBits(static_cast<uint32_t>((begin + i) * step));
        expected[at] = function.scalar(x[at]);
      }
    });
    for (size_t t = 0; t < targets.size(); ++t) {
      hwy::SetSupportedTargetsForTest(targets[t]);
      function.batch(std::span<const float>(x.data(), n), std::span<float>(y.data(), n));
      for (size_t i = 0; i < n; ++i) {
        different[t] += FloatBits(y[i]) != FloatBits(expected[i]) ? 1 : 0;
      }
    }
  }
  hwy::SetSupportedTargetsForTest(0);
  for (size_t t = 0; t < targets.size(); ++t) {
    std::printf("%-6s %12lld inputs  %-8s different %lld\n", function.name,
                static_cast<long long>(count), hwy::TargetName(targets[t]),
                static_cast<long long>(different[t]));
    good = good && different[t] == 0;
  }
  std::fflush(stdout);
  return good;
}

int Main(int argc, char** argv) {
  int threads = 1;
  int64_t step = 1;
  bool batch = false;
  std::vector<std::string> names;
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "--threads=", 10) == 0) {
      threads = std::atoi(argv[i] + 10);
    } else if (std::strncmp(argv[i], "--step=", 7) == 0) {
      step = std::atoll(argv[i] + 7);
    } else if (std::strcmp(argv[i], "--batch") == 0) {
      batch = true;
    } else if (argv[i][0] == '-') {
      std::fprintf(stderr,
                   "unknown flag %s\nusage: elementary_exhaustive [--threads=N] [--step=N] "
                   "[--batch] [FUNCTION...]\n",
                   argv[i]);
      return 2;
    } else {
      names.emplace_back(argv[i]);
    }
  }
  if (threads < 1 || step < 1) {
    std::fprintf(stderr, "--threads and --step must be at least 1\n");
    return 2;
  }
  ThreadPool pool(threads);
  bool good = true;
  int ran = 0;
  const auto wanted = [&](const char* name) {
    return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
  };
  for (const Function& function : kFunctions) {
    if (batch || !wanted(function.name)) continue;
    good = Run(function, step, pool) && good;
    ++ran;
  }
  for (const BatchFunction& function : kBatchFunctions) {
    if (!batch || !wanted(function.name)) continue;
    good = RunBatch(function, step, pool) && good;
    ++ran;
  }
  if (ran == 0) {
    std::fprintf(stderr,
                 "no such function; there are exp expm1 log log1p sin cos sinpi cospi tanh "
                 "erf\n");
    return 2;
  }
  return good ? 0 : 1;
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) { return assay::Main(argc, argv); }
