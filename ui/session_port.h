// What the bridge needs of a session; the engine's own behind it, or one that a test scripts.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "engine/config/config.h"
#include "engine/session/session_types.h"
#include "kernels/telemetry_types.h"

namespace foxhunt::ui {

// As engine/session/session.h. No member may block for longer than a pointer swap, except the destructor, which the
// bridge runs on another thread than the window's.
class SessionPort {
 public:
  virtual ~SessionPort() = default;
  virtual std::uint64_t post(Command command) = 0;
  virtual std::shared_ptr<const SessionStatus> status() const = 0;
  virtual std::shared_ptr<const SessionPlan> plan() const = 0;
  virtual std::vector<CommandRecord> commands(std::uint64_t after) const = 0;
  virtual std::vector<SessionEvent> events(std::size_t after) const = 0;
  virtual std::vector<std::shared_ptr<const FoldResult>> results() const = 0;
  virtual std::vector<std::filesystem::path> checkpoints() const = 0;
  virtual std::shared_ptr<const ValidationTrace> trace() const { return nullptr; }  // of the newest validation
  virtual const kernels::MappedTelemetry* telemetry() const = 0;
  virtual bool ended() const = 0;
};

using SessionFactory = std::function<std::unique_ptr<SessionPort>(const Config&, const SessionOptions&)>;

// The engine's.
SessionFactory engineSessions();

}  // namespace foxhunt::ui
