// What linked charts share: the x range with Follow and undo, the crosshair with its value table, event lines.
// A chart without neighbours has a link of its own.
#pragma once

#include <QObject>
#include <QPointer>
#include <optional>
#include <utility>
#include <vector>

#include "ui/charts/chart_types.h"

namespace foxhunt::ui {

// What a link needs of a chart.
class LinkedChart {
 public:
  virtual ~LinkedChart() = default;
  // Steps of the first and last sample of all series; empty without samples.
  virtual std::optional<std::pair<double, double>> dataRange() const = 0;
  virtual std::vector<ValueRow> valuesAt(double x) const = 0;
  virtual YView yView() const = 0;
  virtual void restoreYView(const YView& view) = 0;
};

class ChartLink : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;

  void attach(LinkedChart* chart);
  void detach(LinkedChart* chart);

  const XView& view() const { return view_; }
  // While viewChanged() is emitted: only because new samples did not fit a range that shows everything.
  bool growing() const { return growing_; }
  // Sets the range without an entry in the undo list; charts call remember() first.
  void setView(const XView& view);
  // Everything in view, following.
  void fit();
  // Turns Follow on, keeping the width of the range.
  void follow();
  // Moves a following range to the newest sample; charts call it when data came. With everything in view the range
  // grows in jumps of 2 %, so that most frames leave the columns where they are.
  void advance();
  std::optional<std::pair<double, double>> dataRange() const;

  // Keeps the present range and the chart's y range for undo. Entries of the same gesture within 0.6 s are one.
  void remember(LinkedChart* chart, const char* gesture);
  bool undo();
  bool redo();
  bool canUndo() const { return !past_.empty(); }
  bool canRedo() const { return !future_.empty(); }

  void setCrosshair(std::optional<double> x);
  std::optional<double> crosshair() const { return crosshair_; }
  // The values of every series of every linked chart at x.
  std::vector<ValueRow> values(double x) const;

  void setEvents(std::vector<EventLine> events);
  void addEvent(const EventLine& event);
  // Ascending in x.
  const std::vector<EventLine>& events() const { return events_; }

 Q_SIGNALS:
  void viewChanged();
  void crosshairChanged();
  void eventsChanged();

 private:
  struct Entry {
    XView x;
    LinkedChart* chart = nullptr;
    YView y;
  };
  static constexpr std::size_t most_entries = 200;

  Entry present(LinkedChart* chart) const;
  bool restore(std::vector<Entry>& from, std::vector<Entry>& to);

  std::vector<LinkedChart*> charts_;
  XView view_;
  bool growing_ = false;
  std::vector<Entry> past_, future_;
  const char* last_gesture_ = nullptr;
  LinkedChart* last_chart_ = nullptr;
  qint64 last_time_ = 0;
  std::optional<double> crosshair_;
  std::vector<EventLine> events_;
};

}  // namespace foxhunt::ui
