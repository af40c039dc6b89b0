// Folds from their configuration or from a folds table.
#include "engine/market/folds.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/market/features.h"

namespace foxhunt::market {
namespace {

using Json = nlohmann::json;

void need(std::int64_t value, std::int64_t least, const char* field) {
  if (value >= least) return;
  throw usage_error(fmt::format("folds.{} is {}; it must be {} or more", field, value, least),
                    {.field = fmt::format("folds.{}", field)});
}

std::string gap_reason(int n_step) {
  return fmt::format("look-back {} + label horizon {} + n-step {} + execution delay {}", feature_look_back(),
                     kLabelHorizon, n_step, kExecutionDelay);
}

void check_fields(const FoldsConfig& config, int n_step) {
  need(config.count, 1, "count");
  need(config.train_bars, 1, "train_bars");
  need(config.validation_bars, 2, "validation_bars");  // one transition
  need(config.test_bars, 0, "test_bars");
  if (config.scheme != "rolling" && config.scheme != "anchored") {
    throw usage_error(fmt::format("folds.scheme is '{}'; allowed are rolling, anchored", config.scheme),
                      {.field = "folds.scheme"});
  }
  if (config.gap_bars != 0 && config.gap_bars < least_gap(n_step)) {
    throw usage_error(fmt::format("folds.gap_bars is {}; it must be 0 (the least) or {} or more: {}", config.gap_bars,
                                  least_gap(n_step), gap_reason(n_step)),
                      {.field = "folds.gap_bars"});
  }
}

std::vector<Fold> computed(const MarketTable& table, const FoldsConfig& config, int n_step) {
  check_fields(config, n_step);
  const std::int64_t gap = config.gap_bars ? config.gap_bars : least_gap(n_step);
  const std::int64_t rows = table.rows(), step = config.validation_bars;
  // Each term is checked against the rows first, so that the sum cannot overflow.
  for (const auto& [value, field] : {std::pair{config.train_bars, "train_bars"},
                                     {step, "validation_bars"},
                                     {config.test_bars, "test_bars"},
                                     {gap, "gap_bars"}}) {
    if (value <= rows) continue;
    throw usage_error(fmt::format("folds.{} is {}, but the data has {} bars", field, value, rows),
                      {.field = fmt::format("folds.{}", field)});
  }
  const std::int64_t first = table.warm_up + config.train_bars + gap + config.validation_bars + config.test_bars;
  if (first > rows) {
    throw usage_error(
        fmt::format("no fold fits: the data has {} bars, one fold needs {} (warm-up {}, train {}, gap {}, "
                    "validation {}, test {})",
                    rows, first, table.warm_up, config.train_bars, gap, config.validation_bars, config.test_bars),
        {.field = "folds.train_bars", .hint = "lower folds.train_bars or folds.validation_bars"});
  }
  const std::int64_t fit = 1 + (rows - first) / step;
  if (config.count > fit) {
    throw usage_error(
        fmt::format("folds.count is {}, but {} fit{}: the data has {} bars, the first fold needs {} and each "
                    "further one {} more",
                    config.count, fit, fit == 1 ? "s" : "", rows, first, step),
        {.field = "folds.count", .hint = fmt::format("allowed: 1 to {}", fit)});
  }
  std::vector<Fold> out;
  for (int i = 0; i < config.count; ++i) {
    Fold fold;
    fold.index = i;
    fold.train = {table.warm_up + (config.scheme == "rolling" ? i * step : 0),
                  table.warm_up + i * step + config.train_bars};
    fold.gap = {fold.train.end, fold.train.end + gap};
    fold.validation = {fold.gap.end, fold.gap.end + config.validation_bars};
    fold.test = {fold.validation.end, fold.validation.end + config.test_bars};
    out.push_back(fold);
  }
  return out;
}

[[noreturn]] void table_error(const FoldsConfig& config, const std::string& field, const std::string& message) {
  throw usage_error(message, {.file = config.table, .field = field});
}

Range read_range(const FoldsConfig& config, const Json& fold, const std::string& where, const char* name,
                 std::int64_t rows) {
  const std::string field = fmt::format("{}.{}", where, name);
  const auto found = fold.find(name);
  if (found == fold.end())
    table_error(config, field, fmt::format("{} is missing; it must be [first row, row after the last]", field));
  if (!found->is_array() || found->size() != 2 || !(*found)[0].is_number_integer() ||
      !(*found)[1].is_number_integer()) {
    table_error(config, field,
                fmt::format("{} is {}; it must be two integers [first row, row after the last]", field, found->dump()));
  }
  const Range range{(*found)[0].get<std::int64_t>(), (*found)[1].get<std::int64_t>()};
  if (range.begin < 0 || range.end > rows || range.size() < 1) {
    table_error(config, field,
                fmt::format("{} is [{}, {}]; rows run from 0 to {} and a window is not empty", field, range.begin,
                            range.end, rows));
  }
  return range;
}

void check_fold(const FoldsConfig& config, const std::vector<Fold>& folds, const Fold& fold, const std::string& where,
                const MarketTable& table, int n_step) {
  if (fold.train.begin < table.warm_up) {
    table_error(config, where + ".train",
                fmt::format("{}.train begins at row {}; the first {} rows are warm-up", where, fold.train.begin,
                            table.warm_up));
  }
  if (fold.gap.size() < least_gap(n_step)) {
    table_error(config, where + ".validation",
                fmt::format("{}.validation begins {} rows after train ends; it must be {} or more: {}", where,
                            fold.gap.size(), least_gap(n_step), gap_reason(n_step)));
  }
  if (fold.validation.size() < 2)
    table_error(config, where + ".validation", fmt::format("{}.validation has 1 row; it needs 2", where));
  if (!fold.test.empty() && fold.test.begin < fold.validation.end) {
    table_error(config, where + ".test",
                fmt::format("{}.test begins at row {}, inside or before the validation window, which "
                            "ends at {}",
                            where, fold.test.begin, fold.validation.end));
  }
  for (const Fold& earlier : folds) {
    for (const auto& [window, name] : {std::pair{fold.validation, "validation"}, {fold.test, "test"}}) {
      if (!window.overlaps(earlier.train)) continue;
      table_error(config, fmt::format("{}.{}", where, name),
                  fmt::format("{}.{} [{}, {}] overlaps the training window [{}, {}] of fold {}", where, name,
                              window.begin, window.end, earlier.train.begin, earlier.train.end, earlier.index));
    }
  }
}

std::vector<Fold> from_table(const MarketTable& table, const FoldsConfig& config, int n_step) {
  std::ifstream file(config.table);
  if (!file) throw usage_error("the folds table cannot be opened", {.file = config.table, .field = "folds.table"});
  Json document = Json::parse(file, nullptr, false, true);
  if (!document.is_object() || !document.contains("folds") || !document["folds"].is_array() ||
      document["folds"].empty()) {
    table_error(config, "folds",
                "the folds table must be a JSON object whose \"folds\" is a list of at least one fold");
  }
  std::vector<Fold> out;
  for (const Json& row : document["folds"]) {
    const std::string where = fmt::format("folds[{}]", out.size());
    if (!row.is_object()) table_error(config, where, fmt::format("{} is {}; it must be an object", where, row.dump()));
    for (const auto& [key, unused] : row.items()) {
      if (key == "train" || key == "validation" || key == "test") continue;
      table_error(config, where,
                  fmt::format("{} has the unknown field '{}'; known are train, validation, test", where, key));
    }
    Fold fold;
    fold.index = static_cast<int>(out.size());
    fold.train = read_range(config, row, where, "train", table.rows());
    fold.validation = read_range(config, row, where, "validation", table.rows());
    fold.gap = {fold.train.end, fold.validation.begin};
    fold.test = {fold.validation.end, fold.validation.end};
    if (row.contains("test")) fold.test = read_range(config, row, where, "test", table.rows());
    check_fold(config, out, fold, where, table, n_step);
    out.push_back(fold);
  }
  return out;
}

}  // namespace

std::int64_t least_gap(int n_step) {
  return feature_look_back() + kLabelHorizon + n_step + kExecutionDelay;
}

std::vector<Fold> make_folds(const MarketTable& table, const FoldsConfig& config, int n_step) {
  FH_CHECK(n_step >= 1, "n-step {}", n_step);
  if (table.rows() == 0) throw usage_error("the data has no bars: nothing to train on", {.field = "data.ohlcv"});
  return config.table.empty() ? computed(table, config, n_step) : from_table(table, config, n_step);
}

}  // namespace foxhunt::market
