// SPDX-License-Identifier: Apache-2.0
//
// The C face of a lab module: one lab, linked with this file into one standalone wasm module.
//
//   void* alloc(uint32_t n); void dealloc(void*);
//   int   lab_set_data(const char* name, uint32_t name_len, const uint8_t* bytes, uint32_t len);
//   int   lab_set_arg(const char* name, uint32_t name_len, const char* value, uint32_t len);
//   void  lab_reset(void);                               forgets data and arguments
//   int   lab_run(const char* profile, uint32_t len);    0, or an absl::StatusCode
//   const char* lab_output(void); uint32_t lab_output_len(void);
//   import assay.progress(int32_t done, int32_t total, const char* what, uint32_t what_len)
//
// All strings are UTF-8 without a terminating zero and are copied. Data and arguments stay set
// until they are set again or lab_reset is called, so that a page may run several profiles. The
// output of lab_run is the report of tools/lab/lab.h, or {"error":"..."} when it did not return 0;
// it stays valid until the next lab_run. Built natively the same functions exist, for tests.
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/lab/lab.h"

#if defined(__wasm__)
#define ASSAY_LAB_EXPORT(name) __attribute__((export_name(#name), used))
extern "C" __attribute__((import_module("assay"), import_name("progress"))) void assay_lab_progress(
    int32_t done, int32_t total, const char* what, uint32_t what_len);

// Abseil looks for a way to print stack traces, through JavaScript that a standalone module does
// not have. Defined here, these three are not imports: no lab needs them, and pages refuse what
// they do not know.
extern "C" {
uintptr_t emscripten_stack_snapshot() { return 0; }
uint32_t emscripten_stack_unwind_buffer(uintptr_t, void*, uint32_t) { return 0; }
int emscripten_asm_const_int(const char*, const char*, ...) { return 0; }
}
#else
#define ASSAY_LAB_EXPORT(name) __attribute__((used))
extern "C" __attribute__((weak)) void assay_lab_progress(int32_t, int32_t, const char*, uint32_t) {}
#endif

namespace assay::lab {
namespace {

struct State {
  std::vector<std::pair<std::string, std::vector<uint8_t>>> data;
  std::vector<std::pair<std::string, std::string>> args;
  std::string output;
};

State& GetState() {
  static State* const state = new State;
  return *state;
}

template <class T>
void Set(std::vector<std::pair<std::string, T>>& entries, std::string_view name, T value) {
  for (auto& entry : entries) {
    if (entry.first == name) {
      entry.second = std::move(value);
      return;
    }
  }
  entries.emplace_back(std::string(name), std::move(value));
}

// An error as JSON: messages hold user text, so what could end the string is replaced.
std::string ErrorJson(std::string_view message) {
  std::string text = "{\"error\":\"";
  for (char c : message) {
    if (c == '"') {
      text += "\\\"";
    } else if (c == '\\') {
      text += "\\\\";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      text += ' ';
    } else {
      text += c;
    }
  }
  return text + "\"}\n";
}

// Progress crosses to JavaScript as 32 bits; larger counts are scaled down together.
void ReportProgress(int64_t done, int64_t total, std::string_view what) {
  while (total > std::numeric_limits<int32_t>::max() ||
         done > std::numeric_limits<int32_t>::max()) {
    done /= 2;
    total /= 2;
  }
  assay_lab_progress(static_cast<int32_t>(done), static_cast<int32_t>(total), what.data(),
                     static_cast<uint32_t>(what.size()));
}

absl::StatusOr<std::string> Run(std::string_view profile_name) {
  const std::vector<const Lab*> labs = AllLabs();
  if (labs.size() != 1) return absl::InternalError("the module must hold exactly one lab");
  const std::optional<Profile> profile = ParseProfile(profile_name);
  if (!profile) {
    return absl::InvalidArgumentError("the profile is '" + std::string(profile_name) +
                                      "'; expected quick, browser or full");
  }
  State& state = GetState();
  Context::Options options;
  options.profile = *profile;
  options.args = state.args;
  options.progress = &ReportProgress;
  options.data = [&state](std::string_view name) -> absl::StatusOr<std::vector<uint8_t>> {
    for (const auto& entry : state.data) {
      if (entry.first == name) return entry.second;
    }
    return absl::NotFoundError("the data '" + std::string(name) + "' was not set");
  };
  return RunToJson(*labs[0], std::move(options));
}

}  // namespace
}  // namespace assay::lab

extern "C" {

ASSAY_LAB_EXPORT(alloc) void* alloc(uint32_t n) { return std::malloc(n == 0 ? 1 : n); }

ASSAY_LAB_EXPORT(dealloc) void dealloc(void* pointer) { std::free(pointer); }

ASSAY_LAB_EXPORT(lab_set_data)
int lab_set_data(const char* name, uint32_t name_len, const uint8_t* bytes, uint32_t len) {
  assay::lab::Set(assay::lab::GetState().data, std::string_view(name, name_len),
                  std::vector<uint8_t>(bytes, bytes + len));
  return 0;
}

ASSAY_LAB_EXPORT(lab_set_arg)
int lab_set_arg(const char* name, uint32_t name_len, const char* value, uint32_t len) {
  assay::lab::Set(assay::lab::GetState().args, std::string_view(name, name_len),
                  std::string(value, len));
  return 0;
}

ASSAY_LAB_EXPORT(lab_reset) void lab_reset() {
  assay::lab::GetState().data.clear();
  assay::lab::GetState().args.clear();
}

ASSAY_LAB_EXPORT(lab_run) int lab_run(const char* profile, uint32_t len) {
  absl::StatusOr<std::string> output = assay::lab::Run(std::string_view(profile, len));
  assay::lab::State& state = assay::lab::GetState();
  state.output =
      output.ok() ? *std::move(output) : assay::lab::ErrorJson(output.status().message());
  return static_cast<int>(output.status().code());
}

ASSAY_LAB_EXPORT(lab_output) const char* lab_output() {
  return assay::lab::GetState().output.data();
}

ASSAY_LAB_EXPORT(lab_output_len) uint32_t lab_output_len() {
  return static_cast<uint32_t>(assay::lab::GetState().output.size());
}

}  // extern "C"
