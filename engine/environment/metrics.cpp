// Evaluation metrics: formulas of the reference environment.
#include "engine/environment/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "engine/base/error.h"

namespace foxhunt {
namespace {

template <std::size_t N>
double polynomial(const double (&c)[N], double x) {  // highest power first
  double y = c[0];
  for (std::size_t i = 1; i < N; ++i) y = y * x + c[i];
  return y;
}

struct Moments {
  double mean = 0, square = 0, cube = 0, fourth = 0, down = 0;  // sums of powers about the mean; squared losses
};

Moments moments_of(std::span<const double> r) {
  Moments m;
  for (double x : r) m.mean += x;
  m.mean /= static_cast<double>(r.size());
  for (double x : r) {
    const double d = x - m.mean, loss = std::min(x, 0.0);
    m.square += d * d;
    m.cube += d * d * d;
    m.fourth += d * d * d * d;
    m.down += loss * loss;
  }
  return m;
}

// Annualised ratios, probabilistic and deflated Sharpe ratio (Bailey and Lopez de Prado 2012, 2014).
void add_ratios(std::span<const double> returns, const MetricsInput& in, Metrics& out) {
  const double n = static_cast<double>(returns.size());
  if (returns.size() < 2 || in.seconds <= 0) return;
  const double per_year = n / (in.seconds / (365.25 * 86400));
  out.bars_per_year = per_year;
  const Moments m = moments_of(returns);
  const double down = std::sqrt(m.down / n);
  if (down > 0) out.sortino = m.mean / down * std::sqrt(per_year);
  const double variance = m.square / (n - 1);
  if (!(variance > 0)) return;
  const double sr = m.mean / std::sqrt(variance), sd = std::sqrt(m.square / n);
  out.bar_sharpe = sr;
  out.sharpe = sr * std::sqrt(per_year);
  const double skew = m.cube / n / (sd * sd * sd), kurtosis = m.fourth / n / (sd * sd * sd * sd);
  const double width = std::sqrt(std::max(1e-12, 1 - skew * sr + (kurtosis - 1) / 4 * sr * sr));
  out.psr = normal_cdf(sr * std::sqrt(n - 1) / width);
  double best = 0;
  if (in.trials > 1) {
    constexpr double kEuler = 0.5772156649015329;
    const double trials = static_cast<double>(in.trials);
    best = std::sqrt(in.trial_variance) * ((1 - kEuler) * normal_quantile(1 - 1 / trials) +
                                           kEuler * normal_quantile(1 - 1 / (trials * std::numbers::e)));
  }
  out.dsr = normal_cdf((sr - best) * std::sqrt(n - 1) / width);
}

}  // namespace

double normal_cdf(double x) {
  return 0.5 * (1 + std::erf(x / std::numbers::sqrt2));
}

double normal_quantile(double p) {
  static constexpr double a[] = {2.50908'09287'30122'6727e+3, 3.34305'75583'58812'8105e+4, 6.72657'70927'00870'0853e+4,
                                 4.59219'53931'54987'1457e+4, 1.37316'93765'50946'1125e+4, 1.97159'09503'06551'4427e+3,
                                 1.33141'66789'17843'7745e+2, 3.38713'28727'96366'6080e+0};
  static constexpr double b[] = {5.22649'52788'52854'5610e+3, 2.87290'85735'72194'2674e+4,
                                 3.93078'95800'09271'0610e+4, 2.12137'94301'58659'5867e+4,
                                 5.39419'60214'24751'1077e+3, 6.87187'00749'20579'0830e+2,
                                 4.23133'30701'60091'1252e+1, 1.0};
  static constexpr double c[] = {7.74545'01427'83414'07640e-4, 2.27238'44989'26918'45833e-2,
                                 2.41780'72517'74506'11770e-1, 1.27045'82524'52368'38258e+0,
                                 3.64784'83247'63204'60504e+0, 5.76949'72214'60691'40550e+0,
                                 4.63033'78461'56545'29590e+0, 1.42343'71107'49683'57734e+0};
  static constexpr double d[] = {1.05075'00716'44416'84324e-9, 5.47593'80849'95344'94600e-4,
                                 1.51986'66563'61645'71966e-2, 1.48103'97642'74800'74590e-1,
                                 6.89767'33498'51000'04550e-1, 1.67638'48301'83803'84940e+0,
                                 2.05319'16266'37758'82187e+0, 1.0};
  static constexpr double e[] = {2.01033'43992'92288'13265e-7, 2.71155'55687'43487'57815e-5,
                                 1.24266'09473'88078'43860e-3, 2.65321'89526'57612'30930e-2,
                                 2.96560'57182'85048'91230e-1, 1.78482'65399'17291'33580e+0,
                                 5.46378'49111'64114'36990e+0, 6.65790'46435'01103'77720e+0};
  static constexpr double f[] = {2.04426'31033'89939'78564e-15, 1.42151'17583'16445'88870e-7,
                                 1.84631'83175'10054'68180e-5,  7.86869'13114'56132'59100e-4,
                                 1.48753'61290'85061'48525e-2,  1.36929'88092'27358'05310e-1,
                                 5.99832'20655'58879'37690e-1,  1.0};
  FH_CHECK(p > 0 && p < 1, "quantile of the normal distribution at {}", p);
  const double q = p - 0.5;
  if (std::abs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return polynomial(a, r) * q / polynomial(b, r);
  }
  const double r = std::sqrt(-std::log(q <= 0 ? p : 1 - p));
  const double x =
      r <= 5 ? polynomial(c, r - 1.6) / polynomial(d, r - 1.6) : polynomial(e, r - 5) / polynomial(f, r - 5);
  return q < 0 ? -x : x;
}

Metrics compute_metrics(const MetricsInput& in) {
  FH_CHECK(!in.equity.empty(), "metrics of an empty equity curve");
  std::vector<double> returns;
  for (std::size_t i = 1; i < in.equity.size(); ++i) returns.push_back((in.equity[i] - in.equity[i - 1]) / in.capital);
  Metrics out;
  double peak = -std::numeric_limits<double>::infinity();
  std::int64_t under = 0;
  for (double x : in.equity) {
    under = x >= peak ? 0 : under + 1;
    peak = std::max(peak, x);
    out.max_drawdown = std::max(out.max_drawdown, peak - x);
    out.max_drawdown_bars = std::max(out.max_drawdown_bars, under);
  }
  double gains = 0, losses = 0, wins = 0, held = 0;
  for (double x : in.trades) {
    if (x > 0) gains += x, wins += 1;
    if (x < 0) losses -= x;
  }
  for (auto hold : in.holds) held += static_cast<double>(hold);
  out.net = in.equity.back();
  out.return_on_capital = out.net / in.capital;
  out.trades = static_cast<std::int64_t>(in.trades.size());
  if (!in.trades.empty()) out.hit_rate = wins / static_cast<double>(in.trades.size());
  if (losses > 0) out.profit_factor = gains / losses;
  if (!in.holds.empty()) out.mean_hold = held / static_cast<double>(in.holds.size());
  out.turnover = in.contracts * in.mean_price * in.point_value / in.capital;
  if (!returns.empty()) out.exposure = static_cast<double>(in.exposed_bars) / static_cast<double>(returns.size());
  out.costs = in.costs;
  const double gross = out.net + in.costs;
  if (gross > 0) out.cost_share = in.costs / gross;
  add_ratios(returns, in, out);
  return out;
}

std::vector<std::pair<const char*, std::optional<double>>> metric_values(const Metrics& m) {
  return {{"net", m.net},
          {"return", m.return_on_capital},
          {"max_drawdown", m.max_drawdown},
          {"max_drawdown_bars", static_cast<double>(m.max_drawdown_bars)},
          {"trades", static_cast<double>(m.trades)},
          {"hit_rate", m.hit_rate},
          {"profit_factor", m.profit_factor},
          {"mean_hold", m.mean_hold},
          {"turnover", m.turnover},
          {"exposure", m.exposure},
          {"costs", m.costs},
          {"cost_share", m.cost_share},
          {"bars_per_year", m.bars_per_year},
          {"sharpe", m.sharpe},
          {"sortino", m.sortino},
          {"psr", m.psr},
          {"dsr", m.dsr}};
}

nlohmann::ordered_json metrics_json(const Metrics& m) {
  nlohmann::ordered_json out;
  for (const auto& [name, value] : metric_values(m)) {
    if (!value) {
      out[name] = nullptr;
    } else if (std::isnan(*value)) {
      out[name] = "nan";
    } else if (std::isinf(*value)) {
      out[name] = *value > 0 ? "inf" : "-inf";
    } else {
      out[name] = *value;
    }
  }
  out["max_drawdown_bars"] = m.max_drawdown_bars;
  out["trades"] = m.trades;
  return out;
}

}  // namespace foxhunt
