// Counters, schedules and noise against plain double recurrences.
#include "tests/kernels/kernel_rig.h"

namespace foxhunt::kernels::test {
namespace {

std::size_t at(int64_t i) {
  return static_cast<std::size_t>(i);
}

constexpr double kPi = 3.14159265358979323846;

Settings settings() {
  Settings s{};
  s.beta1 = 0.9, s.beta2 = 0.999;
  s.tau_init = 0.01f, s.tau_final = 0.001f, s.tau_anneal_steps = 40, s.tau_scale = 1.25f;
  s.beta_start = 0.4f, s.beta_end = 1, s.beta_steps = 50;
  s.depth_keep = 0.9f, s.moe_lambda = 0.01f, s.noisy = 1;
  return s;
}

struct Rig {
  Rig() {
    control.seed = 99;
    control.settings = settings();
    command.settings = control.settings;
    control.command_seen = command.sequence = 2;
  }
  void begin(float experts = 8) { run(BeginStepArgs{&control, &command, &injected, std::log(experts)}, 1); }
  void send(const Settings& s) { command.settings = s, command.sequence += 2; }
  Control control{};
  CommandBlock command{};
  InjectedScalars injected{};
};

TEST(BeginStep, CountersTauBetaAndBiases) {
  Rig rig;
  rig.control.step = 10;
  for (int t = 1; t <= 70; ++t) {
    rig.begin();
    ASSERT_EQ(rig.control.step, 10u + static_cast<unsigned>(t));
    ASSERT_EQ(rig.control.adam_t, static_cast<unsigned>(t));
    ASSERT_EQ(rig.control.since_reset, static_cast<unsigned>(t));
    const double progress = std::min(t / 40.0, 1.0);
    ASSERT_NEAR(rig.control.tau, 1.25 * (0.001 + 0.009 * 0.5 * (1 + std::cos(kPi * progress))), 1e-8);
    ASSERT_NEAR(rig.control.beta, 0.4 + 0.6 * std::min((10.0 + t) / 50, 1.0), 1e-6);
    ASSERT_NEAR(rig.control.bias1, 1 - std::pow(0.9, t), 1e-7);
    ASSERT_NEAR(rig.control.bias2, 1 - std::pow(0.999, t), 1e-7 * rig.control.bias2);
  }
}

// Loss streams of several shapes against the rules written down: EMAs, c51 alpha, readiness with its anchor, lambda.
TEST(BeginStep, LossesDriveTheSchedules) {
  for (const int shape : {0, 1, 2}) {
    Rig rig;
    rig.control.settings.c51_alpha_floor = shape == 2 ? 0.5f : 0.0f;
    rig.control.c51_alpha = rig.control.settings.c51_alpha_floor;
    rig.command.settings = rig.control.settings;
    double fast = 0, slow = 0, alpha = rig.control.c51_alpha, ema = 0, anchor = 0, entropy = 0;
    double last_mse = 0, last_iqn = 0, last_entropy = 0;
    int seen = 0;
    for (int t = 1; t <= 1200; ++t) {
      rig.begin(4);
      if (seen > 0) {
        fast = seen == 1 ? last_mse : fast + 0.05 * (last_mse - fast);
        slow = seen == 1 ? last_mse : slow + 0.005 * (last_mse - slow);
        if (std::abs(fast - slow) <= 0.1 * slow) alpha += 1.0 / 2000;
        alpha = std::clamp(alpha, static_cast<double>(rig.control.settings.c51_alpha_floor), 1.0);
        ema = seen == 1 ? last_iqn : ema + 0.01 * (last_iqn - ema);
        if (seen <= 500) anchor = std::max(anchor, ema);
        entropy = seen == 1 ? last_entropy : entropy + 0.05 * (last_entropy - entropy);
        const double ready = seen >= 500 ? std::clamp((anchor - ema) / anchor, 0.0, 1.0) : 0.0;
        const double lambda = 0.01 * std::clamp(2 - 2 * entropy / std::log(4.0), 0.1, 2.0);
        ASSERT_NEAR(rig.control.mse_fast, fast, 1e-4 * fast) << t;
        ASSERT_NEAR(rig.control.mse_slow, slow, 1e-4 * slow) << t;
        ASSERT_NEAR(rig.control.c51_alpha, alpha, 1.01 / 2000) << t;  // a tie within rounding may fall either way
        ASSERT_NEAR(rig.control.iqn_readiness, ready, 1e-4) << t;
        ASSERT_NEAR(rig.control.moe_lambda_now, lambda, 1e-7) << t;
      } else {
        ASSERT_EQ(rig.control.iqn_readiness, 0.0f);
      }
      ++seen;
      last_mse = shape == 1 ? 2 + std::sin(t / 30.0) : 3 * std::exp(-t / 300.0) + 0.5;
      last_iqn = shape == 0 ? 4 * std::exp(-t / 400.0) : 1 + 0.001 * t;
      last_entropy = 0.2 + 1.1 * std::abs(std::cos(t / 200.0));
      rig.control.last_mse = static_cast<float>(last_mse), rig.control.last_iqn = static_cast<float>(last_iqn);
      rig.control.last_entropy = static_cast<float>(last_entropy);
    }
    EXPECT_GT(alpha, static_cast<double>(rig.control.settings.c51_alpha_floor));
  }
}

// A step refused for a NaN teaches the averages nothing.
TEST(BeginStep, NanLossesAreNotLearned) {
  Rig rig;
  rig.begin();
  rig.control.last_mse = rig.control.last_iqn = rig.control.last_entropy = 1;
  rig.begin();
  rig.control.last_mse = std::nanf("");
  const Control before = rig.control;
  rig.begin();
  EXPECT_EQ(rig.control.mse_fast, before.mse_fast);
  EXPECT_EQ(rig.control.iqn_ema, before.iqn_ema);
  EXPECT_EQ(rig.control.mse_steps, before.mse_steps);
}

TEST(BeginStep, DepthScalesAreBlocksKeptOrDropped) {
  Rig rig;
  int kept = 0, equal = 0;
  constexpr int steps = 20000;
  for (int t = 0; t < steps; ++t) {
    rig.begin();
    for (const float x : rig.control.depth_scale) {
      ASSERT_TRUE(x == 0.0f || std::abs(x - 1 / 0.9f) < 1e-6f);
      kept += x > 0;
    }
    equal += (rig.control.depth_scale[0] > 0) == (rig.control.depth_scale[1] > 0);
  }
  EXPECT_NEAR(kept / 3.0 / steps, 0.9, 5 * std::sqrt(0.09 / (3.0 * steps)));
  EXPECT_NEAR(equal / static_cast<double>(steps), 0.82,
              5 * std::sqrt(0.82 * 0.18 / steps));  // independent: 0.81 + 0.01
}

TEST(BeginStep, HostRequestHaltsAndHoldsEverything) {
  Rig rig;
  rig.begin();
  rig.command.halt_request = 1;
  const Control before = rig.control;
  rig.begin();
  EXPECT_EQ(rig.control.halt, kHaltHost);
  EXPECT_EQ(rig.control.step, before.step);
  EXPECT_EQ(rig.control.adam_t, before.adam_t);
  rig.command.halt_request = 0;
  rig.begin();
  EXPECT_EQ(rig.control.step, before.step) << "the halt is sticky";
  rig.control.nan_flags = 5;
  run(ClearHaltArgs{&rig.control}, 1);
  EXPECT_EQ(rig.control.halt, 0u);
  EXPECT_EQ(rig.control.nan_flags, 0u);
  rig.begin();
  EXPECT_EQ(rig.control.step, before.step + 1);
}

TEST(BeginStep, InjectedScalarsReplaceTheSchedules) {
  Rig rig;
  Settings s = settings();
  s.injected = 1;
  rig.send(s);
  rig.injected = {{0.5f, 0, 2}, 0.3f, 0.4f, 0.6f};
  rig.control.last_mse = 1;
  for (int t = 0; t < 3; ++t) rig.begin();
  EXPECT_EQ(rig.control.depth_scale[0], 0.5f);
  EXPECT_EQ(rig.control.depth_scale[1], 0.0f);
  EXPECT_EQ(rig.control.depth_scale[2], 2.0f);
  EXPECT_EQ(rig.control.c51_alpha, 0.3f);
  EXPECT_EQ(rig.control.iqn_readiness, 0.4f);
  EXPECT_EQ(rig.control.moe_lambda_now, 0.6f);
  EXPECT_EQ(rig.control.mse_steps, 0u);
}

TEST(Settings, AreTakenWholeAndOnce) {
  Rig rig;
  Settings s = settings();
  s.lr = 0.25f, s.v_max[7] = 3;
  rig.command.settings = s;
  rig.command.sequence = 3;  // odd: being written
  run(ApplySettingsArgs{&rig.control, &rig.command}, 1);
  EXPECT_EQ(rig.control.settings.lr, 0.0f);
  rig.command.sequence = 4;
  run(ApplySettingsArgs{&rig.control, &rig.command}, 1);
  EXPECT_EQ(rig.control.settings.lr, 0.25f);
  EXPECT_EQ(rig.control.settings.v_max[7], 3.0f);
  rig.command.settings.lr = 9;  // without a new sequence nothing is read
  run(ApplySettingsArgs{&rig.control, &rig.command}, 1);
  EXPECT_EQ(rig.control.settings.lr, 0.25f);
}

TEST(Settings, AlphaDropsOnceAndKeepsItsFloor) {
  Rig rig;
  rig.control.c51_alpha = 0.7f;
  Settings s = settings();
  s.c51_alpha_drop = 0.1f, s.c51_alpha_floor = 0.55f;
  rig.send(s);
  for (int i = 0; i < 3; ++i) run(ApplySettingsArgs{&rig.control, &rig.command}, 1);
  EXPECT_NEAR(rig.control.c51_alpha, 0.6f, 1e-6);
  rig.send(s);
  run(ApplySettingsArgs{&rig.control, &rig.command}, 1);
  EXPECT_NEAR(rig.control.c51_alpha, 0.55f, 1e-6);
}

TEST(ResetControl, FoldBoundaryAndNewRun) {
  Rig rig;
  std::memset(static_cast<void*>(&rig.control), 0x41, sizeof(Control));
  rig.control.settings = settings();
  const Control before = rig.control;
  run(ResetControlArgs{&rig.control, 0, 5, 0.5f}, 1);
  const Control& c = rig.control;
  EXPECT_EQ(c.seed, before.seed);
  EXPECT_EQ(c.step, before.step);
  EXPECT_EQ(c.collect_step, before.collect_step);
  EXPECT_EQ(c.halt, before.halt);
  for (const uint32_t x : {c.adam_t, c.since_reset, c.mse_steps, c.iqn_steps, c.entropy_steps, c.replay_size})
    EXPECT_EQ(x, 0u);
  for (const float x : {c.iqn_readiness, c.mse_fast, c.mse_slow, c.iqn_ema, c.iqn_anchor, c.gate_entropy_ema,
                        c.last_mse, c.last_iqn, c.last_entropy})
    EXPECT_EQ(x, 0.0f);
  EXPECT_EQ(c.c51_alpha, 0.5f);
  EXPECT_EQ(c.inserted, 0u);
  EXPECT_EQ(c.max_priority, 1.0f);
  EXPECT_EQ(c.moe_lambda_now, 0.01f);
  run(ResetControlArgs{&rig.control, 1, 5, 0}, 1);
  EXPECT_EQ(c.seed, 5u);
  EXPECT_EQ(c.step, 0u);
  EXPECT_EQ(c.collect_step, 0u);
  EXPECT_EQ(c.halt, 0u);
}

double transformed(double e) {
  return e < 0 ? -std::sqrt(-e) : std::sqrt(e);
}

struct Shape {
  int layers, hidden, wide, taus, cosines;
};
class Noise : public ::testing::TestWithParam<Shape> {};
INSTANTIATE_TEST_SUITE_P(Sizes, Noise, ::testing::Values(Shape{3, 7, 13, 5, 11}, Shape{5, 50, 204, 8, 64}));

TEST_P(Noise, InjectedDrawsAndCosines) {
  const auto [layers, hidden, wide, taus, cosines] = GetParam();
  const int each = layers * (hidden + wide);
  Control control{};
  control.settings.injected = 1;
  const auto raw = normals(at(2 * each), 3);
  std::vector<float> levels;
  for (int t = 0; t < taus; ++t) levels.push_back((static_cast<float>(t) + 0.5f) / static_cast<float>(taus));
  Guarded<float> noise(raw.size()), table(at(taus * cosines));
  run(
      DrawNoiseArgs{
          &control, raw.data(), noise, levels.data(), table, layers, hidden, wide, 2, taus, cosines, {2, 3}, 0},
      tiles(2 * each + taus * cosines, 256));
  for (std::size_t i = 0; i < raw.size(); ++i) ASSERT_NEAR(noise[i], transformed(raw[i]), 1e-6);
  for (int t = 0; t < taus; ++t)
    for (int k = 0; k < cosines; ++k)
      ASSERT_NEAR(table[at(t * cosines + k)], std::cos(kPi * (k + 1) * levels[at(t)]), 1e-6);
}

// Drawn noise: standard normal before the transform, new each step, the same again for the same step, silent when off.
TEST_P(Noise, DrawsAreNormalAndAddressedByStep) {
  const auto [layers, hidden, wide, taus, cosines] = GetParam();
  const int each = layers * (hidden + wide);
  Control control{};
  control.seed = 4, control.settings.noisy = 1;
  Guarded<float> noise(at(2 * each));
  const auto draw = [&](uint64_t step, uint32_t collecting) {
    control.step = collecting ? 0 : step, control.collect_step = collecting ? step : 0;
    run(DrawNoiseArgs{&control, nullptr, noise, nullptr, nullptr, layers, hidden, wide, 2, 0, 0, {2, 3}, collecting},
        tiles(2 * each, 256));
    return noise.copy();
  };
  double sum = 0, square = 0, fourth = 0, cross = 0, n = 0;
  for (uint64_t step = 1; n < 200'000; ++step) {
    const auto values = draw(step, 0);
    for (int i = 0; i < 2 * each; ++i) {
      const double f = values[at(i)], e = f * std::abs(f);  // undoes the transform
      sum += e, square += e * e, fourth += e * e * e * e, n += 1;
      if (i < each) cross += e * values[at(each + i)] * std::abs(values[at(each + i)]);
    }
  }
  EXPECT_NEAR(sum / n, 0, 5 / std::sqrt(n));
  EXPECT_NEAR(square / n, 1, 5 * std::sqrt(2 / n));
  EXPECT_NEAR(fourth / n, 3, 5 * std::sqrt(96 / n));
  EXPECT_NEAR(cross / (n / 2), 0, 5 / std::sqrt(n / 2)) << "online and target draws are independent";
  EXPECT_EQ(draw(7, 0), draw(7, 0));
  EXPECT_NE(draw(7, 0), draw(8, 0));
  EXPECT_EQ(draw(7, 0), draw(7, 1)) << "the same address, whichever counter gives it";
  control.settings.noisy = 0;
  for (const float x : draw(7, 0)) ASSERT_EQ(x, 0.0f);
}

}  // namespace
}  // namespace foxhunt::kernels::test
