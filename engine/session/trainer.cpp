// Folds, epochs, steps and commands.
#include "engine/session/trainer.h"

#include <cmath>
#include <utility>

#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/base/log.h"
#include "engine/config/load_config.h"
#include "engine/session/run_setup.h"
#include "engine/telemetry/telemetry.h"

namespace foxhunt {

void Trainer::run() {
  try {
    prepare();
  } catch (const Error& e) {
    if (session_.stop_now_ && std::string(e.what()) == "cancelled") {
      set_state(SessionState::stopped, "stopped while preparing");
      return;
    }
    throw;
  }
  Flow flow = Flow::go_on;
  if (session_.options_.start) {
    const int first = resumed_ ? fold_ : session_.options_.first_fold;
    const int last =
        session_.options_.last_fold < 0 ? static_cast<int>(folds_.size()) - 1 : session_.options_.last_fold;
    flow = train_folds(first, last);
  }
  while (session_.options_.stay && flow == Flow::go_on) {
    set_state(SessionState::idle);
    flow = obey(true);
  }
  end_session(flow);
}

Trainer::Flow Trainer::train_folds(int first, int last) {
  last_fold_ = last;
  const auto each = static_cast<std::uint64_t>(config_.training.epochs) *
                    static_cast<std::uint64_t>(config_.training.steps_per_epoch);
  const auto resumed_at =
      resumed_ ? static_cast<std::uint64_t>(epoch_) * static_cast<std::uint64_t>(config_.training.steps_per_epoch) +
                     epoch_step_
               : 0;
  session_.publish([&](SessionStatus& s) {
    s.step = steps_;
    s.planned_steps = steps_ + each * static_cast<std::uint64_t>(std::max(0, last - first + 1)) - resumed_at;
    s.started = wall_seconds();
  });
  rate_started_ = steady_seconds();
  rate_steps_ = steps_;
  Flow flow = Flow::go_on;
  for (int index = first; index <= last && flow == Flow::go_on; ++index) flow = run_fold(index);
  paused_ = false;  // the last single step may have ended the last fold
  return flow;
}

Trainer::Flow Trainer::run_fold(int index) {
  const market::Fold& fold = folds_.at(static_cast<std::size_t>(index));
  fold_ = index;
  if (!resumed_) {
    fold_result_ = FoldResult{};
    fold_result_.index = index;
    best_sharpe_.reset();
    best_epoch_sharpe_.reset();
    validated_best_.reset();
    best_file_.clear();
    epochs_without_best_ = 0;
    model_ = FoldModel::fit(table_, fold.train);
    model_.scaler.clip = static_cast<float>(config_.features.clip);
    epoch_ = begun_epoch_ = 0;
    epoch_step_ = 0;
    collected_ = false;
    controllers_.begin_fold();
    gradient_norms_.clear();
    next_norm_ = steps_ + 1;
  }
  learner_->drain();
  market_->load_fold(learner_->stream(), model_);
  if (resumed_pending_) {
    launch_validation(resumed_pending_->first, resumed_pending_->second);
    pending_whole_ = true;
    resumed_pending_.reset();
  }
  if (!resumed_) {
    apply_controlled(0);
    if (!begun_)
      learner_->initialise();
    else
      learner_->begin_fold(index);
    collector_->begin_fold(fold.train);
    rewards_.begin_fold();
  }
  begun_ = true;
  note("fold", "info",
       fmt::format("fold {} of {}: train bars {} to {}, validation bars {} to {}", index + 1, folds_.size(),
                   fold.train.begin, fold.train.end, fold.validation.begin, fold.validation.end));
  Flow flow = Flow::go_on;
  while (epoch_ < config_.training.epochs && flow == Flow::go_on) {
    flow = run_epoch();
    if (config_.training.patience > 0 && epochs_without_best_ >= config_.training.patience && flow == Flow::go_on) {
      note("fold", "info",
           fmt::format("fold {} ends after {} epochs without a better validation", index + 1, epochs_without_best_));
      break;
    }
  }
  if (flow != Flow::stop_now) read_validation();
  resumed_ = false;
  return flow;
}

Trainer::Flow Trainer::run_epoch() {
  epoch_started_ = steady_seconds();
  Flow flow = obey(false);
  if (flow != Flow::go_on) return flow;
  begun_epoch_ = epoch_;
  show_progress();
  set_state(paused_ ? SessionState::paused : SessionState::training);
  resumed_ = false;
  if (!collected_) {
    flow = collect();
    if (flow != Flow::go_on) return flow;
  }
  flow = run_steps();
  if (flow == Flow::stop_now || flow == Flow::halted) return flow;
  // A run that ends in the middle of an epoch is validated too, so that its last checkpoint has metrics; resumed from
  // it, the epoch goes on.
  if (epoch_step_ < static_cast<std::uint64_t>(config_.training.steps_per_epoch)) {
    if (epoch_step_ > 0) {
      read_validation();
      start_validation(false);
    }
    return flow;
  }
  const Flow ended = end_epoch();
  return flow == Flow::go_on ? ended : flow;
}

Trainer::Flow Trainer::collect() {
  learner_->edit_settings([&](kernels::Settings& s) { s.epoch = static_cast<std::uint32_t>(epoch_); });
  learner_->apply_settings();
  const std::int64_t wanted = collection_timesteps(config_);
  const std::int64_t done = collector_->collect(wanted, &session_.stop_now_);
  if (session_.stop_now_) return Flow::stop_now;
  if (done < wanted) return Flow::halted;
  statistics_ = collector_->statistics();
  apply_rewards();
  next_rewards_ = rewards_;
  next_rewards_.update(collector_->rewards(), controllers_.values().gamma);
  collected_ = true;
  return Flow::go_on;
}

Trainer::Flow Trainer::run_steps() {
  const auto steps = static_cast<std::uint64_t>(config_.training.steps_per_epoch);
  while (epoch_step_ < steps) {
    if (session_.options_.max_steps && steps_ >= session_.options_.max_steps) return Flow::limit;
    if (!single_step_ && (paused_ || session_.has_command())) {
      const Flow flow = obey(false);
      if (flow != Flow::go_on) return flow;
      continue;
    }
    const Flow flow = one_step();
    if (single_step_) {
      learner_->drain();
      show_progress();
      session_.finish(*single_step_, fmt::format("step {}", steps_));
      single_step_.reset();
    }
    if (flow != Flow::go_on) return flow;
  }
  if (session_.options_.max_steps && steps_ >= session_.options_.max_steps) return Flow::limit;
  return Flow::go_on;
}

Trainer::Flow Trainer::one_step() {
  learner_->step();
  ++steps_;
  ++epoch_step_;
  if (learner_->halted()) {
    learner_->drain();
    const std::string places = telemetry::nan_flag_names(learner_->nan_flags());
    set_state(SessionState::halted, places.empty() ? "stopped by a guard" : "values that are not finite: " + places);
    return Flow::halted;
  }
  if (evaluator_->running()) evaluator_->ready();  // launches its next part
  save_when_ready();
  if (guard_.due(steps_)) {
    const Flow flow = check_live();
    if (flow != Flow::go_on) return flow;
  }
  if (steady_seconds() - shown_ > 0.1) show_progress();
  return Flow::go_on;
}

void Trainer::show_progress() {
  const double now = steady_seconds(), span = now - rate_started_;
  shown_ = now;
  session_.publish([&](SessionStatus& s) {
    s.step = steps_;
    s.epoch_step = epoch_step_;
    s.fold = fold_;
    s.epoch = begun_epoch_;
    if (span > 0.5) s.steps_per_second = static_cast<double>(steps_ - rate_steps_) / span;
    s.seconds_left = s.steps_per_second > 0 && s.planned_steps > s.step
                         ? static_cast<double>(s.planned_steps - s.step) / s.steps_per_second
                         : 0;
  });
  store_->set_progress(static_cast<std::int64_t>(steps_), fold_, begun_epoch_);
  watch_history();
  if (span > 5) {
    rate_started_ = now;
    rate_steps_ = steps_;
  }
}

// Between epochs the guard looks at the newest step's mean Q, with the references as the last epoch left them.
Trainer::Flow Trainer::check_live() {
  if (!guard_.previous()) return Flow::go_on;
  learner_->drain();  // the newest record, whatever the speed: the verdict must not depend on it
  telemetry::StepRingReader reader(learner_->telemetry()->mapped(), steps_);
  std::vector<telemetry::StepRecord> records;
  telemetry::Snapshot snapshot;
  if (reader.drain(records) == 0 || !telemetry::SnapshotReader(learner_->telemetry()->mapped()).read(snapshot))
    return Flow::go_on;
  const auto verdict = guard_.live(telemetry::word_value(records.back(), kernels::step_word_q_mean),
                                   static_cast<double>(snapshot.signals[kernels::signal_q_reference_magnitude]),
                                   static_cast<double>(snapshot.signals[kernels::signal_q_reference_direction]));
  if (!verdict.exceeded) return Flow::go_on;
  note("guard", verdict.halt ? "error" : "warning", verdict.sentence(), "q-drift");
  if (!verdict.halt) return Flow::go_on;
  set_state(SessionState::halted, verdict.sentence());
  return Flow::halted;
}

Trainer::Flow Trainer::obey(bool wait) {
  for (;;) {
    auto pending = session_.next_command(wait || paused_);
    if (!pending) return Flow::go_on;
    const Flow flow = command(*pending);
    if (flow != Flow::go_on) return flow;
    if (wait || single_step_) return Flow::go_on;
  }
}

Trainer::Flow Trainer::command(const Session::Pending& pending) {
  const Command& c = pending.command;
  const std::string who = c.by.empty() ? "user" : c.by;
  session_.acknowledge(pending.number, steps_);
  const bool training = session_.status()->state == SessionState::training || paused_;
  try {
    switch (c.kind) {
      case CommandKind::start_folds: {
        if (training) throw usage_error("folds are being trained already");
        const int last = c.last < 0 ? static_cast<int>(folds_.size()) - 1 : c.last;
        if (c.first < 0 || c.first > last || last >= static_cast<int>(folds_.size()))
          throw usage_error(fmt::format("folds {} to {} are asked for; there are folds 1 to {}", c.first + 1, last + 1,
                                        folds_.size()));
        session_.finish(pending.number, fmt::format("folds {} to {}", c.first + 1, last + 1));
        return train_folds(c.first, last);
      }
      case CommandKind::pause:
        if (!training) throw usage_error("nothing is being trained");
        learner_->drain();
        paused_ = true;
        if (deferred_save_) evaluator_->wait();
        save_when_ready();
        show_progress();
        set_state(SessionState::paused);
        break;
      case CommandKind::resume:
        if (!paused_) throw usage_error("the session is not paused");
        paused_ = false;
        set_state(SessionState::training);
        rate_started_ = steady_seconds();
        rate_steps_ = steps_;
        break;
      case CommandKind::one_step:
        if (!paused_) throw usage_error("one step at a time needs a paused session");
        single_step_ = pending.number;  // taken where all steps are, with what an epoch's start or end brings along
        return Flow::go_on;
      case CommandKind::save_checkpoint:
        if (!begun_) throw usage_error("there is nothing to save yet");
        if (deferred_save_) throw usage_error("a checkpoint is waiting to be saved already");
        deferred_save_ = pending.number;
        if (paused_ && pending_) evaluator_->wait();
        save_when_ready();
        note("command", "info", fmt::format("{} at step {}", command_name(c.kind), steps_), who);
        return Flow::go_on;  // finished when the file is written
      case CommandKind::stop_and_save:
      case CommandKind::stop_now:
        paused_ = false;
        stopped_by_ = c.by;
        set_state(SessionState::stopping);
        session_.finish(pending.number, fmt::format("at step {}", steps_));
        note("command", "info", fmt::format("{} at step {}", command_name(c.kind), steps_), who);
        return c.kind == CommandKind::stop_now ? Flow::stop_now : Flow::stop_save;
      case CommandKind::set_value:
        set_value(c);
        break;
    }
    session_.finish(pending.number, fmt::format("at step {}", steps_));
    note("command", "info", fmt::format("{} at step {}", command_name(c.kind), steps_), who);
  } catch (const Error& e) {
    session_.finish(pending.number, e.sentence(), true);
    if (!c.by.empty())
      note("command", "info", fmt::format("{} was refused: {}", command_name(c.kind), e.sentence()), who);
  }
  return Flow::go_on;
}

void Trainer::set_value(const Command& c) {
  Config changed = config_;
  set_field(changed, c.field, c.value);
  check_config(changed);
  const auto fresh = learner_options(changed, *device_, static_cast<int>(folds_.size()));
  if (c.field == "learner.lr" || c.field == "learner.max_grad_norm" || c.field == "learner.weight_decay" ||
      c.field == "environment.epsilon") {
    controllers_.set_first(configured_values(changed));
    learner_->edit_settings([&](kernels::Settings& s) {
      s.lr = static_cast<float>(controllers_.values().lr);
      s.max_grad_norm = static_cast<float>(controllers_.values().max_grad_norm);
      s.weight_decay = static_cast<float>(fresh.config.weight_decay);
      s.epsilon = static_cast<float>(controllers_.values().epsilon);
    });
  } else if (c.field.starts_with("guards.")) {
    auto settings = guard_.settings();
    settings.factor = changed.guards.drift_factor;
    settings.reference_factor = changed.guards.drift_reference_factor;
    settings.floor = changed.guards.drift_floor;
    settings.window = changed.guards.drift_window;
    settings.mode = changed.guards.drift == "off"    ? telemetry::GuardMode::off
                    : changed.guards.drift == "warn" ? telemetry::GuardMode::warn
                                                     : telemetry::GuardMode::armed;
    guard_.set(settings);
  } else if (c.field == "rules") {
    rules_->set(telemetry::parse_rules(changed.rules));
  } else {
    throw usage_error(
        fmt::format("{} cannot be changed while a session runs", c.field),
        {.field = c.field,
         .hint = "learner.lr, learner.max_grad_norm, learner.weight_decay, environment.epsilon, guards and rules can"});
  }
  config_ = changed;
  const std::string value = c.field == "rules" ? fmt::format("{} of them", changed.rules.size()) : c.value;
  note("setting", "info", fmt::format("{} = {} at step {}", c.field, value, steps_), "user");
}

void Trainer::set_state(SessionState state, const std::string& reason) {
  session_.publish([&](SessionStatus& s) {
    s.state = state;
    s.reason = reason;
    s.step = steps_;
  });
  if (store_ && !is_terminal(state))
    store_->set_status(state == SessionState::idle ? "preparing" : state_name(state), reason);
}

void Trainer::end_session(Flow flow) {
  if (evaluator_->running()) evaluator_->wait();  // of a run that is stopped now: the result is not wanted
  pending_.reset();
  learner_->drain();
  if (flow == Flow::halted) {
    const std::string reason = session_.status()->reason;
    write_flight();
    save("rejected");
    checkpointer_->drain();
    note("status", "error", "halted: " + reason);
    set_state(SessionState::halted, reason);
    return;
  }
  if (flow != Flow::stop_now && begun_) {
    const auto& epochs = fold_result_.epochs;
    save("stop", epochs.empty() ? nlohmann::ordered_json(nullptr) : metrics_json(epochs.back()->evaluation.metrics),
         std::exchange(deferred_save_, 0));
    checkpointer_->drain();
    if (!save_error_.empty())
      throw Error(
          fmt::format("training ended at step {}, but its last checkpoint could not be written: {}", steps_,
                      save_error_),
          {.file = store_->checkpoints_folder().string(), .hint = "free some space; earlier checkpoints stand"});
  }
  const bool finished = flow == Flow::go_on;
  const std::string reason = flow == Flow::limit   ? fmt::format("{} steps reached", steps_)
                             : finished            ? ""
                             : stopped_by_.empty() ? "stopped by command"
                                                   : fmt::format("stopped by the rule \"{}\"", stopped_by_);
  note("status", "info", finished ? "finished" : "stopped: " + reason);
  set_state(finished ? SessionState::finished : SessionState::stopped, reason);
}

void Trainer::close() noexcept {
  if (closed_) return;
  closed_ = true;
  try {
    if (checkpointer_) checkpointer_->drain();
    if (recorder_) recorder_->flush();
    if (store_) {
      const auto status = session_.status();
      store_->update_info([&](RunInfo& info) {
        info.steps = static_cast<std::int64_t>(steps_);
        info.fold = fold_;
        info.epoch = begun_epoch_;
      });
      store_->set_status(is_terminal(status->state) ? state_name(status->state) : "failed", status->reason);
      recorder_.reset();
      sink_.reset();
      store_.reset();
    }
  } catch (const std::exception& e) {
    log_error("the end of the session could not be recorded: {}", e.what());
  }
}

}  // namespace foxhunt
