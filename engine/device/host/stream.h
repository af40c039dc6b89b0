// Streams of the host device: ordered queues, each with a thread of its own that starts with its first task.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/device/device.h"
#include "engine/device/host/event.h"
#include "engine/device/host/work.h"

namespace foxhunt::device::host {

struct Plan;
class ThreadPool;

// One entry of a stream's queue; exactly one of the first four is set.
struct Task {
  std::shared_ptr<const Work> work;
  std::shared_ptr<Plan> plan;
  std::shared_ptr<Completion> record;
  std::shared_ptr<Completion> wait;
  std::vector<std::shared_ptr<Completion>> graph_events;  // of the plan's event-record nodes, in its order
};

class HostStream;
using StreamList = std::vector<HostStream*>;  // of one device

class HostStream : public Stream {
 public:
  HostStream(const void* device, ThreadPool& pool, std::shared_ptr<StreamList> all);
  ~HostStream() override;  // finishes what is queued

  const void* device() const { return device_; }
  void push(Task task);
  void drain();  // returns when everything queued is done

  // Set while the stream is part of a capture.
  std::shared_ptr<Capture> capture;
  std::vector<NodeId> frontier;  // nodes that the next captured one depends on

 private:
  void work();
  void execute(Task& task, std::byte* scratch);

  const void* device_;
  ThreadPool& pool_;
  std::shared_ptr<StreamList> all_;  // this one included
  std::mutex mutex_;
  std::condition_variable ready_, drained_;
  std::vector<Task> ring_ = std::vector<Task>(16);  // grows when full, so a running step allocates nothing
  std::size_t head_ = 0, queued_ = 0;
  bool running_ = false, stop_ = false;
  std::thread thread_;
};

}  // namespace foxhunt::device::host
