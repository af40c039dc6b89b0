// Both palettes, fonts, lamps and following of the desktop's palette.
#include "ui/theme.h"

#include <QApplication>
#include <QEvent>
#include <QFontDatabase>
#include <QFontMetricsF>
#include <QPainter>
#include <QPainterPath>
#include <QPalette>
#include <QPointer>
#include <QStyleFactory>
#include <cmath>

namespace foxhunt::ui {
namespace {

bool tabular(const QFont& font) {
  const QFontMetricsF metrics(font);
  const double zero = metrics.horizontalAdvance(QLatin1Char('0'));
  for (char digit = '1'; digit <= '9'; ++digit) {
    if (std::abs(metrics.horizontalAdvance(QLatin1Char(digit)) - zero) > 0.01) return false;
  }
  return true;
}

// 12-pixel text as the densest that stays readable all day; the first installed family of the list.
void setFonts(Theme& theme) {
  QFont base;
  const QStringList installed = QFontDatabase::families();
  for (const char* family : {"Inter", "Noto Sans", "Cantarell", "DejaVu Sans"}) {
    if (installed.contains(QLatin1String(family))) {
      base.setFamily(QLatin1String(family));
      break;
    }
  }
  base.setPixelSize(12);
  theme.font = theme.small_font = theme.title_font = theme.number_font = base;
  theme.small_font.setPixelSize(11);
  theme.title_font.setWeight(QFont::DemiBold);
  if (!tabular(base)) {
    theme.number_font = QFontDatabase::systemFont(QFontDatabase::FixedFont);
    theme.number_font.setPixelSize(12);
  }
}

struct Current {
  Theme theme;
  ThemeChoice choice = ThemeChoice::system;
  bool applying = false;
  bool set = false;
};

Current& current() {
  static Current state;
  if (!state.set && qApp != nullptr) {
    state.theme = lightTheme();
    state.set = true;
  }
  return state;
}

QPalette paletteFor(const Theme& theme) {
  QPalette palette;
  palette.setColor(QPalette::Window, theme.window);
  palette.setColor(QPalette::WindowText, theme.text);
  palette.setColor(QPalette::Base, theme.panel);
  palette.setColor(QPalette::AlternateBase, theme.header);
  palette.setColor(QPalette::Text, theme.text);
  palette.setColor(QPalette::PlaceholderText, theme.muted);
  palette.setColor(QPalette::Button, theme.button);
  palette.setColor(QPalette::ButtonText, theme.text);
  palette.setColor(QPalette::BrightText, theme.bad);
  palette.setColor(QPalette::ToolTipBase, theme.header);
  palette.setColor(QPalette::ToolTipText, theme.text);
  palette.setColor(QPalette::Highlight, theme.selection);
  palette.setColor(QPalette::HighlightedText, theme.text);
  palette.setColor(QPalette::Link, theme.accent);
  palette.setColor(QPalette::LinkVisited, theme.accent);
  palette.setColor(QPalette::Light, theme.border);
  palette.setColor(QPalette::Midlight, theme.border);
  palette.setColor(QPalette::Mid, theme.border);
  palette.setColor(QPalette::Dark, theme.border);
  palette.setColor(QPalette::Shadow, theme.dark ? QColor(0, 0, 0) : theme.border);
  for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText}) {
    palette.setColor(QPalette::Disabled, role, theme.faint);
  }
  return palette;
}

// Notices that the desktop changed its palette while ours is set.
class SystemWatch : public QObject {
 public:
  explicit SystemWatch(QApplication& app) : QObject(&app), app_(app) { app.installEventFilter(this); }

 protected:
  bool eventFilter(QObject* object, QEvent* event) override {
    const bool told = event->type() == QEvent::ThemeChange || event->type() == QEvent::ApplicationPaletteChange;
    if (told && object == &app_ && !current().applying && current().choice == ThemeChoice::system) {
      applyTheme(app_, ThemeChoice::system);
    }
    return QObject::eventFilter(object, event);
  }

 private:
  QApplication& app_;
};

}  // namespace

Theme darkTheme() {
  Theme theme;
  theme.dark = true;
  theme.window = QColor(0x14, 0x17, 0x1c);
  theme.panel = QColor(0x1b, 0x1e, 0x25);
  theme.header = QColor(0x22, 0x26, 0x2f);
  theme.border = QColor(0x33, 0x38, 0x43);
  theme.field = QColor(0x17, 0x1a, 0x20);
  theme.text = QColor(0xe4, 0xe7, 0xec);
  theme.muted = QColor(0x98, 0xa0, 0xae);
  theme.faint = QColor(0x5d, 0x65, 0x73);
  theme.grid = QColor(0x2a, 0x2f, 0x39);
  theme.axis = QColor(0x3d, 0x44, 0x51);
  theme.accent = QColor(0x4c, 0x9f, 0xff);
  theme.selection = QColor(0x22, 0x3c, 0x5a);
  theme.button = QColor(0x24, 0x28, 0x32);
  theme.button_hover = QColor(0x2e, 0x34, 0x40);
  theme.ok = QColor(0x00, 0x9e, 0x73);
  theme.active = QColor(0x56, 0xb4, 0xe9);
  theme.warning = QColor(0xe6, 0x9f, 0x00);
  theme.bad = QColor(0xe0, 0x52, 0x4a);
  theme.idle = QColor(0x7d, 0x86, 0x94);
  theme.series = {QColor(0x56, 0xb4, 0xe9), QColor(0xe6, 0x9f, 0x00), QColor(0x00, 0xa8, 0x7a),
                  QColor(0xcc, 0x79, 0xa7), QColor(0xf0, 0xe4, 0x42), QColor(0xe0, 0x6c, 0x1f),
                  QColor(0x7f, 0xa6, 0xff), QColor(0xa5, 0xa9, 0xb0), QColor(0xc9, 0x9b, 0x6b),
                  QColor(0x9f, 0xd3, 0x56), QColor(0xb7, 0x9c, 0xf2), QColor(0x4f, 0xd0, 0xcf)};
  setFonts(theme);
  return theme;
}

Theme lightTheme() {
  Theme theme;
  theme.dark = false;
  theme.window = QColor(0xe9, 0xec, 0xf1);
  theme.panel = QColor(0xff, 0xff, 0xff);
  theme.header = QColor(0xf3, 0xf5, 0xf8);
  theme.border = QColor(0xcf, 0xd5, 0xde);
  theme.field = QColor(0xfb, 0xfc, 0xfd);
  theme.text = QColor(0x1b, 0x20, 0x29);
  theme.muted = QColor(0x5d, 0x66, 0x74);
  theme.faint = QColor(0xa4, 0xac, 0xb8);
  theme.grid = QColor(0xe8, 0xeb, 0xf0);
  theme.axis = QColor(0xc6, 0xcd, 0xd7);
  theme.accent = QColor(0x0b, 0x62, 0xc4);
  theme.selection = QColor(0xcf, 0xe3, 0xfa);
  theme.button = QColor(0xf7, 0xf9, 0xfb);
  theme.button_hover = QColor(0xec, 0xf1, 0xf7);
  theme.ok = QColor(0x00, 0x8a, 0x64);
  theme.active = QColor(0x1f, 0x83, 0xc4);
  theme.warning = QColor(0xb8, 0x74, 0x00);
  theme.bad = QColor(0xc0, 0x31, 0x2b);
  theme.idle = QColor(0x84, 0x8d, 0x9a);
  theme.series = {QColor(0x2f, 0x93, 0xd1), QColor(0xd9, 0x8c, 0x00), QColor(0x00, 0x8f, 0x68),
                  QColor(0xbb, 0x5f, 0x94), QColor(0xa8, 0x90, 0x00), QColor(0xd5, 0x5e, 0x00),
                  QColor(0x00, 0x5f, 0xa8), QColor(0x70, 0x77, 0x82), QColor(0x8a, 0x5a, 0x2b),
                  QColor(0x5b, 0x8a, 0x1c), QColor(0x7a, 0x5b, 0xd0), QColor(0x0f, 0x85, 0x8c)};
  setFonts(theme);
  return theme;
}

QColor Theme::eventColor(EventKind kind) const {
  switch (kind) {
    case EventKind::fold:
      return muted;
    case EventKind::epoch:
      return faint;
    case EventKind::checkpoint:
      return ok;
    case EventKind::setting:
      return series[1];
    case EventKind::guard:
      return bad;
    case EventKind::warning:
      return warning;
    case EventKind::note:
      return accent;
  }
  return muted;
}

QColor Theme::lampColor(Lamp lamp) const {
  switch (lamp) {
    case Lamp::ok:
      return ok;
    case Lamp::active:
      return active;
    case Lamp::warning:
      return warning;
    case Lamp::bad:
      return bad;
    case Lamp::idle:
      return idle;
  }
  return idle;
}

QColor Theme::textOn(const QColor& background) {
  const double luma = 0.299 * background.redF() + 0.587 * background.greenF() + 0.114 * background.blueF();
  return luma > 0.55 ? QColor(0x10, 0x12, 0x16) : QColor(0xff, 0xff, 0xff);
}

const Theme& theme() {
  return current().theme;
}

ThemeNotifier& themeNotifier() {
  static ThemeNotifier notifier;
  return notifier;
}

bool paletteIsDark(const QPalette& palette) {
  return palette.color(QPalette::WindowText).lightness() > palette.color(QPalette::Window).lightness();
}

void applyTheme(QApplication& app, ThemeChoice choice) {
  Current& state = current();
  state.applying = true;
  bool dark = choice == ThemeChoice::dark;
  if (choice == ThemeChoice::system) {
    app.setPalette(QPalette());  // gives the desktop's own palette back
    dark = paletteIsDark(QGuiApplication::palette());
  }
  state.theme = dark ? darkTheme() : lightTheme();
  state.choice = choice;
  state.set = true;
  if (app.style() == nullptr || app.style()->name() != QLatin1String("fusion")) {
    QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
  }
  QApplication::setPalette(paletteFor(state.theme));
  QApplication::setFont(state.theme.font);
  app.setStyleSheet(styleSheetFor(state.theme));
  static QPointer<SystemWatch> watch;
  if (watch.isNull()) watch = new SystemWatch(app);
  state.applying = false;
  Q_EMIT themeNotifier().changed();
}

ThemeChoice themeChoice() {
  return current().choice;
}

void drawLamp(QPainter& painter, const QRectF& box, Lamp lamp) {
  const QColor color = theme().lampColor(lamp);
  const double side = std::min(box.width(), box.height());
  const QRectF square(box.center().x() - side / 2, box.center().y() - side / 2, side, side);
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(color);
  QPolygonF shape;
  switch (lamp) {
    case Lamp::ok:
      painter.drawEllipse(square);
      break;
    case Lamp::active:
      shape << square.topLeft() << QPointF(square.right(), square.center().y()) << square.bottomLeft();
      break;
    case Lamp::warning:
      shape << QPointF(square.center().x(), square.top()) << square.bottomRight() << square.bottomLeft();
      break;
    case Lamp::bad:
      shape << QPointF(square.center().x(), square.top()) << QPointF(square.right(), square.center().y())
            << QPointF(square.center().x(), square.bottom()) << QPointF(square.left(), square.center().y());
      break;
    case Lamp::idle:
      painter.setBrush(Qt::NoBrush);
      painter.setPen(QPen(color, side / 5));
      painter.drawEllipse(square.adjusted(side / 10, side / 10, -side / 10, -side / 10));
      break;
  }
  if (!shape.isEmpty()) painter.drawPolygon(shape);
  painter.restore();
}

}  // namespace foxhunt::ui
