// Scripts of the baselines that run through the same environment as the agent.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/environment/evaluation_result.h"

namespace foxhunt {

// Long the whole cap from the first decision on (Kelly 1); [decisions].
std::vector<kernels::Decision> buy_and_hold_script(std::int64_t decisions);

// Random trading with the turnover of `trades`, all of one window of so many decisions: as many round trips, of the
// same sizes (half of the lots that each traded) and, where stops allow it, the same holds, in random order, at random
// times and in random directions; Market and Urgent. Trips that touch reverse, so the second takes the other side. A
// size above the cap is cut to it; holds are cut, the longest first, where they do not fit. Numbers: Philox (seed,
// random_policy, element, counter).
std::vector<kernels::Decision> random_script(std::span<const TradeRecord> trades, std::int64_t decisions,
                                             const kernels::EnvironmentContract& contract,
                                             const kernels::EnvironmentRules& rules, std::uint64_t seed,
                                             std::uint64_t element);

}  // namespace foxhunt
