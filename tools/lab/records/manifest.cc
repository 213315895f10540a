// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/records/manifest.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "tools/lab/lab.h"
#include "tools/lab/records/schema.h"

namespace assay::lab {
namespace {

absl::Status CheckUnique(const Json& document, const char* list, const char* key,
                         std::string_view file) {
  if (!document.contains(list)) return absl::OkStatus();
  std::set<std::string> seen;
  for (const Json& item : document[list]) {
    const std::string id = item[key].get<std::string>();
    if (!seen.insert(id).second) {
      return absl::InvalidArgumentError(
          absl::StrCat(file, ": ", list, ": the ", key, " \"", id, "\" is used twice"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Manifest> ParseManifest(std::string_view text, std::string_view file) {
  absl::StatusOr<Json> document = ParseJson(text, file);
  if (!document.ok()) return document.status();
  if (absl::Status status = CheckAgainstSchema(*document, "lab/1", file); !status.ok())
    return status;
  if (absl::Status status = CheckUnique(*document, "claims", "id", file); !status.ok())
    return status;
  if (absl::Status status = CheckUnique(*document, "charts", "id", file); !status.ok())
    return status;
  if (absl::Status status = CheckUnique(*document, "data", "name", file); !status.ok())
    return status;
  Manifest manifest;
  manifest.title = (*document)["title"].get<std::string>();
  manifest.kind = (*document)["kind"].get<std::string>();
  manifest.summary = (*document)["summary"].get<std::string>();
  const Json data_files = document->value("data", Json::array());
  for (const Json& item : data_files) {
    DataFile data;
    data.name = item["name"].get<std::string>();
    data.path = item["path"].get<std::string>();
    data.gunzip = item.value("gunzip", false);
    if (item.contains("slice")) {
      data.slice = {item["slice"][0].get<int64_t>(), item["slice"][1].get<int64_t>()};
      if (data.slice->first > data.slice->second) {
        return absl::InvalidArgumentError(absl::StrCat(file, ": the slice of the data \"",
                                                       data.name, "\" ends before it begins"));
      }
    }
    manifest.data.push_back(std::move(data));
  }
  const Json shown = document->value("shown", Json::object());
  for (const auto& [name, rule] : shown.items()) {
    manifest.digits[name] = rule["digits"].get<int>();
  }
  for (const Json& item : (*document)["claims"]) {
    Claim claim;
    claim.id = item["id"].get<std::string>();
    claim.text = item["text"].get<std::string>();
    claim.margin = item.value("margin", 0.0);
    claim.on = item.value("on", std::vector<std::string>());
    absl::StatusOr<Predicate> predicate = Predicate::Parse(item["predicate"].get<std::string>());
    if (!predicate.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(file, ": claim ", claim.id, ": predicate '",
                                                     item["predicate"].get<std::string>(),
                                                     "': ", predicate.status().message()));
    }
    claim.predicate = *std::move(predicate);
    manifest.claims.push_back(std::move(claim));
  }
  manifest.document = *std::move(document);
  return manifest;
}

absl::Status CheckNames(const Manifest& manifest, const std::vector<std::string>& names,
                        bool measured, std::string_view file) {
  const auto check = [&](const std::string& name, const std::string& where) {
    if (std::find(names.begin(), names.end(), name) != names.end()) return absl::OkStatus();
    const std::string nearest = NearestName(name, names);
    return absl::InvalidArgumentError(
        absl::StrCat(file, ": ", where, " names ", name, ", which the lab does not report",
                     nearest.empty() ? "" : absl::StrCat("; did you mean ", nearest, "?")));
  };
  for (const auto& [name, digits] : manifest.digits) {
    if (absl::Status status = check(name, "shown"); !status.ok()) return status;
  }
  for (const Claim& claim : manifest.claims) {
    for (const std::string& name : claim.predicate.names()) {
      if (measured && name.find('.') == std::string::npos) continue;
      if (absl::Status status = check(name, absl::StrCat("claim ", claim.id)); !status.ok())
        return status;
    }
  }
  const Json native_only = manifest.document.value("native_only", Json::object());
  for (const auto& [name, why] : native_only.items()) {
    if (absl::Status status = check(name, "native_only"); !status.ok()) return status;
  }
  const Json charts = manifest.document.value("charts", Json::array());
  for (const Json& chart : charts) {
    const std::string where = absl::StrCat("chart ", chart["id"].get<std::string>());
    const std::string table = chart["table"].get<std::string>();
    std::vector<std::string> columns = {chart["x"].get<std::string>()};
    if (chart["y"].is_array()) {
      for (const Json& y : chart["y"]) columns.push_back(y.get<std::string>());
    } else {
      columns.push_back(chart["y"].get<std::string>());
    }
    if (chart.contains("series")) columns.push_back(chart["series"].get<std::string>());
    if (absl::Status status = check(table, where); !status.ok()) return status;
    for (const std::string& column : columns) {
      if (absl::Status status = check(absl::StrCat(table, ".", column), where); !status.ok())
        return status;
    }
  }
  return absl::OkStatus();
}

}  // namespace assay::lab
