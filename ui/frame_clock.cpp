// Ticks, cost of a frame, and the paint rate under load.
#include "ui/frame_clock.h"

#include <QCoreApplication>
#include <QEvent>
#include <QLocale>
#include <algorithm>
#include <numeric>

namespace foxhunt::ui {
namespace {

// Delivered after the update requests that a tick posts (those have Qt::LowEventPriority), so that the time until
// it arrives is what the tick and its painting cost.
const int frame_done = QEvent::registerEventType();
constexpr int after_painting = Qt::LowEventPriority - 1;

// Above `slow` the rate halves, below `fast` it doubles; the gap between them keeps it from swinging.
constexpr double slow_ms = 12, fast_ms = 5;
constexpr int slowest_divisor = 8;

}  // namespace

FrameClock::FrameClock(QObject* parent) : QObject(parent) {
  timer_.setTimerType(Qt::PreciseTimer);
  timer_.setInterval(1000 / rate_hz);
  connect(&timer_, &QTimer::timeout, this, &FrameClock::tick);
  since_tick_.start();
}

void FrameClock::start() {
  last_tick_ms_ = -1;
  timer_.start();
}

void FrameClock::stop() {
  timer_.stop();
}

void FrameClock::addReader(QObject* owner, std::function<void()> read) {
  clients_.push_back({owner, std::move(read), false});
}

void FrameClock::addPainter(QWidget* widget, std::function<void()> paint) {
  clients_.push_back({widget, std::move(paint), true});
}

void FrameClock::remove(QObject* owner) {
  std::erase_if(clients_, [owner](const Client& client) { return client.owner == owner; });
}

bool FrameClock::visible(const QObject& owner) const {
  const auto* widget = qobject_cast<const QWidget*>(&owner);
  if (widget == nullptr || !widget->isVisible() || widget->window()->isMinimized()) return false;
  // What its parents leave of it. (QWidget::visibleRegion() is empty where an opaque child covers all of it.)
  QRect seen = widget->rect();
  for (const QWidget* at = widget; !at->isWindow() && at->parentWidget() != nullptr; at = at->parentWidget()) {
    seen = seen.translated(at->pos()).intersected(at->parentWidget()->rect());
  }
  return !seen.isEmpty();
}

void FrameClock::tick() {
  const double now = static_cast<double>(since_tick_.nsecsElapsed()) / 1e6;
  if (!measuring_) tick_started_ms_ = now;
  std::erase_if(clients_, [](const Client& client) { return client.owner.isNull(); });
  const bool paint = ticks_++ % divisor_ == 0;
  const std::vector<Client> clients = clients_;  // a call may add or remove clients
  for (const Client& client : clients) {
    if (client.owner.isNull() || (client.painter && (!paint || !visible(*client.owner)))) continue;
    client.call();
  }
  if (!measuring_) {
    measuring_ = true;
    QCoreApplication::postEvent(this, new QEvent(static_cast<QEvent::Type>(frame_done)), after_painting);
  }
}

bool FrameClock::event(QEvent* event) {
  if (event->type() != frame_done) return QObject::event(event);
  const double now = static_cast<double>(since_tick_.nsecsElapsed()) / 1e6;
  const double wall = last_tick_ms_ < 0 ? 1000.0 / rate_hz : tick_started_ms_ - last_tick_ms_;
  last_tick_ms_ = tick_started_ms_;
  measuring_ = false;
  recordFrame(now - tick_started_ms_, wall);
  return true;
}

void FrameClock::recordFrame(double milliseconds, double wall_milliseconds) {
  if (costs_.size() < history) {
    costs_.push_back(milliseconds);
    walls_.push_back(wall_milliseconds);
  } else {
    costs_[next_] = milliseconds;
    walls_[next_] = wall_milliseconds;
  }
  next_ = (next_ + 1) % history;
  if (++since_decision_ >= decide_every) adapt();
}

// Judges the mean of the most recent frames, so that a rate that skips painting is judged by what it saves.
void FrameClock::adapt() {
  since_decision_ = 0;
  double sum = 0;
  for (std::size_t i = 1; i <= decide_every; ++i) sum += costs_[(next_ + history - i) % history];
  const double mean = sum / decide_every;
  const int before = divisor_;
  if (mean > slow_ms && divisor_ < slowest_divisor) divisor_ *= 2;
  // Doubling the rate doubles the painting: `fast` lies below half of `slow`, so it does not swing back.
  if (mean < fast_ms && divisor_ > 1) divisor_ /= 2;
  if (divisor_ != before) Q_EMIT paintRateChanged(rate_hz / divisor_);
}

FrameCost FrameClock::cost() const {
  FrameCost cost;
  cost.paint_hz = rate_hz / divisor_;
  cost.frames = static_cast<int>(costs_.size());
  if (costs_.empty()) return cost;
  std::vector<double> sorted = costs_;
  std::sort(sorted.begin(), sorted.end());
  cost.median_ms = sorted[sorted.size() / 2];
  cost.p99_ms = sorted[std::min(sorted.size() - 1, sorted.size() * 99 / 100)];
  const double wall = std::accumulate(walls_.begin(), walls_.end(), 0.0);
  cost.share = wall > 0 ? std::min(1.0, std::accumulate(costs_.begin(), costs_.end(), 0.0) / wall) : 0;
  return cost;
}

QString FrameClock::summary() const {
  const FrameCost now = cost();
  const QLocale locale;
  QString text = tr("window %1 ms a frame (%2 % of its thread)")
                     .arg(locale.toString(now.median_ms, 'f', 1), locale.toString(100 * now.share, 'f', 0));
  if (now.paint_hz < rate_hz) text += tr(" · busy: drawn at %1 Hz, every sample still read").arg(now.paint_hz);
  return text;
}

}  // namespace foxhunt::ui
