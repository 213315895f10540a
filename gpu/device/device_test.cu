// SPDX-License-Identifier: Apache-2.0
// One suite for both sides: on the simulator it always runs, on a GPU where there is one.

#include "gpu/device/device.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gpu/device/buffer.h"
#include "gpu/simt/simt.h"
#include "gtest/gtest.h"

namespace assay::device {
namespace {

using simt::gptr;

__global__ void Add(gptr<const int> x, gptr<const int> y, gptr<int> sum, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) sum[i] = x[i] + y[i];
}

__global__ void MultiplyAndAdd(gptr<int> x, int factor, int term, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) x[i] = x[i] * factor + term;
}

// Each block reverses its part of x through dynamic shared memory.
__global__ void ReverseBlocks(gptr<int> x) {
  DYNAMIC_SHARED(int, tile);
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  tile[threadIdx.x] = x[i];
  __syncthreads();
  x[i] = tile[blockDim.x - 1 - threadIdx.x];
}

__global__ void Nothing() {}

#define ASSERT_OK(expression)                  \
  do {                                         \
    const absl::Status ok_status = expression; \
    ASSERT_TRUE(ok_status.ok()) << ok_status;  \
  } while (false)

// A device and a stream; the case is skipped where there is no device.
class DeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    absl::StatusOr<Device> opened = Device::Open();
    if (!opened.ok()) {
      // Only a GPU may be missing.
      ASSERT_TRUE(absl::IsNotFound(opened.status())) << opened.status();
      GTEST_SKIP() << opened.status();
    }
    device_ = *std::move(opened);
    absl::StatusOr<Stream> stream = Stream::Create(device_);
    ASSERT_TRUE(stream.ok()) << stream.status();
    stream_ = *std::move(stream);
  }

  // What a program that frees everything and makes no mistake leaves behind.
  void TearDown() override {
    if (device_.context() == nullptr) return;
    EXPECT_EQ(device_.live().buffers, 0);
    EXPECT_EQ(device_.live().bytes, 0);
    const absl::Status last = device_.Synchronize();
    EXPECT_TRUE(last.ok()) << last;
  }

  DeviceBuffer<int> Buffer(size_t size) {
    absl::StatusOr<DeviceBuffer<int>> buffer = DeviceBuffer<int>::Create(device_, size);
    EXPECT_TRUE(buffer.ok()) << buffer.status();
    return buffer.ok() ? *std::move(buffer) : DeviceBuffer<int>();
  }
  DeviceBuffer<int> Filled(const std::vector<int>& values) {
    absl::StatusOr<DeviceBuffer<int>> buffer = DeviceBuffer<int>::CreateFrom(device_, values);
    EXPECT_TRUE(buffer.ok()) << buffer.status();
    return buffer.ok() ? *std::move(buffer) : DeviceBuffer<int>();
  }
  std::vector<int> Host(const DeviceBuffer<int>& buffer) {
    absl::StatusOr<std::vector<int>> host = buffer.ToHost();
    EXPECT_TRUE(host.ok()) << host.status();
    return host.ok() ? *std::move(host) : std::vector<int>();
  }
  PinnedBuffer<int> PinnedOf(const std::vector<int>& values) {
    absl::StatusOr<PinnedBuffer<int>> buffer = PinnedBuffer<int>::Create(device_, values.size());
    EXPECT_TRUE(buffer.ok()) << buffer.status();
    if (!buffer.ok()) return PinnedBuffer<int>();
    std::copy(values.begin(), values.end(), buffer->span().begin());
    return *std::move(buffer);
  }
  Stream AnotherStream() { return Stream::Create(device_).value(); }
  Event AnEvent() { return Event::Create(device_).value(); }

  Device device_;
  Stream stream_;
};

std::vector<int> Counting(int n, int first = 1) {
  std::vector<int> values(static_cast<size_t>(n));
  std::iota(values.begin(), values.end(), first);
  return values;
}

absl::Status LaunchMultiplyAndAdd(Stream& stream, DeviceBuffer<int>& x, int factor, int term) {
  const int n = static_cast<int>(x.size());
  return Launch(stream, {.grid = static_cast<uint32_t>((n + 31) / 32), .block = 32}, MultiplyAndAdd,
                x.data(), factor, term, n);
}

TEST_F(DeviceTest, DescribesItself) {
  const GpuDescription gpu = device_.description();
  EXPECT_FALSE(gpu.name.empty());
  EXPECT_GT(gpu.multiprocessors, 0);
  EXPECT_GE(gpu.compute_major, 7);
  const DeviceLimits limits = device_.limits();
  EXPECT_EQ(limits.threads_per_block, 1024);
  EXPECT_EQ(limits.block, Dim3(1024, 1024, 64));
  EXPECT_EQ(limits.grid, Dim3(2147483647, 65535, 65535));
  EXPECT_EQ(limits.shared_bytes_per_block, 48 << 10);
  EXPECT_GE(limits.shared_bytes_per_block_opt_in, 64 << 10);
  EXPECT_EQ(limits.registers_per_block, 65536);
  EXPECT_EQ(limits.warp_threads, 32);
}

TEST_F(DeviceTest, SaysThatThereIsNoSuchGpu) {
  for (const int index : {-1, 1000}) {
    const absl::StatusOr<Device> none = Device::Open(index);
    ASSERT_TRUE(absl::IsNotFound(none.status())) << none.status();
    EXPECT_NE(none.status().message().find(std::to_string(index)), absl::string_view::npos);
  }
}

TEST_F(DeviceTest, RunsAKernelOnEveryElement) {
  const std::vector<int> x = Counting(1000);
  const std::vector<int> y = Counting(1000, -7);
  DeviceBuffer<int> on_device = Filled(x);
  const DeviceBuffer<int> other = Filled(y);
  DeviceBuffer<int> sum = Buffer(1000);
  ASSERT_OK(Launch(stream_, {.grid = 8, .block = 128}, Add, on_device.data(), other.data(),
                   sum.data(), 1000));
  const absl::StatusOr<std::vector<int>> host = sum.ToHost();
  ASSERT_TRUE(host.ok()) << host.status();
  for (size_t i = 0; i < 1000; ++i) ASSERT_EQ((*host)[i], x[i] + y[i]);
}

TEST_F(DeviceTest, ConvertsArgumentsToTheParameters) {
  DeviceBuffer<int> x = Filled({10});
  const int64_t n = 1;
  ASSERT_OK(Launch(stream_, {}, MultiplyAndAdd, x.data(), short{3}, int64_t{4}, n));
  EXPECT_EQ(Host(x), std::vector<int>{34});
}

TEST_F(DeviceTest, GivesKernelsDynamicSharedMemory) {
  for (const int threads : {32, 1024}) {
    DeviceBuffer<int> x = Filled(Counting(2 * threads));
    LaunchConfig config{.grid = 2, .block = static_cast<uint32_t>(threads)};
    // Once what is needed, and once more than a kernel gets without asking.
    for (const int64_t bytes : {int64_t{4} * threads, int64_t{60} << 10}) {
      config.dynamic_shared_bytes = bytes;
      ASSERT_OK(Launch(stream_, config, ReverseBlocks, x.data()));
      const std::vector<int> host = Host(x);
      const bool reversed = bytes == int64_t{4} * threads;
      for (int i = 0; i < threads; ++i) {
        ASSERT_EQ(host[static_cast<size_t>(i)], reversed ? threads - i : i + 1);
        ASSERT_EQ(host[static_cast<size_t>(threads + i)],
                  threads + (reversed ? threads - i : i + 1));
      }
    }
  }
}

TEST_F(DeviceTest, CopiesPartsOfABuffer) {
  DeviceBuffer<int> x = Filled(Counting(10));
  ASSERT_OK(x.CopyFrom(std::vector<int>{-1, -2}, 4));
  std::vector<int> part(4);
  ASSERT_OK(x.CopyTo(part, 3));
  EXPECT_EQ(part, (std::vector<int>{4, -1, -2, 7}));
  // The whole is as it was elsewhere.
  EXPECT_EQ(Host(x), (std::vector<int>{1, 2, 3, 4, -1, -2, 7, 8, 9, 10}));
}

TEST_F(DeviceTest, RefusesCopiesBeyondTheEnd) {
  DeviceBuffer<int> x = Filled(Counting(10));
  std::vector<int> host(4, -1);
  for (const size_t offset : {size_t{7}, size_t{11}, std::numeric_limits<size_t>::max(),
                              std::numeric_limits<size_t>::max() - 3}) {
    const absl::Status in = x.CopyFrom(host, offset);
    EXPECT_EQ(in.code(), absl::StatusCode::kOutOfRange) << in;
    const absl::Status out = x.CopyTo(host, offset);
    EXPECT_EQ(out.code(), absl::StatusCode::kOutOfRange) << out;
    EXPECT_NE(out.message().find("4 elements from element " + std::to_string(offset)),
              absl::string_view::npos)
        << out;
  }
  EXPECT_EQ(host, std::vector<int>(4, -1));
  EXPECT_EQ(Host(x), Counting(10));
  EXPECT_TRUE(x.CopyFrom(host, 6).ok());
}

TEST_F(DeviceTest, TakesEmptyBuffersAndCopies) {
  DeviceBuffer<int> empty = Buffer(0);
  EXPECT_EQ(empty.size(), 0u);
  EXPECT_TRUE(empty.CopyFrom({}).ok());
  EXPECT_TRUE(empty.CopyTo({}).ok());
  EXPECT_TRUE(empty.Zero().ok());
  EXPECT_TRUE(empty.Zero(stream_).ok());
  EXPECT_TRUE(Host(empty).empty());
  PinnedBuffer<int> pinned = PinnedOf({});
  EXPECT_TRUE(pinned.span().empty());
  EXPECT_TRUE(empty.CopyFrom(stream_, pinned).ok());
  EXPECT_TRUE(empty.CopyTo(stream_, pinned).ok());
  // A range of no elements may begin at the end, not behind it.
  DeviceBuffer<int> x = Filled(Counting(3));
  EXPECT_TRUE(x.CopyFrom({}, 3).ok());
  EXPECT_EQ(x.CopyFrom({}, 4).code(), absl::StatusCode::kOutOfRange);
  // A kernel may be given the address of nothing.
  EXPECT_TRUE(Launch(stream_, {}, Add, empty.data(), empty.data(), empty.data(), 0).ok());
}

TEST_F(DeviceTest, RefusesSizesThatOverflow) {
  const absl::StatusOr<DeviceBuffer<int>> most =
      DeviceBuffer<int>::Create(device_, std::numeric_limits<size_t>::max() / 2);
  EXPECT_EQ(most.status().code(), absl::StatusCode::kInvalidArgument) << most.status();
  const absl::StatusOr<PinnedBuffer<int>> pinned =
      PinnedBuffer<int>::Create(device_, std::numeric_limits<size_t>::max() / 4 + 1);
  EXPECT_EQ(pinned.status().code(), absl::StatusCode::kInvalidArgument) << pinned.status();
}

TEST_F(DeviceTest, SaysThatMemoryIsExhausted) {
  const absl::StatusOr<MemoryInfo> memory = device_.Memory();
  ASSERT_TRUE(memory.ok()) << memory.status();
  // As much again as the whole device has, or all that a 32-bit machine can count.
  const uint64_t bytes =
      std::min<uint64_t>(2 * static_cast<uint64_t>(memory->total_bytes),
                         static_cast<uint64_t>(std::numeric_limits<ptrdiff_t>::max()));
  const absl::StatusOr<DeviceBuffer<char>> buffer =
      DeviceBuffer<char>::Create(device_, static_cast<size_t>(bytes));
  EXPECT_EQ(buffer.status().code(), absl::StatusCode::kResourceExhausted) << buffer.status();
  EXPECT_EQ(device_.live().buffers, 0);
}

TEST_F(DeviceTest, CountsWhatIsAlive) {
  const absl::StatusOr<MemoryInfo> before = device_.Memory();
  ASSERT_TRUE(before.ok());
  {
    const DeviceBuffer<int> x = Buffer(1 << 20);
    const PinnedBuffer<int> pinned = PinnedOf({1, 2, 3});
    EXPECT_EQ(device_.live().buffers, 2);
    EXPECT_EQ(device_.live().bytes, (4 << 20) + 12);
    EXPECT_LE(device_.Memory()->free_bytes, before->free_bytes - (4 << 20));
  }
  EXPECT_EQ(device_.live().buffers, 0);
  EXPECT_EQ(device_.live().bytes, 0);
}

TEST_F(DeviceTest, FreesOnceWhenABufferMoves) {
  DeviceBuffer<int> x = Filled({1, 2, 3});
  DeviceBuffer<int> y = std::move(x);
  EXPECT_EQ(x.size(), 0u);
  EXPECT_EQ(device_.live().buffers, 1);
  EXPECT_EQ(Host(y), (std::vector<int>{1, 2, 3}));
  y = Filled({4});  // the three are gone
  EXPECT_EQ(device_.live().buffers, 1);
  EXPECT_EQ(device_.live().bytes, 4);
  DeviceBuffer<int>& self = y;
  y = std::move(self);
  EXPECT_EQ(Host(y), std::vector<int>{4});
  PinnedBuffer<int> pinned = PinnedOf({5});
  PinnedBuffer<int> to = std::move(pinned);
  EXPECT_EQ(pinned.size(), 0u);
  EXPECT_TRUE(pinned.span().empty());
  EXPECT_EQ(to.span()[0], 5);
}

TEST_F(DeviceTest, RefusesWorkOnEmptyObjects) {
  DeviceBuffer<int> x = Filled({1});
  DeviceBuffer<int> moved = std::move(x);
  EXPECT_EQ(x.CopyFrom(std::vector<int>{1}).code(), absl::StatusCode::kOutOfRange);
  Stream no_stream;
  Event no_event;
  Graph no_graph;
  Device no_device;
  PinnedBuffer<int> pinned = PinnedOf({1});
  const auto expect_refused = [](const absl::Status& status) {
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  };
  expect_refused(no_stream.Synchronize());
  expect_refused(no_stream.Wait(no_event));
  expect_refused(stream_.Wait(no_event));
  expect_refused(no_event.Synchronize());
  expect_refused(no_event.Record(stream_));
  expect_refused(AnEvent().Record(no_stream));
  expect_refused(no_event.SecondsSince(no_event).status());
  expect_refused(no_graph.Replay(stream_));
  expect_refused(Graph::Capture(no_stream, [](Stream&) { return absl::OkStatus(); }).status());
  expect_refused(no_device.Synchronize());
  expect_refused(no_device.Memory().status());
  expect_refused(DeviceBuffer<int>::Create(no_device, 1).status());
  expect_refused(PinnedBuffer<int>::Create(no_device, 1).status());
  expect_refused(Stream::Create(no_device).status());
  expect_refused(Event::Create(no_device).status());
  expect_refused(Launch(no_stream, {}, Nothing));
  expect_refused(moved.Zero(no_stream));
  expect_refused(moved.CopyFrom(no_stream, pinned));
  expect_refused(moved.CopyTo(no_stream, pinned));
  EXPECT_EQ(no_device.description().multiprocessors, 0);
  EXPECT_EQ(no_device.live().buffers, 0);
}

TEST_F(DeviceTest, SetsBytes) {
  DeviceBuffer<int> x = Filled(Counting(100));
  ASSERT_OK(x.SetBytes(std::byte{0xff}));
  EXPECT_EQ(Host(x), std::vector<int>(100, -1));
  ASSERT_OK(x.Zero(stream_));
  EXPECT_EQ(Host(x), std::vector<int>(100, 0));
}

TEST_F(DeviceTest, KeepsTheOrderOfAStream) {
  DeviceBuffer<int> x = Filled(Counting(100));
  // 3 (2 x + 1) + 5: any other order gives something else.
  ASSERT_OK(LaunchMultiplyAndAdd(stream_, x, 2, 1));
  ASSERT_OK(LaunchMultiplyAndAdd(stream_, x, 3, 5));
  PinnedBuffer<int> result = PinnedOf(std::vector<int>(100));
  ASSERT_OK(x.CopyTo(stream_, result));
  ASSERT_OK(x.Zero(stream_));
  ASSERT_OK(stream_.Synchronize());
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(result.span()[static_cast<size_t>(i)], 3 * (2 * (i + 1) + 1) + 5);
  }
  EXPECT_EQ(Host(x), std::vector<int>(100, 0));
}

TEST_F(DeviceTest, CopiesInAStream) {
  PinnedBuffer<int> from = PinnedOf(Counting(1000));
  PinnedBuffer<int> to = PinnedOf(std::vector<int>(1000));
  DeviceBuffer<int> x = Buffer(1000);
  DeviceBuffer<int> y = Buffer(1000);
  ASSERT_OK(x.CopyFrom(stream_, from));
  ASSERT_OK(y.CopyFrom(stream_, x));
  ASSERT_OK(LaunchMultiplyAndAdd(stream_, x, 0, 0));
  ASSERT_OK(y.CopyTo(stream_, to));
  ASSERT_OK(stream_.Synchronize());
  EXPECT_EQ(std::vector<int>(to.span().begin(), to.span().end()), Counting(1000));
}

TEST_F(DeviceTest, RefusesCopiesBetweenDifferentSizes) {
  PinnedBuffer<int> three = PinnedOf({1, 2, 3});
  DeviceBuffer<int> four = Filled({0, 0, 0, 0});
  DeviceBuffer<int> two = Filled({0, 0});
  for (const absl::Status& status :
       {four.CopyFrom(stream_, three), four.CopyTo(stream_, three), four.CopyFrom(stream_, two)}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  }
  EXPECT_EQ(Host(four), std::vector<int>(4, 0));
}

TEST_F(DeviceTest, OrdersStreamsByEvents) {
  Stream other = AnotherStream();
  DeviceBuffer<int> x = Filled(Counting(64));
  Event first = AnEvent();
  Event second = AnEvent();
  // Back and forth, so that no order of whole streams will do.
  ASSERT_OK(LaunchMultiplyAndAdd(other, x, 2, 0));
  ASSERT_OK(first.Record(other));
  ASSERT_OK(stream_.Wait(first));
  ASSERT_OK(LaunchMultiplyAndAdd(stream_, x, 1, 1));
  ASSERT_OK(second.Record(stream_));
  ASSERT_OK(other.Wait(second));
  ASSERT_OK(LaunchMultiplyAndAdd(other, x, 10, 0));
  PinnedBuffer<int> result = PinnedOf(std::vector<int>(64));
  ASSERT_OK(x.CopyTo(other, result));
  ASSERT_OK(other.Synchronize());
  for (int i = 0; i < 64; ++i) {
    ASSERT_EQ(result.span()[static_cast<size_t>(i)], 10 * (2 * (i + 1) + 1));
  }
}

TEST_F(DeviceTest, WaitsForTheMarkAndNotForALaterOne) {
  Stream other = AnotherStream();
  DeviceBuffer<int> x = Filled({1});
  Event event = AnEvent();
  ASSERT_OK(LaunchMultiplyAndAdd(other, x, 2, 0));
  ASSERT_OK(event.Record(other));
  ASSERT_OK(stream_.Wait(event));
  ASSERT_OK(event.Record(stream_));  // the wait above keeps its meaning
  ASSERT_OK(LaunchMultiplyAndAdd(stream_, x, 1, 5));
  ASSERT_OK(stream_.Synchronize());
  EXPECT_EQ(Host(x), std::vector<int>{7});
  // An event that marks nothing holds nobody up.
  ASSERT_OK(stream_.Wait(AnEvent()));
  ASSERT_OK(AnEvent().Synchronize());
}

TEST_F(DeviceTest, WaitsWithoutAStreamForAllOfThem) {
  Stream other = AnotherStream();
  DeviceBuffer<int> x = Filled(Counting(8));
  DeviceBuffer<int> y = Filled(Counting(8));
  ASSERT_OK(LaunchMultiplyAndAdd(other, x, 2, 0));
  ASSERT_OK(LaunchMultiplyAndAdd(stream_, y, 3, 0));
  // A copy of x by the host comes after both streams and before what follows.
  ASSERT_OK(x.CopyFrom(std::vector<int>{100}));
  ASSERT_OK(LaunchMultiplyAndAdd(stream_, x, 1, 1));
  EXPECT_EQ(Host(x), (std::vector<int>{101, 5, 7, 9, 11, 13, 15, 17}));
  EXPECT_EQ(Host(y), (std::vector<int>{3, 6, 9, 12, 15, 18, 21, 24}));
}

TEST_F(DeviceTest, MeasuresTimeBetweenEvents) {
  DeviceBuffer<int> x = Filled(Counting(1000));
  Event start = AnEvent();
  Event stop = AnEvent();
  EXPECT_EQ(stop.SecondsSince(start).status().code(), absl::StatusCode::kFailedPrecondition);
  ASSERT_OK(start.Record(stream_));
  EXPECT_EQ(stop.SecondsSince(start).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(start.SecondsSince(stop).status().code(), absl::StatusCode::kFailedPrecondition);
  for (int i = 0; i < 10; ++i) ASSERT_OK(LaunchMultiplyAndAdd(stream_, x, 1, 1));
  ASSERT_OK(stop.Record(stream_));
  const absl::StatusOr<double> seconds = stop.SecondsSince(start);
  ASSERT_TRUE(seconds.ok()) << seconds.status();
#if defined(__CUDACC__)
  EXPECT_GT(*seconds, 0.0);
  EXPECT_LT(*seconds, 10.0);
#else
  EXPECT_EQ(*seconds, 0.0);
#endif
}

TEST_F(DeviceTest, ReplaysAGraphAsTheLaunchesItCaptured) {
  const auto work = [](DeviceBuffer<int>& x, DeviceBuffer<int>& copy, Stream& stream) {
    absl::Status status = LaunchMultiplyAndAdd(stream, x, 3, 1);
    if (status.ok()) status = copy.CopyFrom(stream, x);
    if (status.ok()) status = LaunchMultiplyAndAdd(stream, x, 1, -4);
    return status;
  };
  DeviceBuffer<int> x = Filled(Counting(100));
  DeviceBuffer<int> x_copy = Filled(std::vector<int>(100));
  DeviceBuffer<int> y = Filled(Counting(100));
  DeviceBuffer<int> y_copy = Filled(std::vector<int>(100));
  absl::StatusOr<Graph> graph =
      Graph::Capture(stream_, [&](Stream& stream) { return work(x, x_copy, stream); });
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->size(), 3);
  ASSERT_OK(stream_.Synchronize());
  EXPECT_EQ(Host(x), Counting(100));  // capturing ran nothing
  for (int i = 0; i < 5; ++i) {
    ASSERT_OK(graph->Replay(stream_));
    ASSERT_OK(work(y, y_copy, stream_));
    EXPECT_EQ(Host(x), Host(y));
    EXPECT_EQ(Host(x_copy), Host(y_copy));
  }
  Stream other = AnotherStream();
  ASSERT_OK(graph->Replay(other));
  ASSERT_OK(work(y, y_copy, stream_));
  EXPECT_EQ(Host(x), Host(y));
}

TEST_F(DeviceTest, RefusesToWaitWhileItCaptures) {
  DeviceBuffer<int> x = Filled({1});
  for (int call = 0; call < 3; ++call) {
    const absl::StatusOr<Graph> graph = Graph::Capture(stream_, [&](Stream& stream) {
      if (call == 0) return stream.Synchronize();
      if (call == 1) return x.CopyFrom(std::vector<int>{2});
      return x.ToHost().status();
    });
    EXPECT_EQ(graph.status().code(), absl::StatusCode::kFailedPrecondition) << graph.status();
    EXPECT_NE(graph.status().message().find("cudaErrorStreamCapture"), absl::string_view::npos)
        << graph.status();
  }
  // The stream is as before.
  ASSERT_OK(LaunchMultiplyAndAdd(stream_, x, 5, 0));
  EXPECT_EQ(Host(x), std::vector<int>{5});
}

TEST_F(DeviceTest, ReturnsWhatTheCapturedWorkSays) {
  const absl::StatusOr<Graph> graph =
      Graph::Capture(stream_, [](Stream&) { return absl::AbortedError("changed my mind"); });
  EXPECT_EQ(graph.status(), absl::AbortedError("changed my mind"));
  ASSERT_OK(stream_.Synchronize());
}

TEST_F(DeviceTest, NamesTheLimitThatALaunchIsBeyond) {
  const auto expect_refused = [&](const LaunchConfig& config, const char* limit) {
    const absl::Status status = Launch(stream_, config, Nothing);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_NE(status.message().find(limit), absl::string_view::npos) << status;
    EXPECT_NE(status.message().find("cudaError"), absl::string_view::npos) << status;
  };
  expect_refused({.grid = 0, .block = 32}, "grid.x");
  expect_refused({.grid = 1, .block = 0}, "block.x");
  expect_refused({.grid = Dim3(1, 65536, 1), .block = 32}, "grid.y");
  expect_refused({.grid = Dim3(1, 1, 65536), .block = 32}, "grid.z");
  expect_refused({.grid = 1, .block = Dim3(1, 1, 65)}, "block.z");
  expect_refused({.grid = 1, .block = 1025}, "1025");
  expect_refused({.grid = 1, .block = Dim3(32, 33)}, "1056");
  expect_refused({.grid = 1, .block = 32, .dynamic_shared_bytes = 300 << 10}, "307200");
  expect_refused({.grid = 1000000, .block = 1024, .cooperative = true}, "1000000");
  // None of it is kept: the caller knows.
  ASSERT_OK(device_.Synchronize());
  ASSERT_OK(Launch(stream_, {.grid = Dim3(2, 3, 4), .block = Dim3(4, 2, 64)}, Nothing));
}

TEST_F(DeviceTest, RefusesANegativeSizeOfSharedMemory) {
  const absl::Status status =
      Launch(stream_, {.grid = 1, .block = 32, .dynamic_shared_bytes = -1}, Nothing);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
}

}  // namespace
}  // namespace assay::device
