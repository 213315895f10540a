// SPDX-License-Identifier: Apache-2.0
#include "web/articles/numerical-pitfalls/calculator.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "numerics/core/check.h"
#include "numerics/core/elementary.h"
#include "numerics/floating/anatomy.h"
#include "numerics/floating/big_float.h"
#include "numerics/floating/big_integer.h"
#include "numerics/floating/error_free.h"
#include "numerics/floating/exact_accumulator.h"
#include "numerics/floating/half.h"
#include "numerics/floating/softmax_reference.h"
#include "numerics/floating/sum.h"
#include "numerics/floating/sum_reference.h"
#include "web/articles/numerical-pitfalls/answer.h"
#include "web/articles/numerical-pitfalls/pattern.h"

namespace assay::numerical_pitfalls {
namespace {

using floating::BFloat16;
using floating::BigFloat;
using floating::BigInteger;
using floating::Format;
using floating::Half;
using floating::kFormats;
using floating::Rational;

constexpr floating::Precision kReference{320};

// The fraction to 320 bits.
BigFloat Nearest(const Rational& x) {
  return Divide(BigFloat::Scaled(x.IsNegative(), x.numerator(), 0),
                BigFloat::Scaled(false, x.denominator(), 0), kReference);
}

// ------------------------------------------------------------------ lists

// The numbers of a list, "300 x 0.1" written out. Empty on failure, with the reason in *error.
std::vector<Rational> ReadList(std::string_view text, int most, std::string* error) {
  std::vector<std::string_view> words;
  size_t at = 0;
  while (at < text.size()) {
    if (text[at] == ',' || text[at] == ' ' || text[at] == ';' || text[at] == '\t') {
      ++at;
      continue;
    }
    const size_t begin = at;
    while (at < text.size() && text[at] != ',' && text[at] != ' ' && text[at] != ';' &&
           text[at] != '\t') {
      ++at;
    }
    words.push_back(text.substr(begin, at - begin));
  }
  std::vector<Rational> numbers;
  for (size_t i = 0; i < words.size(); ++i) {
    int64_t times = 1;
    std::string_view word = words[i];
    if (i + 2 < words.size() && words[i + 1] == "x") {
      const std::optional<Rational> count = floating::ParseRational(word);
      const double c = count ? count->ToDouble() : -1;
      if (!(c >= 1 && c <= most && c == std::floor(c))) {
        *error = "a repetition goes from 1 to " + std::to_string(most) + ", not \"" +
                 std::string(word) + "\"";
        return {};
      }
      times = static_cast<int64_t>(c);
      i += 2;
      word = words[i];
    }
    const std::optional<Rational> value = floating::ParseRational(word);
    if (!value) {
      *error = "\"" + std::string(word) + "\" is not a number";
      return {};
    }
    if (static_cast<int64_t>(numbers.size()) + times > most) {
      *error = "at most " + std::to_string(most) + " numbers";
      return {};
    }
    numbers.insert(numbers.end(), static_cast<size_t>(times), *value);
  }
  if (numbers.empty()) *error = "no number there yet";
  return numbers;
}

template <class T>
std::vector<T> Store(Format format, const std::vector<Rational>& numbers) {
  std::vector<T> stored;
  for (const Rational& number : numbers) {
    stored.push_back(FromPattern<T>(floating::RoundTo(format, number)));
  }
  return stored;
}

// The five sums of one format, in the order of kSumNames.
constexpr std::array<const char*, 5> kSumNames = {"naive", "pairwise", "kahan", "neumaier",
                                                  "exact"};

template <class T>
std::array<uint64_t, 5> Sums(Format format, const std::vector<Rational>& numbers) {
  const std::vector<T> x = Store<T>(format, numbers);
  const std::span<const T> view(x);
  std::vector<double> wide;
  for (const T value : x) wide.push_back(static_cast<double>(value));
  floating::ExactAccumulator accumulator;
  accumulator.Add(std::span<const double>(wide));
  // Rounded once: through the double word, whose low part breaks ties.
  const floating::HiLo<double> sum = accumulator.RoundToDoubleWord();
  uint64_t exact = floating::RoundTo(format, sum.hi);
  if (sum.hi - sum.hi == 0) {
    exact = floating::RoundTo(format, Rational(sum.hi) + Rational(sum.lo));
  }
  return {Pattern(floating::reference::NaiveSum(view)),
          Pattern(floating::reference::PairwiseSum(view)),
          Pattern(floating::reference::KahanSum(view)),
          Pattern(floating::reference::NeumaierSum(view)), exact};
}

// ------------------------------------------------------------------ softmax

struct Shares {
  std::vector<std::string> shares;
  std::string loss;
  bool bad = false;
};

std::string JsonOf(const Shares& s) {
  std::string json = "{\"shares\":[";
  for (size_t i = 0; i < s.shares.size(); ++i) {
    json += (i > 0 ? "," : "") + Quoted(s.shares[i]);
  }
  return json + "],\"loss\":" + Quoted(s.loss) + ",\"bad\":" + (s.bad ? "true" : "false") + "}";
}

template <class T>
std::string FormatShares(Format format, const std::vector<Rational>& logits) {
  const std::vector<T> z = Store<T>(format, logits);
  const auto brief = [](T x) { return Brief(static_cast<double>(x), 4); };
  const auto bad = [](T x) {
    const double value = static_cast<double>(x);
    return value - value != 0;
  };
  Shares naive;
  std::vector<T> p(z.size());
  floating::reference::NaiveSoftmax(std::span<const T>(z), std::span<T>(p));
  const T naive_loss = floating::reference::NaiveCrossEntropy(std::span<const T>(p), 0);
  for (const T share : p) {
    naive.shares.push_back(brief(share));
    naive.bad = naive.bad || bad(share);
  }
  naive.loss = brief(naive_loss);
  naive.bad = naive.bad || bad(naive_loss);
  // As frameworks do it: logits stored in the format, the row computed in f32 (or f64), rounded
  // back. The library's Softmax does the same in vectors and with absl::Status, and would be a
  // third of this module.
  using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;
  Wide max = static_cast<Wide>(z[0]);
  for (const T value : z) max = std::max(max, static_cast<Wide>(value));
  std::vector<Wide> powers;
  Wide rest = 0;  // of all terms but one largest, which is 1
  bool skipped = false;
  for (const T value : z) {
    const Wide x = static_cast<Wide>(value);
    powers.push_back(Exp(x - max));
    const bool largest = !skipped && x == max;
    skipped = skipped || largest;
    if (!largest) rest += powers.back();
  }
  Shares stable;
  for (const Wide power : powers) {
    const T share = T(power / (1 + rest));
    stable.shares.push_back(brief(share));
    stable.bad = stable.bad || bad(share);
  }
  const T loss = T(Log1p(rest) - (static_cast<Wide>(z[0]) - max));
  stable.loss = brief(loss);
  stable.bad = stable.bad || bad(loss);
  return "{\"name\":\"" + std::string(floating::Info(format).name) +
         "\",\"naive\":" + JsonOf(naive) + ",\"stable\":" + JsonOf(stable) + "}";
}

}  // namespace

std::string AnalyseSum(std::string_view text) {
  if (text.size() > kMaxText) {
    return ErrorDocument("the text has more than " + std::to_string(kMaxText) + " characters");
  }
  std::string error;
  const std::vector<Rational> numbers = ReadList(text, kMaxTerms, &error);
  if (numbers.empty()) return ErrorDocument(error);
  // Over one power of ten that every denominator divides, so that nothing grows and nothing is cut.
  // A denominator is 10^k without some of its factors of two, so at least 5^k > 2^(2k).
  int width = 0;
  for (const Rational& number : numbers) width = std::max(width, number.denominator().BitWidth());
  const BigInteger denominator = BigInteger::PowerOfTen(width / 2);
  Rational whole;  // sums of numerators
  Rational whole_absolute;
  for (size_t i = 0; i < numbers.size();) {
    // Runs of equal numbers come from repetitions: one multiplication each.
    size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[i]) ++end;
    BigInteger rest;
    const BigInteger scale = Divide(denominator, numbers[i].denominator(), &rest);
    ASSAY_CHECK(rest.IsZero());
    const BigInteger part =
        numbers[i].numerator() * scale * BigInteger(static_cast<uint64_t>(end - i));
    whole = whole + Rational(numbers[i].IsNegative(), part, BigInteger(1));
    whole_absolute = whole_absolute + Rational(false, part, BigInteger(1));
    i = end;
  }
  const Rational sum(whole.IsNegative(), whole.numerator(), denominator);
  const Rational absolute(false, whole_absolute.numerator(), denominator);
  std::string condition = "1";
  if (!absolute.IsZero()) {
    condition = sum.IsZero()
                    ? "inf"
                    : Factor(Divide(Nearest(absolute), Nearest(sum).Abs(), kReference).ToDouble());
  }
  const BigFloat exact = Nearest(sum);
  const std::array<std::array<uint64_t, 5>, 4> sums = {
      Sums<Half>(Format::kF16, numbers), Sums<BFloat16>(Format::kBF16, numbers),
      Sums<float>(Format::kF32, numbers), Sums<double>(Format::kF64, numbers)};
  std::string json = "{\"mode\":\"sum\",\"terms\":" + std::to_string(numbers.size()) +
                     ",\"exact\":" + ExactOf(exact) + ",\"condition\":" + Quoted(condition) +
                     ",\"methods\":[";
  for (size_t m = 0; m < kSumNames.size(); ++m) {
    json += (m > 0 ? "," : "") + std::string("{\"name\":\"") + kSumNames[m] + "\",\"values\":[";
    for (size_t f = 0; f < kFormats.size(); ++f) {
      json += (f > 0 ? "," : "") + ValueOf(kFormats[f], sums[f][m], exact);
    }
    json += "]}";
  }
  return json + "]}";
}

std::string AnalyseSoftmax(std::string_view text) {
  if (text.size() > kMaxText) {
    return ErrorDocument("the text has more than " + std::to_string(kMaxText) + " characters");
  }
  std::string error;
  const std::vector<Rational> logits = ReadList(text, kMaxLogits, &error);
  if (logits.empty()) return ErrorDocument(error);
  Rational max = logits[0];
  for (const Rational& z : logits) max = z > max ? z : max;
  // The largest term is 1 exactly; the rest may be far below the last bit of their sum with it.
  std::vector<BigFloat> powers;
  BigFloat rest;
  bool skipped = false;
  for (const Rational& z : logits) {
    powers.push_back(Exp(Nearest(z - max), kReference));
    const bool largest = !skipped && z == max;
    skipped = skipped || largest;
    if (!largest) rest = Add(rest, powers.back(), kReference);
  }
  const BigFloat sum = Add(rest, BigFloat(1.0), kReference);
  std::string json = "{\"mode\":\"softmax\",\"logits\":[";
  for (size_t i = 0; i < logits.size(); ++i) {
    json += (i > 0 ? "," : "") + Quoted(TextOf(Nearest(logits[i])));
  }
  Shares exact;
  for (const BigFloat& power : powers) {
    exact.shares.push_back(Brief(Divide(power, sum, kReference), 4));
  }
  exact.loss = Brief(Subtract(Log1p(rest, kReference), Nearest(logits[0] - max), kReference), 4);
  return json + "],\"exact\":" + JsonOf(exact) + ",\"formats\":[" +
         FormatShares<Half>(Format::kF16, logits) + "," +
         FormatShares<BFloat16>(Format::kBF16, logits) + "," +
         FormatShares<float>(Format::kF32, logits) + "," +
         FormatShares<double>(Format::kF64, logits) + "]}";
}

}  // namespace assay::numerical_pitfalls
