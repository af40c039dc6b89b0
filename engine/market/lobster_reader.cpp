// LOBSTER pairs into the sink; see lobster_reader.h.
#include "engine/market/lobster_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>

#include "engine/market/byte_stream.h"
#include "engine/market/calendar.h"
#include "engine/market/csv_lines.h"
#include "engine/market/csv_time_survey.h"
#include "engine/market/decimal.h"

namespace foxhunt::market {
namespace {

using Fields = std::vector<std::string_view>;
constexpr std::int64_t kEmptyLevel = 9'999'999'999;  // and its negative: a level that is not there
constexpr Decimal kScale{1, -4};                     // points of one price unit
constexpr std::size_t kMessageFields = 6;            // a seventh (the participant) may follow

std::optional<std::int64_t> integer(std::string_view text) {
  const auto number = parse_decimal(text);
  return number && number->exponent == 0 ? std::optional(number->mantissa) : std::nullopt;
}

bool is_message(const Fields& row) {
  if (row.size() != kMessageFields && row.size() != kMessageFields + 1) return false;
  const auto time = parse_decimal(row[0]);
  const auto type = integer(row[1]), id = integer(row[2]), size = integer(row[3]), price = integer(row[4]),
             side = integer(row[5]);
  return time && time->mantissa >= 0 && to_double(*time) < 86'400 && row[0].find('.') != std::string_view::npos &&
         type && *type >= 1 && *type <= 7 && id && size && price && side && (*side == 1 || *side == -1);
}

bool is_book(const Fields& row) {
  if (row.empty() || row.size() % 4 != 0) return false;
  return std::all_of(row.begin(), row.end(), [](std::string_view field) { return integer(field).has_value(); });
}

// The delimiter by which the first whole lines are all rows of that sort; 0: none.
char delimiter_of(std::string_view head, bool (*test)(const Fields&)) {
  for (const char delimiter : {',', ';', '\t'}) {
    Fields fields;
    std::string_view rest = head;
    int rows = 0;
    bool fit = true;
    for (std::size_t end = rest.find('\n'); fit && end != std::string_view::npos; end = rest.find('\n')) {
      std::string_view line = rest.substr(0, end);
      if (line.ends_with('\r')) line.remove_suffix(1);
      fit = split_fields(line, delimiter, fields) && test(fields);
      rest.remove_prefix(end + 1);
      ++rows;
    }
    if (fit && rows > 0) return delimiter;
  }
  return 0;
}

// The path of the other file; empty when the name does not tell.
std::filesystem::path sibling(const std::filesystem::path& path, const char* of, const char* to) {
  std::string name = path.filename().string();
  const std::size_t at = name.find(of);
  if (at == std::string::npos) return {};
  return path.parent_path() / name.replace(at, std::string_view(of).size(), to);
}

// "AMZN" of "AMZN_2012-06-21_34200000_57600000_message_1.csv": the word before the date.
std::string symbol_in(const std::string& name) {
  const std::size_t date = name.find("_20") != std::string::npos ? name.find("_20") : name.find("_19");
  if (date == std::string::npos) return "";
  const std::size_t before = name.rfind('_', date - 1);
  return date == 0 ? "" : name.substr(before == std::string::npos ? 0 : before + 1, date - (before + 1));
}

// One file of a pair, line by line.
class Rows {
 public:
  Rows(const std::filesystem::path& path, const Progress& progress, bool (*test)(const Fields&))
      : stream_(path, progress), lines_(stream_) {
    const auto head = stream_.peek(4096);
    delimiter_ = delimiter_of({reinterpret_cast<const char*>(head.data()), head.size()}, test);
    if (delimiter_ == 0)
      throw Error("its rows are not those of the other file's pair", ErrorPlace{.file = stream_.name()});
  }

  bool next() {
    do {
      if (!lines_.next()) return false;
    } while (lines_.text().find_first_not_of(" \t") == std::string_view::npos);
    if (!split_fields(lines_.text(), delimiter_, fields_)) refuse("", "a quoted field is not closed on its line");
    return true;
  }

  std::int64_t whole(std::size_t column, const char* name) {
    const auto value = integer(fields_[column]);
    if (!value) refuse(name, fmt::format("'{}' is not a whole number", fields_[column]));
    return *value;
  }

  Price price(std::size_t column, const char* name) {
    const std::int64_t value = whole(column, name);
    if (value == kEmptyLevel || value == -kEmptyLevel) return kUndefinedPrice;
    bool rounded = false;
    const auto price = to_price({value, 0}, kScale, rounded);
    if (!price) refuse(name, fmt::format("the price {} is beyond what 64 bits of 1e-9 points hold", value));
    return *price;
  }

  std::uint32_t size(std::size_t column, const char* name) {
    const std::int64_t value = whole(column, name);
    if (value < 0 || value > std::numeric_limits<std::uint32_t>::max())
      refuse(name, fmt::format("the size {} is not from 0 to {}", value, std::numeric_limits<std::uint32_t>::max()));
    return static_cast<std::uint32_t>(value);
  }

  [[noreturn]] void refuse(const char* field, const std::string& message) const {
    throw Error(message, ErrorPlace{stream_.name(), std::nullopt, lines_.line(), field, "correct or remove the row"});
  }

  const Fields& fields() const { return fields_; }
  const ByteStream& stream() const { return stream_; }
  const LineReader& lines() const { return lines_; }
  char delimiter() const { return delimiter_; }

 private:
  ByteStream stream_;
  LineReader lines_;
  char delimiter_ = ',';
  Fields fields_;
};

struct Message {
  Time time = 0;
  std::int64_t type = 0;
  std::uint32_t size = 0;
  Price price = kUndefinedPrice;
  Side resting = Side::none;
};

class Messages : public Rows {
 public:
  Messages(const std::filesystem::path& path, const Progress& progress, TimeReader time)
      : Rows(path, progress, is_message), time_(std::move(time)) {}

  bool next(Message& out) {
    if (!Rows::next()) return false;
    if (!is_message(fields())) {
      refuse("", fmt::format("'{}' is not a message: time, type 1 to 7, order, size, price, direction 1 or -1",
                             lines().text().substr(0, 80)));
    }
    if (time_.read(fields()[0], {}, out.time) != TimeReader::Status::ok)
      refuse("time", fmt::format("'{}' is not a time of that day and zone", fields()[0]));
    out.type = whole(1, "type");
    out.size = size(3, "size");
    out.price = price(4, "price");
    out.resting = whole(5, "direction") > 0 ? Side::bid : Side::ask;
    return true;
  }

 private:
  TimeReader time_;
};

Action book_action(std::int64_t type) {
  switch (type) {
    case 1:
      return Action::add;
    case 2:
    case 3:
    case 4:
      return Action::cancel;
    default:
      return Action::none;
  }
}

BookRecord state(const Message& message, Rows& book, std::uint32_t row) {
  BookRecord out;
  out.ts_event = out.ts_recv = message.time;
  out.action = book_action(message.type);
  out.side = message.resting;
  out.price = message.type == 7 ? kUndefinedPrice : message.price;
  out.size = message.size;
  out.flags = kFlagLast;
  out.sequence = row;
  const std::size_t levels = std::min<std::size_t>(book.fields().size() / 4, kBookLevels);
  for (std::size_t i = 0; i < levels; ++i) {
    Level& level = out.levels[i];
    level.ask_price = book.price(4 * i, "ask price");
    level.bid_price = book.price(4 * i + 2, "bid price");
    level.ask_size = level.ask_price == kUndefinedPrice ? 0 : book.size(4 * i + 1, "ask size");
    level.bid_size = level.bid_price == kUndefinedPrice ? 0 : book.size(4 * i + 3, "bid size");
  }
  return out;
}

std::optional<TradeRecord> execution(const Message& message, std::uint32_t row) {
  if (message.type < 4 || message.type > 6) return std::nullopt;
  const Side aggressor = message.type == 6 ? Side::none : message.resting == Side::bid ? Side::ask : Side::bid;
  return TradeRecord{message.time, message.time, message.price, static_cast<double>(message.size), aggressor, 0, row};
}

}  // namespace

bool is_lobster(std::string_view head, const std::string& file_name) {
  if (delimiter_of(head, is_message) != 0) return true;
  return file_name.find("orderbook") != std::string::npos && delimiter_of(head, is_book) != 0;
}

ReadSummary LobsterReader::read() {
  const bool given_book = path_.filename().string().find("orderbook") != std::string::npos;
  const auto messages_path = given_book ? sibling(path_, "orderbook", "message") : path_;
  const auto book_path = given_book ? path_ : sibling(path_, "message", "orderbook");
  const std::string name = path_.filename().string();
  if (kind_ == InputKind::bars) {
    throw Error("the file is of a LOBSTER pair, which holds no bars",
                ErrorPlace{.file = path_.string(), .hint = "give it as the book and the trades"});
  }
  const bool book_wanted = kind_ == InputKind::book;
  for (const auto& needed : {std::optional(messages_path), book_wanted ? std::optional(book_path) : std::nullopt}) {
    if (!needed || (!needed->empty() && std::filesystem::exists(*needed))) continue;
    throw Error(
        fmt::format("the other file of the LOBSTER pair is missing: {}",
                    needed->empty() ? "its name holds neither 'message' nor 'orderbook'" : needed->string()),
        ErrorPlace{.file = path_.string(), .hint = "keep message and orderbook files side by side, named alike"});
  }

  CsvLayout layout;
  TimeSurvey survey(messages_path, config_, layout, progress_);
  TimeFormat format;
  format.kind = TimeFormat::Kind::midnight;
  format.unit = kSecond;
  format.day = survey.date();
  std::string zone_evidence;
  const auto zone = survey.zone(true, "time", zone_evidence);
  const auto say = [&](const char* what, const std::string& finding) {
    report_.inferred[name + ": " + what] = finding;
  };
  say("format", book_wanted ? "CSV, LOBSTER pair: messages and the book after each" : "CSV, LOBSTER messages");
  say("time", survey.describe(format, false));
  say("time zone", zone_evidence);
  say("prices", "whole numbers in units of 0.0001");

  ReadSummary summary;
  Messages messages(messages_path, book_wanted ? Progress{{}, progress_.cancel} : progress_,
                    TimeReader(format, zone, false));
  std::optional<Rows> book;
  if (book_wanted) book.emplace(book_path, progress_, is_book);
  Message message;
  std::uint32_t row = 0;
  std::size_t width = 0;
  while (messages.next(message)) {
    ++row;
    if (!book_wanted) {
      if (const auto trade = execution(message, row)) {
        ++summary.records;
        sink_.trade(*trade);
      }
      continue;
    }
    if (!book->next())
      messages.refuse("", fmt::format("the order book file has only {} rows, the messages have more", row - 1));
    if (width == 0) {
      width = book->fields().size();
      say("book", fmt::format("{} of {} levels a side", std::min<std::size_t>(width / 4, kBookLevels), kBookLevels));
    }
    if (book->fields().size() != width)
      book->refuse("", fmt::format("{} fields where {} are expected", book->fields().size(), width));
    ++summary.records;
    sink_.book(state(message, *book, row));
  }
  if (book_wanted && book->next())
    book->refuse("", fmt::format("the message file has only {} rows, the book has more", row));
  if (!book_wanted && summary.records == 0 && row > 0)
    report_.warnings.push_back(
        {fmt::format("none of its {} messages is an execution", row), path_.string(), std::nullopt});
  const std::string named = symbol_in(name);
  summary.symbol = !config_.symbol.empty() ? config_.symbol : named;
  if (config_.symbol.empty() && !named.empty()) say("symbol", named + " (by the file's name)");
  return summary;
}

}  // namespace foxhunt::market
