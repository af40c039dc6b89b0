// Fields of proc(5): stat, self/stat, self/statm, meminfo.
#include "engine/telemetry/host_metrics.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "engine/base/clock.h"

namespace foxhunt::telemetry {
namespace {

// Busy and all ticks of all cores together; false where the file is not as expected.
bool machine_ticks(double& busy, double& all) {
  std::ifstream file("/proc/stat");
  std::string name;
  double user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, soft = 0, steal = 0;
  if (!(file >> name >> user >> nice >> system >> idle >> wait >> irq >> soft >> steal) || name != "cpu") return false;
  busy = user + nice + system + irq + soft + steal;
  all = busy + idle + wait;
  return true;
}

// User and system ticks of this process: fields 14 and 15, counted after the name, which may hold blanks.
std::optional<double> process_ticks() {
  std::ifstream file("/proc/self/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t end = text.rfind(')');
  if (end == std::string::npos) return std::nullopt;
  std::istringstream rest(text.substr(end + 1));
  std::string skipped;
  for (int field = 3; field < 14; ++field) rest >> skipped;
  double user = 0, system = 0;
  if (!(rest >> user >> system)) return std::nullopt;
  return user + system;
}

std::optional<std::uint64_t> resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t all = 0, resident = 0;
  if (!(file >> all >> resident)) return std::nullopt;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

void machine_memory(HostMetrics& m) {
  std::ifstream file("/proc/meminfo");
  std::optional<std::uint64_t> total, available;
  std::string name, unit;
  for (std::uint64_t kilobytes = 0; file >> name >> kilobytes && std::getline(file, unit);) {
    if (name == "MemTotal:") total = kilobytes << 10;
    if (name == "MemAvailable:") available = kilobytes << 10;
  }
  m.memory_total = total;
  if (total && available && *available <= *total) m.memory_used = *total - *available;
}

}  // namespace

HostMetrics HostMonitor::read() {
  HostMetrics m;
  const long cores = sysconf(_SC_NPROCESSORS_ONLN), tick = sysconf(_SC_CLK_TCK);
  m.cores = cores > 0 ? static_cast<int>(cores) : 0;
  m.process_memory = resident_bytes();
  machine_memory(m);
  double busy = 0, all = 0;
  const double now = steady_seconds();
  const bool machine = machine_ticks(busy, all);
  const auto process = process_ticks();
  if (known_ && machine && all > all_) m.cpu_use = std::max(0.0, (busy - busy_) / (all - all_));
  if (known_ && process && now > since_ && tick > 0)
    m.process_cores = std::max(0.0, (*process - process_ticks_) / static_cast<double>(tick) / (now - since_));
  busy_ = busy;
  all_ = all;
  process_ticks_ = process.value_or(0);
  since_ = now;
  known_ = machine && process.has_value();
  return m;
}

}  // namespace foxhunt::telemetry
