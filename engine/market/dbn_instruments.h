// Which records of a DBN file belong to the one instrument of a run: names by instrument id and date.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/market/calendar.h"
#include "engine/market/dbn_metadata.h"
#include "engine/market/records.h"

namespace foxhunt::market::dbn {

// A wanted symbol selects by name (or by instrument id in digits). Without one, the first instrument that comes is the
// one; of a parent symbol (ES.FUT) only outrights count. When a second one comes, several() turns true.
class InstrumentFilter {
 public:
  InstrumentFilter(const Metadata& metadata, std::string symbol);

  // Whether the record is to be read. `index_time` decides the date: ids are used again on other days.
  bool wanted(std::uint32_t id, Time index_time) {
    if (id == last_.id && index_time >= last_.from && index_time < last_.from + kDay) return last_.wanted;
    return decide(id, index_time);
  }
  // A symbol mapping record of the stream: used where the metadata does not name the id.
  void add_mapping(std::uint32_t id, const std::string& symbol) {
    named_in_stream_[id] = symbol;
    last_ = {};
  }

  bool several() const { return several_; }
  // The instrument read; before the first record the wanted one, or empty.
  const std::string& symbol() const { return chosen_; }
  // Whether the wanted symbol is in the metadata or among the records so far.
  bool known() const;
  // What was seen (before that, what the metadata names): "ESU4, NQU4".
  std::string listing() const;
  // Spreads of a parent symbol that were passed over.
  std::uint64_t spreads() const { return spreads_; }

 private:
  struct Interval {
    std::int64_t start, end;  // yyyymmdd
    std::string name;
  };
  struct Decision {
    std::uint32_t id = 0;
    Time from = kDay;  // start of the UTC day; until the first decision no time lies in it
    bool wanted = false;
  };

  bool decide(std::uint32_t id, Time index_time);
  std::string name(std::uint32_t id, std::int64_t date) const;

  bool parent_ = false;
  std::string symbol_, chosen_, only_symbol_;
  std::unordered_map<std::uint32_t, std::vector<Interval>> intervals_;
  std::unordered_map<std::uint32_t, std::string> named_in_stream_;
  std::map<std::string, std::uint32_t> seen_;  // name -> id
  Decision last_;
  bool several_ = false;
  std::uint64_t spreads_ = 0;
};

}  // namespace foxhunt::market::dbn
