// The cleaning rules of bars.
#include "engine/market/cleaning.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <optional>

#include "engine/market/order_flow.h"

namespace foxhunt::market {
namespace {

constexpr std::size_t kRangeBars = 20;
constexpr std::size_t kSessionsBack = 5;
constexpr double kGhostRanges = 5;

class Cleaner {
 public:
  Cleaner(const std::vector<std::string>& files, DataReport& report) : files_(files), report_(report) {}

  std::vector<SourcedBar> run(std::vector<SourcedBar> bars) {
    drop_undefined(bars);
    sort(bars);
    const Time interval = usual_interval(bars);
    std::vector<SourcedBar> kept;
    kept.reserve(bars.size());
    for (SourcedBar& bar : bars) {
      if (!kept.empty() && misplaced(kept.back(), bar)) continue;
      widen(bar);
      if (!kept.empty()) note_gap(kept.back().bar, bar, interval);
      if (bar.bar.volume == 0) add("zero_volume", bar, "kept");
      repair_ghost(bar);
      remember(bar.bar);
      kept.push_back(bar);
    }
    return kept;
  }

 private:
  void add(const std::string& kind, const SourcedBar& bar, const std::string& what) {
    report_.add(kind, fmt::format("{}, bar {} at {}: {}", files_[static_cast<std::size_t>(bar.file)], bar.record,
                                  time_text(bar.bar.open_time), what));
  }

  void drop_undefined(std::vector<SourcedBar>& bars) {
    std::erase_if(bars, [&](const SourcedBar& b) {
      const bool bad = b.bar.open == kUndefinedPrice || b.bar.high == kUndefinedPrice || b.bar.low == kUndefinedPrice ||
                       b.bar.close == kUndefinedPrice;
      if (bad) add("undefined_price", b, "dropped");
      return bad;
    });
  }

  void sort(std::vector<SourcedBar>& bars) {
    Time latest = std::numeric_limits<Time>::min();
    for (const SourcedBar& bar : bars) {
      if (bar.bar.open_time < latest)
        add("out_of_order", bar, fmt::format("read after one at {}; sorted", time_text(latest)));
      latest = std::max(latest, bar.bar.open_time);
    }
    std::stable_sort(bars.begin(), bars.end(),
                     [](const SourcedBar& a, const SourcedBar& b) { return a.bar.open_time < b.bar.open_time; });
  }

  bool misplaced(const SourcedBar& before, const SourcedBar& bar) {
    if (bar.bar.open_time == before.bar.open_time) {
      add("duplicate", bar, "same open time as the bar before; dropped");
      return true;
    }
    if (bar.bar.open_time < before.bar.close_time) {
      add("overlap", bar, fmt::format("the bar before closes at {}; dropped", time_text(before.bar.close_time)));
      return true;
    }
    return false;
  }

  void widen(SourcedBar& bar) {
    BarRecord& b = bar.bar;
    const Price high = std::max({b.high, b.low, b.open, b.close}), low = std::min({b.high, b.low, b.open, b.close});
    if (high == b.high && low == b.low) return;
    add("inconsistent_bar", bar,
        fmt::format("open {} high {} low {} close {}; high and low widened", value(b.open), value(b.high), value(b.low),
                    value(b.close)));
    b.high = high;
    b.low = low;
  }

  void note_gap(const BarRecord& before, const SourcedBar& bar, Time interval) {
    const Time step = bar.bar.open_time - before.open_time;
    if (2 * step <= 3 * interval) return;
    add("gap", bar,
        fmt::format("{:.0f} s after the bar before, usual {:.0f} s", static_cast<double>(step) * 1e-9,
                    static_cast<double>(interval) * 1e-9));
  }

  void repair_ghost(SourcedBar& bar) {
    if (!last_) return;
    const Time break_length = bar.bar.open_time - last_->close_time;
    BarRecord& b = bar.bar;
    const Price before = last_->close, off = std::abs(b.open - before);
    const bool stale = std::find(session_closes_.begin(), session_closes_.end(), b.open) != session_closes_.end();
    const bool extreme = b.open == b.high || b.open == b.low;
    const bool returns = 2 * std::abs(b.close - before) < off;
    if (stale && extreme && returns && !ranges_.empty() && static_cast<double>(off) > kGhostRanges * mean_range()) {
      add("ghost_open", bar,
          fmt::format("open {} while the close before was {}; repaired", value(b.open), value(before)));
      const bool high_ghost = b.open == b.high;
      b.open = high_ghost ? std::max(before, b.low) : std::min(before, b.high);
      (high_ghost ? b.high : b.low) = high_ghost ? std::max(b.open, b.close) : std::min(b.open, b.close);
    }
    if (break_length >= kSessionBreak) {
      session_closes_.push_back(before);
      if (session_closes_.size() > kSessionsBack) session_closes_.pop_front();
    }
  }

  void remember(const BarRecord& bar) {
    last_ = bar;
    ranges_.push_back(static_cast<double>(bar.high) - static_cast<double>(bar.low));
    if (ranges_.size() > kRangeBars) ranges_.pop_front();
  }

  double mean_range() const {
    double sum = 0;
    for (double range : ranges_) sum += range;
    return sum / static_cast<double>(ranges_.size());
  }

  static double value(Price price) { return static_cast<double>(price) / kPricePoint; }

  const std::vector<std::string>& files_;
  DataReport& report_;
  std::optional<BarRecord> last_;
  std::deque<Price> session_closes_;
  std::deque<double> ranges_;
};

}  // namespace

Time usual_interval(const std::vector<SourcedBar>& bars) {
  if (bars.size() < 2) return 0;
  std::vector<Time> steps;
  steps.reserve(bars.size());
  for (std::size_t i = 1; i < bars.size(); ++i) steps.push_back(bars[i].bar.open_time - bars[i - 1].bar.open_time);
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
  std::nth_element(steps.begin(), middle, steps.end());
  return *middle;
}

std::vector<SourcedBar> clean_bars(std::vector<SourcedBar> bars, const std::vector<std::string>& files,
                                   DataReport& report) {
  return Cleaner(files, report).run(std::move(bars));
}

std::string time_text(Time time) {
  constexpr Time kSecond = 1'000'000'000;
  const Time nanoseconds = (time % kSecond + kSecond) % kSecond;
  const auto seconds = static_cast<std::time_t>((time - nanoseconds) / kSecond);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:09}Z", fmt::gmtime(seconds), nanoseconds);
}

}  // namespace foxhunt::market
