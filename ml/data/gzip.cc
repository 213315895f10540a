// SPDX-License-Identifier: Apache-2.0

#include "ml/data/gzip.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "numerics/core/bits.h"

namespace assay::data {
namespace {

absl::Status Damaged(std::string_view what) {
  return absl::DataLossError(absl::StrCat("gzip: ", what));
}

// Bits of a byte stream, the lowest of each byte first.
class BitReader {
 public:
  explicit BitReader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  // The next `count` <= 15 bits without taking them; zeros past the end.
  uint32_t Peek(int count) {
    while (available_ < count && at_ < bytes_.size()) {
      held_ |= static_cast<uint32_t>(bytes_[at_++]) << available_;
      available_ += 8;
    }
    return held_ & ((uint32_t{1} << count) - 1);
  }
  // Takes `count` bits that were peeked at. False if the stream has no more so many.
  [[nodiscard]] bool Skip(int count) {
    if (count > available_) return false;
    held_ >>= count;
    available_ -= count;
    return true;
  }
  [[nodiscard]] bool Read(int count, uint32_t& value) {
    value = Peek(count);
    return Skip(count);
  }
  // Drops the rest of the current byte; whole bytes that were held are given back.
  void AlignToByte() {
    at_ -= static_cast<size_t>(available_ / 8);
    held_ = 0;
    available_ = 0;
  }
  // Only after AlignToByte.
  std::span<const uint8_t> Rest() const { return bytes_.subspan(at_); }
  void SkipBytes(size_t count) { at_ += count; }

 private:
  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
  uint32_t held_ = 0;
  int available_ = 0;
};

constexpr int kMaxBits = 15;

// A canonical Huffman code as one table over the next fifteen bits.
class Huffman {
 public:
  // lengths: bits of each symbol's code, 0 for none. False if they name more codes than there are;
  // an incomplete code is accepted only with a single symbol, as the format allows for distances.
  [[nodiscard]] bool Build(std::span<const uint8_t> lengths) {
    std::array<int, kMaxBits + 1> count = {};
    for (const uint8_t length : lengths) ++count[length];
    const int symbols = static_cast<int>(lengths.size()) - count[0];
    count[0] = 0;
    std::array<uint32_t, kMaxBits + 2> next = {};
    int left = 1;
    for (int bits = 1; bits <= kMaxBits; ++bits) {
      left = 2 * left - count[bits];
      if (left < 0) return false;
      next[bits + 1] = (next[bits] + static_cast<uint32_t>(count[bits])) << 1;
    }
    if (left > 0 && symbols > 1) return false;
    table_.fill(0);
    for (size_t symbol = 0; symbol < lengths.size(); ++symbol) {
      const int bits = lengths[symbol];
      if (bits == 0) continue;
      // Codes are packed with their first bit lowest; the table counts by the bits as they come.
      const uint32_t code = next[bits]++;
      uint32_t reversed = 0;
      for (int bit = 0; bit < bits; ++bit) reversed |= ((code >> bit) & 1) << (bits - 1 - bit);
      for (uint32_t entry = reversed; entry < table_.size(); entry += uint32_t{1} << bits) {
        table_[entry] = static_cast<uint16_t>(symbol << 4 | static_cast<uint32_t>(bits));
      }
    }
    return true;
  }

  // False at a code that stands for nothing, and at the end of the stream.
  [[nodiscard]] bool Decode(BitReader& reader, int& symbol) const {
    const uint16_t entry = table_[reader.Peek(kMaxBits)];
    symbol = entry >> 4;
    return entry != 0 && reader.Skip(entry & 15);
  }

 private:
  std::array<uint16_t, 1 << kMaxBits> table_;  // symbol << 4 | bits; 0: no code
};

// RFC 1951, sec. 3.2.5: the lengths 3 to 258 and the distances 1 to 32,768.
constexpr std::array<uint16_t, 29> kLengthBase = {3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
                                                  15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
                                                  67, 83, 99, 115, 131, 163, 195, 227, 258};
constexpr std::array<uint8_t, 29> kLengthBits = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                                 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
constexpr std::array<uint16_t, 30> kDistanceBase = {
    1,   2,   3,   4,   5,   7,    9,    13,   17,   25,   33,   49,   65,    97,    129,
    193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
constexpr std::array<uint8_t, 30> kDistanceBits = {0, 0, 0,  0,  1,  1,  2,  2,  3,  3,
                                                   4, 4, 5,  5,  6,  6,  7,  7,  8,  8,
                                                   9, 9, 10, 10, 11, 11, 12, 12, 13, 13};
constexpr std::array<uint8_t, 19> kLengthOrder = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                  11, 4,  12, 3, 13, 2, 14, 1, 15};

class Inflater {
 public:
  Inflater(BitReader& reader, int64_t max_bytes, std::vector<uint8_t>& out)
      : reader_(reader), max_bytes_(max_bytes), out_(out), begin_(out.size()) {}

  absl::Status Run() {
    for (uint32_t last = 0; last == 0;) {
      uint32_t type = 0;
      if (!reader_.Read(1, last) || !reader_.Read(2, type)) return CutShort();
      absl::Status status;
      if (type == 0) {
        status = Stored();
      } else if (type == 1) {
        status = FixedCodes();
      } else if (type == 2) {
        status = DynamicCodes();
      } else {
        status = Damaged("a block of unknown type");
      }
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

 private:
  static absl::Status CutShort() { return Damaged("cut short"); }
  bool Fits(size_t more) const { return static_cast<int64_t>(out_.size() + more) <= max_bytes_; }
  absl::Status TooLarge() const {
    return absl::ResourceExhaustedError(
        absl::StrCat("gzip: it unpacks to more than ", max_bytes_, " bytes"));
  }

  absl::Status Stored() {
    reader_.AlignToByte();
    const std::span<const uint8_t> rest = reader_.Rest();
    if (rest.size() < 4) return CutShort();
    const uint32_t head = LoadLittleEndian32(rest.data());
    const uint32_t length = head & 0xffff;
    if (length != (~head >> 16)) return Damaged("a stored block whose lengths disagree");
    if (rest.size() - 4 < length) return CutShort();
    if (!Fits(length)) return TooLarge();
    out_.insert(out_.end(), rest.begin() + 4, rest.begin() + 4 + length);
    reader_.SkipBytes(4 + length);
    return absl::OkStatus();
  }

  absl::Status FixedCodes() {
    std::array<uint8_t, 288> lengths;
    std::fill(lengths.begin(), lengths.begin() + 144, 8);
    std::fill(lengths.begin() + 144, lengths.begin() + 256, 9);
    std::fill(lengths.begin() + 256, lengths.begin() + 280, 7);
    std::fill(lengths.begin() + 280, lengths.end(), 8);
    std::array<uint8_t, 32> distances;
    distances.fill(5);
    if (!literals_.Build(lengths) || !distances_.Build(distances)) return Damaged("fixed codes");
    return Symbols();
  }

  absl::Status DynamicCodes() {
    uint32_t literal_count = 0, distance_count = 0, order_count = 0;
    if (!reader_.Read(5, literal_count) || !reader_.Read(5, distance_count) ||
        !reader_.Read(4, order_count)) {
      return CutShort();
    }
    literal_count += 257;
    distance_count += 1;
    order_count += 4;
    if (literal_count > 286 || distance_count > 30) return Damaged("too many codes in a block");
    std::array<uint8_t, 19> order = {};
    for (uint32_t i = 0; i < order_count; ++i) {
      uint32_t bits = 0;
      if (!reader_.Read(3, bits)) return CutShort();
      order[kLengthOrder[i]] = static_cast<uint8_t>(bits);
    }
    if (!literals_.Build(order)) return Damaged("impossible code lengths");
    std::array<uint8_t, 286 + 30> lengths = {};
    const uint32_t count = literal_count + distance_count;
    for (uint32_t i = 0; i < count;) {
      int symbol = 0;
      if (!literals_.Decode(reader_, symbol)) return Damaged("cut short, or a code that is none");
      if (symbol < 16) {
        lengths[i++] = static_cast<uint8_t>(symbol);
        continue;
      }
      if (symbol == 16 && i == 0) return Damaged("a repetition of nothing");
      const uint8_t repeated = symbol == 16 ? lengths[i - 1] : 0;
      uint32_t more = 0;
      if (!reader_.Read(symbol == 16 ? 2 : (symbol == 17 ? 3 : 7), more)) return CutShort();
      more += symbol == 18 ? 11 : 3;
      if (i + more > count) return Damaged("more code lengths than codes");
      for (; more > 0; --more) lengths[i++] = repeated;
    }
    const std::span<const uint8_t> all(lengths);
    if (lengths[256] == 0 || !literals_.Build(all.first(literal_count)) ||
        !distances_.Build(all.subspan(literal_count, distance_count))) {
      return Damaged("impossible code lengths");
    }
    return Symbols();
  }

  absl::Status Symbols() {
    for (;;) {
      int symbol = 0;
      if (!literals_.Decode(reader_, symbol)) return Damaged("cut short, or a code that is none");
      if (symbol < 256) {
        if (!Fits(1)) return TooLarge();
        out_.push_back(static_cast<uint8_t>(symbol));
        continue;
      }
      if (symbol == 256) return absl::OkStatus();
      const auto length_code = static_cast<size_t>(symbol - 257);
      uint32_t more = 0;
      if (length_code >= kLengthBase.size()) return Damaged("an unknown length");
      if (!reader_.Read(kLengthBits[length_code], more)) return CutShort();
      const size_t length = kLengthBase[length_code] + more;
      if (!distances_.Decode(reader_, symbol)) return Damaged("cut short, or a code that is none");
      const auto distance_code = static_cast<size_t>(symbol);
      if (distance_code >= kDistanceBase.size()) return Damaged("an unknown distance");
      if (!reader_.Read(kDistanceBits[distance_code], more)) return CutShort();
      const size_t distance = kDistanceBase[distance_code] + more;
      if (distance > out_.size() - begin_) return Damaged("a reference to before the beginning");
      if (!Fits(length)) return TooLarge();
      // Byte by byte: the source may run into what it just wrote.
      for (size_t i = 0; i < length; ++i) out_.push_back(out_[out_.size() - distance]);
    }
  }

  BitReader& reader_;
  int64_t max_bytes_;
  std::vector<uint8_t>& out_;
  size_t begin_;  // of this member in out_
  Huffman literals_;
  Huffman distances_;
};

uint32_t Crc32(std::span<const uint8_t> bytes) {
  static constexpr std::array<uint32_t, 256> kTable = [] {
    std::array<uint32_t, 256> table = {};
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit)
        value = (value & 1) != 0 ? value >> 1 ^ 0xedb88320u : value >> 1;
      table[i] = value;
    }
    return table;
  }();
  uint32_t crc = ~uint32_t{0};
  for (const uint8_t byte : bytes) crc = kTable[(crc ^ byte) & 255] ^ crc >> 8;
  return ~crc;
}

// Length of the gzip header at the front of `bytes` (RFC 1952, sec. 2.3).
absl::StatusOr<size_t> HeaderLength(std::span<const uint8_t> bytes) {
  if (bytes.size() < 10) return Damaged("cut short in its header");
  if (bytes[0] != 0x1f || bytes[1] != 0x8b)
    return Damaged("no gzip file: it does not begin with 1f 8b");
  if (bytes[2] != 8) return Damaged("an unknown way of compression");
  const uint8_t flags = bytes[3];
  if ((flags & 0xe0) != 0) return Damaged("reserved flags in its header");
  size_t at = 10;
  if ((flags & 4) != 0) {  // extra field
    if (bytes.size() < at + 2) return Damaged("cut short in its header");
    at += 2 + (bytes[at] | static_cast<size_t>(bytes[at + 1]) << 8);
  }
  for (const uint8_t text : {8, 16}) {  // name, comment
    if ((flags & text) == 0) continue;
    while (at < bytes.size() && bytes[at] != 0) ++at;
    ++at;
  }
  if ((flags & 2) != 0) at += 2;  // CRC of the header
  if (at > bytes.size()) return Damaged("cut short in its header");
  return at;
}

}  // namespace

absl::StatusOr<std::vector<uint8_t>> Gunzip(std::span<const uint8_t> bytes, int64_t max_bytes) {
  std::vector<uint8_t> out;
  do {
    const absl::StatusOr<size_t> header = HeaderLength(bytes);
    if (!header.ok()) return header.status();
    BitReader reader(bytes.subspan(*header));
    const size_t begin = out.size();
    // Two tables of 64 KiB: too large for the stack of a small thread.
    const auto inflater = std::make_unique<Inflater>(reader, max_bytes, out);
    if (absl::Status status = inflater->Run(); !status.ok()) return status;
    reader.AlignToByte();
    const std::span<const uint8_t> rest = reader.Rest();
    if (rest.size() < 8) return Damaged("cut short in its check sums");
    const std::span<const uint8_t> member = std::span<const uint8_t>(out).subspan(begin);
    if (LoadLittleEndian32(rest.data()) != Crc32(member) ||
        LoadLittleEndian32(rest.data() + 4) != static_cast<uint32_t>(member.size())) {
      return Damaged("its check sums do not fit its content");
    }
    bytes = rest.subspan(8);
  } while (!bytes.empty());
  return out;
}

}  // namespace assay::data
