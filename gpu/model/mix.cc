// SPDX-License-Identifier: Apache-2.0
#include "gpu/model/mix.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace assay::model {
namespace {

constexpr size_t kLongestText = size_t{4} << 20;
constexpr int64_t kMostOfOne = int64_t{1} << 40;

using Words = std::vector<absl::string_view>;

// A number of the text: digits alone, at most `most`.
bool Number(absl::string_view word, int64_t most, int64_t* value) {
  if (word.empty() || word.size() > 13) return false;
  if (word.find_first_not_of("0123456789") != absl::string_view::npos) return false;
  return absl::SimpleAtoi(word, value) && *value <= most;
}

bool ParseKernel(const Words& words, KernelMix* kernel) {
  int64_t registers = 0;
  if (words.size() != 8 || words[2] != "registers" || words[4] != "shared" || words[6] != "local") {
    return false;
  }
  kernel->name = std::string(words[1]);
  if (!Number(words[3], 255, &registers) || !Number(words[5], kMostOfOne, &kernel->static_shared) ||
      !Number(words[7], kMostOfOne, &kernel->local_bytes)) {
    return false;
  }
  kernel->registers = static_cast<int>(registers);
  return true;
}

// "loop 0 at 0" comes first, "loop N in PARENT at PLACE" after it.
bool ParseLoop(const Words& words, KernelMix* kernel) {
  LoopMix loop;
  int64_t number = 0;
  int64_t parent = -1;
  const auto count = static_cast<int64_t>(kernel->loops.size());
  if (words.size() != (count == 0 ? 4u : 6u)) return false;
  if (!Number(words[1], count, &number) || number != count) return false;
  if (count > 0 && (words[2] != "in" || !Number(words[3], count - 1, &parent))) return false;
  if (words[words.size() - 2] != "at" || !Number(words.back(), kMostOfOne, &loop.begin))
    return false;
  loop.parent = static_cast<int>(parent);
  kernel->loops.push_back(std::move(loop));
  return true;
}

bool ParseCount(const Words& words, KernelMix* kernel) {
  InstructionCount count;
  if (words.size() != 2 || !Number(words[1], kMostOfOne, &count.count)) return false;
  count.name = std::string(words[0]);
  std::vector<InstructionCount>& counts = kernel->loops.back().instructions;
  if (!counts.empty() && counts.back().name >= count.name) return false;
  counts.push_back(std::move(count));
  return true;
}

bool ParseLine(const Words& words, Mix* mix) {
  const absl::string_view first = words[0];
  const bool begun = !mix->kernels.empty();
  if (!begun && first == "target" && words.size() == 2 && mix->compute_capability == 0) {
    int64_t capability = 0;
    absl::string_view number = words[1];
    if (!absl::ConsumePrefix(&number, "sm_") || !Number(number, 999, &capability)) return false;
    mix->compute_capability = static_cast<int>(capability);
    return capability > 0;
  }
  if (mix->compute_capability == 0) return false;
  if (!begun && first == "tool" && words.size() == 3 && words[1] == "ptxas") {
    mix->tool = std::string(words[2]);
    return true;
  }
  if (first == "kernel") {
    KernelMix kernel;
    if (!ParseKernel(words, &kernel)) return false;
    if (begun && mix->kernels.back().name >= kernel.name) return false;
    mix->kernels.push_back(std::move(kernel));
    return true;
  }
  if (!begun) return false;
  if (first == "loop") return ParseLoop(words, &mix->kernels.back());
  return !mix->kernels.back().loops.empty() && ParseCount(words, &mix->kernels.back());
}

}  // namespace

absl::StatusOr<Mix> MixOfAll(const Cubin& cubin) {
  Mix mix;
  mix.compute_capability = cubin.compute_capability;
  mix.tool = cubin.tool;
  for (const CubinKernel& kernel : cubin.kernels) {
    absl::StatusOr<KernelMix> one = MixOf(kernel, cubin.compute_capability);
    if (!one.ok()) return one.status();
    mix.kernels.push_back(*std::move(one));
  }
  std::stable_sort(mix.kernels.begin(), mix.kernels.end(),
                   [](const KernelMix& a, const KernelMix& b) { return a.name < b.name; });
  return mix;
}

std::string FormatMix(const Mix& mix) {
  std::string text = absl::StrCat("target sm_", mix.compute_capability, "\n");
  if (!mix.tool.empty()) absl::StrAppend(&text, "tool ptxas ", mix.tool, "\n");
  for (const KernelMix& kernel : mix.kernels) {
    absl::StrAppend(&text, "kernel ", kernel.name, " registers ", kernel.registers, " shared ",
                    kernel.static_shared, " local ", kernel.local_bytes, "\n");
    for (size_t k = 0; k < kernel.loops.size(); ++k) {
      const LoopMix& loop = kernel.loops[k];
      absl::StrAppend(&text, "loop ", k);
      if (k > 0) absl::StrAppend(&text, " in ", loop.parent);
      absl::StrAppend(&text, " at ", loop.begin, "\n");
      for (const InstructionCount& count : loop.instructions) {
        absl::StrAppend(&text, " ", count.name, " ", count.count, "\n");
      }
    }
  }
  return text;
}

absl::StatusOr<Mix> ParseMix(absl::string_view text) {
  if (text.size() > kLongestText) {
    return absl::InvalidArgumentError(
        absl::StrCat("mix: ", text.size(), " bytes, at most ", kLongestText));
  }
  Mix mix;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line);
    if (line.empty() || line.front() == '#') continue;
    if (!ParseLine(absl::StrSplit(line, ' '), &mix)) {
      return absl::InvalidArgumentError(
          absl::StrCat("mix: line ", number, " is no part of one: ", line.substr(0, 80)));
    }
  }
  if (mix.compute_capability == 0) return absl::InvalidArgumentError("mix: no target");
  for (const KernelMix& kernel : mix.kernels) {
    if (kernel.loops.empty()) {
      return absl::InvalidArgumentError(absl::StrCat("mix: kernel ", kernel.name, " is empty"));
    }
  }
  return mix;
}

const KernelMix* FindKernel(const Mix& mix, absl::string_view name) {
  for (const KernelMix& kernel : mix.kernels) {
    if (kernel.name == name) return &kernel;
  }
  return nullptr;
}

}  // namespace assay::model
