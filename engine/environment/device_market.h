// The market on the device: one bar table for all folds, refilled at each fold's start.
#pragma once

#include <array>
#include <vector>

#include "engine/device/buffer.h"
#include "engine/market/folds.h"
#include "engine/market/market_table.h"
#include "engine/market/regime.h"
#include "engine/market/scaler.h"
#include "kernels/transition.h"

namespace foxhunt {

// Everything about the bars that is fitted on one fold's training window.
struct FoldModel {
  market::FeatureScaler scaler;
  market::RegimeModel regimes;
  double mean_volatility = 1;  // points, of the training window; sigma = volatility / this

  // Throws Error for an empty window or one outside the table.
  static FoldModel fit(const market::MarketTable& table, market::Range train);
};

class DeviceMarket {
 public:
  // Allocates for all rows and uploads what no fold changes (books). `table` must outlive it.
  DeviceMarket(device::Device& device, device::Stream& stream, const market::MarketTable& table);

  // Uploads prices with sigma, scaled features, labels and regimes through a mapped staging buffer; waits for `stream`.
  void load_fold(device::Stream& stream, const FoldModel& model);

  const kernels::BarTable& bars() const { return bars_; }  // addresses stay
  const market::MarketTable& table() const { return table_; }

 private:
  template <class T, class Fill>
  void upload(device::Stream& stream, T* to, std::size_t width, Fill fill_row);

  device::Device& device_;
  const market::MarketTable& table_;
  device::Buffer<float> features_, labels_, regime_;  // [T, 72], [T, 4], [T, 4]
  device::Buffer<double> prices_, book_;              // [T, 8], [T, 4, 10]
  device::Buffer<std::int32_t> levels_;               // [T, 2]
  device::MappedBuffer<std::byte> staging_;
  kernels::BarTable bars_{};
};

}  // namespace foxhunt
