// The plain definitions of signals and HealthDiag words, in double loops written from the tables' meanings.
#include "tests/telemetry/fake_step.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace foxhunt::test {
namespace {

constexpr const char* kBranch[4] = {"direction", "magnitude", "order", "urgency"};
constexpr const char* kAction[13] = {"direction.short",   "direction.hold", "direction.long",  "direction.flat",
                                     "magnitude.quarter", "magnitude.half", "magnitude.full",  "order.market",
                                     "order.limit",       "order.pegged",   "urgency.patient", "urgency.normal",
                                     "urgency.urgent"};
constexpr const char* kSize[3] = {"quarter", "half", "full"};
constexpr const char* kGroup[6] = {"price", "volume", "technical", "order_flow", "portfolio", "signals"};
constexpr const char* kReward[6] = {"pnl", "cost", "risk", "drawdown", "trail", "opportunity"};

double mean(int count, const std::function<double(int)>& value) {
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += value(i);
  return sum / count;
}

double action_share(const FakeStep& s, int column) {
  const int d = column < 4 ? 0 : (column - 1) / 3;
  return mean(s.n.batch, [&](int b) { return s.action[b * 4 + d] == column - kFirstAction[d] ? 1.0 : 0.0; });
}

double q_mean(const FakeStep& s, int d) {
  return mean(s.n.batch * kActionCount[d], [&](int i) {
    return static_cast<double>(s.q[i / kActionCount[d] * 13 + kFirstAction[d] + i % kActionCount[d]]);
  });
}

double gap(const FakeStep& s, int d) {
  return mean(s.n.batch, [&](int b) {
    std::vector<double> q;
    for (int i = 0; i < kActionCount[d]; ++i) q.push_back(s.q[b * 13 + kFirstAction[d] + i]);
    std::sort(q.rbegin(), q.rend());
    return q[0] - q[1];
  });
}

int chosen(const FakeStep& s, int b, int d) {
  return kFirstAction[d] + s.action[b * 4 + d];
}

double entropy(const Shared<float>& p, std::size_t first, int count) {
  double sum = 0;
  for (int i = 0; i < count; ++i) {
    const double x = p[first + static_cast<std::size_t>(i)];
    if (x > 0) sum -= x * std::log(x);
  }
  return sum;
}

std::size_t atom_row(const FakeStep& s, int b, int d) {
  return (static_cast<std::size_t>(b) * 4 + d) * s.n.atoms;
}

double atom_entropy(const FakeStep& s) {
  return mean(s.n.batch * 4, [&](int i) { return entropy(s.probabilities, atom_row(s, i / 4, i % 4), s.n.atoms); });
}

double atom_utilisation(const FakeStep& s) {
  return mean(static_cast<int>(s.probabilities.size()),
              [&](int i) { return s.probabilities[i] > 0.1f / static_cast<float>(s.n.atoms) ? 1.0 : 0.0; });
}

double effective(const FakeStep& s) {
  double sum = 0, square = 0;
  for (int b = 0; b < s.n.batch; ++b) sum += s.weight[b], square += static_cast<double>(s.weight[b]) * s.weight[b];
  return square > 0 ? sum * sum / (s.n.batch * square) : 0;
}

double tile_total(const FakeStep& s, double TileSums::*member) {
  double sum = 0;
  for (int i = 0; i < s.n.tiles; ++i) sum += s.tile_sums[i].*member;
  return sum;
}

double update_ratio(const FakeStep& s) {
  const double parameter = tile_total(s, &TileSums::parameter);
  return parameter > 0 ? std::sqrt(tile_total(s, &TileSums::update)) / std::sqrt(parameter) : 0;
}

double group_norm(const FakeStep& s, const std::vector<std::string>& names) {
  double sum = 0;
  for (int i = 0; i < s.n.tiles; ++i) {
    const std::string& group = s.layout.groups[s.tile_table[i].group];
    if (std::find(names.begin(), names.end(), group) != names.end()) sum += s.tile_sums[i].gradient;
  }
  return std::sqrt(sum);
}

double noise(const FakeStep& s, const std::function<bool(int)>& wanted) {
  double sum = 0, count = 0;
  for (int i = 0; i < s.n.tiles; ++i)
    if (wanted(s.layout.sigma[s.tile_table[i].tensor])) sum += s.tile_sums[i].parameter;
  for (std::size_t t = 0; t < s.layout.sigma.size(); ++t)
    if (wanted(s.layout.sigma[t])) count += static_cast<double>(s.layout.size[t]);
  return std::sqrt(sum / count);
}

double correlation(const FakeStep& s) {
  const double mx = mean(s.n.batch, [&](int b) { return static_cast<double>(s.aux_output[b * 8]); });
  const double my = mean(s.n.batch, [&](int b) { return static_cast<double>(s.aux[b * 4]); });
  double xx = 0, yy = 0, xy = 0;
  for (int b = 0; b < s.n.batch; ++b) {
    const double x = s.aux_output[b * 8] - mx, y = s.aux[b * 4] - my;
    xx += x * x, yy += y * y, xy += x * y;
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}

double quantile(const FakeStep& s, int b, int column, double level) {
  const double place = std::clamp(level * s.n.taus - 0.5, 0.0, s.n.taus - 1.0);
  const int low = static_cast<int>(std::floor(place)), high = std::min(low + 1, s.n.taus - 1);
  const auto at = [&](int t) {
    return static_cast<double>(s.quantiles[(static_cast<std::size_t>(b) * s.n.taus + t) * 13 + column]);
  };
  return at(low) + (place - low) * (at(high) - at(low));
}

// By looking back from the newest transition to the one that stands in the slot.
double age(const FakeStep& s, int b) {
  const Control& c = s.control[0];
  if (c.replay_size == 0) return 0;
  std::uint64_t number = c.inserted - 1;
  while (number % c.replay_size != static_cast<unsigned>(s.index[b])) --number;
  return static_cast<double>(c.inserted - 1 - number);
}

// Rows of softmax-like weights; some are exactly 0, some at the bound of what counts as used.
void fill_shares(std::mt19937_64& random, Shared<float>& x, int rows, int width, float bound) {
  std::normal_distribution<float> normal;
  for (int r = 0; r < rows; ++r) {
    float* row = &x[static_cast<std::size_t>(r) * width];
    float sum = 0;
    for (int i = 0; i < width; ++i) sum += row[i] = std::exp(2 * normal(random));
    for (int i = 0; i < width; ++i) row[i] /= sum;
    if (bound > 0 && width > 2) {
      row[1] = 0;
      row[2] = bound;
    }
  }
}

}  // namespace

void FakeStep::fill(unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  std::uniform_real_distribution<float> unit(0.05f, 1.0f);
  for (int b = 0; b < n.batch; ++b) {
    for (int d = 0; d < 4; ++d) action[b * 4 + d] = static_cast<int>(random() % kActionCount[d]);
    index[b] = static_cast<int>(random() % 500);
    weight[b] = unit(random);
    td[b] = std::abs(normal(random));
    priority[b] = unit(random);
    aux[b * 4] = normal(random);
    aux[b * 4 + 1] = static_cast<float>(random() % 3);
    aux[b * 4 + 2] = unit(random);
    for (int i = 0; i < 5; ++i) aux_output[b * 8 + i] = normal(random) + (i == 0 ? 0.7f * aux[b * 4] : 0);
  }
  for (std::size_t i = 0; i < q.size(); ++i) {
    q[i] = 3 * normal(random) + 1.5f;
    q_next[i] = 2 * normal(random) - 1;
    q_variance[i] = unit(random) * 4;
  }
  fill_shares(random, probabilities, n.batch * 4, n.atoms, 0.1f / static_cast<float>(n.atoms));
  for (std::size_t i = 0; i < quantiles.size(); ++i) quantiles[i] = 3 * normal(random);
  fill_shares(random, vsn, n.batch, n.groups, 0);
  fill_shares(random, gates, n.batch, n.experts, 0);
  for (int i = 0; i < kLossTerms; ++i) losses[i] = unit(random) * 3;
  gradient_norm[0] = 20 * unit(random);
  gradient_norm[1] = unit(random) * 0.9;
  for (int i = 0; i < kSpectral; ++i) sigma[i] = unit(random) * 5;
  for (int i = 0; i < n.tiles; ++i) {
    const int tensor = i * kTensors / n.tiles;
    tile_table[i] = {i * 2048, 2048, static_cast<std::int16_t>(tensor),
                     static_cast<std::uint8_t>(tensor * 13 / kTensors), 1};
    tile_sums[i] = {unit(random),      unit(random) * 50,  unit(random) * 1e-5,
                    unit(random) * 50, unit(random) * 0.1, unit(random) * 40};
  }
  Control& c = control[0];
  c.adam_t = 77 + static_cast<std::uint32_t>(random() % 1000);
  c.tau = 0.01f * unit(random);
  c.beta = unit(random);
  c.c51_alpha = unit(random);
  c.iqn_readiness = unit(random);
  c.moe_lambda_now = 0.02f * unit(random);
  // A full ring of 500, or one that is not full yet.
  c.inserted = 500 + random() % 5000;
  c.replay_size = random() % 4 ? 500u : static_cast<std::uint32_t>(c.inserted);
  c.max_priority = 1 + 2 * unit(random);
  c.settings.lr = 1e-3f * unit(random);
  c.settings.weight_decay = 1e-3f * unit(random);
  c.settings.depth_keep = unit(random);
  c.settings.epsilon = 0.1f * unit(random);
  c.settings.epoch = 1 + static_cast<std::uint32_t>(random() % 20);
  c.settings.fold = 1 + static_cast<std::uint32_t>(random() % 7);
  c.settings.diag_interval = 50;
  for (int d = 0; d < 4; ++d) {
    c.settings.v_min[d] = -50 * unit(random);
    c.settings.v_max[d] = 50 * unit(random);
  }
}

double expected_action_entropy(const FakeStep& s) {
  return mean(4, [&](int d) {
    double sum = 0;
    for (int i = 0; i < kActionCount[d]; ++i) {
      const double p = action_share(s, kFirstAction[d] + i);
      if (p > 0) sum -= p * std::log(p);
    }
    return sum / std::log(kActionCount[d]);
  });
}

std::map<std::string, double> expected_signals(const FakeStep& s, const CollectorSignals& c, double step_time) {
  std::map<std::string, double> e;
  const char* loss_names[] = {"total", "c51", "mse", "iqn", "iql_high", "iql_low", "cql"};
  for (int i = 0; i < 7; ++i) e[std::string("loss.") + loss_names[i]] = s.losses[i];
  e["gradient.norm"] = s.gradient_norm[0];
  // log10 of a ratio of 0 is -inf: no score.
  const double score = std::clamp(1 - std::abs(std::log10(update_ratio(s)) + 3.5) / 2.5, 0.0, 1.0);
  e["learning.health"] = (score + std::clamp(s.gradient_norm[1], 0.0, 1.0) + effective(s)) / 3;
  e["action.entropy"] = expected_action_entropy(s);
  e["replay.effective_samples"] = effective(s);
  e["update.ratio"] = update_ratio(s);
  for (int d = 0; d < 4; ++d) {
    const std::string b = kBranch[d];
    e["q.mean." + b] = q_mean(s, d);
    e["q.gap." + b] = gap(s, d);
    e["distribution.spread." + b] = mean(s.n.batch, [&](int i) {
      return std::sqrt(std::max(static_cast<double>(s.q_variance[i * 13 + chosen(s, i, d)]), 0.0));
    });
    e["support.low." + b] = s.control[0].settings.v_min[d];
    e["support.high." + b] = s.control[0].settings.v_max[d];
    e["noise." + b] = noise(s, [d](int sigma) { return sigma == d; });
  }
  for (int a = 0; a < 13; ++a) e[std::string("action.") + kAction[a]] = c.action[a];
  for (int g = 0; g < 6; ++g) {
    e[std::string("vsn.weight.") + kGroup[g]] =
        g < s.n.groups ? mean(s.n.batch, [&](int b) { return static_cast<double>(s.vsn[b * s.n.groups + g]); }) : 0;
  }
  const char* regimes[] = {"quiet", "normal", "stressed"};
  for (int i = 0; i < 3; ++i) e[std::string("regime.") + regimes[i]] = c.regime[i];
  e["regime.now"] = c.regime_now;
  e["distribution.atom_utilisation"] = atom_utilisation(s);
  e["distribution.entropy"] = atom_entropy(s);
  for (int i = 0; i < 6; ++i) e[std::string("reward.") + kReward[i]] = c.reward[i];
  for (int i = 0; i < 3; ++i) {
    e[std::string("by_magnitude.win_rate.") + kSize[i]] = c.win_rate[i];
    e[std::string("by_magnitude.reward_variance.") + kSize[i]] = c.reward_variance[i];
    e[std::string("by_magnitude.hold.") + kSize[i]] = c.hold[i];
    e[std::string("by_magnitude.trail_fires.") + kSize[i]] = c.trail[i];
  }
  e["risk.kelly_cap"] = c.kelly_cap;
  e["risk.exposure"] = c.exposure;
  e["risk.turnover"] = c.turnover;
  e["risk.drawdown"] = c.drawdown;
  e["risk.episode_return"] = c.episode_return;
  e["risk.ruin_share"] = c.ruin_share;
  const auto row_max = [](const Shared<float>& x, int b, int width) {
    double largest = 0;
    for (int i = 0; i < width; ++i) largest = std::max(largest, static_cast<double>(x[b * width + i]));
    return largest;
  };
  e["vsn.largest"] = mean(s.n.batch, [&](int b) { return row_max(s.vsn, b, s.n.groups); });
  e["vsn.concentration"] = mean(s.n.batch, [&](int b) {
    double sum = 0;
    for (int g = 0; g < s.n.groups; ++g)
      sum += static_cast<double>(s.vsn[b * s.n.groups + g]) * s.vsn[b * s.n.groups + g];
    return sum;
  });
  e["noise.mean"] = noise(s, [](int sigma) { return sigma != 255; });
  e["exploration.epsilon"] = s.control[0].settings.epsilon;
  e["exploration.share"] = c.exploration_share;
  const double target = tile_total(s, &TileSums::target), parameter = tile_total(s, &TileSums::parameter);
  e["target.distance"] = target > 0 ? std::sqrt(tile_total(s, &TileSums::target_difference)) / std::sqrt(target) : 0;
  e["target.cosine"] =
      target * parameter > 0 ? tile_total(s, &TileSums::target_dot) / (std::sqrt(target) * std::sqrt(parameter)) : 0;
  for (const char* g : {"vsn", "grn1", "grn2", "moe", "value", "direction", "magnitude", "order", "urgency", "iqn"})
    e[std::string("gradient.") + g] = group_norm(s, {g});
  e["gradient.iql_aux"] = group_norm(s, {"iql", "aux"});
  e["weight.norm"] = std::sqrt(parameter);
  for (int i = 0; i < FakeStep::kSpectral; ++i)
    e["weight.spectral_max"] = std::max(e["weight.spectral_max"], static_cast<double>(s.sigma[i]));
  e["gradient.clip_share"] = s.gradient_norm[1] < 1 ? 1 : 0;
  e["step.time"] = step_time;
  e["aux.return"] = s.losses[loss_aux_return];
  e["aux.direction"] = s.losses[loss_aux_direction];
  e["aux.volatility"] = s.losses[loss_aux_volatility];
  e["aux.accuracy"] = mean(s.n.batch, [&](int b) {
    const float* x = &s.aux_output[b * 8 + 1];
    return std::max_element(x, x + 3) - x == static_cast<int>(s.aux[b * 4 + 1]) ? 1.0 : 0.0;
  });
  e["aux.correlation"] = correlation(s);
  for (int i = 0; i < 8; ++i) {
    e["expert." + std::to_string(i)] =
        i < s.n.experts ? mean(s.n.batch, [&](int b) { return static_cast<double>(s.gates[b * s.n.experts + i]); }) : 0;
  }
  e["expert.gate_entropy"] =
      mean(s.n.batch, [&](int b) { return entropy(s.gates, static_cast<std::size_t>(b) * s.n.experts, s.n.experts); });
  e["expert.gate_largest"] = mean(s.n.batch, [&](int b) { return row_max(s.gates, b, s.n.experts); });
  e["expert.lambda"] = s.control[0].moe_lambda_now;
  return e;
}

std::map<std::string, double> expected_health(const FakeStep& s) {
  std::map<std::string, double> e;
  const Control& c = s.control[0];
  const int B = s.n.batch;
  e["progress.step"] = static_cast<double>(c.step);
  e["progress.epoch"] = c.settings.epoch;
  e["progress.fold"] = c.settings.fold;
  e["progress.layout_version"] = 1;
  e["loss.total"] = s.losses[0], e["loss.c51"] = s.losses[1], e["loss.mse"] = s.losses[2],
  e["loss.c51_alpha"] = c.c51_alpha;
  e["loss.iqn"] = s.losses[3], e["loss.iql_high"] = s.losses[4], e["loss.iql_low"] = s.losses[5],
  e["loss.cql"] = s.losses[6];
  e["loss.auxiliary"] = s.losses[7] + s.losses[8] + s.losses[9];
  e["loss.moe_balance"] = s.losses[10];
  e["loss.td_mean"] = mean(B, [&](int b) { return static_cast<double>(s.td[b]); });
  for (int b = 0; b < B; ++b) e["loss.td_max"] = std::max(e["loss.td_max"], static_cast<double>(s.td[b]));
  e["optimiser.gradient_norm_raw"] = s.gradient_norm[0];
  e["optimiser.gradient_norm_clipped"] = s.gradient_norm[0] * s.gradient_norm[1];
  e["optimiser.lr"] = c.settings.lr;
  e["optimiser.tau"] = c.tau;
  e["optimiser.adam_t"] = c.adam_t;
  e["optimiser.parameter_norm"] = std::sqrt(tile_total(s, &TileSums::parameter));
  e["optimiser.update_ratio"] = update_ratio(s);
  e["optimiser.weight_decay"] = c.settings.weight_decay;
  e["optimiser.depth_keep"] = c.settings.depth_keep;

  const int count = B * 13;
  const double q = mean(count, [&](int i) { return static_cast<double>(s.q[i]); });
  e["q.mean"] = q;
  e["q.std"] = std::sqrt(mean(count, [&](int i) { return (s.q[i] - q) * (s.q[i] - q); }));
  e["q.min"] = *std::min_element(&s.q[0], &s.q[0] + count);
  e["q.max"] = *std::max_element(&s.q[0], &s.q[0] + count);
  for (int d = 0; d < 4; ++d) {
    const std::string b = kBranch[d];
    e["q.mean." + b] = q_mean(s, d);
    e["q.gap." + b] = gap(s, d);
    double largest = 0;
    for (int i = 0; i < B; ++i)
      for (int a = 0; a < kActionCount[d]; ++a)
        largest = std::max(largest, std::abs(static_cast<double>(s.q[i * 13 + kFirstAction[d] + a])));
    e["q.abs_max." + b] = largest;
    e["q.advantage_spread." + b] = mean(B, [&](int i) {
      const float* x = &s.q[i * 13 + kFirstAction[d]];
      const double m = mean(kActionCount[d], [&](int a) { return static_cast<double>(x[a]); });
      return std::sqrt(mean(kActionCount[d], [&](int a) { return (x[a] - m) * (x[a] - m); }));
    });
  }
  e["distribution.atom_entropy"] = atom_entropy(s);
  e["distribution.atom_utilisation"] = atom_utilisation(s);
  e["distribution.mass_low"] =
      mean(B * 4, [&](int i) { return static_cast<double>(s.probabilities[atom_row(s, i / 4, i % 4)]); });
  e["distribution.mass_high"] = mean(
      B * 4, [&](int i) { return static_cast<double>(s.probabilities[atom_row(s, i / 4, i % 4) + s.n.atoms - 1]); });
  e["distribution.iqn_spread"] = mean(B * 4, [&](int i) {
    const int column = chosen(s, i / 4, i % 4);
    return quantile(s, i / 4, column, 0.9) - quantile(s, i / 4, column, 0.1);
  });
  e["distribution.iqn_readiness"] = c.iqn_readiness;
  e["distribution.ensemble_disagreement"] = mean(count, [&](int i) {
    const double iqn = mean(s.n.taus, [&](int t) {
      return static_cast<double>(s.quantiles[(static_cast<std::size_t>(i / 13) * s.n.taus + t) * 13 + i % 13]);
    });
    return std::abs(s.q[i] - iqn);
  });
  e["distribution.support_width"] =
      mean(4, [&](int d) { return static_cast<double>(c.settings.v_max[d]) - c.settings.v_min[d]; });

  std::vector<int> trading;
  for (int b = 0; b < B; ++b)
    if (s.action[b * 4] == 0 || s.action[b * 4] == 2) trading.push_back(b);  // Short, Long
  const int traded = static_cast<int>(trading.size());
  for (int m = 0; m < 3; ++m) {
    const std::string k = kSize[m];
    const auto value = [&](int i) {
      return static_cast<double>(s.q[trading[static_cast<std::size_t>(i)] * 13 + 4 + m]);
    };
    const double centre = traded ? mean(traded, value) : 0;
    e["q_by_magnitude.mean." + k] = centre;
    e["q_by_magnitude.share." + k] =
        traded ? mean(traded,
                      [&](int i) { return s.action[trading[static_cast<std::size_t>(i)] * 4 + 1] == m ? 1.0 : 0.0; })
               : 0;
    e["q_by_magnitude.variance." + k] =
        traded ? mean(traded, [&](int i) { return (value(i) - centre) * (value(i) - centre); }) : 0;
  }
  for (int a = 0; a < 13; ++a) e[std::string("training_action.") + kAction[a]] = action_share(s, a);
  e["replay.size"] = c.replay_size;
  e["replay.priority_mean"] = mean(B, [&](int b) { return static_cast<double>(s.priority[b]); });
  e["replay.priority_max"] = c.max_priority;
  e["replay.effective_samples"] = effective(s);
  e["replay.weight_min"] = *std::min_element(&s.weight[0], &s.weight[0] + B);
  e["replay.weight_mean"] = mean(B, [&](int b) { return static_cast<double>(s.weight[b]); });
  e["replay.beta"] = c.beta;
  e["replay.age_mean"] = mean(B, [&](int b) { return age(s, b); });
  e["scale.variance"] =
      mean(B * 4, [&](int i) { return static_cast<double>(s.q_variance[i / 4 * 13 + chosen(s, i / 4, i % 4)]); });
  e["safety.nan_flags"] = c.nan_flags;
  return e;
}

}  // namespace foxhunt::test
