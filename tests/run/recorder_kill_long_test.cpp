// A session's recording, from mapped memory to the disk, killed at full pace: what it had published more than a second
// before is there.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>

#include "engine/run/run_reader.h"
#include "engine/run/run_sink.h"
#include "engine/telemetry/recorder.h"
#include "tests/run/run_support.h"
#include "tests/telemetry/mapped_writer.h"

namespace foxhunt {
namespace {

using Clock = std::chrono::system_clock;

double now() {
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

// What the child tells: when it published step i, in wall seconds; the last step.
constexpr int kSteps = 100'000;
struct Told {
  std::atomic<int> last;
  double wall[kSteps];
};

// Publishes 1,000 steps a second until it is killed.
[[noreturn]] void record_for_ever(const std::filesystem::path& folder, Told& told) {
  auto store = RunStore::create_at(folder, test::small_info(), telemetry_columns());
  RunStoreSink sink(*store);
  test::MappedWriter writer;
  telemetry::RunRecorder recorder(writer.mapped(), sink);
  for (int step = 1; step < kSteps; ++step) {
    writer.write(step % 50 == 0);
    told.wall[step] = now();
    told.last.store(step, std::memory_order_release);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ::_exit(1);
}

TEST(RecorderKill, LosesAtMostASecond) {
  const auto folder = test::scratch_folder();
  void* memory = ::mmap(nullptr, sizeof(Told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  Told& told = *new (memory) Told{};
  for (int round = 0; round < 5; ++round) {
    told.last = 0;
    const auto run = folder / fmt::format("run{}", round);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) record_for_ever(run, told);
    while (told.last.load(std::memory_order_acquire) < 1500 + 370 * round) ::usleep(1000);
    ::kill(child, SIGKILL);
    const double killed = now();
    ::waitpid(child, nullptr, 0);
    const int last = told.last.load(std::memory_order_acquire);

    const RunReader reader = RunReader::open(run);
    ASSERT_EQ(reader.problem(), "");
    EXPECT_FALSE(reader.running());
    const RunRows rows = reader.rows(RunTable::steps, 0, 1'000'000, {"step", "bucket"});
    ASSERT_FALSE(rows.ids.empty());
    double steps = 0;
    for (const double bucket : rows.values[1]) steps += bucket;
    const int recorded = static_cast<int>(rows.values[0].back());
    EXPECT_EQ(static_cast<int>(steps), recorded) << "a step before the last recorded one is missing";
    ASSERT_LE(recorded, last);
    const double lost = recorded == last ? 0 : killed - told.wall[recorded + 1];
    std::printf("killed at step %d: recorded up to %d, %.2f s lost\n", last, recorded, lost);
    EXPECT_LE(lost, 1.0);
  }
  ::munmap(memory, sizeof(Told));
}

}  // namespace
}  // namespace foxhunt
