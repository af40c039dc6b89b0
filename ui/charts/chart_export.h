// Charts as files: what all kinds of them share about formats, failures and menus.
#pragma once

#include <QSizeF>
#include <QString>
#include <functional>
#include <string>

class QMenu;
class QPainter;
class QWidget;

namespace foxhunt::ui {

inline constexpr double export_image_scale = 2;  // PNG pixels a logical pixel

struct ChartPicture {
  QSizeF size;  // logical pixels
  QString title, summary;
  std::function<void(QPainter& painter)> paint;  // all of `size`, background included
};

// By suffix .png, .svg or .pdf. Throws Error when it cannot be written, usage_error for another suffix.
void exportPicture(const QString& path, const ChartPicture& picture);

// Whether the suffix asks for the chart's numbers.
bool wantsCsv(const QString& path);

// A file made of parts, there as a whole or not at all. Throws Error when it cannot be written.
using TextPart = std::function<void(const std::string& part)>;
void exportText(const QString& path, const std::function<void(const TextPart& add)>& write);

// Asks for a file named after the chart and hands it to `write`; what that throws is shown over `parent`.
void chooseExport(QWidget* parent, const QString& title, const QString& suffix,
                  const std::function<void(const QString& path)>& write);

// An entry a format, each named by `label` with %1 for the format; `chosen` gets the suffix.
void addExportFormats(QMenu* menu, const QString& label, const std::function<void(const QString& suffix)>& chosen);

}  // namespace foxhunt::ui
