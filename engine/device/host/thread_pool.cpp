// Parallel loops over a pool of threads that spin briefly before they sleep.
#include "engine/device/host/thread_pool.h"

#include <chrono>

namespace foxhunt::device::host {
namespace {

constexpr std::chrono::microseconds kSpin{40};  // longer than the gap between two loops of one training step

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

// Spins until `ready()` or the time is over; says which.
template <class Ready>
bool spin_until(Ready ready) {
  const auto end = std::chrono::steady_clock::now() + kSpin;
  do {
    for (int i = 0; i < 32; ++i) {
      if (ready()) return true;
      pause();
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

}  // namespace

Scratch::Scratch() : memory_(new std::byte[kBytes + 64]) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory_.get());
  data_ = memory_.get() + (64 - address % 64) % 64;
}

ThreadPool::ThreadPool(int threads) {
  spin_ = threads <= static_cast<int>(std::thread::hardware_concurrency());
  workers_.reserve(static_cast<std::size_t>(threads - 1));
  for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { work(); });
}

ThreadPool::~ThreadPool() {
  stop_.store(true);
  wake_.fetch_add(1);
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

bool ThreadPool::take(std::uint32_t& generation_seen, std::byte* scratch) {
  std::uint64_t state = state_.load(std::memory_order_acquire);
  for (;;) {
    const auto item = static_cast<std::uint32_t>(state);
    const Body body = body_.load(std::memory_order_relaxed);
    const void* context = context_.load(std::memory_order_relaxed);
    if (item >= count_.load(std::memory_order_relaxed)) {
      generation_seen = static_cast<std::uint32_t>(state >> 32);
      return false;
    }
    if (!state_.compare_exchange_weak(state, state + 1, std::memory_order_acq_rel, std::memory_order_acquire)) continue;
    body(context, static_cast<int>(item), scratch);
    if (pending_.fetch_sub(1, std::memory_order_acq_rel) == 1) pending_.notify_one();
    return true;
  }
}

void ThreadPool::work() {
  const Scratch scratch;
  std::uint32_t seen = 0;
  while (!stop_.load(std::memory_order_relaxed)) {
    while (take(seen, scratch.data())) {
    }
    const auto changed = [&] {
      const std::uint64_t state = state_.load(std::memory_order_acquire);
      return (static_cast<std::uint32_t>(state >> 32) != seen && static_cast<std::uint32_t>(state) != kClosed) ||
             stop_.load(std::memory_order_relaxed);
    };
    if (spin_ && spin_until(changed)) continue;
    const std::uint32_t ticket = wake_.load(std::memory_order_seq_cst);
    sleepers_.fetch_add(1, std::memory_order_seq_cst);
    if (!changed()) wake_.wait(ticket, std::memory_order_seq_cst);
    sleepers_.fetch_sub(1, std::memory_order_seq_cst);
  }
}

void ThreadPool::wake(int wanted) {
  if (sleepers_.load(std::memory_order_seq_cst) == 0) return;
  wake_.fetch_add(1, std::memory_order_seq_cst);
  if (wanted >= static_cast<int>(workers_.size())) {
    wake_.notify_all();
  } else {
    for (int i = 0; i < wanted; ++i) wake_.notify_one();
  }
}

void ThreadPool::wait_for_items() {
  const auto done = [&] { return pending_.load(std::memory_order_acquire) == 0; };
  if (done() || (spin_ && spin_until(done))) return;
  for (int left = pending_.load(std::memory_order_acquire); left != 0; left = pending_.load(std::memory_order_acquire))
    pending_.wait(left, std::memory_order_acquire);
}

void ThreadPool::run(int count, Body body, const void* context, std::byte* scratch) {
  const bool alone =
      count <= 1 || workers_.empty() || busy_.exchange(true, std::memory_order_acquire);  // another stream's loop runs
  if (alone) {
    for (int i = 0; i < count; ++i) body(context, i, scratch);
    return;
  }
  body_.store(body, std::memory_order_relaxed);
  context_.store(context, std::memory_order_relaxed);
  count_.store(static_cast<std::uint32_t>(count), std::memory_order_relaxed);
  pending_.store(count, std::memory_order_relaxed);
  const std::uint64_t generation = (state_.load(std::memory_order_relaxed) >> 32) + 1;
  state_.store(generation << 32, std::memory_order_seq_cst);
  wake(count - 1);
  std::uint32_t seen = 0;
  while (take(seen, scratch)) {
  }
  wait_for_items();
  state_.store(generation << 32 | kClosed, std::memory_order_release);
  busy_.store(false, std::memory_order_release);
}

}  // namespace foxhunt::device::host
