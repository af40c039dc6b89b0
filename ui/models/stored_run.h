// A run folder as the source of RunData: reads it on a thread of its own and hands batches to the GUI thread; follows
// a run that another process is writing until that ends.
#pragma once

#include <QObject>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <mutex>
#include <thread>

#include "ui/frame_clock.h"
#include "ui/models/run_data.h"

namespace foxhunt::ui {

class StoredRun : public QObject {
  Q_OBJECT
 public:
  // Takes batches over on every tick of the clock, for at most 8 ms a frame.
  StoredRun(FrameClock* clock, RunData* data, QObject* parent = nullptr);
  ~StoredRun() override;

  // Shows this folder instead of what `data` holds. Reading happens on another thread; errors come by failed().
  void open(const std::filesystem::path& folder);
  void close();
  bool isOpen() const { return open_; }
  // Everything that was there when the run was opened has been handed over.
  bool loaded() const { return loaded_; }
  bool following() const { return following_; }  // another process writes it

 Q_SIGNALS:
  void loadedChanged();
  void failed(const QString& sentence);

 private:
  using Batch = std::function<void(StoredRun&)>;
  // Shared with the reading thread, which may outlive this object for the length of one read.
  struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Batch> batches;
    bool stop = false;

    bool push(Batch batch);  // waits while too many are pending; false: stop
    bool pause(double seconds);
  };
  friend class StoredRunReading;

  void takeOver();

  RunData* data_;
  std::shared_ptr<Shared> shared_;
  bool open_ = false, loaded_ = false, following_ = false;
};

}  // namespace foxhunt::ui
