// SPDX-License-Identifier: Apache-2.0
//
// Records: what a run came to, as files that the page shows and that verify compares with.
//
// One profile of one lab is a folder, records/<profile>/, of exact.json (exact figures and tables),
// bounded.json (bounded, modelled and cited figures), claims.json and one CSV a table. Schemas:
// tools/lab/schema.
#ifndef ASSAY_TOOLS_LAB_RECORDS_RECORDS_H_
#define ASSAY_TOOLS_LAB_RECORDS_RECORDS_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/lab/lab.h"
#include "tools/lab/records/json.h"
#include "tools/lab/records/manifest.h"

namespace assay::lab {

// The sources a lab reaches, as tools/bazel/closure.bzl hashes them.
struct Closure {
  std::string target = "unknown";
  std::string sha256 = std::string(64, '0');
  int64_t files = 0;
};

// One profile of one lab.
struct RecordSet {
  Json exact;
  Json bounded;
  Json claims;
  std::map<std::string, std::string> csvs;  // file name -> text

  // All its files: name -> bytes. Equal record sets give equal bytes.
  std::map<std::string, std::string> Files() const;
};

// The hash that makes a record stale when it changes: the closure with the arguments and data of a
// run.
std::string ClosureHash(const Closure& closure, const Json& args, const Json& data);

// Makes the records of a run.
//   report: a document of schema report/1. measures: the lab times something, so that a claim may
//   name a measured figure.
// Fails: InvalidArgument for a claim whose predicate meets values that do not fit.
absl::StatusOr<RecordSet> MakeRecords(const Json& report, const Manifest& manifest,
                                      const Closure& closure, bool measures);

// Reads a set back and checks everything there is to check: JSON, version, schema, seal, the hash
// of each CSV, each figure's and each table's hash against its value.
//   files: name -> bytes; folder: for messages.
// Fails: NotFound when exact.json is missing, otherwise InvalidArgument or DataLoss, naming the
// file, what is wrong and what to do.
absl::StatusOr<RecordSet> ReadRecords(const std::map<std::string, std::string>& files,
                                      std::string_view folder);

// A decided claim as claims.json and measured files hold it.
Json VerdictJson(const Claim& claim, const Verdict& verdict);

// The value of a name in a record set, for predicates. Fails: NotFound.
absl::StatusOr<Operand> LookUp(const RecordSet& records, std::string_view name);

// Names in a record set: figures, tables, table.column.
std::vector<std::string> NamesIn(const RecordSet& records);

// One thing that two record sets disagree about.
struct Difference {
  std::string id = {};  // figure, table, claim, or "args", "data"
  std::string what =
      {};  // "value", "row 3, column error", "missing", "new", "verdict", "bound", ...
  std::string old_value = {}, new_value = {};
  std::string old_bits = {}, new_bits = {};  // of floats
  std::string ulps = {};                     // units in the last place between them, for floats
};

struct Delta {
  std::vector<Difference> values;  // what makes a run fail
  bool files_equal = false;        // byte for byte
};

// Compares what was recorded with what came out now. Exact, modelled and cited figures, tables, the
// arguments, the data and the verdicts are compared for equality; a bounded figure only has to hold
// its bound now. Titles, digits and the closure make no difference in value, only in files_equal.
//   max_cells: how many differing cells of one table are listed.
Delta Compare(const RecordSet& recorded, const RecordSet& now, int max_cells = 5);

// A CSV: header, comma, LF, quotes where needed.
std::string ToCsv(const Json& table);
// Its cells, the header left out. Fails: InvalidArgument with the line.
absl::StatusOr<std::vector<std::vector<std::string>>> FromCsv(std::string_view text,
                                                              const Json& columns,
                                                              std::string_view file);

}  // namespace assay::lab

#endif  // ASSAY_TOOLS_LAB_RECORDS_RECORDS_H_
