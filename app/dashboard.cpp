// Text of the dashboard, from what a session shows to everybody.
#include "app/dashboard.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/output.h"
#include "engine/telemetry/snapshot_reader.h"

namespace foxhunt::app {
namespace {

constexpr auto kLineInterval = std::chrono::seconds(5);
constexpr int kBarWidth = 50;

std::int64_t whole(std::uint64_t value) {
  return static_cast<std::int64_t>(value);
}

std::string progress_bar(double share) {
  const int full = static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * kBarWidth));
  return fmt::format("[{}{}] {:.1f} %", std::string(static_cast<std::size_t>(full), '#'),
                     std::string(static_cast<std::size_t>(kBarWidth - full), '.'), 100 * std::clamp(share, 0.0, 1.0));
}

std::string head_text(const SessionStatus& s) {
  std::string out = fmt::format("{:<11}", state_name(s.state));
  if (s.state == SessionState::preparing) return out + s.activity;
  if (s.folds == 0) return out + "before training began";
  out += fmt::format("fold {} of {}  epoch {} of {}  step {}", s.fold + 1, s.folds, s.epoch + 1, s.epochs,
                     grouped(whole(s.step)));
  if (s.planned_steps > 0) out += fmt::format(" of {}", grouped(whole(s.planned_steps)));
  out += fmt::format("  {:.1f} steps/s", s.steps_per_second);
  if (s.seconds_left > 0) out += fmt::format("  {} left", duration_text(s.seconds_left));
  return out;
}

std::string loss_text(const telemetry::StepRecord& r) {
  return fmt::format("loss       total {:.4g}  c51 {:.4g}  mse {:.4g}  iqn {:.4g}  cql {:.4g}  gradient norm {:.3g}",
                     r.loss_total, r.loss_c51, r.loss_mse, r.loss_iqn, r.loss_cql, r.grad_norm_raw);
}

std::string q_text(const telemetry::StepRecord& r) {
  return fmt::format("mean Q     direction {:.4g}  magnitude {:.4g}  order {:.4g}  urgency {:.4g}  TD error {:.3g}",
                     r.q_mean_direction, r.q_mean_magnitude, r.q_mean_order, r.q_mean_urgency, r.td_mean);
}

std::string actions_text(const kernels::HealthDiag& h) {
  const auto percent = [](float share) { return static_cast<int>(std::lround(100 * share)); };
  return fmt::format(
      "actions %  short {} hold {} long {} flat {} | quarter {} half {} full {} | market {} limit {} pegged {}",
      percent(h.action_direction_short), percent(h.action_direction_hold), percent(h.action_direction_long),
      percent(h.action_direction_flat), percent(h.action_magnitude_quarter), percent(h.action_magnitude_half),
      percent(h.action_magnitude_full), percent(h.action_order_market), percent(h.action_order_limit),
      percent(h.action_order_pegged));
}

std::string validation_text(const Session& session) {
  const auto results = session.results();
  for (auto fold = results.rbegin(); fold != results.rend(); ++fold) {
    if ((*fold)->epochs.empty()) continue;
    const EpochResult& epoch = *(*fold)->epochs.back();
    const Metrics& m = epoch.evaluation.metrics;
    return fmt::format(
        "validation fold {} epoch {}: net {:.0f}  sharpe {}  drawdown {:.0f}  trades {}  | hold {:.0f}  random {:.0f}",
        (*fold)->index + 1, epoch.epoch + 1, m.net, m.sharpe ? fmt::format("{:.2f}", *m.sharpe) : "n/a", m.max_drawdown,
        m.trades, epoch.evaluation.baselines.buy_and_hold.net, epoch.evaluation.baselines.random.net);
  }
  return "validation none yet";
}

std::string checkpoint_text(const Session& session) {
  const auto saved = session.checkpoints();
  if (saved.empty()) return "saved      no checkpoint yet";
  return fmt::format("saved      {} checkpoint{}, last {}", saved.size(), saved.size() == 1 ? "" : "s",
                     saved.back().filename().string());
}

}  // namespace

Dashboard::Dashboard(const Session& session, DashboardKind kind)
    : session_(session), kind_(kind), next_line_(std::chrono::steady_clock::now()) {}

void Dashboard::read_telemetry() {
  const kernels::MappedTelemetry* mapped = session_.telemetry();
  if (!mapped) return;
  if (!ring_) ring_.emplace(*mapped);
  records_.clear();
  if (ring_->drain(records_) > 0) last_ = records_.back();
  telemetry::Snapshot snapshot;
  if (telemetry::SnapshotReader(*mapped).read(snapshot) && snapshot.health_snapshots > 0) health_ = snapshot.health;
}

void Dashboard::show_events() {
  const auto fresh = session_.events(events_);
  events_ += fresh.size();
  for (const SessionEvent& event : fresh) {
    print(fmt::format("{}  step {:<8} {}{}\n", time_text(static_cast<std::int64_t>(event.wall) * 1'000'000'000),
                      event.step, event.severity == "info" ? "" : event.severity + ": ", event.message));
  }
}

std::vector<std::string> Dashboard::block() const {
  const auto status = session_.status();
  std::vector<std::string> out = {head_text(*status)};
  if (status->state == SessionState::preparing) out.push_back(progress_bar(status->progress));
  if (status->state == SessionState::preparing || status->folds == 0) return out;
  if (status->planned_steps > 0)
    out.push_back(progress_bar(static_cast<double>(status->step) / static_cast<double>(status->planned_steps)));
  if (last_) {
    out.push_back(loss_text(*last_));
    out.push_back(q_text(*last_));
  }
  if (health_) out.push_back(actions_text(*health_));
  out.push_back(validation_text(session_));
  out.push_back(checkpoint_text(session_));
  out.push_back(fmt::format("device     {}", status->device));
  out.push_back(fmt::format("run        {}", status->run_folder.string()));
  return out;
}

std::string Dashboard::line() const {
  const auto status = session_.status();
  std::string out = head_text(*status);
  if (last_) out += fmt::format("  loss {:.4g}  mean Q {:.4g}", last_->loss_total, last_->q_mean);
  return out;
}

void Dashboard::refresh() {
  if (kind_ == DashboardKind::none) return;
  read_telemetry();
  if (kind_ == DashboardKind::lines) {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_line_) return;
    next_line_ = now + kLineInterval;
    print(line() + "\n");
    return;
  }
  // Back to the block's first line, clear what follows, events above the new block.
  if (drawn_ > 0) print(fmt::format("\x1b[{}A\r\x1b[J", drawn_));
  show_events();
  std::string text;
  const std::vector<std::string> lines = block();
  const std::size_t width = terminal_width() - 1;  // a line that wraps would be two to go back over
  for (const std::string& l : lines) text += l.substr(0, width) + "\n";
  print(text);
  drawn_ = static_cast<int>(lines.size());
}

void Dashboard::finish() {
  next_line_ = std::chrono::steady_clock::now();
  refresh();
}

}  // namespace foxhunt::app
