// Events of the host device. Each record makes (or reuses) a completion that waiters hold, so recording an event again
// does not disturb who waits for the earlier record.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/device/device.h"

namespace foxhunt::device::host {

struct Capture;

// One record of an event.
class Completion {
 public:
  void reset() { done_.store(0, std::memory_order_relaxed); }
  void signal();  // stamps the time and wakes the waiters
  bool done() const { return done_.load(std::memory_order_acquire) != 0; }
  void wait() const;
  std::int64_t nanoseconds() const { return nanoseconds_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint32_t> done_{0};
  std::atomic<std::int64_t> nanoseconds_{0};  // of the steady clock
};

// Shared by the event and by graphs that record it.
class EventState {
 public:
  explicit EventState(bool with_time) : timing(with_time) {}

  const bool timing;

  // A completion for the next record; becomes the latest one.
  std::shared_ptr<Completion> next();
  std::shared_ptr<Completion> latest() const;  // null before the first record

  // The last record was made in this capture, after these nodes; null for an ordinary record.
  void set_captured(std::shared_ptr<Capture> capture, std::vector<NodeId> nodes);
  std::shared_ptr<Capture> captured() const;
  const std::vector<NodeId>& captured_nodes() const { return nodes_; }  // the engine's thread only

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<Completion> latest_;
  std::vector<std::shared_ptr<Completion>> pool_;
  std::shared_ptr<Capture> capture_;
  std::vector<NodeId> nodes_;
};

class HostEvent : public Event {
 public:
  HostEvent(const void* device, bool timing) : device_(device), state_(std::make_shared<EventState>(timing)) {}
  // Errors: Error when the last record was made in a capture.
  bool done() const override;
  const void* device() const { return device_; }
  const std::shared_ptr<EventState>& state() const { return state_; }

 private:
  const void* device_;
  std::shared_ptr<EventState> state_;
};

}  // namespace foxhunt::device::host
