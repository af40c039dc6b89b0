// Every device of this machine against the oracle fixtures: every result of every file within its tolerance, by name.
#include "engine/learner/verify_step.h"

#include <gtest/gtest.h>

#include <iostream>

#include "engine/device/registry.h"
#include "tests/support/shared_data.h"

namespace foxhunt {
namespace {

struct Case {
  const char* fixture;
  const char* device;
  device::Precision precision;
};

class Fixture : public ::testing::TestWithParam<Case> {};

bool available(const std::string& name) {
  for (const auto& info : device::list_devices())
    if (info.available && (info.name == name || info.name.starts_with(name + ":"))) return true;
  return false;
}

TEST_P(Fixture, EveryResultIsWithinItsTolerance) {
  const auto [fixture, name, precision] = GetParam();
  const std::string file = std::string("reference/fixtures/step-") + fixture + ".safetensors";
  FH_NEEDS_SHARED(file);
  if (!available(name)) GTEST_SKIP() << name << " is not available here";
  device::DeviceOptions options;
  options.threads = 2;
  const auto device = device::open_device(name, options);
  const VerifyStepResult result = verify_step(*device, test::shared(file), precision);
  EXPECT_GT(result.tensors.size(), 500u);
  double worst = 0;
  std::string where;
  for (const auto& t : result.tensors) {
    EXPECT_TRUE(t.passed()) << t.name << " error " << t.error << " tolerance " << t.tolerance;
    if (!(t.share() <= worst)) worst = t.share(), where = t.name;
  }
  std::cout << fixture << " on " << name << ": worst share " << worst << " (" << where << ") of "
            << result.tensors.size() << " results\n";
  EXPECT_TRUE(result.passed);
}

INSTANTIATE_TEST_SUITE_P(
    Oracle, Fixture,
    ::testing::Values(Case{"core", "cpu", device::Precision::fp32}, Case{"edge", "cpu", device::Precision::fp32},
                      Case{"wide", "cpu", device::Precision::fp32}, Case{"core", "cuda", device::Precision::fp32},
                      Case{"edge", "cuda", device::Precision::fp32}, Case{"wide", "cuda", device::Precision::fp32},
                      Case{"core", "cuda", device::Precision::tf32}, Case{"edge", "cuda", device::Precision::tf32},
                      Case{"wide", "cuda", device::Precision::tf32}),
    [](const auto& param) {
      return std::string(param.param.fixture) + "_" + param.param.device +
             (param.param.precision == device::Precision::fp32 ? "_fp32" : "_tf32");
    });

}  // namespace
}  // namespace foxhunt
