// One table: what the window calls a word is what the run's database and docs/health_diag.md call it.
#include <gtest/gtest.h>

#include <QFile>
#include <QTreeWidget>

#include "engine/run/run_sink.h"
#include "tests/ui/panels_fixture.h"
#include "ui/models/health_model.h"
#include "ui/panels/signals_panel.h"

namespace foxhunt::ui::test {
namespace {

TEST(Labels, OfHealthAreThoseOfTheDatabaseAndThePage) {
  QFile file(QStringLiteral(FOXHUNT_SOURCE_DIR "/docs/health_diag.md"));
  ASSERT_TRUE(file.open(QIODevice::ReadOnly));
  const QString page = QString::fromUtf8(file.readAll());
  HealthModel model;
  const auto columns = telemetry_columns().health;
  ASSERT_EQ(model.rowCount(), 147);
  ASSERT_EQ(columns.size(), 147u) << "no word of HealthDiag is reserved";
  for (int row = 0; row < model.rowCount(); ++row) {
    const RunColumn& column = columns[static_cast<std::size_t>(row)];
    const auto text = [&](HealthModel::Column which) {
      return model.index(row, which).data().toString().toStdString();
    };
    EXPECT_EQ(text(HealthModel::word), column.label);
    EXPECT_EQ(text(HealthModel::unit), column.unit) << column.label;
    EXPECT_EQ(text(HealthModel::group), column.group) << column.label;
    EXPECT_EQ(model.index(row, HealthModel::word).data(Qt::ToolTipRole).toString().toStdString(), column.meaning);
    const QString line = QStringLiteral("| %1 | `%2` |").arg(row).arg(QString::fromStdString(column.label));
    EXPECT_TRUE(page.contains(line)) << line.toStdString();
  }
}

TEST(Labels, OfSignalsAreThoseOfTheDatabase) {
  SignalsPanel panel({}, "signals", "Signals", nullptr);
  QStringList shown;
  for (QTreeWidgetItemIterator it(panel.findChild<QTreeWidget*>()); *it != nullptr; ++it)
    if ((*it)->parent() != nullptr) shown << (*it)->text(0);
  QStringList kept;
  for (const RunColumn& column : telemetry_columns().signals) kept << QString::fromStdString(column.label);
  shown.sort();
  kept.sort();
  EXPECT_EQ(shown, kept);
}

}  // namespace
}  // namespace foxhunt::ui::test
