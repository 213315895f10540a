// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/number.h"

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "numerics/core/bits.h"
#include "numerics/core/sha256.h"

namespace assay::lab {
namespace {

// SplitMix64: bits of every kind, the same on every machine.
class Bits {
 public:
  explicit Bits(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

 private:
  uint64_t state_;
};

// Finite doubles of all sizes, with many powers of two, subnormals and short decimals among them.
std::vector<double> SampleDoubles(int count) {
  std::vector<double> sample;
  Bits bits(1);
  while (static_cast<int>(sample.size()) < count) {
    uint64_t word = bits.Next();
    switch (sample.size() % 6) {
      case 0:  // a power of two: its neighbour below is nearer
        word &= ~((uint64_t{1} << 52) - 1);
        break;
      case 1:  // a subnormal
        word &= (uint64_t{1} << 63) | (((uint64_t{1} << 52) - 1) >> (bits.Next() % 52));
        break;
      case 2:
        word = FloatBits(static_cast<double>(static_cast<int64_t>(word) >> 40) / 1000);
        break;
      case 3:
        word = FloatBits(static_cast<double>(word >> (bits.Next() % 64)));
        break;
      default:
        break;
    }
    const double value = DoubleFromBits(word);
    if (value - value == 0) sample.push_back(value);
  }
  return sample;
}

std::vector<float> SampleFloats(int count) {
  std::vector<float> sample;
  Bits bits(2);
  while (static_cast<int>(sample.size()) < count) {
    uint32_t word = static_cast<uint32_t>(bits.Next());
    if (sample.size() % 4 == 0) word &= ~((1u << 23) - 1);
    if (sample.size() % 4 == 1) word &= 0x807fffffu;
    const float value = FloatFromBits(word);
    if (value - value == 0) sample.push_back(value);
  }
  return sample;
}

TEST(FormatDoubleTest, LaysOutAsEcmaScriptDoes) {
  const std::vector<std::pair<double, std::string>> cases = {
      {0.0, "0"},
      {-0.0, "-0"},
      {1.0, "1"},
      {-1.5, "-1.5"},
      {0.1, "0.1"},
      {0.1 + 0.2, "0.30000000000000004"},
      {1.0 / 3, "0.3333333333333333"},
      {100000.0, "100000"},
      {1e20, "100000000000000000000"},
      {1e21, "1e+21"},
      {123456789012345680000.0, "123456789012345680000"},
      {1.2345678901234568e+21, "1.2345678901234568e+21"},
      {1e-6, "0.000001"},
      {1e-7, "1e-7"},
      {1.5e-7, "1.5e-7"},
      {5e-324, "5e-324"},
      {1.7976931348623157e308, "1.7976931348623157e+308"},
      {2.2250738585072014e-308, "2.2250738585072014e-308"},
      {9007199254740993.0, "9007199254740992"},
      // 2^-44, halfway between two texts of sixteen digits: the even one.
      {5.684341886080802e-14, "5.684341886080802e-14"},
      {std::numeric_limits<double>::infinity(), "Infinity"},
      {-std::numeric_limits<double>::infinity(), "-Infinity"},
      {std::numeric_limits<double>::quiet_NaN(), "NaN"},
      {-std::numeric_limits<double>::quiet_NaN(), "NaN"},
  };
  for (const auto& [value, text] : cases) EXPECT_EQ(FormatDouble(value), text);
}

TEST(FormatFloatTest, IsShortestForItsOwnType) {
  EXPECT_EQ(FormatFloat(0.1f), "0.1");
  EXPECT_EQ(FormatFloat(1.0f / 3), "0.33333334");
  EXPECT_EQ(FormatFloat(16777216.0f), "16777216");
  EXPECT_EQ(FormatFloat(3.4028235e38f), "3.4028235e+38");
  EXPECT_EQ(FormatFloat(1e-45f), "1e-45");
  EXPECT_EQ(FormatFloat(88.72284f), "88.72284");
  EXPECT_EQ(FormatFloat(-0.0f), "-0");
  EXPECT_EQ(FormatFloat(std::numeric_limits<float>::quiet_NaN()), "NaN");
}

TEST(FormatDoubleTest, ReadsBackAsTheSameBits) {
  for (double value : SampleDoubles(10000)) {
    const std::string text = FormatDouble(value);
    const auto read = ParseDouble(text);
    ASSERT_TRUE(read.has_value()) << text;
    ASSERT_EQ(FloatBits(*read), FloatBits(value)) << text;
  }
  for (float value : SampleFloats(10000)) {
    const std::string text = FormatFloat(value);
    const auto read = ParseFloat(text);
    ASSERT_TRUE(read.has_value()) << text;
    ASSERT_EQ(FloatBits(*read), FloatBits(value)) << text;
  }
}

// The same text natively and in wasm: the hash of a sample, found natively.
TEST(FormatDoubleTest, GivesTheSameTextOnEveryMachine) {
  Sha256 hash;
  for (double value : SampleDoubles(5000)) hash.Update(FormatDouble(value) + "\n");
  for (float value : SampleFloats(5000)) hash.Update(FormatFloat(value) + "\n");
  for (double value : SampleDoubles(2000)) hash.Update(FormatSignificant(value, 6) + "\n");
  EXPECT_EQ(Hex(hash.Finish()), "f949757a6894ef0d49ed656083f1d86a2dad799500772df1afa3d2d9a794f461");
}

#if defined(__cpp_lib_to_chars)
// Digits and exponent of a plain or scientific text: "0.00120" -> "12", -3.
std::pair<std::string, int> Digits(std::string text) {
  if (!text.empty() && text[0] == '-') text.erase(0, 1);
  int exponent = 0;
  if (const size_t e = text.find('e'); e != std::string::npos) {
    exponent = std::atoi(text.c_str() + e + 1);
    text.resize(e);
  }
  size_t point = text.find('.');
  if (point == std::string::npos) point = text.size();
  std::string digits = text;
  if (point < digits.size()) digits.erase(point, 1);
  const size_t zeros = std::min(digits.find_first_not_of('0'), digits.size());
  digits.erase(0, zeros);
  while (!digits.empty() && digits.back() == '0') digits.pop_back();
  return {digits, exponent + static_cast<int>(point) - static_cast<int>(zeros) - 1};
}

TEST(FormatDoubleTest, HasTheDigitsOfToChars) {
  for (double value : SampleDoubles(15000)) {
    if (value == 0) continue;
    char buffer[64];
    const auto end =
        std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::scientific);
    const std::string expected(buffer, end.ptr);
    ASSERT_EQ(Digits(FormatDouble(value)), Digits(expected)) << expected;
  }
  for (float value : SampleFloats(15000)) {
    if (value == 0) continue;
    char buffer[64];
    const auto end =
        std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::scientific);
    const std::string expected(buffer, end.ptr);
    ASSERT_EQ(Digits(FormatFloat(value)), Digits(expected)) << expected;
  }
}

TEST(FormatSignificantTest, RoundsAsToCharsWithPrecision) {
  Bits bits(3);
  for (double value : SampleDoubles(8000)) {
    if (value == 0) continue;
    const int digits = 1 + static_cast<int>(bits.Next() % 20);
    char buffer[512];
    const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value,
                                   std::chars_format::scientific, digits - 1);
    const std::string expected(buffer, end.ptr);
    ASSERT_EQ(Digits(FormatSignificant(value, digits)), Digits(expected)) << expected;
  }
}

TEST(ParseDoubleTest, RoundsAsFromCharsDoes) {
  Bits bits(4);
  for (int i = 0; i < 10000; ++i) {
    std::string text;
    const int before = static_cast<int>(bits.Next() % 25),
              after = static_cast<int>(bits.Next() % 25);
    for (int k = 0; k < before; ++k) text.push_back(static_cast<char>('0' + bits.Next() % 10));
    text += ".";
    for (int k = 0; k < after + (before == 0 ? 1 : 0); ++k)
      text.push_back(static_cast<char>('0' + bits.Next() % 10));
    if (before == 0) text.insert(0, "0");
    text += "e" + std::to_string(static_cast<int>(bits.Next() % 700) - 350);
    double expected = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), expected);
    if (result.ec == std::errc::result_out_of_range) continue;  // from_chars leaves the value alone
    const auto read = ParseDouble(text);
    ASSERT_TRUE(read.has_value()) << text;
    ASSERT_EQ(FloatBits(*read), FloatBits(expected)) << text;
    float expected_float = 0;
    const auto narrow = std::from_chars(text.data(), text.data() + text.size(), expected_float);
    if (narrow.ec == std::errc::result_out_of_range) continue;
    ASSERT_EQ(FloatBits(*ParseFloat(text)), FloatBits(expected_float)) << text;
  }
}
#endif

TEST(ParseDoubleTest, RoundsTiesToEvenAndHandlesTheEnds) {
  EXPECT_EQ(*ParseDouble("9007199254740993"), 9007199254740992.0);
  EXPECT_EQ(*ParseDouble("9007199254740993.00000000000000000000000000001"), 9007199254740994.0);
  EXPECT_EQ(*ParseDouble("9007199254740995"), 9007199254740996.0);
  EXPECT_EQ(*ParseDouble("2.4703282292062327208e-324"), 0);  // just under half the least subnormal
  EXPECT_EQ(*ParseDouble("2.4703282292062328e-324"), 5e-324);
  EXPECT_EQ(*ParseDouble("1.7976931348623158e308"), 1.7976931348623157e308);
  EXPECT_EQ(*ParseDouble("1.7976931348623159e308"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(*ParseDouble("1e999999999999999999999"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(FloatBits(*ParseDouble("-1e-999999999999")), FloatBits(-0.0));
  EXPECT_EQ(FloatBits(*ParseDouble("NaN")), uint64_t{0x7ff8000000000000});
  EXPECT_EQ(*ParseDouble("-Infinity"), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(*ParseDouble("+.5"), 0.5);
  EXPECT_EQ(*ParseDouble("5."), 5);
  // 1 + 2^-24 + 2^-60: through f64 it would round to even first, and to 1.
  EXPECT_EQ(*ParseFloat("1.00000005960464477625795190"), 1.00000012f);
}

TEST(ParseDoubleTest, RefusesWhatIsNoNumber) {
  for (const char* text : {"", "-", "+", ".", "e5", "1e", "1e+", "1.2.3", " 1", "1 ", "0x10", "nan",
                           "inf", "1,5", "--1", "1f", "Infinity1"}) {
    EXPECT_FALSE(ParseDouble(text).has_value()) << text;
  }
  EXPECT_FALSE(ParseDouble(std::string(2001, '1')).has_value());
  EXPECT_TRUE(ParseDouble(std::string(2000, '1')).has_value());
}

TEST(FormatSignificantTest, KeepsZerosAndInventsNone) {
  EXPECT_EQ(FormatSignificant(0.5, 3), "0.500");
  EXPECT_EQ(FormatSignificant(0.0, 3), "0");
  EXPECT_EQ(FormatSignificant(123456789.0, 3), "1.23e+8");
  EXPECT_EQ(FormatSignificant(123.0, 3), "123");
  EXPECT_EQ(FormatSignificant(99999.5, 3), "1.00e+5");
  EXPECT_EQ(FormatSignificant(9.995, 3), "9.99");  // the double is a little less than 9.995
  EXPECT_EQ(FormatSignificant(2.5, 1), "2");       // a true tie goes to even
  EXPECT_EQ(FormatSignificant(3.5, 1), "4");
  EXPECT_EQ(FormatSignificant(-1.0 / 3, 6), "-0.333333");
  EXPECT_EQ(FormatSignificant(1.0, 0), "1");  // clamped
  EXPECT_EQ(FormatSignificant(0.1, 99).size(), 42u);
}

TEST(IntegerTest, FormatsAndParsesTheWholeRange) {
  EXPECT_EQ(FormatInt(std::numeric_limits<int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(FormatUint(std::numeric_limits<uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(FormatInt(0), "0");
  EXPECT_EQ(*ParseInt("-9223372036854775808"), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(*ParseInt("9223372036854775807"), std::numeric_limits<int64_t>::max());
  EXPECT_FALSE(ParseInt("9223372036854775808").has_value());
  EXPECT_EQ(*ParseUint("18446744073709551615"), std::numeric_limits<uint64_t>::max());
  for (const char* text :
       {"18446744073709551616", "", "-1", "+1", "1a", " 1", "99999999999999999999999"}) {
    EXPECT_FALSE(ParseUint(text).has_value()) << text;
  }
  EXPECT_EQ(FormatHex(0xabc, 8), "0x00000abc");
}

}  // namespace
}  // namespace assay::lab
