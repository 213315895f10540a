// SPDX-License-Identifier: Apache-2.0
#include "numerics/core/sha256.h"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"

namespace assay {
namespace {

// The examples that NIST publishes with FIPS 180.
TEST(Sha256Test, GivesThePublishedDigests) {
  EXPECT_EQ(Sha256Hex(std::string_view("")),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256Hex(std::string_view("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256Hex(std::string_view("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(Sha256Hex(std::string_view(
                "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqkl"
                "mnopqrlmnopqrsmnopqrstnopqrstu")),
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  EXPECT_EQ(Sha256Hex(std::string_view(std::string(1000000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256Test, DoesNotDependOnThePieces) {
  std::string text;
  for (int i = 0; i < 300; ++i) text.push_back(static_cast<char>(i * 7));
  for (size_t length : {0, 1, 55, 56, 57, 63, 64, 65, 119, 120, 127, 128, 129, 300}) {
    const std::string_view whole(text.data(), length);
    const std::string expected = Sha256Hex(whole);
    for (size_t cut = 0; cut <= length; ++cut) {
      Sha256 hash;
      hash.Update(whole.substr(0, cut));
      hash.Update(std::string_view());
      hash.Update(whole.substr(cut));
      EXPECT_EQ(Hex(hash.Finish()), expected) << length << " cut at " << cut;
    }
  }
}

TEST(Sha256Test, StartsAnewAfterFinish) {
  Sha256 hash;
  hash.Update(std::string_view("something"));
  hash.Finish();
  hash.Update(std::string_view("abc"));
  EXPECT_EQ(Hex(hash.Finish()), Sha256Hex(std::string_view("abc")));
}

TEST(Sha256Test, HashesNumbersAsLittleEndianBytesWithOneNan) {
  const std::vector<uint8_t> bytes = {0x00, 0x00, 0x80, 0x3f, 0x00, 0x00, 0xc0, 0x7f};
  const float values[] = {1.0f, -std::numeric_limits<float>::quiet_NaN()};
  EXPECT_EQ(Sha256Hex(std::span<const float>(values)), Sha256Hex(std::span<const uint8_t>(bytes)));
  // More than the internal buffer holds.
  std::vector<double> many(1000);
  std::vector<uint64_t> same(1000);
  for (size_t i = 0; i < many.size(); ++i) {
    many[i] = static_cast<double>(i);
    __builtin_memcpy(&same[i], &many[i], 8);
  }
  Sha256 hash;
  hash.Update(std::span<const uint64_t>(same));
  EXPECT_EQ(Sha256Hex(std::span<const double>(many)), Hex(hash.Finish()));
  const int32_t negative[] = {-2};
  const std::vector<uint8_t> twos_complement = {0xfe, 0xff, 0xff, 0xff};
  hash.Update(std::span<const int32_t>(negative));
  EXPECT_EQ(Hex(hash.Finish()), Sha256Hex(std::span<const uint8_t>(twos_complement)));
}

}  // namespace
}  // namespace assay
