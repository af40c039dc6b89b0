// Loading end to end: real files, files of the simulator, missing inputs, and that no row knows anything later.
#include "engine/market/market_loader.h"

#include "engine/market/features.h"
#include "engine/market/folds.h"
#include "tests/market/market_fixture.h"
#include "tests/support/log_watch.h"
#include "tests/support/shared_data.h"

namespace foxhunt::market::test {
namespace {

using ::foxhunt::test::scratch_folder;
using ::foxhunt::test::shared;

DataConfig real_trio() {
  DataConfig config;
  config.ohlcv = {shared("data/es_derived/esh4_20231225.ohlcv-1s.v3.dbn.zst").string()};
  config.mbp10 = {shared("data/es_derived/esh4_20231225.mbp-10.v3.dbn.zst").string()};
  config.trades = {shared("data/es_derived/esh4_20231225.trades.v3.dbn.zst").string()};
  return config;
}

float feature(const MarketTable& table, std::int64_t row, int column) {
  return table.features[static_cast<std::size_t>(row * kMarketFeatures + column)];
}

// Rows up to `last` of two tables are the same numbers.
void expect_same_rows(const MarketTable& a, const MarketTable& b, std::size_t last) {
  for (std::size_t t = 0; t <= last; ++t) {
    for (std::size_t f = 0; f < kMarketFeatures; ++f) {
      ASSERT_EQ(a.features[t * kMarketFeatures + f], b.features[t * kMarketFeatures + f])
          << market_features()[f].name << " of bar " << t;
    }
    ASSERT_EQ(a.atr[t], b.atr[t]);
    ASSERT_EQ(a.volatility[t], b.volatility[t]);
    ASSERT_EQ(a.volatility_ratio[t], b.volatility_ratio[t]);
    ASSERT_EQ(a.book[t].bid_price, b.book[t].bid_price);
    ASSERT_EQ(a.book[t].ask_size, b.book[t].ask_size);
  }
}

}  // namespace

TEST(MarketLoader, RealTrio) {
  FH_NEEDS_SHARED("data/es_derived/esh4_20231225.ohlcv-1s.v3.dbn.zst");
  const MarketTable table = load_market(real_trio());
  EXPECT_EQ(table.rows(), 986);
  EXPECT_EQ(table.symbol, "ESH4");
  EXPECT_TRUE(table.order_flow);
  EXPECT_FALSE(table.simulated);
  EXPECT_EQ(table.warm_up, 113);
  EXPECT_EQ(table.features.size(), 986U * kMarketFeatures);
  // All of them, as MboReplay's own loop finds: four come in the middle of an event that has already moved the touch,
  // and are measured against the book that the event's own trade records carry.
  EXPECT_EQ(table.report.inferred.at("aggressor check: buy-aggressor trades at the ask"), "1542 of 1542 (100.0 %)");
  EXPECT_EQ(table.report.inferred.at("aggressor check: sell-aggressor trades at the bid"), "1430 of 1430 (100.0 %)");
  // Every trade of the file lies in a bar, so the bars' volumes are those of their trades.
  for (std::int64_t t = 0; t < table.rows(); ++t) {
    ASSERT_NEAR(std::expm1(feature(table, t, f_log_trade_volume)), table.volume[static_cast<std::size_t>(t)], 1e-3)
        << t;
    ASSERT_EQ(feature(table, t, f_book_present), 1.0F) << t;
  }
  FoldsConfig folds;
  folds.train_bars = 500;
  folds.validation_bars = 200;
  folds.count = 1;
  EXPECT_EQ(make_folds(table, folds).size(), 1U);
  folds.count = 3;
  EXPECT_TRUE(says(error_of([&] { make_folds(table, folds); }), "folds.count is 3, but 1 fits: the data has 986 bars"));
}

TEST(MarketLoader, SeveralFilesInAnyOrder) {
  const auto records = simulated(240, 3);
  const auto folder = scratch_folder();
  const auto whole = load_market(write_files(folder / "whole", records));
  Records early, late;
  const Time split = records.bars[100].close_time;
  for (const auto& r : records.bars) (r.open_time < split ? early : late).bars.push_back(r);
  for (const auto& r : records.books) (r.ts_recv < split ? early : late).books.push_back(r);
  for (const auto& r : records.trades) (r.ts_recv < split ? early : late).trades.push_back(r);
  const auto a = write_files(folder / "a", late), b = write_files(folder / "b", early);
  DataConfig both;
  both.ohlcv = {a.ohlcv[0], b.ohlcv[0]};
  both.mbp10 = {b.mbp10[0], a.mbp10[0]};
  both.trades = {a.trades[0], b.trades[0]};
  const auto table = load_market(both);
  EXPECT_EQ(table.fingerprint, whole.fingerprint);
  EXPECT_FALSE(table.report.anomalies.contains("out_of_order"));
  // What each file gave, in the order in which they were read: the early one of a kind first.
  const auto& files = table.report.files;
  ASSERT_EQ(files.size(), 6U);
  const std::vector<std::string> names = {b.ohlcv[0], a.ohlcv[0], b.mbp10[0], a.mbp10[0], b.trades[0], a.trades[0]};
  for (std::size_t i = 0; i < files.size(); ++i) {
    EXPECT_EQ(files[i].file, names[i]);
    EXPECT_EQ(files[i].kind, i < 2 ? "bars" : i < 4 ? "book" : "trades");
    EXPECT_FALSE(files[i].truncated);
  }
  EXPECT_EQ(files[0].records, early.bars.size());
  EXPECT_EQ(files[0].first, early.bars.front().open_time);
  EXPECT_EQ(files[0].last, early.bars.back().close_time);
  EXPECT_EQ(files[0].interval, kMinute);
  EXPECT_EQ(files[3].records, late.books.size());
  EXPECT_EQ(files[3].first, late.books.front().ts_recv);
  EXPECT_EQ(files[5].last, late.trades.back().ts_recv);
  EXPECT_EQ(files[5].symbol, kSimulatedSymbol);
  EXPECT_FALSE(table.report.anomalies.contains("trade_out_of_order"));
}

TEST(MarketLoader, SimulatorInMemoryAndFromFilesAgree) {
  const SimulatedConfig simulation{300, 9, 1.0};
  DataConfig memory;
  memory.simulated = simulation;
  const auto folder = scratch_folder();
  simulate_files(folder, simulation);
  DataConfig files;
  files.ohlcv = {(folder / "bars.dbn.zst").string()};
  files.mbp10 = {(folder / "book.dbn.zst").string()};
  files.trades = {(folder / "trades.dbn.zst").string()};
  const auto a = load_market(memory), b = load_market(files);
  EXPECT_EQ(a.rows(), 300);
  EXPECT_TRUE(a.simulated);
  EXPECT_FALSE(b.simulated);
  EXPECT_EQ(b.symbol, kSimulatedSymbol);
  EXPECT_EQ(a.fingerprint, b.fingerprint);
}

TEST(MarketLoader, NoRowKnowsAnythingLater) {
  const auto records = simulated(220, 5);
  const auto folder = scratch_folder();
  const auto base = load_market(write_files(folder / "base", records));
  // Moved trades no longer fit the quotes before them.
  const ::foxhunt::test::ExpectLog expected("80 % or more is usual");
  for (const std::size_t t : {0U, 57U, 130U, 200U}) {
    const Time now = records.bars[t].close_time;
    Records changed = records, cut;
    for (auto& r : changed.bars) {
      if (r.open_time < now) continue;
      for (Price* p : {&r.open, &r.high, &r.low, &r.close}) *p += price(40);
      r.volume = 3 * r.volume + 1;
    }
    for (auto& r : changed.books) {
      if (r.ts_recv < now) continue;
      for (auto& level : r.levels) {
        level.bid_price += price(40);
        level.ask_price += price(40);
        level.bid_size = 2 * level.bid_size + 5;
      }
      r.action = Action::cancel;
    }
    for (auto& r : changed.trades) {
      if (r.ts_recv < now) continue;
      r.price += price(40);
      r.size += 11;
      r.side = Side::bid;
    }
    expect_same_rows(load_market(write_files(folder / "changed", changed)), base, t);
    for (const auto& r : records.bars) {
      if (r.open_time < now) cut.bars.push_back(r);
    }
    for (const auto& r : records.books) {
      if (r.ts_recv < now) cut.books.push_back(r);
    }
    for (const auto& r : records.trades) {
      if (r.ts_recv < now) cut.trades.push_back(r);
    }
    expect_same_rows(load_market(write_files(folder / "cut", cut)), base, t);
  }
}

TEST(MarketLoader, MissingOrderFlowIsRefusedBeforeAnythingIsOpened) {
  DataConfig config;
  config.ohlcv = {"/nonexistent/bars.dbn"};
  config.trades = {"/nonexistent/trades.dbn"};
  const Error error = error_of([&] { load_market(config); });
  EXPECT_EQ(error.kind(), ErrorKind::usage);
  EXPECT_EQ(error.place().field, "data.mbp10");
  EXPECT_TRUE(says(error, "order flow is required"));
  config.mbp10 = {"/nonexistent/book.dbn"};
  config.trades = {};
  EXPECT_EQ(error_of([&] { load_market(config); }).place().field, "data.trades");
  config.ohlcv = {};
  EXPECT_EQ(error_of([&] { load_market(config); }).place().field, "data.ohlcv");
  config.order_flow = "proxy";
  EXPECT_EQ(error_of([&] { load_market(config); }).place().field, "data.order_flow");
  DataConfig twice;
  twice.simulated = SimulatedConfig{10, 1, 1};
  twice.ohlcv = {"/nonexistent/bars.dbn"};
  EXPECT_EQ(error_of([&] { load_market(twice); }).place().field, "data.simulated");
}

TEST(MarketLoader, AbsentOrderFlowReadsBarsOnly) {
  auto config = write_files(scratch_folder(), simulated(150, 2));
  const auto with = load_market(config);
  config.order_flow = "absent";
  config.mbp10 = {"/nonexistent/book.dbn"};
  const auto table = load_market(config);
  EXPECT_FALSE(table.order_flow);
  EXPECT_TRUE(table.book.empty());
  for (std::int64_t t = 0; t < table.rows(); ++t) {
    for (int f = 0; f < f_ofi_1; ++f) ASSERT_EQ(feature(table, t, f), feature(with, t, f));
    for (int f = f_ofi_1; f < kMarketFeatures; ++f) ASSERT_EQ(feature(table, t, f), 0.0F);
  }
  DataConfig bars_of_simulator;
  bars_of_simulator.simulated = SimulatedConfig{150, 2, 1};
  bars_of_simulator.order_flow = "absent";
  EXPECT_EQ(load_market(bars_of_simulator).fingerprint, table.fingerprint);
}

TEST(MarketLoader, InputsOfTwoInstrumentsAreRefused) {
  const auto records = simulated(30, 2);
  const auto folder = scratch_folder();
  auto config = write_files(folder / "a", records, "ESH4");
  config.trades = write_files(folder / "b", records, "ESM4").trades;
  const Error error = error_of([&] { load_market(config); });
  EXPECT_EQ(error.kind(), ErrorKind::usage);
  EXPECT_TRUE(says(error, "ESH4") && says(error, "ESM4"));
}

TEST(MarketLoader, FilesWithoutRecordsGiveNoRows) {
  const auto table = load_market(write_files(scratch_folder(), Records{}));
  EXPECT_EQ(table.rows(), 0);
  EXPECT_EQ(table.warm_up, 0);
  EXPECT_TRUE(says(error_of([&] { make_folds(table, {}); }), "nothing to train on"));
}

TEST(MarketLoader, BookOfAnotherTimeWarns) {
  auto records = simulated(30, 2);
  for (auto& r : records.books) r.ts_recv = r.ts_event += 400 * 24 * 3600 * kSecond;
  for (auto& r : records.trades) r.ts_recv = r.ts_event += 400 * 24 * 3600 * kSecond;
  const ::foxhunt::test::ExpectLog expected("no bar has a two-sided book");
  const auto table = load_market(write_files(scratch_folder(), records));
  EXPECT_EQ(expected.count(), 1);
  EXPECT_EQ(feature(table, 20, f_book_present), 0.0F);
  EXPECT_EQ(feature(table, 20, f_log_trade_volume), 0.0F);
}

TEST(MarketLoader, NegativeAndZeroPrices) {
  auto records = simulated(200, 4);
  const Price shift = records.bars[100].close;  // the market crosses zero
  for (auto& r : records.bars) {
    for (Price* p : {&r.open, &r.high, &r.low, &r.close}) *p -= shift;
  }
  for (auto& r : records.books) {
    r.price -= shift;
    for (auto& level : r.levels) {
      level.bid_price -= shift;
      level.ask_price -= shift;
    }
  }
  for (auto& r : records.trades) r.price -= shift;
  const auto folder = scratch_folder();
  const auto table = load_market(write_files(folder / "zero", records));
  const auto plain = load_market(write_files(folder / "plain", simulated(200, 4)));
  // Differences, not logs: the features do not see where zero is.
  for (std::size_t i = 0; i < table.features.size(); ++i) {
    ASSERT_NEAR(table.features[i], plain.features[i], 1e-5 * std::max(1.0F, std::abs(plain.features[i])))
        << market_features()[i % kMarketFeatures].name;
  }
}

TEST(MarketLoader, CancelsAndReportsProgress) {
  DataConfig config;
  config.simulated = SimulatedConfig{5000, 1, 1};
  std::atomic<bool> cancel{false};
  int calls = 0;
  Progress progress{[&](std::uint64_t done, std::uint64_t total, const std::string&) {
                      EXPECT_LE(done, total);
                      if (++calls == 2) cancel = true;
                    },
                    &cancel};
  EXPECT_TRUE(says(error_of([&] { load_market(config, progress); }), "cancelled"));
  EXPECT_EQ(calls, 2);
  const auto files = write_files(scratch_folder(), simulated(50, 1));
  EXPECT_TRUE(says(error_of([&] { load_market(files, {{}, &cancel}); }), "cancelled"));
}

TEST(MarketLoader, RealBarsAreCleaned) {
  FH_NEEDS_SHARED("data/ohlcv/ES_5min_202602-202604.csv.zst");
  DataConfig config;
  config.ohlcv = {shared("data/ohlcv/ES_5min_202602-202604.csv.zst").string()};
  config.order_flow = "absent";
  config.timezone = "America/New_York";
  config.bar_stamp = "open";
  const auto table = load_market(config);
  EXPECT_EQ(table.rows(), 13768);
  EXPECT_EQ(table.report.anomalies.at("zero_volume").count, 44U);
  EXPECT_EQ(table.report.anomalies.at("ghost_open").count, 3U);
  for (const auto& example : table.report.anomalies.at("ghost_open").examples) {
    EXPECT_NE(example.find("2026-04-20"), std::string::npos) << example;
    EXPECT_NE(example.find("open 7161.5"), std::string::npos) << example;
  }
  EXPECT_FALSE(table.report.anomalies.contains("duplicate"));
  EXPECT_FALSE(table.report.anomalies.contains("out_of_order"));
  EXPECT_GT(table.report.anomalies.at("gap").count, 40U);
}

}  // namespace foxhunt::market::test
