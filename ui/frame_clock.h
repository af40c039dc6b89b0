// One 60 Hz clock for the whole window. Readers are called on every tick, painters only while their widget is
// visible and as often as the load allows; the cost of each frame on the GUI thread is measured.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QPointer>
#include <QTimer>
#include <QWidget>
#include <functional>
#include <vector>

namespace foxhunt::ui {

// Over the last 240 frames. Milliseconds of the GUI thread from a tick to the end of the painting it caused.
struct FrameCost {
  double median_ms = 0, p99_ms = 0;
  double share = 0;  // of wall time, 0 to 1
  int paint_hz = 60;
  int frames = 0;
};

class FrameClock : public QObject {
  Q_OBJECT
 public:
  static constexpr int rate_hz = 60;

  explicit FrameClock(QObject* parent = nullptr);

  void start();
  void stop();
  bool running() const { return timer_.isActive(); }

  // Called on every tick, whatever the load, until the owner is destroyed.
  void addReader(QObject* owner, std::function<void()> read);
  // Called on ticks on which painting is due, only while the widget is visible in a window that is not minimised.
  void addPainter(QWidget* widget, std::function<void()> paint);
  void remove(QObject* owner);

  FrameCost cost() const;
  // One sentence for the status bar: "window 3.1 ms a frame (18 % of its thread)", with the lowered rate if any.
  QString summary() const;

  // One tick now; the timer does the same.
  void tick();
  // Takes in one frame's cost; what tick() does once its painting is over.
  void recordFrame(double milliseconds, double wall_milliseconds);

 Q_SIGNALS:
  // The paint rate was lowered or raised because of the load.
  void paintRateChanged(int hz);

 protected:
  bool event(QEvent* event) override;

 private:
  struct Client {
    QPointer<QObject> owner;
    std::function<void()> call;
    bool painter = false;
  };
  static constexpr std::size_t history = 240;
  static constexpr std::size_t decide_every = 30;  // frames between changes of the rate

  void adapt();
  bool visible(const QObject& owner) const;

  QTimer timer_;
  QElapsedTimer since_tick_;
  std::vector<Client> clients_;
  std::vector<double> costs_, walls_;  // rings of `history` frames, milliseconds
  std::size_t next_ = 0;
  std::size_t since_decision_ = 0;
  int divisor_ = 1;  // painting happens on every divisor-th tick
  long long ticks_ = 0;
  double tick_started_ms_ = 0, last_tick_ms_ = -1;
  bool measuring_ = false;
};

}  // namespace foxhunt::ui
