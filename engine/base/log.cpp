// A distributing sink stands between logger and outputs, so that outputs can come and go while others log.
#include "engine/base/log.h"

#include <spdlog/sinks/dist_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>

namespace foxhunt {
namespace {

std::shared_ptr<spdlog::sinks::dist_sink_mt> outputs() {
  static auto sink = [] {
    auto made = std::make_shared<spdlog::sinks::dist_sink_mt>();
    made->add_sink(std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
    return made;
  }();
  return sink;
}

}  // namespace

std::shared_ptr<spdlog::logger> logger() {
  static auto instance = [] {
    auto made = std::make_shared<spdlog::logger>("foxhunt", outputs());
    made->set_pattern("%Y-%m-%dT%H:%M:%S.%e %^%l%$ %v");
    made->flush_on(spdlog::level::warn);
    return made;
  }();
  return instance;
}

void add_log_sink(std::shared_ptr<spdlog::sinks::sink> sink) {
  sink->set_pattern("%Y-%m-%dT%H:%M:%S.%e %l %v");
  outputs()->add_sink(std::move(sink));
}

void remove_log_sink(const std::shared_ptr<spdlog::sinks::sink>& sink) {
  outputs()->remove_sink(sink);
}

}  // namespace foxhunt
