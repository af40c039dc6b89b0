// The configuration as an editable tree of sections and fields, made from the field table.
#pragma once

#include <QAbstractItemModel>
#include <QSortFilterProxyModel>
#include <vector>

#include "engine/config/config.h"
#include "engine/config/config_fields.h"

namespace foxhunt::ui {

class ConfigModel : public QAbstractItemModel {
  Q_OBJECT
 public:
  enum Column { name, value, unit, range, columns };
  static constexpr int changed_role = Qt::UserRole;      // bool: differs from the default
  static constexpr int choices_role = Qt::UserRole + 1;  // QStringList; empty: free text
  static constexpr int path_role = Qt::UserRole + 2;     // "learner.lr"

  explicit ConfigModel(QObject* parent = nullptr);

  const Config& config() const { return config_; }
  void setConfig(const Config& config);
  // Fields cannot be edited while a session uses them.
  void setReadOnly(bool on);
  QModelIndex indexOf(const QString& path) const;
  int changedCount() const;

  QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
  QModelIndex parent(const QModelIndex& child) const override;
  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;
  bool setData(const QModelIndex& index, const QVariant& value, int role) override;

 Q_SIGNALS:
  void configChanged();
  // A value was refused; the sentence says what is allowed.
  void refused(const QString& path, const QString& sentence);

 private:
  struct Section {
    QString name;
    std::vector<const Field*> fields;
  };
  const Field* fieldAt(const QModelIndex& index) const;
  QVariant fieldData(const Field& field, int column, int role) const;

  Config config_;
  std::vector<Section> sections_;
  bool read_only_ = false;
};

// By text over name and help, and by "changed from default".
class ConfigFilter : public QSortFilterProxyModel {
  Q_OBJECT
 public:
  explicit ConfigFilter(QObject* parent = nullptr);
  void setText(const QString& text);
  void setChangedOnly(bool on);

 protected:
  bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

 private:
  QString text_;
  bool changed_only_ = false;
};

}  // namespace foxhunt::ui
