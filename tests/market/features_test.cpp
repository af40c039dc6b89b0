// Every market feature against a second computation, written from the formulas of features.def in plain loops.
#include "engine/market/features.h"

#include <map>
#include <numbers>
#include <numeric>
#include <set>

#include "engine/market/feature_table.h"
#include "tests/market/market_fixture.h"

namespace foxhunt::market::test {
namespace {

using Series = std::vector<double>;

double mean_of(const Series& x) {
  return x.empty() ? 0 : std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}
double sum_of(const Series& x) {
  return std::accumulate(x.begin(), x.end(), 0.0);
}
double deviation_of(const Series& x) {
  Series squares;
  for (double v : x) squares.push_back((v - mean_of(x)) * (v - mean_of(x)));
  return std::sqrt(mean_of(squares));
}
double over(double a, double b, double neutral = 0) {
  return b > 1e-12 ? a / b : neutral;
}

// First bar of the session of bar t, by the rule of feature_table.h.
int session_of(const MarketTable& m, int t) {
  const Time day = 86'400 * kSecond;
  int start = 0;
  for (int i = 1; i <= t; ++i) {
    const auto k = static_cast<std::size_t>(i);
    if (m.open_time[k] - m.close_time[k - 1] >= 1800 * kSecond) {
      start = i;
      continue;
    }
    bool recent_break = false;
    for (std::size_t j = 1; j <= k; ++j) {
      recent_break |= m.open_time[j] - m.close_time[j - 1] >= 1800 * kSecond && m.open_time[k] - m.open_time[j] <= day;
    }
    if (m.open_time[k] / day != m.open_time[k - 1] / day && !recent_break) start = i;
  }
  return start;
}

// The reference of one row.
class Row {
 public:
  // `sessions`: first bar of each bar's session.
  Row(const MarketTable& m, const std::vector<BarFlow>& flows, const std::vector<int>& sessions, int t)
      : m_(m), flows_(flows), sessions_(sessions), t_(t) {}

  std::map<std::string, double> values() {
    std::map<std::string, double> v;
    prices(v);
    volumes(v);
    technicals(v);
    if (!flows_.empty()) flow(v);
    return v;
  }

 private:
  // f(i) for the n bars up to t, but not before bar `first`.
  Series last(int n, const std::function<double(int)>& f, int first = 0, int t = -1) const {
    if (t < 0) t = t_;
    Series out;
    for (int i = std::max(first, t - n + 1); i <= t; ++i) out.push_back(f(i));
    return out;
  }
  double C(int i) const { return m_.close[static_cast<std::size_t>(i)]; }
  double O(int i) const { return m_.open[static_cast<std::size_t>(i)]; }
  double H(int i) const { return m_.high[static_cast<std::size_t>(i)]; }
  double L(int i) const { return m_.low[static_cast<std::size_t>(i)]; }
  double V(int i) const { return m_.volume[static_cast<std::size_t>(i)]; }
  double d(int i) const { return C(i) - C(i - 1); }
  double atr(int t) const {
    return mean_of(last(
        14, [&](int i) { return i == 0 ? H(0) - L(0) : std::max(H(i), C(i - 1)) - std::min(L(i), C(i - 1)); }, 0, t));
  }
  double root_mean_square(int n) const {
    return std::sqrt(mean_of(last(
        n, [&](int i) { return d(i) * d(i); }, 1)));
  }
  double z(int n, const std::function<double(int)>& f) const {
    const Series x = last(n, f);
    return over(f(t_) - mean_of(x), deviation_of(x));
  }
  int session(int t) const { return sessions_[static_cast<std::size_t>(t)]; }

  void prices(std::map<std::string, double>& v) const {
    const double sigma = deviation_of(last(
                     20, [&](int i) { return d(i); }, 1)),
                 a = atr(t_);
    for (int k : {1, 2, 3, 5, 8, 13, 21, 34, 55}) {
      v["price_change_" + std::to_string(k)] = over(C(t_) - C(std::max(0, t_ - k)), sigma * std::sqrt(k));
    }
    v["open_close"] = over(C(t_) - O(t_), a);
    v["high_low"] = over(H(t_) - L(t_), a);
    v["close_position"] = over(C(t_) - L(t_), H(t_) - L(t_), 0.5);
    for (int n : {20, 50, 100}) {
      v["mean_distance_" + std::to_string(n)] = over(C(t_) - mean_of(last(n, [&](int i) { return C(i); })), a);
    }
    double money = 0, contracts = 0;
    for (int i = session(t_); i <= t_; ++i) {
      money += V(i) * (H(i) + L(i) + C(i)) / 3;
      contracts += V(i);
    }
    v["session_vwap_distance"] = contracts > 0 ? over(C(t_) - money / contracts, a) : 0;
  }

  double slot_ratio() const {
    const auto slot = [&](int i) {
      return (m_.open_time[static_cast<std::size_t>(i)] - m_.open_time[static_cast<std::size_t>(session(i))]) /
             (1800 * kSecond) % 48;
    };
    std::set<int> starts;
    for (int i = 0; i <= t_; ++i) starts.insert(session(i));
    const int here = session(t_);
    // The sixth session start counted back from this one, or the first there is.
    auto first = starts.find(here);
    for (int k = 0; k < 5 && first != starts.begin(); ++k) --first;
    Series same;
    for (int i = *first; i < here; ++i) {
      if (slot(i) == slot(t_)) same.push_back(V(i));
    }
    return same.empty() ? 0 : std::log((1 + V(t_)) / (1 + mean_of(same)));
  }

  void volumes(std::map<std::string, double>& v) const {
    const auto volume = [&](int i) { return V(i); };
    const auto log_volume = [&](int i) { return std::log(1 + V(i)); };
    v["log_volume_z_20"] = z(20, log_volume);
    v["log_volume_z_100"] = z(100, log_volume);
    v["volume_ratio_1_5"] = std::log((1 + V(t_)) / (1 + mean_of(last(5, volume))));
    for (int n : {5, 20}) {
      v["up_volume_share_" + std::to_string(n)] = over(sum_of(last(
                                                           n, [&](int i) { return d(i) > 0 ? V(i) : 0; }, 1)),
                                                       sum_of(last(n, volume, 1)), 0.5);
    }
    for (int n : {5, 20, 60}) v["realised_volatility_" + std::to_string(n)] = root_mean_square(n);
    v["parkinson_20"] =
        std::sqrt(mean_of(last(20, [&](int i) { return (H(i) - L(i)) * (H(i) - L(i)); })) / (4 * std::log(2.0)));
    v["volatility_ratio_5_60"] = over(root_mean_square(5), root_mean_square(60), 1);
    v["atr_ratio_100"] = over(atr(t_), mean_of(last(100, [&](int i) { return atr(i); })), 1);
    v["range_z_20"] = z(20, [&](int i) { return H(i) - L(i); });
    const Series x = last(20, volume, 1), y = last(
                                              20, [&](int i) { return std::abs(d(i)); }, 1);
    double products = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
      products += (x[i] - mean_of(x)) * (y[i] - mean_of(y)) / static_cast<double>(x.size());
    v["volume_volatility_correlation_20"] = over(products, deviation_of(x) * deviation_of(y));
    Series impact;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (x[i] > 0) impact.push_back(y[i] / x[i]);
    }
    v["amihud_20"] = over(mean_of(impact) * mean_of(x), atr(t_));
    v["time_of_day_volume_ratio"] = slot_ratio();
    v["zero_volume_share_20"] = mean_of(last(20, [&](int i) { return V(i) == 0 ? 1.0 : 0.0; }));
  }

  double ema(int n, int t, const std::function<double(int)>& f) const {
    double total = 0, weights = 0;
    for (int i = 0; i < 3 * n && t - i >= 0; ++i) {
      const double w = std::pow(1 - 2.0 / (n + 1), i);
      total += w * f(t - i);
      weights += w;
    }
    return total / weights;
  }

  double directional(int t) const {
    double up = 0, down = 0;
    for (int i = std::max(1, t - 13); i <= t; ++i) {
      const double rise = H(i) - H(i - 1), fall = L(i - 1) - L(i);
      if (rise > fall && rise > 0) up += rise;
      if (fall > rise && fall > 0) down += fall;
    }
    return over(std::abs(up - down), up + down);
  }

  void technicals(std::map<std::string, double>& v) const {
    v["rsi_14"] = over(sum_of(last(
                           14, [&](int i) { return std::max(0.0, d(i)); }, 1)),
                       sum_of(last(
                           14, [&](int i) { return std::abs(d(i)); }, 1)),
                       0.5);
    const auto macd = [&](int t) {
      return ema(12, t, [&](int i) { return C(i); }) - ema(26, t, [&](int i) { return C(i); });
    };
    v["macd_histogram"] = over(macd(t_) - ema(9, t_, macd), atr(t_));
    v["bollinger_z"] = z(20, [&](int i) { return C(i); });
    const Series lows = last(14, [&](int i) { return L(i); }), highs = last(14, [&](int i) { return H(i); });
    const double low = *std::min_element(lows.begin(), lows.end()),
                 high = *std::max_element(highs.begin(), highs.end());
    v["stochastic_k"] = over(C(t_) - low, high - low, 0.5);
    v["adx_14"] = mean_of(last(14, [&](int i) { return directional(i); }));
    const auto t = static_cast<std::size_t>(t_);
    const double hours =
        static_cast<double>(m_.close_time[t] - m_.open_time[static_cast<std::size_t>(session(t_))]) / 3.6e12;
    v["session_sine"] = std::sin(2 * std::numbers::pi * hours / 24);
    v["session_cosine"] = std::cos(2 * std::numbers::pi * hours / 24);
    // 2024-01-08 was a Monday.
    const double days = static_cast<double>(m_.close_time[t] - 1'704'672'000 * kSecond) / 8.64e13;
    v["day_of_week"] = 2 * (days / 7 - std::floor(days / 7)) - 1;
  }

  const BarFlow& F(int i) const { return flows_[static_cast<std::size_t>(i)]; }

  void flow(std::map<std::string, double>& v) const {
    const BarFlow& f = F(t_);
    double total = 0;
    for (int level = 1; level <= 10; ++level) {
      v["ofi_" + std::to_string(level)] = f.ofi[static_cast<std::size_t>(level - 1)];
      total += f.ofi[static_cast<std::size_t>(level - 1)];
    }
    v["integrated_ofi"] = over(total / 10, f.level_depth);
    v["queue_imbalance_mean"] = f.queue_imbalance;
    v["spread_mean"] = f.spread;
    v["mid_volatility"] = std::sqrt(f.mid_variation);
    v["cancel_share"] = over(f.book_cancels, f.book_adds + f.book_cancels + f.book_modifies);
    v["trade_imbalance"] = over(f.buy_volume - f.sell_volume, f.volume);
    v["log_trade_volume"] = std::log(1 + f.volume);
    v["log_trade_count"] = std::log(1 + f.trades);
    v["trade_size_ratio"] = 0;
    if (f.trades > 0) {
      const double usual =
          sum_of(last(20, [&](int i) { return F(i).volume; })) / sum_of(last(20, [&](int i) { return F(i).trades; }));
      v["trade_size_ratio"] = std::log(f.volume / f.trades / usual);
    }
    v["largest_trade_share"] = over(f.largest, f.volume);
    v["vwap_close"] = f.trades > 0 ? over(f.first_price + f.notional / f.volume - C(t_), atr(t_)) : 0;
    v["vpin_50"] = over(sum_of(last(50, [&](int i) { return std::abs(F(i).buy_volume - F(i).sell_volume); })),
                        sum_of(last(50, [&](int i) { return F(i).volume; })));
    const Series q = last(
                     20, [&](int i) { return F(i).buy_volume - F(i).sell_volume; }, 1),
                 y = last(
                     20, [&](int i) { return d(i); }, 1);
    double covariance = 0, variance = 0;
    for (std::size_t i = 0; i < q.size(); ++i) {
      covariance += (q[i] - mean_of(q)) * y[i];
      variance += (q[i] - mean_of(q)) * (q[i] - mean_of(q));
    }
    v["kyle_lambda_20"] = over(covariance, variance);
    book(v);
  }

  void book(std::map<std::string, double>& v) const {
    const BookSnapshot& b = m_.book[static_cast<std::size_t>(t_)];
    for (const char* name : {"queue_imbalance", "depth_imbalance_5", "depth_imbalance_10", "weighted_mid_offset",
                             "spread", "log_depth_bid", "log_depth_ask", "book_slope", "book_present"}) {
      v[name] = 0;
    }
    if (b.bid_levels == 0 || b.ask_levels == 0 || b.bid_price[0] >= b.ask_price[0]) return;
    const auto depth = [](const auto& sizes, std::size_t n) {
      return std::accumulate(sizes.begin(), sizes.begin() + static_cast<long>(n), 0.0);
    };
    const auto share = [](double x, double y) { return (x - y) / (x + y); };
    const double bid = b.bid_price[0], ask = b.ask_price[0], qb = b.bid_size[0], qa = b.ask_size[0],
                 mid = (bid + ask) / 2;
    const double bids = depth(b.bid_size, 10), asks = depth(b.ask_size, 10);
    v["queue_imbalance"] = share(qb, qa);
    v["depth_imbalance_5"] = share(depth(b.bid_size, 5), depth(b.ask_size, 5));
    v["depth_imbalance_10"] = share(bids, asks);
    v["weighted_mid_offset"] = over((bid * qa + ask * qb) / (qa + qb) - mid, atr(t_));
    v["spread"] = ask - bid;
    v["log_depth_bid"] = std::log(1 + bids);
    v["log_depth_ask"] = std::log(1 + asks);
    v["book_slope"] = std::log(1 + (bids / (mid - b.bid_price[static_cast<std::size_t>(b.bid_levels - 1)]) +
                                    asks / (b.ask_price[static_cast<std::size_t>(b.ask_levels - 1)] - mid)) /
                                       2);
    v["book_present"] = 1;
  }

  const MarketTable& m_;
  const std::vector<BarFlow>& flows_;
  const std::vector<int>& sessions_;
  int t_;
};

void compare(const MarketTable& table, const std::vector<BarFlow>& flows) {
  std::vector<int> sessions;
  for (int t = 0; t < table.rows(); ++t) sessions.push_back(session_of(table, t));
  for (int t = 0; t < table.rows(); ++t) {
    auto expected = Row(table, flows, sessions, t).values();
    for (int f = 0; f < kMarketFeatures; ++f) {
      const std::string name(market_features()[static_cast<std::size_t>(f)].name);
      if (flows.empty() && market_features()[static_cast<std::size_t>(f)].group == FeatureGroup::order_flow)
        expected[name] = 0;
      ASSERT_TRUE(expected.contains(name)) << name;
      const double want = expected[name], got = table.features[static_cast<std::size_t>(t * kMarketFeatures + f)];
      ASSERT_NEAR(got, want, 2e-6 * std::max(1.0, std::abs(want))) << name << " of bar " << t;
    }
    ASSERT_EQ(expected.size(), static_cast<std::size_t>(kMarketFeatures));
  }
}

}  // namespace

TEST(Features, HoldTheGroupsInOrder) {
  const auto table = market_features();
  for (std::size_t i = 0; i < table.size(); ++i) {
    const FeatureGroup group = i < 16   ? FeatureGroup::price
                               : i < 32 ? FeatureGroup::volume
                               : i < 40 ? FeatureGroup::technical
                                        : FeatureGroup::order_flow;
    EXPECT_EQ(table[i].group, group) << table[i].name;
    EXPECT_FALSE(table[i].formula.empty() || table[i].unit.empty() || table[i].source.empty()) << table[i].name;
  }
  EXPECT_EQ(table[40].name, "ofi_1");
  EXPECT_EQ(table[71].name, "book_present");
  EXPECT_EQ(feature_look_back(), 113);
}

TEST(Features, EqualASecondComputation) {
  for (const double base : {4800.0, 0.0, -37.5}) {
    MarketTable table = odd_table(260, 11, base);
    const auto flows = odd_flows(table, 12);
    build_features(table, flows);
    compare(table, flows);
  }
}

TEST(Features, OfBarsAloneAreZeroInOrderFlow) {
  MarketTable table = odd_table(180, 5, 100);
  build_features(table, {});
  compare(table, {});
}

TEST(Features, OfAFlatMarketAreNeutral) {
  MarketTable table = odd_table(150, 3, 50);
  for (auto* column : {&table.open, &table.high, &table.low, &table.close}) column->assign(150, 50.0);
  table.volume.assign(150, 0.0);
  build_features(table, {});
  compare(table, {});
  EXPECT_EQ(table.features[149 * kMarketFeatures + f_rsi_14], 0.5F);
  EXPECT_EQ(table.features[149 * kMarketFeatures + f_volatility_ratio_5_60], 1.0F);
  EXPECT_EQ(table.features[149 * kMarketFeatures + f_price_change_5], 0.0F);
}

TEST(Features, LookBackIsAsStated) {
  // Changing bar t - look_back - 1 (its volume and all prices) must leave row t of each feature as it was.
  for (const int t : {150, 200}) {
    MarketTable before = odd_table(220, 21, 4800);
    const auto flows = odd_flows(before, 22);
    MarketTable plain = before;
    build_features(plain, flows);
    std::set<int> lengths;
    for (const auto& info : market_features()) {
      if (info.look_back >= 0) lengths.insert(info.look_back);
    }
    for (const int length : lengths) {
      MarketTable changed = before;
      auto changed_flows = flows;
      for (std::size_t i = 0; i < static_cast<std::size_t>(t - length); ++i) {
        for (auto* column : {&changed.open, &changed.high, &changed.low, &changed.close}) (*column)[i] += 7.25;
        changed.high[i] += 3;
        changed.volume[i] += 50;
        changed_flows[i].buy_volume += 9;
        changed_flows[i].volume += 9;
        changed_flows[i].trades += 2;
        changed_flows[i].ofi[0] += 4;
      }
      build_features(changed, changed_flows);
      for (int f = 0; f < kMarketFeatures; ++f) {
        const auto& info = market_features()[static_cast<std::size_t>(f)];
        if (info.look_back < 0 || info.look_back > length) continue;
        EXPECT_EQ(changed.features[static_cast<std::size_t>(t * kMarketFeatures + f)],
                  plain.features[static_cast<std::size_t>(t * kMarketFeatures + f)])
            << info.name << " reads more than " << info.look_back << " bars back";
      }
    }
  }
}

TEST(Features, SessionsStartAfterBreaksAndAtMidnightWithoutThem) {
  const Time midnight = 1'704'672'000 * kSecond, hour = 3600 * kSecond;
  std::vector<Time> open, close;
  const auto add = [&](Time from, int hours) {
    for (int i = 0; i < hours; ++i) {
      open.push_back(from + i * hour);
      close.push_back(from + (i + 1) * hour);
    }
  };
  add(midnight - hour, 50);  // without a break: sessions at the two midnights
  EXPECT_EQ(session_starts(open, close)[0], 0U);
  EXPECT_EQ(session_starts(open, close)[24], 1U);
  EXPECT_EQ(session_starts(open, close)[25], 25U);
  EXPECT_EQ(session_starts(open, close)[49], 49U);
  open.clear();
  close.clear();
  add(midnight - hour, 23);  // 23:00 to 22:00 with an hour's break, twice
  add(midnight + 23 * hour, 23);
  EXPECT_EQ(session_starts(open, close)[45], 23U);
  EXPECT_EQ(session_starts(open, close)[24], 23U);
}

TEST(Features, ColumnsOfTheTable) {
  MarketTable table = odd_table(200, 31, 10);
  build_features(table, {});
  EXPECT_EQ(table.warm_up, 113);
  for (std::size_t t = 113; t < 200; ++t) {
    double range = 0;
    for (std::size_t i = t - 13; i <= t; ++i) {
      range += std::max(table.high[i], table.close[i - 1]) - std::min(table.low[i], table.close[i - 1]);
    }
    EXPECT_NEAR(table.atr[t], range / 14, 1e-12);
    Series changes;
    for (std::size_t i = t - 19; i <= t; ++i) changes.push_back(table.close[i] - table.close[i - 1]);
    EXPECT_NEAR(table.volatility[t], deviation_of(changes), 1e-12);
    EXPECT_EQ(static_cast<float>(table.volatility_ratio[t]),
              table.features[t * kMarketFeatures + f_volatility_ratio_5_60]);
  }
  MarketTable small = odd_table(5, 1, 10);
  build_features(small, {});
  EXPECT_EQ(small.warm_up, 5);
}

TEST(Features, FingerprintSeesEveryNumber) {
  MarketTable table = odd_table(120, 41, 10);
  const auto flows = odd_flows(table, 42);
  build_features(table, flows);
  const auto base = table_fingerprint(table);
  EXPECT_EQ(table_fingerprint(table), base);
  std::set<std::uint64_t> seen = {base};
  const auto expect_new = [&](auto change) {
    MarketTable other = table;
    change(other);
    EXPECT_TRUE(seen.insert(table_fingerprint(other)).second);
  };
  expect_new([](MarketTable& m) { m.close[7] += 1e-9; });
  expect_new([](MarketTable& m) { m.volume[119] += 1; });
  expect_new([](MarketTable& m) { m.open_time[3] += 1; });
  expect_new([](MarketTable& m) { m.features[100] += 1; });
  expect_new([](MarketTable& m) { m.book[50].ask_size[9] += 1; });
  expect_new([](MarketTable& m) { m.atr[5] += 1; });
  expect_new([](MarketTable& m) { m.symbol = "X"; });
}

}  // namespace foxhunt::market::test
