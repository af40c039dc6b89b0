// The simulator's market: regimes, hidden pressure and the orders of each bar.
#include "engine/market/simulator.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/base/error.h"
#include "engine/market/simulator_book.h"

namespace foxhunt::market {
namespace {

constexpr int kBarsPerSession = 23 * 60;
constexpr int kSessionsPerWeek = 5;
constexpr Time kDay = 86'400'000'000'000;
constexpr std::int64_t kFirstBid = 19'200;  // ticks: 4,800 points
constexpr int kProgressBars = 1024;

struct Regime {
  double sigma;        // ticks a bar
  double events;       // mean order events a bar
  double depth;        // factor on queue sizes
  double persistence;  // of the pressure, a bar
  double kappa;        // drift per bar of a unit pressure, in sigma, at edge 1
  double reversion;    // pull to the slow mean a bar, at edge 1
  double wide;         // chance that a sweep is not refilled at once
  double mean_bars;    // length
};

// Whatever the edge, value is pulled to where it began by this share a bar. A half-life of 700 bars is far beyond every
// look-back, so it gives nothing away, but it keeps the luck of holding for a whole window small against what the flow
// is worth.
constexpr double kAnchor = 0.001;

// trend, mean-reverting, quiet, stressed
constexpr std::array<Regime, 4> kRegimes = {{{4.0, 34, 1.0, 0.93, 0.32, 0.00, 0.08, 240},
                                             {3.2, 32, 1.1, 0.85, 0.32, 0.02, 0.06, 240},
                                             {2.2, 28, 1.3, 0.88, 0.32, 0.00, 0.04, 240},
                                             {6.5, 42, 0.6, 0.85, 0.32, 0.00, 0.15, 120}}};

class Market {
 public:
  Market(const SimulatedConfig& config, RecordSink& sink)
      : edge_(config.edge),
        random_(config.seed),
        sink_(sink),
        book_(kFirstBid, random_, sink),
        value_(book_.mid()),
        anchor_(value_),
        slow_mean_(value_) {}

  void bar(std::int64_t number) {
    next_regime();
    const Regime& regime = kRegimes[static_cast<std::size_t>(regime_)];
    // The drift of this bar comes from the pressure of the bars before it: what their flow has already shown.
    const double drift = edge_ * (regime.kappa * regime.sigma * pressure_ - regime.reversion * (value_ - slow_mean_)) -
                         kAnchor * (value_ - anchor_);
    const double p = regime.persistence;
    pressure_ = p * pressure_ + std::sqrt(1 - p * p) * random_.normal();

    const int events =
        std::max(12, static_cast<int>(regime.events * activity(number) * (0.85 + 0.3 * random_.uniform())));
    record_ = BarRecord{};
    record_.open_time = open_time(number);
    record_.close_time = record_.open_time + kSimulatedInterval;
    for (int i = 0; i < events; ++i) {
      value_ += drift / events + regime.sigma / std::sqrt(static_cast<double>(events)) * random_.normal();
      const auto offset =
          static_cast<Time>((i + 0.05 + 0.9 * random_.uniform()) * static_cast<double>(kSimulatedInterval) / events);
      book_.begin_event(record_.open_time + offset, regime.depth);
      event(regime, i == 0);
      book_.end_event();
    }
    slow_mean_ += (value_ - slow_mean_) / 60;
    sink_.bar(record_);
  }

 private:
  static Time open_time(std::int64_t number) {
    const std::int64_t session = number / kBarsPerSession, minute = number % kBarsPerSession;
    const std::int64_t day = session / kSessionsPerWeek * 7 + session % kSessionsPerWeek;
    return kSimulatedStart + day * kDay + minute * kSimulatedInterval;
  }

  // Busy at both ends of a session, calm in the middle: 0.85 to 1.3.
  static double activity(std::int64_t number) {
    const double x = 2.0 * static_cast<double>(number % kBarsPerSession) / kBarsPerSession - 1;
    return 0.85 + 0.45 * x * x;
  }

  void next_regime() {
    if (random_.uniform() * kRegimes[static_cast<std::size_t>(regime_)].mean_bars < 1) regime_ = random_.below(4);
  }

  void event(const Regime& regime, bool first) {
    if (book_.spread() > 1) refill();
    constexpr double kTolerance = 1.0;  // ticks between value and mid before somebody empties a queue
    if (value_ - book_.mid() > kTolerance || book_.mid() - value_ > kTolerance) {
      const Side against = value_ > book_.mid() ? Side::ask : Side::bid;
      const double direction = against == Side::ask ? 1 : -1;
      while (direction * (value_ - book_.mid()) > kTolerance) {
        note(book_.deplete(against));
        if (direction * (value_ - book_.mid()) <= kTolerance && random_.uniform() < regime.wide) return;
        refill_behind(against);
      }
      return;
    }
    ordinary(first);
  }

  // Orders that leave the touch where it is, tilted by the pressure.
  void ordinary(bool must_trade) {
    constexpr double kTilt = 0.6;
    const bool buying = random_.uniform() < 0.5 + 0.5 * std::clamp(kTilt * pressure_, -0.95, 0.95);
    const Side with = buying ? Side::bid : Side::ask, against = buying ? Side::ask : Side::bid;
    const double kind = random_.uniform();
    if (must_trade || kind < 0.35) {
      const std::uint32_t got = book_.take(against, random_.size(12));
      if (got > 0) return note(got);
      if (must_trade) {
        // A touch of one contract: make it two, then take one.
        book_.add(against, 0, random_.size(12));
        return note(book_.take(against, 1));
      }
    }
    const int level = std::min(random_.below(kBookLevels), random_.below(kBookLevels));  // mostly near the touch
    if (kind < 0.72) {
      const double queue = book_.queue(with, level), target = book_.target(level);
      book_.add(with, level, random_.size(30 * target / (target + queue)));  // long queues attract less
    } else {
      const double queue = book_.queue(against, level);
      book_.cancel(against, level, 1 + static_cast<std::uint32_t>(queue * (0.08 + 0.22 * random_.uniform())));
    }
  }

  void refill_behind(Side emptied) {
    const Side side = emptied == Side::ask ? Side::bid : Side::ask;
    book_.improve(side, random_.size(0.5 * book_.target(0)));
  }

  void refill() { book_.improve(value_ > book_.mid() ? Side::bid : Side::ask, random_.size(0.5 * book_.target(0))); }

  void note(std::uint32_t size) {
    const Price price = book_.last_trade() * kSimulatedTickPrice;
    if (record_.volume == 0) record_.open = record_.high = record_.low = price;
    record_.high = std::max(record_.high, price);
    record_.low = std::min(record_.low, price);
    record_.close = price;
    record_.volume += size;
  }

  double edge_;
  SimulatorRandom random_;
  RecordSink& sink_;
  SimulatorBook book_;
  double value_, anchor_, slow_mean_;  // ticks
  double pressure_ = 0;
  int regime_ = 2;
  BarRecord record_;
};

}  // namespace

void simulate_records(const SimulatedConfig& config, RecordSink& sink, const Progress& progress) {
  if (config.bars < 1) {
    throw usage_error(fmt::format("data.simulated.bars is {}; it must be 1 or more", config.bars),
                      {.field = "data.simulated.bars"});
  }
  if (!(config.edge >= 0 && config.edge <= 4)) {
    throw usage_error(fmt::format("data.simulated.edge is {}; it must lie between 0 and 4", config.edge),
                      {.field = "data.simulated.edge"});
  }
  Market market(config, sink);
  for (std::int64_t i = 0; i < config.bars; ++i) {
    if (i % kProgressBars == 0) {
      if (progress.cancel && progress.cancel->load()) throw Error("cancelled");
      if (progress.report)
        progress.report(static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(config.bars), "simulated market");
    }
    market.bar(i);
  }
}

}  // namespace foxhunt::market
