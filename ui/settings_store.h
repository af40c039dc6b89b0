// What the window remembers: one JSON file, written whole or not at all. A file that cannot be read is moved aside.
#pragma once

#include <QMap>
#include <QString>
#include <QStringList>

#include "ui/theme.h"

namespace foxhunt::ui {

struct WindowSettings {
  ThemeChoice theme = ThemeChoice::system;
  QByteArray geometry, state;         // of the main window
  QMap<QString, QByteArray> layouts;  // by name
  QStringList recent;                 // run folders and files, newest first
  QString configuration;              // of the session panel, as JSON; may be empty
};

class SettingsStore {
 public:
  // `folder` is made when something is written.
  explicit SettingsStore(const QString& folder) : folder_(folder) {}

  // Defaults where there is no file. When the file is broken: defaults, the file is moved aside, and `problem` says so.
  WindowSettings load(QString* problem) const;
  // False when it could not be written; `problem` says why.
  bool save(const WindowSettings& settings, QString* problem) const;
  QString file() const;

 private:
  QString folder_;
};

}  // namespace foxhunt::ui
