// Tables of the DBN format; see dbn_format.h.
#include "engine/market/dbn_format.h"

#include <fmt/format.h>

#include <array>

#include "engine/market/calendar.h"

namespace foxhunt::market::dbn {
namespace {

constexpr std::array<const char*, 20> kSchemas = {"mbo",        "mbp-1",    "mbp-10",    "tbbo",      "trades",
                                                  "ohlcv-1s",   "ohlcv-1m", "ohlcv-1h",  "ohlcv-1d",  "definition",
                                                  "statistics", "status",   "imbalance", "ohlcv-eod", "cmbp-1",
                                                  "cbbo-1s",    "cbbo-1m",  "tcbbo",     "bbo-1s",    "bbo-1m"};

struct RecordRow {
  std::uint8_t type;
  std::uint16_t size_v1, size_v2, size_v3;  // bytes
  const char* name;
};

constexpr RecordRow kRecords[] = {
    {kTrades, 48, 48, 48, "trade"},
    {kMbp1, 80, 80, 80, "mbp-1"},
    {kMbp10, 368, 368, 368, "mbp-10"},
    {kOhlcvDeprecated, 56, 56, 56, "ohlcv (deprecated)"},
    {kStatus, 40, 40, 40, "status"},
    {kDefinition, 360, 400, 520, "definition"},
    {kImbalance, 112, 112, 112, "imbalance"},
    {kError, 80, 320, 320, "error"},
    {kSymbolMapping, 80, 176, 176, "symbol mapping"},
    {kSystem, 80, 320, 320, "system"},
    {kStatistics, 64, 64, 80, "statistics"},
    {kOhlcv1s, 56, 56, 56, "ohlcv-1s"},
    {kOhlcv1m, 56, 56, 56, "ohlcv-1m"},
    {kOhlcv1h, 56, 56, 56, "ohlcv-1h"},
    {kOhlcv1d, 56, 56, 56, "ohlcv-1d"},
    {kOhlcvEod, 56, 56, 56, "ohlcv-eod"},
    {kMbo, 56, 56, 56, "mbo"},
    {kCmbp1, 80, 80, 80, "cmbp-1"},
    {kCbbo1s, 80, 80, 80, "cbbo-1s"},
    {kCbbo1m, 80, 80, 80, "cbbo-1m"},
    {kTcbbo, 80, 80, 80, "tcbbo"},
    {kBbo1s, 80, 80, 80, "bbo-1s"},
    {kBbo1m, 80, 80, 80, "bbo-1m"},
};

const RecordRow* find(std::uint8_t type) {
  for (const RecordRow& row : kRecords) {
    if (row.type == type) return &row;
  }
  return nullptr;
}

}  // namespace

std::size_t record_size(std::uint8_t type, int version) {
  const RecordRow* row = find(type);
  if (row == nullptr) return 0;
  return version == 1 ? row->size_v1 : version == 2 ? row->size_v2 : row->size_v3;
}

bool known_schema(std::uint16_t schema) {
  return schema < kSchemas.size() || schema == kMixedSchema;
}

std::string schema_name(std::uint16_t schema) {
  if (schema < kSchemas.size()) return kSchemas[schema];
  return schema == kMixedSchema ? "mixed" : fmt::format("schema {}", schema);
}

std::string record_name(std::uint8_t type) {
  const RecordRow* row = find(type);
  return row != nullptr ? row->name : fmt::format("type 0x{:02X}", type);
}

std::int64_t bar_interval(std::uint8_t type) {
  switch (type) {
    case kOhlcv1s:
      return kSecond;
    case kOhlcv1m:
      return 60 * kSecond;
    case kOhlcv1h:
      return 3600 * kSecond;
    case kOhlcv1d:
      return kDay;
    default:
      return 0;
  }
}

}  // namespace foxhunt::market::dbn
