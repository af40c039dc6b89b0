// Each controller inside a real session: its condition is brought about, its scalar changes on the device, its word of
// HealthDiag is 1 at that epoch's end.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "engine/checkpoint/safetensors.h"
#include "engine/run/run_reader.h"
#include "kernels/control.h"
#include "tests/session/session_fixture.h"

namespace foxhunt {
namespace {

using namespace test;

Config one_fold(int epochs) {
  Config c = tiny_config();
  c.folds.count = 1;
  c.training.epochs = epochs;
  c.training.checkpoint_epochs = 0;
  c.telemetry.diag_interval = 1000;  // rows at epoch ends alone
  return c;
}

// The control block as it stood in device memory.
kernels::Control control_in(const std::filesystem::path& checkpoint) {
  const auto file = SafetensorsFile::open(checkpoint);
  kernels::Control control;
  const TensorInfo& tensor = file.at("state.control");
  EXPECT_EQ(tensor.bytes(), sizeof control);
  std::vector<std::byte> bytes(tensor.bytes());
  file.read_into(tensor, bytes.data());
  std::memcpy(static_cast<void*>(&control), bytes.data(), sizeof control);
  return control;
}

std::vector<double> column(const std::filesystem::path& run, RunTable table, const char* name) {
  return RunReader::open(run).rows(table, 0, 100'000, {name}).values.at(0);
}

struct Trained {
  std::filesystem::path run;
  kernels::Control control;
  std::vector<double> fired(const char* word) const { return column(run, RunTable::health, word); }
  std::vector<double> steps(const char* word) const { return column(run, RunTable::steps, word); }
};

Trained trained(const Config& config, const char* name) {
  const auto run = scratch_folder() / name;
  return {run, control_in(train(config, options_in(run)))};
}

// Runs one epoch, changes what it left, and goes on to the end; the run of the second part.
Trained after(const Config& config, const std::function<void(nlohmann::json&)>& change) {
  const auto folder = scratch_folder();
  SessionOptions part = options_in(folder / "part");
  part.max_steps = 30;
  std::filesystem::path left;
  {
    Session first(config, part);
    EXPECT_TRUE(first.wait(120));
    left = first.checkpoints().back();
  }
  SessionOptions rest = options_in(folder / "rest");
  rest.resume = with_session(left, folder / "changed.safetensors", change);
  return {folder / "rest", control_in(train(config, rest))};
}

TEST(Controlled, LearningRateHalvesWithoutABest) {
  const Config c = one_fold(6);
  const Trained t = after(c, [](nlohmann::json& session) {
    session["validation"]["best_epoch_sharpe"] = 1e9;  // no epoch reaches it
    session["validation"]["read"] = nullptr;
  });
  const float first_lr = static_cast<float>(c.learner.lr);
  EXPECT_EQ(t.control.settings.lr, 0.5f * first_lr);
  // Epoch ends 1 to 5; validations of epochs 1, 2 and 3 are read at the ends of 2, 3 and 4.
  EXPECT_EQ(t.fired("controller_lr"), (std::vector<double>{0, 0, 0, 1, 0}));
  const auto lr = t.steps("lr");
  ASSERT_EQ(lr.size(), 150u);
  EXPECT_EQ(static_cast<float>(lr[119]), first_lr);
  EXPECT_EQ(static_cast<float>(lr[120]), 0.5f * first_lr);
}

TEST(Controlled, TauSlowsBehindATargetThatHasCaughtUp) {
  Config c = one_fold(3);
  c.learner.lr = 1e-9;
  const Trained t = trained(c, "run");
  EXPECT_NEAR(t.control.settings.tau_scale, 0.8 * 0.8 * 0.8, 1e-6);
  EXPECT_EQ(t.fired("controller_tau"), (std::vector<double>{1, 1, 1}));
  const auto tau = t.steps("tau");
  for (const std::size_t step : {1u, 30u, 31u, 60u, 61u, 90u}) {
    const double progress = std::min(1.0, static_cast<double>(step) / c.learner.tau_anneal_steps);
    const double annealed = c.learner.tau_final + (c.learner.tau_init - c.learner.tau_final) * 0.5 *
                                                      (1 + std::cos(3.14159265358979323846 * progress));
    EXPECT_NEAR(tau[step - 1], annealed * std::pow(0.8, (step - 1) / 30), 1e-6 * annealed) << step;
  }
}

TEST(Controlled, GammaFollowsTheMeanHold) {
  Config c = one_fold(2);
  c.learner.gamma = {0.5, 0.5, 0.5, 0.5};
  const Trained t = trained(c, "run");
  EXPECT_EQ(t.fired("controller_gamma"), (std::vector<double>{1, 1}));
  // Horizons of 2 bars grow by a quarter an epoch.
  for (int d = 0; d < 4; ++d) EXPECT_NEAR(t.control.settings.gamma[d], 1 - 1 / (2 * 1.25 * 1.25), 1e-6);
}

TEST(Controlled, EpsilonFallsUnderActionsAtRandom) {
  Config c = one_fold(2);
  c.environment.epsilon = 1;
  const Trained t = trained(c, "run");
  EXPECT_EQ(t.fired("controller_epsilon"), (std::vector<double>{1, 1}));
  EXPECT_NEAR(t.control.settings.epsilon, 0.81, 1e-6);
  const auto epsilon = t.steps("epsilon");
  EXPECT_NEAR(epsilon[29], 1, 1e-6);
  EXPECT_NEAR(epsilon[30], 0.9, 1e-6);
}

TEST(Controlled, ClipFollowsTheMedianNorm) {
  Config c = one_fold(2);
  c.learner.max_grad_norm = 90;
  const Trained t = trained(c, "run");
  EXPECT_EQ(t.fired("controller_clip")[0], 1);
  auto norms = t.steps("gradient_norm_raw");
  ASSERT_EQ(norms.size(), 60u);
  std::vector<double> last(norms.begin() + 30, norms.end());
  std::sort(last.begin(), last.end());
  const double want = std::clamp(last[14] + last[15], 1.0, 100.0);  // twice the median of 30
  EXPECT_NEAR(t.control.settings.max_grad_norm, want, 1e-5 * want);
}

TEST(Controlled, AlphaStepsBackWhenTheSquaredLossDoubles) {
  const Trained t = after(one_fold(3), [](nlohmann::json& session) {
    double& before = *session["controllers"]["mse_ema"].get_ptr<double*>();
    EXPECT_GT(before, 0);
    before /= 4;  // the second epoch ends at more than twice this
  });
  EXPECT_EQ(t.fired("controller_alpha"), (std::vector<double>{1, 0}));
  const auto alpha = t.steps("c51_alpha");
  ASSERT_EQ(alpha.size(), 60u);
  EXPECT_GT(alpha[29], 0.002) << "it has grown";
  EXPECT_LE(alpha[30], 1.0 / 2000 + 1e-7) << "less a tenth it is at its floor";
  for (std::size_t i = 31; i < alpha.size(); ++i) EXPECT_GE(alpha[i], alpha[i - 1]) << "the drop is taken once";
  EXPECT_EQ(t.control.settings.c51_alpha_drop, 0.0f);
}

TEST(Controlled, NothingMovesWhenTheyAreOff) {
  Config c = one_fold(2);
  c.environment.epsilon = 1;
  c.learner.max_grad_norm = 90;
  c.training.controllers = "off";
  const Trained t = trained(c, "run");
  EXPECT_EQ(t.control.settings.epsilon, 1.0f);
  EXPECT_EQ(t.control.settings.max_grad_norm, 90.0f);
  for (const char* word : {"controller_lr", "controller_tau", "controller_gamma", "controller_epsilon",
                           "controller_clip", "controller_alpha"})
    EXPECT_EQ(t.fired(word), (std::vector<double>{0, 0})) << word;
}

}  // namespace
}  // namespace foxhunt
