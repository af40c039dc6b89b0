// Every loss of a row against the reference's formulas in plain double loops, and its gradients against finite
// differences of those loops; then the batch sums and the priorities. Expected Q and projection likewise.
#include <functional>

#include "tests/kernels/kernel_rig.h"

namespace foxhunt::kernels::test {
namespace {

std::size_t at(int64_t i) {
  return static_cast<std::size_t>(i);
}
using Row = std::vector<double>;

// Random outputs of the networks for B rows. L = D + 1 layers.
struct Problem {
  int batch, atoms, taus, width, wide, aux_stride = 7, d_stride = 9;
  std::vector<int> counts, first;
  int actions = 0, largest = 0;
  Control control{};
  std::vector<float> heads, target, quantiles, target_quantiles, levels, iql_hidden, params, aux, reward, discount,
      weight, labels;
  std::vector<int32_t> action;
  BranchSizes sizes{};

  Problem(int b, int z, int t, std::vector<int> a, uint32_t seed)
      : batch(b), atoms(z), taus(t), width(11), counts(std::move(a)) {
    for (const int n : counts) {
      const auto d = first.size();
      sizes.count[d] = n, sizes.first[d] = actions;
      first.push_back(actions), actions += n, largest = std::max(largest, n);
    }
    sizes.branches = branches(), sizes.atoms = z, sizes.actions = actions;
    wide = (largest * z + 3) / 4 * 4;
    const int layers = branches() + 1;
    heads = normals(at(static_cast<int64_t>(layers) * 2 * b * wide), seed);
    target = normals(at(static_cast<int64_t>(layers) * b * wide), seed + 1);
    quantiles = normals(at(b * t * actions), seed + 2, 2), target_quantiles = normals(at(b * t * actions), seed + 3, 2);
    for (int i = 0; i < t; ++i) levels.push_back((static_cast<float>(i) + 0.5f) / static_cast<float>(t));
    iql_hidden = normals(at(b * 2 * width), seed + 4), params = normals(at(3 + 2 * width + 2), seed + 5);
    aux = normals(at(b * aux_stride), seed + 6);
    reward = normals(at(b * branches()), seed + 7, 3), discount = normals(at(b * branches()), seed + 8, 0.1f);
    weight = normals(at(b), seed + 9), labels = normals(at(b * 4), seed + 10);
    for (float& x : discount) x = 0.9f + std::min(x, 0.09f);
    discount[0] = 0;                  // an end: the projection is a spike
    reward[1] = 40, reward[2] = -40;  // beyond the support
    for (float& x : weight) x = 0.5f + std::abs(x);
    for (int i = 0; i < b; ++i) {
      labels[at(4 * i + 1)] = static_cast<float>(i % 3);
      for (int d = 0; d < branches(); ++d) action.push_back((i + d) % counts[at(d)]);
    }
    Settings& s = control.settings;
    s.weight_iqn = 0.6f, s.weight_iql = 0.8f, s.weight_cql = 0.3f, s.weight_aux = 0.2f;
    s.expectile_high = 0.75f, s.expectile_low = 0.3f, s.huber_kappa = 0.9f;
    control.c51_alpha = 0.35f;
    for (int d = 0; d < branches(); ++d)
      s.v_min[d] = -6.0f - static_cast<float>(d), s.v_max[d] = 6.0f + static_cast<float>(d);
  }
  int branches() const { return static_cast<int>(counts.size()); }
  double z(int d, int k) const {
    const double low = control.settings.v_min[d], high = control.settings.v_max[d];
    return low + (high - low) * k / (atoms - 1);
  }
  // Heads of one row out of [layers, rows, wide], one layer after another.
  Row row_of(const std::vector<float>& all, int rows, int r) const {
    Row out;
    for (int l = 0; l <= branches(); ++l)
      for (int i = 0; i < wide; ++i) out.push_back(all[at((static_cast<int64_t>(l) * rows + r) * wide + i)]);
    return out;
  }
  // Probabilities of action a of branch d.
  Row probabilities(const Row& h, int d, int a) const {
    Row l;
    for (int k = 0; k < atoms; ++k) {
      double mean = 0;
      for (int i = 0; i < counts[at(d)]; ++i) mean += h[at((1 + d) * wide + i * atoms + k)] / counts[at(d)];
      l.push_back(h[at(k)] + h[at((1 + d) * wide + a * atoms + k)] - mean);
    }
    return softmax(l);
  }
  double expectation(const Row& p, int d) const {
    double q = 0;
    for (int k = 0; k < atoms; ++k) q += p[at(k)] * z(d, k);
    return q;
  }
  // Written as a triangular kernel, as the reference is.
  Row project(const Row& p, int d, double r, double g) const {
    const double low = control.settings.v_min[d], high = control.settings.v_max[d], dz = (high - low) / (atoms - 1);
    Row m(p.size());
    for (int j = 0; j < atoms; ++j) {
      const double t = std::clamp(r + g * z(d, j), low, high);
      for (int k = 0; k < atoms; ++k) m[at(k)] += p[at(j)] * std::max(0.0, 1 - std::abs(t - z(d, k)) / dz);
    }
    return m;
  }
};

struct Terms {
  double c51 = 0, mse = 0, iqn = 0, cql = 0, td = 0, q_taken = 0, high = 0, low = 0, aux_return = 0, aux_direction = 0,
         aux_volatility = 0;
  Row q, variance, q_next, probabilities, projected;
  std::vector<int> greedy;
  double total(const Problem& p, int b) const {
    const Settings& s = p.control.settings;
    const double w = p.weight[at(b)], alpha = p.control.c51_alpha;
    return (w * ((1 - alpha) * mse + alpha * c51 + s.weight_iqn * iqn) + s.weight_iql * (high + low) +
            s.weight_cql * cql + s.weight_aux * (aux_return + aux_direction + aux_volatility)) /
           p.batch;
  }
};

// What the row's loss depends on.
struct Outputs {
  Row heads, quantiles, v, aux;
};

Outputs outputs_of(const Problem& p, int b) {
  Outputs o{p.row_of(p.heads, 2 * p.batch, b), {}, {}, {}};
  for (int i = 0; i < p.taus * p.actions; ++i) o.quantiles.push_back(p.quantiles[at(b * p.taus * p.actions + i)]);
  for (int k = 0; k < 2; ++k) {
    double v = p.params[at(3 + 2 * p.width + k)];
    for (int i = 0; i < p.width; ++i)
      v += static_cast<double>(p.iql_hidden[at((b * 2 + k) * p.width + i)]) * p.params[at(3 + k * p.width + i)];
    o.v.push_back(v);
  }
  for (int i = 0; i < 5; ++i) o.aux.push_back(p.aux[at(b * p.aux_stride + i)]);
  return o;
}

void branch_terms(const Problem& p, int b, int d, const Outputs& o, Terms& t) {
  const int n = p.branches(), a = p.action[at(b * n + d)], A = p.actions;
  const double r = p.reward[at(b * n + d)], g = p.discount[at(b * n + d)];
  const Row next = p.row_of(p.heads, 2 * p.batch, p.batch + b), target = p.row_of(p.target, p.batch, b);
  int best = 0;
  Row q_next, q;
  for (int k = 0; k < p.counts[at(d)]; ++k) {
    q_next.push_back(p.expectation(p.probabilities(next, d, k), d));
    if (q_next[at(k)] > q_next[at(best)]) best = k;
    const Row pk = p.probabilities(o.heads, d, k);
    q.push_back(p.expectation(pk, d));
    double variance = 0;
    for (int z = 0; z < p.atoms; ++z) variance += pk[at(z)] * std::pow(p.z(d, z) - q.back(), 2);
    t.variance.push_back(variance);
  }
  const Row tp = p.probabilities(target, d, best), m = p.project(tp, d, r, g), pa = p.probabilities(o.heads, d, a);
  const double y = std::clamp(r + g * p.expectation(tp, d), static_cast<double>(p.control.settings.v_min[d]),
                              static_cast<double>(p.control.settings.v_max[d]));
  double cross = 0, sum = 0;
  for (int z = 0; z < p.atoms; ++z) cross -= m[at(z)] * std::log(pa[at(z)]);
  for (const double x : q) sum += std::exp(x);
  t.c51 += cross / n;
  t.mse += 0.5 * std::pow(q[at(a)] - y, 2) / n;
  t.td += std::abs(q[at(a)] - y) / n;
  t.q_taken += q[at(a)] / n;
  t.cql += (std::log(sum) - q[at(a)]) / n;
  const double kappa = p.control.settings.huber_kappa;
  for (int i = 0; i < p.taus; ++i)
    for (int j = 0; j < p.taus; ++j) {
      const double u = r + g * p.target_quantiles[at((b * p.taus + j) * A + p.first[at(d)] + best)] -
                       o.quantiles[at(i * A + p.first[at(d)] + a)];
      const double huber = std::abs(u) <= kappa ? 0.5 * u * u : kappa * (std::abs(u) - 0.5 * kappa);
      t.iqn += std::abs(p.levels[at(i)] - (u < 0 ? 1.0 : 0.0)) * huber / kappa / (p.taus * p.taus) / n;
    }
  t.greedy.push_back(best);
  t.q.insert(t.q.end(), q.begin(), q.end());
  t.q_next.insert(t.q_next.end(), q_next.begin(), q_next.end());
  t.probabilities.insert(t.probabilities.end(), pa.begin(), pa.end());
  t.projected.insert(t.projected.end(), m.begin(), m.end());
}

// q_taken takes no gradient in the expectile terms: NaN stands for its own value.
Terms terms_of(const Problem& p, int b, const Outputs& o, double q_taken) {
  Terms t;
  for (int d = 0; d < p.branches(); ++d) branch_terms(p, b, d, o, t);
  const double q = std::isnan(q_taken) ? t.q_taken : q_taken;
  const auto expectile = [&](double v, double level) {
    return std::abs(level - (q - v < 0 ? 1.0 : 0.0)) * (q - v) * (q - v);
  };
  t.high = expectile(o.v[0], p.control.settings.expectile_high),
  t.low = expectile(o.v[1], p.control.settings.expectile_low);
  const float* label = p.labels.data() + 4 * b;
  t.aux_return = std::pow(o.aux[0] - label[0], 2), t.aux_volatility = std::pow(o.aux[4] - label[2], 2);
  const Row s = softmax({o.aux[1], o.aux[2], o.aux[3]});
  t.aux_direction = -std::log(s[at(static_cast<int>(label[1]))]);
  return t;
}

struct Case {
  int batch, atoms, taus;
  std::vector<int> counts;
};

class LossKernels : public ::testing::TestWithParam<Case> {
 protected:
  Problem problem(uint32_t seed) const {
    const Case& c = GetParam();
    return Problem(c.batch, c.atoms, c.taus, c.counts, seed);
  }
};
INSTANTIATE_TEST_SUITE_P(Sizes, LossKernels, ::testing::Values(Case{13, 21, 5, {5, 2, 4, 3}}, Case{9, 34, 3, {2, 7}}));

// Gradient of the row's total by central differences.
Row slopes(const std::function<double()>& total, Row& x) {
  Row out;
  for (double& v : x) {
    const double keep = v;
    v = keep + 1e-5;
    const double up = total();
    v = keep - 1e-5;
    out.push_back((up - total()) / 2e-5);
    v = keep;
  }
  return out;
}

TEST_P(LossKernels, EveryTermAndItsGradient) {
  Problem p = problem(101);
  const int B = p.batch, D = p.branches(), Z = p.atoms, A = p.actions, T = p.taus, L = D + 1;
  Guarded<float> d_heads(at(L * B * p.wide)), d_quantiles(at(B * T * A)), d_iql(at(2 * B)), d_aux(at(B * p.d_stride)),
      q(at(B * A)), variance(at(B * A)), q_next(at(B * A)), probabilities(at(B * D * Z)), projected(at(B * D * Z)),
      td(at(B)), q_taken(at(B)), iql(at(2 * B)), rows(at(B * kRowLosses));
  Guarded<int32_t> greedy(at(B * D));
  d_heads.fill(0), d_aux.fill(0);
  RowLossesArgs a{};
  a.params = p.params.data(), a.control = &p.control, a.heads = p.heads.data(), a.target_heads = p.target.data();
  a.quantiles = p.quantiles.data(), a.target_quantiles = p.target_quantiles.data(), a.taus = p.levels.data();
  a.iql_hidden = p.iql_hidden.data(), a.aux_output = p.aux.data(), a.action = p.action.data(),
  a.reward = p.reward.data();
  a.discount = p.discount.data(), a.weight = p.weight.data(), a.aux_label = p.labels.data();
  a.iql_weight = 3, a.iql_bias = 3 + 2 * p.width;
  a.d_heads = d_heads, a.d_quantiles = d_quantiles, a.d_iql = d_iql, a.d_aux = d_aux, a.q = q, a.q_variance = variance,
  a.q_next = q_next;
  a.greedy = greedy, a.probabilities = probabilities, a.projected = projected, a.td = td, a.q_taken = q_taken,
  a.iql = iql, a.row_terms = rows;
  a.sizes = p.sizes, a.batch = B, a.wide = p.wide, a.taus_count = T, a.iql_hidden_width = p.width,
  a.aux_stride = p.aux_stride;
  a.d_aux_stride = p.d_stride, a.huge_branch = p.largest;
  for (int turn = 0; turn < 2; ++turn) run(a, static_cast<uint32_t>(B));  // overwritten, not accumulated
  for (int b = 0; b < B; ++b) {
    SCOPED_TRACE(b);
    Outputs o = outputs_of(p, b);
    const Terms t = terms_of(p, b, o, std::nan(""));
    const double want[kRowLosses] = {t.c51, t.mse,        t.iqn,           t.high,          t.low,
                                     t.cql, t.aux_return, t.aux_direction, t.aux_volatility};
    for (int k = 0; k < kRowLosses; ++k)
      ASSERT_NEAR(rows[at(b * kRowLosses + k)], want[k], 1e-5 * (1 + want[k])) << "term " << k;
    ASSERT_NEAR(td[at(b)], t.td, 1e-5 * (1 + t.td));
    ASSERT_NEAR(q_taken[at(b)], t.q_taken, 1e-5);
    for (int k = 0; k < A; ++k) {
      ASSERT_NEAR(q[at(b * A + k)], t.q[at(k)], 1e-5);
      ASSERT_NEAR(variance[at(b * A + k)], t.variance[at(k)], 1e-4);
      ASSERT_NEAR(q_next[at(b * A + k)], t.q_next[at(k)], 1e-5);
    }
    for (int k = 0; k < D; ++k) ASSERT_EQ(greedy[at(b * D + k)], t.greedy[at(k)]);
    for (int k = 0; k < D * Z; ++k) {
      ASSERT_NEAR(probabilities[at(b * D * Z + k)], t.probabilities[at(k)], 1e-6);
      ASSERT_NEAR(projected[at(b * D * Z + k)], t.projected[at(k)], 2e-6);
    }
    for (int k = 0; k < 2; ++k) ASSERT_NEAR(iql[at(2 * b + k)], o.v[at(k)], 1e-5);
    const auto total = [&] { return terms_of(p, b, o, t.q_taken).total(p, b); };
    const Row g_heads = slopes(total, o.heads), g_quantiles = slopes(total, o.quantiles), g_v = slopes(total, o.v),
              g_aux = slopes(total, o.aux);
    for (int l = 0; l < L; ++l)
      for (int i = 0; i < p.wide; ++i)
        ASSERT_NEAR(d_heads[at((l * B + b) * p.wide + i)], g_heads[at(l * p.wide + i)], 2e-6)
            << "layer " << l << " " << i;
    for (int i = 0; i < T * A; ++i) ASSERT_NEAR(d_quantiles[at(b * T * A + i)], g_quantiles[at(i)], 1e-6) << i;
    for (int i = 0; i < 2; ++i) ASSERT_NEAR(d_iql[at(2 * b + i)], g_v[at(i)], 1e-5);
    for (int i = 0; i < p.d_stride; ++i)
      ASSERT_NEAR(d_aux[at(b * p.d_stride + i)], i < 5 ? g_aux[at(i)] : 0.0, 1e-6) << i;
  }
}

TEST_P(LossKernels, BatchSumsOfTwoBatches) {
  const Case& c = GetParam();
  const int B = c.batch, E = 5;
  for (int turn = 0; turn < 2; ++turn) {
    const auto seed = static_cast<uint32_t>(110 + turn);
    const auto rows = normals(at(B * kRowLosses), seed), weight = normals(at(B), seed + 10),
               logits = normals(at(B * E), seed + 20);
    std::vector<float> gates;
    for (int b = 0; b < B; ++b)
      for (const double g : softmax({logits.begin() + b * E, logits.begin() + (b + 1) * E}))
        gates.push_back(static_cast<float>(g));
    Control control{};
    Settings& s = control.settings;
    s.weight_iqn = 0.6f, s.weight_iql = 0.8f, s.weight_cql = 0.3f, s.weight_aux = 0.2f;
    control.c51_alpha = 0.25f, control.moe_lambda_now = 0.7f;
    Guarded<double> losses(kLossTerms), entropy(1);
    Guarded<float> importance(E);
    run(FinishLossesArgs{&control, rows.data(), weight.data(), gates.data(), losses, entropy, importance, B, E}, 1);
    Row mean(kRowLosses), share(E);
    double h = 0, balance = 0;
    for (int b = 0; b < B; ++b) {
      for (int k = 0; k < kRowLosses; ++k)
        mean[at(k)] += static_cast<double>(rows[at(b * kRowLosses + k)]) * (k <= row_iqn ? weight[at(b)] : 1.0) / B;
      for (int e = 0; e < E; ++e) {
        const double g = gates[at(b * E + e)];
        share[at(e)] += g / B;
        h -= g * std::log(g) / B;
      }
    }
    for (const double x : share) balance += E * x * x;
    const double aux = mean[row_aux_return] + mean[row_aux_direction] + mean[row_aux_volatility];
    const double total = 0.75 * mean[row_mse] + 0.25 * mean[row_c51] + s.weight_iqn * mean[row_iqn] +
                         s.weight_iql * (mean[row_iql_high] + mean[row_iql_low]) + s.weight_cql * mean[row_cql] +
                         s.weight_aux * aux + control.moe_lambda_now * balance;
    const double want[kLossTerms] = {total,
                                     mean[row_c51],
                                     mean[row_mse],
                                     mean[row_iqn],
                                     mean[row_iql_high],
                                     mean[row_iql_low],
                                     mean[row_cql],
                                     mean[row_aux_return],
                                     mean[row_aux_direction],
                                     mean[row_aux_volatility],
                                     balance};
    for (int k = 0; k < kLossTerms; ++k) EXPECT_NEAR(losses[at(k)], want[k], 1e-6 * (1 + std::abs(want[k]))) << k;
    EXPECT_NEAR(entropy[0], h, 1e-6);
    for (int e = 0; e < E; ++e) EXPECT_NEAR(importance[at(e)], share[at(e)], 1e-6);
    EXPECT_NEAR(control.last_mse, mean[row_mse], 1e-6);
    EXPECT_NEAR(control.last_iqn, mean[row_iqn], 1e-6);
    EXPECT_NEAR(control.last_entropy, h, 1e-6);
    control.halt = kHaltNan, control.last_mse = control.last_iqn = control.last_entropy = 5;
    run(FinishLossesArgs{&control, rows.data(), weight.data(), gates.data(), losses, entropy, importance, B, E}, 1);
    EXPECT_EQ(control.last_mse, 5.0f);
    EXPECT_EQ(control.last_iqn, 5.0f);
    EXPECT_EQ(control.last_entropy, 5.0f);
  }
}

TEST(Priorities, ModulatedByTheAdvantage) {
  for (const int B : {1, 257, 301}) {
    Control control{};
    Settings& s = control.settings;
    s.iql_kappa = 0.5f, s.per_epsilon = 1e-3f, s.per_alpha = 0.6f;
    auto td = normals(at(B), 120), regime = normals(at(B), 121);
    const auto q = normals(at(B), 122, 4), iql = normals(at(2 * B), 123, 2);
    for (float& x : td) x = std::abs(x);
    for (float& x : regime) x = 0.75f + std::abs(x);
    td[0] = 0;
    Guarded<float> out(at(B));
    run(ModulatePrioritiesArgs{&control, td.data(), regime.data(), q.data(), iql.data(), out, B}, tiles(B, 256));
    for (int b = 0; b < B; ++b) {
      const double high = iql[at(2 * b)], low = iql[at(2 * b + 1)];
      const double m = std::clamp(std::exp(0.5 * (q[at(b)] - high) / (std::abs(high - low) + 1)), 0.5, 2.0);
      const double want = std::pow(static_cast<double>(td[at(b)]) * regime[at(b)] * m + 1e-3, 0.6);
      ASSERT_NEAR(out[at(b)], want, 3e-6 * (1 + want)) << b;
    }
  }
}

TEST_P(LossKernels, ExpectedQ) {
  const Problem p = problem(130);
  const int R = 2 * p.batch;
  Guarded<float> q(at(R * p.actions)), variance(at(R * p.actions));
  run(ExpectedQArgs{p.heads.data(), &p.control, q, variance, p.sizes, R, p.wide}, tiles(R, kRowTile));
  for (int r = 0; r < R; ++r)
    for (int d = 0; d < p.branches(); ++d)
      for (int a = 0; a < p.counts[at(d)]; ++a) {
        const Row pa = p.probabilities(p.row_of(p.heads, R, r), d, a);
        const double mean = p.expectation(pa, d);
        double v = 0;
        for (int z = 0; z < p.atoms; ++z) v += pa[at(z)] * std::pow(p.z(d, z) - mean, 2);
        ASSERT_NEAR(q[at(r * p.actions + p.first[at(d)] + a)], mean, 1e-5);
        ASSERT_NEAR(variance[at(r * p.actions + p.first[at(d)] + a)], v, 1e-4);
      }
}

// Mass is kept, an atom hit exactly keeps its whole mass, edges take what lies beyond; every branch's support.
TEST_P(LossKernels, Projection) {
  const Problem p = problem(140);
  const int R = 17, Z = p.atoms;
  std::vector<float> probabilities, reward = normals(at(R), 141, 4), discount(at(R), 0.97f);
  for (int r = 0; r < R; ++r) {
    const auto logits = normals(at(Z), static_cast<uint32_t>(150 + r), 2);
    for (const double x : softmax({logits.begin(), logits.end()})) probabilities.push_back(static_cast<float>(x));
  }
  reward[0] = 0, discount[0] = 1;  // the identity
  reward[1] = 1000, reward[2] = -1000, discount[3] = 0;
  for (int d = 0; d < p.branches(); ++d) {
    Guarded<float> out(probabilities.size());
    run(ProjectRowsArgs{probabilities.data(), reward.data(), discount.data(), &p.control, out, R, Z, d},
        tiles(R, kRowTile));
    for (int r = 0; r < R; ++r) {
      const Row want = p.project({probabilities.begin() + r * Z, probabilities.begin() + (r + 1) * Z}, d, reward[at(r)],
                                 discount[at(r)]);
      for (int z = 0; z < Z; ++z)
        ASSERT_NEAR(out[at(r * Z + z)], want[at(z)], 2e-6) << "branch " << d << " row " << r << " atom " << z;
    }
    EXPECT_NEAR(out[at(2 * Z - 1)], 1, 1e-5);
    EXPECT_NEAR(out[at(2 * Z)], 1, 1e-5);
  }
}

// A reward that is no number stays visible.
TEST(Projection, ShowsANan) {
  Control control{};
  control.settings.v_min[0] = -1, control.settings.v_max[0] = 1;
  const std::vector<float> p{0.25f, 0.5f, 0.25f}, r{std::nanf("")}, g{0.9f};
  Guarded<float> out(3);
  run(ProjectRowsArgs{p.data(), r.data(), g.data(), &control, out, 1, 3, 0}, 1);
  EXPECT_TRUE(std::isnan(out[0]) || std::isnan(out[1]) || std::isnan(out[2]));
}

}  // namespace
}  // namespace foxhunt::kernels::test
