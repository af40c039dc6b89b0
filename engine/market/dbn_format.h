// The DBN binary format as far as it is read or written here: codes, sizes and field access. All integers
// little-endian.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

namespace foxhunt::market::dbn {

static_assert(std::endian::native == std::endian::little, "DBN is read and written without byte swapping");

inline constexpr std::size_t kPrelude = 8;          // "DBN", version u8, length u32 of what follows
inline constexpr std::size_t kFixedMetadata = 100;  // bytes after the prelude before the symbol lists
inline constexpr std::size_t kRecordHeader = 16;
inline constexpr std::size_t kLongestRecord = 255 * 4;
inline constexpr int kNewestVersion = 3;
inline constexpr std::uint64_t kUndefinedTime = std::numeric_limits<std::uint64_t>::max();
inline constexpr std::uint16_t kMixedSchema = 0xFFFF;

enum class Schema : std::uint16_t {
  mbo = 0,
  mbp_1 = 1,
  mbp_10 = 2,
  tbbo = 3,
  trades = 4,
  ohlcv_1s = 5,
  ohlcv_1m = 6,
  ohlcv_1h = 7,
  ohlcv_1d = 8,
  bbo_1s = 18,
  bbo_1m = 19
};

enum RecordType : std::uint8_t {
  kTrades = 0x00,
  kMbp1 = 0x01,
  kMbp10 = 0x0A,
  kOhlcvDeprecated = 0x11,
  kStatus = 0x12,
  kDefinition = 0x13,
  kImbalance = 0x14,
  kError = 0x15,
  kSymbolMapping = 0x16,
  kSystem = 0x17,
  kStatistics = 0x18,
  kOhlcv1s = 0x20,
  kOhlcv1m = 0x21,
  kOhlcv1h = 0x22,
  kOhlcv1d = 0x23,
  kOhlcvEod = 0x24,
  kMbo = 0xA0,
  kCmbp1 = 0xB1,
  kCbbo1s = 0xC0,
  kCbbo1m = 0xC1,
  kTcbbo = 0xC2,
  kBbo1s = 0xC3,
  kBbo1m = 0xC4
};

// Symbology of the metadata's stype_in and stype_out.
inline constexpr std::uint8_t kStypeInstrumentId = 0, kStypeParent = 4, kStypeLast = 12, kStypeNone = 0xFF;

template <class T>
T get(const std::uint8_t* record, std::size_t offset) {
  T value;
  std::memcpy(&value, record + offset, sizeof value);
  return value;
}

template <class T>
void put(std::uint8_t* record, std::size_t offset, T value) {
  std::memcpy(record + offset, &value, sizeof value);
}

// Bytes of a record type's structure in `version`; 0 for a type that is not known.
std::size_t record_size(std::uint8_t type, int version);
// "mbp-10", "ohlcv-1m", ...; "schema 77" for one that is not known.
std::string schema_name(std::uint16_t schema);
bool known_schema(std::uint16_t schema);
std::string record_name(std::uint8_t type);
// Nanoseconds of an OHLCV record type; 0 for others.
std::int64_t bar_interval(std::uint8_t type);

}  // namespace foxhunt::market::dbn
