// Upload of the market.
#include "engine/environment/device_market.h"

#include <algorithm>
#include <limits>

#include "engine/base/error.h"

namespace foxhunt {
namespace {

constexpr std::size_t kStagingBytes = 4u << 20;

}  // namespace

FoldModel FoldModel::fit(const market::MarketTable& table, market::Range train) {
  FoldModel out;
  out.scaler = market::FeatureScaler::fit(table, train);
  out.regimes = market::RegimeModel::fit(table, train);
  double sum = 0;
  for (auto t = train.begin; t < train.end; ++t) sum += table.volatility[static_cast<std::size_t>(t)];
  out.mean_volatility = sum / static_cast<double>(train.size());
  return out;
}

DeviceMarket::DeviceMarket(device::Device& device, device::Stream& stream, const market::MarketTable& table)
    : device_(device), table_(table), staging_(device, kStagingBytes) {
  const auto rows = static_cast<std::size_t>(table.rows());
  if (rows < 2 || rows > std::numeric_limits<std::int32_t>::max() / 2) {
    throw Error(fmt::format("a market of {} bars cannot be traded; 2 to {} bars can", rows,
                            std::numeric_limits<std::int32_t>::max() / 2));
  }
  features_ = device::Buffer<float>(device, rows * kernels::kMarketWidth);
  labels_ = device::Buffer<float>(device, rows * 4);
  regime_ = device::Buffer<float>(device, rows * 4);
  prices_ = device::Buffer<double>(device, rows * 8);
  book_ = device::Buffer<double>(device, rows * 40);
  levels_ = device::Buffer<std::int32_t>(device, rows * 2);
  bars_ = {features_.data(), prices_.data(), book_.data(), levels_.data(),
           labels_.data(),   regime_.data(), table.rows()};
  if (table.book.empty()) return;  // allocated memory is zero: no level on either side
  upload(stream, book_.data(), 40, [&](std::size_t t, double* row) {
    const market::BookSnapshot& b = table_.book[t];
    std::copy(b.bid_price.begin(), b.bid_price.end(), row);
    std::copy(b.bid_size.begin(), b.bid_size.end(), row + 10);
    std::copy(b.ask_price.begin(), b.ask_price.end(), row + 20);
    std::copy(b.ask_size.begin(), b.ask_size.end(), row + 30);
  });
  upload(stream, levels_.data(), 2, [&](std::size_t t, std::int32_t* row) {
    row[0] = table_.book[t].bid_levels;
    row[1] = table_.book[t].ask_levels;
  });
}

template <class T, class Fill>
void DeviceMarket::upload(device::Stream& stream, T* to, std::size_t width, Fill fill_row) {
  const auto rows = static_cast<std::size_t>(table_.rows());
  const std::size_t chunk = staging_.size() / (width * sizeof(T));
  for (std::size_t first = 0; first < rows; first += chunk) {
    const std::size_t count = std::min(chunk, rows - first);
    T* staged = reinterpret_cast<T*>(staging_.host());
    for (std::size_t t = 0; t < count; ++t) fill_row(first + t, staged + t * width);
    device_.stage(stream, to + first * width, staging_.device(), count * width * sizeof(T));
    device_.synchronise(stream);  // the staging buffer is used again
  }
}

void DeviceMarket::load_fold(device::Stream& stream, const FoldModel& model) {
  upload(stream, features_.data(), kernels::kMarketWidth, [&](std::size_t t, float* row) {
    model.scaler.apply(std::span(table_.features).subspan(t * market::kMarketFeatures).first<market::kMarketFeatures>(),
                       std::span<float, market::kMarketFeatures>(row, market::kMarketFeatures));
  });
  upload(stream, prices_.data(), 8, [&](std::size_t t, double* row) {
    const double sigma = model.mean_volatility > 0 ? table_.volatility[t] / model.mean_volatility : 1.0;
    const double values[8] = {table_.open[t], table_.high[t], table_.low[t],    table_.close[t],
                              table_.atr[t],  sigma,          table_.volume[t], 0};
    std::copy(values, values + 8, row);
  });
  const auto labels = market::bar_labels(table_);
  upload(stream, labels_.data(), 4, [&](std::size_t t, float* row) {
    row[0] = labels[t].change;
    row[1] = static_cast<float>(labels[t].direction);
    row[2] = labels[t].range;
    row[3] = static_cast<float>(model.regimes.multiplier(table_.volatility_ratio[t]));
  });
  upload(stream, regime_.data(), 4, [&](std::size_t t, float* row) {
    const auto p = model.regimes.probabilities(table_.volatility_ratio[t]);
    for (std::size_t k = 0; k < 3; ++k) row[k] = static_cast<float>(p[k]);
    row[3] = static_cast<float>(std::max_element(p.begin(), p.end()) - p.begin());
  });
}

}  // namespace foxhunt
