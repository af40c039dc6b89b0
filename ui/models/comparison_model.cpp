// Columns of the comparison.
#include "ui/models/comparison_model.h"

#include <QLocale>
#include <algorithm>
#include <cmath>

#include "ui/charts/format.h"

namespace foxhunt::ui {
namespace {

std::vector<TableColumn> comparisonColumns() {
  return {
      {ComparisonModel::tr("Tensor"), ComparisonModel::tr("Name in the files"), false},
      {ComparisonModel::tr("State"), ComparisonModel::tr("Changed, equal bit for bit, reshaped, or in one file only"),
       false},
      {ComparisonModel::tr("Max |d|"), ComparisonModel::tr("Largest absolute change of a value"), true},
      {ComparisonModel::tr("Rel. L2"), ComparisonModel::tr("Norm of the change over the norm in the first file"), true},
      {ComparisonModel::tr("Cosine"), ComparisonModel::tr("Of both tensors as vectors; 1: same direction"), true},
      {ComparisonModel::tr("Signs"), ComparisonModel::tr("Share of values that crossed zero"), true},
      {ComparisonModel::tr("Values"), ComparisonModel::tr("Values compared"), true},
  };
}

double signShare(const TensorDifference& d) {
  return d.values > 0 ? static_cast<double>(d.sign_changes) / static_cast<double>(d.values) : 0;
}

}  // namespace

ComparisonModel::ComparisonModel(QObject* parent) : CellTableModel(comparisonColumns(), parent) {}

void ComparisonModel::setComparison(FileComparison comparison) {
  beginResetModel();
  comparison_ = std::move(comparison);
  others_.clear();
  for (const ReshapedTensor& t : comparison_.reshaped) {
    others_.push_back(
        {t.name, tr("reshaped"),
         tr("from %1 to %2")
             .arg(QString::fromStdString(shape_text(t.shape_a)), QString::fromStdString(shape_text(t.shape_b))),
         "reshaped"});
  }
  for (const std::string& missing : comparison_.missing)
    others_.push_back({missing, tr("only in the first"), {}, "missing"});
  for (const std::string& extra : comparison_.extra) others_.push_back({extra, tr("only in the second"), {}, "extra"});
  endResetModel();
}

int ComparisonModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(comparison_.tensors.size() + others_.size());
}

QString ComparisonModel::sentence() const {
  const auto& all = comparison_.tensors;
  const auto changed = std::count_if(all.begin(), all.end(), [](const TensorDifference& d) { return !d.identical; });
  QStringList parts;
  parts << (comparison_.identical
                ? tr("identical tensors")
                : tr("%1 of %2 tensors changed").arg(changed).arg(static_cast<qlonglong>(all.size())));
  if (!comparison_.reshaped.empty())
    parts << tr("%1 reshaped").arg(static_cast<qlonglong>(comparison_.reshaped.size()));
  if (!comparison_.missing.empty())
    parts << tr("%1 only in the first").arg(static_cast<qlonglong>(comparison_.missing.size()));
  if (!comparison_.extra.empty())
    parts << tr("%1 only in the second").arg(static_cast<qlonglong>(comparison_.extra.size()));
  return parts.join(QStringLiteral(", "));
}

TableCell ComparisonModel::cell(int row, int column) const {
  const TableCell nothing{QStringLiteral("–"), {}, {}, {}, false, true};
  const std::size_t common = comparison_.tensors.size(), at = static_cast<std::size_t>(row);
  if (at >= common) {
    const Other& other = others_[at - common];
    const QString title = QString::fromStdString(other.name);
    if (column == name) return {title, title, {}, {}, false, false};
    if (column == state) return {other.state, other.state, other.tip, Lamp::warning, false, false};
    return nothing;
  }
  const TensorDifference& d = comparison_.tensors[at];
  const QString title = QString::fromStdString(d.name);
  switch (column) {
    case name:
      return {title, title, {}, {}, false, d.identical};
    case state:
      return {d.identical ? tr("equal") : tr("changed"), d.identical ? 0 : 1, {}, {}, false, d.identical};
    case max_abs:
      return numberCell(d.max_abs);
    case relative_l2:
      return numberCell(d.relative_l2);
    case cosine:
      return numberCell(d.cosine, 6);
    case sign_share:
      return {
          QLocale().toString(100 * signShare(d), 'f', 2) + QStringLiteral(" %"), signShare(d), {}, {}, false, false};
    default:
      return countCell(static_cast<double>(d.values));
  }
}

std::string ComparisonModel::csv() const {
  std::string out = "name,state,max_abs,relative_l2,cosine,sign_changes,values\n";
  for (const TensorDifference& d : comparison_.tensors) {
    out += csvField(QString::fromStdString(d.name)) + (d.identical ? ",equal" : ",changed");
    for (const double x : {d.max_abs, d.relative_l2, d.cosine}) out += ',' + plainNumber(x);
    out += ',' + std::to_string(d.sign_changes) + ',' + std::to_string(d.values) + '\n';
  }
  for (const Other& other : others_) out += csvField(QString::fromStdString(other.name)) + ',' + other.word + ",,,,,\n";
  return out;
}

}  // namespace foxhunt::ui
