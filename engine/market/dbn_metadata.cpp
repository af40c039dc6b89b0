// Parsing of DBN metadata; see dbn_metadata.h.
#include "engine/market/dbn_metadata.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/market/calendar.h"

namespace foxhunt::market::dbn {
namespace {

constexpr const char* kDamaged = "the file is damaged: download it again";
constexpr std::uint32_t kLongestMetadata = 64U
                                           << 20;  // bytes; the largest real ones (whole option chains) are some MiB
constexpr std::uint32_t kReserve = 1024;           // entries set aside before they are read: a count is only a claim

// A cursor over the metadata's bytes, of which only as many are ever taken from the stream as the length says.
class Cursor {
 public:
  Cursor(ByteStream& stream, std::uint64_t end) : stream_(stream), end_(end) {}

  std::uint64_t offset() const { return stream_.position(); }
  std::uint64_t rest() const { return end_ - stream_.position(); }

  // `count` bytes, valid until the next call.
  const std::uint8_t* take(std::size_t count, const char* field) {
    if (count > rest()) {
      fail(fmt::format("{} bytes of metadata are left where {} needs {}", rest(), field, count), field);
    }
    const auto ahead = stream_.peek(count);
    if (ahead.size() < count) {
      fail(fmt::format("the file ends inside the metadata, which should reach byte {}", end_), field);
    }
    stream_.skip(count);
    return ahead.data();
  }

  template <class T>
  T number(const char* field) {
    return get<T>(take(sizeof(T), field), 0);
  }

  std::string text(std::size_t length, const char* field) {
    const auto* bytes = reinterpret_cast<const char*>(take(length, field));
    return std::string(bytes, strnlen(bytes, length));
  }

  // A count of things of at least `least` bytes each, which must fit into what is left.
  std::uint32_t count(std::size_t least, const char* field) {
    const std::uint64_t at = offset();
    const auto value = number<std::uint32_t>(field);
    if (std::uint64_t{value} * least > rest()) {
      throw Error(fmt::format("{} is {}, which needs {} bytes, but {} bytes of metadata are left (allowed: up to {})",
                              field, value, std::uint64_t{value} * least, rest(), rest() / least),
                  stream_.place(at, field, kDamaged));
    }
    return value;
  }

  [[noreturn]] void fail(const std::string& message, const char* field) const {
    throw Error(message, stream_.place(offset(), field, kDamaged));
  }

 private:
  ByteStream& stream_;
  std::uint64_t end_;
};

bool impossible(std::uint32_t date) {
  return !valid_date(date / 10'000, date / 100 % 100, date % 100);
}

std::uint32_t read_prelude(ByteStream& stream, int& version) {
  const auto ahead = stream.peek(kPrelude);
  if (ahead.size() < kPrelude) {
    throw Error(fmt::format("the file ends after {} bytes, inside the 8-byte DBN prelude", ahead.size()),
                stream.place(ahead.size(), "prelude", kDamaged));
  }
  version = ahead[3];
  if (version < 1 || version > kNewestVersion) {
    throw Error(fmt::format("DBN version {} is not read (allowed: 1 to {})", version, kNewestVersion),
                stream.place(3, "version", "convert the file to version 3 with Databento's dbn tool"));
  }
  const auto length = get<std::uint32_t>(ahead.data(), 4);
  if (length < kFixedMetadata || length > kLongestMetadata) {
    throw Error(
        fmt::format("metadata length is {} bytes (allowed: {} to {})", length, kFixedMetadata, kLongestMetadata),
        stream.place(4, "length", kDamaged));
  }
  stream.skip(kPrelude);
  return length;
}

// The 100 bytes before the symbol lists. Returns the length of a symbol's field.
std::size_t read_fixed(Cursor& cursor, ByteStream& stream, std::uint32_t length, Metadata& metadata) {
  const std::uint64_t start = cursor.offset();
  std::uint8_t fixed[kFixedMetadata];
  std::memcpy(fixed, cursor.take(kFixedMetadata, "metadata"), kFixedMetadata);
  const std::size_t shift = metadata.version == 1 ? 8 : 0;  // version 1 still has record_count
  const auto fail = [&](const std::string& message, std::size_t offset, const char* field) {
    throw Error(message, stream.place(start + offset, field, kDamaged));
  };
  const auto* dataset = reinterpret_cast<const char*>(fixed);
  if (strnlen(dataset, 16) == 16) fail("the dataset's 16 bytes hold no terminating zero", 0, "dataset");
  metadata.dataset = dataset;
  metadata.schema = get<std::uint16_t>(fixed, 16);
  if (!known_schema(metadata.schema)) {
    fail(fmt::format("schema is {} (allowed: 0 to 19, 65535)", metadata.schema), 16, "schema");
  }
  metadata.stype_in = fixed[42 + shift];
  metadata.stype_out = fixed[43 + shift];
  metadata.ts_out = fixed[44 + shift] != 0;
  std::size_t symbol_length = 22;
  if (metadata.version > 1) {
    symbol_length = get<std::uint16_t>(fixed, 45);
    if (symbol_length == 0 || symbol_length > length) {
      fail(fmt::format("symbol length is {} (allowed: 1 to {}, the metadata's length)", symbol_length, length), 45,
           "symbol_cstr_len");
    }
  }
  return symbol_length;
}

std::vector<std::string> read_symbols(Cursor& cursor, std::size_t symbol_length, const char* field) {
  const std::uint32_t count = cursor.count(symbol_length, field);
  std::vector<std::string> symbols;
  symbols.reserve(std::min(count, kReserve));
  for (std::uint32_t i = 0; i < count; ++i) symbols.push_back(cursor.text(symbol_length, field));
  return symbols;
}

std::vector<Mapping> read_mappings(Cursor& cursor, ByteStream& stream, std::size_t symbol_length, DataReport& report) {
  const std::uint32_t count = cursor.count(symbol_length + 4, "mappings");
  std::vector<Mapping> mappings;
  mappings.reserve(std::min(count, kReserve));
  for (std::uint32_t i = 0; i < count; ++i) {
    Mapping mapping;
    mapping.raw_symbol = cursor.text(symbol_length, "mappings.raw_symbol");
    const std::uint32_t intervals = cursor.count(symbol_length + 8, "mappings.intervals");
    mapping.intervals.reserve(std::min(intervals, kReserve));
    for (std::uint32_t j = 0; j < intervals; ++j) {
      const std::uint64_t at = cursor.offset();
      MappingInterval interval;
      interval.start = cursor.number<std::uint32_t>("mappings.start_date");
      interval.end = cursor.number<std::uint32_t>("mappings.end_date");
      interval.symbol = cursor.text(symbol_length, "mappings.symbol");
      if (impossible(interval.start) || impossible(interval.end)) {
        report.warnings.push_back({fmt::format("the mapping of {} from {} to {} has an impossible date and is ignored",
                                               mapping.raw_symbol, interval.start, interval.end),
                                   stream.name(), stream.file_offset(at)});
        continue;
      }
      mapping.intervals.push_back(std::move(interval));
    }
    mappings.push_back(std::move(mapping));
  }
  return mappings;
}

}  // namespace

Metadata read_metadata(ByteStream& stream, DataReport& report) {
  Metadata metadata;
  const std::uint32_t length = read_prelude(stream, metadata.version);
  Cursor cursor(stream, kPrelude + length);
  const std::size_t symbol_length = read_fixed(cursor, stream, length, metadata);
  for (const std::uint8_t stype : {metadata.stype_in, metadata.stype_out}) {
    if (stype > kStypeLast && stype != kStypeNone) {
      report.warnings.push_back(
          {fmt::format("symbology type {} is not known (0 to {}, 255); its mappings are ignored", stype, kStypeLast),
           stream.name(), stream.file_offset(kPrelude)});
    }
  }
  const std::uint64_t definition_at = cursor.offset();
  const auto definition_length = cursor.number<std::uint32_t>("schema_definition_length");
  if (definition_length != 0) {
    throw Error(fmt::format("schema definition length is {} (allowed: 0)", definition_length),
                stream.place(definition_at, "schema_definition_length", kDamaged));
  }
  metadata.symbols = read_symbols(cursor, symbol_length, "symbols");
  read_symbols(cursor, symbol_length, "partial");
  read_symbols(cursor, symbol_length, "not_found");
  metadata.mappings = read_mappings(cursor, stream, symbol_length, report);
  while (cursor.rest() > 0) {
    cursor.take(static_cast<std::size_t>(std::min<std::uint64_t>(cursor.rest(), ByteStream::kWindow)), "padding");
  }
  return metadata;
}

}  // namespace foxhunt::market::dbn
