// The engine's session behind the port.
#include "ui/session_port.h"

#include "engine/session/session.h"

namespace foxhunt::ui {
namespace {

class EngineSession : public SessionPort {
 public:
  EngineSession(const Config& config, const SessionOptions& options) : session_(config, options) {}

  std::uint64_t post(Command command) override { return session_.post(std::move(command)); }
  std::shared_ptr<const SessionStatus> status() const override { return session_.status(); }
  std::shared_ptr<const SessionPlan> plan() const override { return session_.plan(); }
  std::vector<CommandRecord> commands(std::uint64_t after) const override { return session_.commands(after); }
  std::vector<SessionEvent> events(std::size_t after) const override { return session_.events(after); }
  std::vector<std::shared_ptr<const FoldResult>> results() const override { return session_.results(); }
  std::vector<std::filesystem::path> checkpoints() const override { return session_.checkpoints(); }
  std::shared_ptr<const ValidationTrace> trace() const override { return session_.trace(); }
  const kernels::MappedTelemetry* telemetry() const override { return session_.telemetry(); }
  bool ended() const override { return session_.ended(); }

 private:
  Session session_;
};

}  // namespace

SessionFactory engineSessions() {
  return [](const Config& config, const SessionOptions& options) {
    return std::make_unique<EngineSession>(config, options);
  };
}

}  // namespace foxhunt::ui
