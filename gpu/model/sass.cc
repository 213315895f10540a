// SPDX-License-Identifier: Apache-2.0
// Opcodes and fields: read off cubins made for the purpose with nvcc 13.0 (a kernel with one
// operation of each kind), beside the listings that CUDA's documentation of cuobjdump names.
#include "gpu/model/sass.h"

#include <algorithm>
#include <cstddef>
#include <map>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace assay::model {
namespace {

constexpr size_t kBytes = 16;
constexpr size_t kMostInstructions = size_t{1} << 20;
constexpr size_t kMostBranchesBack = 256;

enum class Suffix { kNone, kWidth, kHalfMatrix, kIntMatrix };

struct Opcode {
  uint32_t code;  // the low 9 bits
  const char* name;
  Pipe pipe;
  Suffix suffix = Suffix::kNone;
  bool global_load = false;
};

constexpr uint32_t kBra = 0x147;
constexpr uint32_t kExit = 0x14D;
constexpr uint32_t kRet = 0x150;
constexpr uint32_t kBrx = 0x149;
constexpr uint32_t kJmp = 0x14A;
constexpr uint32_t kJmx = 0x14C;

constexpr Opcode kOpcodes[] = {
    // FP32, packed FP16 and integer products share the multipliers.
    {0x020, "FMUL", Pipe::kFma},
    {0x021, "FADD", Pipe::kFma},
    {0x023, "FFMA", Pipe::kFma},
    {0x024, "IMAD", Pipe::kFma},
    {0x025, "IMAD.WIDE", Pipe::kFma},
    {0x026, "IDP", Pipe::kFma},
    {0x027, "IMAD.HI", Pipe::kFma},
    {0x030, "HADD2", Pipe::kFma},
    {0x031, "HFMA2", Pipe::kFma},
    {0x032, "HMUL2", Pipe::kFma},
    {0x035, "HFMA2.MMA", Pipe::kFma},
    {0x002, "MOV", Pipe::kAlu},
    {0x003, "P2R", Pipe::kAlu},
    {0x004, "R2P", Pipe::kAlu},
    {0x005, "CS2R", Pipe::kAlu},
    {0x006, "VOTE", Pipe::kAlu},
    {0x007, "SEL", Pipe::kAlu},
    {0x008, "FSEL", Pipe::kAlu},
    {0x009, "FMNMX", Pipe::kAlu},
    {0x00B, "FSETP", Pipe::kAlu},
    {0x00C, "ISETP", Pipe::kAlu},
    {0x010, "IADD3", Pipe::kAlu},
    {0x011, "LEA", Pipe::kAlu},
    {0x012, "LOP3", Pipe::kAlu},
    {0x013, "IABS", Pipe::kAlu},
    {0x016, "PRMT", Pipe::kAlu},
    {0x017, "IMNMX", Pipe::kAlu},
    {0x019, "SHF", Pipe::kAlu},
    {0x01C, "PLOP3", Pipe::kAlu},
    {0x036, "VIADD", Pipe::kAlu},
    {0x03E, "F2FP", Pipe::kAlu},
    {0x045, "I2FP", Pipe::kAlu},
    {0x046, "VIADDMNMX", Pipe::kAlu},
    {0x048, "VIMNMX", Pipe::kAlu},
    {0x028, "DMUL", Pipe::kFp64},
    {0x029, "DADD", Pipe::kFp64},
    {0x02A, "DSETP", Pipe::kFp64},
    {0x02B, "DFMA", Pipe::kFp64},
    {0x100, "FLO", Pipe::kSpecial},
    {0x101, "BREV", Pipe::kSpecial},
    {0x102, "FCHK", Pipe::kSpecial},
    {0x104, "F2F", Pipe::kSpecial},
    {0x105, "F2I", Pipe::kSpecial},
    {0x106, "I2F", Pipe::kSpecial},
    {0x107, "FRND", Pipe::kSpecial},
    {0x108, "MUFU", Pipe::kSpecial},
    {0x109, "POPC", Pipe::kSpecial},
    {0x110, "F2F.F64", Pipe::kSpecial},
    {0x111, "F2I.F64", Pipe::kSpecial},
    {0x112, "I2F.F64", Pipe::kSpecial},
    {0x037, "IMMA", Pipe::kTensor, Suffix::kIntMatrix},
    {0x03C, "HMMA", Pipe::kTensor, Suffix::kHalfMatrix},
    {0x03D, "BMMA", Pipe::kTensor},
    {0x03F, "DMMA", Pipe::kTensor},
    {0x03A, "MOVM", Pipe::kLoadStore},
    {0x03B, "LDSM", Pipe::kLoadStore},
    {0x180, "LD", Pipe::kLoadStore, Suffix::kWidth, true},
    {0x181, "LDG", Pipe::kLoadStore, Suffix::kWidth, true},
    {0x182, "LDC", Pipe::kLoadStore},
    {0x183, "LDL", Pipe::kLoadStore, Suffix::kWidth},
    {0x184, "LDS", Pipe::kLoadStore, Suffix::kWidth},
    {0x185, "ST", Pipe::kLoadStore, Suffix::kWidth},
    {0x186, "STG", Pipe::kLoadStore, Suffix::kWidth},
    {0x187, "STL", Pipe::kLoadStore, Suffix::kWidth},
    {0x188, "STS", Pipe::kLoadStore, Suffix::kWidth},
    {0x189, "SHFL", Pipe::kLoadStore},
    {0x18A, "ATOM", Pipe::kLoadStore, Suffix::kWidth},
    {0x18C, "ATOMS", Pipe::kLoadStore},
    {0x18D, "ATOMS.CAS", Pipe::kLoadStore},
    {0x18E, "RED", Pipe::kLoadStore},
    {0x18F, "CCTL", Pipe::kLoadStore},
    {0x192, "MEMBAR", Pipe::kControl},
    {0x1A1, "MATCH", Pipe::kLoadStore},
    {0x1A6, "RED", Pipe::kLoadStore},
    {0x1A8, "ATOMG", Pipe::kLoadStore},
    {0x1A9, "ATOMG.CAS", Pipe::kLoadStore},
    {0x1AE, "LDGSTS", Pipe::kLoadStore},
    {0x1C4, "REDUX", Pipe::kAlu},
    {0x082, "UMOV", Pipe::kUniform},
    {0x086, "VOTEU", Pipe::kUniform},
    {0x087, "USEL", Pipe::kUniform},
    {0x08C, "UISETP", Pipe::kUniform},
    {0x090, "UIADD3", Pipe::kUniform},
    {0x091, "ULEA", Pipe::kUniform},
    {0x092, "ULOP3", Pipe::kUniform},
    {0x096, "UPRMT", Pipe::kUniform},
    {0x099, "USHF", Pipe::kUniform},
    {0x0A4, "UIMAD", Pipe::kUniform},
    {0x0A5, "UIMAD.WIDE", Pipe::kUniform},
    {0x0B9, "ULDC", Pipe::kUniform},
    {0x0BD, "UFLO", Pipe::kUniform},
    {0x119, "S2R", Pipe::kControl},
    {0x1C2, "R2UR", Pipe::kAlu},
    {0x1C3, "S2UR", Pipe::kUniform},
    {0x118, "NOP", Pipe::kControl},
    {0x11A, "DEPBAR", Pipe::kControl},
    {0x11D, "BAR", Pipe::kControl},
    {0x141, "BSYNC", Pipe::kControl},
    {0x142, "BREAK", Pipe::kControl},
    {0x143, "CALL.ABS", Pipe::kControl},
    {0x144, "CALL", Pipe::kControl},
    {0x145, "BSSY", Pipe::kControl},
    {0x146, "YIELD", Pipe::kControl},
    {kBra, "BRA", Pipe::kControl},
    {0x148, "WARPSYNC", Pipe::kControl},
    {kBrx, "BRX", Pipe::kControl},
    {kJmp, "JMP", Pipe::kControl},
    {kJmx, "JMX", Pipe::kControl},
    {kExit, "EXIT", Pipe::kControl},
    {kRet, "RET", Pipe::kControl},
    {0x155, "BMOV", Pipe::kControl},
    {0x156, "BMOV", Pipe::kControl},
    {0x15C, "BPT", Pipe::kControl},
    {0x15D, "NANOSLEEP", Pipe::kControl},
    {0x1AB, "ERRBAR", Pipe::kControl},
    {0x1AF, "LDGDEPBAR", Pipe::kControl},
};

// Bits 73-75 of a memory access; 0 and 1 are bytes, 2 and 3 16-bit words, unsigned and signed.
constexpr int kWidths[] = {8, 8, 16, 16, 32, 64, 128, 128};

// m, n, k of the matrix product and so its operations, 2 m n k.
constexpr struct {
  const char* name;
  int64_t flops;
} kMatrices[] = {
    {"HMMA.1688", 2 * 16 * 8 * 8}, {"HMMA.16816", 2 * 16 * 8 * 16}, {"IMMA.8816", 2 * 8 * 8 * 16},
    {"IMMA.8832", 2 * 8 * 8 * 32}, {"IMMA.16816", 2 * 16 * 8 * 16}, {"IMMA.16832", 2 * 16 * 8 * 32},
    {"BMMA", 2 * 8 * 8 * 128},     {"DMMA", 2 * 8 * 8 * 4},
};

struct Word {
  uint64_t low;
  uint64_t high;

  uint32_t code() const { return static_cast<uint32_t>(low & 0x1FF); }
  // Neither the guard before the instruction nor the predicate that a branch can name is a real
  // one.
  bool always() const { return (low >> 12 & 0xF) == 7 && (high >> 23 & 0xF) == 7; }
};

uint64_t LittleEndian(absl::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = 8; i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

const Opcode* FindOpcode(uint32_t code) {
  for (const Opcode& opcode : kOpcodes) {
    if (opcode.code == code) return &opcode;
  }
  return nullptr;
}

std::string NameOf(const Word& word) {
  const Opcode* opcode = FindOpcode(word.code());
  if (opcode == nullptr) return absl::StrFormat("OP_%03X", word.code());
  const uint64_t high = word.high;
  switch (opcode->suffix) {
    case Suffix::kWidth:
      return absl::StrCat(opcode->name, ".", kWidths[high >> 9 & 7]);
    case Suffix::kHalfMatrix:
      // Bit 75: twice as deep. TensorFloat-32 (bit 83) has half the depth of what is as wide.
      return absl::StrCat(opcode->name, (high >> 11 & 1) != 0 ? ".16816" : ".1688");
    case Suffix::kIntMatrix: {
      // Bit 86: 16 rows. Bit 75: twice as deep. Bits 83, 84: 4-bit numbers, twice as many.
      const bool rows = (high >> 22 & 1) != 0;
      const bool deep = (high >> 11 & 1) != 0 || (high >> 19 & 3) == 3;
      return absl::StrCat(opcode->name, rows ? ".168" : ".88", deep ? "32" : "16");
    }
    case Suffix::kNone:
      break;
  }
  return opcode->name;
}

// Where a branch at instruction `at` goes, in instructions from the kernel's first; -1: not to one.
// The distance is in bits 34-81 in words of 4 bytes; from sm_90 on its low 8 bits are bits 16-23.
int64_t Target(const Word& word, size_t at, int compute_capability) {
  const uint64_t field = word.low >> 34 | (word.high & 0x3FFFF) << 30;
  int64_t words = static_cast<int64_t>(field << 16) >> 16;  // its sign is bit 47
  if (compute_capability >= 90) {
    words = static_cast<int64_t>(static_cast<uint64_t>(words) << 8 | (word.low >> 16 & 0xFF));
  }
  if (words % 4 != 0) return -1;
  return static_cast<int64_t>(at) + 1 + words / 4;
}

// The flow of control, one node an instruction. At most two ways lead on.
struct Flow {
  std::vector<std::vector<int32_t>> next;
  std::vector<std::vector<int32_t>> before;
  std::vector<std::pair<int32_t, int32_t>> back;  // branches to themselves or further up: from, to

  void Connect(size_t from, size_t to) {
    next[from].push_back(static_cast<int32_t>(to));
    before[to].push_back(static_cast<int32_t>(from));
  }
};

absl::StatusOr<Flow> FlowOf(const std::vector<Word>& words, int compute_capability) {
  Flow flow;
  flow.next.resize(words.size());
  flow.before.resize(words.size());
  for (size_t i = 0; i < words.size(); ++i) {
    const uint32_t code = words[i].code();
    const bool leaves = code == kBra || code == kExit || code == kRet || code == kBrx ||
                        code == kJmp || code == kJmx;
    if (!(leaves && words[i].always()) && i + 1 < words.size()) flow.Connect(i, i + 1);
    if (code != kBra) continue;
    const int64_t target = Target(words[i], i, compute_capability);
    if (target < 0 || target >= static_cast<int64_t>(words.size())) {
      return absl::InvalidArgumentError(
          absl::StrCat("sass: branch at instruction ", i, " leaves the kernel"));
    }
    const auto to = static_cast<size_t>(target);
    flow.Connect(i, to);
    // The code ends with a branch to itself, which no thread reaches.
    if (to < i) flow.back.emplace_back(static_cast<int32_t>(i), static_cast<int32_t>(to));
  }
  if (flow.back.size() > kMostBranchesBack) {
    return absl::ResourceExhaustedError(
        absl::StrCat("sass: ", flow.back.size(), " branches back, at most ", kMostBranchesBack));
  }
  return flow;
}

// What can be reached from `start` along `edges` without passing `barrier`; start itself is.
std::vector<bool> Reach(const std::vector<std::vector<int32_t>>& edges, int32_t start,
                        int32_t barrier) {
  std::vector<bool> reached(edges.size(), false);
  std::vector<int32_t> waiting = {start};
  reached[static_cast<size_t>(start)] = true;
  while (!waiting.empty()) {
    const int32_t node = waiting.back();
    waiting.pop_back();
    if (node == barrier) continue;
    for (const int32_t other : edges[static_cast<size_t>(node)]) {
      if (reached[static_cast<size_t>(other)]) continue;
      reached[static_cast<size_t>(other)] = true;
      waiting.push_back(other);
    }
  }
  return reached;
}

struct NaturalLoop {
  int32_t header = 0;
  std::vector<bool> body;
  int64_t size = 0;
};

std::vector<NaturalLoop> LoopsOf(const Flow& flow) {
  const std::vector<bool> live = Reach(flow.next, 0, /*barrier=*/-1);
  std::map<int32_t, std::vector<bool>> bodies;  // by header
  for (const auto& [from, header] : flow.back) {
    if (!live[static_cast<size_t>(from)]) continue;
    // Some way to the branch that misses the header: not a loop but code moved out of the way.
    if (header != 0 && Reach(flow.next, 0, header)[static_cast<size_t>(from)]) continue;
    std::vector<bool> body = Reach(flow.before, from, header);
    std::vector<bool>& all = bodies[header];
    if (all.empty()) all.resize(body.size(), false);
    for (size_t i = 0; i < body.size(); ++i) all[i] = all[i] || (body[i] && live[i]);
  }
  std::vector<NaturalLoop> loops;
  for (auto& [header, body] : bodies) {
    const int64_t size = std::count(body.begin(), body.end(), true);
    loops.push_back({header, std::move(body), size});
  }
  return loops;
}

}  // namespace

absl::string_view PipeName(Pipe pipe) {
  constexpr const char* kNames[kPipes] = {"fma",        "alu",     "fp64",    "special", "tensor",
                                          "load-store", "uniform", "control", "other"};
  return kNames[static_cast<size_t>(pipe)];
}

InstructionKind KindOf(absl::string_view name) {
  InstructionKind kind;
  const absl::string_view base = name.substr(0, name.find('.'));
  for (const Opcode& opcode : kOpcodes) {
    const absl::string_view known = opcode.name;
    if (known != name && known != base) continue;
    kind.pipe = opcode.pipe;
    kind.global_load = opcode.global_load;
    if (opcode.suffix == Suffix::kWidth) {
      for (const int bits : kWidths) {
        if (name == absl::StrCat(known, ".", bits)) kind.lane_bytes = bits / 8;
      }
    }
    break;
  }
  for (const auto& matrix : kMatrices) {
    if (name == matrix.name) kind.flops = matrix.flops;
  }
  return kind;
}

absl::StatusOr<KernelMix> MixOf(const CubinKernel& kernel, int compute_capability) {
  const size_t count = kernel.code.size() / kBytes;
  if (count == 0 || kernel.code.size() % kBytes != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("sass: ", kernel.code.size(), " bytes of code, expected a multiple of 16"));
  }
  if (count > kMostInstructions) {
    return absl::ResourceExhaustedError(
        absl::StrCat("sass: ", count, " instructions, at most ", kMostInstructions));
  }
  std::vector<Word> words(count);
  const absl::string_view code = kernel.code;
  for (size_t i = 0; i < count; ++i) {
    words[i] = {LittleEndian(code.substr(i * kBytes, 8)),
                LittleEndian(code.substr(i * kBytes + 8, 8))};
  }
  absl::StatusOr<Flow> flow = FlowOf(words, compute_capability);
  if (!flow.ok()) return flow.status();
  const std::vector<NaturalLoop> loops = LoopsOf(*flow);

  // Loops with different headers lie apart or one in the other, so the smallest body around an
  // instruction is that of its innermost loop.
  const auto innermost = [&](size_t instruction, int64_t larger_than) {
    int found = 0;
    for (size_t k = 0; k < loops.size(); ++k) {
      if (!loops[k].body[instruction] || loops[k].size <= larger_than) continue;
      if (found == 0 || loops[k].size < loops[static_cast<size_t>(found) - 1].size) {
        found = static_cast<int>(k) + 1;
      }
    }
    return found;
  };
  KernelMix mix;
  mix.name = kernel.name;
  mix.registers = kernel.registers;
  mix.static_shared = kernel.static_shared;
  mix.local_bytes = kernel.local_bytes;
  mix.loops.resize(loops.size() + 1);
  for (size_t k = 0; k < loops.size(); ++k) {
    mix.loops[k + 1].begin = loops[k].header;
    mix.loops[k + 1].parent = innermost(static_cast<size_t>(loops[k].header), loops[k].size);
  }
  std::vector<std::map<std::string, int64_t>> counts(mix.loops.size());
  for (size_t i = 0; i < count; ++i) {
    ++counts[static_cast<size_t>(innermost(i, 0))][NameOf(words[i])];
  }
  for (size_t k = 0; k < counts.size(); ++k) {
    for (const auto& [name, number] : counts[k])
      mix.loops[k].instructions.push_back({name, number});
  }
  return mix;
}

}  // namespace assay::model
