// SPDX-License-Identifier: Apache-2.0
#include "web/articles/numerical-pitfalls/answer.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "numerics/expression/analyse.h"
#include "numerics/floating/anatomy.h"
#include "numerics/floating/big_float.h"

namespace assay::numerical_pitfalls {
namespace {

using floating::BigFloat;
using floating::Format;
using floating::NumberClass;

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

// How many leading decimal digits a relative error leaves; -1 for all.
int KeptDigits(double error) {
  if (error == 0) return -1;
  int kept = 0;
  for (double bound = 10; kept < 60 && error * bound < 1; bound *= 10) ++kept;
  return kept;
}

// A scientific notation with the zeros at the end gone, written out for exponents from `least` to
// `most`.
std::string Plain(const std::string& scientific, int64_t least, int64_t most) {
  const size_t e = scientific.find('e');
  if (e == std::string::npos) return scientific;  // 0, inf, nan
  std::string digits;
  for (const char c : scientific.substr(0, e)) {
    if (c >= '0' && c <= '9') digits += c;
  }
  while (digits.size() > 1 && digits.back() == '0') digits.pop_back();
  const int64_t exponent = std::stoll(scientific.substr(e + 1));
  const std::string sign = scientific[0] == '-' ? "-" : "";
  const int64_t count = static_cast<int64_t>(digits.size());
  if (exponent < least || exponent > most) {
    std::string text = sign + digits.substr(0, 1);
    if (count > 1) text += "." + digits.substr(1);
    return text + "e" + std::to_string(exponent);
  }
  if (exponent < 0) {
    return sign + "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + digits;
  }
  if (count <= exponent + 1) {
    return sign + digits + std::string(static_cast<size_t>(exponent + 1 - count), '0');
  }
  const size_t whole = static_cast<size_t>(exponent) + 1;
  return sign + digits.substr(0, whole) + "." + digits.substr(whole);
}

}  // namespace

void Append(std::string* json, std::initializer_list<std::string_view> parts) {
  for (const std::string_view part : parts) json->append(part.data(), part.size());
}

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

std::string ErrorDocument(std::string_view words) { return "{\"error\":" + Quoted(words) + "}"; }

std::string Brief(double x, int digits) { return Brief(BigFloat(x), digits); }

std::string Brief(const BigFloat& x, int digits) { return Plain(x.ToScientific(digits), -5, 20); }

std::string Factor(double x) { return Plain(BigFloat(x).ToScientific(2), -5, 4); }

std::string TextOf(const BigFloat& x) {
  constexpr int kDigits = 24;
  return Plain(x.ToScientific(kDigits), -7, kDigits - 1);
}

std::string ExactOf(const BigFloat& x) {
  const std::string text = x.IsZero() ? "0" : TextOf(x);
  bool complete = true;
  if (x.IsFinite() && !x.IsZero()) {
    // All bits that are known, but for some at the end.
    const std::optional<BigFloat> back = floating::ParseBigFloat(text, {320});
    const BigFloat difference = Subtract(*back, x, {64});
    complete = difference.IsZero() || difference.Exponent() < x.Exponent() - 236;
  }
  return "{\"text\":" + Quoted(text) + ",\"complete\":" + (complete ? "true" : "false") + "}";
}

std::string ValueOf(Format format, uint64_t bits, const BigFloat& truth) {
  const floating::Anatomy anatomy = floating::Dissect(format, bits);
  const BigFloat stored = floating::FromFormat(format, bits);
  expression::Error error = expression::ErrorOf(format, stored, truth);
  // Beyond what is known of the truth nothing can be told apart.
  if (error.relative < 0x1p-110) error = {};
  // The stored value's digits, without leading and trailing zeros, and the exponent of the first.
  std::string digits;
  int64_t exponent = 0;
  size_t more = 0;
  if (stored.IsFinite()) {
    digits = "0";
    if (!stored.IsZero()) {
      // No f64 has more.
      const std::string decimal = stored.ToScientific(767);
      const size_t e = decimal.find('e');
      exponent = std::stoll(decimal.substr(e + 1));
      digits.clear();
      for (const char c : decimal.substr(0, e)) {
        if (c >= '0' && c <= '9') digits += c;
      }
      while (digits.size() > 1 && digits.back() == '0') digits.pop_back();
    }
    constexpr size_t kShown = 60;
    more = digits.size() > kShown ? digits.size() - kShown : 0;
    if (more > 0) digits.resize(kShown);
  }
  const double relative = stored.IsFinite() || error.bits == 0 ? error.relative : 1 / 0x0p0;
  std::string json;
  Append(&json, {"{\"bits\":\"",
                 floating::BitString(format, bits),
                 "\",\"kind\":\"",
                 ClassName(anatomy.number_class),
                 "\",\"negative\":",
                 anatomy.negative ? "true" : "false",
                 ",\"short\":\"",
                 floating::ShortestDecimal(format, bits),
                 "\",\"digits\":\"",
                 digits,
                 "\",\"exponent\":",
                 std::to_string(exponent),
                 ",\"more\":",
                 std::to_string(more),
                 ",\"kept\":",
                 std::to_string(KeptDigits(relative)),
                 ",\"error\":\"",
                 Brief(relative, 2),
                 "\",\"ulps\":\"",
                 Factor(error.ulps),
                 "\",\"gap\":\"",
                 stored.IsFinite() ? Brief(floating::UlpOf(format, bits), 2) : std::string(),
                 "\"}"});
  return json;
}

}  // namespace assay::numerical_pitfalls
