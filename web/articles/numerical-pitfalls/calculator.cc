// SPDX-License-Identifier: Apache-2.0
#include "web/articles/numerical-pitfalls/calculator.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "numerics/core/bits.h"
#include "numerics/core/check.h"
#include "numerics/core/elementary.h"
#include "numerics/floating/anatomy.h"
#include "numerics/floating/big_integer.h"
#include "numerics/floating/error_free.h"
#include "numerics/floating/exact_accumulator.h"
#include "numerics/floating/half.h"
#include "numerics/floating/softmax.h"
#include "numerics/floating/softmax_reference.h"
#include "numerics/floating/sum.h"
#include "numerics/floating/sum_reference.h"

namespace assay::numerical_pitfalls {
namespace {

using floating::BFloat16;
using floating::BigInteger;
using floating::Format;
using floating::Half;
using floating::kFormats;
using floating::NumberClass;
using floating::Rational;

// ------------------------------------------------------------------ JSON

std::string Quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      constexpr char kHex[] = "0123456789abcdef";
      result += "\\u00";
      result += kHex[static_cast<unsigned char>(c) >> 4];
      result += kHex[static_cast<unsigned char>(c) & 15];
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string Error(std::string_view words) { return "{\"error\":" + Quoted(words) + "}"; }

// A double in `digits` significant digits, as plainly as they allow; "inf", "nan".
std::string Brief(double x, int digits) {
  if (x != x) return "nan";
  if (x - x != 0) return x > 0 ? "inf" : "-inf";
  // The shortest text of the rounded number, so that trailing zeros go.
  const std::optional<uint64_t> rounded =
      floating::ParseDecimal(Format::kF64, Rational(x).ToScientific(digits));
  return floating::ShortestDecimal(Format::kF64, rounded.value_or(0));
}

// The same beyond the range of f64 and its subnormals, where a double has lost digits or is 0.
std::string Brief(const Rational& x, int digits) {
  const double value = x.ToDouble();
  const double size = value < 0 ? -value : value;
  return x.IsZero() || size >= 0x1p-1022 ? Brief(value, digits) : x.ToScientific(digits);
}

// A factor: "1", "250", "2e8".
std::string Factor(double x) {
  if (x != x || x - x != 0 || x < 1e5) return Brief(x, 2);
  std::string text = Rational(x).ToScientific(2);  // "2.0e8"
  if (text.substr(1, 3) == ".0e") text.erase(1, 2);
  return text;
}

// ------------------------------------------------------------------ exact answers

constexpr int kReferenceBits = 320;
// Room for 1e1200 + 1e-1200 - 1e1200, the widest numbers that are read.
constexpr int kMostBits = 16384;

// An exact answer, or what stands in its place.
struct Exact {
  enum class Kind { kNumber, kPlusInfinity, kMinusInfinity, kNaN };
  Kind kind = Kind::kNumber;
  Rational value;
  bool complete = true;  // false: cut off after kReferenceBits

  static Exact Number(Rational value, bool complete = true) {
    Exact exact;
    exact.complete = complete;
    if (value.BitSize() > kMostBits) {
      exact.value = value.CutTo(kReferenceBits);
      exact.complete = false;
    } else {
      exact.value = std::move(value);
    }
    return exact;
  }
  static Exact Special(Kind kind) {
    Exact exact;
    exact.kind = kind;
    return exact;
  }
  bool IsNumber() const { return kind == Kind::kNumber; }
};

// e^x for |x| <= 4000, to about kReferenceBits bits: fixed point, x halved until small, Taylor,
// squared.
Rational ExpOf(const Rational& x) {
  constexpr int kPoint = 512;
  const Rational magnitude = x.Abs();
  BigInteger rest;
  const BigInteger scaled = Divide(magnitude.numerator() << kPoint, magnitude.denominator(), &rest);
  const int halvings = std::max(0, scaled.BitWidth() - kPoint + 8);
  const BigInteger r = scaled >> halvings;
  BigInteger sum = BigInteger(1) << kPoint;
  BigInteger term = sum;
  for (uint32_t n = 1; !term.IsZero(); ++n) {
    term = (term * r) >> kPoint;
    term.DivideBy(n);
    sum = sum + term;
  }
  for (int i = 0; i < halvings; ++i) sum = (sum * sum) >> kPoint;
  const Rational result(false, sum, BigInteger(1) << kPoint);
  return (x.IsNegative() ? Rational(1.0) / result : result).CutTo(kReferenceBits);
}

// 2 atanh(z) for |z| < 2^-8, to about kReferenceBits bits of the answer, by its series.
Rational TwiceAtanh(const Rational& z) {
  constexpr int kBits = kReferenceBits + 64;
  const Rational square = (z * z).CutTo(kBits);
  Rational power = z.CutTo(kBits);
  Rational sum = power;
  for (int n = 3; !power.IsZero(); n += 2) {
    power = (power * square).CutTo(kBits);
    const Rational term = (power / Rational(static_cast<double>(n))).CutTo(kBits);
    if (term.Abs() < sum.Abs() * Rational(0x1p-340)) break;
    sum = (sum + term).CutTo(kBits);
  }
  return (sum + sum).CutTo(kReferenceBits);
}

// log(x) for x > 0, to about kReferenceBits bits of the answer, less eight for x beyond 2^-8
// from 1. Near 1 the logarithm is small beside the exponential's last bit, so a series takes over
// there. Elsewhere: Halley's iteration on the exponential, which triples the digits each time.
Rational LogOf(const Rational& x) {
  const Rational one(1.0);
  const Rational distance = x - one;
  if (distance.IsZero()) return Rational();
  if (distance.Abs() < Rational(0x1p-8)) return TwiceAtanh(distance / (x + one));
  const Rational::Leading leading = x.LeadingBits();
  constexpr double kLn2 = 0.69314718055994530942;
  Rational y(assay::Log(static_cast<double>(leading.significand >> 11) * 0x1p-52) +
             (leading.exponent + 63) * kLn2);
  for (int i = 0; i < 3; ++i) {
    const Rational e = ExpOf(y);
    y = (y + Rational(2.0) * (x - e) / (x + e)).CutTo(kReferenceBits);
  }
  return y;
}

// sqrt(x) for x >= 0, digit by digit in binary.
Rational SqrtOf(const Rational& x, bool* complete) {
  if (x.IsZero()) return x;
  // n = floor(x 4^shift) with at least 2 kReferenceBits bits; sqrt(x) = sqrt(n) / 2^shift.
  const int width = x.numerator().BitWidth() - x.denominator().BitWidth();
  const int shift = std::max(0, kReferenceBits + 1 - width / 2);
  BigInteger rest;
  const BigInteger n = Divide(x.numerator() << (2 * shift), x.denominator(), &rest);
  const bool whole = rest.IsZero();
  BigInteger root;
  rest = n;
  for (int bit = (n.BitWidth() + 1) / 2; bit >= 0; --bit) {
    const BigInteger trial = (root << (bit + 1)) + (BigInteger(1) << (2 * bit));
    if (rest >= trial) {
      rest = rest - trial;
      root = root + (BigInteger(1) << bit);
    }
  }
  *complete = whole && rest.IsZero();
  return Rational(false, root, BigInteger(1) << shift);
}

// "0.3", "1.0000000000000000000001e30": up to 24 digits, trailing zeros gone.
std::string TextOf(const Exact& exact) {
  switch (exact.kind) {
    case Exact::Kind::kPlusInfinity:
      return "inf";
    case Exact::Kind::kMinusInfinity:
      return "-inf";
    case Exact::Kind::kNaN:
      return "nan";
    case Exact::Kind::kNumber:
      break;
  }
  constexpr int kDigits = 24;
  if (exact.value.IsZero()) return "0";
  const std::string text = exact.value.ToScientific(kDigits);
  const size_t e = text.find('e');
  const bool negative = text[0] == '-';
  std::string digits;
  for (const char c : text.substr(0, e)) {
    if (c >= '0' && c <= '9') digits += c;
  }
  while (digits.size() > 1 && digits.back() == '0') digits.pop_back();
  int exponent = 0;
  const bool minus = text[e + 1] == '-';
  for (size_t i = e + (minus ? 2 : 1); i < text.size(); ++i) {
    exponent = exponent * 10 + (text[i] - '0');
  }
  if (minus) exponent = -exponent;
  std::string result = negative ? "-" : "";
  const int count = static_cast<int>(digits.size());
  if (exponent < -7 || exponent >= kDigits) {
    result += digits.substr(0, 1);
    if (count > 1) result += "." + digits.substr(1);
    return result + "e" + std::to_string(exponent);
  }
  if (exponent < 0)
    return result + "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + digits;
  if (count <= exponent + 1) {
    return result + digits + std::string(static_cast<size_t>(exponent + 1 - count), '0');
  }
  const size_t whole = static_cast<size_t>(exponent) + 1;
  return result + digits.substr(0, whole) + "." + digits.substr(whole);
}

std::string JsonOf(const Exact& exact) {
  const std::string text = TextOf(exact);
  bool complete = exact.complete;
  if (exact.IsNumber()) {
    const std::optional<Rational> back = floating::ParseRational(text);
    complete = complete && back && *back == exact.value;
  }
  return "{\"text\":" + Quoted(text) + ",\"complete\":" + (complete ? "true" : "false") + "}";
}

// ------------------------------------------------------------------ values in a format

const char* ClassName(NumberClass c) {
  switch (c) {
    case NumberClass::kZero:
      return "zero";
    case NumberClass::kSubnormal:
      return "subnormal";
    case NumberClass::kNormal:
      return "normal";
    case NumberClass::kInfinity:
      return "infinity";
    case NumberClass::kNaN:
      break;
  }
  return "nan";
}

bool IsFinite(Format format, uint64_t bits) {
  const double x = floating::ToDouble(format, bits);
  return x - x == 0;
}

// How many leading decimal digits a relative error leaves; -1 for all.
int KeptDigits(const Rational& error) {
  if (error.IsZero()) return -1;
  Rational bound(1.0);
  const Rational tenth(false, BigInteger(1), BigInteger(10));
  int kept = 0;
  bound = bound * tenth;
  while (kept < 60 && error.Abs() < bound) {
    ++kept;
    bound = bound * tenth;
  }
  return kept;
}

std::string JsonOf(Format format, uint64_t bits, const Exact& exact) {
  const floating::Anatomy anatomy = floating::Dissect(format, bits);
  std::string json = "{\"bits\":\"" + floating::BitString(format, bits) + "\",\"kind\":\"" +
                     ClassName(anatomy.number_class) +
                     "\",\"negative\":" + (anatomy.negative ? "true" : "false") + ",\"short\":\"" +
                     floating::ShortestDecimal(format, bits) + "\"";
  if (!IsFinite(format, bits)) {
    // Right if the exact answer is as infinite (or as undefined).
    const bool same =
        (anatomy.number_class == NumberClass::kNaN && exact.kind == Exact::Kind::kNaN) ||
        (anatomy.number_class == NumberClass::kInfinity &&
         exact.kind ==
             (anatomy.negative ? Exact::Kind::kMinusInfinity : Exact::Kind::kPlusInfinity));
    return json + ",\"digits\":\"\",\"exponent\":0,\"more\":0,\"kept\":" + (same ? "-1" : "0") +
           ",\"error\":\"" + (same ? "0" : "inf") + "\",\"gap\":\"\"}";
  }
  // The stored value's digits, without leading and trailing zeros, and the exponent of the first.
  const std::string decimal = floating::ExactDecimal(format, bits);
  std::string digits;
  int exponent = 0;
  bool point = false;
  for (const char c : decimal) {
    if (c == '.') {
      point = true;
    } else if (c >= '0' && c <= '9') {
      if (digits.empty() && c == '0') {
        if (point) --exponent;
        continue;
      }
      if (!point && !digits.empty()) ++exponent;
      if (point && digits.empty()) --exponent;
      digits += c;
    }
  }
  while (digits.size() > 1 && digits.back() == '0') digits.pop_back();
  constexpr size_t kShown = 60;
  const size_t more = digits.size() > kShown ? digits.size() - kShown : 0;
  if (more > 0) digits.resize(kShown);
  int kept = 0;
  std::string error = "inf";
  if (exact.IsNumber()) {
    const Rational stored = floating::ToRational(format, bits);
    if (exact.value.IsZero()) {
      kept = stored.IsZero() ? -1 : 0;
      error = stored.IsZero() ? "0" : "inf";
    } else {
      const Rational relative = (stored - exact.value) / exact.value;
      // Beyond the reference's own accuracy nothing can be told apart.
      if (!exact.complete && relative.Abs() < Rational(0x1p-300)) {
        kept = -1;
        error = "0";
      } else {
        kept = KeptDigits(relative);
        error = Brief(relative.Abs().ToDouble(), 2);
      }
    }
  }
  return json + ",\"digits\":\"" + digits + "\",\"exponent\":" + std::to_string(exponent) +
         ",\"more\":" + std::to_string(more) + ",\"kept\":" + std::to_string(kept) +
         ",\"error\":\"" + error + "\",\"gap\":\"" + Brief(floating::UlpOf(format, bits), 2) +
         "\"}";
}

using Values = std::array<uint64_t, 4>;  // one pattern for each of kFormats

std::string JsonOf(const Values& values, const Exact& exact) {
  std::string json = "[";
  for (size_t f = 0; f < kFormats.size(); ++f) {
    if (f > 0) json += ',';
    json += JsonOf(kFormats[f], values[f], exact);
  }
  return json + "]";
}

uint64_t FromF64(Format format, double x) { return floating::RoundTo(format, x); }

// One operation in a format. f64 has more than twice the bits of f32 plus two, so that computing
// there and rounding equals the correctly rounded operation (Figueroa 1995); exp and log of f32 are
// the library's own.
uint64_t Operate(Format format, char op, uint64_t a, uint64_t b) {
  const double x = floating::ToDouble(format, a);
  const double y = floating::ToDouble(format, b);
  double result = 0;
  switch (op) {
    case '+':
      result = x + y;
      break;
    case '-':
      result = x - y;
      break;
    case '*':
      result = x * y;
      break;
    case '/':
      result = x / y;
      break;
    case 'n':
      result = -x;
      break;
    case 'q':
      result = std::sqrt(x);
      break;
    case 'e':
      result = format == Format::kF32 ? static_cast<double>(assay::Exp(static_cast<float>(x)))
                                      : assay::Exp(x);
      break;
    case 'l':
      result = format == Format::kF32 ? static_cast<double>(assay::Log(static_cast<float>(x)))
                                      : assay::Log(x);
      break;
    default:
      break;
  }
  return FromF64(format, result);
}

// ------------------------------------------------------------------ expressions

struct Term {
  Exact exact;
  Values values = {};
};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  // Empty on failure; error() then says why.
  std::optional<Term> Run() {
    std::optional<Term> term = Sum();
    if (term && at_ < text_.size()) {
      return Fail("expected an operator or the end");
    }
    return term;
  }
  const std::string& error() const { return error_; }
  const std::string& steps() const { return steps_; }

 private:
  static constexpr int kMaxDepth = 40;

  std::nullopt_t Fail(std::string_view words) {
    if (error_.empty()) {
      error_ = std::string(words) + " at character " + std::to_string(at_ + 1);
      if (at_ < text_.size()) {
        error_ += ", where it says \"";
        error_ += text_[at_];
        error_ += '"';
      }
    }
    return std::nullopt;
  }

  void Skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }

  bool Take(char c) {
    Skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    Skip();
    return true;
  }

  std::optional<Term> Sum() {
    Skip();
    if (++depth_ > kMaxDepth) return Fail("too many parentheses");
    const size_t begin = at_;
    std::optional<Term> left = Product();
    while (left) {
      const char op = Take('+') ? '+' : Take('-') ? '-' : 0;
      if (op == 0) break;
      const std::optional<Term> right = Product();
      if (!right) return std::nullopt;
      left = Combine(op, *left, *right, begin);
    }
    --depth_;
    return left;
  }

  std::optional<Term> Product() {
    const size_t begin = at_;
    std::optional<Term> left = Unary();
    while (left) {
      const char op = Take('*') ? '*' : Take('/') ? '/' : 0;
      if (op == 0) break;
      const std::optional<Term> right = Unary();
      if (!right) return std::nullopt;
      left = Combine(op, *left, *right, begin);
    }
    return left;
  }

  std::optional<Term> Unary() {
    if (Take('+')) return Nested();
    if (!Take('-')) return Primary();
    std::optional<Term> term = Nested();
    if (!term) return std::nullopt;
    // Exact in every format, so it is not a step.
    for (size_t f = 0; f < kFormats.size(); ++f) {
      term->values[f] = Operate(kFormats[f], 'n', term->values[f], 0);
    }
    if (term->exact.IsNumber()) {
      term->exact.value = -term->exact.value;
    } else if (term->exact.kind != Exact::Kind::kNaN) {
      term->exact.kind = term->exact.kind == Exact::Kind::kPlusInfinity
                             ? Exact::Kind::kMinusInfinity
                             : Exact::Kind::kPlusInfinity;
    }
    return term;
  }

  std::optional<Term> Nested() {
    if (++depth_ > kMaxDepth) return Fail("too many signs");
    std::optional<Term> term = Unary();
    --depth_;
    return term;
  }

  std::optional<Term> Primary() {
    Skip();
    const size_t begin = at_;
    if (Take('(')) {
      std::optional<Term> term = Sum();
      if (term && !Take(')')) return Fail("expected a closing parenthesis");
      return term;
    }
    for (const auto& [word, op] :
         {std::pair{"sqrt", 'q'}, std::pair{"exp", 'e'}, std::pair{"log", 'l'}}) {
      const std::string_view name(word);
      if (text_.substr(at_, name.size()) != name) continue;
      at_ += name.size();
      if (!Take('(')) return Fail("expected an opening parenthesis");
      const std::optional<Term> argument = Sum();
      if (!argument) return std::nullopt;
      if (!Take(')')) return Fail("expected a closing parenthesis");
      return Apply(op, *argument, begin);
    }
    return Number();
  }

  std::optional<Term> Number() {
    const size_t begin = at_;
    while (at_ < text_.size() && ((text_[at_] >= '0' && text_[at_] <= '9') || text_[at_] == '.')) {
      ++at_;
    }
    if (at_ > begin && at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      ++at_;
      if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
      while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    }
    const std::string_view word = text_.substr(begin, at_ - begin);
    const std::optional<Rational> value = floating::ParseRational(word);
    if (!value) {
      at_ = begin;
      return Fail("expected a number");
    }
    Term term;
    term.exact = Exact::Number(*value);
    for (size_t f = 0; f < kFormats.size(); ++f) {
      term.values[f] = floating::RoundTo(kFormats[f], *value);
    }
    Skip();
    return term;
  }

  // Records a step. Its text runs from `begin` to here.
  std::optional<Term> Record(Term term, std::string_view condition, size_t begin) {
    if (++operations_ > kMaxOperations) return Fail("too many operations");
    std::string_view source = text_.substr(begin, at_ - begin);
    while (!source.empty() && source.back() == ' ') source.remove_suffix(1);
    if (!steps_.empty()) steps_ += ',';
    steps_ += "{\"text\":" + Quoted(source) + ",\"exact\":" + JsonOf(term.exact) +
              ",\"condition\":" + Quoted(condition) +
              ",\"values\":" + JsonOf(term.values, term.exact) + "}";
    return term;
  }

  std::optional<Term> Combine(char op, const Term& a, const Term& b, size_t begin) {
    Term result;
    for (size_t f = 0; f < kFormats.size(); ++f) {
      result.values[f] = Operate(kFormats[f], op, a.values[f], b.values[f]);
    }
    result.exact = CombineExact(op, a.exact, b.exact);
    std::string condition = op == '*' || op == '/' ? "1" : "";
    if (condition.empty() && a.exact.IsNumber() && b.exact.IsNumber()) {
      const Rational size = a.exact.value.Abs() + b.exact.value.Abs();
      if (size.IsZero()) {
        condition = "1";
      } else if (result.exact.value.IsZero()) {
        condition = "inf";
      } else {
        condition = Factor((size / result.exact.value.Abs()).ToDouble());
      }
    }
    return Record(std::move(result), condition, begin);
  }

  static Exact CombineExact(char op, const Exact& a, const Exact& b) {
    using Kind = Exact::Kind;
    if (!a.IsNumber() || !b.IsNumber()) {
      // Infinities and NaN follow IEEE: let f64 answer for them.
      const auto sample = [](const Exact& x) {
        switch (x.kind) {
          case Kind::kPlusInfinity:
            return DoubleFromBits(uint64_t{0x7ff} << 52);
          case Kind::kMinusInfinity:
            return DoubleFromBits(uint64_t{0xfff} << 52);
          case Kind::kNaN:
            return DoubleFromBits(uint64_t{0x7ff8} << 48);
          case Kind::kNumber:
            break;
        }
        return x.value.IsZero() ? 0.0 : x.value.IsNegative() ? -1.0 : 1.0;
      };
      const uint64_t bits = Operate(Format::kF64, op, FloatBits(sample(a)), FloatBits(sample(b)));
      const double r = DoubleFromBits(bits);
      if (r != r) return Exact::Special(Kind::kNaN);
      if (r - r != 0) return Exact::Special(r > 0 ? Kind::kPlusInfinity : Kind::kMinusInfinity);
      return Exact::Number(Rational());  // a number over an infinity
    }
    const bool complete = a.complete && b.complete;
    switch (op) {
      case '+':
        return Exact::Number(a.value + b.value, complete);
      case '-':
        return Exact::Number(a.value - b.value, complete);
      case '*':
        return Exact::Number(a.value * b.value, complete);
      default:
        break;
    }
    if (b.value.IsZero()) {
      if (a.value.IsZero()) return Exact::Special(Kind::kNaN);
      return Exact::Special(a.value.IsNegative() ? Kind::kMinusInfinity : Kind::kPlusInfinity);
    }
    return Exact::Number(a.value / b.value, complete);
  }

  std::optional<Term> Apply(char op, const Term& a, size_t begin) {
    using Kind = Exact::Kind;
    Term result;
    for (size_t f = 0; f < kFormats.size(); ++f) {
      result.values[f] = Operate(kFormats[f], op, a.values[f], 0);
    }
    const Exact& x = a.exact;
    std::string condition;
    const bool minus = x.kind == Kind::kMinusInfinity || (x.IsNumber() && x.value.IsNegative());
    if (x.kind == Kind::kNaN || (minus && op != 'e')) {
      result.exact = Exact::Special(Kind::kNaN);
    } else if (x.kind == Kind::kPlusInfinity) {
      result.exact = x;
    } else if (x.kind == Kind::kMinusInfinity) {
      result.exact = Exact::Number(Rational());
    } else if (op == 'q') {
      bool complete = true;
      result.exact.value = SqrtOf(x.value, &complete);
      result.exact.complete = x.complete && complete;
      condition = "0.5";
    } else if (op == 'e') {
      if (x.value.Abs() > Rational(4000.0)) return Fail("exp of more than 4000 is not computed");
      result.exact = x.value.IsZero() ? Exact::Number(Rational(1.0), x.complete)
                                      : Exact::Number(ExpOf(x.value), false);
      condition = Factor(x.value.Abs().ToDouble());
    } else if (x.value.IsZero()) {
      result.exact = Exact::Special(Kind::kMinusInfinity);
    } else {
      const Rational one(1.0);
      result.exact = x.value == one ? Exact::Number(Rational(), x.complete)
                                    : Exact::Number(LogOf(x.value), false);
      condition =
          result.exact.value.IsZero() ? "inf" : Factor((one / result.exact.value.Abs()).ToDouble());
    }
    return Record(std::move(result), condition, begin);
  }

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
  int operations_ = 0;
  std::string error_;
  std::string steps_;
};

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
T FromPattern(uint64_t bits) {
  if constexpr (std::is_same_v<T, float>) {
    return FloatFromBits(static_cast<uint32_t>(bits));
  } else if constexpr (std::is_same_v<T, double>) {
    return DoubleFromBits(bits);
  } else {
    return T::FromBits(static_cast<uint16_t>(bits));
  }
}

template <class T>
uint64_t Pattern(T x) {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    return CanonicalBits(x);
  } else {
    // A NaN's sign depends on the machine; the page shows one pattern for all.
    return x == x ? x.bits() : T(std::numeric_limits<float>::quiet_NaN()).bits();
  }
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
  // back.
  using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;
  std::vector<Wide> wide;
  for (const T value : z) wide.push_back(static_cast<Wide>(value));
  std::vector<Wide> log_shares(wide.size());
  floating::LogSoftmax(std::span<const Wide>(wide), std::span<Wide>(log_shares));
  floating::Softmax(std::span<const Wide>(wide), std::span<Wide>(wide));
  Shares stable;
  for (const Wide share : wide) {
    stable.shares.push_back(brief(T(share)));
    stable.bad = stable.bad || bad(T(share));
  }
  const T loss = T(-log_shares[0]);
  stable.loss = brief(loss);
  stable.bad = stable.bad || bad(loss);
  return "{\"name\":\"" + std::string(floating::Info(format).name) +
         "\",\"naive\":" + JsonOf(naive) + ",\"stable\":" + JsonOf(stable) + "}";
}

}  // namespace

std::string AnalyseExpression(std::string_view text) {
  if (text.size() > kMaxText) {
    return Error("the text has more than " + std::to_string(kMaxText) + " characters");
  }
  Parser parser(text);
  const std::optional<Term> term = parser.Run();
  if (!term) return Error(parser.error());
  std::string json = "{\"mode\":\"expression\",\"exact\":" + JsonOf(term->exact) + ",\"formats\":[";
  for (size_t f = 0; f < kFormats.size(); ++f) {
    const floating::FormatInfo info = floating::Info(kFormats[f]);
    if (f > 0) json += ',';
    json += "{\"name\":\"" + std::string(info.name) +
            "\",\"exponent_bits\":" + std::to_string(info.exponent_bits) +
            ",\"fraction_bits\":" + std::to_string(info.fraction_bits) +
            ",\"value\":" + JsonOf(kFormats[f], term->values[f], term->exact) + "}";
  }
  return json + "],\"steps\":[" + parser.steps() + "]}";
}

std::string AnalyseSum(std::string_view text) {
  if (text.size() > kMaxText) {
    return Error("the text has more than " + std::to_string(kMaxText) + " characters");
  }
  std::string error;
  const std::vector<Rational> numbers = ReadList(text, kMaxTerms, &error);
  if (numbers.empty()) return Error(error);
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
  Exact exact;
  exact.value = sum;
  std::string condition = "1";
  if (!absolute.IsZero()) {
    condition = sum.IsZero() ? "inf" : Factor((absolute / sum.Abs()).ToDouble());
  }
  const std::array<std::array<uint64_t, 5>, 4> sums = {
      Sums<Half>(Format::kF16, numbers), Sums<BFloat16>(Format::kBF16, numbers),
      Sums<float>(Format::kF32, numbers), Sums<double>(Format::kF64, numbers)};
  std::string json = "{\"mode\":\"sum\",\"terms\":" + std::to_string(numbers.size()) +
                     ",\"exact\":" + JsonOf(exact) + ",\"condition\":" + Quoted(condition) +
                     ",\"methods\":[";
  for (size_t m = 0; m < kSumNames.size(); ++m) {
    Values values = {};
    for (size_t f = 0; f < kFormats.size(); ++f) values[f] = sums[f][m];
    json += (m > 0 ? "," : "") + std::string("{\"name\":\"") + kSumNames[m] +
            "\",\"values\":" + JsonOf(values, exact) + "}";
  }
  return json + "]}";
}

std::string AnalyseSoftmax(std::string_view text) {
  if (text.size() > kMaxText) {
    return Error("the text has more than " + std::to_string(kMaxText) + " characters");
  }
  std::string error;
  const std::vector<Rational> logits = ReadList(text, kMaxLogits, &error);
  if (logits.empty()) return Error(error);
  Rational max = logits[0];
  for (const Rational& z : logits) max = z > max ? z : max;
  Rational sum;
  std::vector<Rational> powers;
  for (const Rational& z : logits) {
    const Rational d = z - max;
    // Far below: the share is 0 in any number of digits that is shown.
    powers.push_back(d < Rational(-4000.0) ? Rational() : ExpOf(d));
    sum = sum + powers.back();
  }
  std::string json = "{\"mode\":\"softmax\",\"logits\":[";
  for (size_t i = 0; i < logits.size(); ++i) {
    json += (i > 0 ? "," : "") + Quoted(TextOf(Exact::Number(logits[i])));
  }
  Shares exact;
  for (const Rational& power : powers) {
    exact.shares.push_back(Brief(power / sum, 4));
  }
  const Rational loss = LogOf(sum) - (logits[0] - max);
  exact.loss = Brief(loss, 4);
  return json + "],\"exact\":" + JsonOf(exact) + ",\"formats\":[" +
         FormatShares<Half>(Format::kF16, logits) + "," +
         FormatShares<BFloat16>(Format::kBF16, logits) + "," +
         FormatShares<float>(Format::kF32, logits) + "," +
         FormatShares<double>(Format::kF64, logits) + "]}";
}

}  // namespace assay::numerical_pitfalls
