// A disk that fills up while a real session trains: it is said, training goes on, and with room again nothing is
// missing.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>

#include <fstream>

#include "engine/run/run_reader.h"
#include "tests/session/session_fixture.h"
#include "tests/support/log_watch.h"

namespace foxhunt {
namespace {

using namespace test;

// A disk of some megabytes, where possible one that only this process sees, gone with it however it ends; needs the
// right to mount one. To be made before the threads that are to see it.
class SmallDisk {
 public:
  explicit SmallDisk(std::filesystem::path folder) : folder_(std::move(folder)) {
    std::filesystem::create_directories(folder_);
    // In a chroot, whose root is no mount point, it is seen outside too, until the end of the test.
    if (::unshare(CLONE_NEWNS) == 0) ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
    mounted_ = ::mount("tmpfs", folder_.c_str(), "tmpfs", 0, "size=24m") == 0;
  }
  ~SmallDisk() {
    if (mounted_) ::umount2(folder_.c_str(), MNT_DETACH);
  }
  bool mounted() const { return mounted_; }
  const std::filesystem::path& folder() const { return folder_; }
  void fill() const {
    std::ofstream file(folder_ / "ballast", std::ios::binary);
    const std::string block(4096, 'x');
    while (file.write(block.data(), static_cast<std::streamsize>(block.size())) && file.flush()) {
    }
  }
  void make_room() const { std::filesystem::remove(folder_ / "ballast"); }

 private:
  std::filesystem::path folder_;
  bool mounted_ = false;
};

TEST(FullDisk, IsReportedAndTrainingGoesOn) {
  const SmallDisk disk(scratch_folder() / "disk");
  if (!disk.mounted()) GTEST_SKIP() << "a small disk cannot be mounted here";
  const ExpectLog expected("cannot be written");
  Config c = tiny_config();
  c.folds.count = 1;
  c.training.epochs = 1;
  c.training.steps_per_epoch = 4000;
  c.training.checkpoint_epochs = 0;
  c.telemetry.record_rows_per_second = 100'000;  // every step is a row
  const auto run = disk.folder() / "run";
  Session session(c, options_in(run));
  ASSERT_TRUE(wait_for(session, 60, [](const SessionStatus& s) { return s.step >= 50; }));
  disk.fill();
  ASSERT_TRUE(wait_for(session, 60, [](const SessionStatus& s) { return !s.history_problem.empty(); }))
      << "nobody was told";
  const auto told = session.status()->step;
  EXPECT_EQ(session.status()->state, SessionState::training);
  ASSERT_TRUE(wait_for(session, 60, [&](const SessionStatus& s) { return s.step >= told + 300; }))
      << "training stands still: " << session.status()->reason;
  EXPECT_FALSE(session.status()->history_problem.empty());
  disk.make_room();
  ASSERT_TRUE(wait_for(session, 60, [](const SessionStatus& s) { return s.history_problem.empty(); }));
  ASSERT_TRUE(session.wait(240));
  EXPECT_EQ(session.status()->state, SessionState::finished) << session.status()->reason;
  EXPECT_EQ(session.status()->step, 4000u);
  EXPECT_GE(expected.count(), 2) << "the store and the session say it, once each";

  const RunReader reader = RunReader::open(run);
  ASSERT_EQ(reader.problem(), "");
  const auto steps = reader.rows(RunTable::steps, 0, 10'000, {"step"});
  ASSERT_EQ(steps.ids.size(), 4000u) << "rows waited in memory for the room";
  for (std::size_t i = 0; i < steps.ids.size(); ++i) ASSERT_EQ(steps.values[0][i], static_cast<double>(i + 1));
  int began = 0, ended = 0;
  for (const auto& event : reader.events()) {
    began += event.message.find("history cannot be written, training goes on") != std::string::npos;
    ended += event.message.find("history is written again; 0 rows were lost") != std::string::npos;
  }
  EXPECT_EQ(began, 1);
  EXPECT_EQ(ended, 1);
}

}  // namespace
}  // namespace foxhunt
