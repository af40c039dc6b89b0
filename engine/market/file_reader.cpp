// Tells formats apart by content and hands the file to its reader; see file_reader.h.
#include "engine/market/file_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "engine/market/byte_stream.h"
#include "engine/market/csv_reader.h"
#include "engine/market/dbn_format.h"
#include "engine/market/dbn_reader.h"
#include "engine/market/lobster_reader.h"

namespace foxhunt::market {
namespace {

bool starts_with(std::span<const std::uint8_t> bytes, std::string_view magic) {
  return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

// Text has no control characters but tab and line ends.
bool is_text(std::span<const std::uint8_t> bytes) {
  return std::none_of(bytes.begin(), bytes.end(),
                      [](std::uint8_t c) { return (c < 0x20 && c != '\t' && c != '\r' && c != '\n') || c == 0x7F; });
}

// Records without metadata: a length in words and a record type that fit together.
bool is_fragment(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < dbn::kRecordHeader) return false;
  for (int version = 1; version <= dbn::kNewestVersion; ++version) {
    const std::size_t size = dbn::record_size(bytes[1], version);
    if (size != 0 && (bytes[0] * 4U == size || bytes[0] * 4U == size + 8)) return true;
  }
  return false;
}

const char* looks_like(std::span<const std::uint8_t> bytes) {
  using namespace std::string_view_literals;
  if (starts_with(bytes, "\x1F\x8B"sv)) return "gzip: unpack it first";
  if (starts_with(bytes, "PK\x03\x04"sv)) return "a ZIP archive: unpack it first";
  if (starts_with(bytes, "BZh"sv)) return "bzip2: unpack it first";
  if (starts_with(bytes,
                  "\xFD"
                  "7zXZ"sv))
    return "xz: unpack it first";
  if (starts_with(bytes, "PAR1"sv)) return "Parquet: export it as CSV or DBN";
  if (bytes.size() >= 8 && ((bytes[1] == 0 && bytes[3] == 0) || (bytes[0] == 0 && bytes[2] == 0)) &&
      bytes[0] != bytes[1])
    return "UTF-16 text without its mark: save it as UTF-8";
  if (starts_with(bytes, "DBZ"sv)) return "legacy DBZ (2022): convert it with Databento's dbn tool";
  if (is_fragment(bytes)) return "a DBN fragment (records without metadata): export it with its metadata";
  return "binary data of no known format";
}

}  // namespace

ReadSummary read_file(const std::filesystem::path& path, InputKind kind, const DataConfig& config, RecordSink& sink,
                      DataReport& report, const Progress& progress, ReadCarry* carry) {
  ByteStream stream(path, progress);
  const auto head = stream.peek(4096);
  if (head.empty()) {
    throw Error(stream.compressed() ? "the zstd stream holds no data" : "the file is empty",
                ErrorPlace{stream.name(), 0, std::nullopt, "", "give a DBN or CSV file"});
  }
  if (starts_with(head, "DBN")) return dbn::DbnReader(stream, kind, config, sink, report, progress).read();
  if (is_text(head)) {
    if (is_lobster({reinterpret_cast<const char*>(head.data()), head.size()}, stream.file_name())) {
      return LobsterReader(path, kind, config, sink, report, progress).read();
    }
    ReadCarry own;
    return CsvReader(stream, kind, config, sink, report, progress, carry != nullptr ? *carry : own).read();
  }
  throw Error(fmt::format("the file is neither DBN nor CSV; it looks like {}", looks_like(head)),
              ErrorPlace{stream.name(), 0, std::nullopt, "magic", "give DBN 1 to 3 or CSV, plain or zstd"});
}

}  // namespace foxhunt::market
