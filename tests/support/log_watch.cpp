// A sink that keeps what was logged at warning or above.
#include "tests/support/log_watch.h"

#include <spdlog/sinks/base_sink.h>

#include <algorithm>
#include <mutex>

#include "engine/base/log.h"

namespace foxhunt::test {
namespace {

struct Watched {
  std::mutex mutex;
  std::vector<std::string> unexpected;
  std::vector<std::pair<std::string, int>> allowed;
};

Watched& watched() {
  static Watched state;
  return state;
}

class WatchSink : public spdlog::sinks::base_sink<std::mutex> {
 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    if (message.level < spdlog::level::warn) return;
    const std::string text(message.payload.data(), message.payload.size());
    auto& state = watched();
    std::scoped_lock lock(state.mutex);
    for (auto& [part, count] : state.allowed) {
      if (text.find(part) != std::string::npos) {
        ++count;
        return;
      }
    }
    state.unexpected.push_back(text);
  }
  void flush_() override {}
};

}  // namespace

LogWatch::LogWatch() {
  add_log_sink(std::make_shared<WatchSink>());
}

void LogWatch::OnTestStart(const ::testing::TestInfo&) {
  std::scoped_lock lock(watched().mutex);
  watched().unexpected.clear();
}

void LogWatch::OnTestEnd(const ::testing::TestInfo&) {
  std::scoped_lock lock(watched().mutex);
  for (const auto& text : watched().unexpected) ADD_FAILURE() << "unexpected log line: " << text;
}

ExpectLog::ExpectLog(std::string part) : part_(std::move(part)) {
  std::scoped_lock lock(watched().mutex);
  watched().allowed.emplace_back(part_, 0);
}

ExpectLog::~ExpectLog() {
  std::scoped_lock lock(watched().mutex);
  auto& allowed = watched().allowed;
  allowed.erase(std::find_if(allowed.begin(), allowed.end(), [&](const auto& x) { return x.first == part_; }));
}

int ExpectLog::count() const {
  std::scoped_lock lock(watched().mutex);
  for (const auto& [part, count] : watched().allowed) {
    if (part == part_) return count;
  }
  return 0;
}

}  // namespace foxhunt::test
