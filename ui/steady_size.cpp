// Without a layout: a layout would hand every change on.
#include "ui/steady_size.h"

namespace foxhunt::ui {

SteadySize::SteadySize(QWidget* content, QWidget* parent) : QWidget(parent), content_(content) {
  content_->setParent(this);
  content_->setGeometry(rect());
}

QSize SteadySize::sizeHint() const {
  if (!wished_.isValid()) wished_ = content_->sizeHint();
  return wished_;
}

QSize SteadySize::minimumSizeHint() const {
  if (!least_.isValid()) least_ = content_->minimumSizeHint().expandedTo(content_->minimumSize());
  return least_;
}

void SteadySize::resizeEvent(QResizeEvent*) {
  content_->setGeometry(rect());
}

}  // namespace foxhunt::ui
