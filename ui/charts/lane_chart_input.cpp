// Mouse, wheel, keys and menu of a lane chart: drag pans, Shift + drag chooses a range, the wheel zooms around the
// pointer (with Shift it pans), double click shows everything, Backspace takes back; Shift + arrows move the crosshair
// bar by bar.
#include <QContextMenuEvent>
#include <QMenu>
#include <QMouseEvent>
#include <algorithm>
#include <cmath>

#include "ui/charts/chart_export.h"
#include "ui/charts/lane_chart.h"

namespace foxhunt::ui {
namespace {

constexpr double drag_start = 4;  // pixels before a press becomes a drag
constexpr double key_step = 0.1;  // of the range
constexpr double key_zoom = 0.8;

}  // namespace

void LaneChart::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  layout_ = layoutFor(QSizeF(size()));
  invalidate();
}

void LaneChart::mousePressEvent(QMouseEvent* event) {
  const bool pans = event->button() == Qt::LeftButton || event->button() == Qt::MiddleButton;
  if (!pans || !layout_.plot.contains(event->position())) return QWidget::mousePressEvent(event);
  drag_ = event->modifiers().testFlag(Qt::ShiftModifier) ? Drag::range : Drag::press;
  drag_from_ = drag_at_ = event->position();
  drag_x0_ = x0_;
  drag_x1_ = x1_;
}

void LaneChart::mouseMoveEvent(QMouseEvent* event) {
  const QPointF at = event->position();
  drag_at_ = at;
  if (drag_ == Drag::press && std::abs(at.x() - drag_from_.x()) >= drag_start) {
    remember("drag");
    drag_ = Drag::pan;
    setCursor(Qt::ClosedHandCursor);
  }
  if (drag_ == Drag::pan) {
    const double span = drag_x1_ - drag_x0_;
    const double all = content_ ? static_cast<double>(content_->bars()) : 1;
    const double shift = -(at.x() - drag_from_.x()) / layout_.plot.width() * span;
    const double from = std::clamp(drag_x0_ + shift, 0.0, std::max(0.0, all - span));
    setView(from, from + span);
  }
  const bool inside = layout_.plot.contains(at);
  pointer_ = inside ? std::optional(at) : std::nullopt;
  const double position = std::floor(positionAt(at.x()));
  if (inside && drag_ != Drag::pan && position >= 0) {
    setCrosshair(static_cast<std::size_t>(position));
  } else {
    setCrosshair(std::nullopt);
  }
  update();
}

void LaneChart::mouseReleaseEvent(QMouseEvent* event) {
  const Drag was = std::exchange(drag_, Drag::none);
  unsetCursor();
  if (was == Drag::range) {
    update();
    const double from =
        std::clamp(std::min(drag_from_.x(), event->position().x()), layout_.plot.left(), layout_.plot.right());
    const double to =
        std::clamp(std::max(drag_from_.x(), event->position().x()), layout_.plot.left(), layout_.plot.right());
    if (to - from < drag_start) return;
    remember("range");
    setView(positionAt(from), positionAt(to));
  } else if (was == Drag::press && event->button() == Qt::LeftButton && content_) {
    const double position = std::floor(positionAt(event->position().x()));
    if (position >= 0 && position < static_cast<double>(content_->bars()))
      Q_EMIT barClicked(static_cast<quint64>(position));
  }
}

void LaneChart::mouseDoubleClickEvent(QMouseEvent* event) {
  if (event->button() == Qt::LeftButton) fit();
}

void LaneChart::wheelEvent(QWheelEvent* event) {
  const QPointF at = event->position();
  const QPoint angle = event->angleDelta();
  const double turns = (angle.y() != 0 ? angle.y() : angle.x()) / 120.0;
  if (turns == 0 || !content_ || at.y() < layout_.plot.top() || at.y() > layout_.plot.bottom()) {
    event->ignore();
    return;
  }
  if (event->modifiers().testFlag(Qt::ShiftModifier) || angle.y() == 0) {
    remember("wheel pan");
    const double shift = -turns * key_step * (x1_ - x0_);
    setView(x0_ + shift, x1_ + shift);
  } else {
    remember("wheel");
    zoom(std::pow(0.8, turns), positionAt(std::clamp(at.x(), layout_.plot.left(), layout_.plot.right())));
  }
  event->accept();
}

void LaneChart::keyPressEvent(QKeyEvent* event) {
  if (event->matches(QKeySequence::Undo) || event->key() == Qt::Key_Backspace) {
    undo();
    return;
  }
  const double span = x1_ - x0_, middle = (x0_ + x1_) / 2;
  const bool shift = event->modifiers().testFlag(Qt::ShiftModifier);
  const auto pan = [&](double part) {
    remember("key pan");
    setView(x0_ + part * span, x1_ + part * span);
  };
  const auto step = [&](int by) {
    if (!content_ || content_->bars() == 0) return;
    const auto last = static_cast<qint64>(content_->bars()) - 1;
    const qint64 now = crosshair_ ? static_cast<qint64>(*crosshair_) + by : static_cast<qint64>(middle);
    const auto bar = static_cast<double>(std::clamp<qint64>(now, 0, last));
    if (bar < x0_) setView(bar, bar + span);
    if (bar + 1 > x1_) setView(bar + 1 - span, bar + 1);
    setCrosshair(static_cast<std::size_t>(bar));
  };
  switch (event->key()) {
    case Qt::Key_Left:
      return shift ? step(-1) : pan(-key_step);
    case Qt::Key_Right:
      return shift ? step(1) : pan(key_step);
    case Qt::Key_Plus:
    case Qt::Key_Equal:
      remember("key zoom");
      return zoom(key_zoom, middle);
    case Qt::Key_Minus:
      remember("key zoom");
      return zoom(1 / key_zoom, middle);
    case Qt::Key_Home:
    case Qt::Key_0:
      return fit();
    case Qt::Key_Escape:
      if (drag_ == Drag::range) {
        drag_ = Drag::none;
        update();
        return;
      }
      break;
    default:
      break;
  }
  QWidget::keyPressEvent(event);
}

void LaneChart::leaveEvent(QEvent* event) {
  pointer_.reset();
  setCrosshair(std::nullopt);
  update();
  QWidget::leaveEvent(event);
}

void LaneChart::contextMenuEvent(QContextMenuEvent* event) {
  auto* menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  menu->addAction(tr("Everything in view"), this, &LaneChart::fit);
  menu->addAction(tr("Undo zoom"), this, [this] { undo(); })->setEnabled(!past_.empty());
  menu->addSeparator();
  for (std::size_t i = 0; content_ && i < content_->data().lanes.size(); ++i) {
    const auto lane = static_cast<int>(i);
    QAction* shown = menu->addAction(content_->data().lanes[i].name);
    shown->setCheckable(true);
    shown->setChecked(laneVisible(lane));
    connect(shown, &QAction::toggled, this, [this, lane](bool on) { setLaneVisible(lane, on); });
  }
  menu->addSeparator();
  addExportFormats(menu, tr("Export %1"), [this](const QString& suffix) {
    chooseExport(this, title_, suffix, [this](const QString& path) { exportTo(path); });
  });
  menu->popup(event->globalPos());
}

}  // namespace foxhunt::ui
