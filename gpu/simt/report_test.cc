// SPDX-License-Identifier: Apache-2.0

#include "gpu/simt/report.h"

#include <string>
#include <vector>

#include "gpu/simt/launch.h"
#include "gpu/simt/simt.h"
#include "gtest/gtest.h"

namespace assay::simt {
namespace {

std::string Source(const std::string& file) {
  return file == "shift.cu.h" ? "first\n\ttile[i] = tile[i + 1];\nthird\n" : "";
}

Diagnostic ShiftRace() {
  Diagnostic race;
  race.finding = Finding::kRace;
  race.message = "race on 'tile'";
  race.variable = "tile";
  race.count = 3;
  race.sites = {{"shift.cu.h", 2, "load", Dim3(0, 0, 0), Dim3(4, 0, 0)},
                {"shift.cu.h", 2, "store", Dim3(0, 0, 0), Dim3(5, 0, 0)}};
  return race;
}

TEST(ReportTest, ReadsLikeACompilers) {
  const std::vector<Diagnostic> found = {ShiftRace()};
  EXPECT_EQ(Format(found, Source),
            "shift.cu.h:2: error: race on 'tile' [race]\n"
            "     2 | \ttile[i] = tile[i + 1];\n"
            "       | \t^~~~\n"
            "       = thread (4,0,0) of block (0,0,0): load; 3 times in all\n"
            "shift.cu.h:2: note: store, by thread (5,0,0) of block (0,0,0)\n"
            "     2 | \ttile[i] = tile[i + 1];\n"
            "       | \t^~~~\n");
}

TEST(ReportTest, DoesWithoutTheSource) {
  Diagnostic leak;
  leak.finding = Finding::kLeak;
  leak.severity = Severity::kWarning;
  leak.message = "buffer 'x' is never freed";
  Diagnostic race = ShiftRace();
  race.sites[0].line = 99;
  race.sites.pop_back();
  const std::vector<Diagnostic> found = {leak, race};
  EXPECT_EQ(Format(found, Source),
            "warning: buffer 'x' is never freed [leak]\n"
            "shift.cu.h:99: error: race on 'tile' [race]\n"
            "       = thread (4,0,0) of block (0,0,0): load; 3 times in all\n");
}

TEST(ReportTest, EveryFindingHasANameOfItsOwn) {
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(Finding::kBadFree); ++i) {
    names.emplace_back(Name(static_cast<Finding>(i)));
    EXPECT_FALSE(names.back().empty());
    for (int j = 0; j < i; ++j) EXPECT_NE(names[static_cast<size_t>(j)], names.back());
  }
}

constexpr int kColumn = __LINE__ + 4;
__global__ void Transpose(gptr<const float> x, gptr<float> y) {
  SHARED(float, tile, 32, 32);
  tile[threadIdx.x][threadIdx.y] = x[threadIdx.y * 32 + threadIdx.x];
  __syncthreads();
  y[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.y][threadIdx.x];
}

TEST(ReportTest, MarksTheWorstLine) {
  DeviceMemory memory;
  const auto x = memory.Upload(std::vector<float>(1024, 1.0f), "x").value();
  const auto y = memory.Allocate<float>(1024, "y").value();
  const LaunchResult result = Launch(memory, {.grid = 1, .block = {32, 32}}, Transpose, x, y);
  ASSERT_TRUE(result.status.ok()) << Format(result.diagnostics);
  const std::string report = FormatCounters(result.counters);
  EXPECT_NE(report.find("1 blocks, 32 warps, 1024 threads; 1 barriers"), std::string::npos);
  // 32 lanes meet in one bank.
  const size_t at = report.find("32.00     1.00  <\n");
  ASSERT_NE(at, std::string::npos) << report;
  const size_t begin = report.rfind('\n', at) + 1;
  EXPECT_EQ(std::stoi(report.substr(begin, 6)), kColumn - 1) << report;
}

}  // namespace
}  // namespace assay::simt
