// The host's thread pool: every item once, any caller, any number of threads.
#include <atomic>
#include <thread>

#include "engine/device/host/thread_pool.h"
#include "tests/device/device_fixture.h"

namespace foxhunt::device::host {
namespace {

struct Tally {
  std::vector<std::atomic<int>> hits;
  std::atomic<int> bad_scratch{0};
  explicit Tally(std::size_t count) : hits(count) {}
};

void count(const void* context, int item, std::byte* scratch) {
  auto& tally = *const_cast<Tally*>(static_cast<const Tally*>(context));
  scratch[0] = scratch[Scratch::kBytes - 1] = static_cast<std::byte>(item);
  if (reinterpret_cast<std::uintptr_t>(scratch) % 64 != 0) tally.bad_scratch.fetch_add(1);
  tally.hits[static_cast<std::size_t>(item)].fetch_add(1);
}

TEST(ThreadPool, RunsEveryItemOnce) {
  for (const int threads : {1, 2, 3, 7}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    const Scratch scratch;
    for (int round = 0; round < 300; ++round) {
      const int items = round % 40;
      Tally tally(static_cast<std::size_t>(items));
      pool.run(items, count, &tally, scratch.data());
      for (const auto& hits : tally.hits) ASSERT_EQ(hits.load(), 1) << items << " items, round " << round;
      ASSERT_EQ(tally.bad_scratch.load(), 0);
    }
  }
}

TEST(ThreadPool, ServesSeveralCallersAtOnce) {
  ThreadPool pool(3);
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 3; ++c)
    callers.emplace_back([&] {
      const Scratch scratch;
      for (int round = 0; round < 300; ++round) {
        Tally tally(17);
        pool.run(17, count, &tally, scratch.data());
        for (const auto& hits : tally.hits)
          if (hits.load() != 1) wrong.fetch_add(1);
      }
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(ThreadPool, WakesAfterItSlept) {
  ThreadPool pool(2);
  const Scratch scratch;
  for (int round = 0; round < 5; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    Tally tally(64);
    pool.run(64, count, &tally, scratch.data());
    for (const auto& hits : tally.hits) ASSERT_EQ(hits.load(), 1);
  }
}

}  // namespace
}  // namespace foxhunt::device::host
