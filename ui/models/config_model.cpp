// Two levels: sections (internal id 0) and their fields (internal id: section + 1).
#include "ui/models/config_model.h"

#include <QFont>

#include "engine/base/error.h"
#include "engine/config/load_config.h"
#include "ui/theme.h"

namespace foxhunt::ui {

ConfigModel::ConfigModel(QObject* parent) : QAbstractItemModel(parent) {
  for (const Field& field : config_fields()) {
    const QString path = QString::fromStdString(field.path);
    const qsizetype dot = path.lastIndexOf(QLatin1Char('.'));
    const QString section = dot < 0 ? tr("general") : path.left(dot);
    if (sections_.empty() || sections_.back().name != section) {
      const auto known =
          std::find_if(sections_.begin(), sections_.end(), [&](const Section& other) { return other.name == section; });
      if (known != sections_.end()) {
        known->fields.push_back(&field);
        continue;
      }
      sections_.push_back({section, {}});
    }
    sections_.back().fields.push_back(&field);
  }
}

void ConfigModel::setConfig(const Config& config) {
  beginResetModel();
  config_ = config;
  endResetModel();
  Q_EMIT configChanged();
}

void ConfigModel::setReadOnly(bool on) {
  if (on == read_only_) return;
  read_only_ = on;
  for (int s = 0; s < rowCount(); ++s) {
    const QModelIndex section = index(s, 0);
    Q_EMIT dataChanged(index(0, 0, section), index(rowCount(section) - 1, columns - 1, section));
  }
}

QModelIndex ConfigModel::indexOf(const QString& path) const {
  for (std::size_t s = 0; s < sections_.size(); ++s) {
    for (std::size_t f = 0; f < sections_[s].fields.size(); ++f) {
      if (sections_[s].fields[f]->path == path.toStdString()) {
        return index(static_cast<int>(f), value, index(static_cast<int>(s), 0));
      }
    }
  }
  return {};
}

int ConfigModel::changedCount() const {
  int count = 0;
  for (const Field& field : config_fields()) count += is_default(config_, field) ? 0 : 1;
  return count;
}

QModelIndex ConfigModel::index(int row, int column, const QModelIndex& parent) const {
  if (!hasIndex(row, column, parent)) return {};
  return createIndex(row, column, parent.isValid() ? static_cast<quintptr>(parent.row() + 1) : quintptr{0});
}

QModelIndex ConfigModel::parent(const QModelIndex& child) const {
  if (!child.isValid() || child.internalId() == 0) return {};
  return createIndex(static_cast<int>(child.internalId()) - 1, 0, quintptr{0});
}

int ConfigModel::rowCount(const QModelIndex& parent) const {
  if (!parent.isValid()) return static_cast<int>(sections_.size());
  if (parent.internalId() != 0 || parent.column() != 0) return 0;
  return static_cast<int>(sections_[static_cast<std::size_t>(parent.row())].fields.size());
}

int ConfigModel::columnCount(const QModelIndex&) const {
  return columns;
}

const Field* ConfigModel::fieldAt(const QModelIndex& index) const {
  if (!index.isValid() || index.internalId() == 0) return nullptr;
  return sections_[index.internalId() - 1].fields[static_cast<std::size_t>(index.row())];
}

QVariant ConfigModel::fieldData(const Field& field, int column, int role) const {
  const bool changed = !is_default(config_, field);
  const QString path = QString::fromStdString(field.path);
  switch (role) {
    case Qt::DisplayRole:
    case Qt::EditRole:
      if (column == name) return path.section(QLatin1Char('.'), -1);
      if (column == value) return QString::fromStdString(field_text(config_, field));
      if (column == unit) return QString::fromStdString(field.unit);
      return QString::fromStdString(field.range_text());
    case Qt::ToolTipRole:
    case Qt::AccessibleDescriptionRole: {
      const QString allowed = QString::fromStdString(field.range_text());
      return tr("%1: %2. %3%4; default %5")
          .arg(path, QString::fromStdString(field.help), QString::fromLatin1(field_type_name(field.type)),
               allowed.isEmpty() ? QString() : QStringLiteral(", ") + allowed,
               QString::fromStdString(field.default_text));
    }
    case Qt::FontRole: {
      QFont font = column == value ? theme().number_font : theme().font;
      if (changed && column <= value) font.setWeight(QFont::DemiBold);
      return font;
    }
    case Qt::ForegroundRole:
      if (column >= unit) return theme().muted;
      return changed && column == value ? theme().accent : theme().text;
    case changed_role:
      return changed;
    case choices_role: {
      QStringList choices;
      for (const std::string& choice : field.choices()) choices << QString::fromStdString(choice);
      return choices;
    }
    case path_role:
      return path;
    default:
      return {};
  }
}

QVariant ConfigModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  if (const Field* field = fieldAt(index)) return fieldData(*field, index.column(), role);
  const Section& section = sections_[static_cast<std::size_t>(index.row())];
  if (role == Qt::DisplayRole && index.column() == name) return section.name;
  if (role == Qt::FontRole) return theme().title_font;
  if (role == changed_role) return false;
  if (role == path_role) return section.name;
  return {};
}

QVariant ConfigModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
  const QStringList titles = {tr("Field"), tr("Value"), tr("Unit"), tr("Allowed")};
  return titles.value(section);
}

Qt::ItemFlags ConfigModel::flags(const QModelIndex& index) const {
  Qt::ItemFlags flags = QAbstractItemModel::flags(index);
  if (!read_only_ && fieldAt(index) != nullptr && index.column() == value) flags |= Qt::ItemIsEditable;
  return flags;
}

bool ConfigModel::setData(const QModelIndex& index, const QVariant& text, int role) {
  const Field* field = fieldAt(index);
  if (field == nullptr || role != Qt::EditRole || index.column() != value || read_only_) return false;
  const std::string wanted = text.toString().trimmed().toStdString();
  if (wanted == field_text(config_, *field)) return true;
  Config changed = config_;
  try {
    set_field(changed, field->path, wanted);
  } catch (const Error& error) {
    Q_EMIT refused(QString::fromStdString(field->path), QString::fromStdString(error.sentence()));
    return false;
  }
  config_ = std::move(changed);
  Q_EMIT dataChanged(this->index(index.row(), 0, index.parent()), this->index(index.row(), range, index.parent()));
  Q_EMIT configChanged();
  return true;
}

ConfigFilter::ConfigFilter(QObject* parent) : QSortFilterProxyModel(parent) {
  setRecursiveFilteringEnabled(true);
}

void ConfigFilter::setText(const QString& text) {
  text_ = text.trimmed();
  invalidateFilter();
}

void ConfigFilter::setChangedOnly(bool on) {
  changed_only_ = on;
  invalidateFilter();
}

// Sections pass through their fields.
bool ConfigFilter::filterAcceptsRow(int row, const QModelIndex& parent) const {
  if (!parent.isValid()) return false;
  const QModelIndex index = sourceModel()->index(row, ConfigModel::name, parent);
  if (changed_only_ && !index.data(ConfigModel::changed_role).toBool()) return false;
  if (text_.isEmpty()) return true;
  return index.data(ConfigModel::path_role).toString().contains(text_, Qt::CaseInsensitive) ||
         index.data(Qt::ToolTipRole).toString().contains(text_, Qt::CaseInsensitive);
}

}  // namespace foxhunt::ui
