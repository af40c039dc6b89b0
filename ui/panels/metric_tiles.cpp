// Label above value, separated by thin lines.
#include "ui/panels/metric_tiles.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <cmath>

#include "ui/theme.h"

namespace foxhunt::ui {

MetricTiles::MetricTiles(QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("Metrics"));
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  connect(&themeNotifier(), &ThemeNotifier::changed, this, [this] { update(); });
}

void MetricTiles::setTiles(std::vector<MetricTile> tiles) {
  tiles_ = std::move(tiles);
  QStringList words;
  for (const MetricTile& tile : tiles_) words << tile.label + QLatin1Char(' ') + tile.value;
  setAccessibleDescription(words.join(QStringLiteral(", ")));
  update();
}

std::vector<QRectF> MetricTiles::places() const {
  const QFontMetricsF small(theme().small_font);
  QFont font = theme().number_font;
  font.setWeight(QFont::DemiBold);
  const QFontMetricsF large(font);
  std::vector<QRectF> out;
  double left = 8;
  for (const MetricTile& tile : tiles_) {
    const double wide =
        std::ceil(std::max(small.horizontalAdvance(tile.label), large.horizontalAdvance(tile.value))) + 20;
    if (left + wide > width()) break;
    out.emplace_back(left, 2, wide, height() - 4);
    left += wide;
  }
  return out;
}

void MetricTiles::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const auto spots = places();
  QFont font = theme().number_font;
  font.setWeight(QFont::DemiBold);
  for (std::size_t i = 0; i < spots.size(); ++i) {
    const QRectF& spot = spots[i];
    if (i > 0) {
      painter.setPen(theme().grid);
      painter.drawLine(QPointF(spot.left() - 8, spot.top() + 4), QPointF(spot.left() - 8, spot.bottom() - 4));
    }
    painter.setPen(theme().muted);
    painter.setFont(theme().small_font);
    painter.drawText(QRectF(spot.left() + 2, spot.top(), spot.width() - 12, 16), Qt::AlignLeft | Qt::AlignVCenter,
                     tiles_[i].label);
    painter.setPen(theme().text);
    painter.setFont(font);
    painter.drawText(QRectF(spot.left() + 2, spot.top() + 16, spot.width() - 10, 18), Qt::AlignLeft | Qt::AlignVCenter,
                     tiles_[i].value);
  }
}

bool MetricTiles::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  auto* help = static_cast<QHelpEvent*>(event);
  const auto spots = places();
  for (std::size_t i = 0; i < spots.size(); ++i) {
    if (spots[i].contains(help->pos())) QToolTip::showText(help->globalPos(), tiles_[i].tip, this);
  }
  return true;
}

}  // namespace foxhunt::ui
