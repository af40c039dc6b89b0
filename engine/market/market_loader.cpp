// Loading: which files, in which order, one pass over bars and one over order flow.
#include "engine/market/market_loader.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "engine/base/error.h"
#include "engine/base/log.h"
#include "engine/market/cleaning.h"
#include "engine/market/feature_table.h"
#include "engine/market/order_flow.h"
#include "engine/market/record_merge.h"
#include "engine/market/simulator.h"

namespace foxhunt::market {
namespace {

// Ends the reading of a file after its first record.
struct FirstSeen {};

class FirstRecord final : public RecordSink {
 public:
  void bar(const BarRecord& record) override { see(record.open_time); }
  void book(const BookRecord& record) override { see(record.ts_recv); }
  void trade(const TradeRecord& record) override { see(record.ts_recv); }
  std::optional<Time> time;

 private:
  [[noreturn]] void see(Time first) {
    time = first;
    throw FirstSeen{};
  }
};

// Passes on and notes what came: how much of a file, and from when to when.
class Noting final : public RecordSink {
 public:
  Noting(RecordSink& sink, FileFacts& facts) : sink_(sink), facts_(facts) {}
  void bar(const BarRecord& record) override {
    see(record.open_time, record.close_time);
    sink_.bar(record);
  }
  void book(const BookRecord& record) override {
    see(record.ts_recv, record.ts_recv);
    sink_.book(record);
  }
  void trade(const TradeRecord& record) override {
    see(record.ts_recv, record.ts_recv);
    sink_.trade(record);
  }

 private:
  void see(Time first, Time last) {
    facts_.first = facts_.first == 0 ? first : std::min(facts_.first, first);
    facts_.last = std::max(facts_.last, last);
  }

  RecordSink& sink_;
  FileFacts& facts_;
};

class BarCollector final : public RecordSink {
 public:
  void bar(const BarRecord& record) override { bars.push_back({record, file_, record_++}); }
  void begin(int index) {
    file_ = index;
    record_ = 0;
  }
  std::vector<SourcedBar> bars;

 private:
  int file_ = 0;
  std::uint64_t record_ = 0;
};

class FlowSink final : public RecordSink {
 public:
  explicit FlowSink(OrderFlow& flow) : flow_(flow) {}
  void book(const BookRecord& record) override { flow_.book(record); }
  void trade(const TradeRecord& record) override { flow_.trade(record); }

 private:
  OrderFlow& flow_;
};

class SymbolCheck {
 public:
  // Empty symbols (files that name none) agree with all.
  void see(const std::string& symbol, const std::string& file) {
    if (symbol.empty()) return;
    if (symbol_.empty()) {
      symbol_ = symbol;
      file_ = file;
    } else if (symbol != symbol_) {
      throw usage_error(
          fmt::format("the inputs are of two instruments: {} in {}, {} in {}", symbol_, file_, symbol, file),
          {.file = file, .field = "data.symbol", .hint = "name the instrument with data.symbol"});
    }
  }
  const std::string& symbol() const { return symbol_; }

 private:
  std::string symbol_, file_;
};

const char* kind_word(InputKind kind) {
  return kind == InputKind::bars ? "bars" : kind == InputKind::book ? "book" : "trades";
}

// Reads a file and leaves in the report what it gave; returns its symbol.
std::string read_noting(const std::string& file, InputKind kind, const DataConfig& config, RecordSink& sink,
                        DataReport& report, const Progress& progress, ReadCarry* carry = nullptr) {
  FileFacts facts;
  facts.file = file;
  facts.kind = kind_word(kind);
  Noting noting(sink, facts);
  const ReadSummary summary = read_file(file, kind, config, noting, report, progress, carry);
  facts.symbol = summary.symbol;
  facts.records = summary.records;
  facts.interval = summary.bar_interval;
  facts.truncated = summary.truncated;
  report.files.push_back(std::move(facts));
  return summary.symbol;
}

void merge_report(DataReport& into, DataReport&& from) {
  std::move(from.files.begin(), from.files.end(), std::back_inserter(into.files));
  for (auto& [key, value] : from.inferred) into.inferred.insert_or_assign(key, std::move(value));
  for (auto& [kind, anomaly] : from.anomalies) {
    auto& sum = into.anomalies[kind];
    sum.count += anomaly.count;
    for (auto& example : anomaly.examples) {
      if (sum.examples.size() < 5) sum.examples.push_back(std::move(example));
    }
  }
  std::move(from.warnings.begin(), from.warnings.end(), std::back_inserter(into.warnings));
}

// The files of a kind in the order of their first records (those without any last).
std::vector<std::string> in_time(const std::vector<std::string>& files, InputKind kind, const DataConfig& config,
                                 const Progress& progress) {
  if (files.size() < 2) return files;
  std::vector<std::pair<Time, std::string>> order;
  for (const std::string& file : files) {
    FirstRecord first;
    DataReport unused;
    try {
      read_file(file, kind, config, first, unused, {{}, progress.cancel});
    } catch (const FirstSeen&) {
      // Only its time was wanted.
    }
    order.emplace_back(first.time.value_or(std::numeric_limits<Time>::max()), file);
  }
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> out;
  for (auto& [time, file] : order) out.push_back(std::move(file));
  return out;
}

void check_inputs(const DataConfig& config) {
  if (config.order_flow != "required" && config.order_flow != "absent") {
    throw usage_error(fmt::format("data.order_flow is '{}'; allowed are required, absent", config.order_flow),
                      {.field = "data.order_flow"});
  }
  const bool files = !config.ohlcv.empty() || !config.mbp10.empty() || !config.trades.empty();
  if (config.simulated) {
    if (!files) return;
    throw usage_error("data.simulated stands for the three inputs; files are named as well",
                      {.field = "data.simulated"});
  }
  if (config.ohlcv.empty())
    throw usage_error("data.ohlcv names no file; bars are always needed", {.field = "data.ohlcv"});
  if (config.order_flow == "absent") return;
  for (const auto& [list, field, what] : {std::tuple{&config.mbp10, "data.mbp10", "book updates (MBP-10)"},
                                          std::tuple{&config.trades, "data.trades", "trades"}}) {
    if (!list->empty()) continue;
    throw usage_error(
        fmt::format("{} names no file, but order flow is required: without {} a different model would be trained",
                    field, what),
        {.field = field, .hint = "name the file, or set data.order_flow to \"absent\" to train on bars only"});
  }
}

// Bars, cleaned, into the table's columns.
void store_bars(std::vector<SourcedBar> bars, const std::vector<std::string>& files, MarketTable& table) {
  bars = clean_bars(std::move(bars), files, table.report);
  const auto points = [](Price price) { return static_cast<double>(price) / kPricePoint; };
  for (const SourcedBar& sourced : bars) {
    const BarRecord& bar = sourced.bar;
    table.open_time.push_back(bar.open_time);
    table.close_time.push_back(bar.close_time);
    table.open.push_back(points(bar.open));
    table.high.push_back(points(bar.high));
    table.low.push_back(points(bar.low));
    table.close.push_back(points(bar.close));
    table.volume.push_back(bar.volume);
  }
}

// A bar's price is a multiple of 1e-9 in the file and only nearly one as a double; both sides of comparisons are made
// alike.
void finish_table(MarketTable& table, OrderFlow* flow) {
  if (flow) {
    flow->finish();
    report_aggressors(flow->aggressors(), table.report);
    table.book = flow->books();
  }
  table.order_flow = flow != nullptr;
  build_features(table, flow ? std::span<const BarFlow>(flow->flows()) : std::span<const BarFlow>());
  table.fingerprint = table_fingerprint(table);
}

void note_coverage(MarketTable& table, const OrderFlow& flow) {
  std::int64_t with_book = 0;
  for (const BookSnapshot& book : table.book) with_book += book.bid_levels > 0 && book.ask_levels > 0;
  table.report.inferred["order flow: records"] =
      fmt::format("{} book updates, {} trades", flow.book_records(), flow.trade_records());
  table.report.inferred["order flow: bars with a two-sided book"] = fmt::format("{} of {}", with_book, table.rows());
  if (table.rows() == 0 || with_book > 0) return;
  const std::string message = "no bar has a two-sided book: the book files do not cover the time of the bars";
  table.report.warnings.push_back({message, "", std::nullopt});
  log_warning("{}", message);
}

MarketTable load_simulated(const DataConfig& config, const Progress& progress) {
  MarketTable table;
  table.simulated = true;
  table.symbol = kSimulatedSymbol;
  // Twice the same market: first its clock, then its order flow.
  BarCollector bars;
  simulate_records(*config.simulated, bars, {{}, progress.cancel});
  store_bars(std::move(bars.bars), {"simulated market"}, table);
  table.report.inferred["source"] =
      fmt::format("simulated market, seed {}, edge {}", config.simulated->seed, config.simulated->edge);
  if (config.order_flow == "absent") {
    finish_table(table, nullptr);
    return table;
  }
  OrderFlow flow(table.open_time, table.close_time, table.report);
  FlowSink sink(flow);
  simulate_records(*config.simulated, sink, progress);
  finish_table(table, &flow);
  note_coverage(table, flow);
  return table;
}

MarketTable load_files(const DataConfig& config, const Progress& progress) {
  MarketTable table;
  SymbolCheck symbols;
  const auto bar_files = in_time(config.ohlcv, InputKind::bars, config, progress);
  BarCollector bars;
  for (std::size_t i = 0; i < bar_files.size(); ++i) {
    bars.begin(static_cast<int>(i));
    symbols.see(read_noting(bar_files[i], InputKind::bars, config, bars, table.report, progress), bar_files[i]);
  }
  store_bars(std::move(bars.bars), bar_files, table);
  if (config.order_flow == "absent") {
    table.symbol = symbols.symbol().empty() ? config.symbol : symbols.symbol();
    finish_table(table, nullptr);
    return table;
  }

  // Each thread writes a report and reads symbols of its own.
  DataReport book_report, trade_report;
  std::vector<std::pair<std::string, std::string>> book_symbols, trade_symbols;  // symbol, file
  const auto source = [&](const std::vector<std::string>& files, InputKind kind, DataReport& report, auto& found,
                          Progress shown) {
    return [&, kind, shown, ordered = in_time(files, kind, config, progress)](RecordSink& sink) {
      ReadCarry carry;
      for (const std::string& file : ordered) {
        found.emplace_back(read_noting(file, kind, config, sink, report, shown, &carry), file);
      }
    };
  };
  OrderFlow flow(table.open_time, table.close_time, table.report);
  FlowSink sink(flow);
  merge_records(source(config.mbp10, InputKind::book, book_report, book_symbols, progress),
                source(config.trades, InputKind::trades, trade_report, trade_symbols, {{}, progress.cancel}), sink);
  merge_report(table.report, std::move(book_report));
  merge_report(table.report, std::move(trade_report));
  for (const auto* found : {&book_symbols, &trade_symbols}) {
    for (const auto& [symbol, file] : *found) symbols.see(symbol, file);
  }
  table.symbol = symbols.symbol().empty() ? config.symbol : symbols.symbol();
  finish_table(table, &flow);
  note_coverage(table, flow);
  return table;
}

}  // namespace

MarketTable load_market(const DataConfig& config, const Progress& progress) {
  check_inputs(config);
  return config.simulated ? load_simulated(config, progress) : load_files(config, progress);
}

}  // namespace foxhunt::market
