// SPDX-License-Identifier: Apache-2.0
//
// Checks documents against the JSON Schemas in tools/lab/schema, which are compiled into the
// program.
#ifndef ASSAY_TOOLS_LAB_RECORDS_SCHEMA_H_
#define ASSAY_TOOLS_LAB_RECORDS_SCHEMA_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "tools/lab/records/json.h"

namespace assay::lab {

// The schemas by their $id ("records/1", "lab/1", ...).
const std::vector<std::pair<std::string, Json>>& Schemas();

// Does `document` obey the schema called `id`?
//   file: names the document in messages.
// Knows the keywords $ref (to #/$defs), type, const, enum, properties, required,
// additionalProperties, items, minItems, maxItems, minLength, pattern (^ATOMS$ of characters,
// classes and counts), minimum, maximum; a schema with another keyword is refused (Internal), so
// none is ignored silently. Fails: InvalidArgument with the first violation: file, where in the
// document, what, and for an unknown key the nearest known one.
absl::Status CheckAgainstSchema(const Json& document, std::string_view id, std::string_view file);

// The same with a schema of the caller's.
absl::Status CheckAgainst(const Json& schema, const Json& document, std::string_view file);

// For documents that name their version in "schema": is it the one this program reads?
// Fails: InvalidArgument saying which version was found, which is read and what to do.
absl::Status CheckVersion(const Json& document, std::string_view expected, std::string_view file);

}  // namespace assay::lab

#endif  // ASSAY_TOOLS_LAB_RECORDS_SCHEMA_H_
