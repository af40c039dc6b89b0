// The program's log: one spdlog logger on standard error; a run adds its log.txt as a second sink.
#pragma once

#include <spdlog/spdlog.h>

#include <memory>

namespace foxhunt {

// Never null; created at first use.
std::shared_ptr<spdlog::logger> logger();

template <class... Args>
void log_info(fmt::format_string<Args...> format, Args&&... args) {
  logger()->info(fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void log_warning(fmt::format_string<Args...> format, Args&&... args) {
  logger()->warn(fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void log_error(fmt::format_string<Args...> format, Args&&... args) {
  logger()->error(fmt::format(format, std::forward<Args>(args)...));
}

// Adds or removes a sink while other threads log.
void add_log_sink(std::shared_ptr<spdlog::sinks::sink> sink);
void remove_log_sink(const std::shared_ptr<spdlog::sinks::sink>& sink);

}  // namespace foxhunt
