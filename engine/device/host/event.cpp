// Events of the host device.
#include "engine/device/host/event.h"

#include <chrono>

#include "engine/base/error.h"

namespace foxhunt::device::host {

void Completion::signal() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  nanoseconds_.store(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count(), std::memory_order_relaxed);
  done_.store(1, std::memory_order_release);
  done_.notify_all();
}

void Completion::wait() const {
  while (!done()) done_.wait(0, std::memory_order_acquire);
}

std::shared_ptr<Completion> EventState::next() {
  const std::lock_guard lock(mutex_);
  capture_.reset();
  nodes_.clear();
  latest_.reset();
  for (const std::shared_ptr<Completion>& candidate : pool_)
    if (candidate.use_count() == 1) {  // nobody else can take a new reference: only this thread hands them out
      latest_ = candidate;
      break;
    }
  if (!latest_) latest_ = pool_.emplace_back(std::make_shared<Completion>());
  latest_->reset();
  return latest_;
}

std::shared_ptr<Completion> EventState::latest() const {
  const std::lock_guard lock(mutex_);
  return latest_;
}

void EventState::set_captured(std::shared_ptr<Capture> capture, std::vector<NodeId> nodes) {
  const std::lock_guard lock(mutex_);
  capture_ = std::move(capture);
  nodes_ = std::move(nodes);
}

std::shared_ptr<Capture> EventState::captured() const {
  const std::lock_guard lock(mutex_);
  return capture_;
}

bool HostEvent::done() const {
  if (state_->captured())
    throw Error("Event::done: the event was last recorded in a capture, so it never happens by itself");
  const std::shared_ptr<Completion> latest = state_->latest();
  return !latest || latest->done();
}

}  // namespace foxhunt::device::host
