// What is known of a session's data as item models: files with what was inferred, and what cleaning found.
#pragma once

#include <QStandardItemModel>
#include <optional>

#include "engine/market/contract.h"
#include "engine/market/data_preview.h"
#include "ui/models/cell_table_model.h"

namespace foxhunt::ui {

// A tree of two columns, what and value: the market, each file with what it gave and what was inferred, checks,
// warnings.
class DataFilesModel : public QStandardItemModel {
  Q_OBJECT
 public:
  explicit DataFilesModel(QObject* parent = nullptr);
  // `contract`: the instrument that the configuration names; absent before there is one.
  void setPreview(const market::DataPreview& preview, const std::optional<market::Contract>& contract);
  void clearRows();
  // Value of a row by its words, also of a row within a group ("bars.csv", "delimiter"); empty when there is none.
  QString valueOf(const QString& what, const QString& within = {}) const;
};

// One row a cleaning rule that applied.
class AnomalyModel : public CellTableModel {
  Q_OBJECT
 public:
  enum Column { rule, count, done, example };
  struct Row {
    QString rule, done;
    std::uint64_t count = 0;
    QStringList examples;
  };

  explicit AnomalyModel(QObject* parent = nullptr);
  void setReport(const market::DataReport& report);
  int rowCount(const QModelIndex& parent = {}) const override;
  const Row& at(int row) const { return rows_[static_cast<std::size_t>(row)]; }

 protected:
  TableCell cell(int row, int column) const override;

 private:
  std::vector<Row> rows_;
};

}  // namespace foxhunt::ui
