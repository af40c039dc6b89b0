// The thread, and which GPU it looks at.
#include "engine/telemetry/system_sampler.h"

#include <chrono>
#include <cstdlib>
#include <string_view>

#include "engine/base/clock.h"

namespace foxhunt::telemetry {

unsigned driver_index(unsigned gpu, const char* visible) {
  if (!visible) return gpu;
  std::string_view rest = visible;
  for (unsigned place = 0;; ++place) {
    const std::size_t comma = rest.find(',');
    const std::string word(rest.substr(0, comma));
    if (place == gpu) {
      char* end = nullptr;
      const unsigned long index = std::strtoul(word.c_str(), &end, 10);
      return end != word.c_str() && *end == '\0' ? static_cast<unsigned>(index) : gpu;
    }
    if (comma == std::string_view::npos) return gpu;
    rest.remove_prefix(comma + 1);
  }
}

SystemSampler::SystemSampler(unsigned gpu, double seconds, std::string library)
    : seconds_(seconds), library_(std::move(library)), gpu_(gpu) {
  thread_ = std::thread([this] { run(); });
}

SystemSampler::~SystemSampler() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

SystemSample SystemSampler::latest() const {
  const std::scoped_lock lock(mutex_);
  return latest_;
}

void SystemSampler::watch(unsigned gpu) {
  const std::scoped_lock lock(mutex_);
  gpu_ = gpu;
}

void SystemSampler::run() {
  HostMonitor host;
  std::optional<SystemMonitor> monitor;
  unsigned shown = 0;
  std::uint64_t number = 0;
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const unsigned wanted = gpu_;
    lock.unlock();
    if (!monitor || wanted != shown)
      monitor.emplace(driver_index(wanted, std::getenv("CUDA_VISIBLE_DEVICES")), library_);
    shown = wanted;
    SystemSample sample{wall_seconds(), ++number, monitor->name(), monitor->problem(), monitor->read(), host.read()};
    lock.lock();
    latest_ = std::move(sample);
    wake_.wait_for(lock, std::chrono::duration<double>(seconds_), [this] { return stopping_; });
  }
}

}  // namespace foxhunt::telemetry
