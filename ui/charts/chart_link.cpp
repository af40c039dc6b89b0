// Shared range, undo, crosshair and events.
#include "ui/charts/chart_link.h"

#include <QDateTime>
#include <algorithm>
#include <cstring>

namespace foxhunt::ui {
namespace {

constexpr double margin = 0.02;  // room kept free after the newest sample when everything is in view
constexpr qint64 gesture_ms = 600;

}  // namespace

void ChartLink::attach(LinkedChart* chart) {
  charts_.push_back(chart);
}

void ChartLink::detach(LinkedChart* chart) {
  std::erase(charts_, chart);
  for (auto* list : {&past_, &future_}) {
    for (Entry& entry : *list) {
      if (entry.chart == chart) entry.chart = nullptr;
    }
  }
  if (last_chart_ == chart) last_chart_ = nullptr;
}

void ChartLink::setView(const XView& view) {
  if (view == view_) return;
  view_ = view;
  Q_EMIT viewChanged();
}

std::optional<std::pair<double, double>> ChartLink::dataRange() const {
  std::optional<std::pair<double, double>> range;
  for (const LinkedChart* chart : charts_) {
    const auto own = chart->dataRange();
    if (!own) continue;
    range = range ? std::make_pair(std::min(range->first, own->first), std::max(range->second, own->second)) : *own;
  }
  return range;
}

void ChartLink::fit() {
  XView view = view_;
  view.follow = true;
  view.span = 0;
  view.x0 = view.x1 = 0;  // empty, so that advance() chooses it anew
  view_ = view;
  advance();
  Q_EMIT viewChanged();
}

void ChartLink::follow() {
  XView view = view_;
  view.follow = true;
  const auto range = dataRange();
  const double width = view.x1 - view.x0;
  view.span = range && width < range->second - range->first ? width : 0;
  view_ = view;
  advance();
  Q_EMIT viewChanged();
}

void ChartLink::advance() {
  if (!view_.follow) return;
  const auto range = dataRange();
  if (!range) return;
  const auto [first, last] = *range;
  XView view = view_;
  if (view.span > 0) {
    view.x1 = last;
    view.x0 = last - view.span;
  } else {
    const double width = std::max(last - first, 1e-9 * std::max(1.0, std::abs(last)));
    const bool inside = view.x0 == first && last <= view.x1 && view.x1 - last <= 2 * margin * width;
    if (!inside) {
      view.x0 = first;
      view.x1 = last > first ? last + margin * width : first + 1;
      growing_ = view_.x1 > view_.x0;
    }
  }
  setView(view);
  growing_ = false;
}

ChartLink::Entry ChartLink::present(LinkedChart* chart) const {
  return {view_, chart, chart != nullptr ? chart->yView() : YView{}};
}

void ChartLink::remember(LinkedChart* chart, const char* gesture) {
  const qint64 now = QDateTime::currentMSecsSinceEpoch();
  const bool same = last_gesture_ != nullptr && std::strcmp(last_gesture_, gesture) == 0 && last_chart_ == chart &&
                    now - last_time_ < gesture_ms;
  last_gesture_ = gesture;
  last_chart_ = chart;
  last_time_ = now;
  future_.clear();
  if (same) return;
  past_.push_back(present(chart));
  if (past_.size() > most_entries) past_.erase(past_.begin());
}

bool ChartLink::restore(std::vector<Entry>& from, std::vector<Entry>& to) {
  if (from.empty()) return false;
  const Entry entry = from.back();
  from.pop_back();
  to.push_back(present(entry.chart));
  last_gesture_ = nullptr;
  if (entry.chart != nullptr) entry.chart->restoreYView(entry.y);
  setView(entry.x);
  advance();
  return true;
}

bool ChartLink::undo() {
  return restore(past_, future_);
}
bool ChartLink::redo() {
  return restore(future_, past_);
}

void ChartLink::setCrosshair(std::optional<double> x) {
  if (x == crosshair_) return;
  crosshair_ = x;
  Q_EMIT crosshairChanged();
}

std::vector<ValueRow> ChartLink::values(double x) const {
  std::vector<ValueRow> rows;
  for (const LinkedChart* chart : charts_) {
    auto own = chart->valuesAt(x);
    rows.insert(rows.end(), own.begin(), own.end());
  }
  return rows;
}

void ChartLink::setEvents(std::vector<EventLine> events) {
  std::stable_sort(events.begin(), events.end(), [](const auto& a, const auto& b) { return a.x < b.x; });
  events_ = std::move(events);
  Q_EMIT eventsChanged();
}

void ChartLink::addEvent(const EventLine& event) {
  const auto place =
      std::upper_bound(events_.begin(), events_.end(), event.x, [](double x, const auto& e) { return x < e.x; });
  events_.insert(place, event);
  Q_EMIT eventsChanged();
}

}  // namespace foxhunt::ui
