// The user's rules as they are edited, with what each has done in the run that is shown.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "engine/telemetry/rules.h"
#include "ui/models/cell_table_model.h"
#include "ui/models/run_data.h"

namespace foxhunt::ui {

class RuleListModel : public CellTableModel {
  Q_OBJECT
 public:
  enum Column { rule, state, now, fired, last, action };

  explicit RuleListModel(QObject* parent = nullptr);
  // Counts, newest values and whether a session is at work come from it.
  void setData(const RunData* data);
  int rowCount(const QModelIndex& parent = {}) const override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  // The check box of the first column turns a rule on and off.
  bool setData(const QModelIndex& index, const QVariant& value, int role) override;

  // The list as it is edited.
  const QStringList& texts() const { return texts_; }
  void setTexts(const QStringList& texts);
  void setText(int row, const QString& text);
  void add(const QString& text);
  void remove(int row);
  // Why a row is no rule, or cannot stand beside the others; empty when nothing is wrong.
  QString problem(int row) const;
  bool valid() const;

  // What the session, or the configuration where none is live, has.
  void setApplied(const QStringList& texts);
  const QStringList& applied() const { return applied_; }
  // What a stored run was trained with, while it is shown.
  void setOfRun(const QStringList& texts);
  bool changed() const { return texts_ != applied_; }

  // Of the rule's text in the run that is shown.
  struct Firings {
    int count = 0;
    double wall = 0;
    std::uint64_t step = 0;
  };
  Firings firings(const QString& text) const;
  // Values and cool-downs move on; what the panel calls a few times a second.
  void refresh();

 Q_SIGNALS:
  void edited();

 protected:
  TableCell cell(int row, int column) const override;

 private:
  struct Row {
    std::optional<telemetry::Rule> rule;
    QString problem;
  };
  void check();
  void takeEvents();
  std::optional<double> newest(const telemetry::Rule& watched) const;
  TableCell stateCell(int row) const;
  TableCell lastCell(int row) const;

  const RunData* run_ = nullptr;
  QStringList texts_, applied_, of_run_;
  std::vector<Row> rows_;  // of texts_
  std::map<QString, Firings> firings_;
  std::size_t events_ = 0;  // taken
};

// A rule's text without its options: "step loss.total above 5".
QString ruleCondition(const telemetry::Rule& rule);
QString ruleActionWord(telemetry::RuleAction action);

}  // namespace foxhunt::ui
