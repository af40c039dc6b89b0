// CSV rows into the sink; see csv_reader.h. Rows of books are csv_reader_book.cpp's.
#include "engine/market/csv_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "engine/market/calendar.h"
#include "engine/market/csv_survey.h"

namespace foxhunt::market {
namespace {

constexpr std::size_t kListed = 40;  // names in a message
constexpr std::uint64_t kLargestSequence = std::numeric_limits<std::uint32_t>::max();

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return out;
}

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

CsvReader::CsvReader(ByteStream& stream, InputKind kind, const DataConfig& config, RecordSink& sink, DataReport& report,
                     const Progress& progress, ReadCarry& carry)
    : stream_(stream),
      kind_(kind),
      config_(config),
      sink_(sink),
      report_(report),
      progress_(progress),
      lines_(stream),
      carry_(carry) {}

void CsvReader::refuse(int column, const std::string& message, const std::string& hint) const {
  const std::string name = column >= 0 ? layout_.names[column] : "";
  throw Error(message, ErrorPlace{stream_.name(), std::nullopt, lines_.line(), name,
                                  hint.empty() ? "correct or remove the row" : hint});
}

std::string CsvReader::where() const {
  return fmt::format("{} line {}", stream_.file_name(), lines_.line());
}

Time CsvReader::time(TimeReader& reader, int column, int time_of_day) {
  Time out = 0;
  const std::string_view of_day = time_of_day >= 0 ? field(time_of_day) : std::string_view();
  const std::string text = std::string(field(column)) + (of_day.empty() ? "" : " ") + std::string(of_day);
  const bool ok_split = time_of_day < 0 || !of_day.empty();
  switch (ok_split ? reader.read(field(column), of_day, out) : TimeReader::Status::not_a_time) {
    case TimeReader::Status::ok:
      break;
    case TimeReader::Status::not_a_time:
      refuse(column, fmt::format("'{}' is not a time of the form that the file's first rows have", text));
    case TimeReader::Status::zone_differs:
      refuse(column, fmt::format("'{}' {} a zone, unlike the file's first rows", text,
                                 reader.format().zoned ? "carries no" : "carries"));
    case TimeReader::Status::skipped:
      refuse(column, fmt::format("{} does not exist in {}: clocks go forward over it", text, layout_.zone->name()),
             "check data.timezone");
  }
  if (reader.repeated())
    report_.add("repeated_local_time", fmt::format("{}: {} read as {}", where(), text, format_time(out)));
  return out;
}

Price CsvReader::price(int column, bool may_be_empty) {
  const std::string_view text = field(column);
  if (text.empty() && may_be_empty) return kUndefinedPrice;
  const auto number = parse_decimal(text, layout_.numbers);
  if (!number) refuse(column, fmt::format("'{}' is not a price", text));
  if (number->mantissa == kUndefinedPrice && number->exponent == 0) return kUndefinedPrice;
  bool rounded = false;
  const auto value = to_price(*number, layout_.scale, rounded);
  if (!value) {
    refuse(
        column,
        fmt::format("the price {} is beyond what 64 bits of 1e-9 points hold (allowed: below 9223372036 points)", text),
        "set data.price_scale, the points that one unit of the file stands for");
  }
  if (rounded) report_.add("rounded_price", fmt::format("{}: {} has more than nine decimals", where(), text));
  return *value;
}

double CsvReader::number(int column) {
  const auto number = parse_decimal(field(column), layout_.numbers);
  if (!number) refuse(column, fmt::format("'{}' is not a number", field(column)));
  if (number->mantissa < 0) refuse(column, fmt::format("{} is negative (allowed: from 0)", field(column)));
  return to_double(*number);
}

std::uint64_t CsvReader::whole(int column, std::uint64_t most) {
  const std::string_view text = field(column);
  const auto number = parse_decimal(text);
  if (!number || number->exponent != 0 || number->mantissa < 0 || static_cast<std::uint64_t>(number->mantissa) > most) {
    refuse(column, fmt::format("'{}' is not a whole number from 0 to {}", text, most));
  }
  return static_cast<std::uint64_t>(number->mantissa);
}

void CsvReader::times(Time& event, Time& receive) {
  const CsvColumns& c = layout_.columns;
  const bool has_receive = c.receive_time >= 0 && !field(c.receive_time).empty();
  if (has_receive) receive = time(receive_time_, c.receive_time, -1);
  if (has_receive && is_undefined_time(field(c.time))) {
    event = receive;  // undefined in Databento's two styles
    return;
  }
  event = time(time_, c.time, c.time_of_day);
  if (!has_receive) receive = event;
}

// "1.5M" and the like beside plain numbers.
double CsvReader::volume(int column) {
  const std::string_view text = field(column);
  if (text.empty() || text == "-") {
    report_.add("missing_volume", fmt::format("{}: no volume; taken as 0", where()));
    return 0;
  }
  constexpr std::pair<char, double> kSuffixes[] = {{'K', 1e3}, {'M', 1e6}, {'B', 1e9}};
  for (const auto& [letter, factor] : kSuffixes) {
    if (text.empty() || (text.back() & ~0x20) != letter) continue;
    const auto number = parse_decimal(text.substr(0, text.size() - 1), layout_.numbers);
    if (number && number->mantissa >= 0) return std::nearbyint(to_double(*number) * factor);
  }
  return number(column);
}

// A row whose four prices are all absent (as some sources write days without trading).
bool CsvReader::without_prices() {
  const CsvColumns& c = layout_.columns;
  for (const int column : {c.open, c.high, c.low, c.close}) {
    const std::string text = lower(field(column));
    if (!text.empty() && text != "null" && text != "nan" && text != "none" && text != "na" && text != "n/a")
      return false;
  }
  report_.add("undefined_price", fmt::format("{}: a bar without prices; dropped", where()));
  return true;
}

void CsvReader::bar() {
  const CsvColumns& c = layout_.columns;
  if (without_prices()) return;
  BarRecord out;
  const Time stamp = time(time_, c.time, c.time_of_day);
  out.open_time = layout_.stamped_at_close ? stamp - layout_.interval : stamp;
  out.close_time = out.open_time + layout_.interval;
  out.open = price(c.open, false);
  out.high = price(c.high, false);
  out.low = price(c.low, false);
  out.close = price(c.close, false);
  out.volume = c.volume >= 0 ? volume(c.volume) : 0;
  if (std::max({out.open, out.high, out.low, out.close}) == kUndefinedPrice) {
    report_.add("undefined_price", where());
    return;
  }
  ++summary_.records;
  sink_.bar(out);
}

// The aggressor. Words: buy, sell, b, s, bid, ask; a maker flag is the other side's.
Side CsvReader::trade_side() {
  const CsvColumns& c = layout_.columns;
  if (c.buyer_is_maker >= 0) {
    const std::string flag = lower(field(c.buyer_is_maker));
    if (flag == "true" || flag == "1") return Side::ask;
    if (flag == "false" || flag == "0") return Side::bid;
    refuse(c.buyer_is_maker, fmt::format("'{}' is not true or false", flag));
  }
  if (c.side < 0) return Side::none;
  const std::string side = lower(field(c.side));
  if (side == "buy" || side == "b" || side == "bid" || side == "buyer") return Side::bid;
  if (side == "sell" || side == "s" || side == "a" || side == "ask" || side == "seller") return Side::ask;
  if (side.empty() || side == "n" || side == "none" || side == "unknown") return Side::none;
  refuse(c.side, fmt::format("'{}' is not a side (allowed: buy, sell, B, S, A, N, unknown)", side));
}

void CsvReader::trade() {
  const CsvColumns& c = layout_.columns;
  // Tick files that mix quotes and trades leave the trade's fields empty in quotes.
  if (c.level_count > 0 && layout_.family != CsvFamily::databento && (field(c.price).empty() || field(c.size).empty()))
    return;
  TradeRecord out;
  if (layout_.family == CsvFamily::databento && c.action >= 0) {
    Action action = Action::none;
    if (!letters(action, out.side) || action != Action::trade) return;
  } else {
    out.side = trade_side();
  }
  times(out.ts_event, out.ts_recv);
  out.price = price(c.price, true);
  out.size = number(c.size);
  if (c.flags >= 0) out.flags = static_cast<std::uint8_t>(whole(c.flags, 255));
  if (c.sequence >= 0) out.sequence = static_cast<std::uint32_t>(whole(c.sequence, kLargestSequence));
  if (out.price == kUndefinedPrice) {
    report_.add("undefined_price", where());
    return;
  }
  ++summary_.records;
  sink_.trade(out);
}

bool CsvReader::wanted() {
  const int column = layout_.columns.symbol;
  if (column < 0) return true;
  const std::string_view symbol = field(column);
  if (symbol == chosen_ && !chosen_.empty()) return !several_;
  if (seen_.size() < kListed) seen_.emplace(symbol);
  if (!wanted_.empty()) return symbol == wanted_;
  if (chosen_.empty()) chosen_ = symbol;
  several_ = several_ || symbol != chosen_;
  return !several_;
}

void CsvReader::row() {
  if (!split_fields(lines_.text(), layout_.delimiter, fields_)) {
    refuse(-1, "a quoted field is not closed on its line", "correct the quotes");
  }
  while (fields_.size() > layout_.names.size() && fields_.back().empty()) fields_.pop_back();  // a delimiter at the end
  if (fields_.size() != layout_.names.size()) {
    refuse(-1,
           fmt::format("{} fields where {} are expected: '{}'", fields_.size(), layout_.names.size(),
                       lines_.text().substr(0, 80)),
           "the row is damaged, or data.delimiter is to be set");
  }
  if (!wanted()) return;
  ++rows_;
  if (kind_ == InputKind::bars) {
    bar();
  } else if (kind_ == InputKind::book) {
    book();
  } else {
    trade();
  }
}

void CsvReader::cut_tail() {
  summary_.truncated = true;
  report_.warnings.push_back(
      {fmt::format("the last line is cut: {} bytes at byte {}{} (line {}) are dropped, {} records were read",
                   lines_.bytes(), lines_.position(), stream_.compressed() ? " of the uncompressed data" : "",
                   lines_.line(), summary_.records),
       stream_.name(), stream_.file_offset(lines_.position())});
}

void CsvReader::check_instruments() {
  std::string listing;
  for (const std::string& name : seen_) listing += (listing.empty() ? "" : ", ") + name;
  if (seen_.size() == kListed) listing += " and perhaps more";
  if (several_) {
    throw usage_error(
        fmt::format("the file holds several instruments: {}", listing),
        ErrorPlace{.file = stream_.name(), .field = "data.symbol", .hint = "set data.symbol (or --symbol) to one"});
  }
  if (!wanted_.empty() && !seen_.empty() && summary_.records == 0 && !seen_.contains(wanted_)) {
    throw usage_error(fmt::format("{} is not in the file, which holds: {}", wanted_, listing),
                      ErrorPlace{.file = stream_.name(), .field = "data.symbol", .hint = "name one of those"});
  }
}

ReadSummary CsvReader::read() {
  layout_ = survey_csv(stream_.name(), kind_, config_, report_, progress_);
  time_ = TimeReader(layout_.time, layout_.zone, layout_.descending);
  receive_time_ = TimeReader(layout_.receive_time, layout_.zone, layout_.descending);
  summary_.bar_interval = layout_.interval;
  // Instrument ids can only be compared with a symbol in digits.
  if (!layout_.columns.symbol_is_id || all_digits(config_.symbol)) wanted_ = config_.symbol;
  bool first = true;
  while (lines_.next()) {
    const std::string_view text = lines_.text();
    if (lines_.line() < layout_.first_line) continue;
    if (text.find_first_not_of(" \t") == std::string_view::npos || text.front() == '#') continue;
    if (layout_.header && text == layout_.header_text) {
      if (!first) report_.add("repeated_header", where());
      first = false;
      continue;
    }
    first = false;
    if (lines_.terminated()) {
      row();
      continue;
    }
    try {
      row();
      report_.inferred[stream_.file_name() + ": last line"] = "has no line end; taken as whole";
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::usage) throw;
      cut_tail();
    }
  }
  flush_increments();
  check_instruments();
  if (kind_ == InputKind::trades && rows_ > 0 && summary_.records == 0) {
    report_.warnings.push_back({fmt::format("none of its {} rows is a trade", rows_), stream_.name(), std::nullopt});
  }
  if (kind_ == InputKind::bars && rows_ > 0 && layout_.columns.volume < 0) {
    report_.warnings.push_back({"the file has no volume: it is 0 in every bar, and volume features say nothing",
                                stream_.name(), std::nullopt});
  }
  if (replay_ && replay_->unknown_orders() > 0) {
    report_.add("unknown_order", fmt::format("{}: messages about orders that were never added", stream_.file_name()));
    report_.anomalies["unknown_order"].count += replay_->unknown_orders() - 1;
  }
  if (bad_letters_ > 0) {
    report_.warnings.push_back(
        {fmt::format("{} rows skipped for an action or side outside the documented letters; first in line {}",
                     bad_letters_, first_bad_line_),
         stream_.name(), std::nullopt});
  }
  summary_.symbol = !config_.symbol.empty() || layout_.columns.symbol_is_id ? config_.symbol : chosen_;
  if (layout_.columns.symbol_is_id && !chosen_.empty()) {
    report_.inferred[stream_.file_name() + ": instrument"] =
        fmt::format("id {}, the only one; no symbol is in the file", chosen_);
  }
  if (layout_.columns.symbol < 0 && !config_.symbol.empty()) {
    report_.inferred[stream_.file_name() + ": symbol"] = fmt::format("none in the file; taken as {}", config_.symbol);
  }
  return summary_;
}

}  // namespace foxhunt::market
