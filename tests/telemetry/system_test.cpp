// What is told of the machine: shares within their ranges, a busy process seen as such, a thread that samples.
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "engine/base/clock.h"
#include "engine/telemetry/system_sampler.h"

namespace foxhunt::telemetry {
namespace {

TEST(HostMetrics, SeeABusyProcess) {
  HostMonitor monitor;
  const HostMetrics first = monitor.read();
  EXPECT_FALSE(first.cpu_use.has_value()) << "a share needs two reads";
  EXPECT_GT(first.cores, 0);
  ASSERT_TRUE(first.process_memory && first.memory_total && first.memory_used);
  EXPECT_GT(*first.process_memory, 1u << 20);
  EXPECT_LT(*first.process_memory, *first.memory_total);
  EXPECT_LE(*first.memory_used, *first.memory_total);
  const double until = steady_seconds() + 0.3;
  double work = 0;
  while (steady_seconds() < until) work += std::sin(work);
  const HostMetrics busy = monitor.read();
  ASSERT_TRUE(busy.cpu_use && busy.process_cores) << work;
  EXPECT_GT(*busy.cpu_use, 0);
  EXPECT_LE(*busy.cpu_use, 1);
  EXPECT_GT(*busy.process_cores, 0.02) << "it has worked all the time that it was let";
  EXPECT_LE(*busy.process_cores, busy.cores + 0.5);
}

TEST(SystemSampler, SamplesByItselfAndSaysWhyThereIsNoGpu) {
  const SystemSampler sampler(0, 0.01, "libfoxhunt-absent-driver.so.1");
  const double until = steady_seconds() + 20;
  while (sampler.latest().number < 3 && steady_seconds() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const SystemSample sample = sampler.latest();
  ASSERT_GE(sample.number, 3u);
  EXPECT_NEAR(sample.wall, wall_seconds(), 20);
  EXPECT_TRUE(sample.gpu_name.empty());
  EXPECT_NE(sample.gpu_problem.find("no NVIDIA driver"), std::string::npos) << sample.gpu_problem;
  EXPECT_FALSE(sample.gpu.gpu_use.has_value());
  EXPECT_TRUE(sample.host.process_memory.has_value());
}

TEST(SystemSampler, HeedsWhatCudaMaySee) {
  EXPECT_EQ(driver_index(1, nullptr), 1u);
  EXPECT_EQ(driver_index(0, "3"), 3u);
  EXPECT_EQ(driver_index(1, "3,5"), 5u);
  EXPECT_EQ(driver_index(2, "3,5"), 2u);
  EXPECT_EQ(driver_index(1, "GPU-1234,GPU-5678"), 1u);
  EXPECT_EQ(driver_index(0, ""), 0u);
}

}  // namespace
}  // namespace foxhunt::telemetry
