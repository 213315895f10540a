// SPDX-License-Identifier: Apache-2.0
//
// lab.json: what an article says about its lab. Schema: tools/lab/schema/lab.schema.json.
#ifndef ASSAY_TOOLS_LAB_RECORDS_MANIFEST_H_
#define ASSAY_TOOLS_LAB_RECORDS_MANIFEST_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/lab/records/json.h"
#include "tools/lab/records/predicate.h"

namespace assay::lab {

struct Claim {
  std::string id;
  std::string text;
  Predicate predicate;
  double margin = 0;
  std::vector<std::string> on;  // devices; empty: any
};

struct DataFile {
  std::string name;
  std::string path;  // in the workspace, or external/<repository>/<file>
  bool gunzip = false;
  std::optional<std::pair<int64_t, int64_t>> slice;  // [begin, end) of the bytes, after gunzip
};

struct Manifest {
  Json document;
  std::string title;
  std::string kind;  // "long-read" or "lab"
  std::string summary;
  std::vector<DataFile> data;
  std::map<std::string, int> digits;  // by figure id or table.column
  std::vector<Claim> claims;
};

// Reads lab.json.
//   text: its content; file: its name, for messages.
// Fails: InvalidArgument with the first mistake: not JSON, against the schema (an unknown key with
// the nearest known one), a repeated id, a predicate that does not parse (with claim and column).
absl::StatusOr<Manifest> ParseManifest(std::string_view text, std::string_view file);

// Are all figures, tables and columns that lab.json names there? Asked of the largest profile.
//   names: ids of figures, ids of tables, and table.column.
//   measured: the lab measures, so an unknown plain name of a claim may be a measured figure.
// Fails: InvalidArgument with the first name that is not there and the nearest one that is.
absl::Status CheckNames(const Manifest& manifest, const std::vector<std::string>& names,
                        bool measured, std::string_view file);

}  // namespace assay::lab

#endif  // ASSAY_TOOLS_LAB_RECORDS_MANIFEST_H_
