// SPDX-License-Identifier: Apache-2.0
#include "gpu/model/sass.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "gpu/model/cubin.h"
#include "gpu/model/mix.h"
#include "gtest/gtest.h"
#include "numerics/core/random.h"

namespace assay::model {
namespace {

void Append(std::string& out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) {
    out.push_back(i < 8 ? static_cast<char>(value >> (8 * i)) : 0);
  }
}

// One instruction: opcode with operand form, guard 7 = always, and a distance for branches.
std::string Code(uint32_t opcode, uint64_t high_bits = 0, uint32_t guard = 7) {
  std::string out;
  Append(out, uint64_t{opcode} | uint64_t{guard} << 12, 8);
  Append(out, 0x000fc00003800000u | high_bits, 8);
  return out;
}

// A branch over `distance` instructions, counted from the one after it.
std::string Branch(int distance, int compute_capability, uint32_t guard = 7) {
  const int64_t words = int64_t{distance} * 4;
  uint64_t low = 0x947 | uint64_t{guard} << 12;
  int64_t field = words;
  if (compute_capability >= 90) {
    low |= (static_cast<uint64_t>(words) & 0xFF) << 16;
    field = words >> 8;
  }
  low |= static_cast<uint64_t>(field) << 34;
  const uint64_t high = 0x000fea0003800000u | (static_cast<uint64_t>(field >> 30) & 0x3FFFF);
  std::string out;
  Append(out, low, 8);
  Append(out, high, 8);
  return out;
}

const std::string kFfma = Code(0x223);
const std::string kExit = Code(0x94D);

// Instructions of a loop by name.
std::map<std::string, int64_t> Counts(const LoopMix& loop) {
  std::map<std::string, int64_t> counts;
  for (const InstructionCount& count : loop.instructions) counts[count.name] = count.count;
  return counts;
}

KernelMix MustMix(const std::string& code, int compute_capability) {
  CubinKernel kernel;
  kernel.name = "k";
  kernel.code = code;
  const absl::StatusOr<KernelMix> mix = MixOf(kernel, compute_capability);
  EXPECT_TRUE(mix.ok()) << mix.status();
  return mix.value_or(KernelMix());
}

using Expected = std::map<std::string, int64_t>;

TEST(SassTest, CountsStraightCode) {
  const KernelMix mix = MustMix(kFfma + kFfma + Code(0x984, 0xC00) + kExit, 75);
  ASSERT_EQ(mix.loops.size(), 1u);
  EXPECT_EQ(mix.loops[0].parent, -1);
  EXPECT_EQ(Counts(mix.loops[0]), (Expected{{"EXIT", 1}, {"FFMA", 2}, {"LDS.128", 1}}));
}

// for: [FFMA, for: [MUFU, branch back if], LDS, branch back if], exit
TEST(SassTest, NestsLoopsOnBothEncodings) {
  for (const int capability : {75, 90}) {
    const std::string code = Code(0x810) + kFfma + Code(0x308) + Branch(-2, capability, 0) +
                             Code(0x984, 0x800) + Branch(-5, capability, 8) + kExit +
                             Branch(-1, capability);
    const KernelMix mix = MustMix(code, capability);
    ASSERT_EQ(mix.loops.size(), 3u) << capability;
    EXPECT_EQ(Counts(mix.loops[0]), (Expected{{"BRA", 1}, {"EXIT", 1}, {"IADD3", 1}}));
    EXPECT_EQ(mix.loops[1].parent, 0);
    EXPECT_EQ(mix.loops[1].begin, 1);
    EXPECT_EQ(Counts(mix.loops[1]), (Expected{{"BRA", 1}, {"FFMA", 1}, {"LDS.32", 1}}));
    EXPECT_EQ(mix.loops[2].parent, 1);
    EXPECT_EQ(mix.loops[2].begin, 2);
    EXPECT_EQ(Counts(mix.loops[2]), (Expected{{"BRA", 1}, {"MUFU", 1}}));
  }
}

// A loop of 300 instructions: the distance reaches beyond the low 8 bits of sm_90.
TEST(SassTest, FollowsLongBranches) {
  for (const int capability : {75, 90}) {
    std::string code = Code(0x810);
    for (int i = 0; i < 300; ++i) code += kFfma;
    code += Branch(-301, capability, 0) + kExit;
    const KernelMix mix = MustMix(code, capability);
    ASSERT_EQ(mix.loops.size(), 2u);
    EXPECT_EQ(Counts(mix.loops[1]), (Expected{{"BRA", 1}, {"FFMA", 300}}));
  }
}

// Two branches back to one header are one loop (a `continue`).
TEST(SassTest, JoinsLoopsOfOneHeader) {
  const std::string code = kFfma + Branch(-2, 75, 0) + Code(0x308) + Branch(-4, 75, 1) + kExit;
  const KernelMix mix = MustMix(code, 75);
  ASSERT_EQ(mix.loops.size(), 2u);
  EXPECT_EQ(Counts(mix.loops[1]), (Expected{{"BRA", 2}, {"FFMA", 1}, {"MUFU", 1}}));
  EXPECT_EQ(Counts(mix.loops[0]), (Expected{{"EXIT", 1}}));
}

// A slow path behind the end that jumps back into the middle is no loop, because the middle can be
// reached without it and it without the middle.
TEST(SassTest, TellsASlowPathFromALoop) {
  const std::string code =
      Branch(2, 75, 0) + kFfma + kExit + Code(0x308) + Branch(-4, 75) + Branch(-1, 75);
  const KernelMix mix = MustMix(code, 75);
  ASSERT_EQ(mix.loops.size(), 1u);
  EXPECT_EQ(Counts(mix.loops[0]), (Expected{{"BRA", 3}, {"EXIT", 1}, {"FFMA", 1}, {"MUFU", 1}}));
}

TEST(SassTest, NamesWidthsAndShapes) {
  const struct {
    uint32_t opcode;
    uint64_t high;
    const char* name;
    Pipe pipe;
    int lane_bytes;
    int64_t flops;
  } cases[] = {
      // The second words are those that nvcc 13.0 wrote.
      {0x381, 0x001e6900, "LDG.32", Pipe::kLoadStore, 4, 0},
      {0x981, 0x0c1e9900, "LDG.32", Pipe::kLoadStore, 4, 0},
      {0x984, 0x1c00, "LDS.128", Pipe::kLoadStore, 16, 0},
      {0x984, 0x5800, "LDS.32", Pipe::kLoadStore, 4, 0},
      {0x388, 0x0800, "STS.32", Pipe::kLoadStore, 4, 0},
      {0x986, 0x0a00, "STG.64", Pipe::kLoadStore, 8, 0},
      {0x981, 0x0000, "LDG.8", Pipe::kLoadStore, 1, 0},
      {0x981, 0x0600, "LDG.16", Pipe::kLoadStore, 2, 0},
      {0x23C, 0x1008, "HMMA.1688", Pipe::kTensor, 0, 2048},
      {0x23C, 0x180C, "HMMA.16816", Pipe::kTensor, 0, 4096},
      {0x237, 0x54FF, "IMMA.8816", Pipe::kTensor, 0, 2048},
      {0x237, 0x385404, "IMMA.8832", Pipe::kTensor, 0, 4096},
      {0x237, 0x4054FF, "IMMA.16816", Pipe::kTensor, 0, 4096},
      {0x237, 0x405C0C, "IMMA.16832", Pipe::kTensor, 0, 8192},
      {0x23D, 0x10404, "BMMA", Pipe::kTensor, 0, 16384},
      {0x223, 0, "FFMA", Pipe::kFma, 0, 0},
      {0x625, 0, "IMAD.WIDE", Pipe::kFma, 0, 0},
      {0x22B, 0, "DFMA", Pipe::kFp64, 0, 0},
      {0x812, 0, "LOP3", Pipe::kAlu, 0, 0},
      {0xAB9, 0, "ULDC", Pipe::kUniform, 0, 0},
      {0xB1D, 0, "BAR", Pipe::kControl, 0, 0},
      {0x1FF, 0, "OP_1FF", Pipe::kOther, 0, 0},
  };
  for (const auto& c : cases) {
    const KernelMix mix = MustMix(Code(c.opcode, c.high), 75);
    ASSERT_EQ(mix.loops[0].instructions.size(), 1u);
    EXPECT_EQ(mix.loops[0].instructions[0].name, c.name);
    const InstructionKind kind = KindOf(c.name);
    EXPECT_EQ(kind.pipe, c.pipe) << c.name;
    EXPECT_EQ(kind.lane_bytes, c.lane_bytes) << c.name;
    EXPECT_EQ(kind.flops, c.flops) << c.name;
    EXPECT_EQ(kind.global_load, std::string(c.name).substr(0, 3) == "LDG") << c.name;
  }
}

TEST(SassTest, RefusesCodeThatIsNone) {
  CubinKernel kernel;
  EXPECT_FALSE(MixOf(kernel, 75).ok());
  kernel.code = std::string(17, '\0');
  EXPECT_FALSE(MixOf(kernel, 75).ok());
  kernel.code = Branch(1, 75) + kExit;
  EXPECT_EQ(MixOf(kernel, 75).status().code(), absl::StatusCode::kInvalidArgument);
  kernel.code = Branch(-2, 75) + kExit;
  EXPECT_FALSE(MixOf(kernel, 75).ok());
  kernel.code.clear();
  for (int i = 0; i < 258; ++i) kernel.code += Branch(-i - 1, 75, 0);
  EXPECT_EQ(MixOf(kernel, 75).status().code(), absl::StatusCode::kResourceExhausted);
}

// A cubin of two kernels: a symbol table, .nv.info, code, shared memory, a note.
struct Section {
  std::string name;
  uint32_t type;
  std::string bytes;
  uint64_t size;
  uint32_t link = 0;
};

std::string Attribute(uint8_t number, uint32_t symbol, uint32_t value) {
  std::string out = {4, static_cast<char>(number)};
  Append(out, 8, 2);
  Append(out, symbol, 4);
  Append(out, value, 4);
  return out;
}

std::string Symbol(uint32_t name, uint8_t info, uint8_t other, uint16_t section) {
  std::string out;
  Append(out, name, 4);
  out += {static_cast<char>(info), static_cast<char>(other)};
  Append(out, section, 2);
  Append(out, 0, 16);
  return out;
}

std::string MakeCubin(int capability) {
  const std::string symbol_names("\0first\0second\0inner\0", 20);
  const std::string symbols = Symbol(0, 0, 0, 0) + Symbol(1, 0x12, 0x10, 5) +
                              Symbol(14, 0x22, 0, 5) + Symbol(7, 0x12, 0x10, 6);
  std::string info = {3, 0x1B, 0x34, 0x12};  // an attribute with its value in place
  info += Attribute(0x2F, 1, 40) + Attribute(0x11, 1, 96) + Attribute(0x2F, 3, 255) +
          Attribute(0x12, 3, 1000);
  const std::string note = "ptxas: Cuda compilation tools, release 13.0, V13.0.88\nV99";
  const bool reserves = capability >= 90;
  std::vector<Section> sections = {
      {"", 0, "", 0},
      {".strtab", 3, symbol_names, symbol_names.size()},
      {".symtab", 2, symbols, symbols.size(), 1},
      {".nv.info", 0x70000000, info, info.size()},
      {".note", 7, note, note.size()},
      {".text.first", 1, kFfma + kExit, 32},
      {".text.second", 1, Code(0x308) + kFfma + kExit, 48},
      {".nv.shared.second", 8, "", reserves ? 2048u + 1024u : 2048u},
  };
  if (reserves) sections.push_back({".nv.shared.reserved.0", 8, "", 0});
  std::string names(1, '\0');
  std::vector<uint32_t> name_at;
  for (const Section& section : sections) {
    name_at.push_back(static_cast<uint32_t>(names.size()));
    names += section.name + '\0';
  }
  name_at.push_back(static_cast<uint32_t>(names.size()));
  names += std::string(".shstrtab") + '\0';
  sections.push_back({".shstrtab", 3, names, names.size()});

  std::string body(64, '\0');
  std::string headers;
  for (size_t i = 0; i < sections.size(); ++i) {
    Append(headers, name_at[i], 4);
    Append(headers, sections[i].type, 4);
    Append(headers, 0, 16);
    Append(headers, body.size(), 8);
    Append(headers, sections[i].size, 8);
    Append(headers, sections[i].link, 4);
    Append(headers, 0, 20);
    body += sections[i].bytes;
  }
  std::string header = std::string(
                           "\x7f"
                           "ELF\x02\x01\x01\x41\x08",
                           9) +
                       std::string(7, '\0');
  Append(header, 2, 2);
  Append(header, 190, 2);
  Append(header, 1, 4);
  Append(header, 0, 8);
  Append(header, 0, 8);
  Append(header, body.size(), 8);
  Append(header, static_cast<uint64_t>(capability) << 8 | 0x6000004, 4);
  Append(header, 64, 2);
  Append(header, 56, 2);
  Append(header, 0, 2);
  Append(header, 64, 2);
  Append(header, sections.size(), 2);
  Append(header, sections.size() - 1, 2);
  EXPECT_EQ(header.size(), 64u);
  return header + body.substr(64) + headers;
}

TEST(CubinTest, ReadsKernelsAndWhatTheyNeed) {
  for (const int capability : {75, 90}) {
    const absl::StatusOr<Cubin> cubin = ReadCubin(MakeCubin(capability));
    ASSERT_TRUE(cubin.ok()) << cubin.status();
    EXPECT_EQ(cubin->compute_capability, capability);
    EXPECT_EQ(cubin->tool, "13.0.88");
    ASSERT_EQ(cubin->kernels.size(), 2u);
    const CubinKernel& first = cubin->kernels[0];
    EXPECT_EQ(first.name, "first");
    EXPECT_EQ(first.registers, 40);
    EXPECT_EQ(first.local_bytes, 96);
    EXPECT_EQ(first.static_shared, 0);
    EXPECT_EQ(first.code, kFfma + kExit);
    const CubinKernel& second = cubin->kernels[1];
    EXPECT_EQ(second.name, "second");
    EXPECT_EQ(second.registers, 255);
    EXPECT_EQ(second.local_bytes, 0);
    EXPECT_EQ(second.static_shared, 2048);
    EXPECT_EQ(second.code.size(), 48u);
  }
}

// Cut anywhere, or with bytes changed: a status or a cubin, and what comes of a cubin is a mix or a
// status. (The address sanitizer watches.)
TEST(CubinTest, SurvivesAnyBytes) {
  const std::string whole = MakeCubin(75);
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(ReadCubin(absl::string_view(whole).substr(0, size)).ok()) << size;
  }
  Random random(/*seed=*/31);
  int read = 0;
  int mixed = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string changed = whole;
    for (int64_t k = random.Integer(1, 5); k > 0; --k) {
      const auto at = static_cast<size_t>(random.Integer(static_cast<int64_t>(changed.size())));
      changed[at] = static_cast<char>(random.Bernoulli(0.3) ? 255 : random.Integer(256));
    }
    const absl::StatusOr<Cubin> cubin = ReadCubin(changed);
    if (!cubin.ok()) continue;
    ++read;
    if (MixOfAll(*cubin).ok()) ++mixed;
  }
  EXPECT_GT(read, 2000);
  EXPECT_LT(read, 19000);
  EXPECT_GT(mixed, 1000);
}

TEST(CubinTest, RefusesOtherFiles) {
  EXPECT_FALSE(ReadCubin("").ok());
  EXPECT_FALSE(ReadCubin("#!/bin/sh").ok());
  std::string other = MakeCubin(75);
  other[0x12] = 62;  // x86-64
  EXPECT_FALSE(ReadCubin(other).ok());
  // A section whose end is beyond 2^64, and so seems to lie before its start.
  other = MakeCubin(75);
  uint64_t headers = 0;
  for (size_t i = 8; i-- > 0;) headers = headers << 8 | static_cast<uint8_t>(other[0x28 + i]);
  const size_t code = static_cast<size_t>(headers) + 5 * 64;
  for (size_t i = 0; i < 8; ++i) other[code + 24 + i] = static_cast<char>(i == 0 ? 0xF0 : 0xFF);
  EXPECT_FALSE(ReadCubin(other).ok());
  other = MakeCubin(75);
  other[4] = 1;  // 32 bits
  EXPECT_FALSE(ReadCubin(other).ok());
}

constexpr char kText[] =
    "# comment\ntarget sm_75\ntool ptxas 13.0.88\n"
    "kernel a registers 16 shared 0 local 0\nloop 0 at 0\n EXIT 1\n FFMA 12\n"
    "kernel b registers 255 shared 8192 local 96\nloop 0 at 0\nloop 1 in 0 at 12\n LDS.128 3\n"
    "loop 2 in 1 at 20\n MUFU 1\n";

TEST(MixTest, ReadsWhatItWrites) {
  const absl::StatusOr<Mix> mix = ParseMix(kText);
  ASSERT_TRUE(mix.ok()) << mix.status();
  EXPECT_EQ(mix->compute_capability, 75);
  EXPECT_EQ(mix->tool, "13.0.88");
  ASSERT_EQ(mix->kernels.size(), 2u);
  const KernelMix* b = FindKernel(*mix, "b");
  ASSERT_NE(b, nullptr);
  EXPECT_EQ(b->registers, 255);
  EXPECT_EQ(b->static_shared, 8192);
  EXPECT_EQ(b->local_bytes, 96);
  ASSERT_EQ(b->loops.size(), 3u);
  EXPECT_EQ(b->loops[2].parent, 1);
  EXPECT_EQ(b->loops[2].begin, 20);
  EXPECT_EQ(Counts(b->loops[1]), (Expected{{"LDS.128", 3}}));
  EXPECT_EQ(FindKernel(*mix, "c"), nullptr);
  EXPECT_EQ(FormatMix(*mix), std::string(kText).substr(10));
  const absl::StatusOr<Mix> made = MixOfAll(*ReadCubin(MakeCubin(75)));
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(*ParseMix(FormatMix(*made)), *made);
}

TEST(MixTest, RefusesWhatIsNoMix) {
  const struct {
    const char* from;
    const char* to;
  } cases[] = {
      {"target sm_75\n", ""},
      {"target sm_75", "target sm_0"},
      {"target sm_75", "target 75"},
      {"tool ptxas", "tool nvcc"},
      {"registers 16", "registers 256"},
      {"registers 16", "registers -1"},
      {"shared 8192", "shared"},
      {"kernel b", "kernel a"},
      {"loop 0 at 0\n EXIT", " EXIT"},
      {"loop 1 in 0", "loop 1"},
      {"loop 1 in 0", "loop 2 in 0"},
      {"loop 1 in 0", "loop 0 in 0"},
      {"loop 1 in 0", "loop 1 in 1"},
      {" FFMA 12", " FFMA 12 3"},
      {" FFMA 12", " FFMA"},
      {" FFMA 12", " FFMA 99999999999999999999"},
      {" FFMA 12", " EXIT 12"},
      {"loop 0 at 0\n EXIT 1\n FFMA 12\n", ""},
  };
  for (const auto& c : cases) {
    std::string text = kText;
    const size_t at = text.find(c.from);
    ASSERT_NE(at, std::string::npos) << c.from;
    text.replace(at, std::string(c.from).size(), c.to);
    EXPECT_EQ(ParseMix(text).status().code(), absl::StatusCode::kInvalidArgument) << c.to;
  }
  EXPECT_FALSE(ParseMix("").ok());
  EXPECT_FALSE(ParseMix(std::string((4 << 20) + 1, '\n')).ok());
}

TEST(MixTest, SurvivesAnyText) {
  Random random(/*seed=*/32);
  int read = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = kText;
    for (int64_t k = random.Integer(1, 4); k > 0; --k) {
      const auto at = static_cast<size_t>(random.Integer(static_cast<int64_t>(text.size())));
      text[at] = static_cast<char>(random.Integer(256));
    }
    const absl::StatusOr<Mix> mix = ParseMix(text);
    if (!mix.ok()) continue;
    ++read;
    EXPECT_EQ(*ParseMix(FormatMix(*mix)), *mix);
  }
  EXPECT_GT(read, 200);
}

}  // namespace
}  // namespace assay::model
