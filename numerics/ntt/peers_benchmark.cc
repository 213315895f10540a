// SPDX-License-Identifier: Apache-2.0
//
// Products against FLINT, NTL and GMP, by turns in one process, every product compared before it is
// timed. Times are processor time of the calling thread, but for two threads wall time.
//
//   peers_benchmark [modular|exact|integers|threads|transform]...   all of them without arguments
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include <gmp.h>

#ifdef ASSAY_HAVE_FLINT
#include <flint/fmpz_poly.h>
#include <flint/nmod_poly.h>
#endif
#ifdef ASSAY_HAVE_NTL
#include <NTL/lzz_pX.h>
#endif

#include "numerics/core/check.h"
#include "numerics/core/random.h"
#include "numerics/core/thread_pool.h"
#include "numerics/ntt/big_product.h"
#include "numerics/ntt/exact_product.h"
#include "numerics/ntt/ntt.h"
#include "numerics/ntt/polynomial.h"

namespace assay::ntt {
namespace {

double ThreadNanoseconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e9 * static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec);
}

double WallNanoseconds() {
  return static_cast<double>(std::chrono::steady_clock::now().time_since_epoch().count());
}

struct Contender {
  std::string name;
  std::function<void()> run;
};

// The median time of each, in rounds that run all of them in turn.
std::vector<double> Race(const std::vector<Contender>& contenders, double (*clock)()) {
  constexpr double kRound = 4e6;
  constexpr int kRounds = 15;
  std::vector<int> repeats;
  for (const Contender& c : contenders) {
    int n = 1;
    for (;; n *= 2) {
      const double start = clock();
      for (int i = 0; i < n; ++i) c.run();
      if (clock() - start > kRound / 2 || n > (1 << 20)) break;
    }
    repeats.push_back(n);
  }
  std::vector<std::vector<double>> times(contenders.size());
  for (int round = 0; round < kRounds; ++round) {
    for (size_t i = 0; i < contenders.size(); ++i) {
      const double start = clock();
      for (int k = 0; k < repeats[i]; ++k) contenders[i].run();
      times[i].push_back((clock() - start) / repeats[i]);
    }
  }
  std::vector<double> medians;
  for (std::vector<double>& t : times) {
    std::nth_element(t.begin(), t.begin() + t.size() / 2, t.end());
    medians.push_back(t[t.size() / 2]);
  }
  return medians;
}

// One line: ours first, then each peer's time and how many times slower it is.
void Report(const std::string& what, double points, const std::vector<Contender>& contenders,
            double (*clock)() = ThreadNanoseconds) {
  const std::vector<double> ns = Race(contenders, clock);
  std::printf("%-34s", what.c_str());
  for (size_t i = 0; i < ns.size(); ++i) {
    std::printf("  %s %.4g us", contenders[i].name.c_str(), ns[i] / 1e3);
    if (i == 0) std::printf(" (%.2f ns/coefficient)", ns[i] / points);
    if (i > 0) std::printf(" (%.2fx)", ns[i] / ns[0]);
  }
  std::printf("\n");
  std::fflush(stdout);
}

std::vector<uint64_t> RandomWords(int64_t n, uint64_t m, uint64_t seed) {
  Random random(seed);
  std::vector<uint64_t> x;
  for (int64_t i = 0; i < n; ++i) x.push_back(random.Next64() % m);
  return x;
}

#ifdef ASSAY_HAVE_FLINT
struct FlintModular {
  nmod_poly_t a, b, c;
  FlintModular(const std::vector<uint64_t>& x, const std::vector<uint64_t>& y, uint64_t m) {
    nmod_poly_init(a, m);
    nmod_poly_init(b, m);
    nmod_poly_init(c, m);
    for (size_t i = 0; i < x.size(); ++i) nmod_poly_set_coeff_ui(a, i, x[i]);
    for (size_t i = 0; i < y.size(); ++i) nmod_poly_set_coeff_ui(b, i, y[i]);
  }
  ~FlintModular() {
    nmod_poly_clear(a);
    nmod_poly_clear(b);
    nmod_poly_clear(c);
  }
};
#endif

void Modular(uint64_t m, int64_t n) {
  const std::vector<uint64_t> a = RandomWords(n, m, 1), b = RandomWords(n, m, 2);
  std::vector<uint64_t> c(2 * n - 1);
  const Multiplier multiplier = *Multiplier::Create(m, 2 * n - 1);
  std::vector<Contender> contenders = {
      {"ours", [&] { ASSAY_CHECK(multiplier.Multiply(a, b, c).ok()); }}};
  contenders[0].run();
#ifdef ASSAY_HAVE_FLINT
  FlintModular flint(a, b, m);
  contenders.push_back({"FLINT", [&] { nmod_poly_mul(flint.c, flint.a, flint.b); }});
  contenders.back().run();
  for (size_t k = 0; k < c.size(); ++k) ASSAY_CHECK(nmod_poly_get_coeff_ui(flint.c, k) == c[k]);
#endif
#ifdef ASSAY_HAVE_NTL
  NTL::zz_pX x, y, z;
  if (m < uint64_t{1} << NTL_SP_NBITS) {
    // The transform modulo m itself where NTL has one: its fastest way.
    if (multiplier.transforms_modulo_itself()) {
      NTL::zz_p::UserFFTInit(static_cast<long>(m));
    } else {
      NTL::zz_p::init(static_cast<long>(m));
    }
    for (int64_t i = 0; i < n; ++i) {
      NTL::SetCoeff(x, i, static_cast<long>(a[i]));
      NTL::SetCoeff(y, i, static_cast<long>(b[i]));
    }
    contenders.push_back({"NTL", [&] { NTL::mul(z, x, y); }});
    contenders.back().run();
    for (size_t k = 0; k < c.size(); ++k) {
      ASSAY_CHECK(static_cast<uint64_t>(NTL::rep(NTL::coeff(z, static_cast<long>(k)))) == c[k]);
    }
  }
#endif
  Report("mod " + std::to_string(m) + ", " + std::to_string(n) + " x " + std::to_string(n),
         static_cast<double>(2 * n - 1), contenders);
}

// Coefficients of `bits` bits and a sign: all routes of ours, and FLINT.
void Exact(int bits, int64_t n) {
  std::vector<int64_t> a, b;
  Random random(7);
  for (int64_t i = 0; i < 2 * n; ++i) {
    const uint64_t word = random.Next64();
    const int64_t size = static_cast<int64_t>(word & ((uint64_t{1} << bits) - 1));
    (i < n ? a : b).push_back(word >> 63 ? -size : size);
  }
  const absl::StatusOr<IntegerProduct> own = MultiplyExact(a, b);
  if (!own.ok()) return;  // does not fit 64 bits
  const IntegerProduct& expected = *own;
  constexpr const char* kNames[] = {"schoolbook", "FFT", "NTT"};
  std::vector<Contender> contenders = {
      {std::string("ours=") + kNames[static_cast<int>(expected.route)],
       [&] { ASSAY_CHECK(MultiplyExact(a, b).ok()); }}};
  ExactOptions by[3];
  for (ExactRoute route : {ExactRoute::kSchoolbook, ExactRoute::kFft, ExactRoute::kNtt}) {
    if (route == ExactRoute::kSchoolbook && n > 1024) continue;
    ExactOptions& options = by[static_cast<int>(route)];
    options.route = route;
    const absl::StatusOr<IntegerProduct> product = MultiplyExact(a, b, options);
    if (!product.ok()) continue;
    ASSAY_CHECK(product->coefficients == expected.coefficients);
    const int pieces = route == ExactRoute::kFft ? product->parts : product->primes;
    contenders.push_back(
        {kNames[static_cast<int>(route)] + std::string("/") + std::to_string(pieces),
         [&a, &b, &options] { ASSAY_CHECK(MultiplyExact(a, b, options).ok()); }});
  }
#ifdef ASSAY_HAVE_FLINT
  fmpz_poly_t x, y, z;
  fmpz_poly_init(x);
  fmpz_poly_init(y);
  fmpz_poly_init(z);
  for (int64_t i = 0; i < n; ++i) {
    fmpz_poly_set_coeff_si(x, i, a[i]);
    fmpz_poly_set_coeff_si(y, i, b[i]);
  }
  contenders.push_back({"FLINT", [&] { fmpz_poly_mul(z, x, y); }});
  contenders.back().run();
  for (size_t k = 0; k < expected.coefficients.size(); ++k) {
    ASSAY_CHECK(fmpz_poly_get_coeff_si(z, static_cast<slong>(k)) == expected.coefficients[k]);
  }
#endif
  Report("exact, " + std::to_string(bits) + " bits, " + std::to_string(n),
         static_cast<double>(2 * n - 1), contenders);
#ifdef ASSAY_HAVE_FLINT
  fmpz_poly_clear(x);
  fmpz_poly_clear(y);
  fmpz_poly_clear(z);
#endif
}

void Integers(int64_t limbs) {
  const Natural a = RandomWords(limbs, ~uint64_t{0}, 3), b = RandomWords(limbs, ~uint64_t{0}, 4);
  Natural c(2 * limbs);
  const auto words = [](const Natural& x) { return reinterpret_cast<const mp_limb_t*>(x.data()); };
  const Contender gmp = {
      "GMP",
      [&] { mpn_mul(reinterpret_cast<mp_limb_t*>(c.data()), words(a), limbs, words(b), limbs); }};
  gmp.run();
  Natural ours = *Multiply(a, b);
  ours.resize(2 * limbs);
  ASSAY_CHECK(ours == c);
  Report("integers of " + std::to_string(limbs) + " limbs", static_cast<double>(2 * limbs),
         {{"ours", [&] { ASSAY_CHECK(Multiply(a, b).ok()); }}, gmp});
}

void Decimals(int64_t limbs) {
  const Natural a = RandomWords(limbs, ~uint64_t{0}, 3);
  mpz_t z;
  mpz_init(z);
  mpz_import(z, a.size(), -1, sizeof(uint64_t), 0, 0, a.data());
  const std::string digits = *ToDecimal(a);
  std::string theirs(digits.size() + 2, '0');
  mpz_get_str(theirs.data(), 10, z);
  ASSAY_CHECK(digits == theirs.c_str());
  Report("to decimal, " + std::to_string(limbs) + " limbs", static_cast<double>(limbs),
         {{"ours", [&] { ASSAY_CHECK(ToDecimal(a).ok()); }},
          {"GMP", [&] { mpz_get_str(theirs.data(), 10, z); }}});
  Report("from decimal, " + std::to_string(limbs) + " limbs", static_cast<double>(limbs),
         {{"ours", [&] { ASSAY_CHECK(FromDecimal(digits).ok()); }},
          {"GMP", [&] { mpz_set_str(z, digits.c_str(), 10); }}});
  mpz_clear(z);
}

void Transforms() {
  for (int log = 8; log <= 22; log += 2) {
    const int64_t n = int64_t{1} << log;
    const Plan plan = *Plan::Create(998244353, n);
    std::vector<uint32_t> x(n, 5);
    Report("transform of 2^" + std::to_string(log), static_cast<double>(n),
           {{"forward", [&] { ASSAY_CHECK(plan.Forward(x, x).ok()); }},
            {"inverse", [&] { ASSAY_CHECK(plan.Inverse(x, x).ok()); }},
            {"plan", [&] { ASSAY_CHECK(Plan::Create(998244353, n).ok()); }}});
  }
}

void Threads() {
  ThreadPool pool(2);
  for (int log : {14, 17, 19}) {
    const int64_t n = int64_t{1} << log;
    const std::vector<uint64_t> a = RandomWords(n, 998244353, 1), b = RandomWords(n, 998244353, 2);
    std::vector<uint64_t> c(2 * n - 1);
    const Multiplier multiplier = *Multiplier::Create(998244353, 2 * n - 1);
    Report("threads, 2^" + std::to_string(log) + " squared", static_cast<double>(2 * n - 1),
           {{"two", [&] { ASSAY_CHECK(multiplier.Multiply(a, b, c, &pool).ok()); }},
            {"one", [&] { ASSAY_CHECK(multiplier.Multiply(a, b, c).ok()); }}},
           WallNanoseconds);
  }
}

int Main(int argc, char** argv) {
  const auto wanted = [&](const char* part) {
    for (int i = 1; i < argc; ++i) {
      if (std::strcmp(argv[i], part) == 0) return true;
    }
    return argc == 1;
  };
#ifndef ASSAY_HAVE_FLINT
  std::printf("FLINT is not installed: tools/setup --peers installs it\n");
#endif
#ifndef ASSAY_HAVE_NTL
  std::printf("NTL is not installed: tools/setup --peers installs it\n");
#endif
  if (wanted("transform")) Transforms();
  if (wanted("modular")) {
    for (int log : {4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 17, 18, 19, 20}) {
      Modular(998244353, int64_t{1} << log);
    }
    Modular(998244353, (1 << 18) + 1);
    for (uint64_t m : {uint64_t{1000000007}, uint64_t{1} << 59}) {
      for (int log : {5, 6, 8, 12, 16, 19}) Modular(m, int64_t{1} << log);
    }
  }
  if (wanted("exact")) {
    for (int bits : {8, 20, 27}) {
      for (int log : {4, 5, 6, 7, 8, 10, 12, 16, 18}) Exact(bits, int64_t{1} << log);
    }
  }
  if (wanted("integers")) {
    for (int limbs :
         {8, 16, 24, 32, 64, 100, 128, 160, 200, 256, 512, 1024, 4096, 1 << 14, 1 << 16, 1 << 18}) {
      Integers(limbs);
    }
    for (int limbs : {64, 256, 1024, 8192, 65536}) Decimals(limbs);
  }
  if (wanted("threads")) Threads();
  return 0;
}

}  // namespace
}  // namespace assay::ntt

int main(int argc, char** argv) { return assay::ntt::Main(argc, argv); }
