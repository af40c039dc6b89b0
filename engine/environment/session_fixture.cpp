// Strict reading of a scripted session.
#include "engine/environment/session_fixture.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "engine/base/error.h"
#include "engine/base/strict_json.h"

namespace foxhunt {
namespace {

constexpr std::uint64_t kMaxBytes = 256u << 20;
constexpr std::int64_t kMaxLots = 1'000'000'000;

// A node with its file and its path, for errors.
class Value {
 public:
  Value(const JsonNode& node, const std::string& file, std::string path)
      : node_(node), file_(file), path_(std::move(path)) {}

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(fmt::format("{} {}", path_.empty() ? "the document" : path_, what),
                {.file = file_, .line = node_.line, .field = path_});
  }
  const std::vector<JsonNode>& items() const {
    if (node_.kind != JsonKind::array) fail(fmt::format("is {}, not an array", node_.shown()));
    return node_.children;
  }
  std::size_t size() const { return items().size(); }
  Value at(std::size_t i) const { return {items()[i], file_, fmt::format("{}[{}]", path_, i)}; }
  // Exactly these members.
  void members(std::initializer_list<const char*> names) const {
    if (node_.kind != JsonKind::object) fail(fmt::format("is {}, not an object", node_.shown()));
    for (const JsonNode& child : node_.children) {
      const auto known = [&](const char* name) { return child.name == name; };
      if (std::none_of(names.begin(), names.end(), known)) fail(fmt::format("has an unknown member '{}'", child.name));
    }
    for (const char* name : names) at(name);
  }
  Value at(const char* name) const {
    if (node_.kind != JsonKind::object) fail(fmt::format("is {}, not an object", node_.shown()));
    const JsonNode* found = node_.find(name);
    const std::string path = path_.empty() ? name : path_ + "." + name;
    if (!found) throw Error(fmt::format("{} is missing", path), {.file = file_, .line = node_.line, .field = path});
    return {*found, file_, path};
  }
  double number() const {
    if (!node_.is_number()) fail(fmt::format("is {}, not a number", node_.shown()));
    if (!std::isfinite(node_.number)) fail(fmt::format("is {}, not a finite number", node_.shown()));
    return node_.number;
  }
  double number(double low, bool low_allowed) const {
    const double x = number();
    if (x < low || (x == low && !low_allowed))
      fail(fmt::format("is {}; it must be {} {}", x, low_allowed ? "at least" : "above", low));
    return x;
  }
  std::optional<double> number_or_null() const {
    if (node_.kind == JsonKind::null) return std::nullopt;
    return number();
  }
  std::int64_t integer(std::int64_t low, std::int64_t high) const {
    if (node_.kind != JsonKind::integer) fail(fmt::format("is {}, not a whole number", node_.shown()));
    if (node_.integer < low || node_.integer > high)
      fail(fmt::format("is {}; {} to {} are allowed", node_.integer, low, high));
    return node_.integer;
  }
  bool boolean() const {
    if (node_.kind != JsonKind::boolean) fail(fmt::format("is {}, not true or false", node_.shown()));
    return node_.boolean;
  }
  std::string text() const {
    if (!node_.is_text()) fail(fmt::format("is {}, not a text", node_.shown()));
    return node_.text;
  }

 private:
  const JsonNode& node_;
  const std::string& file_;
  std::string path_;
};

kernels::EnvironmentContract read_contract(const Value& v) {
  v.members({"tick", "tick_value", "commission", "slippage_ticks", "lot"});
  kernels::EnvironmentContract c{};
  c.tick = v.at("tick").number(0, false);
  c.point_value = v.at("tick_value").number(0, false) / c.tick;
  c.commission = v.at("commission").number(0, true);
  c.slippage_ticks = v.at("slippage_ticks").number(0, true);
  c.lot = v.at("lot").number(0, false);
  return c;
}

kernels::EnvironmentRules read_rules(const Value& v, const kernels::EnvironmentContract& contract) {
  v.members({"max_position", "capital", "ruin_fraction", "trail_atr", "kelly_floor", "weight_pnl", "weight_cost",
             "weight_risk", "weight_drawdown", "weight_trail", "weight_opportunity"});
  kernels::EnvironmentRules r{};
  r.max_position = v.at("max_position").number();
  if (r.max_position < contract.lot) {
    v.at("max_position").fail(fmt::format("is {}, below one lot of {} contracts", r.max_position, contract.lot));
  }
  if (r.max_position / contract.lot > static_cast<double>(kMaxLots)) {
    v.at("max_position").fail(fmt::format("is {}, more than {} lots", r.max_position, kMaxLots));
  }
  r.capital = v.at("capital").number(0, false);
  r.ruin_fraction = v.at("ruin_fraction").number(0, true);
  r.trail_atr = v.at("trail_atr").number(0, true);
  r.kelly_floor = v.at("kelly_floor").number(0, true);
  for (std::size_t i = 0; i < kRewardPartNames.size(); ++i) {
    r.weight[i] = v.at(fmt::format("weight_{}", kRewardPartNames[i]).c_str()).number();
  }
  return r;
}

std::vector<std::array<double, 2>> read_levels(const Value& v) {
  if (v.size() > 10) v.fail(fmt::format("has {} levels; at most 10 are kept", v.size()));
  std::vector<std::array<double, 2>> out;
  for (std::size_t i = 0; i < v.size(); ++i) {
    const Value level = v.at(i);
    if (level.size() != 2) level.fail(fmt::format("has {} numbers; a level is a price and a size", level.size()));
    out.push_back({level.at(std::size_t{0}).number(), level.at(std::size_t{1}).number(0, true)});
  }
  return out;
}

SessionBar read_bar(const Value& v) {
  v.members({"open", "high", "low", "close", "volume", "atr", "sigma", "bids", "asks"});
  SessionBar b;
  b.open = v.at("open").number();
  b.high = v.at("high").number();
  b.low = v.at("low").number();
  b.close = v.at("close").number();
  b.volume = v.at("volume").number();
  b.atr = v.at("atr").number();
  b.sigma = v.at("sigma").number();
  b.bids = read_levels(v.at("bids"));
  b.asks = read_levels(v.at("asks"));
  return b;
}

void read_session(const Value& v, SessionFixture& out) {
  v.members({"contract", "rules", "bars", "actions", "kelly", "seconds", "trials", "trial_variance"});
  out.contract = read_contract(v.at("contract"));
  out.rules = read_rules(v.at("rules"), out.contract);
  const Value bars = v.at("bars"), actions = v.at("actions"), kelly = v.at("kelly");
  if (bars.size() < 2) bars.fail(fmt::format("has {} bars; a session needs at least 2", bars.size()));
  if (actions.size() != bars.size() - 1) {
    actions.fail(
        fmt::format("has {} decisions for {} bars; one fewer than bars is needed", actions.size(), bars.size()));
  }
  if (kelly.size() != actions.size()) {
    kelly.fail(fmt::format("has {} numbers for {} decisions", kelly.size(), actions.size()));
  }
  for (std::size_t i = 0; i < bars.size(); ++i) out.bars.push_back(read_bar(bars.at(i)));
  for (std::size_t i = 0; i < actions.size(); ++i) {
    const Value action = actions.at(i);
    if (action.size() != 4) action.fail(fmt::format("has {} numbers; an action has one a branch, 4", action.size()));
    kernels::Decision d{};
    for (std::size_t b = 0; b < 4; ++b) {
      d.action[b] =
          static_cast<std::uint8_t>(action.at(b).integer(0, kernels::branch_actions(static_cast<int>(b)) - 1));
    }
    d.kelly = kelly.at(i).number();
    out.decisions.push_back(d);
  }
  out.seconds = v.at("seconds").number(0, true);
  out.trials = v.at("trials").integer(1, 1'000'000'000);
  out.trial_variance = v.at("trial_variance").number(0, true);
}

std::vector<ExpectedFill> read_fills(const Value& v) {
  std::vector<ExpectedFill> out;
  for (std::size_t i = 0; i < v.size(); ++i) {
    const Value fill = v.at(i);
    if (fill.size() != 3) fill.fail(fmt::format("has {} items; a fill has kind, size and price", fill.size()));
    out.push_back({fill.at(std::size_t{0}).text(), fill.at(std::size_t{1}).integer(-2 * kMaxLots, 2 * kMaxLots),
                   fill.at(std::size_t{2}).number()});
  }
  return out;
}

std::vector<double> read_numbers(const Value& v) {
  std::vector<double> out;
  for (std::size_t i = 0; i < v.size(); ++i) out.push_back(v.at(i).number());
  return out;
}

ExpectedRow read_row(const Value& v) {
  v.members({"fills", "costs", "closed", "parts", "reward", "position", "equity", "done"});
  ExpectedRow row;
  row.fills = read_fills(v.at("fills"));
  row.costs = v.at("costs").number();
  row.closed = read_numbers(v.at("closed"));
  const Value parts = v.at("parts");
  parts.members({"pnl", "cost", "risk", "drawdown", "trail", "opportunity"});
  for (std::size_t i = 0; i < kRewardPartNames.size(); ++i) row.parts[i] = parts.at(kRewardPartNames[i]).number();
  row.reward = v.at("reward").number();
  row.position = v.at("position").integer(-2 * kMaxLots, 2 * kMaxLots);
  row.equity = v.at("equity").number();
  row.done = v.at("done").boolean();
  return row;
}

void read_expected(const Value& v, SessionFixture& out) {
  v.members({"rows", "end", "metrics"});
  const Value rows = v.at("rows");
  for (std::size_t i = 0; i < rows.size(); ++i) out.rows.push_back(read_row(rows.at(i)));
  const std::size_t wanted = out.decisions.size();
  if (out.rows.empty() || out.rows.size() > wanted || (out.rows.size() < wanted && !out.rows.back().done)) {
    rows.fail(fmt::format("has {} rows for {} decisions; only ruin ends a session early", out.rows.size(), wanted));
  }
  const Value end = v.at("end");
  end.members({"fills", "costs", "closed", "equity"});
  out.end = {read_fills(end.at("fills")), end.at("costs").number(), read_numbers(end.at("closed")),
             end.at("equity").number()};
  const Value metrics = v.at("metrics");
  static constexpr std::initializer_list<const char*> kNames = {"net",
                                                                "return",
                                                                "max_drawdown",
                                                                "max_drawdown_bars",
                                                                "trades",
                                                                "hit_rate",
                                                                "profit_factor",
                                                                "mean_hold",
                                                                "turnover",
                                                                "exposure",
                                                                "costs",
                                                                "cost_share",
                                                                "bars_per_year",
                                                                "sharpe",
                                                                "sortino",
                                                                "psr",
                                                                "dsr"};
  metrics.members(kNames);
  for (const char* name : kNames) out.metrics.emplace_back(name, metrics.at(name).number_or_null());
}

}  // namespace

SessionFixture read_session_fixture(const std::filesystem::path& path) {
  const std::string file = path.string();
  const JsonNode root = parse_strict_json(read_text_file(file, kMaxBytes), {.file = file, .max_nodes = 40'000'000});
  const Value document(root, file, "");
  document.members({"session", "expected"});
  SessionFixture out;
  read_session(document.at("session"), out);
  read_expected(document.at("expected"), out);
  return out;
}

}  // namespace foxhunt
