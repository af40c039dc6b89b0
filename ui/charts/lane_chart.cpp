// Range, layout, values and export of a lane chart.
#include "ui/charts/lane_chart.h"

#include <QDateTime>
#include <QLocale>
#include <QPainter>
#include <QTimeZone>
#include <algorithm>
#include <cmath>

#include "ui/charts/chart_export.h"
#include "ui/charts/chart_parts.h"
#include "ui/charts/format.h"
#include "ui/theme.h"

namespace foxhunt::ui {
namespace {

constexpr double header = 20, right = 12, strip_height = 9, lane_gap = 6;
constexpr double price_weight = 3.2, least_price = 48, least_lane = 28;
constexpr std::size_t most_undo = 100;
constexpr double candle_width = 5;  // logical pixels that a candle takes at least

// As many decimals as ticks of that distance need.
QString tickLabel(double value, double step) {
  const int decimals = step >= 1 ? 0 : std::min(8, static_cast<int>(std::ceil(-std::log10(step) - 1e-9)));
  const int more = std::abs(step * std::pow(10.0, decimals) - std::round(step * std::pow(10.0, decimals))) > 1e-6;
  return QLocale().toString(value, 'f', decimals + more);
}

// Whole numbers as such: "3", not "3.000".
QString valueText(double value) {
  if (std::isfinite(value) && value == std::round(value) && std::abs(value) < 1e9) return formatCount(value);
  return formatValue(value);
}

}  // namespace

LaneChart::LaneChart(const QString& title, QWidget* parent) : QWidget(parent), title_(title) {
  setAccessibleName(title);
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setAttribute(Qt::WA_OpaquePaintEvent);
  connect(&themeNotifier(), &ThemeNotifier::changed, this, &LaneChart::invalidate);
  empty_ = tr("no bars yet");
  describe();
}

void LaneChart::setTitle(const QString& title) {
  title_ = title;
  setAccessibleName(title);
  invalidate();
}

void LaneChart::setBadge(const QString& badge) {
  badge_ = badge;
  invalidate();
}

void LaneChart::setEmptyText(const QString& text) {
  empty_ = text;
  invalidate();
}

void LaneChart::setContent(Content content, bool keep_view) {
  const bool keep = keep_view && content && content_ && content->bars() == content_->bars();
  content_ = std::move(content);
  crosshair_.reset();
  highlight_.reset();
  if (!keep) {
    past_.clear();
    last_gesture_ = nullptr;
    x0_ = 0;
    x1_ = content_ ? std::max(static_cast<double>(content_->bars()), 1.0) : 1;
  }
  describe();
  invalidate();
  if (!keep) Q_EMIT viewChanged();
}

void LaneChart::setHighlight(const std::optional<LaneHighlight>& highlight) {
  highlight_ = highlight;
  invalidate();
}

void LaneChart::invalidate() {
  stale_ = true;
  update();
}

void LaneChart::describe() {
  setAccessibleDescription(summary());
}

void LaneChart::setView(double x0, double x1) {
  const double all = content_ ? static_cast<double>(content_->bars()) : 1;
  const double span = std::clamp(x1 - x0, std::min(least_bars, all), std::max(all, 1.0));
  const double middle = (x0 + x1) / 2;
  double from = std::clamp(middle - span / 2, 0.0, std::max(0.0, all - span));
  if (x1 - x0 <= all && x0 >= 0 && x1 <= all && x1 - x0 >= std::min(least_bars, all)) from = x0;
  if (from == x0_ && from + span == x1_) return;
  x0_ = from;
  x1_ = from + span;
  invalidate();
  Q_EMIT viewChanged();
}

void LaneChart::zoomTo(double x0, double x1) {
  last_gesture_ = nullptr;
  remember("zoom to");
  setView(x0, x1);
}

void LaneChart::fit() {
  remember("fit");
  setView(0, content_ ? static_cast<double>(content_->bars()) : 1);
}

void LaneChart::remember(const char* gesture) {
  const qint64 now = QDateTime::currentMSecsSinceEpoch();
  const bool same = last_gesture_ == gesture && now - last_time_ < 600;
  last_gesture_ = gesture;
  last_time_ = now;
  if (same) return;
  if (past_.size() >= most_undo) past_.erase(past_.begin());
  past_.emplace_back(x0_, x1_);
}

bool LaneChart::undo() {
  last_gesture_ = nullptr;
  while (!past_.empty()) {
    const auto [x0, x1] = past_.back();
    past_.pop_back();
    if (x0 == x0_ && x1 == x1_) continue;
    setView(x0, x1);
    return true;
  }
  return false;
}

void LaneChart::zoom(double factor, double around) {
  setView(around - (around - x0_) * factor, around + (x1_ - around) * factor);
}

std::size_t LaneChart::firstBar() const {
  return static_cast<std::size_t>(std::max(0.0, std::floor(x0_ + 1e-9)));
}

std::size_t LaneChart::endBar() const {
  const double bars = content_ ? static_cast<double>(content_->bars()) : 0;
  return static_cast<std::size_t>(std::clamp(std::ceil(x1_ - 1e-9), 0.0, bars));
}

std::size_t LaneChart::candleBars() const {
  const double each = layout_.plot.width() / (x1_ - x0_);
  if (each >= candle_width - 2) return 1;
  double power = 1;
  for (;; power *= 10) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (factor * power * each >= candle_width) return static_cast<std::size_t>(factor * power);
    }
  }
}

void LaneChart::setLaneVisible(int lane, bool visible) {
  hidden_.removeAll(lane);
  if (!visible) hidden_ << lane;
  invalidate();
}

void LaneChart::setCrosshair(std::optional<std::size_t> bar) {
  if (bar && (!content_ || *bar >= content_->bars())) bar.reset();
  if (bar == crosshair_) return;
  crosshair_ = bar;
  describe();
  update();
}

// Lanes that would be too low to read are left out, the last first.
LaneChart::Layout LaneChart::layoutFor(const QSizeF& size) const {
  Layout out;
  const std::size_t count = content_ ? content_->data().lanes.size() : 0;
  out.lanes.resize(count);
  out.scales.resize(count);
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < count; ++i) {
    if (!hidden_.contains(static_cast<int>(i))) shown.push_back(i);
  }
  const double top = chart_top + header, height = std::max(1.0, size.height() - top - chart_axis_height);
  const bool strip = content_ && !content_->data().strip.empty();
  const auto needed = [&] {
    return least_price + static_cast<double>(shown.size()) * (least_lane + lane_gap) + (strip ? strip_height + 2 : 0);
  };
  while (!shown.empty() && needed() > height) {
    shown.pop_back();
    ++out.without_room;
  }
  const double left = 58;
  out.plot = QRectF(left, top, std::max(1.0, size.width() - left - right), height);
  const bool strip_shown = strip && height >= least_price + strip_height + 2;
  const double room = height - static_cast<double>(shown.size()) * lane_gap - (strip_shown ? strip_height + 2 : 0);
  const double unit = room / (price_weight + static_cast<double>(shown.size()));
  double y = top;
  const auto take = [&](double lane_height) {
    const QRectF lane(left, std::round(y), out.plot.width(),
                      std::max(1.0, std::round(y + lane_height) - std::round(y)));
    y += lane_height;
    return lane;
  };
  out.price = take(unit * price_weight);
  for (std::size_t k = 0; k < shown.size(); ++k) {
    y += lane_gap;
    out.lanes[shown[k]] = take(unit);
    if (k > 0 || !strip_shown) continue;
    y += 2;
    out.strip = take(strip_height);
  }
  if (shown.empty() && strip_shown) {
    y += 2;
    out.strip = take(strip_height);
  }
  if (!content_ || content_->bars() == 0) return out;
  out.price_scale = scaleOf(content_->prices(firstBar(), endBar()), out.price.height(), false, 0.04);
  for (const std::size_t i : shown) {
    const bool zero = content_->data().lanes[i].kind != Lane::Kind::line;
    out.scales[i] = scaleOf(content_->values(i, firstBar(), endBar()), out.lanes[i].height(), zero, 0.08);
  }
  return out;
}

LaneChart::Scale LaneChart::scaleOf(BlockExtremes::Found found, double height, bool with_zero, double padding) const {
  Scale scale;
  if (with_zero) found.add(0);
  if (!found.any()) return scale;
  if (found.min == found.max) {
    const double pad = found.min == 0 ? 1 : std::abs(found.min) * 0.1;
    found.min -= pad;
    found.max += pad;
  }
  const double room = (found.max - found.min) * padding;
  scale.low = found.min - (with_zero && found.min == 0 ? 0 : room);
  scale.high = found.max + (with_zero && found.max == 0 ? 0 : room);
  const int most = std::max(2, static_cast<int>(height / 26));
  const double step = niceStep((scale.high - scale.low) / most);
  for (double k = std::ceil(scale.low / step - 1e-9); k * step <= scale.high + step * 1e-9; ++k) {
    const double value = k * step;
    scale.ticks.push_back({value, tickLabel(k == 0 ? 0 : value, step)});
  }
  return scale;
}

QRectF LaneChart::laneRect(int lane) const {
  if (lane < 0) return layout_.price;
  const auto at = static_cast<std::size_t>(lane);
  return at < layout_.lanes.size() ? layout_.lanes[at] : QRectF();
}

double LaneChart::pixelOf(double position) const {
  return layout_.plot.left() + (position - x0_) / (x1_ - x0_) * layout_.plot.width();
}

double LaneChart::positionAt(double pixel) const {
  return x0_ + (pixel - layout_.plot.left()) / layout_.plot.width() * (x1_ - x0_);
}

double LaneChart::yPixel(const QRectF& lane, const Scale& scale, double value) const {
  return lane.bottom() - (value - scale.low) / (scale.high - scale.low) * lane.height();
}

double LaneChart::priceAt(double pixel) const {
  const Scale& scale = layout_.price_scale;
  return scale.low + (layout_.price.bottom() - pixel) / layout_.price.height() * (scale.high - scale.low);
}

double LaneChart::pricePixel(double price) const {
  return yPixel(layout_.price, layout_.price_scale, price);
}

QString LaneChart::badge() const {
  QStringList parts;
  if (!badge_.isEmpty()) parts << badge_;
  if (content_ && content_->bars() > 0) {
    const std::size_t each = candleBars();
    if (each > 1) parts << tr("a candle is %1 bars, extremes exact").arg(formatCount(static_cast<double>(each)));
    if (layout_.without_room > 0) parts << tr("lanes without room: %1").arg(layout_.without_room);
  }
  return parts.join(QStringLiteral(" · "));
}

std::pair<QString, std::vector<ValueBoxRow>> LaneChart::valuesAt(std::size_t bar) const {
  const LaneData& bars = content_->data();
  const auto moment =
      QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(std::llround(bars.times[bar] * 1000)), QTimeZone::utc());
  const QString head = QLocale().toString(moment, QStringLiteral("yyyy-MM-dd HH:mm:ss")) + QStringLiteral(" UTC");
  std::vector<ValueBoxRow> rows;
  const auto price = [&](const QString& name, double value) {
    if (std::isfinite(value))
      rows.push_back({theme().text, name, QLocale().toString(value, 'f', QLocale::FloatingPointShortest)});
  };
  price(tr("open"), bars.open[bar]);
  price(tr("high"), bars.high[bar]);
  price(tr("low"), bars.low[bar]);
  price(tr("close"), bars.close[bar]);
  for (const Lane& lane : bars.lanes) {
    const double value = lane.values[bar];
    const QString unit = lane.unit.isEmpty() ? QString() : QLatin1Char(' ') + lane.unit;
    const int color = lane.kind != Lane::Kind::line && value < 0 ? lane.negative : lane.color;
    rows.push_back({theme().seriesColor(color), lane.name, std::isnan(value) ? tr("none") : valueText(value) + unit});
  }
  if (!bars.strip.empty() && bars.strip[bar] != LaneData::no_class) {
    rows.push_back(
        {theme().seriesColor(bars.strip_colors[bars.strip[bar]]), bars.strip_name, bars.strip_names[bars.strip[bar]]});
  }
  for (const LaneMarker& marker : content_->markers(bar, bar + 1)) {
    rows.push_back({theme().seriesColor(marker.buy ? 2 : 0), bars.marker_names.value(marker.kind),
                    tr("%1 %2 at %3")
                        .arg(marker.buy ? tr("buys") : tr("sells"), valueText(marker.size),
                             QLocale().toString(marker.price, 'f', QLocale::FloatingPointShortest))});
  }
  if (details_) {
    for (ValueBoxRow& row : details_(bar)) rows.push_back(std::move(row));
  }
  return {head, std::move(rows)};
}

QString LaneChart::summary() const {
  if (!content_ || content_->bars() == 0) return QStringLiteral("%1: %2").arg(title_, empty_);
  const LaneData& bars = content_->data();
  const std::size_t n = content_->bars();
  const auto day = [](double seconds) {
    return QLocale().toString(QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(seconds * 1000), QTimeZone::utc()),
                              QStringLiteral("yyyy-MM-dd HH:mm"));
  };
  const auto prices = content_->prices(0, n);
  QString text = tr("%1: %2 bars, %3 to %4 UTC; price from %5 to %6, first %7, last %8;")
                     .arg(title_, formatCount(static_cast<double>(n)), day(bars.times.front()), day(bars.times.back()),
                          formatValue(prices.min, 8), formatValue(prices.max, 8), formatValue(bars.open.front(), 8))
                     .arg(formatValue(bars.close.back(), 8));
  for (std::size_t i = 0; i < bars.lanes.size(); ++i) {
    const auto found = content_->values(i, 0, n);
    text += QLatin1Char(' ') + (found.any() ? tr("%1 from %2 to %3 %4;")
                                                  .arg(bars.lanes[i].name, formatValue(found.min),
                                                       formatValue(found.max), bars.lanes[i].unit)
                                            : tr("%1: no value;").arg(bars.lanes[i].name));
  }
  if (!bars.markers.empty()) text += QLatin1Char(' ') + tr("%1 fills;").arg(bars.markers.size());
  if (crosshair_) {
    const auto [head, rows] = valuesAt(*crosshair_);
    text += QLatin1Char('\n') + head;
    for (const ValueBoxRow& row : rows) text += QStringLiteral(", %1 %2").arg(row.name, row.text);
  }
  return text;
}

void LaneChart::exportTo(const QString& path) {
  if (wantsCsv(path)) return writeCsv(path);
  const QSizeF logical(size());
  layout_ = layoutFor(logical);
  exportPicture(path, {logical, title_, summary(), [&](QPainter& painter) { paintAll(painter, logical); }});
}

// One row a bar, a column a lane.
void LaneChart::writeCsv(const QString& path) const {
  exportText(path, [&](const TextPart& add) {
    const LaneData none;
    const LaneData& bars = content_ ? content_->data() : none;
    std::string text = "seconds_utc,open,high,low,close";
    for (const Lane& lane : bars.lanes) text += ',' + csvField(lane.name);
    if (!bars.strip.empty()) text += ',' + csvField(bars.strip_name);
    add(text + '\n');
    for (std::size_t i = 0; i < bars.times.size(); ++i) {
      text = plainNumber(bars.times[i]);
      for (const auto* column : {&bars.open, &bars.high, &bars.low, &bars.close})
        text += ',' + plainNumber((*column)[i]);
      for (const Lane& lane : bars.lanes) text += ',' + plainNumber(lane.values[i]);
      if (!bars.strip.empty()) text += ',' + csvField(bars.strip_names.value(bars.strip[i]));
      add(text + '\n');
    }
  });
}

}  // namespace foxhunt::ui
