// SPDX-License-Identifier: Apache-2.0
// What only the simulated device can show: mistakes of the host and of kernels, and what kernels
// did.

#include "gpu/device/simulator.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gpu/device/buffer.h"
#include "gpu/device/device.h"
#include "gpu/simt/launch.h"
#include "gpu/simt/report.h"
#include "gpu/simt/simt.h"
#include "gtest/gtest.h"

namespace assay::device {
namespace {

using simt::gptr;

__global__ void Double(gptr<int> x, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) x[i] = 2 * x[i];
}

// The mistake is in the call: n may be more than x has.
__global__ void Set(gptr<int> x, int value, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) x[i] = value;
}

__global__ void Copy(gptr<const int> x, gptr<int> y) {
  y[static_cast<int>(threadIdx.x)] = x[static_cast<int>(threadIdx.x)];
}

// Every thread writes its number to one place: the last to run wins.
__global__ void Last(gptr<int> x) { x[0] = static_cast<int>(threadIdx.x); }

Device OpenWith(const SimulatorOptions& options) {
  absl::StatusOr<Device> device = OpenSimulator(options);
  EXPECT_TRUE(device.ok()) << device.status();
  return *std::move(device);
}

#define ASSERT_OK(expression)                  \
  do {                                         \
    const absl::Status ok_status = expression; \
    ASSERT_TRUE(ok_status.ok()) << ok_status;  \
  } while (false)

bool Says(const absl::Status& status, const std::string& words) {
  return status.message().find(words) != absl::string_view::npos;
}

constexpr LaunchConfig kOneWarp{.grid = 1, .block = 32};

TEST(SimulatorTest, RefusesMachinesThatItDoesNotKnow) {
  EXPECT_TRUE(absl::IsNotFound(OpenSimulator({.compute_capability = 61}).status()));
  const absl::Status none = OpenSimulator({.multiprocessors = 0}).status();
  EXPECT_EQ(none.code(), absl::StatusCode::kInvalidArgument) << none;
}

TEST(SimulatorTest, IsTheMachineThatWasAskedFor) {
  Device device =
      OpenWith({.compute_capability = 90, .multiprocessors = 132, .memory_bytes = 4096});
  EXPECT_EQ(device.description().name, "simulated sm_90");
  EXPECT_EQ(device.description().multiprocessors, 132);
  EXPECT_EQ(device.limits().shared_bytes_per_block_opt_in, 227 << 10);
  EXPECT_EQ(device.Memory()->total_bytes, 4096);
  EXPECT_EQ(DeviceBuffer<int>::Create(device, 1025).status().code(),
            absl::StatusCode::kResourceExhausted);
  const DeviceBuffer<int> x = DeviceBuffer<int>::Create(device, 1000).value();
  EXPECT_EQ(device.Memory()->free_bytes, 96);
}

TEST(SimulatorTest, TellsOfAFailedKernelWhereTheHostWaits) {
  for (const bool late : {false, true}) {
    Device device = OpenWith({.late = late});
    Stream stream = Stream::Create(device).value();
    DeviceBuffer<int> x =
        DeviceBuffer<int>::CreateFrom(device, std::vector<int>(20, 7), "twenty").value();
    // The launch is in order, so that it is taken; the kernel is not.
    ASSERT_OK(Launch(stream, kOneWarp, Set, x.data(), 1, 32));
    std::vector<int> host(20, -1);
    const absl::Status copy = x.CopyTo(host);
    EXPECT_EQ(copy.code(), absl::StatusCode::kFailedPrecondition) << copy;
    EXPECT_TRUE(Says(copy, "twenty")) << copy;
    EXPECT_TRUE(Says(copy, "simulator_test.cc")) << copy;
    EXPECT_EQ(host, std::vector<int>(20, -1));
    // Every call that waits says so, until the device is asked; then it is forgotten.
    EXPECT_EQ(stream.Synchronize(), copy);
    EXPECT_EQ(x.ToHost().status(), copy);
    EXPECT_EQ(x.CopyFrom(host), copy);
    EXPECT_EQ(device.Synchronize(), copy);
    EXPECT_TRUE(device.Synchronize().ok());
    EXPECT_TRUE(x.ToHost().ok());
  }
}

TEST(SimulatorTest, KeepsTheFirstErrorOfSeveral) {
  Device device = OpenWith({});
  Stream stream = Stream::Create(device).value();
  DeviceBuffer<int> first = DeviceBuffer<int>::Create(device, 1, "first").value();
  DeviceBuffer<int> second = DeviceBuffer<int>::Create(device, 1, "second").value();
  ASSERT_OK(Launch(stream, kOneWarp, Set, first.data(), 1, 32));
  ASSERT_OK(Launch(stream, kOneWarp, Set, second.data(), 1, 32));
  const absl::Status status = device.Synchronize();
  EXPECT_TRUE(Says(status, "first")) << status;
  EXPECT_TRUE(device.Synchronize().ok());
}

TEST(SimulatorTest, FindsReadsOfWhatNobodyWrote) {
  Device device = OpenWith({});
  Stream stream = Stream::Create(device).value();
  DeviceBuffer<int> x = DeviceBuffer<int>::Create(device, 32, "fresh").value();
  DeviceBuffer<int> y = DeviceBuffer<int>::Create(device, 32).value();
  ASSERT_OK(Launch(stream, kOneWarp, Copy, x.data(), y.data()));
  const absl::Status status = device.Synchronize();
  EXPECT_TRUE(Says(status, "fresh")) << status;
  ASSERT_OK(x.Zero(stream));
  ASSERT_OK(Launch(stream, kOneWarp, Copy, x.data(), y.data()));
  EXPECT_TRUE(device.Synchronize().ok());
}

TEST(SimulatorTest, FindsKernelsThatUseFreedMemory) {
  Device device = OpenWith({});
  Stream stream = Stream::Create(device).value();
  gptr<int> stale;
  {
    DeviceBuffer<int> x = DeviceBuffer<int>::Create(device, 32, "gone").value();
    stale = x.data();
    // Freeing waits for what was given before, so this is in order.
    ASSERT_OK(Launch(stream, kOneWarp, Set, x.data(), 1, 32));
  }
  ASSERT_OK(device.Synchronize());
  ASSERT_OK(Launch(stream, kOneWarp, Set, stale, 1, 32));
  const absl::Status status = device.Synchronize();
  EXPECT_FALSE(status.ok());
  EXPECT_TRUE(Says(status, "gone")) << status;
}

TEST(SimulatorTest, FindsGraphsThatOutliveTheirBuffers) {
  Device device = OpenWith({});
  Stream stream = Stream::Create(device).value();
  Graph graph;
  {
    DeviceBuffer<int> x = DeviceBuffer<int>::Create(device, 32, "gone").value();
    graph = Graph::Capture(stream, [&](Stream& captured) {
              absl::Status status = x.Zero(captured);
              return status.ok() ? Launch(captured, kOneWarp, Set, x.data(), 1, 32) : status;
            }).value();
    ASSERT_OK(graph.Replay(stream));
    ASSERT_OK(stream.Synchronize());
  }
  ASSERT_OK(graph.Replay(stream));
  const absl::Status status = device.Synchronize();
  EXPECT_FALSE(status.ok());
  EXPECT_TRUE(Says(status, "gone")) << status;
}

TEST(SimulatorTest, TellsOfADestructorThatCouldNotFree) {
  Device device = OpenWith({});
  {
    DeviceBuffer<int> x = DeviceBuffer<int>::Create(device, 32, "freed by hand").value();
    ASSERT_OK(SimulatedMemory(device).Free(x.data()));
  }
  const absl::Status status = device.Synchronize();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_TRUE(Says(status, "freed twice")) << status;
  EXPECT_TRUE(Says(status, "freed by hand")) << status;
}

TEST(SimulatorTest, NamesTheBuffersThatAreStillThere) {
  Device device = OpenWith({});
  EXPECT_TRUE(Leaks(device).empty());
  std::optional<DeviceBuffer<int>> kept = DeviceBuffer<int>::Create(device, 3, "kept").value();
  { const DeviceBuffer<int> freed = DeviceBuffer<int>::Create(device, 4, "freed").value(); }
  const std::vector<simt::Diagnostic> leaks = Leaks(device);
  ASSERT_EQ(leaks.size(), 1u);
  EXPECT_EQ(leaks[0].finding, simt::Finding::kLeak);
  EXPECT_EQ(leaks[0].variable, "kept");
  kept.reset();
  EXPECT_TRUE(Leaks(device).empty());
}

TEST(SimulatorTest, TellsOfPinnedMemoryFreedTooEarly) {
  Device device = OpenWith({});
  Stream stream = Stream::Create(device).value();
  DeviceBuffer<int> x = DeviceBuffer<int>::Create(device, 100).value();
  {
    PinnedBuffer<int> from = PinnedBuffer<int>::Create(device, 100).value();
    ASSERT_OK(x.CopyFrom(stream, from));
  }
  const absl::Status in = device.Synchronize();
  EXPECT_TRUE(Says(in, "pinned buffer was freed")) << in;
  {
    PinnedBuffer<int> to = PinnedBuffer<int>::Create(device, 100).value();
    ASSERT_OK(x.CopyTo(stream, to));
  }
  EXPECT_TRUE(Says(device.Synchronize(), "pinned buffer was freed"));
  {
    PinnedBuffer<int> from = PinnedBuffer<int>::Create(device, 100).value();
    ASSERT_OK(x.CopyFrom(stream, from));
    ASSERT_OK(stream.Synchronize());
  }
  EXPECT_TRUE(device.Synchronize().ok());
}

// Two streams, the second reads what the first writes. With its event the answer is right in every
// order; without it the late order gives the other answer that a GPU might give.
int ReadAcrossStreams(bool late, bool with_event) {
  Device device = OpenWith({.late = late});
  Stream writer = Stream::Create(device).value();
  Stream reader = Stream::Create(device).value();
  DeviceBuffer<int> x = DeviceBuffer<int>::CreateFrom(device, std::vector<int>{1}).value();
  PinnedBuffer<int> seen = PinnedBuffer<int>::Create(device, 1).value();
  Event written = Event::Create(device).value();
  EXPECT_TRUE(Launch(writer, {}, Double, x.data(), 1).ok());
  if (with_event) {
    EXPECT_TRUE(written.Record(writer).ok());
    EXPECT_TRUE(reader.Wait(written).ok());
  }
  EXPECT_TRUE(x.CopyTo(reader, seen).ok());
  EXPECT_TRUE(reader.Synchronize().ok());
  const int result = seen.span()[0];
  EXPECT_TRUE(device.Synchronize().ok());
  EXPECT_EQ((*x.ToHost())[0], 2);
  return result;
}

TEST(SimulatorTest, ShowsWhereAnEventIsMissing) {
  EXPECT_EQ(ReadAcrossStreams(false, false), 2);
  EXPECT_EQ(ReadAcrossStreams(true, false), 1);
  EXPECT_EQ(ReadAcrossStreams(false, true), 2);
  EXPECT_EQ(ReadAcrossStreams(true, true), 2);
}

TEST(SimulatorTest, ShowsWhereAWaitIsMissing) {
  Device device = OpenWith({});
  Stream stream = Stream::Create(device).value();
  DeviceBuffer<int> x = DeviceBuffer<int>::CreateFrom(device, std::vector<int>{5}).value();
  PinnedBuffer<int> seen = PinnedBuffer<int>::Create(device, 1).value();
  ASSERT_OK(x.CopyTo(stream, seen));
  EXPECT_EQ(seen.span()[0], 0);  // nobody has waited
  ASSERT_OK(stream.Synchronize());
  EXPECT_EQ(seen.span()[0], 5);
}

TEST(SimulatorTest, WaitsForOneStreamAndNotForTheOthers) {
  Device device = OpenWith({});
  Stream one = Stream::Create(device).value();
  Stream two = Stream::Create(device).value();
  DeviceBuffer<int> x = DeviceBuffer<int>::CreateFrom(device, std::vector<int>{5, 6}).value();
  PinnedBuffer<int> first = PinnedBuffer<int>::Create(device, 2).value();
  PinnedBuffer<int> second = PinnedBuffer<int>::Create(device, 2).value();
  ASSERT_OK(x.CopyTo(one, first));
  ASSERT_OK(x.CopyTo(two, second));
  ASSERT_OK(two.Synchronize());
  EXPECT_EQ(first.span()[1], 0);
  EXPECT_EQ(second.span()[1], 6);
  // A stream that goes has done its work; so has one that an event waits for.
  { const Stream gone = std::move(one); }
  EXPECT_EQ(first.span()[1], 6);
}

TEST(SimulatorTest, DoesNotPileUpWork) {
  Device device = OpenWith({});
  Stream stream = Stream::Create(device).value();
  DeviceBuffer<int> x = DeviceBuffer<int>::CreateFrom(device, std::vector<int>{0}).value();
  PinnedBuffer<int> seen = PinnedBuffer<int>::Create(device, 1).value();
  ASSERT_OK(x.SetBytes(stream, std::byte{1}));
  ASSERT_OK(x.CopyTo(stream, seen));
  for (int i = 0; i < 2000; ++i) ASSERT_OK(x.Zero(stream));
  EXPECT_EQ(seen.span()[0], 0x01010101);
}

TEST(SimulatorTest, ShowsWhatEachLaunchDid) {
  Device device = OpenWith({});
  Stream stream = Stream::Create(device).value();
  DeviceBuffer<int> x = DeviceBuffer<int>::CreateFrom(device, std::vector<int>(256, 3)).value();
  std::vector<simt::LaunchCounters> seen;
  OnLaunch(device, [&](const simt::LaunchResult& result) { seen.push_back(result.counters); });
  ASSERT_OK(Launch(stream, {.grid = 2, .block = 128}, Double, x.data(), 256));
  ASSERT_OK(Launch(stream, {.grid = 2, .block = 128}, Double, x.data(), 128));
  EXPECT_TRUE(seen.empty());
  ASSERT_OK(stream.Synchronize());
  ASSERT_EQ(seen.size(), 2u);
  // 256 ints are 32 sectors of 32 bytes.
  EXPECT_EQ(Total(seen[0], simt::Space::kGlobal, simt::AccessKind::kLoad).sectors, 32);
  EXPECT_EQ(Total(seen[1], simt::Space::kGlobal, simt::AccessKind::kStore).sectors, 16);
  OnLaunch(device, {});
  ASSERT_OK(Launch(stream, {.grid = 2, .block = 128}, Double, x.data(), 128));
  ASSERT_OK(stream.Synchronize());
  EXPECT_EQ(seen.size(), 2u);
}

TEST(SimulatorTest, RunsKernelsInTheOrderAskedFor) {
  const auto last = [](simt::Schedule schedule) {
    Device device = OpenWith({.schedule = schedule, .trace = false});
    Stream stream = Stream::Create(device).value();
    DeviceBuffer<int> x = DeviceBuffer<int>::Create(device, 1).value();
    EXPECT_TRUE(Launch(stream, {.grid = 1, .block = 64}, Last, x.data()).ok());
    return (*x.ToHost())[0];
  };
  EXPECT_EQ(last(simt::Schedule::kForward), 63);
  EXPECT_EQ(last(simt::Schedule::kReverse), 0);
}

TEST(SimulatorTest, TriesAllSchedulesWhereAsked) {
  Device device = OpenWith({.trace = false, .random_runs = 1});
  Stream stream = Stream::Create(device).value();
  DeviceBuffer<int> x = DeviceBuffer<int>::CreateFrom(device, std::vector<int>(64, 0)).value();
  ASSERT_OK(Launch(stream, {.grid = 1, .block = 64}, Double, x.data(), 64));
  EXPECT_TRUE(device.Synchronize().ok());
  ASSERT_OK(Launch(stream, {.grid = 1, .block = 64}, Last, x.data()));
  EXPECT_FALSE(device.Synchronize().ok());
}

TEST(SimulatorTest, RefusesAllocationsWhileItCaptures) {
  Device device = OpenWith({});
  Stream stream = Stream::Create(device).value();
  const absl::StatusOr<Graph> graph = Graph::Capture(
      stream, [&](Stream&) { return DeviceBuffer<int>::Create(device, 1).status(); });
  EXPECT_EQ(graph.status().code(), absl::StatusCode::kFailedPrecondition) << graph.status();
  EXPECT_TRUE(DeviceBuffer<int>::Create(device, 1).ok());
  const absl::StatusOr<Graph> inner = Graph::Capture(stream, [](Stream& captured) {
    return Graph::Capture(captured, [](Stream&) { return absl::OkStatus(); }).status();
  });
  EXPECT_EQ(inner.status().code(), absl::StatusCode::kFailedPrecondition) << inner.status();
}

}  // namespace
}  // namespace assay::device
