// SPDX-License-Identifier: Apache-2.0
// The C face of a lab module, called natively; tests/lab runs it as a module.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "tools/lab/lab.h"

extern "C" {
void* alloc(uint32_t n);
void dealloc(void* pointer);
int lab_set_data(const char* name, uint32_t name_len, const uint8_t* bytes, uint32_t len);
int lab_set_arg(const char* name, uint32_t name_len, const char* value, uint32_t len);
void lab_reset();
int lab_run(const char* profile, uint32_t len);
const char* lab_output();
uint32_t lab_output_len();
void assay_lab_progress(int32_t done, int32_t total, const char* what, uint32_t what_len);
}

namespace {

std::vector<std::pair<int32_t, int32_t>> g_progress;

absl::Status Run(assay::lab::Context& context, assay::lab::Report& report) {
  const int64_t n = context.Integer("n", 1, 2, 3);
  const auto bytes = context.Data("bytes");
  if (!bytes.ok()) return bytes.status();
  context.Progress(int64_t{1} << 40, int64_t{1} << 41, "much");
  report.Exact("total", n + static_cast<int64_t>(bytes->size()), "Total");
  return absl::OkStatus();
}

ASSAY_LAB(in_wasm, {.title = "In wasm", .run = &Run});

std::string Output() { return std::string(lab_output(), lab_output_len()); }

int RunProfile(std::string_view profile) {
  return lab_run(profile.data(), static_cast<uint32_t>(profile.size()));
}

void SetArg(std::string_view name, std::string_view value) {
  EXPECT_EQ(lab_set_arg(name.data(), static_cast<uint32_t>(name.size()), value.data(),
                        static_cast<uint32_t>(value.size())),
            0);
}

}  // namespace

// The host's side of the import.
void assay_lab_progress(int32_t done, int32_t total, const char*, uint32_t) {
  g_progress.emplace_back(done, total);
}

TEST(WasmEntryTest, RunsWithWhatWasSet) {
  lab_reset();
  EXPECT_EQ(RunProfile("quick"), static_cast<int>(absl::StatusCode::kNotFound));
  EXPECT_EQ(Output(), "{\"error\":\"the data 'bytes' was not set\"}\n");
  const std::vector<uint8_t> bytes = {1, 2, 3};
  EXPECT_EQ(lab_set_data("bytes", 5, bytes.data(), 2), 0);
  EXPECT_EQ(lab_set_data("bytes", 5, bytes.data(), 3), 0);
  g_progress.clear();
  EXPECT_EQ(RunProfile("browser"), 0);
  EXPECT_NE(Output().find("\"profile\":\"browser\",\"args\":{\"n\":\"2\"}"), std::string::npos)
      << Output();
  EXPECT_NE(Output().find("\"value\":\"5\""), std::string::npos);
  // 2^40 of 2^41 does not fit into 32 bits; its half-way does.
  ASSERT_EQ(g_progress.size(), 1u);
  EXPECT_GT(g_progress[0].first, 0);
  EXPECT_EQ(2.0 * g_progress[0].first / g_progress[0].second, 1.0);
  SetArg("n", "10");
  EXPECT_EQ(RunProfile("browser"), 0);
  EXPECT_NE(Output().find("\"value\":\"13\""), std::string::npos);
}

TEST(WasmEntryTest, SaysWhatIsWrong) {
  lab_reset();
  EXPECT_EQ(RunProfile("fast"), static_cast<int>(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(Output(), "{\"error\":\"the profile is 'fast'; expected quick, browser or full\"}\n");
  EXPECT_EQ(lab_set_data("bytes", 5, nullptr, 0), 0);
  SetArg("n", "a\"\\\n");
  EXPECT_EQ(RunProfile("quick"), static_cast<int>(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(Output(), "{\"error\":\"the knob 'n' is 'a\\\"\\\\ '; expected a 64-bit integer\"}\n");
  lab_reset();
  EXPECT_EQ(lab_set_data("bytes", 5, nullptr, 0), 0);
  EXPECT_EQ(RunProfile("quick"), 0);
}

TEST(WasmEntryTest, GivesMemory) {
  void* pointer = alloc(0);
  EXPECT_NE(pointer, nullptr);
  dealloc(pointer);
}
