// DBN records into the sink; see dbn_reader.h.
#include "engine/market/dbn_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "engine/market/calendar.h"

namespace foxhunt::market::dbn {
namespace {

constexpr std::uint64_t kLastTime = static_cast<std::uint64_t>(std::numeric_limits<Time>::max() - kDay);

const char* kind_name(InputKind kind) {
  switch (kind) {
    case InputKind::bars:
      return "OHLCV bars (ohlcv-1s, -1m, -1h or -1d)";
    case InputKind::book:
      return "a book (mbp-10 or mbo; mbp-1, bbo-1s and bbo-1m for its first level)";
    case InputKind::trades:
      return "trades (trades, tbbo, mbp-1, mbp-10 or mbo)";
  }
  return "";
}

constexpr bool is_action(std::uint8_t letter) {
  return letter == 'A' || letter == 'C' || letter == 'M' || letter == 'R' || letter == 'T' || letter == 'F' ||
         letter == 'N';
}
constexpr bool is_side(std::uint8_t letter) {
  return letter == 'A' || letter == 'B' || letter == 'N';
}

bool is_bar(std::uint8_t type) {
  return bar_interval(type) != 0;
}

std::string printable(std::uint8_t letter) {
  return letter >= 0x20 && letter < 0x7F ? fmt::format("'{}'", static_cast<char>(letter))
                                         : fmt::format("0x{:02X}", letter);
}

// The record types of a mixed file, found by walking it once.
std::set<std::uint8_t> types_in(const ByteStream& stream, const Progress& progress) {
  ByteStream again(stream.name(), Progress{nullptr, progress.cancel});
  DataReport ignored;
  read_metadata(again, ignored);
  std::set<std::uint8_t> types;
  while (true) {
    const auto ahead = again.peek(kLongestRecord);
    if (ahead.size() < kRecordHeader) return types;
    const std::size_t length = std::size_t{ahead[0]} * 4;
    if (length < kRecordHeader || length > ahead.size()) return types;  // the reader proper says what is wrong
    types.insert(ahead[1]);
    again.skip(length);
  }
}

}  // namespace

DbnReader::DbnReader(ByteStream& stream, InputKind kind, const DataConfig& config, RecordSink& sink, DataReport& report,
                     const Progress& progress)
    : stream_(stream), kind_(kind), sink_(sink), report_(report), progress_(progress), wanted_symbol_(config.symbol) {}

void DbnReader::refuse_schema(const std::string& held) const {
  throw Error(fmt::format("the file holds {}, which cannot give {}", held, kind_name(kind_)),
              ErrorPlace{stream_.name(), 24, std::nullopt, "schema", "give a file of the right schema for this input"});
}

// A file of one schema has one type that serves; where several could, the plainest is taken, so that nothing counts
// twice.
void DbnReader::choose_source() {
  if (metadata_.schema == kMixedSchema) return choose_source_of_mixed();
  const auto schema = static_cast<Schema>(metadata_.schema);
  const bool ohlcv = schema >= Schema::ohlcv_1s && schema <= Schema::ohlcv_1d;
  if (kind_ == InputKind::bars && ohlcv) {
    for (const std::uint8_t type : {kOhlcv1s, kOhlcv1m, kOhlcv1h, kOhlcv1d, kOhlcvDeprecated}) source_[type] = true;
    constexpr std::int64_t kIntervals[] = {kSecond, 60 * kSecond, 3600 * kSecond, kDay};
    schema_interval_ = kIntervals[metadata_.schema - static_cast<std::uint16_t>(Schema::ohlcv_1s)];
  } else if (kind_ != InputKind::bars && schema == Schema::mbp_10) {
    source_[kMbp10] = true;
  } else if (kind_ != InputKind::bars && schema == Schema::mbo) {
    source_[kMbo] = true;
  } else if (kind_ == InputKind::trades && schema == Schema::trades) {
    source_[kTrades] = true;
  } else if (schema == Schema::mbp_1 && kind_ != InputKind::bars) {
    source_[kMbp1] = true;
  } else if (kind_ == InputKind::trades && schema == Schema::tbbo) {
    source_[kMbp1] = true;
  } else if (kind_ == InputKind::book && (schema == Schema::bbo_1s || schema == Schema::bbo_1m)) {
    source_[kBbo1s] = source_[kBbo1m] = true;
  } else {
    refuse_schema(schema_name(metadata_.schema));
  }
}

void DbnReader::choose_source_of_mixed() {
  const std::set<std::uint8_t> types = types_in(stream_, progress_);
  if (kind_ == InputKind::bars) {
    for (const std::uint8_t type : types) source_[type] = is_bar(type);
  } else {
    const bool trades = kind_ == InputKind::trades;
    constexpr std::uint8_t kForTrades[] = {kTrades, kMbp1, kMbp10, kMbo}, kForBook[] = {kMbp10, kMbo, kMbp1, kBbo1s};
    for (const std::uint8_t type : trades ? kForTrades : kForBook) {
      if (!types.contains(type)) continue;
      source_[type] = true;
      break;
    }
  }
  if (types.empty() || std::find(source_.begin(), source_.end(), true) != source_.end()) return;
  std::string held;
  for (const std::uint8_t type : types) held += (held.empty() ? "" : ", ") + record_name(type);
  refuse_schema(fmt::format("records of mixed types ({})", held));
}

void DbnReader::refuse_record(std::uint64_t position, const std::string& field, const std::string& message) const {
  throw Error(fmt::format("record {} at byte {}{}: {}", index_, position,
                          stream_.compressed() ? " of the uncompressed data" : "", message),
              stream_.place(position, field, "the file is damaged: download it again"));
}

void DbnReader::odd(Odd& which, std::uint64_t position, const std::string& example) {
  if (which.count++ > 0) return;
  which.position = position;
  which.file_offset = stream_.file_offset(position);
  which.example = example;
}

bool DbnReader::right_letters(std::uint8_t action, std::uint8_t side, std::uint64_t position) {
  if (is_action(action) && is_side(side)) [[likely]]
    return true;
  const bool bad_action = !is_action(action);
  const std::string what = bad_action ? fmt::format("action {} (allowed: A C M R T F N)", printable(action))
                                      : fmt::format("side {} (allowed: A B N)", printable(side));
  odd(bad_letter_, position, what);
  report_.add(bad_action ? "invalid_action" : "invalid_side",
              fmt::format("{}: record {} at byte {}: {}", stream_.file_name(), index_, position, what));
  return false;
}

void DbnReader::bar(const std::uint8_t* data, std::uint64_t position) {
  const std::uint8_t type = data[1];
  if (bar_type_ != type) {
    if (bar_type_ != 0) {
      refuse_record(
          position, "rtype",
          fmt::format("{} after {}: one file must hold bars of one length", record_name(type), record_name(bar_type_)));
    }
    bar_type_ = type;
    summary_.bar_interval = type == kOhlcvDeprecated ? schema_interval_ : bar_interval(type);
  }
  BarRecord out;
  out.open_time = get<std::int64_t>(data, 8);
  out.close_time = out.open_time + summary_.bar_interval;
  out.open = get<Price>(data, 16);
  out.high = get<Price>(data, 24);
  out.low = get<Price>(data, 32);
  out.close = get<Price>(data, 40);
  out.volume = static_cast<double>(get<std::uint64_t>(data, 48));
  if (std::max({out.open, out.high, out.low, out.close}) == kUndefinedPrice) {
    odd(undefined_price_, position, fmt::format("the bar of {}", format_time(out.open_time)));
    return;
  }
  ++summary_.records;
  sink_.bar(out);
}

// mbp-10; mbp-1 has the first level only, and so have bbo records, whose action is reserved: each is a state of its
// own.
void DbnReader::book(const std::uint8_t* data, std::uint64_t position) {
  const bool sampled = data[1] == kBbo1s || data[1] == kBbo1m;
  const std::uint8_t action = sampled ? static_cast<std::uint8_t>('N') : data[28];
  if (!right_letters(action, data[29], position)) return;
  BookRecord out;
  static_assert(sizeof(Level) == 32 && offsetof(Level, bid_size) == 16, "a Level is a DBN BidAskPair");
  const auto ts_event = get<std::uint64_t>(data, 8);
  out.ts_recv = get<std::int64_t>(data, 32);
  out.ts_event = ts_event > kLastTime ? out.ts_recv : static_cast<Time>(ts_event);
  out.price = get<Price>(data, 16);
  out.size = get<std::uint32_t>(data, 24);
  out.action = static_cast<Action>(action);
  out.side = static_cast<Side>(data[29]);
  out.flags = sampled ? static_cast<std::uint8_t>(data[30] | kFlagLast) : data[30];
  out.depth = sampled ? std::uint8_t{0} : data[31];
  out.sequence = get<std::uint32_t>(data, 44);
  std::memcpy(out.levels.data(), data + 48, data[1] == kMbp10 ? sizeof out.levels : sizeof(Level));
  ++summary_.records;
  sink_.book(out);
}

void DbnReader::trade(const std::uint8_t* data, std::uint64_t position) {
  if (!right_letters(data[28], data[29], position) || data[28] != 'T') return;
  TradeRecord out;
  const auto ts_event = get<std::uint64_t>(data, 8);
  out.ts_recv = get<std::int64_t>(data, 32);
  out.ts_event = ts_event > kLastTime ? out.ts_recv : static_cast<Time>(ts_event);
  out.price = get<Price>(data, 16);
  out.size = get<std::uint32_t>(data, 24);
  out.side = static_cast<Side>(data[29]);
  out.flags = data[30];
  out.sequence = get<std::uint32_t>(data, 44);
  if (out.price == kUndefinedPrice) {
    odd(undefined_price_, position, fmt::format("the trade of {}", format_time(out.ts_recv)));
    return;
  }
  ++summary_.records;
  sink_.trade(out);
}

void DbnReader::order(const std::uint8_t* data, std::uint64_t position) {
  if (!right_letters(data[38], data[39], position)) return;
  OrderRecord in;
  const auto ts_event = get<std::uint64_t>(data, 8);
  in.ts_recv = get<std::int64_t>(data, 40);
  in.ts_event = ts_event > kLastTime ? in.ts_recv : static_cast<Time>(ts_event);
  in.order_id = get<std::uint64_t>(data, 16);
  in.price = get<Price>(data, 24);
  in.size = get<std::uint32_t>(data, 32);
  in.flags = data[36];
  in.action = static_cast<Action>(data[38]);
  in.side = static_cast<Side>(data[39]);
  in.sequence = get<std::uint32_t>(data, 52);
  if (kind_ == InputKind::book) {
    if (const BookRecord* out = replay_->apply(in)) {
      ++summary_.records;
      sink_.book(*out);
    }
    return;
  }
  if (in.action != Action::trade) return;
  if (in.price == kUndefinedPrice) {
    odd(undefined_price_, position, fmt::format("the trade of {}", format_time(in.ts_recv)));
    return;
  }
  ++summary_.records;
  sink_.trade({in.ts_event, in.ts_recv, in.price, static_cast<double>(in.size), in.side, in.flags, in.sequence});
}

// Live streams name their instruments in records: {in symbol, out symbol}, the out one being the raw symbol.
void DbnReader::symbol_mapping(const std::uint8_t* data) {
  const std::size_t at = metadata_.version == 1 ? 38 : 16 + 1 + 71 + 1;
  const std::size_t length = metadata_.version == 1 ? 22 : 71;
  const auto* text = reinterpret_cast<const char*>(data + at);
  filter_->add_mapping(get<std::uint32_t>(data, 4), std::string(text, strnlen(text, length)));
}

void DbnReader::record(const std::uint8_t* data, std::uint64_t position) {
  const std::uint8_t type = data[1];
  if (!source_[type]) [[unlikely]] {
    if (type == kSymbolMapping) symbol_mapping(data);
    return;
  }
  const auto index_time = get<std::uint64_t>(data, type == kMbo ? 40 : kind_ == InputKind::bars ? 8 : 32);
  if (index_time > kLastTime) [[unlikely]] {
    odd(undefined_time_, position, fmt::format("time {}", index_time));
    return;
  }
  if (!filter_->wanted(get<std::uint32_t>(data, 4), static_cast<Time>(index_time)) || filter_->several()) return;
  if (type == kMbo) {
    order(data, position);
  } else if (kind_ == InputKind::book) {
    book(data, position);
  } else if (kind_ == InputKind::trades) {
    trade(data, position);
  } else {
    bar(data, position);
  }
}

std::size_t DbnReader::take_records(const std::uint8_t* data, std::size_t size, bool last) {
  const std::uint64_t start = stream_.position();
  std::size_t at = 0;
  while (size - at >= (last ? kRecordHeader : kLongestRecord)) {
    const std::size_t length = std::size_t{data[at]} * 4;
    if (length < kRecordHeader) {
      refuse_record(start + at, "length",
                    fmt::format("its length is {} bytes (allowed: {} to {})", length, kRecordHeader, kLongestRecord));
    }
    if (length > size - at) break;
    const std::uint8_t type = data[at + 1];
    if (sizes_[type] == 0) {
      odd(unknown_type_, start + at, fmt::format("type 0x{:02X}", type));
    } else if (length < sizes_[type]) {
      refuse_record(
          start + at, "length",
          fmt::format("its length is {} bytes, but a {} record has {}", length, record_name(type), sizes_[type]));
    } else {
      record(data + at, start + at);
    }
    at += length;
    ++index_;
  }
  return at;
}

void DbnReader::cut_tail(std::size_t bytes) {
  if (bytes == 0) return;
  const std::uint64_t position = stream_.position();
  summary_.truncated = true;
  report_.warnings.push_back(
      {fmt::format("the last record is cut: {} bytes at byte {}{} are dropped, {} whole records were read", bytes,
                   position, stream_.compressed() ? " of the uncompressed data" : "", index_),
       stream_.name(), stream_.file_offset(position)});
}

void DbnReader::finish() {
  const auto tell = [this](const Odd& which, const char* what, const char* anomaly) {
    if (which.count == 0) return;
    report_.warnings.push_back(
        {fmt::format("{} {} {}; first {} at byte {}", which.count, which.count == 1 ? "record" : "records", what,
                     which.example, which.position),
         stream_.name(), which.file_offset});
    if (anomaly == nullptr) return;
    report_.add(anomaly, fmt::format("{}: {} at byte {}", stream_.file_name(), which.example, which.position));
    report_.anomalies[anomaly].count += which.count - 1;
  };
  tell(unknown_type_, "of a type that is not known skipped", "unknown_record_type");
  tell(bad_letter_, "skipped for a letter outside the documented ones", nullptr);
  tell(undefined_time_, "without a time skipped", "undefined_time");
  tell(undefined_price_, "without a price skipped", "undefined_price");
  if (kind_ == InputKind::trades && summary_.records == 0 && index_ > 0) {
    report_.warnings.push_back(
        {fmt::format("none of its {} records is a trade{}", index_,
                     metadata_.schema == static_cast<std::uint16_t>(Schema::trades) ? " that can be used" : ""),
         stream_.name(), std::nullopt});
  }
  if (kind_ == InputKind::book && (source_[kMbp1] || source_[kBbo1s])) {
    report_.inferred[stream_.file_name() + ": book"] = fmt::format("1 of {} levels a side", kBookLevels);
  }
  if (filter_->spreads() > 0) {
    report_.inferred[stream_.file_name() + ": instruments"] =
        fmt::format("outrights only: {} records of spreads passed over", filter_->spreads());
  }
  if (replay_ && replay_->unknown_orders() > 0) {
    report_.add("unknown_order", fmt::format("{}: messages about orders that were never added", stream_.file_name()));
    report_.anomalies["unknown_order"].count += replay_->unknown_orders() - 1;
  }
  summary_.symbol = filter_->symbol();
}

ReadSummary DbnReader::read() {
  metadata_ = read_metadata(stream_, report_);
  for (int type = 0; type < 256; ++type) {
    sizes_[type] = static_cast<std::uint16_t>(record_size(static_cast<std::uint8_t>(type), metadata_.version));
  }
  filter_.emplace(metadata_, wanted_symbol_);
  choose_source();
  if (kind_ == InputKind::book && source_[kMbo]) replay_ = std::make_unique<MboReplay>();
  report_.inferred[stream_.file_name() + ": format"] =
      fmt::format("DBN {} {}{}{}", metadata_.version, schema_name(metadata_.schema),
                  stream_.compressed() ? ", zstd" : "", replay_ ? ", orders replayed into ten levels" : "");
  while (true) {
    const auto ahead = stream_.peek(kLongestRecord);
    const bool last = ahead.size() < kLongestRecord;
    stream_.skip(take_records(ahead.data(), ahead.size(), last));
    if (last) break;
  }
  cut_tail(stream_.peek(kLongestRecord).size());
  if (filter_->several()) {
    throw usage_error(
        fmt::format("the file holds several instruments: {}", filter_->listing()),
        ErrorPlace{.file = stream_.name(), .field = "data.symbol", .hint = "set data.symbol (or --symbol) to one"});
  }
  if (!wanted_symbol_.empty() && !filter_->known() && !filter_->listing().empty()) {
    throw usage_error(fmt::format("{} is not in the file, which holds: {}", wanted_symbol_, filter_->listing()),
                      ErrorPlace{.file = stream_.name(), .field = "data.symbol", .hint = "name one of those"});
  }
  finish();
  return summary_;
}

}  // namespace foxhunt::market::dbn
