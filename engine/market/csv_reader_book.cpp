// Rows of CSV books into the sink: whole states, new sizes of price levels, single orders; see csv_reader.h.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/market/csv_reader.h"

namespace foxhunt::market {
namespace {

constexpr std::uint64_t kLargestSize = std::numeric_limits<std::uint32_t>::max();

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return out;
}

double power_of_ten(int exponent) {
  return std::pow(10.0, exponent);
}

// Order ids of exchanges are numbers or any text.
std::uint64_t id_of(std::string_view text) {
  const auto number = parse_decimal(text);
  if (number && number->exponent == 0 && number->mantissa >= 0) return static_cast<std::uint64_t>(number->mantissa);
  std::uint64_t hash = 14'695'981'039'346'656'037ULL;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<std::uint8_t>(c)) * 1'099'511'628'211ULL;
  return hash;
}

}  // namespace

std::uint32_t CsvReader::scaled_size(double size) {
  const double value = std::round(size * power_of_ten(layout_.size_decimals));
  if (value <= static_cast<double>(kLargestSize)) return static_cast<std::uint32_t>(value);
  report_.add("capped_size", fmt::format("{}: {} is beyond 32 bits", where(), size));
  return std::numeric_limits<std::uint32_t>::max();
}

std::uint32_t CsvReader::book_size(int column) {
  return field(column).empty() ? 0 : scaled_size(number(column));
}

// Databento's action and side columns; where there are none, a snapshot that is an event of its own.
bool CsvReader::letters(Action& action, Side& side) {
  const CsvColumns& c = layout_.columns;
  if (layout_.family != CsvFamily::databento) return true;
  const std::string_view a = c.action >= 0 ? field(c.action) : "N";
  const std::string_view s = c.side >= 0 && c.action >= 0 ? field(c.side) : "N";
  if (a.size() == 1 && s.size() == 1 && std::string_view("ACMRTFN").find(a) != std::string_view::npos &&
      std::string_view("ABN").find(s) != std::string_view::npos) {
    action = static_cast<Action>(a[0]);
    side = static_cast<Side>(s[0]);
    return true;
  }
  if (bad_letters_++ == 0) first_bad_line_ = lines_.line();
  report_.add("invalid_letter", fmt::format("{}: action '{}', side '{}'", where(), a, s));
  return false;
}

void CsvReader::book() {
  switch (layout_.book_form) {
    case BookForm::levels:
      return level_row();
    case BookForm::increment:
      return increment_row();
    case BookForm::order:
      return order_row();
  }
}

void CsvReader::level_row() {
  const CsvColumns& c = layout_.columns;
  const bool databento = layout_.family == CsvFamily::databento;
  BookRecord out;
  if (!letters(out.action, out.side)) return;
  times(out.ts_event, out.ts_recv);
  if (layout_.family == CsvFamily::lean) out.ts_event = out.ts_recv += layout_.interval;
  out.size_unit = power_of_ten(-layout_.size_decimals);
  if (databento && c.price >= 0) out.price = price(c.price, true);
  if (databento && c.size >= 0) out.size = book_size(c.size);
  out.flags = c.flags >= 0 ? static_cast<std::uint8_t>(whole(c.flags, 255)) : kFlagLast;
  if (databento && c.action < 0) out.flags |= kFlagLast;  // sampled quotes: each row is a state of its own
  if (c.depth >= 0) out.depth = static_cast<std::uint8_t>(whole(c.depth, 255));
  if (c.sequence >= 0) out.sequence = static_cast<std::uint32_t>(whole(c.sequence, kLargestSize));
  if (!c.level_sizes) {
    // Quotes: an empty field is a side that did not change.
    if (!field(c.levels[0].bid_price).empty()) quote_.bid_price = price(c.levels[0].bid_price, false);
    if (!field(c.levels[0].ask_price).empty()) quote_.ask_price = price(c.levels[0].ask_price, false);
    quote_.bid_size = quote_.bid_price == kUndefinedPrice ? 0 : 1;
    quote_.ask_size = quote_.ask_price == kUndefinedPrice ? 0 : 1;
    out.levels[0] = quote_;
  }
  for (int i = 0; i < c.level_count && c.level_sizes; ++i) {
    const auto& columns = c.levels[i];
    Level& level = out.levels[i];
    level.bid_price = price(columns.bid_price, true);
    level.ask_price = price(columns.ask_price, true);
    level.bid_size = level.bid_price == kUndefinedPrice ? 0 : book_size(columns.bid_size);
    level.ask_size = level.ask_price == kUndefinedPrice ? 0 : book_size(columns.ask_size);
    if (columns.bid_count >= 0) level.bid_count = static_cast<std::uint32_t>(whole(columns.bid_count, kLargestSize));
    if (columns.ask_count >= 0) level.ask_count = static_cast<std::uint32_t>(whole(columns.ask_count, kLargestSize));
  }
  ++summary_.records;
  sink_.book(out);
}

Side CsvReader::book_side() {
  const int column = layout_.columns.side;
  const std::string side = lower(field(column));
  if (side == "bid" || side == "b" || side == "buy" || side == "bids") return Side::bid;
  if (side == "ask" || side == "a" || side == "sell" || side == "s" || side == "asks" || side == "offer")
    return Side::ask;
  if (side == "n" || side == "none" || side.empty()) return Side::none;
  refuse(column, fmt::format("'{}' is not a side of the book (allowed: bid, ask, buy, sell, B, A, S)", side));
}

// Hands on the book as the event at hand has left it.
void CsvReader::flush_increments() {
  if (!event_) return;
  if (event_rows_ > 1) {  // several levels: no single action
    event_->action = Action::none;
    event_->side = Side::none;
    event_->price = kUndefinedPrice;
    event_->size = 0;
  }
  event_->levels = carry_.book.levels(event_->size_unit);
  ++summary_.records;
  sink_.book(*event_);
  event_.reset();
}

void CsvReader::increment_row() {
  const CsvColumns& c = layout_.columns;
  BookRecord row;
  times(row.ts_event, row.ts_recv);
  const std::int64_t number = c.update >= 0 ? static_cast<std::int64_t>(id_of(field(c.update))) : -1;
  const std::string told = lower(field(c.snapshot >= 0 ? c.snapshot : c.update_type));
  const bool snapshot = told == "true" || told == "1" || told == "snap" || told == "snapshot";
  const bool same =
      event_ && event_->ts_recv == row.ts_recv && event_->ts_event == row.ts_event && event_number_ == number;
  if (!same || snapshot != in_snapshot_) {
    flush_increments();
    if (snapshot) carry_.book.clear();
    event_rows_ = 0;
  }
  in_snapshot_ = snapshot;
  event_number_ = number;
  const Side side = book_side();
  const Price at = price(c.price, false);
  const double size = this->number(c.size);
  if (side == Side::none) refuse(c.side, "a level's side is missing");
  row.action = size <= 0 ? Action::cancel : carry_.book.has(side, at) ? Action::modify : Action::add;
  row.side = side;
  row.price = at;
  row.size = scaled_size(size);
  row.size_unit = power_of_ten(-layout_.size_decimals);
  row.flags = kFlagLast;
  carry_.book.set(side, at, size);
  ++event_rows_;
  event_ = row;
}

Action CsvReader::order_action(bool& whole) {
  const int column = layout_.columns.action;
  const std::string_view text = field(column);
  whole = false;
  if (layout_.family == CsvFamily::databento) {
    if (text.size() == 1 && std::string_view("ACMRTFN").find(text) != std::string_view::npos)
      return static_cast<Action>(text[0]);
    refuse(column, fmt::format("'{}' is not an action (allowed: A C M R T F N)", text));
  }
  const std::string word = lower(text);
  const auto is = [&word](std::initializer_list<const char*> list) {
    return std::find(list.begin(), list.end(), word) != list.end();
  };
  if (is({"a", "add", "added", "new", "created", "insert", "open"})) return Action::add;
  if (is({"m", "modify", "modified", "changed", "change", "update", "replace"})) return Action::modify;
  if (is({"r", "clear", "reset"})) return Action::clear;
  if (is({"t", "trade", "execute", "executed", "match", "f", "fill"})) return Action::none;
  whole = is({"d", "delete", "deleted", "remove", "removed", "done", "cancelled", "canceled"});
  if (whole || is({"c", "cancel"})) return Action::cancel;
  refuse(column, fmt::format("'{}' is not what can happen to an order (allowed: add, modify, cancel, delete)", word));
}

void CsvReader::order_row() {
  const CsvColumns& c = layout_.columns;
  if (!replay_) replay_ = std::make_unique<MboReplay>();
  bool whole_order = false;
  OrderRecord in;
  in.action = order_action(whole_order);
  in.side = book_side();
  times(in.ts_event, in.ts_recv);
  in.order_id = id_of(field(c.order_id));
  in.price = price(c.price, true);
  in.size = whole_order ? std::numeric_limits<std::uint32_t>::max() : book_size(c.size);
  in.flags = c.flags >= 0 ? static_cast<std::uint8_t>(whole(c.flags, 255)) : kFlagLast;
  if (c.sequence >= 0) in.sequence = static_cast<std::uint32_t>(whole(c.sequence, kLargestSize));
  const BookRecord* shown = replay_->apply(in);
  if (shown == nullptr) return;
  BookRecord out = *shown;
  out.size_unit = power_of_ten(-layout_.size_decimals);
  ++summary_.records;
  sink_.book(out);
}

}  // namespace foxhunt::market
