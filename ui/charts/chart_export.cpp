// PNG by QImage, SVG and PDF by Qt's own writers.
#include "ui/charts/chart_export.h"

#include <QCoreApplication>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QImage>
#include <QMenu>
#include <QMessageBox>
#include <QPageSize>
#include <QPainter>
#include <QPdfWriter>
#include <QSaveFile>
#include <QSvgGenerator>

#include "engine/base/error.h"

namespace foxhunt::ui {
namespace {

QString tr(const char* text) {
  return QCoreApplication::translate("foxhunt::ui::ChartExport", text);
}

[[noreturn]] void cannotWrite(const QString& path, const QString& why) {
  throw Error("the chart could not be written: " + why.toStdString(),
              {.file = path.toStdString(), .hint = "choose a folder that exists and may be written to"});
}

QString suffixOf(const QString& path) {
  return QFileInfo(path).suffix().toLower();
}

void writePng(const QString& path, const ChartPicture& picture) {
  QImage image((picture.size * export_image_scale).toSize(), QImage::Format_ARGB32_Premultiplied);
  image.setDevicePixelRatio(export_image_scale);
  {
    QPainter painter(&image);
    picture.paint(painter);
  }
  if (!image.save(path, "PNG")) cannotWrite(path, tr("not a file that can be written"));
}

void writeSvg(QFile& file, const ChartPicture& picture) {
  QSvgGenerator generator;
  generator.setOutputDevice(&file);
  generator.setSize(picture.size.toSize());
  generator.setViewBox(QRectF(QPointF(0, 0), picture.size));
  generator.setTitle(picture.title);
  generator.setDescription(picture.summary);
  QPainter painter(&generator);
  picture.paint(painter);
}

void writePdf(QFile& file, const ChartPicture& picture) {
  QPdfWriter writer(&file);
  writer.setTitle(picture.title);
  writer.setPageSize(QPageSize(picture.size * 0.75, QPageSize::Point));  // 96 logical pixels an inch
  writer.setPageMargins(QMarginsF());
  writer.setResolution(96);
  QPainter painter(&writer);
  picture.paint(painter);
}

}  // namespace

bool wantsCsv(const QString& path) {
  return suffixOf(path) == QLatin1String("csv");
}

void exportPicture(const QString& path, const ChartPicture& picture) {
  const QString suffix = suffixOf(path);
  if (suffix == QLatin1String("png")) return writePng(path, picture);
  if (suffix != QLatin1String("svg") && suffix != QLatin1String("pdf"))
    throw usage_error("a chart cannot be written as \"" + suffix.toStdString() + "\"",
                      {.file = path.toStdString(), .hint = "end the name in .png, .svg, .pdf or .csv"});
  QFile file(path);
  if (!file.open(QIODevice::WriteOnly)) cannotWrite(path, file.errorString());
  suffix == QLatin1String("svg") ? writeSvg(file, picture) : writePdf(file, picture);
}

void exportText(const QString& path, const std::function<void(const TextPart& add)>& write) {
  QSaveFile file(path);
  if (!file.open(QIODevice::WriteOnly)) cannotWrite(path, file.errorString());
  write([&](const std::string& part) { file.write(part.data(), static_cast<qint64>(part.size())); });
  if (!file.commit()) cannotWrite(path, file.errorString());
}

void chooseExport(QWidget* parent, const QString& title, const QString& suffix,
                  const std::function<void(const QString& path)>& write) {
  const QString path =
      QFileDialog::getSaveFileName(parent, tr("Export %1").arg(title), title + QLatin1Char('.') + suffix,
                                   QStringLiteral("%1 (*.%2)").arg(suffix.toUpper(), suffix));
  if (path.isEmpty()) return;
  try {
    write(path);
  } catch (const Error& error) {
    QMessageBox::warning(parent, title, QString::fromStdString(error.sentence()));
  }
}

void addExportFormats(QMenu* menu, const QString& label, const std::function<void(const QString& suffix)>& chosen) {
  for (const char* suffix : {"png", "svg", "pdf", "csv"}) {
    const QString format = QLatin1String(suffix);
    menu->addAction(label.arg(format.toUpper()), menu, [chosen, format] { chosen(format); });
  }
}

}  // namespace foxhunt::ui
