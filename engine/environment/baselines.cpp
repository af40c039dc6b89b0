// Baseline scripts.
#include "engine/environment/baselines.h"

#include <algorithm>

#include "kernels/environment.h"
#include "kernels/rng.h"

namespace foxhunt {
namespace {

struct Trip {
  std::int64_t hold, lots;
};

class Draws {
 public:
  Draws(std::uint64_t seed, std::uint64_t element) : seed_(seed), element_(element) {}
  double uniform() {
    const auto r =
        kernels::philox(seed_, static_cast<std::uint32_t>(kernels::Purpose::random_policy), element_, counter_++);
    return kernels::uniform53(r.v[0], r.v[1]);
  }
  std::int64_t below(std::int64_t n) {
    return std::min(static_cast<std::int64_t>(uniform() * static_cast<double>(n)), n - 1);
  }

 private:
  std::uint64_t seed_, element_, counter_ = 0;
};

kernels::Decision hold_decision() {
  kernels::Decision d{};
  d.kelly = 1;
  d.action[0] = kernels::direction_hold;
  d.action[3] = 2;
  return d;
}

// The magnitude and Kelly factor whose target is `lots`.
kernels::Decision enter(bool up, std::int64_t lots, const kernels::EnvironmentContract& c,
                        const kernels::EnvironmentRules& r) {
  kernels::Decision d = hold_decision();
  d.action[0] = up ? kernels::direction_long : kernels::direction_short;
  const double share = static_cast<double>(lots) * c.lot / r.max_position;
  for (int magnitude = kernels::kMagnitudes - 1; magnitude >= 0; --magnitude) {
    d.action[1] = static_cast<std::uint8_t>(magnitude);
    d.kelly = share / kernels::magnitude_share(magnitude);
    if (d.kelly >= r.kelly_floor) break;
  }
  return d;
}

// Trips that fit into `decisions`, holds at least 1.
std::vector<Trip> fitting_trips(std::span<const TradeRecord> trades, std::int64_t decisions) {
  std::vector<Trip> trips;
  std::int64_t held = 0;
  for (const TradeRecord& t : trades) {
    if (static_cast<std::int64_t>(trips.size()) == decisions) break;
    trips.push_back({std::max(1, t.hold), std::max<std::int64_t>(1, t.lots / 2)});
    held += trips.back().hold;
  }
  while (held > decisions && !trips.empty()) {
    auto longest =
        std::max_element(trips.begin(), trips.end(), [](const Trip& a, const Trip& b) { return a.hold < b.hold; });
    if (longest->hold == 1) break;
    --longest->hold;
    --held;
  }
  return trips;
}

}  // namespace

std::vector<kernels::Decision> buy_and_hold_script(std::int64_t decisions) {
  std::vector<kernels::Decision> out(static_cast<std::size_t>(decisions), hold_decision());
  if (!out.empty()) {
    out[0].action[0] = kernels::direction_long;
    out[0].action[1] = kernels::kMagnitudes - 1;
  }
  return out;
}

std::vector<kernels::Decision> random_script(std::span<const TradeRecord> trades, std::int64_t decisions,
                                             const kernels::EnvironmentContract& contract,
                                             const kernels::EnvironmentRules& rules, std::uint64_t seed,
                                             std::uint64_t element) {
  std::vector<kernels::Decision> out(static_cast<std::size_t>(decisions), hold_decision());
  std::vector<Trip> trips = fitting_trips(trades, decisions);
  if (trips.empty()) return out;
  Draws draws(seed, element);
  for (std::size_t i = trips.size(); i > 1; --i)
    std::swap(trips[i - 1], trips[static_cast<std::size_t>(draws.below(static_cast<std::int64_t>(i)))]);
  std::int64_t idle = decisions;
  for (const Trip& t : trips) idle -= t.hold;
  // Where the idle bars are cut: sorted uniform places, one before each trip.
  std::vector<std::int64_t> cuts(trips.size());
  for (auto& cut : cuts) cut = draws.below(idle + 1);
  std::sort(cuts.begin(), cuts.end());
  std::int64_t held = 0;
  bool up = false;
  for (std::size_t i = 0; i < trips.size(); ++i) {
    const bool touches = i > 0 && cuts[i] == cuts[i - 1];
    up = touches ? !up : draws.uniform() < 0.5;
    const std::int64_t entry = cuts[i] + held, exit = entry + trips[i].hold;
    out[static_cast<std::size_t>(entry)] = enter(up, trips[i].lots, contract, rules);
    if (exit < decisions) {
      out[static_cast<std::size_t>(exit)] = hold_decision();
      out[static_cast<std::size_t>(exit)].action[0] = kernels::direction_flat;
    }
    held += trips[i].hold;
  }
  return out;
}

}  // namespace foxhunt
