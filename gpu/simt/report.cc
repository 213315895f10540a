// SPDX-License-Identifier: Apache-2.0

#include "gpu/simt/report.h"

#include <algorithm>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace assay::simt {
namespace {

// Line `number` of a text, counted from 1; empty where there is none.
std::string_view LineOf(std::string_view text, int number) {
  for (int line = 1; line < number; ++line) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  return text.substr(0, text.find('\n'));
}

// Where a name stands as a word of its own; npos if nowhere.
size_t FindWord(std::string_view text, std::string_view word) {
  const auto is_part = [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  if (word.empty()) return std::string_view::npos;
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !is_part(text[at - 1])) && (end == text.size() || !is_part(text[end]))) {
      return at;
    }
  }
  return std::string_view::npos;
}

void AppendSource(const Site& site, std::string_view variable, const SourceReader& read_source,
                  std::string& out) {
  if (!read_source) return;
  const std::string text = read_source(site.file);
  const std::string line(LineOf(text, site.line));
  if (line.empty()) return;
  absl::StrAppendFormat(&out, "%6d | %s\n", site.line, line);
  size_t begin = FindWord(line, variable);
  size_t length = variable.size();
  if (begin == std::string::npos) {
    begin = line.find_first_not_of(" \t");
    if (begin == std::string::npos) return;
    length = line.find_last_not_of(" \t\r") - begin + 1;
  }
  std::string marks = line.substr(0, begin);
  for (char& c : marks) c = c == '\t' ? '\t' : ' ';
  absl::StrAppend(&out, "       | ", marks, "^", std::string(length > 1 ? length - 1 : 0, '~'),
                  "\n");
}

std::string Position(const Dim3& at) { return absl::StrCat("(", at.x, ",", at.y, ",", at.z, ")"); }

}  // namespace

std::string_view Name(Finding finding) {
  switch (finding) {
    case Finding::kRace:
      return "race";
    case Finding::kSameValueStores:
      return "same-value-stores";
    case Finding::kUninitialisedRead:
      return "uninitialised-read";
    case Finding::kOutOfBounds:
      return "out-of-bounds";
    case Finding::kMisaligned:
      return "misaligned";
    case Finding::kUseAfterFree:
      return "use-after-free";
    case Finding::kDivergentBarrier:
      return "divergent-barrier";
    case Finding::kDeadlock:
      return "deadlock";
    case Finding::kBadMask:
      return "bad-mask";
    case Finding::kShuffleSource:
      return "shuffle-source";
    case Finding::kMismatchedExchange:
      return "mismatched-exchange";
    case Finding::kMisplacedWait:
      return "misplaced-wait";
    case Finding::kSpin:
      return "spin";
    case Finding::kScheduleDependence:
      return "schedule-dependence";
    case Finding::kSharedMemory:
      return "shared-memory";
    case Finding::kLeak:
      return "leak";
    case Finding::kBadFree:
      return "bad-free";
  }
  return "";
}

std::string Format(std::span<const Diagnostic> diagnostics, const SourceReader& read_source) {
  std::string out;
  for (const Diagnostic& diagnostic : diagnostics) {
    const char* severity = diagnostic.severity == Severity::kError ? "error" : "warning";
    if (diagnostic.sites.empty()) {
      absl::StrAppend(&out, severity, ": ", diagnostic.message, " [", Name(diagnostic.finding),
                      "]\n");
      continue;
    }
    const Site& first = diagnostic.sites[0];
    absl::StrAppend(&out, first.file, ":", first.line, ": ", severity, ": ", diagnostic.message,
                    " [", Name(diagnostic.finding), "]\n");
    AppendSource(first, diagnostic.variable, read_source, out);
    absl::StrAppend(&out, "       = thread ", Position(first.thread), " of block ",
                    Position(first.block), ": ", first.action);
    if (diagnostic.count > 1) absl::StrAppend(&out, "; ", diagnostic.count, " times in all");
    absl::StrAppend(&out, "\n");
    for (size_t i = 1; i < diagnostic.sites.size(); ++i) {
      const Site& site = diagnostic.sites[i];
      absl::StrAppend(&out, site.file, ":", site.line, ": note: ", site.action, ", by thread ",
                      Position(site.thread), " of block ", Position(site.block), "\n");
      AppendSource(site, diagnostic.variable, read_source, out);
    }
  }
  return out;
}

namespace {

std::string KindName(const AccessCounters& access) {
  const char* kind = access.kind == AccessKind::kLoad    ? "load"
                     : access.kind == AccessKind::kStore ? "store"
                                                         : "atomic";
  return absl::StrCat(access.space == Space::kShared ? "shared " : "global ", kind, " ",
                      access.width);
}

// What a line moves beyond what its bytes need, in sectors or wavefronts.
int64_t Excess(const AccessCounters& access) {
  return access.space == Space::kShared ? access.wavefronts - access.ideal_wavefronts
                                        : access.sectors - access.ideal_sectors;
}

}  // namespace

std::string FormatCounters(const LaunchCounters& counters, const SourceReader& read_source) {
  std::string out;
  absl::StrAppendFormat(
      &out, "%d blocks, %d warps, %d threads; %d barriers, %d warp barriers, %d exchanges\n",
      counters.blocks, counters.warps, counters.threads, counters.barriers, counters.warp_barriers,
      counters.warp_exchanges);
  if (counters.matrix_operations != 0) {
    absl::StrAppend(&out, counters.matrix_operations, " matrix operations\n");
  }
  absl::StrAppend(&out, counters.shared_bytes,
                  " bytes of shared memory a block; lanes diverged in ",
                  counters.divergent_segments, " of ", counters.segments,
                  " stretches between synchronisations\n");
  const AccessCounters* worst[2] = {nullptr, nullptr};
  for (const AccessCounters& access : counters.accesses) {
    const AccessCounters*& most = worst[access.space == Space::kShared ? 1 : 0];
    if (Excess(access) > 0 && (most == nullptr || Excess(access) > Excess(*most))) most = &access;
  }
  std::string file;
  for (const AccessCounters& access : counters.accesses) {
    if (access.file != file) {
      file = access.file;
      absl::StrAppend(&out, file,
                      "\n  line  access           requests  lanes  sectors  (ideal)"
                      "  waves  (ideal)\n");
    }
    const double requests = static_cast<double>(access.requests);
    absl::StrAppendFormat(&out, "%6d  %-15s %9d  %5.1f", access.line, KindName(access),
                          access.requests, static_cast<double>(access.lanes) / requests);
    if (access.space == Space::kGlobal) {
      absl::StrAppendFormat(&out, "  %7.2f  %7.2f                 ",
                            static_cast<double>(access.sectors) / requests,
                            static_cast<double>(access.ideal_sectors) / requests);
    } else {
      absl::StrAppendFormat(&out, "                    %5.2f  %7.2f",
                            static_cast<double>(access.wavefronts) / requests,
                            static_cast<double>(access.ideal_wavefronts) / requests);
    }
    const bool marked = &access == worst[0] || &access == worst[1];
    std::string text;
    if (read_source) text = std::string(LineOf(read_source(access.file), access.line));
    const size_t begin = text.find_first_not_of(" \t");
    text = begin == std::string::npos ? "" : text.substr(begin);
    absl::StrAppend(&out,
                    marked         ? "  <"
                    : text.empty() ? ""
                                   : "   ",
                    text.empty() ? "" : "  ", text, "\n");
  }
  return out;
}

std::string ReadSourceFile(const std::string& file) {
  std::string text;
  std::FILE* input = std::fopen(file.c_str(), "rb");
  if (input == nullptr) return text;
  char buffer[4096];
  for (size_t n; (n = std::fread(buffer, 1, sizeof(buffer), input)) > 0;) text.append(buffer, n);
  std::fclose(input);
  return text;
}

}  // namespace assay::simt
