// The pool that runs blocks of kernels and pieces of products: one parallel loop at a time, cheap enough for loops of
// a few microseconds. Nothing is allocated by a call.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace foxhunt::device::host {

// Scratch memory of one executing thread; what a kernel's Block::scratch points to.
class Scratch {
 public:
  static constexpr std::size_t kBytes = 256 * 1024;
  Scratch();
  std::byte* data() const { return data_; }

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::byte* data_;  // aligned to a cache line
};

class ThreadPool {
 public:
  using Body = void (*)(const void* context, int item, std::byte* scratch);

  // threads: of a loop, the caller included; at least 1.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  // Runs body(context, i, scratch) for every i of [0, count) and returns when all are done. The caller takes part with
  // its own `scratch`. When another caller's loop is running, this one runs serially on the caller.
  void run(int count, Body body, const void* context, std::byte* scratch);

 private:
  void work();
  bool take(std::uint32_t& generation_seen, std::byte* scratch);
  void wake(int wanted);
  void wait_for_items();

  // High half: number of the loop; low half: next item, kClosed between loops. An item is taken by compare-exchange,
  // so a worker that read the fields of another loop can never take one.
  static constexpr std::uint32_t kClosed = 0xffffffffu;
  alignas(64) std::atomic<std::uint64_t> state_{kClosed};
  alignas(64) std::atomic<int> pending_{0};
  alignas(64) std::atomic<std::uint32_t> wake_{0};
  std::atomic<int> sleepers_{0};
  std::atomic<bool> stop_{false};
  alignas(64) std::atomic<bool> busy_{false};
  std::atomic<Body> body_{nullptr};
  std::atomic<const void*> context_{nullptr};
  std::atomic<std::uint32_t> count_{0};
  bool spin_ = true;  // off when there are more threads than processors
  std::vector<std::thread> workers_;
};

}  // namespace foxhunt::device::host
