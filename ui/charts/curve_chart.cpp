// What a curve chart shows and which range of it: series, axes, link, zoom and pan.
#include "ui/charts/curve_chart.h"

#include <QAccessibleWidget>
#include <QElapsedTimer>
#include <QEvent>
#include <QTimer>
#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "ui/charts/format.h"

namespace foxhunt::ui {
namespace {

constexpr std::size_t smooth_per_refresh = 100000;  // samples, some milliseconds at most

// True for a few charts in the time of a frame.
bool mayRebuild() {
  constexpr int most = 3;
  constexpr qint64 frame_ms = 12;
  static QElapsedTimer frame;
  static int taken = 0;
  if (!frame.isValid() || frame.elapsed() >= frame_ms) {
    frame.start();
    taken = 0;
  }
  return taken++ < most;
}

// Screen readers get the summary as it is when they ask.
class AccessibleChart : public QAccessibleWidget {
 public:
  explicit AccessibleChart(CurveChart* chart) : QAccessibleWidget(chart, QAccessible::Chart), chart_(chart) {}
  QString text(QAccessible::Text kind) const override {
    if (kind == QAccessible::Name) return chart_->title();
    if (kind == QAccessible::Description) return chart_->summary();
    return QAccessibleWidget::text(kind);
  }

 private:
  CurveChart* chart_;
};

QAccessibleInterface* makeAccessible(const QString&, QObject* object) {
  auto* chart = qobject_cast<CurveChart*>(object);
  return chart != nullptr ? new AccessibleChart(chart) : nullptr;
}

}  // namespace

CurveChart::CurveChart(const QString& title, QWidget* parent) : QWidget(parent), title_(title) {
  static const bool registered = [] {
    QAccessible::installFactory(makeAccessible);
    return true;
  }();
  Q_UNUSED(registered);
  scales_.push_back(std::make_shared<StepScale>(tr("step")));
  setAttribute(Qt::WA_OpaquePaintEvent);
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(title);
  connect(&themeNotifier(), &ThemeNotifier::changed, this, [this] { invalidate(); });
  setLink(nullptr);
}

CurveChart::~CurveChart() {
  for (const auto& connection : link_connections_) disconnect(connection);
  if (link_) link_->detach(this);
}

int CurveChart::addSeries(const SeriesInfo& info, Data samples) {
  FH_CHECK(samples != nullptr, "series {} has no samples", info.name.toStdString());
  Series series;
  series.info = info;
  series.data = std::move(samples);
  series.color = info.color_index >= 0 ? info.color_index : static_cast<int>(series_.size());
  if (smoothing_.kind != SmoothingKind::none) {
    series.smooth = std::make_unique<SmoothedSeries>(series.data, smoothing_);
  }
  series_.push_back(std::move(series));
  isolated_ = -1;
  link_->advance();
  invalidate();
  return static_cast<int>(series_.size()) - 1;
}

void CurveChart::clearSeries() {
  series_.clear();
  isolated_ = -1;
  invalidate();
}

void CurveChart::setSeriesVisible(int series, bool shown) {
  Series& changed = series_.at(static_cast<std::size_t>(series));
  if (changed.shown == shown) return;
  changed.shown = shown;
  isolated_ = -1;
  invalidate();
  Q_EMIT seriesVisibilityChanged(series, shown);
}

void CurveChart::isolateSeries(int series) {
  std::vector<bool> wanted(series_.size());
  const int chosen = isolated_ == series ? -1 : series;
  if (chosen < 0) {
    wanted = shown_before_isolation_;
  } else {
    if (isolated_ < 0) {
      shown_before_isolation_.clear();
      for (const Series& each : series_) shown_before_isolation_.push_back(each.shown);
    }
    wanted[static_cast<std::size_t>(chosen)] = true;
  }
  wanted.resize(series_.size(), true);
  for (std::size_t i = 0; i < series_.size(); ++i) setSeriesVisible(static_cast<int>(i), wanted[i]);
  isolated_ = chosen;
}

void CurveChart::setTitle(const QString& title) {
  title_ = title;
  setAccessibleName(title);
  invalidate();
}

void CurveChart::setTitleVisible(bool visible) {
  title_visible_ = visible;
  invalidate();
}

void CurveChart::setUnit(const QString& unit) {
  unit_ = unit;
  invalidate();
}

void CurveChart::setThreshold(const std::optional<Threshold>& threshold) {
  const bool held = drag_ == Drag::threshold && threshold_;
  const double at = held ? threshold_->value : 0;
  threshold_ = threshold;
  if (held && threshold_ && threshold_->draggable) {
    threshold_->value = at;
  } else if (held) {  // nothing to drag any more
    drag_ = Drag::none;
    frozen_y_.reset();
  }
  invalidate();
}

void CurveChart::setEvents(std::vector<EventLine> events) {
  std::stable_sort(events.begin(), events.end(), [](const auto& a, const auto& b) { return a.x < b.x; });
  events_ = std::move(events);
  update();
}

void CurveChart::setLogY(bool on) {
  if (log_y_ == on) return;
  link_->remember(this, "log");
  log_y_ = on;
  y_view_ = YView{};  // a linear range may reach below zero
  invalidate();
}

void CurveChart::setXScales(std::vector<std::shared_ptr<const XScale>> scales) {
  FH_CHECK(!scales.empty(), "chart {} needs an x scale", title_.toStdString());
  scales_ = std::move(scales);
  setXScale(0);
}

void CurveChart::setXScale(std::size_t index) {
  FH_CHECK(index < scales_.size(), "x scale {} of {}", index, scales_.size());
  scale_ = index;
  invalidate();
}

void CurveChart::setSmoothing(const Smoothing& smoothing) {
  std::vector<std::unique_ptr<SmoothedSeries>> fresh(series_.size());
  if (smoothing.kind != SmoothingKind::none) {
    for (std::size_t i = 0; i < series_.size(); ++i) {
      fresh[i] = std::make_unique<SmoothedSeries>(series_[i].data, smoothing);
    }
  }
  for (std::size_t i = 0; i < series_.size(); ++i) series_[i].smooth = std::move(fresh[i]);
  smoothing_ = smoothing;
  invalidate();
  refresh();
}

void CurveChart::setClipOutliers(bool on) {
  clip_ = on;
  invalidate();
}

void CurveChart::setLink(ChartLink* link) {
  for (const auto& connection : link_connections_) disconnect(connection);
  link_connections_.clear();
  if (link_) link_->detach(this);
  link_ = link != nullptr ? link : &own_link_;
  link_->attach(this);
  link_connections_ = {
      connect(link_, &ChartLink::viewChanged, this, &CurveChart::takeView),
      connect(link_, &ChartLink::crosshairChanged, this, [this] { update(); }),
      connect(link_, &ChartLink::eventsChanged, this, [this] { update(); }),
      // A link that dies before its charts leaves each with one of its own.
      connect(link_, &QObject::destroyed, this,
              [this] {
                link_.clear();
                setLink(nullptr);
              }),
  };
  link_->advance();
  invalidate();
}

void CurveChart::fit() {
  link_->remember(this, "fit");
  y_view_ = YView{};
  invalidate();
  link_->fit();
}

void CurveChart::setRange(double x0, double x1) {
  if (!(x1 > x0)) return;
  XView view = link_->view();
  view.x0 = x0;
  view.x1 = x1;
  view.follow = false;
  link_->setView(view);
}

void CurveChart::setYView(const YView& view) {
  if (!view.automatic && (!(view.high > view.low) || (log_y_ && view.low <= 0))) return;
  y_view_ = view;
  invalidate();
}

void CurveChart::restoreYView(const YView& view) {
  y_view_ = !view.automatic && log_y_ && view.low <= 0 ? YView{} : view;
  invalidate();
}

// While following, the newest sample stays where it is and Follow goes on.
void CurveChart::zoomX(double factor, double around_x) {
  const XScale& scale = xScale();
  XView view = link_->view();
  const double low = scale.toDisplay(view.x0), high = scale.toDisplay(view.x1);
  const auto covered = link_->dataRange();
  const double around = scale.toDisplay(view.follow && covered ? covered->second : around_x);
  const double new_low = around - (around - low) * factor, new_high = around + (high - around) * factor;
  // Below a part in 10^12 of the position, steps and pixels can no longer be told apart.
  if (!(new_high - new_low > 1e-12 * std::max(1.0, std::abs(around)))) return;
  view.x0 = scale.fromDisplay(new_low);
  view.x1 = scale.fromDisplay(new_high);
  if (view.follow && covered) {
    view.span = covered->second - view.x0;
    if (view.span >= covered->second - covered->first) {
      link_->fit();
      return;
    }
    view.x1 = covered->second;
  }
  link_->setView(view);
}

void CurveChart::zoomY(double factor, double around_pixel) {
  ensureFrame();
  const double top = frame_.plot.top(), bottom = frame_.plot.bottom();
  const double low = pixelToY(around_pixel + (bottom - around_pixel) * factor);
  const double high = pixelToY(around_pixel - (around_pixel - top) * factor);
  setYView({false, low, high});
}

void CurveChart::pan(double fraction_x, double fraction_y) {
  if (fraction_x != 0) {
    const XScale& scale = xScale();
    const XView& view = link_->view();
    const double low = scale.toDisplay(view.x0), high = scale.toDisplay(view.x1);
    const double shift = (high - low) * fraction_x;
    setRange(scale.fromDisplay(low + shift), scale.fromDisplay(high + shift));
  }
  if (fraction_y != 0) {
    ensureFrame();
    const double shift = frame_.plot.height() * fraction_y;
    setYView({false, pixelToY(frame_.plot.bottom() - shift), pixelToY(frame_.plot.top() - shift)});
  }
}

void CurveChart::refresh() {
  if (!isVisible()) return;
  bool changed = false, unfinished = false;
  for (Series& series : series_) {
    if (series.data->version() != series.seen) changed = true;
    series.seen = series.data->version();
    if (series.smooth != nullptr && series.smooth->pending()) {
      unfinished = series.smooth->advance(smooth_per_refresh) || unfinished;
      changed = true;
    }
  }
  if (view_pending_ && mayRebuild()) invalidate();
  if (unfinished) QTimer::singleShot(0, this, &CurveChart::refresh);
  if (!changed) return;
  link_->advance();
  data_stale_ = true;
  updateChanged();
}

void CurveChart::invalidate() {
  frame_stale_ = true;
  view_pending_ = false;
  update();
}

// A range that only grew leaves what is on screen right: charts take it up a few a frame, so that no frame has to
// measure all of them anew.
void CurveChart::takeView() {
  if (link_->growing() && !frame_stale_ && isVisible() && !mayRebuild()) {
    view_pending_ = true;
  } else {
    invalidate();
  }
}

// At an unchanged range new samples touch a narrow strip: the rest of the widget is not painted again.
void CurveChart::updateChanged() {
  ensureFrame();
  if (chrome_stale_ || marks_stale_ || curves_from_ == 0 || link_->crosshair()) {
    update();
  } else if (curves_from_ < static_cast<std::size_t>(frame_.x.width)) {
    constexpr int reach = 8;  // of the marker at the end of a curve
    const int left = static_cast<int>(frame_.plot.left() + static_cast<double>(curves_from_) / frame_.dpr) - reach;
    update(std::max(0, left), 0, width(), height());
  }
}

void CurveChart::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  refresh();
}

std::optional<std::pair<double, double>> CurveChart::dataRange() const {
  std::optional<std::pair<double, double>> range;
  for (const Series& series : series_) {
    if (series.data->empty()) continue;
    const double first = series.data->first_x(), last = series.data->last_x();
    range = range ? std::make_pair(std::min(range->first, first), std::max(range->second, last))
                  : std::make_pair(first, last);
  }
  return range;
}

std::vector<ValueRow> CurveChart::valuesAt(double x) const {
  ensureFrame();
  const double pixel = std::floor(frame_.x.pixel(x));
  const double from = frame_.x.step(pixel), to = frame_.x.step(pixel + 1);
  std::vector<ValueRow> rows;
  for (const Series& series : series_) {
    if (!series.shown || series.data->empty()) continue;
    const MinMaxPyramid& samples = *series.data;
    Summary inside = samples.summarize(samples.lower_bound(from), samples.lower_bound(to));
    if (inside.count == 0) {  // zoomed in: the nearest sample
      std::size_t nearest = std::min(samples.lower_bound(x), samples.size() - 1);
      if (nearest > 0 && x - samples.x_at(nearest - 1) < samples.x_at(nearest) - x) --nearest;
      inside.add(samples.y_at(nearest));
    }
    const bool any = inside.finite() > 0;
    const double none = std::nan("");
    rows.push_back({title_, series.info.name, series.info.unit, colorOf(series), any ? inside.last : none,
                    any ? inside.min : none, any ? inside.max : none, inside.count});
  }
  return rows;
}

QRectF CurveChart::plotRect() const {
  ensureFrame();
  return frame_.plot;
}
double CurveChart::xToPixel(double x) const {
  ensureFrame();
  return frame_.xPixel(x);
}
double CurveChart::pixelToX(double pixel) const {
  ensureFrame();
  return frame_.x.step((pixel - frame_.plot.left()) * frame_.dpr);
}
double CurveChart::yToPixel(double value) const {
  ensureFrame();
  return frame_.yPixel(value);
}
double CurveChart::pixelToY(double pixel) const {
  ensureFrame();
  return frame_.y.value((pixel - frame_.plot.top()) * frame_.dpr);
}
const std::vector<ChartMark>& CurveChart::marks() const {
  ensureFrame();
  return frame_.marks;
}
QRectF CurveChart::legendRect(int series) const {
  ensureFrame();
  return frame_.legend.at(static_cast<std::size_t>(series));
}
QRectF CurveChart::followButtonRect() const {
  ensureFrame();
  if (following() || !frame_.has_samples) return {};
  const double width = QFontMetricsF(theme().small_font).horizontalAdvance(tr("▸ Follow")) + 16;
  return {frame_.plot.right() - width - 6, frame_.plot.top() + 6, width, 20};
}

}  // namespace foxhunt::ui
