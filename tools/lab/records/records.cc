// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/records/records.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "numerics/core/bits.h"
#include "numerics/core/sha256.h"
#include "tools/lab/number.h"
#include "tools/lab/records/schema.h"

namespace assay::lab {
namespace {

constexpr std::string_view kHashOfScalar =
    "little-endian value, NaN as the quiet NaN; of a text its UTF-8 bytes";
constexpr std::string_view kHashOfMany =
    "little-endian values in row-major order, NaN as the quiet NaN; each text after its length as "
    "u64";

Json HashJson(std::string_view hex, bool many) {
  return {{"algo", "sha256"}, {"hex", hex}, {"of", many ? kHashOfMany : kHashOfScalar}};
}

// A cell or value read back from its text and type. Nothing if the text is not of the type.
std::optional<Value> ReadValue(const std::string& type, const std::string& text) {
  std::optional<Value> value;
  if (type == "f32") {
    if (const auto number = ParseFloat(text)) value = Value::Of(*number);
  } else if (type == "f64") {
    if (const auto number = ParseDouble(text)) value = Value::Of(*number);
  } else if (type == "i64") {
    if (const auto number = ParseInt(text)) value = Value::OfInt(*number);
  } else if (type == "u64") {
    if (const auto number = ParseUint(text)) value = Value::OfUint(*number);
  } else if (type == "bool") {
    if (text == "true" || text == "false") value = Value::Of(text == "true");
  } else if (type == "str") {
    value = Value::OfString(text);
  }
  // 01 and 1.0 would read as values whose own text is another.
  if (value && value->text != text) return std::nullopt;
  return value;
}

std::string Shown(const Json& figure, const std::map<std::string, int>& digits) {
  const auto rule = digits.find(figure["id"].get<std::string>());
  const std::string type = figure["type"].get<std::string>();
  const std::string text = figure["value"].get<std::string>();
  if (rule == digits.end() || type == "bool" || type == "str") return text;
  // f32 and integers convert to f64 without loss up to 2^53; digits rules round far below that.
  return FormatSignificant(ParseDouble(text).value_or(0), rule->second);
}

Json FigureJson(const Json& figure, const std::map<std::string, int>& digits) {
  Json value = {{"type", figure["type"]}};
  const bool many = figure.contains("count");
  if (many) {
    value["count"] = figure["count"];
  } else {
    value["round_trip"] = figure["value"];
    value["shown"] = Shown(figure, digits);
    if (figure.contains("bits")) value["bits"] = figure["bits"];
  }
  Json result = {{"schema", "figure/1"},
                 {"id", figure["id"]},
                 {"kind", figure["kind"]},
                 {"title", figure["title"]},
                 {"unit", figure["unit"]},
                 {"value", std::move(value)},
                 {"hash", HashJson(figure["hash"].get<std::string>(), many)}};
  for (const char* key : {"error", "model", "source"}) {
    if (figure.contains(key)) result[key] = figure[key];
  }
  return result;
}

absl::StatusOr<Operand> ToOperand(const std::string& type, const std::vector<std::string>& texts,
                                  bool is_array, std::string_view name) {
  Operand operand;
  operand.is_array = is_array;
  if (type == "str") {
    operand.kind = Operand::Kind::kText;
    operand.texts = texts;
    return operand;
  }
  if (type == "bool") operand.kind = Operand::Kind::kBool;
  operand.numbers.reserve(texts.size());
  for (const std::string& text : texts) {
    const double number =
        type == "bool" ? (text == "true" ? 1.0 : 0.0) : ParseDouble(text).value_or(NAN);
    if ((type == "i64" || type == "u64") && std::abs(number) > 9007199254740992.0) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, " is ", text, ", beyond 2^53; predicates compute with f64 numbers"));
    }
    operand.numbers.push_back(number);
  }
  return operand;
}

absl::StatusOr<RecordSet> Sealed(RecordSet set) {
  Seal(set.exact);
  Seal(set.bounded);
  Seal(set.claims);
  return set;
}

Json UndecidedJson(const Claim& claim) {
  return {{"id", claim.id},
          {"text", claim.text},
          {"predicate", claim.predicate.text()},
          {"evidence", Json::array()}};
}

absl::StatusOr<Json> Decide(const RecordSet& set, const Claim& claim, bool measures) {
  Json absent = Json::array();
  bool measured = false;
  for (const std::string& name : claim.predicate.names()) {
    if (LookUp(set, name).status().code() != absl::StatusCode::kNotFound) continue;
    absent.push_back(name);
    // All that a lab reports is there at full size, so what is not is a timing.
    measured = measured ||
               (measures && set.exact["profile"] == "full" && name.find('.') == std::string::npos);
  }
  if (!absent.empty()) {
    Json verdict = UndecidedJson(claim);
    verdict["verdict"] = measured ? "measured" : "absent";
    verdict["absent"] = std::move(absent);
    return verdict;
  }
  const Predicate::Scope scope = [&set](std::string_view name) { return LookUp(set, name); };
  absl::StatusOr<Verdict> decided = claim.predicate.Evaluate(scope, claim.margin);
  if (!decided.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("claim ", claim.id, ": predicate '",
                                                   claim.predicate.text(),
                                                   "': ", decided.status().message()));
  }
  return VerdictJson(claim, *decided);
}

const Json* FindById(const Json& list, std::string_view id) {
  for (const Json& item : list) {
    if (item["id"] == id) return &item;
  }
  return nullptr;
}

void FillFloatDetails(const std::string& type, Difference& difference) {
  if (type != "f32" && type != "f64") return;
  const std::optional<Value> a = ReadValue(type, difference.old_value);
  const std::optional<Value> b = ReadValue(type, difference.new_value);
  if (!a || !b) return;
  const int width = type == "f32" ? 32 : 64;
  difference.old_bits = FormatHex(a->bits, width / 4);
  difference.new_bits = FormatHex(b->bits, width / 4);
  const uint64_t distance = width == 32
                                ? UlpDistance(FloatFromBits(static_cast<uint32_t>(a->bits)),
                                              FloatFromBits(static_cast<uint32_t>(b->bits)))
                                : UlpDistance(DoubleFromBits(a->bits), DoubleFromBits(b->bits));
  // The largest count stands for a number against a NaN.
  if (distance != std::numeric_limits<uint64_t>::max()) difference.ulps = FormatUint(distance);
}

std::string ValueText(const Json& figure) {
  const Json& value = figure["value"];
  return value.contains("round_trip")
             ? value["round_trip"].get<std::string>()
             : absl::StrCat(value["count"].get<int64_t>(), " values, SHA-256 ",
                            figure["hash"]["hex"].get<std::string>().substr(0, 16), "...");
}

void CompareFigures(const Json& recorded, const Json& now, std::vector<Difference>& out) {
  for (const Json& old : recorded["figures"]) {
    const std::string id = old["id"].get<std::string>();
    const Json* fresh = FindById(now["figures"], id);
    if (fresh == nullptr) {
      out.push_back({.id = id, .what = "missing", .old_value = ValueText(old)});
      continue;
    }
    for (const char* key : {"kind", "unit"}) {
      if (old[key] != (*fresh)[key]) {
        out.push_back({.id = id,
                       .what = key,
                       .old_value = old[key].get<std::string>(),
                       .new_value = (*fresh)[key].get<std::string>()});
      }
    }
    if (old["kind"] == "bounded" && (*fresh)["kind"] == "bounded") continue;
    if (old["hash"] == (*fresh)["hash"] && old["value"]["type"] == (*fresh)["value"]["type"])
      continue;
    Difference difference = {
        .id = id, .what = "value", .old_value = ValueText(old), .new_value = ValueText(*fresh)};
    if (old["value"]["type"] == (*fresh)["value"]["type"]) {
      FillFloatDetails(old["value"]["type"].get<std::string>(), difference);
    } else {
      difference.what =
          absl::StrCat("value, ", old["value"]["type"].get<std::string>(), " before, ",
                       (*fresh)["value"]["type"].get<std::string>(), " now");
    }
    out.push_back(std::move(difference));
  }
  for (const Json& fresh : now["figures"]) {
    const std::string id = fresh["id"].get<std::string>();
    if (FindById(recorded["figures"], id) == nullptr) {
      out.push_back({.id = id, .what = "new", .new_value = ValueText(fresh)});
    }
    if (fresh["kind"] != "bounded") continue;
    const Json& error = fresh["error"];
    const double observed = ParseDouble(error["observed"].get<std::string>()).value_or(NAN);
    const double bound = ParseDouble(error["bound"].get<std::string>()).value_or(NAN);
    if (!(observed <= bound)) {
      out.push_back({.id = id,
                     .what = absl::StrCat("bound: the observed ",
                                          error["metric"].get<std::string>(), " exceeds it"),
                     .old_value = absl::StrCat("at most ", error["bound"].get<std::string>()),
                     .new_value = error["observed"].get<std::string>()});
    }
  }
}

void CompareTables(const RecordSet& recorded, const RecordSet& now, int max_cells,
                   std::vector<Difference>& out) {
  for (const Json& old : recorded.exact["tables"]) {
    const std::string id = old["id"].get<std::string>();
    const Json* fresh = FindById(now.exact["tables"], id);
    if (fresh == nullptr) {
      out.push_back({.id = id, .what = "missing table"});
      continue;
    }
    const auto shape = [](const Json& table) {
      std::string text;
      for (const Json& column : table["columns"]) {
        absl::StrAppend(&text, text.empty() ? "" : ", ", column["name"].get<std::string>(), " ",
                        column["type"].get<std::string>(), " [", column["unit"].get<std::string>(),
                        "]");
      }
      return text;
    };
    if (shape(old) != shape(*fresh)) {
      out.push_back(
          {.id = id, .what = "columns", .old_value = shape(old), .new_value = shape(*fresh)});
      continue;
    }
    if (old["hash"] == (*fresh)["hash"] && old["rows"] == (*fresh)["rows"]) continue;
    if (old["rows"] != (*fresh)["rows"]) {
      out.push_back({.id = id,
                     .what = "rows",
                     .old_value = FormatInt(old["rows"].get<int64_t>()),
                     .new_value = FormatInt((*fresh)["rows"].get<int64_t>())});
    }
    const std::string path = old["csv"]["path"].get<std::string>();
    const auto before = FromCsv(recorded.csvs.at(path), old["columns"], path);
    const auto after =
        FromCsv(now.csvs.at((*fresh)["csv"]["path"].get<std::string>()), (*fresh)["columns"], path);
    if (!before.ok() || !after.ok()) continue;
    int64_t differing = 0;
    for (size_t row = 0; row < std::min(before->size(), after->size()); ++row) {
      for (size_t column = 0; column < old["columns"].size(); ++column) {
        const std::string& a = (*before)[row][column];
        const std::string& b = (*after)[row][column];
        if (a == b || ++differing > max_cells) continue;
        Difference difference = {
            .id = id,
            .what = absl::StrCat("row ", row + 1, ", column ",
                                 old["columns"][column]["name"].get<std::string>()),
            .old_value = a,
            .new_value = b};
        FillFloatDetails(old["columns"][column]["type"].get<std::string>(), difference);
        out.push_back(std::move(difference));
      }
    }
    if (differing > max_cells) {
      out.push_back({.id = id, .what = absl::StrCat(differing - max_cells, " more cells")});
    }
  }
  for (const Json& fresh : now.exact["tables"]) {
    const std::string id = fresh["id"].get<std::string>();
    if (FindById(recorded.exact["tables"], id) == nullptr)
      out.push_back({.id = id, .what = "new table"});
  }
}

void CompareClaims(const Json& recorded, const Json& now, std::vector<Difference>& out) {
  for (const Json& fresh : now["claims"]) {
    const std::string id = fresh["id"].get<std::string>();
    const Json* old = FindById(recorded["claims"], id);
    const std::string before =
        old == nullptr ? "not recorded" : (*old)["verdict"].get<std::string>();
    if (before != fresh["verdict"]) {
      out.push_back({.id = absl::StrCat("claim ", id),
                     .what = "verdict",
                     .old_value = before,
                     .new_value = fresh["verdict"].get<std::string>()});
    }
  }
  for (const Json& old : recorded["claims"]) {
    const std::string id = old["id"].get<std::string>();
    if (FindById(now["claims"], id) == nullptr) {
      out.push_back({.id = absl::StrCat("claim ", id),
                     .what = "verdict",
                     .old_value = old["verdict"].get<std::string>(),
                     .new_value = "no such claim"});
    }
  }
}

std::string OneLine(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

absl::Status CheckFigure(const Json& figure, const std::string& file) {
  const Json& value = figure["value"];
  const bool scalar = value.contains("round_trip");
  if (scalar == value.contains("count")) {
    return absl::InvalidArgumentError(absl::StrCat(
        file, ": figure ", figure["id"].get<std::string>(), " needs either a value or a count"));
  }
  if (!scalar) return absl::OkStatus();
  const std::string type = value["type"].get<std::string>();
  const std::optional<Value> read = ReadValue(type, value["round_trip"].get<std::string>());
  if (!read) {
    return absl::InvalidArgumentError(
        absl::StrCat(file, ": figure ", figure["id"].get<std::string>(), ": ",
                     OneLine(value["round_trip"]), " is not the text of an ", type));
  }
  std::vector<uint8_t> bytes;
  read->AppendBytes(false, bytes);
  const bool is_float = type == "f32" || type == "f64";
  const bool bits_fit =
      !is_float || value.value("bits", "") == FormatHex(read->bits, type == "f32" ? 8 : 16);
  if (!bits_fit || Sha256Hex(bytes) != figure["hash"]["hex"].get<std::string>()) {
    return absl::DataLossError(
        absl::StrCat(file, ": figure ", figure["id"].get<std::string>(),
                     ": its value, bits and hash do not agree; bring the file back (git checkout) "
                     "or record it anew (lab run --accept)"));
  }
  return absl::OkStatus();
}

absl::Status CheckTable(const Json& table, const RecordSet& set, const std::string& folder) {
  const std::string path = table["csv"]["path"].get<std::string>();
  const std::string file = absl::StrCat(folder, "/", path);
  const std::string mend = absl::StrCat("; bring it back (git checkout -- ", file,
                                        ") or record it anew (lab run --accept)");
  const auto csv = set.csvs.find(path);
  if (csv == set.csvs.end()) {
    return absl::DataLossError(absl::StrCat(file, ": the table's file is missing", mend));
  }
  if (Sha256Hex(std::string_view(csv->second)) != table["csv"]["sha256"].get<std::string>()) {
    return absl::DataLossError(absl::StrCat(
        file, ": its SHA-256 is not the recorded one, so it was edited by hand or damaged", mend));
  }
  const auto cells = FromCsv(csv->second, table["columns"], file);
  if (!cells.ok()) return cells.status();
  if (static_cast<int64_t>(cells->size()) != table["rows"].get<int64_t>()) {
    return absl::DataLossError(absl::StrCat(file, ": it has ", cells->size(),
                                            " rows, the record says ", table["rows"].get<int64_t>(),
                                            mend));
  }
  std::vector<uint8_t> bytes;
  for (size_t row = 0; row < cells->size(); ++row) {
    for (size_t column = 0; column < table["columns"].size(); ++column) {
      const std::optional<Value> value =
          ReadValue(table["columns"][column]["type"].get<std::string>(), (*cells)[row][column]);
      if (!value) {
        return absl::DataLossError(absl::StrCat(file, ": line ", row + 2, ": '",
                                                (*cells)[row][column],
                                                "' is not of the column's type", mend));
      }
      value->AppendBytes(true, bytes);
    }
  }
  if (Sha256Hex(bytes) != table["hash"]["hex"].get<std::string>()) {
    return absl::DataLossError(
        absl::StrCat(file, ": its values do not hash to the recorded hash", mend));
  }
  return absl::OkStatus();
}

}  // namespace

std::map<std::string, std::string> RecordSet::Files() const {
  std::map<std::string, std::string> files = csvs;
  files["exact.json"] = CanonicalText(exact);
  files["bounded.json"] = CanonicalText(bounded);
  files["claims.json"] = CanonicalText(claims);
  return files;
}

std::string ClosureHash(const Closure& closure, const Json& args, const Json& data) {
  return Sha256Hex(absl::StrCat("closure ", closure.sha256, "\nargs ", OneLine(args), "\ndata ",
                                OneLine(data), "\n"));
}

absl::StatusOr<RecordSet> MakeRecords(const Json& report, const Manifest& manifest,
                                      const Closure& closure, bool measures) {
  RecordSet set;
  Json base = {
      {"schema", "records/1"},
      {"lab", report["lab"]},
      {"profile", report["profile"]},
      {"run", {{"target", closure.target}, {"args", report["args"]}, {"data", report["data"]}}},
      {"code",
       {{"closure_sha256", ClosureHash(closure, report["args"], report["data"])},
        {"files", closure.files}}},
      {"figures", Json::array()},
      {"tables", Json::array()},
  };
  set.exact = base;
  set.bounded = base;
  for (const Json& figure : report["figures"]) {
    Json& document = figure["kind"] == "exact" ? set.exact : set.bounded;
    document["figures"].push_back(FigureJson(figure, manifest.digits));
  }
  for (const Json& table : report["tables"]) {
    const std::string id = table["id"].get<std::string>();
    const std::string path = id + ".csv";
    std::string csv = ToCsv(table);
    Json columns = table["columns"];
    for (Json& column : columns) {
      const auto rule =
          manifest.digits.find(absl::StrCat(id, ".", column["name"].get<std::string>()));
      if (rule != manifest.digits.end()) column["digits"] = rule->second;
    }
    set.exact["tables"].push_back(
        {{"id", id},
         {"title", table["title"]},
         {"columns", std::move(columns)},
         {"rows", table["rows"]},
         {"hash", HashJson(table["hash"].get<std::string>(), true)},
         {"csv", {{"path", path}, {"sha256", Sha256Hex(std::string_view(csv))}}}});
    set.csvs[path] = std::move(csv);
  }
  set.claims = {{"schema", "claims/1"},
                {"lab", report["lab"]},
                {"profile", report["profile"]},
                {"claims", Json::array()}};
  for (const Claim& claim : manifest.claims) {
    absl::StatusOr<Json> verdict = Decide(set, claim, measures);
    if (!verdict.ok()) return verdict.status();
    set.claims["claims"].push_back(*std::move(verdict));
  }
  return Sealed(std::move(set));
}

absl::StatusOr<RecordSet> ReadRecords(const std::map<std::string, std::string>& files,
                                      std::string_view folder) {
  RecordSet set;
  struct Part {
    const char* name;
    const char* schema;
    Json* document;
  };
  for (const Part& part : {Part{"exact.json", "records/1", &set.exact},
                           Part{"bounded.json", "records/1", &set.bounded},
                           Part{"claims.json", "claims/1", &set.claims}}) {
    const std::string file = absl::StrCat(folder, "/", part.name);
    const auto text = files.find(part.name);
    if (text == files.end()) {
      return absl::NotFoundError(absl::StrCat(file, ": not there; record it (lab run)"));
    }
    absl::StatusOr<Json> document = ParseJson(text->second, file);
    if (!document.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(document.status().message(), "; bring the file back (git checkout -- ", file,
                       ") or record it anew (lab run --accept)"));
    }
    if (absl::Status status = CheckVersion(*document, part.schema, file); !status.ok())
      return status;
    if (absl::Status status = CheckSeal(*document, text->second, file); !status.ok()) return status;
    if (absl::Status status = CheckAgainstSchema(*document, part.schema, file); !status.ok())
      return status;
    *part.document = *std::move(document);
  }
  for (const Json* document : {&set.exact, &set.bounded}) {
    const std::string file =
        absl::StrCat(folder, document == &set.exact ? "/exact.json" : "/bounded.json");
    for (const Json& figure : (*document)["figures"]) {
      if (absl::Status status = CheckFigure(figure, file); !status.ok()) return status;
    }
  }
  std::set<std::string> named;
  for (const Json& table : set.exact["tables"]) {
    const std::string path = table["csv"]["path"].get<std::string>();
    const auto csv = files.find(path);
    if (csv != files.end()) set.csvs[path] = csv->second;
    if (absl::Status status = CheckTable(table, set, std::string(folder)); !status.ok())
      return status;
    named.insert(path);
  }
  for (const auto& [name, bytes] : files) {
    if (name.size() > 4 && name.substr(name.size() - 4) == ".csv" && named.count(name) == 0) {
      return absl::DataLossError(absl::StrCat(
          folder, "/", name,
          ": no table of exact.json owns this file; delete it or record anew (lab run --accept)"));
    }
  }
  return set;
}

Json VerdictJson(const Claim& claim, const Verdict& verdict) {
  Json result = UndecidedJson(claim);
  result["verdict"] = verdict.holds ? "holds" : "fails";
  if (verdict.narrow) result["narrow"] = true;
  for (const Comparison& comparison : verdict.evidence) {
    result["evidence"].push_back({{"left", comparison.left},
                                  {"op", comparison.op},
                                  {"right", comparison.right},
                                  {"left_value", comparison.left_value},
                                  {"right_value", comparison.right_value},
                                  {"holds", comparison.holds}});
  }
  return result;
}

absl::StatusOr<Operand> LookUp(const RecordSet& records, std::string_view name) {
  const size_t dot = name.find('.');
  if (dot != std::string_view::npos) {
    const Json* table = FindById(records.exact["tables"], name.substr(0, dot));
    if (table != nullptr) {
      const Json& columns = (*table)["columns"];
      for (size_t c = 0; c < columns.size(); ++c) {
        if (columns[c]["name"] != name.substr(dot + 1)) continue;
        const std::string path = (*table)["csv"]["path"].get<std::string>();
        const auto rows = FromCsv(records.csvs.at(path), columns, path);
        if (!rows.ok()) return rows.status();
        std::vector<std::string> texts;
        for (const auto& row : *rows) texts.push_back(row[c]);
        return ToOperand(columns[c]["type"].get<std::string>(), texts, true, name);
      }
    }
    return absl::NotFoundError(absl::StrCat("there is no column ", name));
  }
  for (const Json* document : {&records.exact, &records.bounded}) {
    const Json* figure = FindById((*document)["figures"], name);
    if (figure == nullptr) continue;
    const Json& value = (*figure)["value"];
    if (!value.contains("round_trip")) {
      return absl::InvalidArgumentError(absl::StrCat(name,
                                                     " is an array recorded by its hash; report a "
                                                     "table or a scalar to use it in a predicate"));
    }
    return ToOperand(value["type"].get<std::string>(), {value["round_trip"].get<std::string>()},
                     false, name);
  }
  return absl::NotFoundError(absl::StrCat("there is no figure ", name));
}

std::vector<std::string> NamesIn(const RecordSet& records) {
  std::vector<std::string> names;
  for (const Json* document : {&records.exact, &records.bounded}) {
    for (const Json& figure : (*document)["figures"])
      names.push_back(figure["id"].get<std::string>());
  }
  for (const Json& table : records.exact["tables"]) {
    names.push_back(table["id"].get<std::string>());
    for (const Json& column : table["columns"]) {
      names.push_back(
          absl::StrCat(table["id"].get<std::string>(), ".", column["name"].get<std::string>()));
    }
  }
  return names;
}

Delta Compare(const RecordSet& recorded, const RecordSet& now, int max_cells) {
  Delta delta;
  delta.files_equal = recorded.Files() == now.Files();
  for (const char* key : {"args", "data"}) {
    if (recorded.exact["run"][key] != now.exact["run"][key]) {
      delta.values.push_back({.id = key,
                              .what = "value",
                              .old_value = OneLine(recorded.exact["run"][key]),
                              .new_value = OneLine(now.exact["run"][key])});
    }
  }
  CompareFigures(recorded.exact, now.exact, delta.values);
  CompareFigures(recorded.bounded, now.bounded, delta.values);
  CompareTables(recorded, now, max_cells, delta.values);
  CompareClaims(recorded.claims, now.claims, delta.values);
  return delta;
}

std::string ToCsv(const Json& table) {
  std::string text;
  const auto append_cell = [&text](const std::string& cell) {
    if (cell.find_first_of(",\"\n\r") == std::string::npos) {
      text += cell;
      return;
    }
    text.push_back('"');
    for (char c : cell) {
      if (c == '"') text.push_back('"');
      text.push_back(c);
    }
    text.push_back('"');
  };
  bool first = true;
  for (const Json& column : table["columns"]) {
    if (!first) text.push_back(',');
    first = false;
    append_cell(column["name"].get<std::string>());
  }
  text.push_back('\n');
  for (const Json& row : table["cells"]) {
    first = true;
    for (const Json& cell : row) {
      if (!first) text.push_back(',');
      first = false;
      append_cell(cell.get_ref<const std::string&>());
    }
    text.push_back('\n');
  }
  return text;
}

absl::StatusOr<std::vector<std::vector<std::string>>> FromCsv(std::string_view text,
                                                              const Json& columns,
                                                              std::string_view file) {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> row;
  const auto fail = [&](std::string_view what) {
    return absl::InvalidArgumentError(
        absl::StrCat(file, ": row ", rows.size() + 1, " (the header is row 1): ", what));
  };
  size_t i = 0;
  while (i < text.size()) {
    std::string cell;
    if (text[i] == '"') {
      for (++i;; ++i) {
        if (i >= text.size()) return fail("a quoted cell has no end (truncated?)");
        if (text[i] == '"') {
          if (i + 1 >= text.size() || text[i + 1] != '"') break;
          ++i;
        }
        cell.push_back(text[i]);
      }
      ++i;
    } else {
      while (i < text.size() && text[i] != ',' && text[i] != '\n') cell.push_back(text[i++]);
    }
    row.push_back(std::move(cell));
    if (i >= text.size()) return fail("it does not end with a line feed (truncated?)");
    const char separator = text[i++];
    if (separator == ',') {
      // A comma is followed by a cell, be it empty.
      if (i >= text.size()) return fail("it ends after a comma (truncated?)");
      continue;
    }
    if (separator != '\n')
      return fail("expected a comma or the end of the line after a quoted cell");
    if (row.size() != columns.size()) {
      return fail(absl::StrCat("it has ", row.size(), " cells, expected ", columns.size()));
    }
    rows.push_back(std::move(row));
    row.clear();
  }
  if (rows.empty()) return fail("the header is missing");
  for (size_t c = 0; c < columns.size(); ++c) {
    if (rows[0][c] != columns[c]["name"].get<std::string>()) {
      rows.clear();
      return fail("the header does not name the record's columns");
    }
  }
  rows.erase(rows.begin());
  return rows;
}

}  // namespace assay::lab
