// Preparation: data, folds, device, buffers, run folder. Nothing is left behind when it fails.
#include "engine/session/trainer.h"

#include <array>

#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/config/load_config.h"
#include "engine/environment/rules.h"
#include "engine/market/market_loader.h"
#include "engine/session/run_setup.h"
#include "engine/telemetry/telemetry.h"

namespace foxhunt {
namespace {

std::array<Support, kernels::kTrainingBranches> configured_supports(const LearnerConfig& c) {
  std::array<Support, kernels::kTrainingBranches> out{};
  // Other numbers of branches are refused once the session prepares.
  for (std::size_t d = 0; d < std::min({out.size(), c.v_min.size(), c.v_max.size()}); ++d)
    out[d] = {c.v_min[d], c.v_max[d]};
  return out;
}

telemetry::DriftSettings drift_settings(const GuardsConfig& g) {
  using telemetry::GuardMode;
  return {.mode = g.drift == "off"    ? GuardMode::off
                  : g.drift == "warn" ? GuardMode::warn
                                      : GuardMode::armed,
          .factor = g.drift_factor,
          .reference_factor = g.drift_reference_factor,
          .floor = g.drift_floor,
          .window = g.drift_window};
}

}  // namespace

Trainer::Trainer(Session& session)
    : session_(session),
      config_(session.config_),
      rewards_(configured_supports(config_.learner)),
      guard_(drift_settings(config_.guards)),
      controllers_(configured_values(config_)) {}

Trainer::~Trainer() = default;

void Trainer::prepare() {
  check_training_config(config_);
  set_state(SessionState::preparing);
  load_data();
  session_.publish([](SessionStatus& s) {
    s.activity = "opening the device";
    s.progress = 0;
  });
  device_ = open_configured_device(config_);
  resolve_defaults(config_, *device_);
  // All that can be refused is refused before a folder is made.
  build();
  if (!session_.options_.resume.empty()) resume(session_.options_.resume);
  open_run();
  start_recording();
  session_.publish([&](SessionStatus& s) {
    s.activity.clear();
    s.device = device_->info().name + " " + device_->info().description;
    s.folds = static_cast<int>(folds_.size());
    s.epochs = config_.training.epochs;
    s.steps_per_epoch = static_cast<std::uint64_t>(config_.training.steps_per_epoch);
    s.run_folder = store_->folder();
  });
}

void Trainer::load_data() {
  market::Progress progress;
  progress.cancel = &session_.stop_now_;
  progress.report = [&](std::uint64_t done, std::uint64_t total, const std::string& what) {
    session_.publish([&](SessionStatus& s) {
      s.activity = "reading " + what;
      s.progress = total ? static_cast<double>(done) / static_cast<double>(total) : 0;
    });
  };
  table_ = market::load_market(config_.data, progress);
  folds_ = market::make_folds(table_, config_.folds, config_.environment.n_step);
  const int last = session_.options_.last_fold;
  if (session_.options_.first_fold < 0 || session_.options_.first_fold >= static_cast<int>(folds_.size()) ||
      last >= static_cast<int>(folds_.size()))
    throw usage_error(fmt::format("folds {} to {} are asked for; there are folds 0 to {}", session_.options_.first_fold,
                                  last, folds_.size() - 1),
                      {.field = "--folds"});
  auto plan = std::make_shared<SessionPlan>();
  plan->symbol = table_.symbol;
  plan->simulated = table_.simulated;
  plan->order_flow = table_.order_flow;
  plan->bars = table_.rows();
  plan->first = table_.open_time.front();
  plan->last = table_.close_time.back();
  plan->report = table_.report;
  plan->folds = folds_;
  plan->times = table_.close_time;
  plan->preview = std::make_shared<market::DataPreview>(market::preview_of(table_, kPreviewBuckets));
  session_.publish_plan(std::move(plan));
}

void Trainer::open_run() {
  const auto& o = session_.options_;
  RunInfo info;
  info.status = "preparing";
  info.device = device_->info().name + " " + device_->info().description;
  info.seed = config_.seed;
  info.simulated = table_.simulated;
  info.configuration = to_json(config_);
  info.configuration_hash = config_hash(config_);
  info.data_fingerprint = fmt::format("{:016x}", table_.fingerprint);
  info.versions = {
      {"foxhunt", FOXHUNT_VERSION}, {"products", device_->info().library}, {"driver", device_->info().driver}};
  info.resumed_from = o.resume.empty() ? "" : std::filesystem::absolute(o.resume).string();
  const std::string slug = !o.slug.empty()         ? o.slug
                           : table_.simulated      ? "simulated"
                           : table_.symbol.empty() ? "run"
                                                   : table_.symbol;
  RunStoreOptions storing;
  storing.commit_seconds = 0.1;  // who watches from another process sees ten times a second how it goes
  store_ = o.run_folder.empty() ? RunStore::create(o.runs_folder, slug, info, telemetry_columns(), storing)
                                : RunStore::create_at(o.run_folder, info, telemetry_columns(), storing);
  for (const auto& w : table_.report.warnings) note("warning", "info", "data: " + w.message);
  if (!begun_) return;
  note("status", "info", fmt::format("resumed from {} at step {}", o.resume.filename().string(), steps_));
  adopt_best(o.resume);
}

void Trainer::build() {
  session_.publish([](SessionStatus& s) { s.activity = "building the training step"; });
  LearnerOptions options = learner_options(config_, *device_, static_cast<int>(folds_.size()));
  options.eager = session_.options_.eager;
  learner_ = std::make_unique<Learner>(*device_, options);
  market_ = std::make_unique<DeviceMarket>(*device_, learner_->stream(), table_);
  learner_->set_bar_table(market_->bars());
  CollectorOptions collecting = collector_options(config_);
  collecting.eager = options.eager;
  const int rows = config_.environment.environments;
  noisy_ = std::make_unique<Policy>(*device_, config_.learner, learner_->table(), rows, "collect", options.precision);
  mean_ =
      std::make_unique<Policy>(*device_, config_.learner, learner_->table(), rows, "collect.mean", options.precision);
  collector_ = std::make_unique<Collector>(*device_, collector_target(*learner_), exploring_actor(*noisy_, *mean_),
                                           *market_, collecting);
  market::Range longest = folds_.front().validation;
  for (const auto& fold : folds_)
    if (fold.validation.size() > longest.size()) longest = fold.validation;
  EvaluatorOptions evaluating = evaluator_options(config_, longest);
  for (const auto& fold : folds_)
    evaluating.windows = std::min(evaluating.windows, evaluation_windows(config_, fold.validation));
  evaluating.eager = options.eager;
  greedy_ = std::make_unique<Policy>(*device_, config_.learner, learner_->table(), evaluating.windows, "evaluate",
                                     options.precision);
  evaluator_ = std::make_unique<Evaluator>(*device_, greedy_actor(*greedy_), *market_, evaluating);
  checkpointer_ = std::make_unique<Checkpointer>(*device_, *learner_, *collector_);
  snapshot_event_ = device_->create_event();
}

void Trainer::start_recording() {
  sink_ = std::make_unique<RunStoreSink>(*store_);
  rules_ = std::make_unique<telemetry::RuleMonitor>([this](const auto& event) { rule_fired(event); });
  rules_->set(telemetry::parse_rules(config_.rules));
  telemetry::RecorderOptions recording;
  recording.rows_per_second = config_.telemetry.record_rows_per_second;
  recording.next_step = steps_ + 1;
  recording.rules = rules_.get();
  recorder_ = std::make_unique<telemetry::RunRecorder>(learner_->telemetry()->mapped(), *sink_, recording);
  session_.publish_telemetry(&learner_->telemetry()->mapped());
}

}  // namespace foxhunt
