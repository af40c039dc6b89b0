// The simulator's book: queue changes and their records.
#include "engine/market/simulator_book.h"

#include <algorithm>

namespace foxhunt::market {
namespace {

constexpr Time kGatewayDelay = 40'000;  // ns between ts_event and ts_recv
constexpr std::array<double, kBookLevels> kDepthProfile = {40, 58, 72, 78, 80, 78, 74, 70, 66, 62};  // contracts

}  // namespace

SimulatorBook::SimulatorBook(std::int64_t best_bid, SimulatorRandom& random, RecordSink& sink)
    : random_(random), sink_(sink), best_{best_bid, best_bid + 1}, last_trade_(best_bid) {
  for (auto& side : size_) {
    for (int level = 0; level < kBookLevels; ++level) {
      side[static_cast<std::size_t>(level)] =
          1 + static_cast<std::uint32_t>(target(level) * (0.6 + 0.8 * random_.uniform()));
    }
  }
}

void SimulatorBook::begin_event(Time recv, double depth_factor) {
  recv_ = recv;
  depth_factor_ = depth_factor;
  ++sequence_;
}

void SimulatorBook::end_event() {
  if (!has_pending_) return;
  pending_.flags |= kFlagLast;
  flush();
}

double SimulatorBook::target(int level) const {
  return depth_factor_ * kDepthProfile[static_cast<std::size_t>(level)];
}

void SimulatorBook::add(Side side, int level, std::uint32_t size) {
  size_[index(side)][static_cast<std::size_t>(level)] += size;
  emit(Action::add, side, level, size);
}

void SimulatorBook::cancel(Side side, int level, std::uint32_t size) {
  auto& queue = size_[index(side)][static_cast<std::size_t>(level)];
  const std::uint32_t gone = std::min(size, queue - 1);
  if (gone == 0) return add(side, level, size);
  queue -= gone;
  emit(Action::cancel, side, level, gone);
}

std::uint32_t SimulatorBook::take(Side side, std::uint32_t size) {
  const std::uint32_t got = std::min(size, queue(side, 0) - 1);
  if (got == 0) return 0;
  print(side, got);
  size_[index(side)][0] -= got;
  emit(Action::cancel, side, 0, got);
  return got;
}

std::uint32_t SimulatorBook::deplete(Side side) {
  auto& queues = size_[index(side)];
  const auto pulled = static_cast<std::uint32_t>(static_cast<double>(queues[0]) * (0.55 + 0.35 * random_.uniform()));
  if (pulled > 0) {
    queues[0] -= pulled;
    emit(Action::cancel, side, 0, pulled);
  }
  const std::uint32_t traded = queues[0];
  print(side, traded);
  const std::int64_t gone_price = best(side);
  std::copy(queues.begin() + 1, queues.end(), queues.begin());
  queues.back() = 1 + static_cast<std::uint32_t>(target(kBookLevels - 1) * (0.6 + 0.8 * random_.uniform()));
  best_[index(side)] += outward(side);
  emit(Action::cancel, side, 0, traded);
  pending_.price = gone_price * kSimulatedTickPrice;
  return traded;
}

void SimulatorBook::improve(Side side, std::uint32_t size) {
  auto& queues = size_[index(side)];
  std::copy_backward(queues.begin(), queues.end() - 1, queues.end());
  queues[0] = size;
  best_[index(side)] -= outward(side);
  emit(Action::add, side, 0, size);
}

void SimulatorBook::print(Side against, std::uint32_t size) {
  const Side aggressor = other(against);
  emit(Action::trade, aggressor, 0, size);  // the book of a T record is the one before the fills are removed
  pending_.price = best(against) * kSimulatedTickPrice;
  last_trade_ = best(against);
  TradeRecord trade;
  trade.ts_event = recv_ - kGatewayDelay;
  trade.ts_recv = recv_;
  trade.price = pending_.price;
  trade.size = size;
  trade.side = aggressor;
  trade.sequence = sequence_;
  sink_.trade(trade);
}

void SimulatorBook::emit(Action action, Side side, int level, std::uint32_t size) {
  flush();
  pending_.ts_event = recv_ - kGatewayDelay;
  pending_.ts_recv = recv_;
  pending_.price = price_of(side, level) * kSimulatedTickPrice;
  pending_.size = size;
  pending_.action = action;
  pending_.side = side;
  pending_.flags = 0;
  pending_.depth = static_cast<std::uint8_t>(level);
  pending_.sequence = sequence_;
  for (std::size_t i = 0; i < kBookLevels; ++i) {
    Level& row = pending_.levels[i];
    row.bid_price = (best_[0] - static_cast<std::int64_t>(i)) * kSimulatedTickPrice;
    row.ask_price = (best_[1] + static_cast<std::int64_t>(i)) * kSimulatedTickPrice;
    row.bid_size = size_[0][i];
    row.ask_size = size_[1][i];
    row.bid_count = 1 + row.bid_size / 3;
    row.ask_count = 1 + row.ask_size / 3;
  }
  has_pending_ = true;
}

void SimulatorBook::flush() {
  if (has_pending_) sink_.book(pending_);
  has_pending_ = false;
}

}  // namespace foxhunt::market
