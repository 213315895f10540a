// SPDX-License-Identifier: Apache-2.0
// Layout: System V ABI, "ELF-64 Object File Format"; NVIDIA's own parts (marked *) are not
// documented and were read off files made for the purpose.
#include "gpu/model/cubin.h"

#include <cstddef>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace assay::model {
namespace {

constexpr size_t kLargestFile = size_t{64} << 20;
constexpr size_t kMostSections = 65535;
constexpr uint16_t kMachineCuda = 190;
constexpr uint64_t kHeaderBytes = 64;
constexpr uint64_t kSectionBytes = 64;
constexpr uint64_t kSymbolBytes = 24;
constexpr uint64_t kInstructionBytes = 16;
constexpr uint32_t kSymbolTable = 2;
constexpr uint32_t kNote = 7;
constexpr uint32_t kNoBits = 8;
constexpr uint8_t kFunction = 2;               // low four bits of a symbol's info
constexpr uint8_t kEntry = 0x10;               // * of a symbol's other: a kernel
constexpr uint8_t kAttributeSized = 4;         // * format of an attribute: 16-bit size, then bytes
constexpr uint8_t kAttributeRegisters = 0x2F;  // * symbol, registers
constexpr uint8_t kAttributeFrame = 0x11;      // * symbol, stack bytes
// * sm_90's .nv.shared sections begin with what the driver keeps for itself.
constexpr int64_t kReservedShared = 1024;
constexpr uint64_t kMostShared = uint64_t{1} << 20;
constexpr uint32_t kMostRegisters = 255;
constexpr uint32_t kMostFrame = uint32_t{1} << 24;

absl::Status Bad(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("cubin: ", what));
}

struct Section {
  uint32_t name = 0;
  uint32_t type = 0;
  uint64_t offset = 0;
  uint64_t size = 0;
  uint32_t link = 0;
};

class Reader {
 public:
  explicit Reader(absl::string_view bytes) : bytes_(bytes) {}

  bool Holds(uint64_t offset, uint64_t size) const {
    return offset <= bytes_.size() && size <= bytes_.size() - offset;
  }

  // A little-endian number at an offset that holds it.
  template <class T>
  T Number(uint64_t offset) const {
    uint64_t value = 0;
    for (size_t i = sizeof(T); i-- > 0;) {
      value = value << 8 | static_cast<uint8_t>(bytes_[static_cast<size_t>(offset) + i]);
    }
    return static_cast<T>(value);
  }

  absl::string_view Bytes(uint64_t offset, uint64_t size) const {
    return bytes_.substr(static_cast<size_t>(offset), static_cast<size_t>(size));
  }
  absl::string_view Bytes(const Section& section) const {
    return section.type == kNoBits ? absl::string_view() : Bytes(section.offset, section.size);
  }

 private:
  absl::string_view bytes_;
};

// The text at an offset of a string table; empty where there is none.
absl::string_view Text(absl::string_view table, uint64_t offset) {
  if (offset >= table.size()) return "";
  const absl::string_view rest = table.substr(static_cast<size_t>(offset));
  const size_t end = rest.find('\0');
  return end == absl::string_view::npos ? "" : rest.substr(0, end);
}

absl::StatusOr<std::vector<Section>> ReadSections(const Reader& reader) {
  const uint64_t table = reader.Number<uint64_t>(0x28);
  const uint64_t count = reader.Number<uint16_t>(0x3C);
  if (reader.Number<uint16_t>(0x3A) != kSectionBytes) return Bad("section headers of another size");
  if (count == 0 || count > kMostSections || !reader.Holds(table, count * kSectionBytes)) {
    return Bad("section headers outside the file");
  }
  std::vector<Section> sections(static_cast<size_t>(count));
  for (size_t i = 0; i < sections.size(); ++i) {
    const uint64_t at = table + i * kSectionBytes;
    Section& section = sections[i];
    section.name = reader.Number<uint32_t>(at);
    section.type = reader.Number<uint32_t>(at + 4);
    section.offset = reader.Number<uint64_t>(at + 24);
    section.size = reader.Number<uint64_t>(at + 32);
    section.link = reader.Number<uint32_t>(at + 40);
    if (section.type != kNoBits && !reader.Holds(section.offset, section.size)) {
      return Bad(absl::StrCat("section ", i, " outside the file"));
    }
  }
  return sections;
}

// Registers and stack by symbol, from .nv.info.
struct Needs {
  std::map<uint32_t, uint32_t> registers;
  std::map<uint32_t, uint32_t> frame;
};

absl::StatusOr<Needs> ReadNeeds(absl::string_view info) {
  const Reader reader(info);
  Needs needs;
  uint64_t at = 0;
  while (at < info.size()) {
    if (!reader.Holds(at, 4)) return Bad(".nv.info ends within an attribute");
    const uint8_t format = reader.Number<uint8_t>(at);
    const uint8_t attribute = reader.Number<uint8_t>(at + 1);
    const uint16_t size = reader.Number<uint16_t>(at + 2);
    at += 4;
    if (format != kAttributeSized) continue;  // its value was in the place of the size
    if (!reader.Holds(at, size)) return Bad(".nv.info ends within an attribute");
    if (size == 8) {
      const uint32_t symbol = reader.Number<uint32_t>(at);
      const uint32_t value = reader.Number<uint32_t>(at + 4);
      if (attribute == kAttributeRegisters) needs.registers[symbol] = value;
      if (attribute == kAttributeFrame) needs.frame[symbol] = value;
    }
    at += size;
  }
  return needs;
}

// "13.0.88" out of "Cuda compilation tools, release 13.0, V13.0.88".
std::string ToolVersion(absl::string_view note) {
  const absl::string_view before = "compilation tools, release ";
  const size_t found = note.find(before);
  if (found == absl::string_view::npos) return "";
  const size_t version = note.find('V', found + before.size());
  if (version == absl::string_view::npos || version > found + 64) return "";
  const absl::string_view rest = note.substr(version + 1);
  const size_t end = rest.find_first_not_of("0123456789.");
  return std::string(rest.substr(0, end == absl::string_view::npos || end > 32 ? 0 : end));
}

}  // namespace

absl::StatusOr<Cubin> ReadCubin(absl::string_view bytes) {
  const Reader reader(bytes);
  if (bytes.size() > kLargestFile) return Bad("more than 64 MiB");
  if (!reader.Holds(0, kHeaderBytes) || !absl::StartsWith(bytes,
                                                          "\x7f"
                                                          "ELF\x02\x01\x01")) {
    return Bad("not an ELF file of 64 bits, little endian");
  }
  if (reader.Number<uint16_t>(0x12) != kMachineCuda) return Bad("not for a CUDA machine");
  absl::StatusOr<std::vector<Section>> read = ReadSections(reader);
  if (!read.ok()) return read.status();
  const std::vector<Section>& sections = *read;
  const uint64_t names_at = reader.Number<uint16_t>(0x3E);
  if (names_at >= sections.size()) return Bad("no section of section names");
  const absl::string_view names = reader.Bytes(sections[static_cast<size_t>(names_at)]);

  Cubin cubin;
  // * The architecture is the second byte of the flags since version 8 of the ABI, before it the
  // lowest one.
  const uint32_t flags = reader.Number<uint32_t>(0x30);
  cubin.compute_capability =
      static_cast<int>((reader.Number<uint8_t>(8) >= 8 ? flags >> 8 : flags) & 0xFF);

  const Section* symbols = nullptr;
  Needs needs;
  bool reserved = false;
  std::map<absl::string_view, int64_t> shared;  // by kernel
  for (const Section& section : sections) {
    absl::string_view name = Text(names, section.name);
    if (section.type == kSymbolTable) symbols = &section;
    if (section.type == kNote && cubin.tool.empty()) {
      cubin.tool = ToolVersion(reader.Bytes(section));
    }
    if (name == ".nv.info") {
      absl::StatusOr<Needs> found = ReadNeeds(reader.Bytes(section));
      if (!found.ok()) return found.status();
      needs = *std::move(found);
    }
    if (absl::StartsWith(name, ".nv.shared.reserved.")) {
      reserved = true;
    } else if (absl::ConsumePrefix(&name, ".nv.shared.")) {
      if (section.size > kMostShared) return Bad("more than 1 MiB of shared memory");
      shared[name] = static_cast<int64_t>(section.size);
    }
  }
  if (symbols == nullptr || symbols->link >= sections.size()) return Bad("no symbol table");

  const Reader table(reader.Bytes(*symbols));
  const absl::string_view symbol_names = reader.Bytes(sections[symbols->link]);
  const auto count = static_cast<uint32_t>(reader.Bytes(*symbols).size() / kSymbolBytes);
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t at = i * kSymbolBytes;
    const bool function = (table.Number<uint8_t>(at + 4) & 0xF) == kFunction;
    if (!function || (table.Number<uint8_t>(at + 5) & kEntry) == 0) continue;
    const uint16_t section = table.Number<uint16_t>(at + 6);
    if (section >= sections.size()) return Bad(absl::StrCat("kernel ", i, " without a section"));
    const absl::string_view code = reader.Bytes(sections[section]);
    if (code.empty() || code.size() % kInstructionBytes != 0) {
      return Bad(absl::StrCat("kernel ", i, " with ", code.size(),
                              " bytes of code, expected a multiple of 16"));
    }
    CubinKernel kernel;
    kernel.name = std::string(Text(symbol_names, table.Number<uint32_t>(at)));
    const uint32_t registers = needs.registers[i];
    const uint32_t frame = needs.frame[i];
    if (registers > kMostRegisters || frame > kMostFrame) {
      return Bad(absl::StrCat("kernel ", kernel.name, " with ", registers, " registers and ", frame,
                              " bytes of stack"));
    }
    kernel.registers = static_cast<int>(registers);
    kernel.local_bytes = frame;
    kernel.static_shared = shared[kernel.name];
    if (reserved && kernel.static_shared >= kReservedShared) {
      kernel.static_shared -= kReservedShared;
    }
    kernel.code = std::string(code);
    cubin.kernels.push_back(std::move(kernel));
  }
  return cubin;
}

}  // namespace assay::model
