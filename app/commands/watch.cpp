// foxhunt-cli watch: follows a run that another process controls, from its folder alone.
#include <chrono>
#include <cmath>
#include <thread>

#include "app/commands/commands.h"
#include "app/interrupt.h"
#include "app/output.h"
#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/run/run_list.h"
#include "engine/run/run_reader.h"

namespace foxhunt::app {
namespace {

constexpr auto kPoll = std::chrono::milliseconds(100);
constexpr double kLineSeconds = 1;  // between lines where they cannot be drawn over

// Prints what has come since the last look: events, and how the newest step stands, on a terminal in one line that is
// drawn over.
class Follower {
 public:
  Follower(const RunReader& reader, bool print_lines) : reader_(reader), print_(print_lines), live_(on_terminal()) {
    step_ = std::max<std::int64_t>(0, reader.last_id(RunTable::steps) - 1);
  }

  void look() {
    ++looks_;
    for (const RunReader::Event& event : reader_.events(event_)) {
      event_ = event.id;
      ++events_;
      if (print_) end_line();
      if (print_)
        print(fmt::format("{}  step {:<8} {}: {}\n", time_text(seconds(event.wall)), event.step, event.kind,
                          event.message));
    }
    const RunRows rows = reader_.rows(RunTable::steps, std::max(step_, reader_.last_id(RunTable::steps) - 1), 1,
                                      {"wall", "step", "fold", "epoch", "loss_total", "q_mean"});
    if (rows.ids.empty() || rows.ids.back() <= step_) return;
    step_ = rows.ids.back();
    const auto value = [&](int column) { return rows.values[static_cast<std::size_t>(column)].back(); };
    if (!print_ || (!live_ && steady_seconds() - last_line_ < kLineSeconds)) return;
    last_line_ = steady_seconds();
    std::string line = fmt::format("{}  step {:<8} fold {} epoch {}  loss {:.5g}  mean Q {:.4g}",
                                   time_text(seconds(value(0))), static_cast<std::int64_t>(value(1)),
                                   static_cast<int>(value(2)) + 1, static_cast<int>(value(3)) + 1, value(4), value(5));
    if (live_) line = line.substr(0, terminal_width() - 1);
    print(live_ ? "\r\x1b[K" + line : line + "\n");
    open_line_ = live_;
  }

  void end_line() {
    if (open_line_) print("\n");
    open_line_ = false;
  }

  std::int64_t events() const { return events_; }
  std::int64_t looks() const { return looks_; }

 private:
  static std::int64_t seconds(double wall) { return static_cast<std::int64_t>(std::floor(wall)) * 1'000'000'000; }

  const RunReader& reader_;
  bool print_, live_, open_line_ = false;
  double last_line_ = 0;
  std::int64_t event_ = 0, step_ = 0, events_ = 0, looks_ = 0;
};

}  // namespace

Outcome run_watch(const Arguments& arguments, const Manner& manner) {
  const auto folder = find_run(runs_folder(arguments), arguments.operands()[0]);
  const RunReader reader = RunReader::open(folder);
  Follower follower(reader, manner.progress());
  bool running = true;
  auto next = std::chrono::steady_clock::now();
  while (running && !interrupted()) {
    running = reader.running();  // before the look: what was written until it ended is seen
    follower.look();
    next += kPoll;
    if (running) std::this_thread::sleep_until(next);
  }
  follower.end_line();
  const RunSummary summary = summarize_run(folder);
  Json out{{"id", summary.id},
           {"folder", summary.folder.string()},
           {"status", summary.status},
           {"running", summary.running}};
  out["reason"] = summary.info ? Json(summary.info->reason) : Json(nullptr);
  out["steps"] = summary.info ? Json(summary.info->steps) : Json(nullptr);
  out["events"] = follower.events();
  out["looks"] = follower.looks();
  return {std::move(out), running ? kInterrupted : kDone};
}

std::string watch_text(const Json& document) {
  const std::string reason = document.at("reason").is_string() ? document.at("reason").get<std::string>() : "";
  return fmt::format("{}: {}{}{}, {} steps\n", document.at("id").get<std::string>(),
                     document.at("status").get<std::string>(), reason.empty() ? "" : ", ", reason,
                     number_text(document.at("steps")));
}

}  // namespace foxhunt::app
