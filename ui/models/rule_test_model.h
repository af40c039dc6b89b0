// Recorded runs, which of them a rule is tested over, and what came of it.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "engine/run/rule_back_test.h"
#include "engine/run/run_list.h"
#include "ui/models/cell_table_model.h"

namespace foxhunt::ui {

class RuleTestModel : public CellTableModel {
  Q_OBJECT
 public:
  enum Column { run, fired, first, at, samples, outcome };

  explicit RuleTestModel(QObject* parent = nullptr);
  int rowCount(const QModelIndex& parent = {}) const override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  bool setData(const QModelIndex& index, const QVariant& value, int role) override;

  // New ones are chosen; results of runs that stay are kept.
  void setRuns(const std::vector<RunSummary>& runs);
  void choose(bool on);  // all or none
  std::vector<std::filesystem::path> chosen() const;
  void clearResults();
  void setResult(const std::filesystem::path& folder, const std::optional<RuleBackTest>& result,
                 const QString& problem);
  // Runs tested, and those of them in which the rule fires.
  std::pair<int, int> tested() const;

 Q_SIGNALS:
  void choiceChanged();

 protected:
  TableCell cell(int row, int column) const override;

 private:
  struct Row {
    std::filesystem::path folder;
    bool chosen = true;
    std::optional<RuleBackTest> result;
    QString problem;
  };
  std::vector<Row> rows_;
};

}  // namespace foxhunt::ui
