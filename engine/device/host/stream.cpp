// The queue and the worker thread of a host stream.
#include "engine/device/host/stream.h"

#include "engine/device/host/capture.h"
#include "engine/device/host/plan.h"
#include "engine/device/host/thread_pool.h"

namespace foxhunt::device::host {

HostStream::HostStream(const void* device, ThreadPool& pool, std::shared_ptr<StreamList> all)
    : device_(device), pool_(pool), all_(std::move(all)) {
  all_->push_back(this);
}

HostStream::~HostStream() {
  std::erase(*all_, this);
  if (const std::shared_ptr<Capture> held = capture) held->leave(*this);
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  ready_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void HostStream::push(Task task) {
  const std::lock_guard lock(mutex_);
  if (queued_ == ring_.size()) {
    std::vector<Task> larger(ring_.size() * 2);
    for (std::size_t i = 0; i < queued_; ++i) larger[i] = std::move(ring_[(head_ + i) % ring_.size()]);
    ring_.swap(larger);
    head_ = 0;
  }
  ring_[(head_ + queued_) % ring_.size()] = std::move(task);
  ++queued_;
  if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
  ready_.notify_one();
}

void HostStream::drain() {
  std::unique_lock lock(mutex_);
  drained_.wait(lock, [&] { return queued_ == 0 && !running_; });
}

void HostStream::work() {
  const Scratch scratch;
  std::unique_lock lock(mutex_);
  for (;;) {
    ready_.wait(lock, [&] { return queued_ > 0 || stop_; });
    if (queued_ == 0) return;
    Task task = std::move(ring_[head_]);
    ring_[head_] = {};
    head_ = (head_ + 1) % ring_.size();
    --queued_;
    running_ = true;
    lock.unlock();
    execute(task, scratch.data());
    task = {};  // what it held is released before the stream counts as idle
    lock.lock();
    running_ = false;
    if (queued_ == 0) drained_.notify_all();
  }
}

void HostStream::execute(Task& task, std::byte* scratch) {
  if (task.work) run_work(*task.work, pool_, scratch);
  if (task.plan) run_plan(*task.plan, task.graph_events, pool_, scratch);
  if (task.wait) task.wait->wait();
  if (task.record) task.record->signal();
}

}  // namespace foxhunt::device::host
