// Rows of the data choice.
#include "ui/panels/data_files_box.h"

#include <QComboBox>
#include <QCompleter>
#include <QFileDialog>
#include <QFileInfo>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QTimeZone>
#include <QToolButton>

namespace foxhunt::ui {
namespace {

struct KindText {
  const char* name;
  const char* help;
  const char* objects;
};
const KindText kKinds[] = {
    {QT_TRANSLATE_NOOP("foxhunt::ui::DataFilesBox", "Bars"),
     QT_TRANSLATE_NOOP("foxhunt::ui::DataFilesBox", "files of bars: DBN or CSV, plain or zstd"), "chooseBars"},
    {QT_TRANSLATE_NOOP("foxhunt::ui::DataFilesBox", "Book"),
     QT_TRANSLATE_NOOP("foxhunt::ui::DataFilesBox", "files of ten-level book updates"), "chooseBook"},
    {QT_TRANSLATE_NOOP("foxhunt::ui::DataFilesBox", "Trades"),
     QT_TRANSLATE_NOOP("foxhunt::ui::DataFilesBox", "files of trades"), "chooseTrades"},
};

QStringList texts(const std::vector<std::string>& paths) {
  QStringList list;
  for (const std::string& path : paths) list << QString::fromStdString(path);
  return list;
}

std::vector<std::string> paths(const QStringList& list) {
  std::vector<std::string> out;
  for (const QString& path : list) out.push_back(path.toStdString());
  return out;
}

QLabel* rowLabel(const QString& text, QWidget* parent) {
  auto* label = new QLabel(text, parent);
  label->setProperty("muted", true);
  label->setMinimumWidth(64);
  return label;
}

}  // namespace

DataFilesBox::DataFilesBox(QWidget* parent) : QWidget(parent) {
  auto* grid = new QGridLayout(this);
  grid->setContentsMargins(8, 8, 8, 4);
  grid->setHorizontalSpacing(6);
  grid->setVerticalSpacing(4);
  grid->setColumnStretch(1, 1);
  int row = 0;
  const auto add = [&](const QString& name, QWidget* widget) {
    auto* label = rowLabel(name, this);
    label->setBuddy(widget);
    widget->setAccessibleName(name);
    grid->addWidget(label, row, 0);
    grid->addWidget(widget, row++, 1, 1, 2);
  };
  source_ = new QComboBox(this);
  source_->setObjectName(QStringLiteral("dataSource"));
  source_->addItems({tr("Market files"), tr("Simulated market")});
  source_->setToolTip(tr("What the agent trains on"));
  add(tr("Data"), source_);
  for (int kind = 0; kind < kinds; ++kind) {
    auto* button = new QToolButton(this);
    button->setText(QStringLiteral("…"));
    button->setObjectName(QString::fromLatin1(kKinds[kind].objects));
    button->setToolTip(tr("Choose %1").arg(tr(kKinds[kind].help)));
    button->setAccessibleName(button->toolTip());
    labels_[static_cast<std::size_t>(kind)] = new QLabel(this);
    labels_[static_cast<std::size_t>(kind)]->setMinimumWidth(40);
    grid->addWidget(rowLabel(tr(kKinds[kind].name), this), row, 0);
    grid->addWidget(labels_[static_cast<std::size_t>(kind)], row, 1);
    grid->addWidget(button, row++, 2);
    connect(button, &QToolButton::clicked, this, [this, kind] { choose(static_cast<Kind>(kind)); });
  }
  symbol_ = new QLineEdit(this);
  symbol_->setObjectName(QStringLiteral("symbol"));
  symbol_->setPlaceholderText(tr("the only one in the files"));
  add(tr("Symbol"), symbol_);
  timezone_ = new QLineEdit(this);
  timezone_->setObjectName(QStringLiteral("timezone"));
  timezone_->setPlaceholderText(tr("of naive times: UTC, Europe/Berlin …"));
  QStringList zones;
  for (const QByteArray& zone : QTimeZone::availableTimeZoneIds()) zones << QString::fromLatin1(zone);
  timezone_->setCompleter(new QCompleter(zones, timezone_));
  timezone_->completer()->setFilterMode(Qt::MatchContains);
  timezone_->completer()->setCaseSensitivity(Qt::CaseInsensitive);
  add(tr("Time zone"), timezone_);
  order_flow_ = new QComboBox(this);
  order_flow_->setObjectName(QStringLiteral("orderFlow"));
  order_flow_->addItem(tr("required"), QStringLiteral("required"));
  order_flow_->addItem(tr("absent: bars alone"), QStringLiteral("absent"));
  order_flow_->setToolTip(tr("Whether book and trades are read; without them the order-flow features are off"));
  add(tr("Order flow"), order_flow_);
  connect(source_, &QComboBox::currentIndexChanged, this, [this] {
    updateEnabled();
    Q_EMIT edited();
  });
  connect(order_flow_, &QComboBox::currentIndexChanged, this, &DataFilesBox::edited);
  connect(symbol_, &QLineEdit::editingFinished, this, &DataFilesBox::edited);
  connect(timezone_, &QLineEdit::editingFinished, this, &DataFilesBox::edited);
  showFiles();
  updateEnabled();
}

void DataFilesBox::setData(const DataConfig& chosen) {
  const QSignalBlocker quiet(this);
  source_->setCurrentIndex(chosen.simulated ? 1 : 0);
  if (chosen.simulated) simulated_ = *chosen.simulated;
  files_ = {texts(chosen.ohlcv), texts(chosen.mbp10), texts(chosen.trades)};
  symbol_->setText(QString::fromStdString(chosen.symbol));
  timezone_->setText(QString::fromStdString(chosen.timezone));
  order_flow_->setCurrentIndex(chosen.order_flow == "absent" ? 1 : 0);
  showFiles();
  updateEnabled();
}

void DataFilesBox::fill(DataConfig& chosen) const {
  if (source_->currentIndex() == 1) {
    if (!chosen.simulated) chosen.simulated = simulated_;
    chosen.ohlcv.clear();
    chosen.mbp10.clear();
    chosen.trades.clear();
    return;
  }
  chosen.simulated.reset();
  chosen.ohlcv = paths(files_[bars]);
  chosen.mbp10 = paths(files_[book]);
  chosen.trades = paths(files_[trades]);
  chosen.symbol = symbol_->text().trimmed().toStdString();
  chosen.timezone = timezone_->text().trimmed().toStdString();
  chosen.order_flow = order_flow_->currentData().toString().toStdString();
}

void DataFilesBox::addFiles(const QStringList& files) {
  std::array<QStringList, kinds> fresh;
  QStringList unnamed;
  for (const QString& file : files) {
    const QString name = QFileInfo(file).fileName().toLower();
    if (name.contains(QLatin1String("ohlcv")) || name.contains(QLatin1String("bars"))) {
      fresh[bars] << file;
    } else if (name.contains(QLatin1String("mbp")) || name.contains(QLatin1String("book"))) {
      fresh[book] << file;
    } else if (name.contains(QLatin1String("trade")) || name.contains(QLatin1String("tick"))) {
      fresh[trades] << file;
    } else {
      unnamed << file;
    }
  }
  for (const QString& file : unnamed) {
    std::size_t kind = 0;
    while (kind + 1 < kinds && (!fresh[kind].isEmpty() || !files_[kind].isEmpty())) ++kind;
    fresh[kind] << file;
  }
  const QSignalBlocker quiet(source_);
  source_->setCurrentIndex(0);
  for (std::size_t kind = 0; kind < kinds; ++kind) {
    if (!fresh[kind].isEmpty()) files_[kind] = fresh[kind];
  }
  if (!files_[bars].isEmpty() && files_[book].isEmpty() && files_[trades].isEmpty()) {
    const QSignalBlocker still(order_flow_);
    order_flow_->setCurrentIndex(1);
  } else if (!files_[book].isEmpty() && !files_[trades].isEmpty()) {
    const QSignalBlocker still(order_flow_);
    order_flow_->setCurrentIndex(0);
  }
  showFiles();
  updateEnabled();
  Q_EMIT edited();
}

void DataFilesBox::choose(Kind kind) {
  const QString folder = files_[kind].isEmpty() ? QString() : QFileInfo(files_[kind].front()).absolutePath();
  const QStringList chosen =
      QFileDialog::getOpenFileNames(this, tr("Choose %1").arg(tr(kKinds[kind].help)), folder,
                                    tr("Market data (*.dbn *.dbn.zst *.csv *.csv.zst *.txt);;All files (*)"));
  if (chosen.isEmpty()) return;
  setFiles(kind, chosen);
}

void DataFilesBox::setFiles(Kind kind, const QStringList& files) {
  files_[kind] = files;
  const QSignalBlocker quiet(source_);
  source_->setCurrentIndex(0);
  showFiles();
  updateEnabled();
  Q_EMIT edited();
}

void DataFilesBox::showFiles() {
  for (std::size_t kind = 0; kind < kinds; ++kind) {
    const QStringList& files = files_[kind];
    QLabel* label = labels_[kind];
    const QString name = files.isEmpty() ? tr("drop or choose") : QFileInfo(files.front()).fileName();
    label->setText(files.size() > 1 ? tr("%1 and %n more", nullptr, static_cast<int>(files.size()) - 1).arg(name)
                                    : name);
    label->setToolTip(files.join(QLatin1Char('\n')));
    label->setProperty("muted", files.isEmpty());
    label->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  }
}

void DataFilesBox::updateEnabled() {
  const bool files = source_->currentIndex() == 0;
  for (QWidget* child : findChildren<QWidget*>(Qt::FindDirectChildrenOnly)) {
    if (child != source_ && qobject_cast<QLabel*>(child) == nullptr) child->setEnabled(files);
  }
}

}  // namespace foxhunt::ui
