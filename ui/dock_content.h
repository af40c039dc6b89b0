// A dock's content that keeps its panel's changing wishes for room to itself. Qt lays out every dock of the window anew
// when the size hint of one panel changes, which takes tens of milliseconds of the window's thread; here the dock asks
// for what the panel asked for first, and the panel gets what room there is.
#pragma once

#include <QWidget>

namespace foxhunt::ui {

class DockContent : public QWidget {
 public:
  explicit DockContent(QWidget* panel, QWidget* parent = nullptr);

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  QWidget* panel_;
  mutable QSize wished_, least_;  // as first asked for
};

}  // namespace foxhunt::ui
