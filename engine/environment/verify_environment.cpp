// Verification of the environment against a scripted session.
#include "engine/environment/verify_environment.h"

#include <cmath>
#include <limits>
#include <numeric>

#include "engine/device/buffer.h"
#include "engine/environment/metrics.h"
#include "engine/environment/session_fixture.h"
#include "kernels/families.h"

namespace foxhunt {
namespace {

constexpr double kMoney = 0.005, kParts = 1e-5, kMetrics = 1e-6;
constexpr double kNever = std::numeric_limits<double>::infinity();

// Keeps the worst of many comparisons.
class Comparison {
 public:
  void start_row(std::int64_t row) { row_ = row; }
  void close_to(const std::string& what, double got, double expected, double tolerance) {
    const double error = std::abs(got - expected);
    keep(what, got, expected,
         error <= tolerance ? error / tolerance : (std::isfinite(error) ? error / tolerance : kNever));
  }
  template <class T>
  void equal(const std::string& what, const T& got, const T& expected) {
    keep(what, got, expected, got == expected ? 0.0 : kNever);
  }
  const WorstDifference& worst() const { return worst_; }

 private:
  void keep(const std::string& what, const nlohmann::json& got, const nlohmann::json& expected, double share) {
    if (any_ && !(share > worst_.share)) return;
    any_ = true;
    worst_ = {what, row_, got, expected, share};
  }
  std::int64_t row_ = -1;
  bool any_ = false;
  WorstDifference worst_;
};

const char* fill_name(std::int32_t kind) {
  switch (kind) {
    case kernels::fill_market:
      return "market";
    case kernels::fill_limit:
      return "limit";
    case kernels::fill_pegged:
      return "pegged";
    case kernels::fill_stop:
      return "stop";
    case kernels::fill_pegged_at_close:
      return "pegged at close";
    case kernels::fill_window_end:
      return "window end";
    default:
      return "none";
  }
}

// The session's bars, decisions and outcomes in mapped memory: they are read once.
struct SessionBuffers {
  device::MappedBuffer<double> prices, book;
  device::MappedBuffer<std::int32_t> levels;
  device::MappedBuffer<kernels::EnvironmentState> state;
  device::MappedBuffer<kernels::Decision> decisions;
  device::MappedBuffer<kernels::StepOutcome> outcomes;
  device::MappedBuffer<kernels::ScriptSummary> summary;

  SessionBuffers(device::Device& device, const SessionFixture& s)
      : prices(device, s.bars.size() * 8),
        book(device, s.bars.size() * 40),
        levels(device, s.bars.size() * 2),
        state(device, 1),
        decisions(device, s.decisions.size()),
        outcomes(device, s.decisions.size()),
        summary(device, 1) {
    for (std::size_t t = 0; t < s.bars.size(); ++t) {
      const SessionBar& b = s.bars[t];
      const double values[7] = {b.open, b.high, b.low, b.close, b.atr, b.sigma, b.volume};
      std::copy(values, values + 7, prices.host() + t * 8);
      double* row = book.host() + t * 40;
      for (std::size_t k = 0; k < b.bids.size(); ++k) row[k] = b.bids[k][0], row[10 + k] = b.bids[k][1];
      for (std::size_t k = 0; k < b.asks.size(); ++k) row[20 + k] = b.asks[k][0], row[30 + k] = b.asks[k][1];
      levels.host()[t * 2] = static_cast<std::int32_t>(b.bids.size());
      levels.host()[t * 2 + 1] = static_cast<std::int32_t>(b.asks.size());
    }
    std::copy(s.decisions.begin(), s.decisions.end(), decisions.host());
    kernels::start_account(*state.host(), 0, static_cast<std::int32_t>(s.decisions.size()), s.rules.kelly_floor);
  }
};

void run_session(device::Device& device, const SessionFixture& s, SessionBuffers& b) {
  kernels::EnvironmentScriptArgs args{};
  args.bars.prices = b.prices.device();
  args.bars.book = b.book.device();
  args.bars.book_levels = b.levels.device();
  args.bars.rows = static_cast<std::int64_t>(s.bars.size());
  args.contract = s.contract;
  args.rules = s.rules;
  args.states = b.state.device();
  args.decisions = b.decisions.device();
  args.outcomes = b.outcomes.device();
  args.summaries = b.summary.device();
  args.stride = static_cast<std::int64_t>(s.decisions.size());
  args.count = 1;
  const auto stream = device.create_stream();
  device.launch(*stream, device::ModuleSet::eager, {.grid_x = 1, .threads = 32}, args);
  device.synchronise(*stream);
}

void compare_fill(Comparison& c, const std::string& name, const kernels::Fill& got, const ExpectedFill& want) {
  c.equal(name + " kind", std::string(fill_name(got.kind)), want.kind);
  c.equal(name + " size", std::int64_t{got.size}, want.size);
  c.equal(name + " price", got.price, want.price);
}

void compare_row(Comparison& c, const kernels::StepOutcome& got, const ExpectedRow& want) {
  c.equal("number of fills", static_cast<std::size_t>(got.fill_count), want.fills.size());
  c.equal("number of closed trades", static_cast<std::size_t>(got.closed_count), want.closed.size());
  for (std::size_t i = 0; i < std::min(want.fills.size(), static_cast<std::size_t>(got.fill_count)); ++i) {
    compare_fill(c, fmt::format("fill {}", i), got.fills[i], want.fills[i]);
  }
  for (std::size_t i = 0; i < std::min(want.closed.size(), static_cast<std::size_t>(got.closed_count)); ++i) {
    c.close_to(fmt::format("closed trade {}", i), got.closed[i].result, want.closed[i], kMoney);
  }
  c.close_to("costs", got.costs, want.costs, kMoney);
  for (std::size_t i = 0; i < want.parts.size(); ++i) {
    c.close_to(fmt::format("parts.{}", kRewardPartNames[i]), got.parts[i], want.parts[i], kParts);
  }
  c.close_to("reward", got.reward, want.reward, kParts);
  c.equal("position", std::int64_t{got.position}, want.position);
  c.close_to("equity", got.equity, want.equity, kMoney);
  c.equal("done", got.done != 0, want.done);
}

void compare_end(Comparison& c, const kernels::StepOutcome& last, const ExpectedEnd& want) {
  const bool closes = last.end_fill.kind != kernels::fill_none;
  c.equal("end: number of fills", static_cast<std::size_t>(closes ? 1 : 0), want.fills.size());
  c.equal("end: number of closed trades", static_cast<std::size_t>(closes ? 1 : 0), want.closed.size());
  if (closes && !want.fills.empty()) compare_fill(c, "end: fill 0", last.end_fill, want.fills[0]);
  if (closes && !want.closed.empty()) c.close_to("end: closed trade 0", last.end_closed.result, want.closed[0], kMoney);
  c.close_to("end: costs", last.end_costs, want.costs, kMoney);
  c.close_to("end: equity", last.end_equity, want.equity, kMoney);
}

MetricsInput metrics_input(const SessionFixture& s, std::span<const kernels::StepOutcome> outcomes) {
  MetricsInput in;
  in.equity = {0.0};
  std::int64_t lots = 0;
  for (const auto& o : outcomes) {
    in.equity.push_back(o.equity);
    for (int i = 0; i < o.closed_count; ++i)
      in.trades.push_back(o.closed[i].result), in.holds.push_back(o.closed[i].hold);
    for (int i = 0; i < o.fill_count; ++i) lots += std::abs(o.fills[i].size);
    in.costs += o.costs;
    in.exposed_bars += o.position != 0;
    in.mean_price += s.bars[static_cast<std::size_t>(o.bar)].close / static_cast<double>(outcomes.size());
  }
  const auto& last = outcomes.back();
  in.equity.back() = last.end_equity;
  in.costs += last.end_costs;
  lots += std::abs(last.end_fill.size);
  if (last.end_fill.kind != kernels::fill_none) {
    in.trades.push_back(last.end_closed.result);
    in.holds.push_back(last.end_closed.hold);
  }
  in.contracts = static_cast<double>(lots) * s.contract.lot;
  in.seconds = s.seconds;
  in.capital = s.rules.capital;
  in.point_value = s.contract.point_value;
  in.trials = s.trials;
  in.trial_variance = s.trial_variance;
  return in;
}

void compare_metrics(Comparison& c, const Metrics& metrics, const SessionFixture& s) {
  const auto values = metric_values(metrics);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string what = fmt::format("metrics.{}", values[i].first);
    FH_CHECK(s.metrics[i].first == values[i].first, "metric {} is {} there and {} here", i, s.metrics[i].first,
             values[i].first);
    const auto &got = values[i].second, &want = s.metrics[i].second;
    if (got && want) {
      // A probability near 0 is 1 + erf of a large number: its rounding is absolute.
      c.close_to(what, *got, *want, std::max(kMetrics * std::abs(*want), 1e-12));
    } else {
      const auto json = [](const std::optional<double>& x) { return x ? nlohmann::json(*x) : nlohmann::json(nullptr); };
      c.equal(what, json(got), json(want));
    }
  }
}

}  // namespace

VerifyEnvironmentResult verify_environment(device::Device& device, const std::filesystem::path& fixture) {
  const SessionFixture session = read_session_fixture(fixture);
  SessionBuffers buffers(device, session);
  run_session(device, session, buffers);
  const auto bars = static_cast<std::size_t>(buffers.summary.host()->bars);
  const std::span<const kernels::StepOutcome> outcomes(buffers.outcomes.host(), bars);
  FH_CHECK(bars > 0, "a session of {} decisions did nothing", session.decisions.size());

  Comparison comparison;
  comparison.equal("number of rows", bars, session.rows.size());
  const std::size_t rows = std::min(bars, session.rows.size());
  for (std::size_t t = 0; t < rows; ++t) {
    comparison.start_row(static_cast<std::int64_t>(t));
    compare_row(comparison, outcomes[t], session.rows[t]);
  }
  comparison.start_row(-1);
  compare_end(comparison, outcomes.back(), session.end);
  compare_metrics(comparison, compute_metrics(metrics_input(session, outcomes)), session);
  const WorstDifference& worst = comparison.worst();
  return {worst.share <= 1, static_cast<std::int64_t>(rows), worst};
}

nlohmann::ordered_json verify_environment_json(const VerifyEnvironmentResult& result) {
  const auto safe = [](const nlohmann::json& x) -> nlohmann::json {
    if (!x.is_number_float() || std::isfinite(x.get<double>())) return x;
    return std::isnan(x.get<double>()) ? "nan" : (x.get<double>() > 0 ? "inf" : "-inf");
  };
  nlohmann::ordered_json out;
  out["passed"] = result.passed;
  out["rows"] = result.rows;
  out["worst"] = {{"what", result.worst.what},
                  {"row", result.worst.row},
                  {"got", safe(result.worst.got)},
                  {"expected", safe(result.worst.expected)}};
  return out;
}

}  // namespace foxhunt
