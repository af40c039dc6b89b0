// Whole sessions measured and compared on a device: the same bits after N steps (again in this process, paused, with a
// reader attached; the digests compare processes), and what a reader and a background checkpoint cost. Runs alternate,
// so that a machine's mood falls on both sides. One line a figure; exit 1 when bits differ.
//   session_bench CONFIG --scratch DIR [--steps N] [--rounds R] [--set key=value ...]
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <random>
#include <span>
#include <thread>

#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/checkpoint/safetensors.h"
#include "engine/config/load_config.h"
#include "engine/session/session.h"
#include "engine/telemetry/snapshot_reader.h"
#include "engine/telemetry/step_ring_reader.h"

namespace foxhunt {
namespace {

struct Options {
  Config config;
  std::filesystem::path scratch;
  int steps = 10000, rounds = 5;
};

struct Outcome {
  std::uint64_t digest = 0;  // FNV-1a over all tensors of the last checkpoint, in the file's order
  double us = 0;             // microseconds a step over the middle 80 % of the steps
  double saves_ms = 0;       // longest that a save held up the training thread
  double longest_ms = 0;     // longest time between two completed steps
  int saves = 0;
  std::uint64_t missed = 0, torn = 0, read = 0;
};

std::uint64_t digest_of(const std::filesystem::path& checkpoint) {
  std::uint64_t hash = 1469598103934665603ull;
  const SafetensorsFile file = SafetensorsFile::open(checkpoint);
  for (const auto& tensor : file.tensors()) {
    file.visit(tensor, [&](std::uint64_t, std::span<const std::byte> bytes, std::uint64_t) {
      for (const std::byte b : bytes) hash = (hash ^ static_cast<std::uint64_t>(b)) * 1099511628211ull;
    });
  }
  return hash;
}

// What the window does with a live session: ring, envelope and pulse, sixty times a second.
class Reader {
 public:
  explicit Reader(const Session& session) : session_(session), thread_([this] { run(); }) {}
  ~Reader() { join(); }
  void join() {
    done_ = true;
    if (thread_.joinable()) thread_.join();
  }
  std::uint64_t missed = 0, torn = 0, read = 0;

 private:
  void run() {
    while (!done_ && !session_.telemetry() && !session_.ended())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (!session_.telemetry()) return;
    telemetry::StepRingReader ring(*session_.telemetry(), 1);
    telemetry::SnapshotReader snapshots(*session_.telemetry());
    std::vector<telemetry::StepRecord> records;
    telemetry::Snapshot snapshot;
    while (!done_) {
      records.clear();
      ring.drain(records);
      snapshots.read(snapshot);
      session_.status();
      std::this_thread::sleep_for(std::chrono::microseconds(16667));
    }
    missed = ring.missed(), torn = ring.torn() + snapshots.torn(), read = ring.delivered();
  }

  const Session& session_;
  std::atomic<bool> done_{false};
  std::thread thread_;
};

enum class Mode { plain, paused, read, saved };

// Microseconds between completed steps as a fine clock sees them, from a thread that only looks at the mapped word.
struct Watcher {
  std::vector<std::pair<double, std::uint32_t>> seen;  // steady seconds, steps completed

  void watch(const Session& session, int steps) {
    while (!session.ended()) {
      if (const auto* mapped = session.telemetry()) {
        const std::uint32_t now = telemetry::read_pulse(*mapped).completed;
        if (seen.empty() || now != seen.back().second) seen.emplace_back(steady_seconds(), now);
        if (now >= static_cast<std::uint32_t>(steps)) return;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }
  double us_a_step() const {
    if (seen.size() < 10) return 0;
    const auto& a = seen[seen.size() / 10];
    const auto& b = seen[seen.size() * 9 / 10];
    return (b.first - a.first) * 1e6 / (b.second - a.second);
  }
  // The longest time in which no step was completed, milliseconds: what anything else on the stream cost, with a step.
  double longest_ms() const {
    double longest = 0;
    for (std::size_t i = seen.size() / 10 + 1; i < seen.size() * 9 / 10; ++i)
      longest = std::max(longest, (seen[i].first - seen[i - 1].first) * 1e3);
    return longest;
  }
};

void disturb(Session& session, int steps, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> at;
  for (int i = 0; i < 5; ++i) at.push_back(random() % static_cast<std::uint64_t>(std::max(1, steps * 9 / 10)));
  std::sort(at.begin(), at.end());
  const auto send = [&](CommandKind kind) { session.post(Command{.kind = kind, .field = {}, .value = {}}); };
  for (const std::uint64_t step : at) {
    while (!session.ended() && session.status()->step < step) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    send(CommandKind::pause);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    send(CommandKind::one_step);
    send(CommandKind::save_checkpoint);
    send(CommandKind::resume);
  }
}

// One save after the other, each asked for while the one before it is still being written.
int ask_for_saves(Session& session) {
  while (!session.ended() && session.status()->step < 200) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const auto waiting = [&] {
    int count = 0;
    for (const CommandRecord& record : session.commands())
      if (record.command.kind == CommandKind::save_checkpoint && record.stage < CommandRecord::Stage::done) ++count;
    return count;
  };
  int saves = 0;
  for (; saves < 8 && !session.ended(); ++saves) {
    session.post(Command{.kind = CommandKind::save_checkpoint, .field = {}, .value = {}});
    while (!session.ended() && waiting() > 1) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return saves;
}

Outcome run(const Options& o, Mode mode, const std::string& name) {
  SessionOptions options;
  options.run_folder = o.scratch / name;
  std::filesystem::remove_all(options.run_folder);
  Outcome out;
  Session session(o.config, options);
  Watcher watcher;
  std::thread watching([&] { watcher.watch(session, o.steps); });
  std::unique_ptr<Reader> reader;
  if (mode == Mode::read) reader = std::make_unique<Reader>(session);
  std::thread asking([&] {
    if (mode == Mode::paused) disturb(session, o.steps, 20260131);
    if (mode == Mode::saved) out.saves = ask_for_saves(session);
  });
  double blocked = 0;
  while (!session.wait(0.05)) blocked = std::max(blocked, session.status()->save_blocked_ms);
  asking.join();
  watching.join();
  if (reader) {
    reader->join();
    out.missed = reader->missed, out.torn = reader->torn, out.read = reader->read;
  }
  const auto status = session.status();
  if (status->state != SessionState::finished)
    throw Error(fmt::format("the session {} ended as {}: {}", name, state_name(status->state), status->reason));
  out.digest = digest_of(session.checkpoints().back());
  out.us = watcher.us_a_step();
  out.longest_ms = watcher.longest_ms();
  out.saves_ms = std::max(blocked, status->save_blocked_ms);
  return out;
}

double median(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  return x[x.size() / 2];
}

int measure(const Options& o) {
  const Outcome first = run(o, Mode::plain, "first"), again = run(o, Mode::plain, "again");
  const Outcome paused = run(o, Mode::paused, "paused"), read = run(o, Mode::read, "read");
  fmt::print("digest of the last checkpoint after {} steps: first {:016x}\n", o.steps, first.digest);
  fmt::print("again in this process: {}\n", again.digest == first.digest ? "identical" : "DIFFERS");
  fmt::print("paused, stepped and saved five times: {}\n", paused.digest == first.digest ? "identical" : "DIFFERS");
  fmt::print("with a reader at 60 Hz: {} ({} records read, {} missed, {} torn)\n",
             read.digest == first.digest ? "identical" : "DIFFERS", read.read, read.missed, read.torn);
  std::vector<double> plain, with, saved, blocked, gaps, saved_gaps, saves;
  for (int i = 0; i < o.rounds; ++i) {
    const Outcome alone = run(o, Mode::plain, "rate");
    plain.push_back(alone.us), gaps.push_back(alone.longest_ms);
    with.push_back(run(o, Mode::read, "rate").us);
    const Outcome s = run(o, Mode::saved, "rate");
    saved.push_back(s.us), blocked.push_back(s.saves_ms), saved_gaps.push_back(s.longest_ms), saves.push_back(s.saves);
  }
  const double rate = median(plain);
  fmt::print(
      "microseconds a step in sessions, median of {} alternating rounds: alone {:.1f}, with a reader {:.1f} "
      "({:+.2f} %)\n",
      o.rounds, rate, median(with), 100 * (median(with) / rate - 1));
  fmt::print(
      "{:.0f} full checkpoints in a row meanwhile: {:.1f} us a step, so {:.3f} ms a checkpoint; the training thread "
      "held "
      "up {:.3f} ms at most; longest time between two steps {:.2f} ms, {:.2f} without\n",
      median(saves), median(saved), (median(saved) - rate) * 0.8 * o.steps / 1e3 / std::max(1.0, median(saves)),
      *std::max_element(blocked.begin(), blocked.end()), median(saved_gaps), median(gaps));
  const bool same = again.digest == first.digest && paused.digest == first.digest && read.digest == first.digest;
  return same ? 0 : 1;
}

Options parse(int count, char** arguments) {
  Options o;
  std::filesystem::path file;
  std::vector<std::string> settings;
  for (int i = 1; i < count; ++i) {
    const std::string a = arguments[i];
    const auto value = [&] {
      if (i + 1 >= count) throw usage_error(a + " needs a value");
      return std::string(arguments[++i]);
    };
    if (a == "--scratch") {
      o.scratch = value();
    } else if (a == "--steps") {
      o.steps = std::stoi(value());
    } else if (a == "--rounds") {
      o.rounds = std::stoi(value());
    } else if (a == "--set") {
      settings.push_back(value());
    } else {
      file = a;
    }
  }
  if (file.empty() || o.scratch.empty())
    throw usage_error("session_bench CONFIG --scratch DIR [--steps N] [--rounds R] [--set key=value]");
  settings.push_back("training.epochs=1");
  settings.push_back("training.steps_per_epoch=" + std::to_string(o.steps));
  o.config = load_config(file, settings);
  return o;
}

}  // namespace
}  // namespace foxhunt

int main(int count, char** arguments) {
  try {
    return foxhunt::measure(foxhunt::parse(count, arguments));
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 2;
  }
}
