// The device list: the host always, and a sentence for everything that can be wrong with the plugin.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "engine/device/plugin_loader.h"
#include "engine/device/registry.h"
#include "tests/device/device_fixture.h"

namespace foxhunt::device::test {
namespace {

namespace fs = std::filesystem;

class Registry : public ::testing::Test {
 protected:
  void SetUp() override {
    // One folder a test: a library once loaded is found again by its path.
    const std::string test = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = fs::path(::testing::TempDir()) / ("foxhunt_registry_" + test);
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path file() const { return folder_ / kPluginFile; }
  // The one listed entry of the plugin in the test's folder.
  DeviceInfo listed() const {
    const std::vector<DeviceInfo> all = plugin_devices(load_plugin({"/nowhere", folder_.string()}));
    EXPECT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].name, "cuda");
    EXPECT_EQ(all[0].kind, DeviceKind::cuda);
    EXPECT_FALSE(all[0].available);
    return all[0];
  }

 private:
  fs::path folder_;
};

TEST(DefaultPlanCache, FollowsTheCacheFolderThenTheHome) {
  const auto set = [](const char* name, const char* value) { value ? setenv(name, value, 1) : unsetenv(name); };
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  const std::string old_cache = cache ? cache : "", old_home = home ? home : "";
  set("XDG_CACHE_HOME", "/c"), set("HOME", "/h");
  EXPECT_EQ(default_plan_cache(), "/c/foxhunt/products.json");
  set("XDG_CACHE_HOME", nullptr);
  EXPECT_EQ(default_plan_cache(), "/h/.cache/foxhunt/products.json");
  set("HOME", nullptr);
  EXPECT_EQ(default_plan_cache(), "");
  set("XDG_CACHE_HOME", cache ? old_cache.c_str() : nullptr), set("HOME", home ? old_home.c_str() : nullptr);
}

TEST_F(Registry, ListsTheHostFirst) {
  const std::vector<DeviceInfo> all = list_devices();
  ASSERT_GE(all.size(), 2u);
  EXPECT_EQ(all[0].name, "cpu");
  EXPECT_TRUE(all[0].available);
  for (const DeviceInfo& info : all) EXPECT_EQ(info.available, info.reason.empty()) << info.name;
}

TEST_F(Registry, AMissingPluginIsASentence) {
  EXPECT_NE(listed().reason.find("was not found in /nowhere or "), std::string::npos) << listed().reason;
}

TEST_F(Registry, AFileThatIsNoLibraryIsASentence) {
  std::ofstream(file()) << "not a library";
  EXPECT_NE(listed().reason.find("could not be loaded"), std::string::npos) << listed().reason;
}

TEST_F(Registry, ALibraryWithoutTheEntryIsASentence) {
  fs::copy_file(FH_NO_PLUGIN, file());
  EXPECT_NE(listed().reason.find("is not a device plugin"), std::string::npos) << listed().reason;
}

TEST_F(Registry, AnotherInterfaceVersionIsASentence) {
  fs::copy_file(FH_OLD_PLUGIN, file());
  EXPECT_NE(listed().reason.find("interface 999"), std::string::npos) << listed().reason;
}

TEST_F(Registry, APluginThatThrowsIsASentence) {
  fs::copy_file(FH_FAILING_PLUGIN, file());
  EXPECT_NE(listed().reason.find("the bus is on fire"), std::string::npos) << listed().reason;
}

TEST_F(Registry, LooksBesideTheProgramAndInTheInstallFolderOnly) {
  const std::vector<std::string> folders = plugin_folders();
  ASSERT_EQ(folders.size(), 2u);
  EXPECT_EQ(folders[0], fs::read_symlink("/proc/self/exe").parent_path().string());
  EXPECT_TRUE(folders[1].ends_with("/foxhunt")) << folders[1];
}

TEST_F(Registry, OpensByName) {
  EXPECT_EQ(open_device("cpu", with_threads(3))->info().threads, 3);
  EXPECT_GE(open_device("cpu")->info().threads, 1);
  EXPECT_NE(open_device("auto"), nullptr);
}

TEST_F(Registry, WrongNamesAndThreadCountsAreUsageErrors) {
  for (const char* name : {"", "gpu", "CPU", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "cuda:99"}) {
    try {
      open_device(name);
      ADD_FAILURE() << "opened '" << name << "'";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage) << name;
      EXPECT_NE(error.sentence().find(std::string("'") + name + "'"), std::string::npos) << error.sentence();
    }
  }
  FH_EXPECT_REFUSED("-1 threads", open_device("cpu", with_threads(-1)));
  FH_EXPECT_REFUSED("allowed: 0 (all cores) to 1024", open_device("cpu", with_threads(1025)));
}

}  // namespace
}  // namespace foxhunt::device::test
