// SPDX-License-Identifier: Apache-2.0
//
// Says on stderr how far a run is: a bar on a terminal, plain lines in a pipe.
#ifndef ASSAY_TOOLS_LAB_PROGRAM_PROGRESS_H_
#define ASSAY_TOOLS_LAB_PROGRAM_PROGRESS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace assay::lab {

enum class ProgressMode { kBar, kPlain, kNone };

// What --progress=auto comes to: a bar where stderr is a terminal that can move its cursor and
// nobody says CI, plain lines elsewhere.
//   is_terminal: of stderr; term, ci: the environment's TERM and CI, empty where unset.
ProgressMode ChooseProgress(bool is_terminal, std::string_view term, std::string_view ci);

// One run's progress. A bar is drawn anew ten times a second at most; a plain line comes with every
// tenth of the work or 30 s without one, and never within a second of the last, so what takes no
// time says nothing.
class Progress {
 public:
  using Write = std::function<void(std::string_view)>;
  using Clock = std::function<double()>;  // seconds

  // label: what runs ("fft browser"). write: takes the text. width: columns of the terminal.
  Progress(ProgressMode mode, std::string label, Write write, Clock clock, int width = 80);

  void Update(int64_t done, int64_t total, std::string_view what);

  // Clears the bar; plain lines stay as they are.
  void Finish();

 private:
  std::string Line(int64_t done, int64_t total, std::string_view what, double now) const;

  ProgressMode mode_;
  std::string label_;
  Write write_;
  Clock clock_;
  int width_;
  double start_;
  double last_;
  std::string stage_;
  double stage_start_;
  int64_t last_tenth_ = 0;
  bool drawn_ = false;
};

// 8.3 s, 2 min 05 s, 1 h 02 min: durations as people read them.
std::string FormatSeconds(double seconds);

}  // namespace assay::lab

#endif  // ASSAY_TOOLS_LAB_PROGRAM_PROGRESS_H_
