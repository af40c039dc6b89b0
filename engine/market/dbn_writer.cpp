// DBN 3 encoding; see dbn_writer.h.
#include "engine/market/dbn_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zstd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <vector>

#include "engine/base/error.h"
#include "engine/market/calendar.h"

namespace foxhunt::market {
namespace {

constexpr std::size_t kBuffer = std::size_t{1} << 18;  // bytes before a write
constexpr std::size_t kSymbolLength = 71;              // of version 3, with the terminating zero
constexpr std::uint16_t kPublisher = 1;                // GLBX.MDP3.GLBX
constexpr std::uint8_t kStypeRawSymbol = 1;
constexpr std::int64_t kOpenEndDate = 20'991'231;  // of the mapping when the end is not known

std::uint8_t record_type(dbn::Schema schema) {
  switch (schema) {
    case dbn::Schema::ohlcv_1s:
      return dbn::kOhlcv1s;
    case dbn::Schema::ohlcv_1m:
      return dbn::kOhlcv1m;
    case dbn::Schema::ohlcv_1h:
      return dbn::kOhlcv1h;
    case dbn::Schema::mbp_10:
      return dbn::kMbp10;
    case dbn::Schema::trades:
      return dbn::kTrades;
    default:
      break;
  }
  throw Error(fmt::format("schema {} is not written (allowed: ohlcv-1s, ohlcv-1m, ohlcv-1h, mbp-10, trades)",
                          dbn::schema_name(static_cast<std::uint16_t>(schema))));
}

}  // namespace

struct DbnWriter::State {
  std::filesystem::path path, temporary;
  dbn::Schema schema;
  std::uint8_t type;
  std::string symbol;
  std::uint32_t instrument_id;
  Time end;
  int file = -1;
  ZSTD_CCtx* context = nullptr;
  std::vector<std::uint8_t> buffer, compressed;
  std::uint64_t records = 0;
  bool started = false, finished = false;

  [[noreturn]] void fail(const char* what) const {
    throw Error(fmt::format("{}: {}", what, std::strerror(errno)),
                ErrorPlace{.file = path.string(), .hint = "check the folder, its permissions and the free space"});
  }

  void write_all(const std::uint8_t* data, std::size_t size) const {
    while (size > 0) {
      const ssize_t wrote = ::write(file, data, size);
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote < 0) fail("cannot be written");
      data += wrote;
      size -= static_cast<std::size_t>(wrote);
    }
  }

  void flush(bool last) {
    if (context == nullptr) {
      write_all(buffer.data(), buffer.size());
    } else {
      ZSTD_inBuffer in{buffer.data(), buffer.size(), 0};
      std::size_t rest = 1;
      while (in.pos < in.size || (last && rest != 0)) {
        ZSTD_outBuffer out{compressed.data(), compressed.size(), 0};
        rest = ZSTD_compressStream2(context, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
        FH_CHECK(!ZSTD_isError(rest), "zstd: {}", ZSTD_getErrorName(rest));
        write_all(compressed.data(), out.pos);
      }
    }
    buffer.clear();
  }

  std::uint8_t* append(std::size_t size) {
    if (buffer.size() + size > kBuffer) flush(false);
    buffer.resize(buffer.size() + size, 0);
    return buffer.data() + buffer.size() - size;
  }

  void text(const std::string& value, std::size_t size) { std::memcpy(append(size), value.data(), value.size()); }
  void number(std::uint32_t value) { dbn::put(append(4), 0, value); }

  // Layout: DBN 3 metadata with one symbol and one mapping, padded to a multiple of 8.
  void start_file(Time first) {
    started = true;
    const std::int64_t start_date = date_number(floor_divide(first, kDay));
    const std::int64_t end_date = end > first ? date_number(floor_divide(end - 1, kDay) + 1) : kOpenEndDate;
    const std::size_t used =
        dbn::kFixedMetadata + 4 + 4 + kSymbolLength + 4 + 4 + 4 + kSymbolLength + 4 + 8 + kSymbolLength;
    const std::size_t length = (used + 7) / 8 * 8;
    std::uint8_t* fixed = append(dbn::kPrelude + dbn::kFixedMetadata);
    std::memcpy(fixed, "DBN\x03", 4);
    dbn::put(fixed, 4, static_cast<std::uint32_t>(length));
    std::memcpy(fixed + 8, "GLBX.MDP3", 9);
    dbn::put(fixed, 24, static_cast<std::uint16_t>(schema));
    dbn::put(fixed, 26, static_cast<std::uint64_t>(first));
    dbn::put(fixed, 34, end > first ? static_cast<std::uint64_t>(end) : dbn::kUndefinedTime);
    fixed[50] = kStypeRawSymbol;
    fixed[51] = dbn::kStypeInstrumentId;
    dbn::put(fixed, 53, static_cast<std::uint16_t>(kSymbolLength));
    number(0);  // schema definition
    number(1);
    text(symbol, kSymbolLength);
    number(0);  // partial
    number(0);  // not found
    number(1);
    text(symbol, kSymbolLength);
    number(1);
    number(static_cast<std::uint32_t>(start_date));
    number(static_cast<std::uint32_t>(end_date));
    text(std::to_string(instrument_id), kSymbolLength);
    append(length - used);
  }

  std::uint8_t* record(std::uint8_t wanted, Time ts_event, Time index_time) {
    FH_CHECK(type == wanted && !finished, "a record of type 0x{:02X} in a file of {}", wanted,
             dbn::schema_name(static_cast<std::uint16_t>(schema)));
    if (!started) start_file(index_time);
    const std::size_t size = dbn::record_size(type, dbn::kNewestVersion);
    std::uint8_t* data = append(size);
    data[0] = static_cast<std::uint8_t>(size / 4);
    data[1] = type;
    dbn::put(data, 2, kPublisher);
    dbn::put(data, 4, instrument_id);
    dbn::put(data, 8, ts_event);
    ++records;
    return data;
  }

  // Sizes are whole in DBN.
  template <class T>
  T whole(double value, const char* field) const {
    if (!(value >= 0) || value != std::floor(value) || value >= static_cast<double>(std::numeric_limits<T>::max())) {
      throw Error(fmt::format("{} {} cannot be written as DBN (allowed: whole numbers from 0)", field, value),
                  ErrorPlace{.file = path.string(), .field = field});
    }
    return static_cast<T>(value);
  }
};

DbnWriter::DbnWriter(std::filesystem::path path, dbn::Schema schema, std::string symbol, std::uint32_t instrument_id,
                     bool compress, Time end)
    : state_(new State{.path = std::move(path),
                       .temporary = {},
                       .schema = schema,
                       .type = record_type(schema),
                       .symbol = std::move(symbol),
                       .instrument_id = instrument_id,
                       .end = end,
                       .buffer = {},
                       .compressed = {}}) {
  State& s = *state_;
  if (s.symbol.size() >= kSymbolLength) {
    throw Error(
        fmt::format("symbol {} has {} bytes (allowed: up to {})", s.symbol, s.symbol.size(), kSymbolLength - 1));
  }
  s.temporary = s.path;
  s.temporary += fmt::format(".{}.tmp", ::getpid());
  s.file = ::open(s.temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (s.file < 0) s.fail("cannot be created");
  s.buffer.reserve(kBuffer);
  if (compress) {
    s.context = ZSTD_createCCtx();
    FH_CHECK(s.context != nullptr, "no memory for a zstd context");
    ZSTD_CCtx_setParameter(s.context, ZSTD_c_checksumFlag, 1);
    s.compressed.resize(ZSTD_CStreamOutSize());
  }
}

DbnWriter::~DbnWriter() {
  State& s = *state_;
  ZSTD_freeCCtx(s.context);
  if (s.file >= 0) ::close(s.file);
  if (!s.finished) ::unlink(s.temporary.c_str());
}

void DbnWriter::write(const BarRecord& record) {
  State& s = *state_;
  FH_CHECK(record.close_time - record.open_time == dbn::bar_interval(s.type), "a bar of {} ns in a file of {}",
           record.close_time - record.open_time, dbn::schema_name(static_cast<std::uint16_t>(s.schema)));
  const auto volume = s.whole<std::uint64_t>(record.volume, "volume");
  std::uint8_t* data = s.record(s.type, record.open_time, record.open_time);
  dbn::put(data, 16, record.open);
  dbn::put(data, 24, record.high);
  dbn::put(data, 32, record.low);
  dbn::put(data, 40, record.close);
  dbn::put(data, 48, volume);
}

void DbnWriter::write(const BookRecord& record) {
  std::uint8_t* data = state_->record(dbn::kMbp10, record.ts_event, record.ts_recv);
  dbn::put(data, 16, record.price);
  dbn::put(data, 24, record.size);
  data[28] = static_cast<std::uint8_t>(record.action);
  data[29] = static_cast<std::uint8_t>(record.side);
  data[30] = record.flags;
  data[31] = record.depth;
  dbn::put(data, 32, record.ts_recv);
  dbn::put(data, 44, record.sequence);
  std::memcpy(data + 48, record.levels.data(), sizeof record.levels);
}

void DbnWriter::write(const TradeRecord& record) {
  const auto size = state_->whole<std::uint32_t>(record.size, "size");
  std::uint8_t* data = state_->record(dbn::kTrades, record.ts_event, record.ts_recv);
  dbn::put(data, 16, record.price);
  dbn::put(data, 24, size);
  data[28] = 'T';
  data[29] = static_cast<std::uint8_t>(record.side);
  data[30] = record.flags;
  dbn::put(data, 32, record.ts_recv);
  dbn::put(data, 44, record.sequence);
}

void DbnWriter::finish() {
  State& s = *state_;
  FH_CHECK(!s.finished, "finish() called twice");
  if (!s.started) s.start_file(0);
  s.flush(true);
  if (::fsync(s.file) != 0) s.fail("cannot be synced");
  ::close(s.file);
  s.file = -1;
  if (::rename(s.temporary.c_str(), s.path.c_str()) != 0) s.fail("cannot be renamed into place");
  s.finished = true;
  const std::filesystem::path parent = s.path.parent_path();
  const int folder = ::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  ::fsync(folder);
  ::close(folder);
}

std::uint64_t DbnWriter::records() const {
  return state_->records;
}

}  // namespace foxhunt::market
