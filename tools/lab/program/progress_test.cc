// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/program/progress.h"

#include <algorithm>
#include <string>

#include "gtest/gtest.h"

namespace assay::lab {
namespace {

TEST(ProgressTest, DrawsABarOnlyWhereOneCanBeDrawn) {
  EXPECT_EQ(ChooseProgress(true, "xterm", ""), ProgressMode::kBar);
  EXPECT_EQ(ChooseProgress(false, "xterm", ""), ProgressMode::kPlain);
  EXPECT_EQ(ChooseProgress(true, "dumb", ""), ProgressMode::kPlain);
  EXPECT_EQ(ChooseProgress(true, "", ""), ProgressMode::kPlain);
  EXPECT_EQ(ChooseProgress(true, "xterm", "true"), ProgressMode::kPlain);
}

struct Recorder {
  std::string text;
  double now = 100;
  Progress Make(ProgressMode mode, int width = 80) {
    return Progress(
        mode, "fft browser", [this](std::string_view more) { text += more; },
        [this] { return now; }, width);
  }
};

TEST(ProgressTest, WritesALineForEachTenth) {
  Recorder recorder;
  Progress progress = recorder.Make(ProgressMode::kPlain);
  for (int i = 0; i <= 1000; ++i) {
    recorder.now += 0.02;
    progress.Update(i, 1000, "adding");
  }
  progress.Finish();
  EXPECT_EQ(std::count(recorder.text.begin(), recorder.text.end(), '\n'), 10);
  EXPECT_EQ(recorder.text.substr(0, recorder.text.find('\n')),
            "fft browser:  10 %  adding  100/1000  49.5/s  2.0 s, about 18.2 s left");
  EXPECT_NE(recorder.text.find("100 %  adding  1000/1000"), std::string::npos);
  EXPECT_EQ(recorder.text.find('\r'), std::string::npos);
  EXPECT_EQ(recorder.text.find('\x1b'), std::string::npos);
}

TEST(ProgressTest, SaysThatItLivesEveryHalfMinute) {
  Recorder recorder;
  Progress progress = recorder.Make(ProgressMode::kPlain);
  for (int i = 0; i < 100; ++i) {
    recorder.now += 1;
    progress.Update(1, 1000, "waiting");
  }
  EXPECT_EQ(std::count(recorder.text.begin(), recorder.text.end(), '\n'), 3);
}

TEST(ProgressTest, SaysNothingAboutWhatTakesNoTime) {
  Recorder recorder;
  Progress progress = recorder.Make(ProgressMode::kPlain);
  for (int i = 0; i <= 1000; ++i) {
    recorder.now += 0.0005;
    progress.Update(i, 1000, "adding");
  }
  progress.Finish();
  EXPECT_EQ(recorder.text, "");
}

TEST(ProgressTest, DrawsAndClearsABarOfTheTerminalsWidth) {
  Recorder recorder;
  Progress progress = recorder.Make(ProgressMode::kBar, 40);
  for (int i = 0; i <= 100; ++i) {
    recorder.now += 0.01;
    progress.Update(i, 100, "a stage with a rather long name");
  }
  progress.Finish();
  EXPECT_EQ(recorder.text.substr(0, 5), std::string("\r\x1b[Kf"));
  EXPECT_EQ(recorder.text.substr(recorder.text.size() - 4), std::string("\r\x1b[K"));
  EXPECT_EQ(recorder.text.find('\n'), std::string::npos);
  size_t frames = 0;
  for (size_t at = recorder.text.find('\r'); at != std::string::npos;) {
    const size_t next = recorder.text.find('\r', at + 1);
    if (next != std::string::npos) {
      EXPECT_LT(next - at - 4, 40u);
    }
    at = next;
    ++frames;
  }
  // Ten a second for one second, the last, and the clearing.
  EXPECT_GE(frames, 10u);
  EXPECT_LE(frames, 13u);
  EXPECT_NE(recorder.text.find("[####################]"), std::string::npos);
}

TEST(ProgressTest, IsSilentWhenToldTo) {
  Recorder recorder;
  Progress progress = recorder.Make(ProgressMode::kNone);
  recorder.now += 100;
  progress.Update(1, 2, "x");
  progress.Finish();
  EXPECT_EQ(recorder.text, "");
}

TEST(FormatSecondsTest, ReadsAsPeopleSayIt) {
  EXPECT_EQ(FormatSeconds(0.04), "0.0 s");
  EXPECT_EQ(FormatSeconds(8.26), "8.3 s");
  EXPECT_EQ(FormatSeconds(125), "2 min 05 s");
  EXPECT_EQ(FormatSeconds(3725), "1 h 02 min");
}

}  // namespace
}  // namespace assay::lab
