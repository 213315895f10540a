// SPDX-License-Identifier: Apache-2.0
// What was found wrong with a kernel, each with its place in the source, its block and its thread.
#ifndef ASSAY_GPU_SIMT_REPORT_H_
#define ASSAY_GPU_SIMT_REPORT_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/simt/counters.h"
#include "gpu/simt/dim3.h"

namespace assay::simt {

enum class Finding : uint8_t {
  kRace,               // two threads touch a place without order, one of them writes
  kSameValueStores,    // warning: two threads store the same value without order
  kUninitialisedRead,  // nobody has written what is read
  kOutOfBounds,
  kMisaligned,
  kUseAfterFree,
  kDivergentBarrier,    // threads of one block wait at different barriers
  kDeadlock,            // threads wait for what never comes
  kBadMask,             // a lane is not in the mask that it names
  kShuffleSource,       // warning: the lane that a shuffle reads does not take part
  kMismatchedExchange,  // lanes of one mask do different things
  kMisplacedWait,       // a synchronisation in a device function that is no SIMT_TASK
  kSpin,                // a thread seems to wait in a loop without letting others run
  kScheduleDependence,  // the result depends on the order in which threads run
  kSharedMemory,        // more shared memory than a block may have
  kLeak,                // a buffer was never freed
  kBadFree,             // freed twice, or never allocated
};

enum class Severity : uint8_t { kError, kWarning };

// One side of a finding: who did what, and where.
struct Site {
  std::string file;
  int line = 0;
  std::string action;  // "store", "load", "atomic", "__syncthreads", ...
  Dim3 block = Dim3(0, 0, 0);
  Dim3 thread = Dim3(0, 0, 0);
};

struct Diagnostic {
  Finding finding = Finding::kRace;
  Severity severity = Severity::kError;
  std::string message;      // one sentence, without the place
  std::vector<Site> sites;  // the first is where it was found out; the others explain
  std::string variable;     // the buffer or shared array, where there is one
  int64_t element = -1;     // of the variable
  int64_t count = 1;        // how often the same two lines were at it
};

// The short name of a kind of finding, "race".
std::string_view Name(Finding finding);

// A source file's text by its name; empty where it cannot be had.
using SourceReader = std::function<std::string(const std::string& file)>;

// The findings as a compiler would print them: place, severity, sentence, the source line with the
// variable underlined, notes for the other sites. `read_source` may be null: no source lines.
std::string Format(std::span<const Diagnostic> diagnostics, const SourceReader& read_source = {});

// What each source line did to memory, one row a line: requests, active lanes a request, sectors a
// request beside the fewest possible, wavefronts beside those without conflicts, and the line's
// text. The worst line of each kind is marked.
std::string FormatCounters(const LaunchCounters& counters, const SourceReader& read_source = {});

// Reads files below the working directory (natively; in WebAssembly there are none).
std::string ReadSourceFile(const std::string& file);

}  // namespace assay::simt

#endif  // ASSAY_GPU_SIMT_REPORT_H_
