// Colours, fonts and spacing of the window, dark and light. One theme is current; everything painted by us reads
// theme() and repaints on ThemeNotifier::changed.
#pragma once

#include <QColor>
#include <QFont>
#include <QObject>
#include <array>

class QApplication;
class QPainter;
class QPalette;
class QRectF;

namespace foxhunt::ui {

enum class ThemeChoice { system, dark, light };

// Each lamp has a shape of its own, so that it is readable without colour: filled circle, play triangle, warning
// triangle, diamond, ring.
enum class Lamp { ok, active, warning, bad, idle };

// What an event line on a chart stands for.
enum class EventKind { fold, epoch, checkpoint, setting, guard, warning, note };

struct Theme {
  bool dark = true;
  QColor window, panel, header, border, field;      // surfaces
  QColor text, muted, faint;                        // faint: disabled text, marks
  QColor grid, axis;                                // charts
  QColor accent, selection, button, button_hover;   // controls
  QColor ok, active, warning, bad, idle;            // lamps
  std::array<QColor, 12> series;                    // Okabe-Ito and four more, adapted to the background
  QFont font, small_font, title_font, number_font;  // number_font has digits of one width
  int spacing = 6, radius = 4;                      // logical pixels

  // Colour of the series with that index; they repeat after twelve, where marker shapes differ.
  const QColor& seriesColor(int index) const { return series[static_cast<std::size_t>(index) % series.size()]; }
  QColor eventColor(EventKind kind) const;
  QColor lampColor(Lamp lamp) const;
  // Black or white, whichever reads better on the colour.
  static QColor textOn(const QColor& background);
};

Theme darkTheme();
Theme lightTheme();
const Theme& theme();

class ThemeNotifier : public QObject {
  Q_OBJECT
 Q_SIGNALS:
  void changed();
};
ThemeNotifier& themeNotifier();

// True when text is lighter than the window behind it.
bool paletteIsDark(const QPalette& palette);
// Sets style, palette, fonts and style sheet. With `system` the theme follows the desktop's palette from then on.
void applyTheme(QApplication& app, ThemeChoice choice);
ThemeChoice themeChoice();

void drawLamp(QPainter& painter, const QRectF& box, Lamp lamp);
// The style sheet of the whole program in the theme's colours.
QString styleSheetFor(const Theme& theme);

}  // namespace foxhunt::ui
