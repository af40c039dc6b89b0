// A training session: one worker thread that owns device and learner, a queue of commands to it, and copies of its
// state for others. The command line and the window use exactly this. Nobody shares a lock with the worker for longer
// than a pointer swap.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/config/config.h"
#include "engine/session/session_types.h"
#include "kernels/telemetry_types.h"

namespace foxhunt {

class Session {
 public:
  // Starts the worker, which prepares (data, device, learner) and then trains what options.start says.
  Session(Config config, SessionOptions options);
  // Stops now if it still runs, and joins.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // From any thread; returns the command's number at once.
  std::uint64_t post(Command command);
  // Copies of what stands now. All of them may be called from any thread.
  std::shared_ptr<const SessionStatus> status() const;
  std::shared_ptr<const SessionPlan> plan() const;                     // null until the data are loaded
  std::vector<CommandRecord> commands(std::uint64_t after = 0) const;  // with a number above `after`
  std::vector<SessionEvent> events(std::size_t after = 0) const;       // from place `after` on
  std::vector<std::shared_ptr<const FoldResult>> results() const;
  std::shared_ptr<const ValidationTrace> trace() const;    // of the newest validation; null before the first
  std::vector<std::filesystem::path> checkpoints() const;  // absolute, oldest first

  // Telemetry's mapped memory: null until prepared, then valid as long as the session lives.
  const kernels::MappedTelemetry* telemetry() const { return telemetry_.load(std::memory_order_acquire); }

  // Blocks until the worker has ended or `seconds` have passed; true when it has ended.
  bool wait(double seconds) const;
  bool ended() const { return ended_.load(std::memory_order_acquire); }
  // The error that ended it, or null.
  std::exception_ptr error() const;

 private:
  friend class Trainer;
  struct Pending {
    std::uint64_t number;
    Command command;
  };

  void run();
  // Worker's side.
  std::optional<Pending> next_command(bool wait);
  bool has_command() const { return pending_count_.load(std::memory_order_relaxed) > 0; }
  void acknowledge(std::uint64_t number, std::uint64_t step);
  void finish(std::uint64_t number, const std::string& message, bool refused = false);
  void publish(const std::function<void(SessionStatus&)>& change);
  void publish_plan(std::shared_ptr<const SessionPlan> plan);
  void publish_result(std::shared_ptr<const FoldResult> result);
  void publish_trace(std::shared_ptr<const ValidationTrace> trace);
  void publish_telemetry(const kernels::MappedTelemetry* mapped) {
    telemetry_.store(mapped, std::memory_order_release);
  }
  void note(SessionEvent event);
  void add_checkpoint(const std::filesystem::path& path);  // from the writing thread too
  void remove_checkpoint(const std::filesystem::path& path);

  Config config_;
  SessionOptions options_;
  mutable std::mutex mutex_;  // of the members up to ended_; held for copies and swaps alone
  mutable std::condition_variable changed_;
  std::deque<Pending> queue_;
  std::vector<CommandRecord> records_;
  std::vector<SessionEvent> events_;
  std::vector<std::filesystem::path> checkpoints_;
  std::vector<std::shared_ptr<const FoldResult>> results_;
  std::shared_ptr<const ValidationTrace> trace_;
  std::shared_ptr<const SessionStatus> status_;
  std::shared_ptr<const SessionPlan> plan_;
  std::exception_ptr error_;
  std::atomic<int> pending_count_{0};
  std::atomic<bool> stop_now_{false};  // seen inside long device work, before the queue is
  std::atomic<bool> ended_{false};
  std::atomic<const kernels::MappedTelemetry*> telemetry_{nullptr};
  std::shared_ptr<void> keep_;  // what telemetry_ points into, until the session goes
  std::thread worker_;
};

}  // namespace foxhunt
