// Columns of the tensor table.
#include "ui/models/tensor_table_model.h"

#include <QLocale>

#include "ui/charts/format.h"

namespace foxhunt::ui {
namespace {

std::vector<TableColumn> tensorColumns() {
  return {
      {TensorTableModel::tr("Tensor"), TensorTableModel::tr("Name in the file"), false},
      {TensorTableModel::tr("Type"), TensorTableModel::tr("Element type as the file names it"), false},
      {TensorTableModel::tr("Shape"), TensorTableModel::tr("Sizes, outermost first"), false},
      {TensorTableModel::tr("Size"), TensorTableModel::tr("Bytes in the file"), true},
      {TensorTableModel::tr("Min"), TensorTableModel::tr("Least finite value"), true},
      {TensorTableModel::tr("Max"), TensorTableModel::tr("Greatest finite value"), true},
      {TensorTableModel::tr("Mean"), TensorTableModel::tr("Mean of the finite values"), true},
      {TensorTableModel::tr("Std"), TensorTableModel::tr("Population standard deviation of the finite values"), true},
      {TensorTableModel::tr("Norm"), TensorTableModel::tr("Root of the sum of squares of the finite values"), true},
      {TensorTableModel::tr("Zeros"), TensorTableModel::tr("Values that are exactly zero"), true},
      {TensorTableModel::tr("NaN/Inf"), TensorTableModel::tr("Values that are not finite: NaN and infinite"), true},
      {TensorTableModel::tr("Dead units"), TensorTableModel::tr("Rows of a matrix that are zero throughout"), true},
  };
}

TableCell text(const QString& shown) {
  return {shown, shown, {}, {}, false, false};
}

TableCell statisticCell(const TensorInfo& info, const TensorStatistics& s, int column) {
  switch (column) {
    case TensorTableModel::least:
      return numberCell(s.min);
    case TensorTableModel::greatest:
      return numberCell(s.max);
    case TensorTableModel::mean:
      return numberCell(s.mean);
    case TensorTableModel::deviation:
      return numberCell(s.std);
    case TensorTableModel::norm:
      return numberCell(s.norm);
    case TensorTableModel::zeros:
      return countCell(static_cast<double>(s.zeros));
    case TensorTableModel::not_finite: {
      TableCell cell = countCell(static_cast<double>(s.nan + s.inf));
      if (s.nan + s.inf > 0) {
        cell.lamp = Lamp::bad;
        cell.strong = true;
        cell.tip = TensorTableModel::tr("%1 NaN, %2 infinite")
                       .arg(formatCount(static_cast<double>(s.nan)), formatCount(static_cast<double>(s.inf)));
      }
      return cell;
    }
    default: {
      if (info.shape.size() != 2)
        return {QStringLiteral("–"), {}, TensorTableModel::tr("only matrices have units"), {}, false, true};
      TableCell cell = countCell(static_cast<double>(s.dead_units));
      if (s.dead_units > 0) cell.lamp = Lamp::warning;
      return cell;
    }
  }
}

}  // namespace

TensorTableModel::TensorTableModel(QObject* parent) : CellTableModel(tensorColumns(), parent) {}

void TensorTableModel::setTensors(std::vector<TensorInfo> tensors) {
  beginResetModel();
  rows_.clear();
  for (TensorInfo& info : tensors) rows_.push_back({std::move(info), {}});
  endResetModel();
}

void TensorTableModel::setStatistics(int row, const TensorStatistics& statistics) {
  rows_.at(static_cast<std::size_t>(row)).values = statistics;
  Q_EMIT dataChanged(index(row, least), index(row, dead_units));
}

int TensorTableModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

TableCell TensorTableModel::cell(int row, int column) const {
  const Row& shown = rows_[static_cast<std::size_t>(row)];
  switch (column) {
    case name:
      return text(QString::fromStdString(shown.info.name));
    case type:
      return text(QString::fromLatin1(dtype_name(shown.info.dtype)));
    case shape: {
      TableCell cell = text(QString::fromStdString(shape_text(shown.info.shape)));
      cell.sort = static_cast<qulonglong>(shown.info.elements);
      return cell;
    }
    case bytes: {
      const auto size = static_cast<qint64>(shown.info.bytes());
      return {QLocale().formattedDataSize(size, 1),
              size,
              tr("%1 bytes").arg(formatCount(static_cast<double>(size))),
              {},
              false,
              false};
    }
    default:
      if (!shown.values) return {QStringLiteral("…"), {}, tr("not computed yet"), {}, false, true};
      return statisticCell(shown.info, *shown.values, column);
  }
}

std::string TensorTableModel::csv() const {
  std::string out = "name,dtype,shape,bytes,min,max,mean,std,norm,zeros,nan,inf,dead_units\n";
  for (const Row& row : rows_) {
    out += csvField(QString::fromStdString(row.info.name)) + ',' + dtype_name(row.info.dtype) + ',' +
           csvField(QString::fromStdString(shape_text(row.info.shape))) + ',' + std::to_string(row.info.bytes());
    if (row.values) {
      const TensorStatistics& s = *row.values;
      for (const double x : {s.min, s.max, s.mean, s.std, s.norm}) out += ',' + plainNumber(x);
      for (const auto n : {s.zeros, s.nan, s.inf, s.dead_units}) out += ',' + std::to_string(n);
    } else {
      out += ",,,,,,,,,";
    }
    out += '\n';
  }
  return out;
}

}  // namespace foxhunt::ui
