// Reading, writing and setting aside of settings.json.
#include "ui/settings_store.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSaveFile>

namespace foxhunt::ui {
namespace {

constexpr int kVersion = 1;
constexpr qint64 kMostBytes = 4 << 20;

QString said(const char* text) {
  return QCoreApplication::translate("SettingsStore", text);
}

QString themeName(ThemeChoice choice) {
  return choice == ThemeChoice::dark    ? QStringLiteral("dark")
         : choice == ThemeChoice::light ? QStringLiteral("light")
                                        : QStringLiteral("system");
}

QByteArray bytes(const QJsonValue& value) {
  return QByteArray::fromBase64(value.toString().toLatin1());
}

QJsonValue text(const QByteArray& bytes) {
  return QString::fromLatin1(bytes.toBase64());
}

// Empty: well; else why not.
QString parse(const QByteArray& content, WindowSettings& settings) {
  QJsonParseError error;
  const QJsonDocument document = QJsonDocument::fromJson(content, &error);
  if (error.error != QJsonParseError::NoError) return error.errorString();
  if (!document.isObject()) return said("it is not an object");
  const QJsonObject root = document.object();
  if (root.value(QLatin1String("version")).toInt() != kVersion) return said("it is of another version");
  const QString theme = root.value(QLatin1String("theme")).toString();
  settings.theme = theme == QLatin1String("dark")    ? ThemeChoice::dark
                   : theme == QLatin1String("light") ? ThemeChoice::light
                                                     : ThemeChoice::system;
  settings.geometry = bytes(root.value(QLatin1String("geometry")));
  settings.state = bytes(root.value(QLatin1String("state")));
  settings.configuration = root.value(QLatin1String("configuration")).toString();
  const QJsonObject layouts = root.value(QLatin1String("layouts")).toObject();
  for (auto it = layouts.begin(); it != layouts.end(); ++it) settings.layouts.insert(it.key(), bytes(it.value()));
  for (const QJsonValue& recent : root.value(QLatin1String("recent")).toArray()) settings.recent << recent.toString();
  return {};
}

}  // namespace

QString SettingsStore::file() const {
  return folder_ + QStringLiteral("/settings.json");
}

WindowSettings SettingsStore::load(QString* problem) const {
  WindowSettings settings;
  QFile source(file());
  if (!source.exists()) return settings;
  QString why;
  if (!source.open(QIODevice::ReadOnly)) {
    why = source.errorString();
  } else if (source.size() > kMostBytes) {
    why = said("it has more than 4 MB");
  } else {
    why = parse(source.readAll(), settings);
  }
  source.close();
  if (why.isEmpty()) return settings;
  const QString aside = file() + QStringLiteral(".broken-") +
                        QDateTime::currentDateTimeUtc().toString(QStringLiteral("yyyyMMddTHHmmsszzz"));
  const bool moved = QFile::rename(file(), aside);
  *problem =
      moved ? said("The settings could not be read (%1). They were moved to %2; the window starts with its defaults.")
                  .arg(why, aside)
            : said("The settings in %1 could not be read (%2); the window starts with its defaults.").arg(file(), why);
  return WindowSettings{};
}

bool SettingsStore::save(const WindowSettings& settings, QString* problem) const {
  QJsonObject root{{QStringLiteral("version"), kVersion},
                   {QStringLiteral("theme"), themeName(settings.theme)},
                   {QStringLiteral("geometry"), text(settings.geometry)},
                   {QStringLiteral("state"), text(settings.state)},
                   {QStringLiteral("configuration"), settings.configuration},
                   {QStringLiteral("recent"), QJsonArray::fromStringList(settings.recent)}};
  QJsonObject layouts;
  for (auto it = settings.layouts.begin(); it != settings.layouts.end(); ++it)
    layouts.insert(it.key(), text(it.value()));
  root.insert(QStringLiteral("layouts"), layouts);
  QSaveFile target(file());
  const QByteArray content = QJsonDocument(root).toJson();
  if (QDir().mkpath(folder_) && target.open(QIODevice::WriteOnly) && target.write(content) == content.size() &&
      target.commit()) {
    return true;
  }
  *problem = said("The settings could not be written to %1: %2").arg(file(), target.errorString());
  return false;
}

}  // namespace foxhunt::ui
