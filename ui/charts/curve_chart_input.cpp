// Mouse, wheel and keyboard of a curve chart.
//
// Left drag pans, Shift + left drag zooms to a rectangle (to its width alone when it is flat), the wheel zooms x, with
// Ctrl or over the y axis y, with Shift it pans. Double click fits. Ctrl + click or double click on a legend entry
// isolates it.
#include <QHelpEvent>
#include <QMouseEvent>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "ui/charts/curve_chart.h"
#include "ui/charts/format.h"

namespace foxhunt::ui {
namespace {

constexpr double drag_start = 4;  // pixels before a press becomes a drag
constexpr double reach = 4;       // pixels around a line that take the mouse
constexpr double flat_rectangle = 10;
constexpr double key_step = 0.1;  // of the range
constexpr double key_zoom = 0.8;

}  // namespace

bool CurveChart::overThreshold(const QPointF& at) const {
  if (!threshold_ || !threshold_->draggable || (log_y_ && threshold_->value <= 0)) return false;
  const QRectF plot = plotRect();
  const double y = yToPixel(threshold_->value);
  return at.x() >= plot.left() && at.x() <= plot.right() && y > plot.top() - 1 && y < plot.bottom() + 1 &&
         std::abs(at.y() - y) <= reach;
}

void CurveChart::mousePressEvent(QMouseEvent* event) {
  const QPointF at = event->position();
  if (event->button() == Qt::MiddleButton && plotRect().contains(at)) {
    press(at, Qt::NoModifier);
  } else if (event->button() == Qt::LeftButton) {
    if (followButtonRect().contains(at)) {
      link_->remember(this, "follow");
      link_->follow();
      return;
    }
    if (clickLegend(at, event->modifiers())) return;
    if (overThreshold(at)) {
      drag_ = Drag::threshold;
      frozen_y_ = YView{false, frame_.y.low(), frame_.y.high()};
      return;
    }
    if (plotRect().contains(at)) press(at, event->modifiers());
  } else {
    QWidget::mousePressEvent(event);
  }
}

void CurveChart::press(const QPointF& at, Qt::KeyboardModifiers modifiers) {
  drag_ = modifiers.testFlag(Qt::ShiftModifier) ? Drag::rectangle : Drag::press;
  drag_from_ = drag_at_ = at;
  drag_x_ = link_->view();
  ensureFrame();
  drag_y_ = y_view_.automatic ? YView{true, frame_.y.low(), frame_.y.high()} : y_view_;
}

bool CurveChart::clickLegend(const QPointF& at, Qt::KeyboardModifiers modifiers) {
  ensureFrame();
  for (std::size_t i = 0; i < frame_.legend.size(); ++i) {
    if (frame_.legend[i].isNull() || !frame_.legend[i].contains(at)) continue;
    shown_before_.clear();
    for (const Series& series : series_) shown_before_.push_back(series.shown);
    const auto index = static_cast<int>(i);
    if (modifiers.testFlag(Qt::ControlModifier)) {
      isolateSeries(index);
    } else {
      const int isolated = isolated_;
      setSeriesVisible(index, !series_[i].shown);
      isolated_ = isolated;  // a double click must still know of it
    }
    return true;
  }
  return false;
}

void CurveChart::mouseDoubleClickEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  ensureFrame();
  for (std::size_t i = 0; i < frame_.legend.size(); ++i) {
    if (frame_.legend[i].isNull() || !frame_.legend[i].contains(event->position())) continue;
    const int isolated = isolated_;
    for (std::size_t s = 0; s < shown_before_.size() && s < series_.size(); ++s) {
      setSeriesVisible(static_cast<int>(s), shown_before_[s]);
    }
    isolated_ = isolated;
    isolateSeries(static_cast<int>(i));
    return;
  }
  if (!followButtonRect().contains(event->position()) && !overThreshold(event->position())) fit();
}

void CurveChart::mouseMoveEvent(QMouseEvent* event) {
  const QPointF at = event->position();
  drag_at_ = at;
  if (drag_ == Drag::threshold) {
    dragThreshold(at.y());
    return;
  }
  if (drag_ == Drag::press && (at - drag_from_).manhattanLength() >= drag_start) {
    link_->remember(this, "drag");
    drag_ = Drag::pan;
  }
  if (drag_ == Drag::pan) dragPan(at);
  if (drag_ == Drag::rectangle) update();
  const bool inside = plotRect().contains(at);
  link_->setCrosshair(inside && drag_ != Drag::pan ? std::optional(pixelToX(at.x())) : std::nullopt);
  if (overThreshold(at)) {
    setCursor(Qt::SizeVerCursor);
  } else if (drag_ == Drag::pan) {
    setCursor(Qt::ClosedHandCursor);
  } else {
    unsetCursor();
  }
}

void CurveChart::dragPan(const QPointF& at) {
  const QRectF plot = plotRect();
  const XScale& scale = xScale();
  const double low = scale.toDisplay(drag_x_.x0), high = scale.toDisplay(drag_x_.x1);
  const double shift = -(at.x() - drag_from_.x()) / plot.width() * (high - low);
  if (shift != 0) setRange(scale.fromDisplay(low + shift), scale.fromDisplay(high + shift));
  if (drag_y_.automatic) return;  // an automatic axis stays so
  YMap map;
  map.height = frame_.y.height;
  map.set(drag_y_.low, drag_y_.high, log_y_);
  const double pixels = (at.y() - drag_from_.y()) * frame_.dpr;
  setYView({false, map.value(map.height - pixels), map.value(-pixels)});
}

void CurveChart::dragThreshold(double pixel) {
  const QRectF plot = plotRect();
  const double clamped = std::clamp(pixel, plot.top(), plot.bottom());
  double value = pixelToY(clamped);
  // Rounded to what a pixel can tell apart.
  const double resolution = std::abs(pixelToY(std::max(clamped - 1, plot.top() - 1)) - pixelToY(clamped));
  const double grain = std::pow(10.0, std::floor(std::log10(std::max(resolution, 1e-300))));
  value = std::round(value / grain) * grain;
  if (log_y_ && value <= 0) value = pixelToY(clamped);
  if (value == threshold_->value) return;
  threshold_->value = value;
  invalidate();
  Q_EMIT thresholdChanged(value);
}

void CurveChart::mouseReleaseEvent(QMouseEvent* event) {
  const Drag was = drag_;
  drag_ = Drag::none;
  drag_at_ = event->position();
  if (was == Drag::threshold) {
    frozen_y_.reset();
    invalidate();
    Q_EMIT thresholdCommitted(threshold_->value);
  } else if (was == Drag::rectangle) {
    finishRectangle();
  } else if (was == Drag::pan) {
    unsetCursor();
  } else {
    QWidget::mouseReleaseEvent(event);
  }
}

void CurveChart::finishRectangle() {
  update();
  const QRectF box = QRectF(drag_from_, drag_at_).normalized().intersected(plotRect());
  if (box.width() < drag_start) return;
  link_->remember(this, "rectangle");
  const double x0 = pixelToX(box.left()), x1 = pixelToX(box.right());
  if (box.height() >= flat_rectangle) setYView({false, pixelToY(box.bottom()), pixelToY(box.top())});
  setRange(x0, x1);
}

void CurveChart::wheelEvent(QWheelEvent* event) {
  const QPointF at = event->position();
  const QRectF plot = plotRect();
  const QPoint angle = event->angleDelta();
  const double turns = (angle.y() != 0 ? angle.y() : angle.x()) / 120.0;
  if (turns == 0 || at.y() < plot.top() || at.y() > plot.bottom()) {
    event->ignore();
    return;
  }
  const double factor = std::pow(0.8, turns);
  const auto modifiers = event->modifiers();
  if (modifiers.testFlag(Qt::ControlModifier) || at.x() < plot.left()) {
    link_->remember(this, "wheel y");
    zoomY(factor, at.y());
  } else if (modifiers.testFlag(Qt::ShiftModifier) || angle.y() == 0) {
    link_->remember(this, "wheel pan");
    pan(-turns * key_step, 0);
  } else {
    link_->remember(this, "wheel x");
    zoomX(factor, pixelToX(std::clamp(at.x(), plot.left(), plot.right())));
  }
  event->accept();
}

void CurveChart::keyPressEvent(QKeyEvent* event) {
  const bool control = event->modifiers().testFlag(Qt::ControlModifier);
  const bool shift = event->modifiers().testFlag(Qt::ShiftModifier);
  if (event->matches(QKeySequence::Undo) || event->key() == Qt::Key_Backspace) {
    link_->undo();
    return;
  }
  if (event->matches(QKeySequence::Redo)) {
    link_->redo();
    return;
  }
  const double middle = xScale().fromDisplay((xScale().toDisplay(xView().x0) + xScale().toDisplay(xView().x1)) / 2);
  const auto move = [this](const char* gesture, double x, double y) {
    link_->remember(this, gesture);
    pan(x, y);
  };
  const auto zoom = [&](double factor) {
    link_->remember(this, shift && control ? "key zoom y" : "key zoom x");
    if (control) {
      zoomY(factor, plotRect().center().y());
    } else {
      zoomX(factor, middle);
    }
  };
  switch (event->key()) {
    case Qt::Key_Left:
      return move("key pan", -key_step, 0);
    case Qt::Key_Right:
      return move("key pan", key_step, 0);
    case Qt::Key_Up:
      return move("key pan y", 0, key_step);
    case Qt::Key_Down:
      return move("key pan y", 0, -key_step);
    case Qt::Key_Plus:
    case Qt::Key_Equal:
      return zoom(key_zoom);
    case Qt::Key_Minus:
      return zoom(1 / key_zoom);
    case Qt::Key_Home:
    case Qt::Key_0:
      return fit();
    case Qt::Key_End:
    case Qt::Key_F:
      link_->remember(this, "follow");
      return link_->follow();
    case Qt::Key_L:
      return setLogY(!log_y_);
    case Qt::Key_Escape:
      if (drag_ == Drag::rectangle) {
        drag_ = Drag::none;
        update();
        return;
      }
      if (isolated_ >= 0) return isolateSeries(isolated_);
      break;
    default:
      break;
  }
  QWidget::keyPressEvent(event);
}

void CurveChart::leaveEvent(QEvent* event) {
  link_->setCrosshair(std::nullopt);
  QWidget::leaveEvent(event);
}

bool CurveChart::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    showHelp(help->pos(), help->globalPos());
    return true;
  }
  return QWidget::event(event);
}

// Legend entries explain their series, event lines and the badge themselves.
void CurveChart::showHelp(const QPoint& at, const QPoint& global) {
  ensureFrame();
  QString text;
  for (std::size_t i = 0; i < series_.size(); ++i) {
    if (frame_.legend[i].isNull() || !frame_.legend[i].contains(at)) continue;
    const Series& series = series_[i];
    text = series.info.name;
    if (!series.info.unit.isEmpty()) text += QStringLiteral(" [%1]").arg(series.info.unit);
    if (!series.info.meaning.isEmpty()) text += QLatin1Char('\n') + series.info.meaning;
    text += QLatin1Char('\n') + tr("%1 samples").arg(formatCount(static_cast<double>(series.data->size())));
  }
  if (text.isEmpty() && at.y() >= frame_.lane.top() && at.y() <= frame_.plot.bottom()) {
    for (const EventLine& event : eventsInView(frame_)) {
      if (std::abs(frame_.xPixel(event.x) - at.x()) > reach) continue;
      if (!text.isEmpty()) text += QLatin1Char('\n');
      text += xScale().format(xScale().toDisplay(event.x)) + QStringLiteral(": ") + event.label;
      if (!event.detail.isEmpty()) text += QStringLiteral(" · ") + event.detail;
    }
  }
  if (text.isEmpty() && at.y() < frame_.lane.top()) text = frame_.badge_text;
  if (text.isEmpty()) {
    QToolTip::hideText();
  } else {
    QToolTip::showText(global, text, this);
  }
}

}  // namespace foxhunt::ui
