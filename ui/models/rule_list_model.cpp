// A rule is known by its text: a changed one is another, as it is to the engine.
#include "ui/models/rule_list_model.h"

#include <QDateTime>

#include "engine/base/clock.h"
#include "engine/telemetry/rule_text.h"
#include "ui/charts/format.h"

namespace foxhunt::ui {
namespace {

using telemetry::RuleAction;
using telemetry::RuleSource;

std::vector<TableColumn> ruleColumns() {
  return {
      {RuleListModel::tr("Rule"), RuleListModel::tr("What it watches; unchecked: kept, but not at work"), false},
      {RuleListModel::tr("State"), RuleListModel::tr("Whether it is at work"), false},
      {RuleListModel::tr("Now"), RuleListModel::tr("Newest value of what it watches"), true},
      {RuleListModel::tr("Fired"), RuleListModel::tr("How often in the run that is shown"), true},
      {RuleListModel::tr("Last"), RuleListModel::tr("Step at which it fired last"), true},
      {RuleListModel::tr("Action"), RuleListModel::tr("What it then does"), false},
  };
}

TableCell textCell(const QString& text) {
  return {text, text, {}, {}, false, false};
}

bool isCount(const telemetry::Rule& rule) {
  const auto table = rule.source == RuleSource::step     ? telemetry::step_table()
                     : rule.source == RuleSource::signal ? telemetry::signal_table()
                                                         : telemetry::health_table();
  const int at = telemetry::find_entry(table, rule.column);
  return at >= 0 && table[static_cast<std::size_t>(at)].type == telemetry::WordType::u32;
}

}  // namespace

QString ruleCondition(const telemetry::Rule& rule) {
  return QString::fromStdString(telemetry::rule_text(rule)).section(QLatin1Char(','), 0, 0);
}

QString ruleActionWord(RuleAction action) {
  switch (action) {
    case RuleAction::mark:
      return RuleListModel::tr("mark");
    case RuleAction::notify:
      return RuleListModel::tr("notify");
    case RuleAction::checkpoint:
      return RuleListModel::tr("checkpoint");
    case RuleAction::pause:
      return RuleListModel::tr("pause");
    case RuleAction::stop:
      return RuleListModel::tr("stop");
  }
  return {};
}

RuleListModel::RuleListModel(QObject* parent) : CellTableModel(ruleColumns(), parent) {}

void RuleListModel::setData(const RunData* data) {
  run_ = data;
  connect(run_, &RunData::cleared, this, [this] {
    firings_.clear();
    events_ = 0;
    refresh();
  });
  connect(run_, &RunData::eventsAdded, this, [this] {
    takeEvents();
    refresh();
  });
  takeEvents();
}

void RuleListModel::takeEvents() {
  for (; events_ < run_->events().size(); ++events_) {
    const EventView& event = run_->events()[events_];
    if (event.kind != QLatin1String("rule")) continue;
    Firings& firings = firings_[event.source];
    ++firings.count;
    firings.wall = event.wall;
    firings.step = event.step;
  }
}

RuleListModel::Firings RuleListModel::firings(const QString& text) const {
  const auto found = firings_.find(text);
  return found == firings_.end() ? Firings{} : found->second;
}

void RuleListModel::refresh() {
  if (rowCount() > 0) Q_EMIT dataChanged(index(0, state), index(rowCount() - 1, last));
}

int RuleListModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(texts_.size());
}

void RuleListModel::check() {
  rows_.clear();
  for (int i = 0; i < texts_.size(); ++i) {
    telemetry::RuleCheck checked = telemetry::check_rule_text(texts_[i].toStdString());
    Row row{std::move(checked.rule), QString::fromStdString(checked.sentence)};
    if (!row.rule) {
      row.problem = tr("Character %1: %2").arg(checked.position + 1).arg(row.problem);
    } else if (texts_.indexOf(texts_[i]) < i) {
      row.problem = tr("The same rule stands there before");
    }
    rows_.push_back(std::move(row));
  }
}

void RuleListModel::setTexts(const QStringList& texts) {
  if (texts == texts_) return;
  beginResetModel();
  texts_ = texts;
  check();
  endResetModel();
  Q_EMIT edited();
}

void RuleListModel::setText(int row, const QString& text) {
  if (row < 0 || row >= texts_.size() || texts_[row] == text) return;
  texts_[row] = text;
  check();
  Q_EMIT dataChanged(index(0, rule), index(rowCount() - 1, action));
  Q_EMIT edited();
}

void RuleListModel::add(const QString& text) {
  beginInsertRows({}, rowCount(), rowCount());
  texts_ << text;
  check();
  endInsertRows();
  Q_EMIT edited();
}

void RuleListModel::remove(int row) {
  if (row < 0 || row >= texts_.size()) return;
  beginRemoveRows({}, row, row);
  texts_.removeAt(row);
  check();
  endRemoveRows();
  Q_EMIT edited();
}

QString RuleListModel::problem(int row) const {
  return rows_.at(static_cast<std::size_t>(row)).problem;
}

bool RuleListModel::valid() const {
  return std::all_of(rows_.begin(), rows_.end(), [](const Row& row) { return row.problem.isEmpty(); });
}

void RuleListModel::setApplied(const QStringList& texts) {
  if (texts == applied_) return;
  applied_ = texts;
  refresh();
  Q_EMIT edited();
}

void RuleListModel::setOfRun(const QStringList& texts) {
  if (texts == of_run_) return;
  of_run_ = texts;
  refresh();
}

Qt::ItemFlags RuleListModel::flags(const QModelIndex& index) const {
  Qt::ItemFlags flags = CellTableModel::flags(index);
  if (index.isValid() && index.column() == rule && rows_[static_cast<std::size_t>(index.row())].rule)
    flags |= Qt::ItemIsUserCheckable;
  return flags;
}

QVariant RuleListModel::data(const QModelIndex& index, int role) const {
  if (role != Qt::CheckStateRole) return CellTableModel::data(index, role);
  if (!index.isValid() || index.column() != rule) return {};
  const auto& parsed = rows_[static_cast<std::size_t>(index.row())].rule;
  if (!parsed) return {};
  return parsed->enabled ? Qt::Checked : Qt::Unchecked;
}

bool RuleListModel::setData(const QModelIndex& index, const QVariant& value, int role) {
  if (role != Qt::CheckStateRole || !index.isValid() || index.column() != rule) return false;
  auto parsed = rows_[static_cast<std::size_t>(index.row())].rule;
  if (!parsed) return false;
  parsed->enabled = value.toInt() == Qt::Checked;
  setText(index.row(), QString::fromStdString(telemetry::rule_text(*parsed)));
  return true;
}

std::optional<double> RuleListModel::newest(const telemetry::Rule& watched) const {
  if (run_ == nullptr) return std::nullopt;
  if (watched.source == RuleSource::health) {
    const auto& snapshot = run_->snapshot();
    if (!snapshot || snapshot->health_snapshots == 0) return std::nullopt;
    return telemetry::word_value(snapshot->health, telemetry::find_entry(telemetry::health_table(), watched.column));
  }
  const bool step = watched.source == RuleSource::step;
  const int at = telemetry::find_entry(step ? telemetry::step_table() : telemetry::signal_table(), watched.column);
  const RunData::Series series = step ? run_->steps(at) : run_->signal(at);
  if (series->empty()) return std::nullopt;
  return series->y_at(series->size() - 1);
}

TableCell RuleListModel::stateCell(int row) const {
  const Row& r = rows_[static_cast<std::size_t>(row)];
  const bool live = run_ != nullptr && run_->source() == RunData::Source::live;
  const auto shown = [](const QString& text, Lamp lamp, const QString& tip) -> TableCell {
    return {text, text, tip, lamp, false, lamp == Lamp::idle};
  };
  if (!r.problem.isEmpty()) return shown(tr("not valid"), Lamp::bad, r.problem);
  if (!applied_.contains(texts_[row]) && of_run_.contains(texts_[row]))
    return shown(tr("of the run"), Lamp::idle, tr("the run was trained with it; Apply keeps it for the next session"));
  if (!applied_.contains(texts_[row])) return shown(tr("not applied"), Lamp::warning, tr("Apply sets it to work"));
  if (!r.rule->enabled) return shown(tr("off"), Lamp::idle, tr("kept, but not at work"));
  if (!live || is_terminal(run_->status().state))
    return shown(tr("ready"), Lamp::idle, tr("at work as soon as a session trains"));
  const Firings firings = this->firings(texts_[row]);
  const double silent = firings.count > 0 ? firings.wall + r.rule->cool_down - wall_seconds() : 0;
  if (silent > 0)
    return shown(tr("silent %1 · fired at step %2")
                     .arg(formatDuration(std::ceil(silent)), formatCount(static_cast<double>(firings.step))),
                 Lamp::active, tr("its cool-down: it has fired and says nothing meanwhile"));
  if (firings.count > 0)
    return shown(tr("watching · fired at step %1").arg(formatCount(static_cast<double>(firings.step))), Lamp::ok,
                 tr("at work again after its cool-down"));
  return shown(tr("watching"), Lamp::ok, tr("at work, and has not fired in this run"));
}

TableCell RuleListModel::lastCell(int row) const {
  const Firings firings = this->firings(texts_[row]);
  if (firings.count == 0) return {QStringLiteral("–"), {}, tr("has not fired in this run"), {}, false, true};
  const QDateTime at = QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(firings.wall * 1000));
  TableCell cell = countCell(static_cast<double>(firings.step));
  cell.tip = tr("step %1, %2").arg(cell.text, QLocale().toString(at));
  return cell;
}

TableCell RuleListModel::cell(int row, int column) const {
  const Row& r = rows_[static_cast<std::size_t>(row)];
  switch (column) {
    case rule: {
      TableCell cell = textCell(r.rule ? ruleCondition(*r.rule) : texts_[row]);
      cell.tip = texts_[row];
      return cell;
    }
    case state:
      return stateCell(row);
    case now: {
      if (!r.rule) return {};
      const auto value = newest(*r.rule);
      if (value && isCount(*r.rule)) return countCell(*value);
      return value ? numberCell(value) : TableCell{QStringLiteral("–"), {}, tr("no value yet"), {}, false, true};
    }
    case fired:
      return countCell(firings(texts_[row]).count);
    case last:
      return lastCell(row);
    default:
      return r.rule ? textCell(ruleActionWord(r.rule->action)) : TableCell{};
  }
}

}  // namespace foxhunt::ui
