// Words for what readers inferred and cleaning did.
#include "ui/models/data_report_models.h"

#include <QDateTime>
#include <QFileInfo>
#include <QLocale>
#include <QTimeZone>
#include <algorithm>

#include "ui/charts/format.h"

namespace foxhunt::ui {
namespace {

QString text(const std::string& from) {
  return QString::fromStdString(from);
}

QString timeText(market::Time time) {
  if (time == 0) return QStringLiteral("–");
  const auto at = QDateTime::fromMSecsSinceEpoch(time / 1'000'000, QTimeZone::utc());
  return at.toString(QStringLiteral("yyyy-MM-dd HH:mm:ss.zzz")) + QStringLiteral(" UTC");
}

QString number(double value) {
  return QLocale().toString(value, 'f', QLocale::FloatingPointShortest);
}

QStandardItem* addRow(QStandardItem* parent, const QString& what, const QString& value) {
  auto* first = new QStandardItem(what);
  auto* second = new QStandardItem(value);
  for (QStandardItem* item : {first, second}) {
    item->setEditable(false);
    item->setToolTip(value.isEmpty() ? what : QStringLiteral("%1: %2").arg(what, value));
  }
  second->setData(QStringLiteral("%1: %2").arg(what, value), Qt::AccessibleTextRole);
  parent->appendRow({first, second});
  return first;
}

struct RuleText {
  const char* kind;
  const char* rule;
  const char* done;
};
// By the kinds of engine/market: cleaning.h, order_flow.h and the readers.
const RuleText kRules[] = {
    {"undefined_price", QT_TRANSLATE_NOOP("foxhunt::ui::AnomalyModel", "Price undefined"),
     QT_TRANSLATE_NOOP("foxhunt::ui::AnomalyModel", "bars and trades are dropped, book levels count as empty")},
    {"out_of_order", QT_TRANSLATE_NOOP("foxhunt::ui::AnomalyModel", "Bar out of order"),
     QT_TRANSLATE_NOOP("foxhunt::ui::AnomalyModel", "sorted by open time")},
    {"duplicate", QT_TRANSLATE_NOOP("foxhunt::ui::AnomalyModel", "Bar of the same time again"),
     QT_TRANSLATE_NOOP("foxhunt::ui::AnomalyModel", "dropped; the first stays")},
    {"overlap", QT_TRANSLATE_NOOP("foxhunt::ui::AnomalyModel", "Bar opens before the last closed"),
     QT_TRANSLATE_NOOP("foxhunt::ui::AnomalyModel", "dropped")},
    {"inconsistent_bar", QT_TRANSLATE_NOOP("foxhunt::ui::AnomalyModel", "High or low does not hold the bar"),
     QT_TRANSLATE_NOOP("foxhunt::ui::AnomalyModel", "widened to hold open and close")},
    {"gap", QT_TRANSLATE_NOOP("foxhunt::ui::AnomalyModel", "Gap between bars"),
     QT_TRANSLATE_NOOP("foxhunt::ui::AnomalyModel", "noted; nothing is filled in")},
    {"zero_volume", QT_TRANSLATE_NOOP("foxhunt::ui::AnomalyModel", "Bar without volume"),
     QT_TRANSLATE_NOOP("foxhunt::ui::AnomalyModel", "kept")},
    {"ghost_open", QT_TRANSLATE_NOOP("foxhunt::ui::AnomalyModel", "Open left over from an earlier session"),
     QT_TRANSLATE_NOOP("foxhunt::ui::AnomalyModel", "replaced by the close before it")},
    {"book_duplicate", QT_TRANSLATE_NOOP("foxhunt::ui::AnomalyModel", "Book record again"),
     QT_TRANSLATE_NOOP("foxhunt::ui::AnomalyModel", "dropped")},
    {"book_out_of_order", QT_TRANSLATE_NOOP("foxhunt::ui::AnomalyModel", "Book record older than the last"),
     QT_TRANSLATE_NOOP("foxhunt::ui::AnomalyModel", "dropped: an older state")},
    {"trade_repeated", QT_TRANSLATE_NOOP("foxhunt::ui::AnomalyModel", "Trade equal to the last"),
     QT_TRANSLATE_NOOP("foxhunt::ui::AnomalyModel", "kept: one order that meets two of one size prints so")},
    {"trade_without_price", QT_TRANSLATE_NOOP("foxhunt::ui::AnomalyModel", "Trade without price or size"),
     QT_TRANSLATE_NOOP("foxhunt::ui::AnomalyModel", "dropped")},
    {"trade_out_of_order", QT_TRANSLATE_NOOP("foxhunt::ui::AnomalyModel", "Trade older than the last"),
     QT_TRANSLATE_NOOP("foxhunt::ui::AnomalyModel", "kept while its bar is open, else dropped")},
    {"repeated_local_time", QT_TRANSLATE_NOOP("foxhunt::ui::AnomalyModel", "Local time that occurs twice"),
     QT_TRANSLATE_NOOP("foxhunt::ui::AnomalyModel", "read in the order of the file")},
    {"rounded_price", QT_TRANSLATE_NOOP("foxhunt::ui::AnomalyModel", "Price of more than nine decimals"),
     QT_TRANSLATE_NOOP("foxhunt::ui::AnomalyModel", "rounded")},
    {"missing_volume", QT_TRANSLATE_NOOP("foxhunt::ui::AnomalyModel", "No volume in the row"),
     QT_TRANSLATE_NOOP("foxhunt::ui::AnomalyModel", "taken as 0")},
    {"repeated_header", QT_TRANSLATE_NOOP("foxhunt::ui::AnomalyModel", "Header within the table"),
     QT_TRANSLATE_NOOP("foxhunt::ui::AnomalyModel", "passed over")},
    {"unknown_order", QT_TRANSLATE_NOOP("foxhunt::ui::AnomalyModel", "Message of an order that was never added"),
     QT_TRANSLATE_NOOP("foxhunt::ui::AnomalyModel", "passed over")},
    {"capped_size", QT_TRANSLATE_NOOP("foxhunt::ui::AnomalyModel", "Size beyond 32 bits"),
     QT_TRANSLATE_NOOP("foxhunt::ui::AnomalyModel", "capped")},
    {"invalid_letter", QT_TRANSLATE_NOOP("foxhunt::ui::AnomalyModel", "Action or side that is not known"),
     QT_TRANSLATE_NOOP("foxhunt::ui::AnomalyModel", "passed over")},
    {"invalid_action", QT_TRANSLATE_NOOP("foxhunt::ui::AnomalyModel", "Action that is not known"),
     QT_TRANSLATE_NOOP("foxhunt::ui::AnomalyModel", "passed over")},
    {"invalid_side", QT_TRANSLATE_NOOP("foxhunt::ui::AnomalyModel", "Side that is not known"),
     QT_TRANSLATE_NOOP("foxhunt::ui::AnomalyModel", "passed over")},
    {"unknown_record_type", QT_TRANSLATE_NOOP("foxhunt::ui::AnomalyModel", "Record type that is not known"),
     QT_TRANSLATE_NOOP("foxhunt::ui::AnomalyModel", "passed over")},
    {"undefined_time", QT_TRANSLATE_NOOP("foxhunt::ui::AnomalyModel", "Record without a time"),
     QT_TRANSLATE_NOOP("foxhunt::ui::AnomalyModel", "passed over")},
};

}  // namespace

DataFilesModel::DataFilesModel(QObject* parent) : QStandardItemModel(0, 2, parent) {
  setHorizontalHeaderLabels({tr("What"), tr("Value")});
}

void DataFilesModel::clearRows() {
  removeRows(0, rowCount());
}

void DataFilesModel::setPreview(const market::DataPreview& preview, const std::optional<market::Contract>& contract) {
  clearRows();
  QStandardItem* root = invisibleRootItem();
  addRow(root, tr("Symbol"),
         preview.simulated        ? tr("simulated market")
         : preview.symbol.empty() ? tr("none named in the files")
                                  : text(preview.symbol));
  if (contract) {
    addRow(root, tr("Contract"),
           tr("%1: tick %2, worth %3; commission %4 a side")
               .arg(QString::fromUtf8(contract->name.data(), static_cast<qsizetype>(contract->name.size())),
                    number(contract->tick), number(contract->tick_value), number(contract->commission)));
  }
  addRow(root, tr("Bars"),
         tr("%1, the first %2 to warm up")
             .arg(formatCount(static_cast<double>(preview.rows)), formatCount(static_cast<double>(preview.warm_up))));
  addRow(root, tr("Span"), tr("%1 to %2").arg(timeText(preview.first_open), timeText(preview.last_close)));
  addRow(root, tr("Price"), tr("%1 to %2").arg(number(preview.lowest), number(preview.highest)));
  addRow(root, tr("Order flow"), preview.order_flow ? tr("book and trades") : tr("absent: bars alone"));
  const market::DataReport& report = preview.report;
  std::vector<std::string> prefixes;
  for (const market::FileFacts& facts : report.files) {
    const QString name = QFileInfo(text(facts.file)).fileName();
    const QString kind = facts.kind == "bars" ? tr("bars") : facts.kind == "book" ? tr("book") : tr("trades");
    QStandardItem* file =
        addRow(root, name, tr("%1, %2 records").arg(kind, formatCount(static_cast<double>(facts.records))));
    addRow(file, tr("path"), text(facts.file));
    addRow(file, tr("first"), timeText(facts.first));
    addRow(file, tr("last"), timeText(facts.last));
    if (!facts.symbol.empty()) addRow(file, tr("symbol"), text(facts.symbol));
    if (facts.interval > 0) addRow(file, tr("interval"), formatDuration(static_cast<double>(facts.interval) / 1e9));
    if (facts.truncated) addRow(file, tr("end"), tr("its last record was cut off and is dropped"));
    const std::string prefix = name.toStdString() + ": ";
    prefixes.push_back(prefix);
    for (const auto& [what, value] : report.inferred) {
      if (what.starts_with(prefix)) addRow(file, text(what.substr(prefix.size())), text(value));
    }
  }
  for (const auto& [what, value] : report.inferred) {
    const bool of_file = std::any_of(prefixes.begin(), prefixes.end(),
                                     [&what = what](const std::string& prefix) { return what.starts_with(prefix); });
    if (!of_file) addRow(root, text(what), text(value));
  }
  if (report.warnings.empty()) return;
  QStandardItem* warnings = addRow(root, tr("Warnings"), formatCount(static_cast<double>(report.warnings.size())));
  for (const market::Warning& warning : report.warnings) addRow(warnings, text(warning.message), text(warning.file));
}

QString DataFilesModel::valueOf(const QString& what, const QString& within) const {
  const QStandardItem* parent = invisibleRootItem();
  for (int i = 0; !within.isEmpty() && i < rowCount(); ++i) {
    if (item(i)->text() == within) parent = item(i);
  }
  for (int i = 0; i < parent->rowCount(); ++i) {
    if (parent->child(i)->text() == what) return parent->child(i, 1)->text();
  }
  return {};
}

AnomalyModel::AnomalyModel(QObject* parent)
    : CellTableModel({{tr("Rule"), tr("What was found in the data"), false},
                      {tr("Count"), tr("How often"), true},
                      {tr("What is done"), tr("What cleaning did about it"), false},
                      {tr("First example"), tr("File, place and value; all examples stand below the table"), false}},
                     parent) {}

void AnomalyModel::setReport(const market::DataReport& report) {
  beginResetModel();
  rows_.clear();
  for (const auto& [kind, anomaly] : report.anomalies) {
    Row row{text(kind), QStringLiteral("–"), anomaly.count, {}};
    for (const RuleText& words : kRules) {
      if (kind != words.kind) continue;
      row.rule = tr(words.rule);
      row.done = tr(words.done);
    }
    for (const std::string& each : anomaly.examples) row.examples << text(each);
    rows_.push_back(std::move(row));
  }
  std::stable_sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) { return a.count > b.count; });
  endResetModel();
}

int AnomalyModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

TableCell AnomalyModel::cell(int row, int column) const {
  const Row& shown = at(row);
  switch (column) {
    case rule:
      return {shown.rule, shown.rule, {}, {}, false, false};
    case count:
      return countCell(static_cast<double>(shown.count));
    case done:
      return {shown.done, shown.done, {}, {}, false, false};
    default: {
      const QString first = shown.examples.value(0);
      return {first, first, shown.examples.join(QLatin1Char('\n')), {}, false, true};
    }
  }
}

}  // namespace foxhunt::ui
