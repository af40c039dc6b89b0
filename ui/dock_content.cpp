// Without a layout: a layout would hand every change on.
#include "ui/dock_content.h"

namespace foxhunt::ui {

DockContent::DockContent(QWidget* panel, QWidget* parent) : QWidget(parent), panel_(panel) {
  panel_->setParent(this);
  panel_->setGeometry(rect());
}

QSize DockContent::sizeHint() const {
  if (!wished_.isValid()) wished_ = panel_->sizeHint();
  return wished_;
}

QSize DockContent::minimumSizeHint() const {
  if (!least_.isValid()) least_ = panel_->minimumSizeHint().expandedTo(panel_->minimumSize());
  return least_;
}

void DockContent::resizeEvent(QResizeEvent*) {
  panel_->setGeometry(rect());
}

}  // namespace foxhunt::ui
