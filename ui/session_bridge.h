// Between the window and the session: owns the session, polls its published copies and drains its step ring once a
// frame into RunData. Never blocks the GUI thread: sessions are made without waiting and destroyed on another thread.
#pragma once

#include <QObject>
#include <array>
#include <memory>
#include <vector>

#include "engine/telemetry/snapshot_reader.h"
#include "engine/telemetry/step_ring_reader.h"
#include "ui/frame_clock.h"
#include "ui/models/run_data.h"
#include "ui/session_port.h"

namespace foxhunt::ui {

class SessionBridge : public QObject {
  Q_OBJECT
 public:
  // Reads on every tick of the clock into `data`. Both outlive the bridge.
  SessionBridge(FrameClock* clock, RunData* data, SessionFactory factory = engineSessions(), QObject* parent = nullptr);
  ~SessionBridge() override;

  // A new session; the one before must have ended. options.stay is set: it waits for commands after its folds.
  void start(const Config& config, SessionOptions options);
  // The folds that data give, before any session. Only while none is live.
  void showPreview(std::shared_ptr<const SessionPlan> plan);
  // A session that has not ended, or that has and was not looked at since: ended() follows.
  bool live() const { return port_ != nullptr; }
  // Live, and its folds, steps or preparations are under way.
  bool busy() const;
  RunData* data() const { return data_; }

  // As last polled.
  const SessionStatus& status() const { return *status_; }
  std::shared_ptr<const SessionPlan> plan() const { return plan_; }
  const std::optional<Config>& config() const { return config_; }  // of the session; empty before the first
  const std::vector<CommandRecord>& commands() const { return commands_; }
  // Seconds since the device published last; negative while there is nothing to read.
  double dataAge() const;
  std::uint64_t torn() const;
  std::uint64_t missed() const;
  double pollMicroseconds() const;  // what reading costs a frame: the median of the last ones

  // Commands; each returns its number, 0 when no session is live.
  std::uint64_t post(Command command);
  std::uint64_t startFolds(int first, int last) { return post({CommandKind::start_folds, first, last, {}, {}}); }
  std::uint64_t pause() { return post({CommandKind::pause, 0, -1, {}, {}}); }
  std::uint64_t resume() { return post({CommandKind::resume, 0, -1, {}, {}}); }
  std::uint64_t oneStep() { return post({CommandKind::one_step, 0, -1, {}, {}}); }
  std::uint64_t saveCheckpoint() { return post({CommandKind::save_checkpoint, 0, -1, {}, {}}); }
  std::uint64_t stopAndSave() { return post({CommandKind::stop_and_save, 0, -1, {}, {}}); }
  std::uint64_t stopNow() { return post({CommandKind::stop_now, 0, -1, {}, {}}); }
  // A live setting: "guards.drift_factor" to "2.5".
  std::uint64_t setValue(const QString& field, const QString& value) {
    return post({CommandKind::set_value, 0, -1, field.toStdString(), value.toStdString()});
  }

  // What the clock calls.
  void poll();
  // Waits until every session that was given away is gone; false after `seconds`. For the end of a program.
  static bool waitForEnded(double seconds);

 Q_SIGNALS:
  void started();
  void statusChanged();
  void commandChanged(quint64 number);
  void planChanged();
  void ended();
  void failed(const QString& sentence);  // the session ended with an error

 private:
  void attach();
  void readSteps(bool last);
  void readCommands();
  void readEvents();
  void readPlan();
  void readResults();
  void readTrace(bool last);
  void readCheckpoints();
  void finish();

  RunData* data_;
  SessionFactory factory_;
  std::unique_ptr<SessionPort> port_;
  std::optional<Config> config_;
  SessionOptions options_;
  std::shared_ptr<const SessionStatus> status_;
  std::shared_ptr<const SessionPlan> plan_;
  std::vector<CommandRecord> commands_;
  std::size_t events_read_ = 0;
  std::vector<std::shared_ptr<const FoldResult>> results_;
  std::vector<std::filesystem::path> checkpoints_;
  std::size_t validations_ = 0;  // that the views of checkpoints_ know of
  std::unique_ptr<telemetry::StepRingReader> ring_;
  std::unique_ptr<telemetry::SnapshotReader> snapshots_;
  std::unique_ptr<telemetry::Heartbeat> heartbeat_;
  std::vector<telemetry::StepRecord> records_;
  std::uint32_t signal_step_ = 0, health_step_ = 0;
  double signals_read_ = 0;
  std::uint64_t torn_ = 0, missed_ = 0;  // of the readers that are gone
  std::array<float, 256> poll_us_{};     // of the last polls
  std::size_t polls_ = 0;
  double lists_read_ = 0;  // steady seconds
  bool finished_ = false;
};

}  // namespace foxhunt::ui
