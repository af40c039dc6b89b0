// foxhunt-cli data: what a training session would see of its inputs, or what one input alone holds.
#include <cmath>
#include <limits>

#include "app/commands/commands.h"
#include "app/interrupt.h"
#include "app/output.h"
#include "engine/base/error.h"
#include "engine/base/json_number.h"
#include "engine/base/log.h"
#include "engine/market/features.h"
#include "engine/market/file_reader.h"
#include "engine/market/folds.h"
#include "engine/market/market_loader.h"

namespace foxhunt::app {
namespace {

// Counts the records of one input and remembers their span.
class Survey final : public market::RecordSink {
 public:
  void bar(const market::BarRecord& record) override { see(record.open_time); }
  void book(const market::BookRecord& record) override { see(record.ts_recv); }
  void trade(const market::TradeRecord& record) override { see(record.ts_recv); }

  std::int64_t records = 0;
  market::Time first = std::numeric_limits<market::Time>::max(), last = std::numeric_limits<market::Time>::min();

 private:
  void see(market::Time time) {
    ++records;
    first = std::min(first, time);
    last = std::max(last, time);
  }
};

struct Input {
  const char* option;
  market::InputKind kind;
  const std::vector<std::string>& files;
};

std::vector<Input> inputs_of(const DataConfig& data) {
  return {{"ohlcv", market::InputKind::bars, data.ohlcv},
          {"mbp10", market::InputKind::book, data.mbp10},
          {"trades", market::InputKind::trades, data.trades}};
}

// The options that stand for fields of the configuration. Paths are made absolute here: those of overrides would be
// relative to the configuration file.
std::vector<std::string> field_options(const Arguments& arguments) {
  std::vector<std::string> out;
  for (const char* name : {"ohlcv", "mbp10", "trades"}) {
    if (!arguments.has(name)) continue;
    Json paths = Json::array();
    for (const std::string& path : arguments.list(name))
      paths.push_back(std::filesystem::absolute(existing_file(path, fmt::format("--{}", name))).string());
    out.push_back(fmt::format("data.{}={}", name, paths.dump()));
  }
  if (const auto symbol = arguments.text("symbol")) out.push_back("data.symbol=" + *symbol);
  if (const auto zone = arguments.text("timezone")) out.push_back("data.timezone=" + *zone);
  if (const auto flow = arguments.text("order-flow")) out.push_back("data.order_flow=" + *flow);
  return out;
}

Json range_json(const market::Range& range) {
  return {range.begin, range.end};
}

Json report_json(const market::DataReport& report) {
  Json inferred = Json::object(), anomalies = Json::object(), warnings = Json::array();
  for (const auto& [key, value] : report.inferred) inferred[key] = value;
  for (const auto& [kind, anomaly] : report.anomalies)
    anomalies[kind] = {{"count", anomaly.count}, {"examples", anomaly.examples}};
  for (const market::Warning& warning : report.warnings) {
    Json row{{"message", warning.message}};
    row["file"] = warning.file.empty() ? Json(nullptr) : Json(warning.file);
    row["offset"] = warning.offset ? Json(*warning.offset) : Json(nullptr);
    warnings.push_back(std::move(row));
  }
  return {{"inferred", std::move(inferred)}, {"anomalies", std::move(anomalies)}, {"warnings", std::move(warnings)}};
}

// Over the rows on which every look-back is whole.
Json features_json(const market::MarketTable& table) {
  Json out = Json::array();
  for (int f = 0; f < market::kMarketFeatures; ++f) {
    const market::FeatureInfo& info = market::market_features()[static_cast<std::size_t>(f)];
    double sum = 0, squares = 0, least = std::nan(""), most = std::nan("");
    std::int64_t n = 0, zeros = 0;
    for (std::int64_t t = table.warm_up; t < table.rows(); ++t) {
      const double x = table.features[static_cast<std::size_t>(t * market::kMarketFeatures + f)];
      sum += x, squares += x * x, ++n;
      zeros += x == 0;
      least = std::fmin(least, x), most = std::fmax(most, x);
    }
    const double mean = sum / static_cast<double>(n);
    out.push_back({{"name", info.name},
                   {"group", market::group_name(info.group)},
                   {"unit", info.unit},
                   {"mean", json_number(mean)},
                   {"std", json_number(std::sqrt(std::fmax(0, squares / static_cast<double>(n) - mean * mean)))},
                   {"min", json_number(least)},
                   {"max", json_number(most)},
                   {"zeros", zeros}});
  }
  return out;
}

// A folds table that is wrong is an error; computed folds that do not fit the bars are a warning, so that the number of
// bars can be seen and the folds be set by it.
Json folds_json(const market::MarketTable& table, const Config& config, Json& warnings) {
  Json out = Json::array();
  try {
    for (const market::Fold& fold : market::make_folds(table, config.folds, config.environment.n_step)) {
      Json row{{"train", range_json(fold.train)},
               {"gap", range_json(fold.gap)},
               {"validation", range_json(fold.validation)}};
      if (!fold.test.empty()) row["test"] = range_json(fold.test);
      out.push_back(std::move(row));
    }
  } catch (const Error& error) {
    if (!config.folds.table.empty()) throw;
    warnings.push_back({{"message", error.sentence()}, {"file", nullptr}, {"offset", nullptr}});
  }
  return out;
}

Json table_json(const market::MarketTable& table, const Config& config) {
  Json out{{"bars", table.rows()}};
  out["first"] = table.rows() ? Json(time_text(table.open_time.front())) : Json(nullptr);
  out["last"] = table.rows() ? Json(time_text(table.open_time.back())) : Json(nullptr);
  out["end"] = table.rows() ? Json(time_text(table.close_time.back())) : Json(nullptr);
  out["symbol"] = table.symbol;
  out["simulated"] = table.simulated;
  out["order_flow"] = table.order_flow ? "required" : "absent";
  out.update(report_json(table.report));
  out["folds"] = folds_json(table, config, out["warnings"]);
  out["warm_up"] = table.warm_up;
  out["fingerprint"] = fmt::format("{:016x}", table.fingerprint);
  out["features"] = features_json(table);
  return out;
}

// Inputs without bars, or beside bars that are read alone: what their files hold.
void survey(const Config& config, const std::vector<Input>& inputs, Json& out, market::DataReport& report) {
  Survey all;
  std::string symbol;
  for (const Input& input : inputs) {
    Survey one;
    market::ReadCarry carry;
    for (const std::string& file : input.files) {
      const auto summary = market::read_file(file, input.kind, config.data, one, report,
                                             {.report = {}, .cancel = &interrupted()}, &carry);
      if (!summary.symbol.empty()) symbol = summary.symbol;
    }
    if (input.files.empty()) continue;
    out["records"][input.option] = one.records;
    all.first = std::min(all.first, one.first);
    all.last = std::max(all.last, one.last);
    all.records += one.records;
  }
  if (out.contains("bars")) return;
  out["bars"] = 0;
  out["first"] = all.records ? Json(time_text(all.first)) : Json(nullptr);
  out["last"] = all.records ? Json(time_text(all.last)) : Json(nullptr);
  out["symbol"] = symbol;
  out["order_flow"] = "absent";
}

}  // namespace

Outcome run_data(const Arguments& arguments, const Manner& manner) {
  Config config = configuration(arguments, field_options(arguments));
  const std::vector<Input> inputs = inputs_of(config.data);
  const auto named =
      std::count_if(inputs.begin(), inputs.end(), [](const Input& input) { return !input.files.empty(); });
  if (named == 0 && !config.data.simulated) {
    throw usage_error("data needs an input",
                      {.field = "--ohlcv", .hint = "name files with --ohlcv, --mbp10, --trades, or a --config"});
  }
  limit_log(manner.json || manner.quiet ? LogLevel::warnings : LogLevel::nothing);  // the document has them all
  const market::Progress progress{.report = {}, .cancel = &interrupted()};
  // A part of the inputs is shown as what it is, unless order flow is asked for expressly.
  const bool strict = arguments.has("config") || arguments.text("order-flow") == "required";
  if (named == 3 || config.data.simulated || strict)
    return {table_json(market::load_market(config.data, progress), config)};
  Json out = Json::object();
  market::DataReport report;
  if (!config.data.ohlcv.empty()) {
    config.data.order_flow = "absent";
    out = table_json(market::load_market(config.data, progress), config);
    survey(config, {inputs[1], inputs[2]}, out, report);
  } else {
    survey(config, inputs, out, report);
  }
  const Json more = report_json(report);
  for (const char* member : {"inferred", "anomalies"}) out[member].update(more[member]);
  for (const Json& warning : more["warnings"]) out["warnings"].push_back(warning);
  for (const char* member : {"warnings", "folds", "features"})
    if (out[member].is_null()) out[member] = Json::array();
  for (const char* member : {"inferred", "anomalies"})
    if (out[member].is_null()) out[member] = Json::object();
  return {std::move(out)};
}

std::string data_text(const Json& document) {
  const auto value = [&](const char* name) {
    const Json& found = document.at(name);
    return found.is_string() ? found.get<std::string>() : found.is_null() ? "none" : found.dump();
  };
  std::string out =
      fmt::format("{} bars of {}, {} to {}, order flow {}{}\n", value("bars"),
                  value("symbol").empty() ? "an unnamed instrument" : value("symbol"), value("first"), value("last"),
                  value("order_flow"), document.value("simulated", false) ? ", simulated" : "");
  if (document.contains("records")) {
    for (const auto& [input, count] : document.at("records").items())
      out += fmt::format("{} records of {}\n", count.dump(), input);
  }
  out += "\ninferred\n";
  for (const auto& [key, text] : document.at("inferred").items())
    out += fmt::format("  {}: {}\n", key, text.get<std::string>());
  out += "\nanomalies\n";
  if (document.at("anomalies").empty()) out += "  none\n";
  for (const auto& [kind, anomaly] : document.at("anomalies").items()) {
    out += fmt::format("  {}: {}\n", kind, anomaly.at("count").dump());
    for (const Json& example : anomaly.at("examples")) out += fmt::format("    {}\n", example.get<std::string>());
  }
  for (const Json& warning : document.at("warnings")) {
    const std::string file = warning.at("file").is_null() ? "" : warning.at("file").get<std::string>() + ": ";
    out += fmt::format("\nwarning: {}{}\n", file, warning.at("message").get<std::string>());
  }
  if (!document.at("features").empty()) {
    TextTable features({"\nfeature", "unit", "mean", "std", "min", "max", "zeros"});
    for (const Json& f : document.at("features"))
      features.add({f.at("name").get<std::string>(), f.at("unit").get<std::string>(), number_text(f.at("mean")),
                    number_text(f.at("std")), number_text(f.at("min")), number_text(f.at("max")),
                    number_text(f.at("zeros"))});
    out += features.text();
  }
  if (!document.at("folds").empty()) {
    TextTable folds({"\nfold", "train", "gap", "validation"});
    int index = 0;
    for (const Json& fold : document.at("folds"))
      folds.add(
          {fmt::format("{}", index++), fold.at("train").dump(), fold.at("gap").dump(), fold.at("validation").dump()});
    out += folds.text();
  }
  return out;
}

}  // namespace foxhunt::app
