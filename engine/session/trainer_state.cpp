// What a full checkpoint keeps of the session beside the device's memory, and going on from it: position, rewards,
// validation, controllers. A resumed run goes on bit for bit as if it had not stopped.
#include "engine/base/atomic_file.h"
#include "engine/base/error.h"
#include "engine/base/strict_json.h"
#include "engine/config/load_config.h"
#include "engine/session/checkpoint_load.h"
#include "engine/session/trainer.h"

namespace foxhunt {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

template <class T>
std::optional<T> optional_at(const nlohmann::json& object, const char* name) {
  const auto& value = object.at(name);
  return value.is_null() ? std::nullopt : std::optional<T>(value.get<T>());
}

Json rewards_json(const RewardStatistics& statistics) {
  const auto state = statistics.state();
  Json low = Json::array(), high = Json::array();
  for (const Support& s : state.supports) {
    low.push_back(s.low);
    high.push_back(s.high);
  }
  return {{"scale", state.scale},   {"may_narrow", state.may_narrow}, {"low", low},
          {"high", high},           {"median", state.spread.median},  {"iqr", state.spread.iqr},
          {"rms", state.spread.rms}};
}

void restore_rewards(const nlohmann::json& stored, RewardStatistics& statistics) {
  RewardStatistics::State state;
  state.scale = stored.at("scale");
  state.may_narrow = stored.at("may_narrow");
  state.spread = {.median = stored.at("median"), .iqr = stored.at("iqr"), .rms = stored.at("rms")};
  for (std::size_t d = 0; d < state.supports.size(); ++d)
    state.supports[d] = {stored.at("low").at(d), stored.at("high").at(d)};
  statistics.restore(state);
}

Json values_json(const ControlledValues& v) {
  return {{"lr", v.lr},
          {"tau_scale", v.tau_scale},
          {"gamma", v.gamma},
          {"epsilon", v.epsilon},
          {"max_grad_norm", v.max_grad_norm}};
}

ControlledValues controlled_values(const nlohmann::json& stored) {
  ControlledValues v;
  v.lr = stored.at("lr");
  v.tau_scale = stored.at("tau_scale");
  stored.at("gamma").get_to(v.gamma);
  v.epsilon = stored.at("epsilon");
  v.max_grad_norm = stored.at("max_grad_norm");
  return v;
}

// The parts of CollectorStatistics that an epoch's end looks at.
Json collection_json(const CollectorStatistics& s) {
  return {{"steps", s.steps},
          {"episodes", s.episodes},
          {"ruins", s.ruins},
          {"episode_return", s.episode_return},
          {"exposure", s.exposure},
          {"turnover", s.turnover},
          {"reward_mean", s.reward_mean},
          {"trades", s.trades},
          {"mean_hold", s.mean_hold}};
}

CollectorStatistics collection(const nlohmann::json& stored) {
  CollectorStatistics s;
  s.steps = stored.at("steps");
  s.episodes = stored.at("episodes");
  s.ruins = stored.at("ruins");
  s.episode_return = stored.at("episode_return");
  s.exposure = stored.at("exposure");
  s.turnover = stored.at("turnover");
  s.reward_mean = stored.at("reward_mean");
  stored.at("trades").get_to(s.trades);
  stored.at("mean_hold").get_to(s.mean_hold);
  return s;
}

}  // namespace

Json Trainer::session_state() const {
  Json pending = nullptr;
  if (pending_ && pending_whole_) pending = {{"epoch", pending_->epoch}, {"step", pending_->step}};
  const auto& controllers = controllers_.state();
  return {{"next_epoch", epoch_},
          {"epoch_step", epoch_step_},
          {"collected", collected_},
          {"reward_scale", learner_->settings().reward_scale},
          {"c51_alpha_floor", learner_->settings().c51_alpha_floor},
          {"rewards", rewards_json(rewards_)},
          {"next_rewards", rewards_json(next_rewards_)},
          {"drift_previous", or_null(guard_.previous())},
          {"validation",
           {{"best_sharpe", or_null(best_sharpe_)},
            {"best_step", fold_result_.best_step},
            {"best_metrics", fold_result_.best_metrics},
            {"best_file", best_file_},
            {"best_epoch_sharpe", or_null(best_epoch_sharpe_)},
            {"epochs_without_best", epochs_without_best_},
            {"read", or_null(validated_best_)},
            {"pending", pending},
            {"trials", trials_},
            {"trial_sharpes", trial_sharpes_}}},
          {"controllers",
           {{"first", values_json(controllers_.first())},
            {"values", values_json(controllers.values)},
            {"epochs_without_best", controllers.epochs_without_best},
            {"mse_ema", or_null(controllers.mse_ema)}}},
          {"collection", collection_json(statistics_)},
          {"gradient_norms", gradient_norms_}};
}

std::map<std::string, std::string> Trainer::checkpoint_metadata(const std::string& reason, const Json& metrics,
                                                                bool full) const {
  std::map<std::string, std::string> out{
      {"format_version", kCheckpointFormat},
      {"layout_fingerprint", fmt::format("{:016x}", learner_->table().fingerprint())},
      {"config", to_json(config_).dump()},
      {"config_hash", config_hash(config_)},
      {"step", std::to_string(steps_)},
      {"fold", std::to_string(fold_)},
      {"epoch", std::to_string(step_epoch())},
      {"metrics", metrics.dump()},
      {"reason", reason},
      {"pinned_algorithms", device_->pinned_algorithms()},
      {"data_fingerprint", fmt::format("{:016x}", table_.fingerprint)}};
  if (full) out["session"] = session_state().dump();
  return out;
}

void Trainer::resume(const std::filesystem::path& checkpoint) {
  session_.publish([](SessionStatus& s) { s.activity = "reading the checkpoint"; });
  const LoadedModel model = load_model(checkpoint);
  if (model.reason == "rejected" && !session_.options_.accept_rejected)
    throw usage_error(
        "a guard rejected this checkpoint",
        {.file = checkpoint.string(), .field = "reason", .hint = "resume an earlier one, or say --accept-rejected"});
  if (model.fold < 0 || model.fold >= static_cast<int>(folds_.size()))
    throw usage_error(
        fmt::format("the checkpoint belongs to fold {}; the configuration has folds 0 to {}", model.fold,
                    folds_.size() - 1),
        {.file = checkpoint.string(), .field = "fold", .hint = "resume with the run's own configuration"});
  if (model.metadata.value("data_fingerprint", "") != fmt::format("{:016x}", table_.fingerprint))
    throw usage_error("the checkpoint was trained on other data than the configuration names",
                      {.file = checkpoint.string(),
                       .field = "data_fingerprint",
                       .hint = "what it has collected refers to bars of those; resume with the same files"});
  const nlohmann::json state = load_full(checkpoint, *learner_, *collector_);
  model_ = model.model;
  fold_ = model.fold;
  begun_epoch_ = model.epoch;
  steps_ = model.step;
  try {
    restore(state);
  } catch (const nlohmann::json::exception& e) {
    throw Error(fmt::format("the session's state is not what a checkpoint of this version holds ({})", e.what()),
                {.file = checkpoint.string(), .field = "session", .hint = "resume another checkpoint of the run"});
  }
  learner_->edit_settings([&](kernels::Settings& s) {
    for (int d = 0; d < kernels::kTrainingBranches; ++d) {
      s.v_min[d] = model.v_min[static_cast<std::size_t>(d)];
      s.v_max[d] = model.v_max[static_cast<std::size_t>(d)];
    }
    s.reward_scale = state.at("reward_scale").get<float>();
    s.fold = static_cast<std::uint32_t>(model.fold);
    s.epoch = static_cast<std::uint32_t>(collected_ ? epoch_ : model.epoch);  // as the collection left it
    s.c51_alpha_floor = state.at("c51_alpha_floor").get<float>();
  });
  apply_controlled(0);
  next_norm_ = steps_ + 1;
  has_scale_ = true;
  begun_ = resumed_ = true;
}

void Trainer::restore(const nlohmann::json& state) {
  epoch_ = state.at("next_epoch");
  epoch_step_ = state.at("epoch_step");
  collected_ = state.at("collected");
  restore_rewards(state.at("rewards"), rewards_);
  restore_rewards(state.at("next_rewards"), next_rewards_);
  if (const auto previous = optional_at<double>(state, "drift_previous")) guard_.restore(*previous);
  const auto& validation = state.at("validation");
  best_sharpe_ = optional_at<double>(validation, "best_sharpe");
  fold_result_ = FoldResult{};
  fold_result_.index = fold_;
  fold_result_.best_step = validation.at("best_step");
  fold_result_.best_metrics = Json::parse(validation.at("best_metrics").dump());
  best_file_ = validation.at("best_file");
  best_epoch_sharpe_ = optional_at<double>(validation, "best_epoch_sharpe");
  epochs_without_best_ = validation.at("epochs_without_best");
  validated_best_ = optional_at<bool>(validation, "read");
  trials_ = validation.at("trials");
  validation.at("trial_sharpes").get_to(trial_sharpes_);
  if (const auto& pending = validation.at("pending"); !pending.is_null())
    resumed_pending_ = {pending.at("epoch").get<int>(), pending.at("step").get<std::uint64_t>()};
  const auto& controllers = state.at("controllers");
  const ControlledValues configured = controllers_.first();
  controllers_ = Controllers(controlled_values(controllers.at("first")));
  controllers_.restore({.values = controlled_values(controllers.at("values")),
                        .epochs_without_best = controllers.at("epochs_without_best"),
                        .mse_ema = optional_at<double>(controllers, "mse_ema")});
  controllers_.set_first(configured);  // a scalar that the configuration changes begins anew
  statistics_ = collection(state.at("collection"));
  state.at("gradient_norms").get_to(gradient_norms_);
}

// The best model so far lies beside the checkpoint that is gone on with; this run gets a copy, so that it is whole.
void Trainer::adopt_best(const std::filesystem::path& resumed_from) {
  if (!best_sharpe_) return;
  const auto& metrics = fold_result_.best_metrics;
  store_->update_info([&](RunInfo& info) {
    if (metrics.contains("net") && metrics["net"].is_number()) info.best["net"] = metrics["net"];
    info.best["sharpe"] = *best_sharpe_;
  });
  session_.publish_result(std::make_shared<FoldResult>(fold_result_));
  const std::filesystem::path name(best_file_);
  const auto from = resumed_from.parent_path() / name;
  std::error_code ignored;
  if (best_file_.empty() || name != name.filename() || !std::filesystem::is_regular_file(from, ignored)) {
    note("checkpoint", "info",
         fmt::format("the best checkpoint so far, of step {}, is not beside the one resumed from",
                     fold_result_.best_step));
    return;
  }
  try {
    const LoadedModel best = load_model(from);
    const auto to = store_->checkpoints_folder() / name;
    write_file_atomically(to, read_text_file(from.string(), std::filesystem::file_size(from)));
    RunCheckpoint row;
    row.step = static_cast<std::int64_t>(best.step);
    row.fold = best.fold;
    row.epoch = best.epoch;
    row.reason = "best";
    row.kind = "model";
    row.path = std::filesystem::relative(to, store_->folder()).string();
    row.bytes = static_cast<std::int64_t>(std::filesystem::file_size(to));
    row.metrics = metrics.dump();
    store_->append(row);
    session_.add_checkpoint(std::filesystem::absolute(to));
  } catch (const Error& e) {
    note("checkpoint", "warning", "the best checkpoint so far could not be copied: " + e.sentence());
  }
}

}  // namespace foxhunt
