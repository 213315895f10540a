// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/lab.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "numerics/core/bits.h"
#include "numerics/core/sha256.h"
#include "tools/lab/number.h"

namespace assay::lab {
namespace {

bool IsIdentifier(std::string_view name) {
  if (name.empty() || name[0] < 'a' || name[0] > 'z') return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

std::string Quoted(std::string_view text) {
  std::string result = "'";
  result += text;
  return result + "'";
}

// JSON text of a string. Bytes that are not UTF-8 become U+FFFD, so the document is always valid.
void AppendJson(std::string_view text, std::string& out) {
  out.push_back('"');
  for (size_t i = 0; i < text.size();) {
    const unsigned char c = static_cast<unsigned char>(text[i]);
    if (c < 0x80) {
      if (c == '"' || c == '\\') {
        out.push_back('\\');
        out.push_back(static_cast<char>(c));
      } else if (c == '\n') {
        out += "\\n";
      } else if (c < 0x20) {
        out += "\\u00";
        out.push_back("0123456789abcdef"[c >> 4]);
        out.push_back("0123456789abcdef"[c & 15]);
      } else {
        out.push_back(static_cast<char>(c));
      }
      ++i;
      continue;
    }
    const size_t length = c >= 0xf0 && c < 0xf5   ? 4
                          : c >= 0xe0 && c < 0xf0 ? 3
                          : c >= 0xc2 && c < 0xe0 ? 2
                                                  : 0;
    bool valid = length != 0 && i + length <= text.size();
    for (size_t k = 1; valid && k < length; ++k) {
      valid = (static_cast<unsigned char>(text[i + k]) & 0xc0) == 0x80;
    }
    if (valid && length >= 3) {
      // Overlong forms, surrogates and what lies beyond U+10FFFF.
      const unsigned char next = static_cast<unsigned char>(text[i + 1]);
      valid = !(c == 0xe0 && next < 0xa0) && !(c == 0xed && next >= 0xa0) &&
              !(c == 0xf0 && next < 0x90) && !(c == 0xf4 && next >= 0x90);
    }
    if (valid) {
      out += text.substr(i, length);
      i += length;
    } else {
      out += "\xef\xbf\xbd";
      ++i;
    }
  }
  out.push_back('"');
}

// Appends `"key":` and, where it is not the first, the comma before it.
void AppendKey(std::string_view key, std::string& out) {
  if (out.back() != '{') out.push_back(',');
  AppendJson(key, out);
  out.push_back(':');
}

void AppendField(std::string_view key, std::string_view text, std::string& out) {
  AppendKey(key, out);
  AppendJson(text, out);
}

void AppendFigure(const Figure& figure, std::string& out) {
  out.push_back('{');
  AppendField("id", figure.id, out);
  AppendField("kind", KindName(figure.kind), out);
  AppendField("title", figure.title, out);
  AppendField("unit", figure.unit, out);
  const Type type = figure.value.type;
  AppendField("type", TypeName(type), out);
  if (figure.is_array) {
    AppendKey("count", out);
    out += FormatInt(figure.count);
  } else {
    AppendField("value", figure.value.text, out);
    if (type == Type::kF32 || type == Type::kF64) {
      AppendField("bits", FormatHex(figure.value.bits, type == Type::kF32 ? 8 : 16), out);
    }
  }
  AppendField("hash", figure.hash, out);
  if (figure.kind == Kind::kBounded) {
    AppendKey("error", out);
    out.push_back('{');
    AppendField("metric", figure.bound.metric, out);
    AppendField("observed", FormatDouble(figure.bound.observed), out);
    AppendField("bound", FormatDouble(figure.bound.bound), out);
    AppendField("why", figure.bound.why, out);
    AppendField("reference", figure.bound.reference, out);
    out.push_back('}');
  }
  if (figure.kind == Kind::kModelled) AppendField("model", figure.model, out);
  if (figure.kind == Kind::kCited) {
    AppendKey("source", out);
    out.push_back('{');
    AppendField("author", figure.source.author, out);
    AppendKey("year", out);
    out += FormatInt(figure.source.year);
    AppendField("title", figure.source.title, out);
    AppendField("where", figure.source.where, out);
    AppendField("url", figure.source.url, out);
    out.push_back('}');
  }
  out.push_back('}');
}

void AppendTable(const Table& table, std::string& out) {
  out.push_back('{');
  AppendField("id", table.id(), out);
  AppendField("title", table.title(), out);
  AppendKey("columns", out);
  out.push_back('[');
  const int64_t columns = static_cast<int64_t>(table.columns().size());
  for (int64_t c = 0; c < columns; ++c) {
    const Table::ColumnInfo& column = table.columns()[static_cast<size_t>(c)];
    out += c == 0 ? "{" : ",{";
    AppendField("name", column.name, out);
    AppendField("type", TypeName(column.type), out);
    AppendField("unit", column.unit, out);
    out.push_back('}');
  }
  out.push_back(']');
  AppendKey("rows", out);
  out += FormatInt(table.rows());
  AppendKey("cells", out);
  out.push_back('[');
  for (int64_t r = 0; r < table.rows(); ++r) {
    out += r == 0 ? "[" : ",[";
    for (int64_t c = 0; c < columns; ++c) {
      if (c != 0) out.push_back(',');
      AppendJson(table.cell(r, c), out);
    }
    out.push_back(']');
  }
  out.push_back(']');
  AppendField("hash", table.Hash(), out);
  out.push_back('}');
}

std::vector<Lab>& Registry() {
  static std::vector<Lab>* const labs = new std::vector<Lab>;
  return *labs;
}

// SplitMix64: the order of the timed variants has to be drawn from something; it enters no result.
uint64_t NextOrderWord(uint64_t& state) {
  uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace

std::string_view ProfileName(Profile profile) {
  switch (profile) {
    case Profile::kQuick:
      return "quick";
    case Profile::kBrowser:
      return "browser";
    case Profile::kFull:
      return "full";
  }
  return "";
}

std::optional<Profile> ParseProfile(std::string_view name) {
  for (Profile profile : {Profile::kQuick, Profile::kBrowser, Profile::kFull}) {
    if (ProfileName(profile) == name) return profile;
  }
  return std::nullopt;
}

std::string_view TypeName(Type type) {
  switch (type) {
    case Type::kF32:
      return "f32";
    case Type::kF64:
      return "f64";
    case Type::kI64:
      return "i64";
    case Type::kU64:
      return "u64";
    case Type::kBool:
      return "bool";
    case Type::kString:
      return "str";
  }
  return "";
}

std::string_view KindName(Kind kind) {
  switch (kind) {
    case Kind::kExact:
      return "exact";
    case Kind::kBounded:
      return "bounded";
    case Kind::kModelled:
      return "modelled";
    case Kind::kCited:
      return "cited";
  }
  return "";
}

Value Value::Of(float value) { return {Type::kF32, FormatFloat(value), CanonicalBits(value)}; }
Value Value::Of(double value) { return {Type::kF64, FormatDouble(value), CanonicalBits(value)}; }
Value Value::Of(bool value) { return {Type::kBool, value ? "true" : "false", value ? 1u : 0u}; }
Value Value::OfInt(int64_t value) {
  return {Type::kI64, FormatInt(value), static_cast<uint64_t>(value)};
}
Value Value::OfUint(uint64_t value) { return {Type::kU64, FormatUint(value), value}; }
Value Value::OfString(std::string_view value) { return {Type::kString, std::string(value), 0}; }

void Value::AppendBytes(bool length_first, std::vector<uint8_t>& bytes) const {
  const auto append_word = [&bytes](uint64_t word, int count) {
    for (int i = 0; i < count; ++i) bytes.push_back(static_cast<uint8_t>(word >> (8 * i)));
  };
  switch (type) {
    case Type::kString:
      if (length_first) append_word(text.size(), 8);
      bytes.insert(bytes.end(), text.begin(), text.end());
      return;
    case Type::kBool:
      append_word(bits, 1);
      return;
    case Type::kF32:
      append_word(bits, 4);
      return;
    case Type::kF64:
    case Type::kI64:
    case Type::kU64:
      append_word(bits, 8);
      return;
  }
}

Context::Context(Options options) : options_(std::move(options)) {
  options_.threads = std::max(options_.threads, 1);
}

const std::string* Context::Override(std::string_view name) const {
  for (auto it = options_.args.rbegin(); it != options_.args.rend(); ++it) {
    if (it->first == name) return &it->second;
  }
  return nullptr;
}

const std::string* Context::Recorded(std::string_view name) const {
  for (const auto& arg : args_) {
    if (arg.first == name) return &arg.second;
  }
  return nullptr;
}

void Context::Fail(absl::Status status) {
  if (status_.ok()) status_ = std::move(status);
}

uint64_t Context::seed() {
  uint64_t value = 1;
  if (const std::string* text = Override("seed")) {
    if (const std::optional<uint64_t> parsed = ParseUint(*text)) {
      value = *parsed;
    } else {
      Fail(absl::InvalidArgumentError("the seed is " + Quoted(*text) +
                                      "; expected an integer from 0 to 18446744073709551615"));
    }
  }
  if (Recorded("seed") == nullptr) args_.emplace_back("seed", FormatUint(value));
  return value;
}

int64_t Context::Integer(std::string_view name, int64_t quick, int64_t browser, int64_t full) {
  if (const std::string* text = Recorded(name)) return ParseInt(*text).value_or(0);
  if (!IsIdentifier(name)) {
    Fail(absl::InvalidArgumentError("the knob " + Quoted(name) +
                                    " is not of the form [a-z][a-z0-9_]*"));
  }
  int64_t value = profile() == Profile::kQuick     ? quick
                  : profile() == Profile::kBrowser ? browser
                                                   : full;
  if (const std::string* text = Override(name)) {
    if (const std::optional<int64_t> parsed = ParseInt(*text)) {
      value = *parsed;
    } else {
      Fail(absl::InvalidArgumentError("the knob " + Quoted(name) + " is " + Quoted(*text) +
                                      "; expected a 64-bit integer"));
    }
  }
  args_.emplace_back(std::string(name), FormatInt(value));
  return value;
}

double Context::Real(std::string_view name, double quick, double browser, double full) {
  if (const std::string* text = Recorded(name)) return ParseDouble(*text).value_or(0);
  if (!IsIdentifier(name)) {
    Fail(absl::InvalidArgumentError("the knob " + Quoted(name) +
                                    " is not of the form [a-z][a-z0-9_]*"));
  }
  double value = profile() == Profile::kQuick     ? quick
                 : profile() == Profile::kBrowser ? browser
                                                  : full;
  if (const std::string* text = Override(name)) {
    if (const std::optional<double> parsed = ParseDouble(*text)) {
      value = *parsed;
    } else {
      Fail(absl::InvalidArgumentError("the knob " + Quoted(name) + " is " + Quoted(*text) +
                                      "; expected a number"));
    }
  }
  args_.emplace_back(std::string(name), FormatDouble(value));
  return value;
}

absl::StatusOr<std::vector<uint8_t>> Context::Data(std::string_view name) {
  if (!options_.data) {
    return absl::NotFoundError("the data " + Quoted(name) + " was asked for, but none is given");
  }
  absl::StatusOr<std::vector<uint8_t>> bytes = options_.data(name);
  if (!bytes.ok()) return bytes;
  const bool seen = std::any_of(data_.begin(), data_.end(),
                                [name](const auto& entry) { return entry.first == name; });
  if (!seen) data_.emplace_back(std::string(name), Sha256Hex(*bytes));
  return bytes;
}

void Context::Progress(int64_t done, int64_t total, std::string_view what) {
  if (!options_.progress) return;
  const int64_t permille =
      total <= 0
          ? 0
          : static_cast<int64_t>(1000.0 * static_cast<double>(done) / static_cast<double>(total));
  if (permille == progress_permille_ && what == progress_what_) return;
  progress_permille_ = permille;
  progress_what_ = what;
  options_.progress(done, total, what);
}

absl::Status Context::Finish() const {
  if (!status_.ok()) return status_;
  for (const auto& arg : options_.args) {
    if (arg.first == "seed" || Recorded(arg.first) != nullptr) continue;
    std::vector<std::string> names;
    for (const auto& recorded : args_) names.push_back(recorded.first);
    const std::string nearest = NearestName(arg.first, names);
    std::string message = "the lab has no knob " + Quoted(arg.first);
    if (!nearest.empty()) {
      message += "; did you mean " + Quoted(nearest) + "?";
    } else if (names.empty()) {
      message += "; it has none";
    } else {
      message += "; it has";
      for (size_t i = 0; i < names.size(); ++i) message += (i == 0 ? " " : ", ") + names[i];
    }
    return absl::InvalidArgumentError(message);
  }
  return absl::OkStatus();
}

void Table::Fail(std::string message) {
  if (status_.ok()) status_ = absl::InvalidArgumentError("table " + Quoted(id_) + ": " + message);
}

void Table::AddColumn(std::string_view name, Type type, std::string_view unit) {
  if (!IsIdentifier(name))
    Fail("the column " + Quoted(name) + " is not of the form [a-z][a-z0-9_]*");
  if (rows_ != 0) Fail("the column " + Quoted(name) + " comes after the first row");
  for (const ColumnInfo& column : columns_) {
    if (column.name == name) Fail("two columns are called " + Quoted(name));
  }
  columns_.push_back({std::string(name), type, std::string(unit)});
}

void Table::AddRow(std::initializer_list<Value> values) {
  if (!status_.ok()) return;
  if (values.size() != columns_.size()) {
    return Fail("row " + FormatInt(rows_) + " has " + FormatUint(values.size()) +
                " values; expected " + FormatUint(columns_.size()));
  }
  size_t i = 0;
  for (const Value& given : values) {
    const ColumnInfo& column = columns_[i++];
    Value value = given;
    const bool top_bit = (value.bits >> 63) != 0;
    if (value.type == Type::kI64 && column.type == Type::kU64 && !top_bit) value.type = Type::kU64;
    if (value.type == Type::kU64 && column.type == Type::kI64 && !top_bit) value.type = Type::kI64;
    if (value.type != column.type) {
      return Fail("row " + FormatInt(rows_) + ", column " + Quoted(column.name) + " is given " +
                  std::string(TypeName(value.type)) + " " + value.text + "; expected " +
                  std::string(TypeName(column.type)));
    }
    value.AppendBytes(true, bytes_);
    cells_.push_back(std::move(value.text));
  }
  ++rows_;
}

std::string Table::Hash() const { return Sha256Hex(bytes_); }

void Report::Fail(std::string message) {
  if (status_.ok()) status_ = absl::InvalidArgumentError(message);
}

absl::Status Report::status() const {
  if (!status_.ok()) return status_;
  for (const Table& table : tables_) {
    if (!table.status_.ok()) return table.status_;
  }
  return absl::OkStatus();
}

void Report::ClaimId(std::string_view id) {
  if (!IsIdentifier(id)) Fail("the id " + Quoted(id) + " is not of the form [a-z][a-z0-9_]*");
  const auto same = [id](const auto& other) { return other.id == id; };
  const bool taken = std::any_of(figures_.begin(), figures_.end(), same) ||
                     std::any_of(tables_.begin(), tables_.end(),
                                 [id](const Table& table) { return table.id() == id; });
  if (taken) Fail("the id " + Quoted(id) + " is used twice");
}

Figure Report::Describe(std::string_view id, Kind kind, std::string_view title,
                        std::string_view unit) {
  ClaimId(id);
  Figure figure;
  figure.id = id;
  figure.kind = kind;
  figure.title = title;
  figure.unit = unit;
  return figure;
}

void Report::AddScalar(Figure figure) {
  std::vector<uint8_t> bytes;
  figure.value.AppendBytes(false, bytes);
  figure.hash = Sha256Hex(bytes);
  figures_.push_back(std::move(figure));
}

void Report::AddArray(Figure figure, std::span<const uint8_t> bytes) {
  figure.hash = Sha256Hex(bytes);
  figures_.push_back(std::move(figure));
}

void Report::AppendWord(uint64_t word, int bytes, std::vector<uint8_t>& out) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<uint8_t>(word >> (8 * i)));
}

void Report::AppendElement(float value, std::vector<uint8_t>& out) {
  AppendWord(CanonicalBits(value), 4, out);
}

void Report::AppendElement(double value, std::vector<uint8_t>& out) {
  AppendWord(CanonicalBits(value), 8, out);
}

void Report::Bounded(std::string_view id, double value, const Bound& bound, std::string_view title,
                     std::string_view unit) {
  Figure figure = Describe(id, Kind::kBounded, title, unit);
  figure.value = Value::Of(value);
  figure.bound = bound;
  AddScalar(std::move(figure));
}

void Report::Modelled(std::string_view id, double value, std::string_view model,
                      std::string_view title, std::string_view unit) {
  Figure figure = Describe(id, Kind::kModelled, title, unit);
  figure.value = Value::Of(value);
  figure.model = model;
  AddScalar(std::move(figure));
}

void Report::Cited(std::string_view id, double value, const Source& source, std::string_view title,
                   std::string_view unit) {
  Figure figure = Describe(id, Kind::kCited, title, unit);
  figure.value = Value::Of(value);
  figure.source = source;
  AddScalar(std::move(figure));
}

Table& Report::AddTable(std::string_view id, std::string_view title) {
  ClaimId(id);
  tables_.push_back(Table(id, title));
  return tables_.back();
}

absl::Status Measurements::Compare(MeasureContext& context, std::string_view group,
                                   std::string_view title, std::span<const Variant> variants) {
  const MeasureContext::Timing& timing = context.timing();
  if (!timing.now_ns) return absl::FailedPreconditionError("there is no clock to measure with");
  std::vector<Series> fresh;
  const int64_t start = timing.now_ns();
  for (const Variant& variant : variants) {
    if (!IsIdentifier(variant.id) || !variant.run) {
      return absl::InvalidArgumentError(
          "the variant " + Quoted(variant.id) + " of " + Quoted(group) +
          " needs an id of the form [a-z][a-z0-9_]* and a run function");
    }
    const auto same = [&variant](const Series& other) { return other.id == variant.id; };
    if (std::any_of(series_.begin(), series_.end(), same) ||
        std::any_of(fresh.begin(), fresh.end(), same)) {
      return absl::InvalidArgumentError("the id " + Quoted(variant.id) + " is measured twice");
    }
    for (int i = 0; i < timing.warmup; ++i) variant.run();
    // Double the runs of a sample until one lasts long enough for the clock.
    int64_t runs = 1;
    for (;;) {
      const int64_t before = timing.now_ns();
      for (int64_t i = 0; i < runs; ++i) variant.run();
      if (timing.now_ns() - before >= timing.min_sample_ns || runs >= int64_t{1} << 40) break;
      runs *= 2;
    }
    Series series;
    series.group = group;
    series.group_title = title;
    series.id = variant.id;
    series.title = variant.title;
    series.runs_per_sample = runs;
    series.warmup = timing.warmup;
    series.order_seed = context.seed();
    series.flops = variant.flops;
    series.bytes = variant.bytes;
    fresh.push_back(std::move(series));
  }
  uint64_t state = context.seed();
  std::vector<size_t> order(variants.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  for (int round = 0; round < timing.repetitions; ++round) {
    const double spent = static_cast<double>(timing.now_ns() - start) * 1e-9;
    if (round >= 3 && spent > timing.budget_seconds) break;
    for (size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[NextOrderWord(state) % i]);
    for (size_t index : order) {
      const int64_t runs = fresh[index].runs_per_sample;
      const int64_t before = timing.now_ns();
      for (int64_t i = 0; i < runs; ++i) variants[index].run();
      const int64_t after = timing.now_ns();
      fresh[index].samples_ns.push_back(static_cast<double>(after - before) /
                                        static_cast<double>(runs));
    }
    context.Progress(round + 1, timing.repetitions, group);
  }
  for (size_t i = 0; i < variants.size(); ++i) {
    if (!variants[i].check) continue;
    const absl::Status status = variants[i].check();
    if (!status.ok()) {
      return absl::Status(status.code(), "the output of " + Quoted(variants[i].id) +
                                             " is wrong: " + std::string(status.message()));
    }
    fresh[i].checked = true;
  }
  std::move(fresh.begin(), fresh.end(), std::back_inserter(series_));
  return absl::OkStatus();
}

std::vector<const Lab*> AllLabs() {
  std::vector<const Lab*> labs;
  for (const Lab& lab : Registry()) labs.push_back(&lab);
  // total order: no two labs share a slug
  std::sort(labs.begin(), labs.end(), [](const Lab* a, const Lab* b) { return a->slug < b->slug; });
  return labs;
}

const Lab* FindLab(std::string_view slug) {
  for (const Lab& lab : Registry()) {
    if (lab.slug == slug) return &lab;
  }
  return nullptr;
}

namespace internal {

bool RegisterLab(std::string_view identifier, Lab lab) {
  lab.slug = identifier;
  std::replace(lab.slug.begin(), lab.slug.end(), '_', '-');
  Registry().push_back(std::move(lab));
  return true;
}

}  // namespace internal

std::string ToJson(std::string_view slug, const Context& context, const Report& report) {
  std::string out = "{";
  AppendField("schema", "report/1", out);
  AppendField("lab", slug, out);
  AppendField("profile", ProfileName(context.profile()), out);
  AppendKey("args", out);
  out.push_back('{');
  for (const auto& arg : context.args()) AppendField(arg.first, arg.second, out);
  out.push_back('}');
  AppendKey("data", out);
  out.push_back('[');
  for (size_t i = 0; i < context.data_hashes().size(); ++i) {
    out += i == 0 ? "{" : ",{";
    AppendField("name", context.data_hashes()[i].first, out);
    AppendField("sha256", context.data_hashes()[i].second, out);
    out.push_back('}');
  }
  out.push_back(']');
  AppendKey("figures", out);
  out.push_back('[');
  for (size_t i = 0; i < report.figures().size(); ++i) {
    if (i != 0) out.push_back(',');
    AppendFigure(report.figures()[i], out);
  }
  out.push_back(']');
  AppendKey("tables", out);
  out.push_back('[');
  for (size_t i = 0; i < report.tables().size(); ++i) {
    if (i != 0) out.push_back(',');
    AppendTable(report.tables()[i], out);
  }
  out += "]}\n";
  return out;
}

absl::StatusOr<std::string> RunToJson(const Lab& lab, Context::Options options) {
  if (lab.run == nullptr) {
    return absl::FailedPreconditionError("the lab " + Quoted(lab.slug) + " has no run function");
  }
  Context context(std::move(options));
  Report report;
  absl::Status status = lab.run(context, report);
  // A bad override or a bad id is the cause of what the lab may have run into after it.
  if (const absl::Status finish = context.Finish(); !finish.ok()) status = finish;
  if (const absl::Status author = report.status(); !author.ok()) status = author;
  if (!status.ok()) return status;
  return ToJson(lab.slug, context, report);
}

std::string NearestName(std::string_view name, std::span<const std::string> candidates) {
  std::string nearest;
  size_t best = std::max<size_t>(2, name.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    // Edit distance with swapped neighbours as one edit, row by row.
    std::vector<size_t> before(candidate.size() + 1), above, row(candidate.size() + 1);
    for (size_t j = 0; j < row.size(); ++j) row[j] = j;
    for (size_t i = 1; i <= name.size(); ++i) {
      before = above;
      above = row;
      row[0] = i;
      for (size_t j = 1; j < row.size(); ++j) {
        const bool same = name[i - 1] == candidate[j - 1];
        row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same ? 0 : 1)});
        const bool swapped =
            i > 1 && j > 1 && name[i - 1] == candidate[j - 2] && name[i - 2] == candidate[j - 1];
        if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    if (row.back() < best) {
      best = row.back();
      nearest = candidate;
    }
  }
  return nearest;
}

}  // namespace assay::lab
