// A small market with every kind of book, devices and mapped memory for the environment's tests.
#pragma once

#include <array>
#include <cstring>
#include <random>
#include <vector>

#include "engine/device/buffer.h"
#include "engine/device/registry.h"
#include "engine/environment/actor.h"
#include "engine/environment/device_market.h"
#include "kernels/environment_types.h"

namespace foxhunt::test {

// Random walk in ticks of 0.25 with gaps; some bars without a book, with one side only, crossed, or with few levels.
inline market::MarketTable make_market(std::int64_t rows, std::uint64_t seed, double volatility = 1.0) {
  std::mt19937_64 random(seed);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<std::uint64_t>(n)); };
  market::MarketTable t;
  t.symbol = "TEST";
  t.order_flow = true;
  double price = 4000, atr = 2;
  for (std::int64_t i = 0; i < rows; ++i) {
    const double open = price + (below(5) == 0 ? (below(2) ? 1 : -1) * 0.25 * below(8) * volatility : 0);
    double high = open, low = open, now = open;
    for (int k = 0; k < 8; ++k) {
      now += (below(3) - 1) * 0.25 * (1 + below(3)) * volatility;
      high = std::max(high, now);
      low = std::min(low, now);
    }
    price = now;
    atr = 0.9 * atr + 0.1 * (high - low);
    t.open_time.push_back(i * 60'000'000'000);
    t.close_time.push_back((i + 1) * 60'000'000'000);
    t.open.push_back(open);
    t.high.push_back(high);
    t.low.push_back(low);
    t.close.push_back(price);
    t.volume.push_back(below(500));
    t.atr.push_back(atr);
    t.volatility.push_back(0.5 + below(100) / 100.0);
    t.volatility_ratio.push_back(0.5 + below(100) / 100.0);
    market::BookSnapshot book;
    const int kind = below(100);
    if (kind >= 4) {
      const double bid = kind < 8 ? price + 0.25 : price - 0.25 * below(2),
                   ask = kind < 8 ? bid - 0.25 : bid + 0.25 * (1 + below(3));
      const int levels = kind < 20 ? 1 + below(4) : 10;
      for (int k = 0; k < levels; ++k) {
        const auto level = static_cast<std::size_t>(k);
        book.bid_price[level] = bid - 0.25 * k;
        book.ask_price[level] = ask + 0.25 * k;
        book.bid_size[level] = 1 + below(6);
        book.ask_size[level] = 1 + below(6);
      }
      book.bid_levels = levels;
      book.ask_levels = kind < 10 && kind >= 8 ? 0 : levels;
    }
    t.book.push_back(book);
    for (int k = 0; k < market::kMarketFeatures; ++k)
      t.features.push_back(static_cast<float>(below(2001) - 1000) / 300.0f);
  }
  return t;
}

inline std::unique_ptr<device::Device> cpu(int threads = 2) {
  return device::open_device("cpu", {.threads = threads, .plan_cache = {}});
}

// What stands in device memory.
template <class T>
std::vector<T> read_back(device::Device& device, const T* from, std::size_t count) {
  device::MappedBuffer<T> mapped(device, count);
  const auto stream = device.create_stream();
  device.copy(*stream, mapped.device(), from, count * sizeof(T));
  device.synchronise(*stream);
  return {mapped.host(), mapped.host() + count};
}

// An actor whose Q-values are the first 13 state features, and whose variances are `variance`: it acts by the market
// alone.
struct FeatureActor {
  device::Buffer<float> states, q;
  device::MappedBuffer<float> variance;
  Actor actor;

  FeatureActor(device::Device& device, int rows, float variance_value)
      : states(device, static_cast<std::size_t>(rows) * 96),
        q(device, static_cast<std::size_t>(rows) * 13),
        variance(device, static_cast<std::size_t>(rows) * 13) {
    std::fill_n(variance.host(), variance.size(), variance_value);
    actor = {
        rows,
        96,
        states.data(),
        q.data(),
        q.data(),
        variance.device(),
        [rows, from = states.data(), to = q.data()](device::Recorder& recorder, const float*, const kernels::Control*) {
          for (int i = 0; i < rows; ++i) recorder.copy(to + i * 13, from + i * 96, 13 * sizeof(float));
        }};
  }
};

}  // namespace foxhunt::test
