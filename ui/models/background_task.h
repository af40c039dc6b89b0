// Work on a thread of the pool whose result comes back to the GUI thread, unless its owner is gone or has asked for
// something newer meanwhile.
#pragma once

#include <QCoreApplication>
#include <QObject>
#include <QPointer>
#include <QThreadPool>
#include <atomic>
#include <exception>
#include <functional>
#include <memory>

#include "engine/base/error.h"

namespace foxhunt::ui {

class BackgroundTask : public QObject {
  Q_OBJECT
 public:
  // What the work gets: whether it should stop, and a way to the GUI thread for what is done so far.
  class Context {
   public:
    bool cancelled() const { return cancelled_->load(std::memory_order_relaxed); }
    // The same as the engine's readers take it; stands as long as the work runs.
    const std::atomic<bool>& cancelFlag() const { return *cancelled_; }
    // Calls on the GUI thread, in order, unless the task was cancelled by then.
    void post(std::function<void()> call) const {
      QCoreApplication* app = QCoreApplication::instance();
      if (app == nullptr) return;  // the program ends
      QMetaObject::invokeMethod(
          app,
          [cancelled = cancelled_, call = std::move(call)] {
            if (!cancelled->load(std::memory_order_relaxed)) call();
          },
          Qt::QueuedConnection);
    }

   private:
    friend class BackgroundTask;
    std::shared_ptr<std::atomic<bool>> cancelled_ = std::make_shared<std::atomic<bool>>(false);
  };

  using QObject::QObject;
  ~BackgroundTask() override { cancel(); }

  // Cancels what runs. `work` must not touch widgets; `done` and `failed` run on the GUI thread, one of them once
  // unless cancelled.
  void start(std::function<void(const Context&)> work, std::function<void()> done,
             std::function<void(QString)> failed) {
    cancel();
    context_ = Context();
    running_ = true;
    QThreadPool::globalInstance()->start([context = context_, work = std::move(work),
                                          end =
                                              [this](std::function<void()> call) {
                                                running_ = false;
                                                call();
                                              },
                                          done = std::move(done), failed = std::move(failed)] {
      QString problem;
      try {
        work(context);
      } catch (const Error& error) {
        problem = QString::fromStdString(error.sentence());
      } catch (const std::exception& error) {
        problem = QString::fromLocal8Bit(error.what());
      }
      // `end` refers to the task, which cancels before it goes: a call that was not cancelled finds it alive.
      context.post([end, problem, done, failed] { end([&] { problem.isEmpty() ? done() : failed(problem); }); });
    });
  }
  void cancel() {
    context_.cancelled_->store(true, std::memory_order_relaxed);
    running_ = false;
  }
  bool running() const { return running_; }

 private:
  Context context_;
  bool running_ = false;
};

}  // namespace foxhunt::ui
