// The simulator's three files.
#include <limits>

#include "engine/market/dbn_writer.h"
#include "engine/market/simulator.h"

namespace foxhunt::market {
namespace {

class FileSink final : public RecordSink {
 public:
  explicit FileSink(const std::filesystem::path& folder)
      : bars_(folder / "bars.dbn.zst", dbn::Schema::ohlcv_1m, kSimulatedSymbol, kInstrument, true),
        book_(folder / "book.dbn.zst", dbn::Schema::mbp_10, kSimulatedSymbol, kInstrument, true),
        trades_(folder / "trades.dbn.zst", dbn::Schema::trades, kSimulatedSymbol, kInstrument, true) {}

  void bar(const BarRecord& record) override { bars_.write(record); }
  void book(const BookRecord& record) override { book_.write(record); }
  void trade(const TradeRecord& record) override { trades_.write(record); }
  void finish() {
    bars_.finish();
    book_.finish();
    trades_.finish();
  }

 private:
  static constexpr std::uint32_t kInstrument = 1;
  DbnWriter bars_, book_, trades_;
};

}  // namespace

void simulate_files(const std::filesystem::path& folder, const SimulatedConfig& config, const Progress& progress) {
  std::filesystem::create_directories(folder);
  FileSink sink(folder);
  simulate_records(config, sink, progress);
  sink.finish();
}

}  // namespace foxhunt::market
