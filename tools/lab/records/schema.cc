// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/records/schema.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/lab/lab.h"
#include "tools/lab/records/schema_texts.h"

namespace assay::lab {
namespace {

constexpr std::array<std::string_view, 18> kKeywords = {
    "$defs",    "$id",         "$ref",       "additionalProperties",
    "const",    "description", "enum",       "items",
    "maxItems", "maximum",     "minItems",   "minLength",
    "minimum",  "pattern",     "properties", "required",
    "title",    "type"};

// One step of a pattern: a set of characters, and how often one of them may stand.
struct Atom {
  std::bitset<256> set;
  size_t least = 1;
  size_t most = 1;
};

// Reads the patterns that our schemas use: ^ATOM...$ with an atom being a plain character or a
// class such as [a-z0-9_-], perhaps followed by *, + or {n} or {m,n}. Nothing for any other syntax.
// (std::regex would do more than is needed, recursing once a character.)
std::optional<std::vector<Atom>> ReadPattern(std::string_view text) {
  if (text.size() < 2 || text.front() != '^' || text.back() != '$') return std::nullopt;
  text = text.substr(1, text.size() - 2);
  std::vector<Atom> atoms;
  size_t i = 0;
  const auto number = [&]() -> std::optional<size_t> {
    size_t value = 0;
    const size_t begin = i;
    while (i < text.size() && text[i] >= '0' && text[i] <= '9' && i < begin + 4) {
      value = 10 * value + static_cast<size_t>(text[i++] - '0');
    }
    return i == begin ? std::nullopt : std::optional<size_t>(value);
  };
  while (i < text.size()) {
    Atom atom;
    if (text[i] == '[') {
      for (++i; i < text.size() && text[i] != ']'; ++i) {
        const auto low = static_cast<unsigned char>(text[i]);
        auto high = low;
        if (i + 2 < text.size() && text[i + 1] == '-' && text[i + 2] != ']') {
          high = static_cast<unsigned char>(text[i + 2]);
          i += 2;
        }
        for (unsigned c = low; c <= high; ++c) atom.set.set(c);
      }
      if (i++ >= text.size() || atom.set.none()) return std::nullopt;
    } else {
      if (std::string_view("\\.()|?*+{}]^$").find(text[i]) != std::string_view::npos)
        return std::nullopt;
      atom.set.set(static_cast<unsigned char>(text[i++]));
    }
    if (i < text.size() && (text[i] == '*' || text[i] == '+')) {
      atom.least = text[i++] == '+' ? 1 : 0;
      atom.most = std::string_view::npos;
    } else if (i < text.size() && text[i] == '{') {
      ++i;
      const std::optional<size_t> least = number();
      std::optional<size_t> most = least;
      if (i < text.size() && text[i] == ',') {
        ++i;
        most = number();
      }
      if (!least || !most || i >= text.size() || text[i++] != '}') return std::nullopt;
      atom.least = *least;
      atom.most = *most;
    }
    atoms.push_back(atom);
  }
  return atoms;
}

// Does the text match the atoms from `index` on? Recurses once an atom.
bool Matches(const std::vector<Atom>& atoms, size_t index, std::string_view text) {
  if (index == atoms.size()) return text.empty();
  const Atom& atom = atoms[index];
  size_t count = 0;
  while (count < std::min(atom.most, text.size()) &&
         atom.set.test(static_cast<unsigned char>(text[count])))
    ++count;
  for (;; --count) {
    if (count < atom.least) return false;
    if (Matches(atoms, index + 1, text.substr(count))) return true;
    if (count == 0) return false;
  }
}

class Checker {
 public:
  Checker(const Json& root, std::string_view file) : root_(root), file_(file) {}

  absl::Status Check(const Json& schema, const Json& value, const std::string& where) const {
    if (schema.is_boolean()) {
      return schema.get<bool>() ? absl::OkStatus() : Violation(where, "nothing may stand here");
    }
    for (const auto& [keyword, unused] : schema.items()) {
      if (std::find(kKeywords.begin(), kKeywords.end(), keyword) == kKeywords.end()) {
        return absl::InternalError(absl::StrCat("the schema keyword ", keyword, " is not known"));
      }
    }
    if (const auto ref = schema.find("$ref"); ref != schema.end()) {
      const std::string& target = ref->get_ref<const std::string&>();
      constexpr std::string_view kPrefix = "#/$defs/";
      const auto defs = root_.find("$defs");
      if (target.rfind(kPrefix, 0) != 0 || defs == root_.end() ||
          !defs->contains(target.substr(kPrefix.size()))) {
        return absl::InternalError(
            absl::StrCat("the schema refers to ", target, ", which is not there"));
      }
      absl::Status status = Check((*defs)[target.substr(kPrefix.size())], value, where);
      if (!status.ok()) return status;
    }
    if (absl::Status status = CheckValue(schema, value, where); !status.ok()) return status;
    if (value.is_object()) return CheckObject(schema, value, where);
    if (value.is_array()) return CheckArray(schema, value, where);
    return absl::OkStatus();
  }

 private:
  absl::Status Violation(const std::string& where, const std::string& what) const {
    return absl::InvalidArgumentError(
        absl::StrCat(file_, ": ", where.empty() ? "the document" : where, ": ", what));
  }

  static bool HasType(const Json& value, const std::string& type) {
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "boolean") return value.is_boolean();
    if (type == "integer") return value.is_number_integer();
    if (type == "number") return value.is_number();
    return type == "null" && value.is_null();
  }

  static std::string Words(const Json& value) {
    std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
    return text.size() <= 60 ? text : text.substr(0, 57) + "...";
  }

  absl::Status CheckValue(const Json& schema, const Json& value, const std::string& where) const {
    if (const auto type = schema.find("type"); type != schema.end()) {
      const std::vector<std::string> types =
          type->is_array() ? type->get<std::vector<std::string>>()
                           : std::vector<std::string>{type->get<std::string>()};
      const bool fits = std::any_of(types.begin(), types.end(),
                                    [&value](const auto& name) { return HasType(value, name); });
      if (!fits) {
        return Violation(where, absl::StrCat("expected ", absl::StrJoin(types, " or "), ", found ",
                                             Words(value)));
      }
    }
    if (const auto wanted = schema.find("const"); wanted != schema.end() && *wanted != value) {
      return Violation(where, absl::StrCat("expected ", Words(*wanted), ", found ", Words(value)));
    }
    if (const auto choices = schema.find("enum"); choices != schema.end()) {
      if (std::find(choices->begin(), choices->end(), value) == choices->end()) {
        return Violation(
            where, absl::StrCat("expected one of ", choices->dump(), ", found ", Words(value)));
      }
    }
    if (value.is_number()) {
      const double number = value.get<double>();
      if (const auto bound = schema.find("minimum");
          bound != schema.end() && number < bound->get<double>()) {
        return Violation(where, absl::StrCat(Words(value), " is less than ", Words(*bound)));
      }
      if (const auto bound = schema.find("maximum");
          bound != schema.end() && number > bound->get<double>()) {
        return Violation(where, absl::StrCat(Words(value), " is more than ", Words(*bound)));
      }
    }
    if (value.is_string()) {
      const std::string& text = value.get_ref<const std::string&>();
      if (const auto least = schema.find("minLength");
          least != schema.end() && text.size() < least->get<size_t>()) {
        return Violation(where, "the text is too short");
      }
      if (const auto pattern = schema.find("pattern"); pattern != schema.end()) {
        const std::string& form = pattern->get_ref<const std::string&>();
        const std::optional<std::vector<Atom>> atoms = ReadPattern(form);
        if (!atoms)
          return absl::InternalError(
              absl::StrCat("the schema's pattern ", form, " is not of the known forms"));
        // Longer texts than any of ours are not looked at: backtracking could take its time over
        // them.
        if (text.size() > 1000 || !Matches(*atoms, 0, text)) {
          return Violation(where, absl::StrCat(Words(value), " is not of the form ", form));
        }
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckObject(const Json& schema, const Json& value, const std::string& where) const {
    const auto properties = schema.find("properties");
    const auto additional = schema.find("additionalProperties");
    for (const auto& [key, member] : value.items()) {
      const std::string inner = where.empty() ? key : absl::StrCat(where, ".", key);
      if (properties != schema.end() && properties->contains(key)) {
        if (absl::Status status = Check((*properties)[key], member, inner); !status.ok())
          return status;
      } else if (additional != schema.end()) {
        if (*additional == false) {
          std::vector<std::string> known;
          if (properties != schema.end()) {
            for (const auto& [name, unused] : properties->items()) known.push_back(name);
          }
          const std::string nearest = NearestName(key, known);
          return Violation(
              where,
              absl::StrCat("unknown key \"", key, "\"; ",
                           nearest.empty() ? absl::StrCat("known are ", absl::StrJoin(known, ", "))
                                           : absl::StrCat("did you mean \"", nearest, "\"?")));
        }
        if (absl::Status status = Check(*additional, member, inner); !status.ok()) return status;
      }
    }
    if (const auto required = schema.find("required"); required != schema.end()) {
      for (const Json& key : *required) {
        if (!value.contains(key.get<std::string>())) {
          return Violation(where, absl::StrCat("the key ", Words(key), " is missing"));
        }
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckArray(const Json& schema, const Json& value, const std::string& where) const {
    if (const auto least = schema.find("minItems");
        least != schema.end() && value.size() < least->get<size_t>()) {
      return Violation(where, absl::StrCat("expected at least ", least->get<size_t>(),
                                           " items, found ", value.size()));
    }
    if (const auto most = schema.find("maxItems");
        most != schema.end() && value.size() > most->get<size_t>()) {
      return Violation(where, absl::StrCat("expected at most ", most->get<size_t>(),
                                           " items, found ", value.size()));
    }
    const auto items = schema.find("items");
    if (items == schema.end()) return absl::OkStatus();
    for (size_t i = 0; i < value.size(); ++i) {
      absl::Status status = Check(*items, value[i], absl::StrCat(where, "[", i, "]"));
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  const Json& root_;
  std::string_view file_;
};

}  // namespace

const std::vector<std::pair<std::string, Json>>& Schemas() {
  static const auto* const schemas = [] {
    auto* list = new std::vector<std::pair<std::string, Json>>;
    for (const char* text : kSchemaTexts) {
      Json schema = Json::parse(text, nullptr, false);
      std::string id = schema.is_object() ? schema.value("$id", "") : "";
      list->emplace_back(std::move(id), std::move(schema));
    }
    return list;
  }();
  return *schemas;
}

absl::Status CheckAgainst(const Json& schema, const Json& document, std::string_view file) {
  return Checker(schema, file).Check(schema, document, "");
}

absl::Status CheckAgainstSchema(const Json& document, std::string_view id, std::string_view file) {
  for (const auto& [name, schema] : Schemas()) {
    if (name == id) return CheckAgainst(schema, document, file);
  }
  return absl::InternalError(absl::StrCat("there is no schema called ", id));
}

absl::Status CheckVersion(const Json& document, std::string_view expected, std::string_view file) {
  const Json found = document.is_object() ? document.value("schema", Json()) : Json();
  if (found.is_string() && found.get_ref<const std::string&>() == expected) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(file, ": ",
                   found.is_string() ? absl::StrCat("its schema is ", found.get<std::string>())
                                     : "it names no schema",
                   "; this program reads ", expected,
                   ". Record it anew (lab run --accept), or use the program of its commit"));
}

}  // namespace assay::lab
