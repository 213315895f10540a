// SPDX-License-Identifier: Apache-2.0
//
// Numbers as text, the same text on every machine.
//
// What a report prints has to be byte-identical natively and in WebAssembly, so nothing here calls
// printf, strtod or std::to_chars (the floating forms of the last are missing from Emscripten
// 3.1.6): digits come from exact integer arithmetic of our own. No locale, no allocation limits to
// tune; a call costs one to a few microseconds.
#ifndef ASSAY_TOOLS_LAB_NUMBER_H_
#define ASSAY_TOOLS_LAB_NUMBER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay::lab {

// The shortest decimal text that reads back as the same value; among the shortest the one nearest
// to the value, and the even one of two equally near.
//   value: any f64 (f32 in FormatFloat). NaN gives "NaN" whatever its payload, infinities give
//     "Infinity" and "-Infinity", negative zero "-0".
// Layout: that of ECMAScript's Number::toString, so a page's String(x) gives the same text (but for
// "-0"): plain digits for 1e-7 <= |x| < 1e21, otherwise "1.5e-7", "1e+21".
// Exact. Source: Burger, Dybvig, Printing Floating-Point Numbers Quickly and Accurately (1996),
// free format; ECMA-262, Number::toString.
std::string FormatDouble(double value);
std::string FormatFloat(float value);

// `value` rounded to `digits` significant decimal digits, ties to even of the exact value, with
// trailing zeros kept ("0.500" for digits = 3). What a page shows.
//   digits: 1..40, clamped.
// Layout: plain for 1e-7 <= |x| < 1e21 where no digit has to be made up, otherwise "1.23e+8".
std::string FormatSignificant(double value, int digits);

// Reads a decimal floating-point number, correctly rounded (to nearest, ties to even).
//   text: [+-]digits[.digits][(e|E)[+-]digits], or NaN, Infinity, -Infinity; nothing before or
//   after.
// Returns nothing for any other text and for one longer than 2,000 characters. Overflow gives an
// infinity, underflow a zero or subnormal, as IEEE 754 says. ParseFloat rounds once, straight to
// f32.
std::optional<double> ParseDouble(std::string_view text);
std::optional<float> ParseFloat(std::string_view text);

// Decimal integers: [-]digits and nothing else; nothing on overflow.
std::string FormatInt(int64_t value);
std::string FormatUint(uint64_t value);
std::optional<int64_t> ParseInt(std::string_view text);
std::optional<uint64_t> ParseUint(std::string_view text);

// "0x" and `digits` lower-case hexadecimal digits of the low bits of `value`.
std::string FormatHex(uint64_t value, int digits);

}  // namespace assay::lab

#endif  // ASSAY_TOOLS_LAB_NUMBER_H_
