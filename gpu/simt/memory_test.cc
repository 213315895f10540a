// SPDX-License-Identifier: Apache-2.0

#include "gpu/simt/memory.h"

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "gpu/simt/launch.h"
#include "gpu/simt/simt.h"
#include "gtest/gtest.h"

namespace assay::simt {
namespace {

using Code = absl::StatusCode;

// An element that is kept would be read late: naming its type is demanded.
static_assert(!std::is_convertible_v<Element<float>&, float>);
static_assert(!std::is_copy_constructible_v<Element<float>>);
static_assert(std::is_same_v<decltype(Pointer<const float>()[0]), float>);
static_assert(std::is_convertible_v<Pointer<float>, Pointer<const float>>);
static_assert(!std::is_convertible_v<Pointer<const float>, Pointer<float>>);
static_assert(!std::is_convertible_v<Pointer<int>, Pointer<float>>);

TEST(MemoryTest, CopiesThereAndBack) {
  DeviceMemory memory;
  const auto x = memory.Upload(std::vector<int>{1, 2, 3, 4}, "x").value();
  EXPECT_EQ(memory.Download(x, 4).value(), (std::vector<int>{1, 2, 3, 4}));
  EXPECT_EQ(memory.Download(x + 1, 2).value(), (std::vector<int>{2, 3}));
  const auto y = memory.Allocate<int>(4, "y").value();
  ASSERT_TRUE(memory.Copy(y, x + 2, 2).ok());
  ASSERT_TRUE(memory.Fill(y + 2, 0xFF, 2).ok());
  EXPECT_EQ(memory.Download(y, 4).value(), (std::vector<int>{3, 4, -1, -1}));
  EXPECT_EQ(memory.used_bytes(), 32u);
  EXPECT_TRUE(memory.Free(x).ok());
  EXPECT_EQ(memory.used_bytes(), 16u);
}

TEST(MemoryTest, TakesEmptyBuffers) {
  DeviceMemory memory;
  const auto x = memory.Upload(std::vector<int>{}, "x").value();
  EXPECT_TRUE(memory.Download(x, 0).value().empty());
  EXPECT_EQ(memory.Download(x, 1).status().code(), Code::kOutOfRange);
  EXPECT_TRUE(memory.Free(x).ok());
  EXPECT_TRUE(memory.Free(Pointer<int>()).ok());
}

TEST(MemoryTest, RefusesWhatLeavesABuffer) {
  DeviceMemory memory;
  const auto x = memory.Upload(std::vector<int>{1, 2, 3, 4}, "x").value();
  const std::vector<int> five(5, 9);
  EXPECT_EQ(memory.CopyToDevice(x, std::span<const int>(five)).code(), Code::kOutOfRange);
  EXPECT_EQ(memory.CopyToDevice(x - 1, std::span<const int>(five).first(1)).code(),
            Code::kOutOfRange);
  EXPECT_EQ(memory.Download(x, 4).value(), (std::vector<int>{1, 2, 3, 4}));
  EXPECT_EQ(memory.Download(x + 3, 2).status().code(), Code::kOutOfRange);
  EXPECT_EQ(memory.Download(x, -1).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(memory.Download(x, INT64_MAX).status().code(), Code::kOutOfRange);
  EXPECT_EQ(memory.Fill(x, 0, int64_t{1} << 62).code(), Code::kOutOfRange);
  EXPECT_EQ(memory.Copy<int>(x + 2, x, 3).code(), Code::kOutOfRange);
  EXPECT_EQ(memory.Copy<int>(x, x, -2).code(), Code::kInvalidArgument);
  EXPECT_EQ(memory.Copy<int>(x, x, int64_t{1} << 62).code(), Code::kOutOfRange);
  EXPECT_EQ(memory.Download(Pointer<int>(), 1).status().code(), Code::kInvalidArgument);
}

TEST(MemoryTest, RefusesSizesThatAreTooMuch) {
  DeviceMemory memory(1000);
  EXPECT_EQ(memory.Allocate<int>(-1, "x").status().code(), Code::kInvalidArgument);
  EXPECT_EQ(memory.Allocate<int>(251, "x").status().code(), Code::kResourceExhausted);
  EXPECT_EQ(memory.Allocate<int>(INT64_MAX, "x").status().code(), Code::kResourceExhausted);
  EXPECT_TRUE(memory.Allocate<int>(250, "x").ok());
  EXPECT_EQ(memory.Allocate<char>(1, "y").status().code(), Code::kResourceExhausted);
}

TEST(MemoryTest, TellsBadFreesAndLeaks) {
  DeviceMemory memory;
  DeviceMemory other;
  const auto x = memory.Allocate<int>(4, "x").value();
  const auto y = memory.Allocate<int>(4, "y").value();
  EXPECT_EQ(memory.Free(x + 1).code(), Code::kInvalidArgument);
  EXPECT_EQ(other.Free(x).code(), Code::kInvalidArgument);
  EXPECT_TRUE(memory.Free(x).ok());
  EXPECT_EQ(memory.Free(x).code(), Code::kInvalidArgument);
  EXPECT_EQ(memory.Download(x, 1).status().code(), Code::kFailedPrecondition);
  const std::vector<Diagnostic> leaks = memory.Leaks();
  ASSERT_EQ(leaks.size(), 1u);
  EXPECT_EQ(leaks[0].variable, "y");
  EXPECT_TRUE(memory.Free(y).ok());
  EXPECT_TRUE(memory.Leaks().empty());
}

__global__ void Read(gptr<const int> x, gptr<int> out, int at) { out[0] = x[at]; }

// Host copies say which elements are known, element by element.
TEST(MemoryTest, KnowsWhichElementsWereWritten) {
  DeviceMemory memory;
  const auto x = memory.Allocate<int>(4, "x").value();
  const auto out = memory.Allocate<int>(1, "out").value();
  const std::vector<int> one = {7};
  ASSERT_TRUE(memory.CopyToDevice(x + 2, std::span<const int>(one)).ok());
  const LaunchConfig config{.grid = 1, .block = 1};
  EXPECT_TRUE(Launch(memory, config, Read, x, out, 2).status.ok());
  EXPECT_EQ(memory.Download(out, 1).value(), one);
  EXPECT_FALSE(Launch(memory, config, Read, x, out, 1).status.ok());
  const LaunchResult unknown = Launch(memory, config, Read, x, out, 1);  // every time
  ASSERT_EQ(unknown.diagnostics.size(), 1u);
  EXPECT_EQ(unknown.diagnostics[0].finding, Finding::kUninitialisedRead);
  EXPECT_EQ(unknown.diagnostics[0].element, 1);
  // Copied on the device, the unknown stays unknown.
  const auto copy = memory.Allocate<int>(4, "copy").value();
  ASSERT_TRUE(memory.Copy<int>(copy, x, 4).ok());
  EXPECT_TRUE(Launch(memory, config, Read, copy, out, 2).status.ok());
  EXPECT_FALSE(Launch(memory, config, Read, copy, out, 3).status.ok());
}

__global__ void Bytes(gptr<unsigned char> bytes) { bytes[threadIdx.x] = 1; }

// Neighbouring bytes of one word, written by different threads, are no race.
TEST(MemoryTest, TellsNeighbouringBytesApart) {
  DeviceMemory memory;
  const auto words = memory.Allocate<int>(64, "words").value();
  const LaunchConfig config{.grid = 1, .block = 256};
  const LaunchResult result = Launch(memory, config, Bytes, pointer_cast<unsigned char>(words));
  EXPECT_TRUE(result.status.ok() && result.diagnostics.empty()) << Format(result.diagnostics);
  EXPECT_EQ(memory.Download(words, 64).value(), std::vector<int>(64, 0x01010101));
}

__global__ void Follow(gptr<const gptr<float>> rows, gptr<float> out, int row) {
  const gptr<float> p = rows[row];
  out[0] = p[2];
}

// Pointers have 8 bytes, as a GPU's, and may lie in memory; what was never one leads nowhere.
TEST(MemoryTest, HoldsPointers) {
  static_assert(sizeof(gptr<float>) == 8);
  DeviceMemory memory;
  const auto x = memory.Upload(std::vector<float>{1, 2, 3}, "x").value();
  const auto rows = memory.Allocate<gptr<float>>(3, "rows").value();
  const auto out = memory.Allocate<float>(1, "out").value();
  const std::vector<gptr<float>> known = {x, nullptr};
  ASSERT_TRUE(memory.CopyToDevice(rows, std::span<const gptr<float>>(known)).ok());
  const LaunchConfig config{.grid = 1, .block = 1};
  EXPECT_TRUE(Launch(memory, config, Follow, rows, out, 0).status.ok());
  EXPECT_EQ(memory.Download(out, 1).value()[0], 3.0f);
  for (const int row : {1, 2}) {
    const LaunchResult result = Launch(memory, config, Follow, rows, out, row);
    ASSERT_FALSE(result.diagnostics.empty());
    EXPECT_EQ(result.diagnostics.front().finding,
              row == 1 ? Finding::kOutOfBounds : Finding::kUninitialisedRead);
  }
}

struct Arguments {
  gptr<float> p;
  int n;
};
__global__ void Hidden(Arguments arguments) { arguments.p[arguments.n] = 1; }

TEST(MemoryTest, KnowsItsOwnPointers) {
  DeviceMemory memory;
  const LaunchConfig config{.grid = 1, .block = 1};
  gptr<float> stale;
  {
    DeviceMemory other;
    stale = other.Allocate<float>(10, "foreign").value();
    const LaunchResult result = Launch(memory, config, Hidden, Arguments{stale, 3});
    ASSERT_EQ(result.diagnostics.size(), 1u);
    EXPECT_EQ(result.diagnostics[0].finding, Finding::kOutOfBounds);
    EXPECT_NE(result.diagnostics[0].message.find("another device memory"), std::string::npos);
    EXPECT_TRUE(Launch(other, config, Hidden, Arguments{stale, 3}).status.ok());
  }
  EXPECT_EQ(memory.Free(stale).code(), Code::kInvalidArgument);
  EXPECT_EQ(memory.Download(stale, 1).status().code(), Code::kInvalidArgument);
  EXPECT_FALSE(Launch(memory, config, Hidden, Arguments{stale, 3}).status.ok());
}

TEST(MemoryTest, PointersKeepFarOffsetsApart) {
  DeviceMemory memory;
  const auto x = memory.Allocate<float>(100, "x").value();
  EXPECT_EQ((x + 70) - (x + 20), 50);
  EXPECT_EQ((x - 5) - x, -5);
  EXPECT_TRUE(x - 5 < x && x < x + 1 && x == (x - 5) + 5 && x != nullptr);
  // Beyond 32 GB there is nothing, in either direction, and never something else.
  const LaunchConfig config{.grid = 1, .block = 1};
  for (const int64_t far : {INT64_MAX, INT64_MIN, int64_t{1} << 34, int64_t{1} << 62}) {
    EXPECT_FALSE(Launch(memory, config, Hidden, Arguments{x + far, 0}).status.ok()) << far;
  }
}

#if defined(__EMSCRIPTEN__)
__global__ void OneByte(gptr<unsigned char> bytes) { bytes[0] = 1; }

// 32 bits cannot address who touched each of so many bytes: a launch that could not be checked says
// so, though its kernel waits for nothing.
TEST(MemoryTest, SaysThatALaunchCouldNotBeChecked) {
  DeviceMemory memory;
  const auto bytes = memory.Allocate<unsigned char>(180 << 20, "bytes").value();
  LaunchConfig config{.grid = 1, .block = 1};
  EXPECT_EQ(Launch(memory, config, OneByte, bytes).status.code(), Code::kResourceExhausted);
  config.trace = false;
  EXPECT_TRUE(Launch(memory, config, OneByte, bytes).status.ok());
  const std::vector<unsigned char> one = {1};
  EXPECT_EQ(memory.CopyToDevice(bytes, std::span<const unsigned char>(one)).code(),
            Code::kResourceExhausted);
}
#endif

struct Triple {
  float x, y, z;
};
__global__ void Triples(gptr<Triple> points) {
  Triple point = points[threadIdx.x];
  point.y = 2 * point.x;
  points[threadIdx.x] = point;
}

struct Quad {
  float x, y, z, w;
};
__global__ void Quads(gptr<Quad> points) {
  Quad point = points[threadIdx.x];
  point.w = 1;
  points[threadIdx.x] = point;
}
__global__ void Vectors(gptr<float4> points) {
  float4 point = points[threadIdx.x];
  point.w = 1;
  points[threadIdx.x] = point;
}

// An array of structures costs what it costs: only a type aligned as a whole moves as one.
TEST(MemoryTest, TellsStructuresFromVectors) {
  DeviceMemory memory;
  const auto quads = memory.Upload(std::vector<Quad>(32, {1, 2, 3, 4}), "quads").value();
  const LaunchConfig config{.grid = 1, .block = 32};
  const LaunchResult structures = Launch(memory, config, Quads, quads);
  const AccessCounters split = Total(structures.counters, Space::kGlobal, AccessKind::kLoad);
  EXPECT_EQ(split.requests, 4);
  EXPECT_EQ(split.sectors, 4 * 16);
  const LaunchResult vectors = Launch(memory, config, Vectors, pointer_cast<float4>(quads));
  const AccessCounters whole = Total(vectors.counters, Space::kGlobal, AccessKind::kLoad);
  EXPECT_EQ(whole.requests, 1);
  EXPECT_EQ(whole.sectors, 16);
  // Aligned to 4 bytes, a structure may lie at any multiple of 4.
  EXPECT_TRUE(Launch(memory, {.grid = 1, .block = 31}, Quads,
                     pointer_cast<Quad>(pointer_cast<float>(quads) + 1))
                  .status.ok());
  EXPECT_FALSE(Launch(memory, {.grid = 1, .block = 31}, Vectors,
                      pointer_cast<float4>(pointer_cast<float>(quads) + 1))
                   .status.ok());
}

// A structure of 12 bytes moves as three words.
TEST(MemoryTest, SplitsStructuresAsTheHardwareWould) {
  DeviceMemory memory;
  const auto points = memory.Upload(std::vector<Triple>(32, {1, 0, 3}), "points").value();
  const LaunchResult result = Launch(memory, {.grid = 1, .block = 32}, Triples, points);
  EXPECT_TRUE(result.status.ok()) << Format(result.diagnostics);
  const AccessCounters loads = Total(result.counters, Space::kGlobal, AccessKind::kLoad);
  EXPECT_EQ(loads.requests, 3);
  EXPECT_EQ(loads.sectors, 3 * 12);
  EXPECT_EQ(loads.ideal_sectors, 3 * 4);
  EXPECT_EQ(memory.Download(points, 32).value()[31].y, 2.0f);
}

}  // namespace
}  // namespace assay::simt
