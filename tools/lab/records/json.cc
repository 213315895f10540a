// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/records/json.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "numerics/core/sha256.h"

namespace assay::lab {
namespace {

constexpr size_t kMaxDepth = 64;

// Builds the document as it is read; nlohmann's own builder keeps the last of two equal keys.
class Builder : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return Put(Json()); }
  bool boolean(bool value) override { return Put(value); }
  bool number_integer(number_integer_t value) override { return Put(value); }
  bool number_unsigned(number_unsigned_t value) override { return Put(value); }
  bool number_float(number_float_t value, const string_t&) override { return Put(value); }
  bool string(string_t& value) override { return Put(std::move(value)); }
  bool binary(binary_t&) override { return false; }

  bool start_object(std::size_t) override { return Open(Json::object()); }
  bool end_object() override { return Close(); }
  bool start_array(std::size_t) override { return Open(Json::array()); }
  bool end_array() override { return Close(); }

  bool key(string_t& value) override {
    if (stack_.back()->contains(value)) {
      error_ = absl::StrCat("the key \"", value, "\" stands twice in one object");
      return false;
    }
    key_ = std::move(value);
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& exception) override {
    position_ = position;
    // The library's text: "[json.exception.parse_error.101] parse error at line 1, column 5: syntax
    // error while parsing ...". What follows the position says what was wrong.
    const std::string_view what = exception.what();
    const size_t colon = what.find(": ");
    error_ = std::string(colon == std::string_view::npos ? what : what.substr(colon + 2));
    return false;
  }

  const std::string& error() const { return error_; }
  std::size_t position() const { return position_; }
  Json Take() { return std::move(root_); }

 private:
  Json* Attach(Json value) {
    if (stack_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Json& parent = *stack_.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return &parent.back();
    }
    return &(parent[key_] = std::move(value));
  }

  bool Put(Json value) {
    Attach(std::move(value));
    return true;
  }

  bool Open(Json value) {
    if (stack_.size() >= kMaxDepth) {
      error_ = absl::StrCat("more than ", kMaxDepth, " levels of nesting");
      return false;
    }
    // A container is only appended to while it is at the end of its parent, so pointers stay valid.
    stack_.push_back(Attach(std::move(value)));
    return true;
  }

  bool Close() {
    stack_.pop_back();
    return true;
  }

  Json root_;
  std::vector<Json*> stack_;
  std::string key_;
  std::string error_;
  std::size_t position_ = 0;
};

std::string SealOf(Json document) {
  document.erase("seal");
  return Sha256Hex(CanonicalText(document));
}

}  // namespace

absl::StatusOr<Json> ParseJson(std::string_view text, std::string_view file) {
  Builder builder;
  if (Json::sax_parse(text.begin(), text.end(), &builder)) return builder.Take();
  size_t line = 1, column = 1;
  if (builder.position() == 0) {
    return absl::InvalidArgumentError(absl::StrCat(file, ": ", builder.error()));
  }
  for (size_t i = 0; i + 1 < builder.position() && i < text.size(); ++i) {
    ++column;
    if (text[i] == '\n') {
      ++line;
      column = 1;
    }
  }
  const bool cut = builder.position() > text.size();
  return absl::InvalidArgumentError(absl::StrCat(
      file, ":", line, ":", column, ": not JSON: ", cut ? "the text ends early (truncated?); " : "",
      builder.error()));
}

std::string CanonicalText(const Json& document) {
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void Seal(Json& document) { document["seal"] = SealOf(document); }

absl::Status CheckSeal(const Json& document, std::string_view text, std::string_view file) {
  const auto seal = document.find("seal");
  const bool values_differ = seal == document.end() || *seal != SealOf(document);
  if (!values_differ && text == CanonicalText(document)) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(
      file, ": ",
      values_differ ? "the content does not match its seal" : "the layout is not the canonical one",
      ", so the file was edited by hand or damaged; bring it back (git checkout -- ", file,
      ") or record it anew (lab run --accept)"));
}

}  // namespace assay::lab
