// Reading of one DBN file's records of one kind and one instrument; see file_reader.h for the contract.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "engine/market/byte_stream.h"
#include "engine/market/dbn_instruments.h"
#include "engine/market/dbn_metadata.h"
#include "engine/market/mbo_book.h"

namespace foxhunt::market::dbn {

class DbnReader {
 public:
  // `stream` stands at the start of the (decompressed) file and outlives the reader.
  DbnReader(ByteStream& stream, InputKind kind, const DataConfig& config, RecordSink& sink, DataReport& report,
            const Progress& progress);

  ReadSummary read();

 private:
  // Odd records of one sort: counted, with the place of the first for the warning.
  struct Odd {
    std::uint64_t count = 0;
    std::uint64_t position = 0, file_offset = 0;
    std::string example;
  };

  void choose_source();
  void choose_source_of_mixed();
  // Bytes taken by whole records at the front of [data, data + size); `last`: no more bytes follow.
  std::size_t take_records(const std::uint8_t* data, std::size_t size, bool last);
  // One whole record of a known and long enough type.
  void record(const std::uint8_t* data, std::uint64_t position);
  void bar(const std::uint8_t* data, std::uint64_t position);
  void book(const std::uint8_t* data, std::uint64_t position);
  void trade(const std::uint8_t* data, std::uint64_t position);
  void order(const std::uint8_t* data, std::uint64_t position);
  void symbol_mapping(const std::uint8_t* data);
  bool right_letters(std::uint8_t action, std::uint8_t side, std::uint64_t position);
  void odd(Odd& which, std::uint64_t position, const std::string& example);
  void cut_tail(std::size_t bytes);
  void finish();
  [[noreturn]] void refuse_record(std::uint64_t position, const std::string& field, const std::string& message) const;
  [[noreturn]] void refuse_schema(const std::string& held) const;

  ByteStream& stream_;
  InputKind kind_;
  RecordSink& sink_;
  DataReport& report_;
  const Progress& progress_;
  std::string wanted_symbol_;
  Metadata metadata_;
  std::optional<InstrumentFilter> filter_;
  std::array<std::uint16_t, 256> sizes_{};  // bytes of each type's structure; 0: not known
  std::array<bool, 256> source_{};          // record types that give what is asked for
  std::unique_ptr<MboReplay> replay_;
  ReadSummary summary_;
  std::uint64_t index_ = 0;  // of the record at hand, from 0
  std::uint8_t bar_type_ = 0;
  std::int64_t schema_interval_ = 0;  // ns, of the deprecated bar type, whose length only the schema tells
  Odd unknown_type_, bad_letter_, undefined_time_, undefined_price_;
};

}  // namespace foxhunt::market::dbn
