// Calm runs stay calm: ten seeds of the demo's configuration, two folds with their boundary, armed as it ships.
#include <gtest/gtest.h>

#include <iostream>

#include "engine/run/run_reader.h"
#include "tests/session/session_fixture.h"

namespace foxhunt {
namespace {

TEST(DriftLong, TenSeedsOfTheDemoNeverTrip) {
  for (int seed = 1; seed <= 10; ++seed) {
    const auto folder = test::scratch_folder() / fmt::format("seed{}", seed);
    const std::vector<std::string> sets = {fmt::format("seed={}", seed), fmt::format("data.simulated.seed={}", seed),
                                           "training.steps_per_epoch=150", "training.checkpoint_epochs=0",
                                           "device=cpu"};
    const Config config = load_config(std::filesystem::path(FOXHUNT_SOURCE_DIR) / "resources" / "demo.json", sets);
    ASSERT_EQ(config.guards.drift, "armed");
    Session session(config, test::options_in(folder));
    ASSERT_TRUE(session.wait(1200));
    EXPECT_EQ(session.status()->state, SessionState::finished) << "seed " << seed << ": " << session.status()->reason;
    const auto epochs = RunReader::open(folder).rows(RunTable::epochs, 0, 100, {"q_mean"});
    EXPECT_EQ(epochs.ids.size(), 8u);
    std::cout << "seed " << seed << ": mean Q of the epochs";
    for (const double q : epochs.values[0]) std::cout << fmt::format(" {:.3f}", q);
    std::cout << "\n";
  }
}

}  // namespace
}  // namespace foxhunt
