// What `foxhunt-cli watch` in another process costs a session: legs with and without it attached alternate within one
// run, in the order A B B A, so that a machine's mood falls on both sides. Prints the ratio of each pair of legs, their
// median and spread, and how often the watcher looked.
//   watch_bench FOXHUNT_CLI CONFIG --scratch DIR [--pairs N] [--seconds S] [--set key=value ...]
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/base/log.h"
#include "engine/config/load_config.h"
#include "engine/session/session.h"
#include "engine/telemetry/snapshot_reader.h"

extern char** environ;

namespace foxhunt {
namespace {

void sleep_for(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

// foxhunt-cli watch RUN --json, until it is told to end.
class Watcher {
 public:
  Watcher(const std::string& program, const std::filesystem::path& run, std::filesystem::path out)
      : out_(std::move(out)), started_(steady_seconds()) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    std::vector<std::string> words = {program, "watch", run.string(), "--json"};
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const int failed = posix_spawn(&process_, program.c_str(), &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed) throw Error(fmt::format("{} cannot be started", program));
  }
  // Looks a second, as it counted them itself.
  double end() {
    const double seconds = steady_seconds() - started_;
    ::kill(process_, SIGINT);
    ::waitpid(process_, nullptr, 0);
    std::ifstream file(out_);
    const auto document = nlohmann::json::parse(file, nullptr, false);
    return document.is_object() ? document.value("looks", 0.0) / seconds : 0;
  }

 private:
  std::filesystem::path out_;
  pid_t process_ = 0;
  double started_;
};

struct Options {
  std::string program;
  std::filesystem::path config, scratch;
  int pairs = 8;
  double seconds = 5;
  std::vector<std::string> sets = {"training.epochs=1", "training.steps_per_epoch=100000000"};
};

Options options_of(int count, char** words) {
  Options o;
  std::vector<std::string> plain;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const auto next = [&]() -> std::string {
      if (++i >= count) throw usage_error(word + " needs a value");
      return words[i];
    };
    if (word == "--scratch") {
      o.scratch = next();
    } else if (word == "--pairs") {
      o.pairs = std::stoi(next());
    } else if (word == "--seconds") {
      o.seconds = std::stod(next());
    } else if (word == "--set") {
      o.sets.push_back(next());
    } else {
      plain.push_back(word);
    }
  }
  if (plain.size() != 2 || o.scratch.empty() || o.pairs < 1)
    throw usage_error("usage: watch_bench FOXHUNT_CLI CONFIG --scratch DIR [--pairs N] [--seconds S] [--set K=V]");
  o.program = plain[0];
  o.config = plain[1];
  return o;
}

// Steps a second over one leg.
double leg(const Session& session, double seconds) {
  const double from = steady_seconds();
  const std::uint32_t first = telemetry::read_pulse(*session.telemetry()).completed;
  sleep_for(seconds);
  const std::uint32_t steps = telemetry::read_pulse(*session.telemetry()).completed - first;
  return static_cast<double>(steps) / (steady_seconds() - from);
}

int run(const Options& o) {
  SessionOptions options;
  options.run_folder = o.scratch / "watched";
  Session session(load_config(o.config, o.sets), options);
  while (!session.ended() && session.status()->step < 50) sleep_for(0.01);
  if (session.error()) std::rethrow_exception(session.error());
  sleep_for(1);
  std::vector<double> ratios, rates;
  for (int pair = 0; pair < o.pairs && !session.ended(); ++pair) {
    double plain = 0, watched = 0;
    for (const bool attached : {pair % 2 == 1, pair % 2 == 0}) {
      if (!attached) {
        sleep_for(0.3);
        plain = leg(session, o.seconds);
        continue;
      }
      Watcher watcher(o.program, options.run_folder, o.scratch / "watch.json");
      sleep_for(0.3);  // its start is not the following
      watched = leg(session, o.seconds);
      rates.push_back(watcher.end());
    }
    ratios.push_back(watched / plain);
    fmt::print("pair {}: {:.1f} steps/s alone, {:.1f} watched, ratio {:.4f}, {:.1f} looks/s\n", pair + 1, plain,
               watched, ratios.back(), rates.back());
    std::fflush(stdout);
  }
  session.post({.kind = CommandKind::stop_now, .first = 0, .last = -1, .field = {}, .value = {}});
  session.wait(60);
  std::sort(ratios.begin(), ratios.end());
  double mean = 0, square = 0;
  for (const double ratio : ratios) mean += ratio / static_cast<double>(ratios.size());
  for (const double ratio : ratios) square += (ratio - mean) * (ratio - mean);
  const auto n = static_cast<double>(ratios.size());
  const double error = n > 1 ? std::sqrt(square / (n - 1) / n) : 0;
  fmt::print("ratio watched to alone: median {:.4f}, mean {:.4f} +- {:.4f}, {:.4f} to {:.4f}, {} pairs of {} s\n",
             ratios[ratios.size() / 2], mean, error, ratios.front(), ratios.back(), ratios.size(), o.seconds);
  return 0;
}

}  // namespace
}  // namespace foxhunt

int main(int count, char** words) {
  try {
    return foxhunt::run(foxhunt::options_of(count, words));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "watch_bench: %s\n", error.what());
    return 2;
  }
}
