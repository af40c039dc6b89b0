// The queue, the published copies and the worker thread's outermost frame.
#include "engine/session/session.h"

#include <chrono>

#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/base/log.h"
#include "engine/session/trainer.h"

namespace foxhunt {

Session::Session(Config config, SessionOptions options)
    : config_(std::move(config)), options_(std::move(options)), status_(std::make_shared<SessionStatus>()) {
  worker_ = std::thread([this] { run(); });
}

Session::~Session() {
  post({.kind = CommandKind::stop_now, .first = 0, .last = -1, .field = {}, .value = {}});
  if (worker_.joinable()) worker_.join();
}

void Session::run() {
  auto trainer = std::make_shared<Trainer>(*this);
  try {
    trainer->run();
  } catch (const Error& e) {
    const std::scoped_lock lock(mutex_);
    error_ = std::current_exception();
    auto fresh = std::make_shared<SessionStatus>(*status_);
    fresh->state = SessionState::failed;
    fresh->reason = e.sentence();
    status_ = fresh;
  } catch (const std::exception& e) {
    const std::scoped_lock lock(mutex_);
    error_ = std::current_exception();
    auto fresh = std::make_shared<SessionStatus>(*status_);
    fresh->state = SessionState::failed;
    fresh->reason = e.what();
    status_ = fresh;
  }
  trainer->close();
  keep_ = trainer;  // readers may still look at its mapped memory
  const std::scoped_lock lock(mutex_);
  for (auto& record : records_) {
    if (record.stage == CommandRecord::Stage::done || record.stage == CommandRecord::Stage::refused) continue;
    record.stage = CommandRecord::Stage::refused;
    record.done = wall_seconds();
    record.message = "the session has ended";
  }
  ended_.store(true, std::memory_order_release);
  changed_.notify_all();
}

std::uint64_t Session::post(Command command) {
  const std::scoped_lock lock(mutex_);
  const std::uint64_t number = records_.size() + 1;
  if (command.kind == CommandKind::stop_now) stop_now_.store(true, std::memory_order_relaxed);
  CommandRecord record;
  record.number = number;
  record.command = command;
  record.requested = wall_seconds();
  if (ended_.load(std::memory_order_relaxed)) {
    record.stage = CommandRecord::Stage::refused;
    record.done = record.requested;
    record.message = "the session has ended";
  } else {
    queue_.push_back({number, std::move(command)});
    pending_count_.store(static_cast<int>(queue_.size()), std::memory_order_relaxed);
  }
  records_.push_back(std::move(record));
  changed_.notify_all();
  return number;
}

std::optional<Session::Pending> Session::next_command(bool wait) {
  std::unique_lock lock(mutex_);
  if (wait) changed_.wait(lock, [&] { return !queue_.empty(); });
  if (queue_.empty()) return std::nullopt;
  Pending pending = std::move(queue_.front());
  queue_.pop_front();
  pending_count_.store(static_cast<int>(queue_.size()), std::memory_order_relaxed);
  return pending;
}

void Session::acknowledge(std::uint64_t number, std::uint64_t step) {
  const std::scoped_lock lock(mutex_);
  CommandRecord& record = records_.at(number - 1);
  record.stage = CommandRecord::Stage::acknowledged;
  record.step = step;
  record.acknowledged = wall_seconds();
}

void Session::finish(std::uint64_t number, const std::string& message, bool refused) {
  const std::scoped_lock lock(mutex_);
  CommandRecord& record = records_.at(number - 1);
  record.stage = refused ? CommandRecord::Stage::refused : CommandRecord::Stage::done;
  record.done = wall_seconds();
  record.message = message;
}

void Session::publish(const std::function<void(SessionStatus&)>& change) {
  // Only the worker changes the status: the copy is made without the lock.
  auto fresh = std::make_shared<SessionStatus>(*status());
  change(*fresh);
  const std::scoped_lock lock(mutex_);
  status_ = std::move(fresh);
  changed_.notify_all();
}

void Session::publish_plan(std::shared_ptr<const SessionPlan> plan) {
  const std::scoped_lock lock(mutex_);
  plan_ = std::move(plan);
}

void Session::publish_result(std::shared_ptr<const FoldResult> result) {
  const std::scoped_lock lock(mutex_);
  for (auto& old : results_) {
    if (old->index == result->index) {
      old = std::move(result);
      return;
    }
  }
  results_.push_back(std::move(result));
}

void Session::publish_trace(std::shared_ptr<const ValidationTrace> trace) {
  {
    const std::scoped_lock lock(mutex_);
    trace_.swap(trace);
  }  // the one before goes, perhaps with its memory, where nobody waits
}

void Session::note(SessionEvent event) {
  event.wall = wall_seconds();
  if (event.severity == "error")
    log_error("{}", event.message);
  else if (event.severity == "warning")
    log_warning("{}", event.message);
  else
    log_info("{}", event.message);
  const std::scoped_lock lock(mutex_);
  events_.push_back(std::move(event));
}

void Session::add_checkpoint(const std::filesystem::path& path) {
  const std::scoped_lock lock(mutex_);
  checkpoints_.push_back(path);
}

void Session::remove_checkpoint(const std::filesystem::path& path) {
  const std::scoped_lock lock(mutex_);
  std::erase(checkpoints_, path);
}

std::vector<std::filesystem::path> Session::checkpoints() const {
  const std::scoped_lock lock(mutex_);
  return checkpoints_;
}

std::shared_ptr<const SessionStatus> Session::status() const {
  const std::scoped_lock lock(mutex_);
  return status_;
}

std::shared_ptr<const SessionPlan> Session::plan() const {
  const std::scoped_lock lock(mutex_);
  return plan_;
}

std::vector<CommandRecord> Session::commands(std::uint64_t after) const {
  const std::scoped_lock lock(mutex_);
  const auto first = std::min<std::size_t>(after, records_.size());
  return {records_.begin() + static_cast<std::ptrdiff_t>(first), records_.end()};
}

std::vector<SessionEvent> Session::events(std::size_t after) const {
  const std::scoped_lock lock(mutex_);
  const auto first = std::min(after, events_.size());
  return {events_.begin() + static_cast<std::ptrdiff_t>(first), events_.end()};
}

std::shared_ptr<const ValidationTrace> Session::trace() const {
  const std::scoped_lock lock(mutex_);
  return trace_;
}

std::vector<std::shared_ptr<const FoldResult>> Session::results() const {
  const std::scoped_lock lock(mutex_);
  return results_;
}

bool Session::wait(double seconds) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::duration<double>(seconds),
                           [&] { return ended_.load(std::memory_order_relaxed); });
}

std::exception_ptr Session::error() const {
  const std::scoped_lock lock(mutex_);
  return error_;
}

}  // namespace foxhunt
