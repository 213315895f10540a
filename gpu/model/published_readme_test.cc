// SPDX-License-Identifier: Apache-2.0
// The table in README.md is the one that the model gives.
#include <cstdio>
#include <string>

#include "gpu/model/published.h"
#include "gtest/gtest.h"

namespace assay::model {
namespace {

TEST(PublishedReadmeTest, ShowsThePresentTable) {
  std::FILE* const file = std::fopen("gpu/model/README.md", "rb");
  ASSERT_NE(file, nullptr);
  std::string text;
  char buffer[4096];
  for (size_t got = 0; (got = std::fread(buffer, 1, sizeof(buffer), file)) > 0;) {
    text.append(buffer, got);
  }
  std::fclose(file);
  EXPECT_NE(text.find("\n" + PublishedTable()), std::string::npos)
      << "README.md should have, by bazel run //gpu/model:published_table:\n"
      << PublishedTable();
}

}  // namespace
}  // namespace assay::model
