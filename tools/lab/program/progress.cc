// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/program/progress.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace assay::lab {

ProgressMode ChooseProgress(bool is_terminal, std::string_view term, std::string_view ci) {
  return is_terminal && term != "dumb" && !term.empty() && ci.empty() ? ProgressMode::kBar
                                                                      : ProgressMode::kPlain;
}

std::string FormatSeconds(double seconds) {
  if (seconds < 99.95) return absl::StrFormat("%.1f s", std::max(seconds, 0.0));
  const int64_t whole = static_cast<int64_t>(seconds + 0.5);
  if (whole < 3600) return absl::StrFormat("%d min %02d s", whole / 60, whole % 60);
  return absl::StrFormat("%d h %02d min", whole / 3600, whole % 3600 / 60);
}

Progress::Progress(ProgressMode mode, std::string label, Write write, Clock clock, int width)
    : mode_(mode),
      label_(std::move(label)),
      write_(std::move(write)),
      clock_(std::move(clock)),
      width_(std::clamp(width, 20, 200)),
      start_(clock_()),
      last_(start_),
      stage_start_(start_) {}

std::string Progress::Line(int64_t done, int64_t total, std::string_view what, double now) const {
  const double fraction =
      total > 0 ? std::clamp(static_cast<double>(done) / static_cast<double>(total), 0.0, 1.0) : 0;
  const double in_stage = now - stage_start_;
  std::string text = absl::StrFormat("%3d %%", static_cast<int>(fraction * 100));
  if (!what.empty()) absl::StrAppend(&text, "  ", what);
  absl::StrAppend(&text, "  ", done, "/", total);
  if (in_stage > 0.5 && done > 0) {
    absl::StrAppendFormat(&text, "  %.3g/s", static_cast<double>(done) / in_stage);
  }
  absl::StrAppend(&text, "  ", FormatSeconds(now - start_));
  if (in_stage > 1 && fraction > 0.02 && fraction < 1) {
    absl::StrAppend(&text, ", about ", FormatSeconds(in_stage / fraction * (1 - fraction)),
                    " left");
  }
  return text;
}

void Progress::Update(int64_t done, int64_t total, std::string_view what) {
  if (mode_ == ProgressMode::kNone) return;
  const double now = clock_();
  const bool new_stage = what != stage_;
  if (new_stage) {
    stage_ = what;
    stage_start_ = drawn_ ? now : start_;
    last_tenth_ = 0;
  }
  if (mode_ == ProgressMode::kBar) {
    if (drawn_ && now - last_ < 0.1 && done < total) return;
    last_ = now;
    drawn_ = true;
    constexpr int kCells = 20;
    const int filled =
        total > 0 ? static_cast<int>(std::clamp<double>(
                        kCells * static_cast<double>(done) / static_cast<double>(total), 0, kCells))
                  : 0;
    std::string line = absl::StrCat(label_, " [", std::string(static_cast<size_t>(filled), '#'),
                                    std::string(static_cast<size_t>(kCells - filled), '.'), "] ",
                                    Line(done, total, what, now));
    if (line.size() >= static_cast<size_t>(width_)) line.resize(static_cast<size_t>(width_) - 1);
    // Carriage return, erase the line, draw.
    write_(absl::StrCat("\r\x1b[K", line));
    return;
  }
  const int64_t tenth =
      total > 0
          ? static_cast<int64_t>(10 * (static_cast<double>(done) / static_cast<double>(total)))
          : 0;
  const double since = now - last_;
  if (since < 1 || (tenth <= last_tenth_ && since < 30)) return;
  last_tenth_ = std::max(tenth, last_tenth_);
  last_ = now;
  drawn_ = true;
  write_(absl::StrCat(label_, ": ", Line(done, total, what, now), "\n"));
}

void Progress::Finish() {
  if (mode_ == ProgressMode::kBar && drawn_) write_("\r\x1b[K");
  drawn_ = false;
}

}  // namespace assay::lab
