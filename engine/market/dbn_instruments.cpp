// Symbol resolution of DBN files; see dbn_instruments.h.
#include "engine/market/dbn_instruments.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <set>

namespace foxhunt::market::dbn {
namespace {

constexpr std::size_t kListed = 40;  // names in a message

std::optional<std::uint32_t> id_of(const std::string& text) {
  std::uint32_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return id;
}

// CME writes spreads as "ESZ3-ESM4" and user-defined ones as "UD:1V: ...".
bool is_spread(const std::string& name) {
  return name.find_first_of("-:") != std::string::npos;
}

}  // namespace

InstrumentFilter::InstrumentFilter(const Metadata& metadata, std::string symbol)
    : parent_(metadata.stype_in == kStypeParent), symbol_(std::move(symbol)), chosen_(symbol_) {
  const bool from_id = metadata.stype_in == kStypeInstrumentId && metadata.stype_out != kStypeInstrumentId;
  const auto known = [](std::uint8_t stype) { return stype <= kStypeLast || stype == kStypeNone; };
  const bool usable = known(metadata.stype_in) && known(metadata.stype_out);
  for (const Mapping& mapping : metadata.mappings) {
    if (!usable) break;  // what its symbols stand for is not known
    for (const MappingInterval& interval : mapping.intervals) {
      if (interval.start >= interval.end) continue;
      const auto id = id_of(from_id ? mapping.raw_symbol : interval.symbol);
      if (!id) continue;
      intervals_[*id].push_back({interval.start, interval.end, from_id ? interval.symbol : mapping.raw_symbol});
    }
  }
  if (intervals_.empty() && !parent_ && metadata.symbols.size() == 1) only_symbol_ = metadata.symbols.front();
}

std::string InstrumentFilter::name(std::uint32_t id, std::int64_t date) const {
  if (const auto found = intervals_.find(id); found != intervals_.end()) {
    for (const Interval& interval : found->second) {
      if (date >= interval.start && date < interval.end) return interval.name;
    }
    // A date that no interval holds (a record just past midnight): the name if the id only ever has one.
    bool one = true;
    for (const Interval& interval : found->second) one = one && interval.name == found->second.front().name;
    if (one) return found->second.front().name;
  }
  if (const auto found = named_in_stream_.find(id); found != named_in_stream_.end()) return found->second;
  if (!only_symbol_.empty()) return only_symbol_;
  return fmt::format("instrument {}", id);
}

bool InstrumentFilter::decide(std::uint32_t id, Time index_time) {
  const std::int64_t day = floor_divide(index_time, kDay);
  const std::string name = this->name(id, date_number(day));
  last_ = {id, day * kDay, false};
  if (!symbol_.empty()) {
    last_.wanted = name == symbol_ || id_of(symbol_) == id;
    if (last_.wanted) chosen_ = name;
  } else if (parent_ && is_spread(name)) {
    ++spreads_;
    return false;  // not listed: only outrights may be chosen without a name
  } else {
    if (chosen_.empty()) chosen_ = name;
    last_.wanted = name == chosen_;
    several_ = several_ || !last_.wanted;
  }
  seen_.emplace(name, id);
  return last_.wanted;
}

bool InstrumentFilter::known() const {
  if (seen_.contains(chosen_)) return true;
  for (const auto& [id, intervals] : intervals_) {
    for (const Interval& interval : intervals) {
      if (interval.name == symbol_ || id_of(symbol_) == id) return true;
    }
  }
  return false;
}

std::string InstrumentFilter::listing() const {
  std::set<std::string> names;
  for (const auto& [name, id] : seen_) names.insert(name);
  if (names.empty()) {
    for (const auto& [id, intervals] : intervals_) {
      for (const Interval& interval : intervals) names.insert(interval.name);
    }
  }
  std::string text;
  std::size_t listed = 0;
  for (const std::string& name : names) {
    if (listed == kListed) return text + fmt::format(" and {} more", names.size() - kListed);
    text += (listed++ == 0 ? "" : ", ") + name;
  }
  return text;
}

}  // namespace foxhunt::market::dbn
