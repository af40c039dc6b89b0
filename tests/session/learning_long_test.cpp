// Learning is real: on the simulated market, net of costs and on bars that neither training nor the choice of the
// checkpoint has seen, an agent that started from nothing beats flat, buy and hold, and random trading of the same
// turnover; where the flow moves nothing it finds nothing. Some five minutes a market on two cores. docs/learning.md
// has the figures.
#include <gtest/gtest.h>

#include <iostream>

#include "engine/config/load_config.h"
#include "engine/session/checkpoint_load.h"
#include "tests/session/session_fixture.h"
#include "tests/support/log_watch.h"

namespace foxhunt {
namespace {

struct Trial {
  Metrics metrics;
  Baselines baselines;
};

// Trains resources/learning.json and evaluates its best checkpoint on the window of resources/learning_test.json.
Trial trial(std::uint64_t seed, double edge) {
  const std::vector<std::string> sets = {fmt::format("data.simulated.seed={}", seed),
                                         fmt::format("data.simulated.edge={}", edge)};
  const std::filesystem::path resources = std::filesystem::path(FOXHUNT_SOURCE_DIR) / "resources";
  SessionOptions options = test::options_in(test::scratch_folder() / "run");
  Session session(load_config(resources / "learning.json", sets), options);
  EXPECT_TRUE(session.wait(3600));
  std::filesystem::path best;
  for (const auto& path : session.checkpoints())
    if (path.filename().string().find("best") != std::string::npos) best = path;
  const auto evaluation = evaluate_checkpoint(best, load_config(resources / "learning_test.json", sets));
  const Trial out{evaluation.result.metrics, evaluation.result.baselines};
  std::cout << fmt::format(
      "seed {} edge {}: net {:.0f}, Sharpe {:.1f}, psr {:.4f}, {} trades; buy and hold {:.0f}, random {:.0f} +- "
      "{:.0f}\n",
      seed, edge, out.metrics.net, out.metrics.sharpe.value_or(0), out.metrics.psr.value_or(0.5), out.metrics.trades,
      out.baselines.buy_and_hold.net, out.baselines.random.net, out.baselines.random.net_deviation);
  return out;
}

class Learning : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(Learning, BeatsEveryBaselineWhereTheFlowMovesThePrice) {
  const Trial t = trial(GetParam(), 1);
  EXPECT_GT(t.metrics.net, 0);
  EXPECT_GT(t.metrics.net, t.baselines.buy_and_hold.net);
  EXPECT_GT(t.metrics.net,
            t.baselines.random.net + 2 * t.baselines.random.net_deviation / std::sqrt(t.baselines.random.seeds));
  EXPECT_GT(t.metrics.psr.value_or(0), 0.99);
}

// Where nothing is worth anything, Q lies near zero and doubles easily: the drift guard may end such a session, and the
// best checkpoint until then is judged.
TEST_P(Learning, FindsNothingWhereThereIsNothing) {
  const test::ExpectLog halted("mean Q ");
  const Trial t = trial(GetParam(), 0);
  EXPECT_LT(t.metrics.psr.value_or(0.5), 0.99) << "a significant profit without any edge is a leak";
}

INSTANTIATE_TEST_SUITE_P(Simulated, Learning, ::testing::Values(1009, 2003, 3001));

}  // namespace
}  // namespace foxhunt
