// The choice of data: three kinds of files, or the simulated market, with symbol, timezone and order flow.
#pragma once

#include <QWidget>
#include <array>

#include "engine/config/config.h"

class QComboBox;
class QLabel;
class QLineEdit;

namespace foxhunt::ui {

class DataFilesBox : public QWidget {
  Q_OBJECT
 public:
  enum Kind { bars, book, trades, kinds };

  explicit DataFilesBox(QWidget* parent = nullptr);

  void setData(const DataConfig& chosen);
  // The configuration's other members are kept.
  void fill(DataConfig& chosen) const;
  // Sorts files into kinds by name ("ohlcv", "mbp", "trades"); what a name does not tell fills the first empty kind.
  void addFiles(const QStringList& files);

 Q_SIGNALS:
  void edited();

 private:
  void choose(Kind kind);
  void setFiles(Kind kind, const QStringList& files);
  void showFiles();
  void updateEnabled();

  QComboBox* source_;
  std::array<QStringList, kinds> files_;
  std::array<QLabel*, kinds> labels_{};
  QComboBox* order_flow_;
  QLineEdit *symbol_, *timezone_;
  SimulatedConfig simulated_;
};

}  // namespace foxhunt::ui
