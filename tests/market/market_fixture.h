// Made-up markets for the tests of this folder: tables with odd bars, records kept in memory, folders of DBN files.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/market/dbn_writer.h"
#include "engine/market/market_loader.h"
#include "engine/market/order_flow.h"
#include "engine/market/simulator.h"

namespace foxhunt::market::test {

inline constexpr Time kSecond = 1'000'000'000;
inline constexpr Time kMinute = 60 * kSecond;

inline Price price(double points) {
  return std::llround(points * 1e9);
}

struct Records final : RecordSink {
  std::vector<BarRecord> bars;
  std::vector<BookRecord> books;
  std::vector<TradeRecord> trades;
  void bar(const BarRecord& r) override { bars.push_back(r); }
  void book(const BookRecord& r) override { books.push_back(r); }
  void trade(const TradeRecord& r) override { trades.push_back(r); }
};

inline Records simulated(std::int64_t bars, std::uint64_t seed, double edge = 1) {
  Records out;
  simulate_records({bars, seed, edge}, out);
  return out;
}

// The three files of `records` in `folder`, and the configuration that reads them.
inline DataConfig write_files(const std::filesystem::path& folder, const Records& records,
                              const std::string& symbol = "SIM") {
  std::filesystem::create_directories(folder);
  DataConfig config;
  config.ohlcv = {(folder / "bars.dbn.zst").string()};
  config.mbp10 = {(folder / "book.dbn").string()};
  config.trades = {(folder / "trades.dbn").string()};
  DbnWriter bars(config.ohlcv[0], dbn::Schema::ohlcv_1m, symbol, 1, true);
  DbnWriter books(config.mbp10[0], dbn::Schema::mbp_10, symbol, 1, false);
  DbnWriter trades(config.trades[0], dbn::Schema::trades, symbol, 1, false);
  for (const auto& r : records.bars) bars.write(r);
  for (const auto& r : records.books) books.write(r);
  for (const auto& r : records.trades) trades.write(r);
  bars.finish();
  books.finish();
  trades.finish();
  return config;
}

// A table of `n` one-minute bars around `base` points, with flat, empty and jumping bars, missing minutes and breaks;
// no features yet.
inline MarketTable odd_table(std::size_t n, std::uint32_t seed, double base) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::normal_distribution<double> normal;
  MarketTable table;
  table.symbol = "ODD";
  Time open = 1'704'668'400 * kSecond;
  double last = base;
  for (std::size_t i = 0; i < n; ++i) {
    const double u = uniform(random);
    if (i > 0) open += kMinute * (u < 0.02 ? 31 + 600 * static_cast<Time>(3 * uniform(random)) : u < 0.1 ? 3 : 1);
    const bool flat = uniform(random) < 0.08;
    const double start = last + (flat ? 0 : 0.25 * std::round(normal(random)));
    const double end = flat ? start : start + 0.25 * std::round(4 * normal(random));
    table.open_time.push_back(open);
    table.close_time.push_back(open + kMinute);
    table.open.push_back(start);
    table.close.push_back(end);
    table.high.push_back(std::max(start, end) + (flat ? 0 : 0.25 * std::floor(4 * uniform(random))));
    table.low.push_back(std::min(start, end) - (flat ? 0 : 0.25 * std::floor(4 * uniform(random))));
    table.volume.push_back(uniform(random) < 0.1 ? 0 : std::floor(500 * uniform(random)));
    last = end;
  }
  return table;
}

// Order flow and books for such a table, some of them without trades, one-sided, crossed or without a book.
inline std::vector<BarFlow> odd_flows(MarketTable& table, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<BarFlow> flows;
  for (double close : table.close) {
    BarFlow flow;
    for (double& x : flow.ofi) x = std::round(400 * (uniform(random) - 0.5));
    flow.level_depth = uniform(random) < 0.1 ? 0 : 50 * uniform(random);
    flow.queue_imbalance = 2 * uniform(random) - 1;
    flow.spread = 0.25 + uniform(random);
    flow.mid_variation = uniform(random);
    flow.book_adds = std::floor(20 * uniform(random));
    flow.book_cancels = std::floor(20 * uniform(random));
    flow.book_modifies = std::floor(3 * uniform(random));
    if (uniform(random) > 0.15) {
      flow.buy_volume = std::floor(90 * uniform(random));
      flow.sell_volume = 1 + std::floor(90 * uniform(random));
      flow.volume = flow.buy_volume + flow.sell_volume + std::floor(4 * uniform(random));
      flow.trades = 1 + std::floor(30 * uniform(random));
      flow.largest = std::ceil(flow.volume / flow.trades);
      flow.first_price = close - 0.5;
      flow.notional = flow.volume * uniform(random);
    }
    flows.push_back(flow);
    BookSnapshot book;
    const double kind = uniform(random);
    if (kind > 0.05) {
      book.bid_levels = 1 + static_cast<int>(9.99 * uniform(random));
      book.ask_levels = kind < 0.1 ? 0 : 1 + static_cast<int>(9.99 * uniform(random));
      const double bid = kind < 0.15 ? close + 1 : close - 0.25;
      for (std::size_t i = 0; i < static_cast<std::size_t>(book.bid_levels); ++i) {
        book.bid_price[i] = bid - 0.25 * static_cast<double>(i);
        book.bid_size[i] = 1 + std::floor(60 * uniform(random));
      }
      for (std::size_t i = 0; i < static_cast<std::size_t>(book.ask_levels); ++i) {
        book.ask_price[i] = close + 0.25 * static_cast<double>(i);
        book.ask_size[i] = 1 + std::floor(60 * uniform(random));
      }
    }
    table.book.push_back(book);
  }
  return flows;
}

// The error that `action` throws; fails the test when it throws none.
inline Error error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return Error("nothing was thrown");
}

inline bool says(const Error& error, const std::string& part) {
  return error.sentence().find(part) != std::string::npos;
}

}  // namespace foxhunt::market::test
