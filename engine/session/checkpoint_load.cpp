// Strict reading of our own files: every tensor by name and shape.
#include "engine/session/checkpoint_load.h"

#include <charconv>
#include <chrono>
#include <thread>

#include "engine/base/error.h"
#include "engine/config/load_config.h"
#include "engine/device/registry.h"
#include "engine/environment/evaluator.h"
#include "engine/environment/rules.h"
#include "engine/learner/initialise.h"
#include "engine/learner/policy.h"
#include "engine/learner/transfer.h"
#include "engine/market/market_loader.h"
#include "engine/session/run_setup.h"
#include "engine/telemetry/telemetry.h"

namespace foxhunt {
namespace {

std::string metadata_of(const SafetensorsFile& file, const char* key) {
  const auto found = file.metadata().find(key);
  if (found == file.metadata().end())
    throw Error(fmt::format("the metadata has no \"{}\": this is no checkpoint of a training session", key),
                {.file = file.path(), .field = key, .hint = "inspect shows what the file holds"});
  return found->second;
}

template <class T>
T metadata_number(const SafetensorsFile& file, const char* key) {
  const std::string text = metadata_of(file, key);
  T value{};
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || stop != text.data() + text.size() || text.empty())
    throw Error(fmt::format("the metadata's {} is \"{}\"; it must be a whole number from 0", key, text.substr(0, 40)),
                {.file = file.path(), .field = key, .hint = "the file is damaged"});
  return value;
}

void check_format(const SafetensorsFile& file) {
  const std::string format = metadata_of(file, "format_version");
  if (format != kCheckpointFormat)
    throw Error(fmt::format("the checkpoint's format version is {}; this program reads {}", format, kCheckpointFormat),
                {.file = file.path(), .field = "format_version"});
}

template <class T>
std::vector<T> read(const SafetensorsFile& file, const std::string& name, DType dtype,
                    const std::vector<std::uint64_t>& shape) {
  const TensorInfo& t = file.at(name);
  if (t.dtype != dtype || t.shape != shape)
    throw Error(fmt::format("{} is {} {}; {} {} is expected", name, dtype_name(t.dtype), shape_text(t.shape),
                            dtype_name(dtype), shape_text(shape)),
                {.file = file.path(), .field = name, .hint = "the file is of another network or damaged"});
  std::vector<T> out(t.bytes() / sizeof(T));
  file.read_into(t, out.data());
  return out;
}

std::vector<float> read_arena(const SafetensorsFile& file, const TensorTable& table, const std::string& prefix) {
  std::vector<float> arena(static_cast<std::size_t>(table.arena_size()), 0.0f);
  for (const TensorSpec& t : table.tensors()) {
    const auto values = read<float>(file, prefix + t.name, DType::f32, {t.shape.begin(), t.shape.end()});
    std::copy(values.begin(), values.end(), arena.begin() + t.offset);
  }
  return arena;
}

// Of the configuration stored with the file, what the network and its inputs depend on.
void read_config(const SafetensorsFile& file, LoadedModel& m) {
  const auto config = nlohmann::json::parse(metadata_of(file, "config"), nullptr, false);
  if (!config.is_object() || !config.contains("learner"))
    throw Error("the stored configuration cannot be read",
                {.file = file.path(), .field = "config", .hint = "the file is damaged"});
  m.learner = parse_learner_config(config["learner"].dump(), file.path());
  if (!config.contains("features")) return;
  const auto& features = config["features"];
  if (!features.is_object() || !features.contains("clip") || !features["clip"].is_number())
    throw Error("the stored features.clip is no number", {.file = file.path(), .field = "config.features.clip"});
  m.model.scaler.clip = features["clip"].get<float>();
}

void wait_for(Evaluator& evaluator, const market::Progress& progress) {
  if (progress.cancel == nullptr) return evaluator.wait();
  while (!evaluator.ready()) {
    if (progress.cancel->load(std::memory_order_relaxed)) throw Error("cancelled");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

template <class T>
void upload_state(device::Device& device, const SafetensorsFile& file, const std::string& name, T* to,
                  std::size_t bytes) {
  const auto values = read<std::byte>(file, "state." + name, DType::u8, {bytes});
  upload(device, reinterpret_cast<std::byte*>(to), values.data(), bytes);
}

}  // namespace

LoadedModel load_model(const std::filesystem::path& path) {
  const SafetensorsFile file = SafetensorsFile::open(path);
  check_format(file);
  LoadedModel m;
  read_config(file, m);
  const TensorTable table(m.learner);
  m.fold = metadata_number<int>(file, "fold");
  m.epoch = metadata_number<int>(file, "epoch");
  m.step = metadata_number<std::uint64_t>(file, "step");
  m.reason = metadata_of(file, "reason");
  m.params = read_arena(file, table, "params.");
  m.signals = read<float>(file, "signals", DType::f32, {kernels::kSignals});
  m.v_min = read<float>(file, "support.v_min", DType::f32, {kernels::kTrainingBranches});
  m.v_max = read<float>(file, "support.v_max", DType::f32, {kernels::kTrainingBranches});
  m.gamma = read<float>(file, "gamma", DType::f32, {kernels::kTrainingBranches});
  const auto mean = read<float>(file, "scaler.mean", DType::f32, {market::kMarketFeatures});
  const auto scale = read<float>(file, "scaler.scale", DType::f32, {market::kMarketFeatures});
  std::copy(mean.begin(), mean.end(), m.model.scaler.mean.begin());
  std::copy(scale.begin(), scale.end(), m.model.scaler.scale.begin());
  const auto fitted = read<double>(file, "fold_model", DType::f64, {4});
  m.model.mean_volatility = fitted[0];
  m.model.regimes.low = fitted[1];
  m.model.regimes.high = fitted[2];
  m.model.regimes.width = fitted[3];
  for (const auto& [key, value] : file.metadata()) m.metadata[key] = value;
  return m;
}

nlohmann::json load_full(const std::filesystem::path& path, Learner& learner, Collector& collector) {
  const SafetensorsFile file = SafetensorsFile::open(path);
  check_format(file);
  if (!file.find("state.control"))
    throw Error("this is a model file; only a full checkpoint can be resumed",
                {.file = path.string(), .field = "state.control", .hint = "evaluate takes model files"});
  const TensorTable& table = learner.table();
  const std::string fingerprint = fmt::format("{:016x}", table.fingerprint());
  if (const std::string stored = metadata_of(file, "layout_fingerprint"); stored != fingerprint)
    throw Error(fmt::format("the checkpoint's network layout is {}; the configuration's is {}", stored, fingerprint),
                {.file = path.string(),
                 .field = "layout_fingerprint",
                 .hint = "use the sizes under \"learner\" that it was trained with"});
  device::Device& device = learner.device();
  const auto arena = [&](const std::string& prefix, float* to) {
    const auto values = read_arena(file, table, prefix);
    upload(device, to, values.data(), values.size());
  };
  arena("params.", learner.params());
  arena("target.", learner.target());
  arena("m.", learner.moment1());
  arena("v.", learner.moment2());
  std::vector<float> vectors;
  for (const int i : table.spectral()) {
    const TensorSpec& t = table.tensors()[i];
    const auto u = read<float>(file, "u." + t.name.substr(0, t.name.size() - 7), DType::f32,
                               {static_cast<std::uint64_t>(t.shape[0])});
    vectors.insert(vectors.end(), u.begin(), u.end());
  }
  upload(device, learner.spectral_vectors(), vectors.data(), vectors.size());
  const ReplayView replay = learner.replay();
  upload_state(device, file, "control", learner.control(), sizeof(kernels::Control));
  upload_state(device, file, "telemetry.state", learner.telemetry()->state(), sizeof(kernels::TelemetryState));
  upload_state(device, file, "telemetry.collector", learner.telemetry()->collector(),
               sizeof(kernels::CollectorSignals));
  upload_state(device, file, "replay.ring", replay.ring,
               static_cast<std::size_t>(replay.capacity) * sizeof(kernels::Transition));
  upload_state(device, file, "replay.priority", replay.priority,
               static_cast<std::size_t>(replay.capacity) * sizeof(float));
  for (const auto& block : collector.state_blocks())
    upload_state(device, file, "collector." + block.name, static_cast<std::byte*>(block.data), block.bytes);
  collector.resumed();
  auto session = nlohmann::json::parse(metadata_of(file, "session"), nullptr, false);
  if (!session.is_object())
    throw Error("the session's state cannot be read", {.file = path.string(), .field = "session"});
  return session;
}

ModelBuffers::ModelBuffers(device::Device& device, const LoadedModel& model)
    : params_(device, model.params.size()), signals_(device, model.signals.size()), control_(device, 1) {
  upload(device, params_.data(), model.params.data(), model.params.size());
  upload(device, signals_.data(), model.signals.data(), model.signals.size());
  LearnerOptions options;
  options.config = model.learner;
  kernels::Control host{};
  host.settings = settings_from(options);
  for (std::size_t d = 0; d < kernels::kTrainingBranches; ++d) {
    host.settings.v_min[d] = model.v_min[d];
    host.settings.v_max[d] = model.v_max[d];
    host.settings.gamma[d] = model.gamma[d];
  }
  upload(device, control_.data(), &host, 1);
}

CheckpointEvaluation evaluate_checkpoint(const std::filesystem::path& path, const Config& given,
                                         const market::Progress& progress) {
  Config config = given;
  const LoadedModel m = load_model(path);
  const market::MarketTable table = market::load_market(config.data, progress);
  const auto folds = market::make_folds(table, config.folds, config.environment.n_step);
  if (m.fold < 0 || m.fold >= static_cast<int>(folds.size()))
    throw usage_error(
        fmt::format("the checkpoint belongs to fold {}; the configuration has folds 0 to {}", m.fold, folds.size() - 1),
        {.file = path.string(), .field = "fold"});
  const auto device = open_configured_device(config);
  resolve_defaults(config, *device);
  const TensorTable tensors(m.learner);
  const auto stream = device->create_stream();
  DeviceMarket market(*device, *stream, table);
  market.load_fold(*stream, m.model);
  const ModelBuffers buffers(*device, m);
  const market::Range window = folds[m.fold].validation;
  Policy policy(*device, m.learner, tensors, evaluation_windows(config, window), "evaluate",
                configured_precision(config, *device));
  const EvaluatorOptions options = evaluator_options(config, window);
  Evaluator evaluator(*device, greedy_actor(policy), market, options);
  evaluator.start(
      {.params = buffers.params(), .control = buffers.control(), .signals = buffers.signals(), .window = window});
  wait_for(evaluator, progress);
  return {.result = evaluator.result(),
          .fold = m.fold,
          .epoch = m.epoch,
          .step = m.step,
          .lot = options.contract.lot,
          .window = window,
          .bars = market::window_bars(table, window)};
}

}  // namespace foxhunt
