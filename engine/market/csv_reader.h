// Reading of one CSV file row by row by the layout that a survey of it found; see file_reader.h for the contract.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/market/byte_stream.h"
#include "engine/market/csv_layout.h"
#include "engine/market/csv_lines.h"
#include "engine/market/mbo_book.h"

namespace foxhunt::market {

class CsvReader {
 public:
  // `stream` stands at the start of the (decompressed) file and outlives the reader.
  CsvReader(ByteStream& stream, InputKind kind, const DataConfig& config, RecordSink& sink, DataReport& report,
            const Progress& progress, ReadCarry& carry);

  ReadSummary read();

 private:
  void row();
  void bar();
  void book();
  void level_row();
  void increment_row();
  void flush_increments();
  void order_row();
  void trade();
  // Whether the row is of the wanted instrument.
  bool wanted();
  Time time(TimeReader& reader, int column, int time_of_day);
  // An empty field is an undefined price where the format says so.
  Price price(int column, bool may_be_empty);
  double number(int column);
  double volume(int column);
  bool without_prices();
  std::uint64_t whole(int column, std::uint64_t most);
  std::uint32_t book_size(int column);
  std::uint32_t scaled_size(double size);
  bool letters(Action& action, Side& side);
  Side book_side();
  // The order message's action; none for one that says nothing of the book. `whole`: the order goes, whatever its size.
  Action order_action(bool& whole);
  Side trade_side();
  // Event and receive time; the one that is missing is taken from the other.
  void times(Time& event, Time& receive);
  std::string_view field(int column) const { return fields_[column]; }
  std::string where() const;
  void cut_tail();
  void check_instruments();
  [[noreturn]] void refuse(int column, const std::string& message, const std::string& hint = {}) const;

  ByteStream& stream_;
  InputKind kind_;
  const DataConfig& config_;
  RecordSink& sink_;
  DataReport& report_;
  const Progress& progress_;
  CsvLayout layout_;
  TimeReader time_, receive_time_;
  LineReader lines_;
  std::vector<std::string_view> fields_;
  ReadSummary summary_;
  std::string chosen_;          // the value of the symbol column that is read
  std::set<std::string> seen_;  // values of the symbol column
  std::string wanted_;          // by configuration, when the column can be compared with it
  bool several_ = false;
  std::uint64_t bad_letters_ = 0, first_bad_line_ = 0;
  std::uint64_t rows_ = 0;  // of the wanted instrument
  ReadCarry& carry_;
  Level quote_;                      // the last quote
  std::optional<BookRecord> event_;  // the increments of one time, not yet handed on
  std::uint64_t event_rows_ = 0;
  std::int64_t event_number_ = -1;
  bool in_snapshot_ = false;
  std::unique_ptr<MboReplay> replay_;
};

}  // namespace foxhunt::market
