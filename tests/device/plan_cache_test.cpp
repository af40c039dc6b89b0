// The file of pinned product algorithms.
#include "engine/device/cuda/plan_cache.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/base/log.h"
#include "tests/support/log_watch.h"
#include "tests/support/shared_data.h"

namespace foxhunt::device::cuda {
namespace {

const PlanPlace kPlace = {"NVIDIA H200 with 132 multiprocessors", "13.0 (580.1)", "cuBLASLt 13.1.0"};

std::string file_in(const std::filesystem::path& folder) {
  return (folder / "plans.json").string();
}

TEST(PlanCache, ComesBackFromTheFile) {
  const std::string path = file_in(test::scratch_folder());
  {
    PlanCache cache(path, kPlace, logger());
    EXPECT_FALSE(cache.find("1x2x3"));
    cache.put("1x2x3", {"00ff", false, "algorithm 7"});
    EXPECT_FALSE(std::filesystem::exists(path));  // nothing is written before flush
    cache.flush();
  }
  PlanCache cache(path, kPlace, logger());
  const auto plan = cache.find("1x2x3");
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->algorithm, "00ff");
  EXPECT_FALSE(plan->fused);
  EXPECT_EQ(plan->words, "algorithm 7");
}

TEST(PlanCache, WithoutPathKeepsPlansInMemoryOnly) {
  PlanCache cache("", kPlace, logger());
  cache.put("1x2x3", {"00ff", true, "w"});
  cache.flush();
  ASSERT_TRUE(cache.find("1x2x3"));
  EXPECT_FALSE(cache.find("1x2x4"));
}

TEST(PlanCache, OtherGpuDriverOrLibraryIsIgnoredAndKept) {
  const std::string path = file_in(test::scratch_folder());
  for (const PlanPlace& place :
       {PlanPlace{"other", kPlace.driver, kPlace.library}, PlanPlace{kPlace.gpu, "12.9", kPlace.library},
        PlanPlace{kPlace.gpu, kPlace.driver, "cuBLASLt 12.0.0"}}) {
    PlanCache cache(path, place, logger());
    cache.put("1x2x3", {"aa", true, place.gpu});
    cache.flush();
  }
  {
    PlanCache cache(path, kPlace, logger());
    EXPECT_FALSE(cache.find("1x2x3"));
    cache.put("1x2x3", {"bb", true, "mine"});
    cache.flush();
  }
  std::ifstream in(path);
  EXPECT_EQ(nlohmann::json::parse(in).at("plans").size(), 4u);
}

TEST(PlanCache, WritersOfOneFileKeepEachOthersPlans) {
  const std::string path = file_in(test::scratch_folder());
  PlanCache first(path, kPlace, logger()), second(path, kPlace, logger());
  first.put("1x1x1", {"aa", true, "a"});
  second.put("2x2x2", {"bb", true, "b"});
  first.flush();
  second.flush();
  PlanCache third(path, kPlace, logger());
  EXPECT_TRUE(third.find("1x1x1"));
  EXPECT_TRUE(third.find("2x2x2"));
}

class DamagedPlanCache : public ::testing::TestWithParam<const char*> {};

TEST_P(DamagedPlanCache, IsIgnoredWithAWarningAndReplaced) {
  const std::string path = file_in(test::scratch_folder());
  std::ofstream(path) << GetParam();
  {
    const test::ExpectLog warning("is ignored and will be replaced");
    PlanCache cache(path, kPlace, logger());
    EXPECT_EQ(warning.count(), 1);
    EXPECT_FALSE(cache.find("1x2x3"));
    cache.put("1x2x3", {"aa", true, "w"});
    cache.flush();
  }
  PlanCache again(path, kPlace, logger());
  EXPECT_TRUE(again.find("1x2x3"));
}

INSTANTIATE_TEST_SUITE_P(
    Files, DamagedPlanCache,
    ::testing::Values("", "{", "[]", R"({"format": "something else", "version": 1, "plans": []})",
                      R"({"format": "foxhunt product plans", "version": 2, "plans": []})",
                      R"({"format": "foxhunt product plans", "version": 1, "plans": [{"gpu": 3}]})"));

TEST(PlanCache, AFolderThatCannotBeWrittenIsAWarning) {
  const auto file = test::scratch_folder() / "a file";
  std::ofstream(file) << "x";
  const std::string path = (file / "plans.json").string();
  const test::ExpectLog warning("cannot be kept");
  PlanCache cache(path, kPlace, logger());
  cache.put("1x2x3", {"aa", true, "w"});
  cache.flush();
  EXPECT_EQ(warning.count(), 1);
  EXPECT_TRUE(cache.find("1x2x3"));
}

TEST(PlanCache, MakesTheFolderThatIsAbsent) {
  const auto path = test::scratch_folder() / "absent" / "deeper" / "plans.json";
  PlanCache cache(path.string(), kPlace, logger());
  cache.put("1x2x3", {"aa", true, "w"});
  cache.flush();
  EXPECT_TRUE(PlanCache(path.string(), kPlace, logger()).find("1x2x3"));
}

TEST(PlanCache, TellsWhatWasUsed) {
  PlanCache cache("", kPlace, logger());
  cache.put("1x2x3", {"00ff", true, "algorithm 7"});
  const auto used = nlohmann::json::parse(cache.used());
  EXPECT_EQ(used.at("gpu"), kPlace.gpu);
  ASSERT_EQ(used.at("plans").size(), 1u);
  EXPECT_EQ(used.at("plans")[0].at("shape"), "1x2x3");
  EXPECT_EQ(used.at("plans")[0].at("algorithm"), "00ff");
}

}  // namespace
}  // namespace foxhunt::device::cuda
