// Keeps its content's changing wishes for room to itself. Qt lays out every dock of the window anew when the size hint
// of one panel or bar changes, which takes tens of milliseconds of the window's thread; this asks for what the content
// asked for first, and the content gets what room there is.
#pragma once

#include <QWidget>

namespace foxhunt::ui {

class SteadySize : public QWidget {
 public:
  explicit SteadySize(QWidget* content, QWidget* parent = nullptr);

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  QWidget* content_;
  mutable QSize wished_, least_;  // as first asked for
};

}  // namespace foxhunt::ui
