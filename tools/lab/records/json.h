// SPDX-License-Identifier: Apache-2.0
//
// JSON as records use it: strict reading, one canonical text, a seal.
#ifndef ASSAY_TOOLS_LAB_RECORDS_JSON_H_
#define ASSAY_TOOLS_LAB_RECORDS_JSON_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace assay::lab {

using Json = nlohmann::json;  // objects keep their keys sorted

// Reads one JSON document.
//   text: UTF-8; file: its name, for messages.
// Fails: InvalidArgument with file, line and column for text that is not JSON (cut off, bytes after
// the end, not UTF-8), for a key that stands twice in one object and for more than 64 levels.
absl::StatusOr<Json> ParseJson(std::string_view text, std::string_view file);

// The canonical text: two spaces of indent, sorted keys, no escapes but the needed ones, a line
// feed at the end. Equal documents give equal bytes. Numbers are integers only (a float would need
// a format; values are strings in records).
std::string CanonicalText(const Json& document);

// Sets document["seal"] to the SHA-256 of the canonical text without it.
void Seal(Json& document);

// Is the document as it was sealed? Its text too is compared with the canonical text, so that an
// edit that changes no value is noticed as well. Fails: DataLoss naming the file and what to do.
absl::Status CheckSeal(const Json& document, std::string_view text, std::string_view file);

}  // namespace assay::lab

#endif  // ASSAY_TOOLS_LAB_RECORDS_JSON_H_
