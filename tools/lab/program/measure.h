// SPDX-License-Identifier: Apache-2.0
//
// The verb measure: times what a lab has to time, and keeps the samples with where they come from.
#ifndef ASSAY_TOOLS_LAB_PROGRAM_MEASURE_H_
#define ASSAY_TOOLS_LAB_PROGRAM_MEASURE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/lab/lab.h"
#include "tools/lab/program/session.h"
#include "tools/lab/records/json.h"

namespace assay::lab {

// Gives an ExitCode. Writes one file a lab, records/measured/<device>/<yyyymmdd>-<n>.json, and the
// device's own file when it is new. 3 where a lab measures nothing or lacks its device, 1 where a
// claim about timings fails or a median drifted.
int MeasureVerb(const Session& session);

// What checking the measured files of one lab came to.
struct MeasuredCheck {
  int64_t files = 0;                     // looked at
  std::vector<std::string> errors = {};  // one for each that is not whole, or has no name of ours
};

// Checks the measured files of a lab: name, JSON, version, schema, seal, summaries against samples;
// says what the last one of each device holds, and prints the errors. A lab that measures and has
// no file is no error here.
MeasuredCheck VerifyMeasured(const Session& session, const Lab& lab);

// Median, quartile distance (linear interpolation), least value, coefficient of variation of
// samples.
struct Summary {
  double median = 0, iqr = 0, min = 0, cv = 0;
};
Summary Summarise(std::vector<double> samples);

// May a new median stand beside the old one? Within max(10 %, 3 CV), the larger of the two CVs.
struct Drift {
  bool drifted = false;
  double allowed = 0;  // relative
};
Drift CompareMedians(const Summary& old_one, const Summary& new_one);

// Reads and checks one measured file. Fails as ReadRecords does.
absl::StatusOr<Json> ReadMeasured(const std::string& text, const std::string& file);

}  // namespace assay::lab

#endif  // ASSAY_TOOLS_LAB_PROGRAM_MEASURE_H_
