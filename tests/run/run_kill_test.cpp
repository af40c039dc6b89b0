// Controllers in other processes: killed ones, living ones.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "engine/run/run_folder.h"
#include "engine/run/run_list.h"
#include "engine/run/run_reader.h"
#include "tests/run/run_support.h"

namespace foxhunt {
namespace {

using test::small_columns;
using test::small_info;

// A child process that controls a run until it is killed.
class Child {
 public:
  template <class Body>
  explicit Child(Body body) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(ends[0]);
      try {
        body([&] {
          if (::write(ends[1], "x", 1) != 1) ::_exit(1);
        });
      } catch (const std::exception&) {
      }
      ::_exit(1);
    }
    ::close(ends[1]);
    ready_ = ends[0];
  }
  ~Child() { kill(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  // False when it has ended before it was ready.
  bool wait_ready() const {
    char byte;
    return ::read(ready_, &byte, 1) == 1;
  }
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    ::close(ready_);
    pid_ = -1;
  }

 private:
  pid_t pid_ = -1;
  int ready_ = -1;
};

TEST(RunKill, KilledWriterLosesNothingCommittedAndCanBeGoneOnWith) {
  const auto folder = test::scratch_folder() / "run";
  Child child([&](auto ready) {
    auto store = RunStore::create_at(folder, small_info(), small_columns(), {.commit_seconds = 0.05});
    store->set_status("training");
    for (int i = 0; i < 500; ++i) store->append_step(i, std::vector<double>{1.0 * i, 0, 0, 0});
    store->flush();
    for (int i = 500; i < 1000; ++i) store->append_step(i, std::vector<double>{1.0 * i, 0, 0, 0});
    // No flush: these are committed by the clock.
    while (store->state().rows_pending > 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    ready();
    for (double i = 1000;; ++i) {  // killed in the middle of this
      store->append_step(i, std::vector<double>{i, 0, 0, 0});
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  });
  ASSERT_TRUE(child.wait_ready());
  {
    const RunReader during = RunReader::open(folder);
    EXPECT_TRUE(during.running());
    EXPECT_GE(during.last_id(RunTable::steps), 1000);
  }
  child.kill();
  const RunReader reader = RunReader::open(folder);
  EXPECT_FALSE(reader.running());
  const RunRows steps = reader.rows(RunTable::steps, 0, 10'000'000, {"step"});
  ASSERT_GE(steps.ids.size(), 1000U);
  for (std::size_t i = 0; i < steps.ids.size(); ++i) ASSERT_EQ(steps.values[0][i], static_cast<double>(i));
  EXPECT_EQ(summarize_run(folder).status, "interrupted");
  EXPECT_EQ(read_run_info(folder).status, "training");
  EXPECT_EQ(mark_interrupted_runs(folder.parent_path()), std::vector<std::filesystem::path>{folder});
  EXPECT_EQ(read_run_info(folder).status, "interrupted");
  EXPECT_TRUE(mark_interrupted_runs(folder.parent_path()).empty());
  auto store = RunStore::open(folder, small_columns());
  store->append_step(0, std::vector<double>{-1, 0, 0, 0});
  store->flush();
  EXPECT_EQ(reader.last_id(RunTable::steps), static_cast<std::int64_t>(steps.ids.size()) + 1);
}

TEST(RunKill, SecondControllerIsRefusedAndReadsAllTheSame) {
  const auto folder = test::scratch_folder() / "run";
  Child child([&](auto ready) {
    auto store = RunStore::create_at(folder, small_info(), small_columns());
    store->set_status("training");
    store->flush();
    ready();
    for (;;) ::pause();
  });
  ASSERT_TRUE(child.wait_ready());
  try {
    RunStore::open(folder, small_columns());
    ADD_FAILURE() << "two controllers";
  } catch (const Error& error) {
    EXPECT_NE(error.sentence().find("controlled by process"), std::string::npos) << error.sentence();
    EXPECT_NE(error.place().hint.find("read-only"), std::string::npos);
  }
  EXPECT_EQ(summarize_run(folder).status, "training");
  EXPECT_TRUE(summarize_run(folder).running);
  EXPECT_FALSE(mark_interrupted(folder));
  EXPECT_THROW(trash_run(folder), Error);
  EXPECT_EQ(RunReader::open(folder).last_id(RunTable::steps), 0);
  child.kill();
  EXPECT_FALSE(RunLock::is_held(folder));
  RunStore::open(folder, small_columns());
}

}  // namespace
}  // namespace foxhunt
