// Small sessions on the simulated market, and what tests want to know of them.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "engine/base/clock.h"
#include "engine/checkpoint/compare.h"
#include "engine/checkpoint/safetensors.h"
#include "engine/config/load_config.h"
#include "engine/session/session.h"
#include "tests/support/shared_data.h"

namespace foxhunt::test {

// Small sizes of the network, the standard branches: a step takes a millisecond.
inline Config tiny_config() {
  Config c;
  c.data.simulated = SimulatedConfig{.bars = 1500, .seed = 3, .edge = 1};
  c.folds.count = 2;
  c.folds.train_bars = 700;
  c.folds.validation_bars = 200;
  c.learner.hidden = 32;
  c.learner.vsn_hidden = 8;
  c.learner.head_hidden = 16;
  c.learner.experts = 4;
  c.learner.expert_hidden = 8;
  c.learner.iqn_cosines = 16;
  c.learner.iqn_taus = 4;
  c.learner.iql_hidden = 16;
  c.learner.atoms = 21;
  c.training.epochs = 2;
  c.training.steps_per_epoch = 30;
  c.training.batch = 16;
  c.environment.environments = 8;
  c.environment.n_step = 3;
  c.replay.capacity = 2048;
  c.evaluation.windows = 4;
  c.guards.drift = "warn";
  c.device = "cpu";
  c.threads = 1;
  return c;
}

inline SessionOptions options_in(const std::filesystem::path& folder) {
  SessionOptions o;
  o.run_folder = folder;
  return o;
}

// Two full checkpoints of the same tensors, bit for bit.
inline void expect_identical(const std::filesystem::path& a, const std::filesystem::path& b) {
  const auto result = compare_files(SafetensorsFile::open(a), SafetensorsFile::open(b));
  EXPECT_TRUE(result.missing.empty() && result.extra.empty() && result.reshaped.empty());
  for (const auto& t : result.tensors) EXPECT_TRUE(t.identical) << t.name << " differs by up to " << t.max_abs;
  EXPECT_GT(result.tensors.size(), 380u) << "of a full checkpoint";
  EXPECT_TRUE(result.identical) << a << " and " << b;
}

// Waits for a condition on the status, at most `seconds`.
template <class Condition>
bool wait_for(const Session& session, double seconds, Condition condition) {
  const double until = steady_seconds() + seconds;
  while (steady_seconds() < until) {
    if (condition(*session.status())) return true;
    if (session.ended()) return condition(*session.status());
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return false;
}

inline Command command(CommandKind kind) {
  return {.kind = kind, .first = 0, .last = -1, .field = {}, .value = {}};
}

// Runs to the end and returns the last checkpoint.
inline std::filesystem::path train(const Config& config, const SessionOptions& options) {
  Session session(config, options);
  EXPECT_TRUE(session.wait(120));
  EXPECT_EQ(session.status()->state, SessionState::finished) << session.status()->reason;
  const auto checkpoints = session.checkpoints();
  EXPECT_FALSE(checkpoints.empty());
  return checkpoints.empty() ? std::filesystem::path() : checkpoints.back();
}

// A full checkpoint as another past would have left it: the same file with another session.
inline std::filesystem::path with_session(const std::filesystem::path& file, const std::filesystem::path& out,
                                          const std::function<void(nlohmann::json&)>& change) {
  const auto from = SafetensorsFile::open(file);
  SafetensorsWriter writer;
  for (const auto& [key, text] : from.metadata()) {
    if (key != "session") {
      writer.metadata(key, text);
      continue;
    }
    auto session = nlohmann::json::parse(text);
    change(session);
    writer.metadata(key, session.dump());
  }
  std::vector<std::vector<std::byte>> data;
  for (const TensorInfo& tensor : from.tensors()) {
    data.emplace_back(tensor.bytes());
    from.read_into(tensor, data.back().data());
    writer.add(tensor.name, tensor.dtype, tensor.shape, data.back().data());
  }
  writer.write(out);
  return out;
}

}  // namespace foxhunt::test
