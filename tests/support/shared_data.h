// Where tests find the market files and oracle fixtures that never enter the project.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>

namespace foxhunt::test {

// FOXHUNT_SHARED, or the folder `shared` beside the project.
inline std::filesystem::path shared_folder() {
  const char* chosen = std::getenv("FOXHUNT_SHARED");
  return chosen ? std::filesystem::path(chosen) : std::filesystem::path(FOXHUNT_SOURCE_DIR) / ".." / "shared";
}

inline std::filesystem::path shared(const std::string& relative) {
  return shared_folder() / relative;
}

// Where the tests of this program, of this build, put their files: two programs may have tests of one name, and two
// checkouts may be tested at once.
inline std::filesystem::path scratch_root() {
  const auto program = std::filesystem::read_symlink("/proc/self/exe");
  const std::size_t build = std::hash<std::string>{}(program.parent_path().string());
  return std::filesystem::temp_directory_path() / "foxhunt-tests" /
         (program.filename().string() + "-" + std::to_string(build % 1'000'000));
}

// A folder of this test alone, emptied first.
inline std::filesystem::path scratch_folder() {
  const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
  std::string name = std::string(info->test_suite_name()) + "." + info->name();
  for (char& c : name) {
    if (c == '/') c = '_';
  }
  const auto folder = scratch_root() / name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

}  // namespace foxhunt::test

// Skips the test, saying so, when a shared file is absent.
#define FH_NEEDS_SHARED(relative)                                             \
  if (!std::filesystem::exists(::foxhunt::test::shared(relative))) {          \
    GTEST_SKIP() << "absent: " << ::foxhunt::test::shared(relative).string(); \
  }
