// The fixture's inputs go through the injection buffers of the trainer's own graph; nothing else differs from training.
#include "engine/learner/verify_step.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/base/error.h"
#include "engine/base/json_number.h"
#include "engine/checkpoint/safetensors.h"
#include "engine/config/load_config.h"
#include "engine/learner/launches.h"
#include "engine/learner/learner.h"
#include "engine/learner/network_layout.h"
#include "engine/learner/policy.h"
#include "engine/learner/step_context.h"
#include "engine/learner/tolerances.h"
#include "engine/learner/transfer.h"
#include "kernels/distribution.h"

namespace foxhunt {
namespace {

using Shape = std::vector<std::uint64_t>;

std::uint64_t u(int x) {
  return static_cast<std::uint64_t>(x);
}

class Verifier {
 public:
  Verifier(device::Device& device, const std::filesystem::path& path, device::Precision precision)
      : device_(device), file_(SafetensorsFile::open(path)), precision_(precision) {
    if (precision == device::Precision::bf16)
      throw usage_error("no tolerances are defined for bf16", {.field = "precision", .hint = "use fp32 or tf32"});
    config_ = parse_learner_config(metadata("config"), file_.path());
    steps_ = whole_number(metadata("steps"));
    const TensorInfo& state = file_.at("in.0.batch.state");
    if (state.shape.size() != 2 || state.shape[0] == 0 || state.shape[0] > 65536)
      throw Error(fmt::format("in.0.batch.state has shape {}; [rows, {}] with 1 to 65536 rows is expected",
                              shape_text(state.shape), config_.state()),
                  {.file = file_.path(), .field = "in.0.batch.state"});
    rows_ = static_cast<int>(state.shape[0]);
  }

  VerifyStepResult run() {
    LearnerOptions options;
    options.config = config_;
    options.batch = rows_;
    options.capacity = 1024;
    options.precision = precision_;
    Learner learner(device_, options);
    learner_ = &learner;
    load_state();
    for (int k = 0; k < steps_; ++k) {
      inject(k);
      learner.step();
      learner.drain();
      compare_step(k);
    }
    compare_arena("params", learner.params());
    compare_arena("target", learner.target());
    compare_arena("m", learner.moment1());
    compare_arena("v", learner.moment2());
    compare_whole("parameters", "out.params.", learner.params());
    compare_spectral();
    compare_evaluation();
    compare_projection();
    for (const TensorInfo& t : file_.tensors()) {
      if (t.name.starts_with("out.") && !seen_.contains(t.name))
        throw Error("the fixture holds a result that this program does not compute",
                    {.file = file_.path(), .field = t.name});
    }
    result_.steps = steps_;
    result_.passed = true;
    for (const auto& t : result_.tensors) result_.passed &= t.passed();
    return std::move(result_);
  }

 private:
  std::string metadata(const char* key) const {
    const auto found = file_.metadata().find(key);
    if (found == file_.metadata().end())
      throw Error(fmt::format("the metadata has no \"{}\": this is no step fixture", key),
                  {.file = file_.path(), .field = key});
    return found->second;
  }

  int whole_number(const std::string& text) const {
    try {
      std::size_t used = 0;
      const int value = std::stoi(text, &used);
      if (used == text.size() && value >= 1 && value <= 1000) return value;
    } catch (const std::exception&) {
    }
    throw Error(fmt::format("\"{}\" is not a number of steps from 1 to 1000", text),
                {.file = file_.path(), .field = "steps"});
  }

  std::vector<double> read(const std::string& name, const Shape& shape) const {
    const TensorInfo& t = file_.at(name);
    if (t.shape != shape)
      throw Error(fmt::format("{} has shape {}; {} is expected", name, shape_text(t.shape), shape_text(shape)),
                  {.file = file_.path(), .field = name});
    return file_.as_doubles(name);
  }

  template <class T>
  void fill(T* to, const std::string& name, const Shape& shape) const {
    const auto values = read(name, shape);
    for (std::size_t i = 0; i < values.size(); ++i) to[i] = static_cast<T>(values[i]);
  }

  void load_state() {
    const TensorTable& table = learner_->table();
    std::vector<float> params(static_cast<std::size_t>(table.arena_size())), target(params.size());
    for (const TensorSpec& t : table.tensors()) {
      const Shape shape(t.shape.begin(), t.shape.end());
      fill(params.data() + t.offset, "in.params." + t.name, shape);
      fill(target.data() + t.offset, "in.target." + t.name, shape);
    }
    std::vector<float> vectors(static_cast<std::size_t>(learner_->spectral_floats()));
    std::size_t place = 0;
    for (const int i : table.spectral()) {
      const TensorSpec& t = table.tensors()[i];
      fill(vectors.data() + place, "in.u." + t.name.substr(0, t.name.size() - 7), {u(t.shape[0])});
      place += static_cast<std::size_t>(t.shape[0]);
    }
    upload(device_, learner_->params(), params.data(), params.size());
    upload(device_, learner_->target(), target.data(), target.size());
    upload(device_, learner_->spectral_vectors(), vectors.data(), vectors.size());
    learner_->edit_settings([](kernels::Settings& s) { s.injected = 1; });
  }

  void inject(int k) {
    const NetworkLayout n(config_, learner_->table());
    Injection& in = learner_->injection();
    const std::string batch = fmt::format("in.{}.batch.", k), step = fmt::format("in.{}.", k);
    const std::uint64_t rows = u(rows_), d = u(n.branches);
    fill(in.state.host(), batch + "state", {rows, u(n.state)});
    fill(in.next_state.host(), batch + "next_state", {rows, u(n.state)});
    fill(in.action.host(), batch + "action", {rows, d});
    fill(in.reward.host(), batch + "reward", {rows, d});
    fill(in.discount.host(), batch + "discount", {rows, d});
    fill(in.weight.host(), batch + "weight", {rows});
    fill(in.regime.host(), batch + "regime", {rows});
    const auto aux_return = read(batch + "aux_return", {rows}), aux_direction = read(batch + "aux_direction", {rows}),
               aux_volatility = read(batch + "aux_volatility", {rows});
    for (int b = 0; b < rows_; ++b) {
      float* label = in.aux.host() + 4 * b;
      label[0] = static_cast<float>(aux_return[b]);
      label[1] = static_cast<float>(aux_direction[b]);
      label[2] = static_cast<float>(aux_volatility[b]);
      check_index(batch + "aux_direction", aux_direction[b], 3);
      for (int i = 0; i < n.branches; ++i)
        check_index(batch + "action", in.action.host()[b * n.branches + i], n.sizes.count[i]);
    }
    inject_noise(n, step + "noise_online.", in.noise.host());
    inject_noise(n, step + "noise_target.", in.noise.host() + n.noise_floats());
    kernels::InjectedScalars& scalars = *in.scalars.host();
    fill(scalars.depth_scale, step + "depth_scales", {3});
    fill(&scalars.c51_alpha, step + "c51_alpha", {});
    fill(&scalars.iqn_readiness, step + "iqn_readiness", {});
    fill(&scalars.moe_lambda, step + "moe_lambda", {});
    std::vector<float> taus(static_cast<std::size_t>(n.taus));
    fill(taus.data(), step + "taus", {u(n.taus)});
    upload(device_, learner_->taus(), taus.data(), taus.size());
  }

  void check_index(const std::string& name, double value, int count) const {
    if (!(value >= 0 && value < count))
      throw Error(fmt::format("{} holds {}; 0 to {} are allowed", name, value, count - 1),
                  {.file = file_.path(), .field = name});
  }

  void inject_noise(const NetworkLayout& n, const std::string& prefix, float* to) const {
    std::fill(to, to + n.noise_floats(), 0.0f);
    bool any = false;
    for (const TensorInfo& t : file_.tensors()) any |= t.name.starts_with(prefix);
    if (!any) return;  // no noise is zeros
    for (int l = 0; l < n.heads; ++l) {
      const std::string layer = prefix + (l == 0 ? std::string("value") : config_.branches[l - 1].first);
      fill(to + l * n.head_hidden, layer + ".in", {u(n.head_hidden)});
      fill(to + n.heads * n.head_hidden + l * n.wide, layer + ".out", {u(n.noisy.outputs[l])});
    }
  }

  // Error of one result; its kind gives the tolerance.
  void compare(const std::string& name, Tolerance kind, const Shape& shape, const std::vector<double>& got) {
    seen_.insert(name);
    if (!file_.find(name)) return;
    const auto want = read(name, shape);
    add(name, kind, got, want);
  }

  void add(const std::string& name, Tolerance kind, const std::vector<double>& got, const std::vector<double>& want) {
    VerifiedTensor t{.name = name, .error = 0, .tolerance = tolerance(kind, precision_)};
    double difference = 0, reference = 0, size = 0;
    for (std::size_t i = 0; i < want.size(); ++i) {
      if (kind == Tolerance::exact) t.error += got[i] == want[i] ? 0 : 1;
      difference += (got[i] - want[i]) * (got[i] - want[i]);
      reference += want[i] * want[i];
      size += got[i] * got[i];
    }
    if (kind != Tolerance::exact) t.error = reference > 0 ? std::sqrt(difference / reference) : std::sqrt(size);
    if (kind != Tolerance::exact && reference == 0) t.tolerance = 0;  // all zero must be all zero
    result_.tensors.push_back(t);
  }

  template <class T>
  std::vector<double> get(const T* from, std::size_t count) {
    const auto values = download(device_, learner_->stream(), from, count);
    return {values.begin(), values.end()};
  }

  void compare_step(int k) {
    const NetworkLayout n(config_, learner_->table());
    const kernels::StepResults& r = learner_->results();
    const std::string out = fmt::format("out.{}.", k);
    const std::uint64_t rows = u(rows_);
    const auto count = static_cast<std::size_t>(rows_);
    const auto losses = get(r.losses, kernels::kLossTerms);
    const char* terms[] = {"total",      "c51", "mse",        "iqn",           "iql_high",
                           "iql_low",    "cql", "aux_return", "aux_direction", "aux_volatility",
                           "moe_balance"};
    for (int i = 0; i < kernels::kLossTerms; ++i) compare(out + terms[i], Tolerance::loss, {}, {losses[i]});
    const auto control = download(device_, learner_->stream(), r.control, 1)[0];
    compare(out + "grad_norm", Tolerance::loss, {}, {get(r.gradient_norm, 1)[0]});
    compare(out + "tau", Tolerance::other, {}, {control.tau});
    compare(out + "td", Tolerance::loss, {rows}, get(r.td, count));
    compare(out + "priority", Tolerance::loss, {rows}, get(r.priority, count));
    compare(out + "greedy", Tolerance::exact, {rows, u(n.branches)}, get(r.greedy_next, count * n.branches));
    compare(out + "vsn", Tolerance::other, {rows, u(n.groups)}, get(r.vsn_weights, count * n.groups));
    const auto gates = get(r.gates, count * n.experts);
    std::vector<double> utilisation(static_cast<std::size_t>(n.experts));
    double entropy = 0;
    for (std::size_t i = 0; i < gates.size(); ++i) {
      utilisation[i % n.experts] += gates[i] / rows_;
      entropy -= gates[i] * std::log(std::max(gates[i], 1e-12)) / rows_;
    }
    compare(out + "gate_entropy", Tolerance::other, {}, {entropy});
    compare(out + "expert_utilisation", Tolerance::other, {u(n.experts)}, utilisation);
    compare_q(out + "q.", get(r.q, count * n.actions), n);
    const auto sigma = get(r.sigma, static_cast<std::size_t>(r.spectral));
    for (int i = 0; i < r.spectral; ++i) {
      const std::string& name = learner_->table().tensors()[learner_->table().spectral()[i]].name;
      compare(out + "sigma." + name.substr(0, name.size() - 7), Tolerance::sigma, {}, {sigma[i]});
    }
    if (k > 0) return;
    compare_tensors("out.0.grad.", Tolerance::gradient, learner_->gradients());
    compare_whole("gradients", "out.0.grad.", learner_->gradients());
  }

  void compare_q(const std::string& prefix, const std::vector<double>& q, const NetworkLayout& n) {
    for (int d = 0; d < n.branches; ++d) {
      std::vector<double> part;
      for (int b = 0; b < rows_; ++b)
        for (int a = 0; a < n.sizes.count[d]; ++a)
          part.push_back(q[static_cast<std::size_t>(b) * n.actions + n.sizes.first[d] + a]);
      compare(prefix + config_.branches[d].first, Tolerance::q, {u(rows_), u(n.sizes.count[d])}, part);
    }
  }

  void compare_tensors(const std::string& prefix, Tolerance kind, const float* arena) {
    const auto values = get(arena, static_cast<std::size_t>(learner_->table().arena_size()));
    for (const TensorSpec& t : learner_->table().tensors()) {
      const auto first = values.begin() + t.offset;
      compare(prefix + t.name, kind, Shape(t.shape.begin(), t.shape.end()), {first, first + t.size});
    }
  }

  void compare_arena(const std::string& what, const float* arena) {
    const Tolerance kind = what == "params"   ? Tolerance::parameter
                           : what == "target" ? Tolerance::target
                           : what == "m"      ? Tolerance::moment1
                                              : Tolerance::moment2;
    compare_tensors("out." + what + ".", kind, arena);
  }

  // All tensors under a prefix as one vector.
  void compare_whole(const std::string& name, const std::string& prefix, const float* arena) {
    const auto values = get(arena, static_cast<std::size_t>(learner_->table().arena_size()));
    std::vector<double> got, want;
    for (const TensorSpec& t : learner_->table().tensors()) {
      if (!file_.find(prefix + t.name)) return;
      const auto reference = file_.as_doubles(prefix + t.name);
      want.insert(want.end(), reference.begin(), reference.end());
      got.insert(got.end(), values.begin() + t.offset, values.begin() + t.offset + t.size);
    }
    add(name, name == "gradients" ? Tolerance::all_gradients : Tolerance::all_parameters, got, want);
  }

  void compare_spectral() {
    const auto vectors = get(learner_->spectral_vectors(), static_cast<std::size_t>(learner_->spectral_floats()));
    std::size_t place = 0;
    for (const int i : learner_->table().spectral()) {
      const TensorSpec& t = learner_->table().tensors()[i];
      const auto first = vectors.begin() + static_cast<std::ptrdiff_t>(place);
      compare("out.u." + t.name.substr(0, t.name.size() - 7), Tolerance::spectral_vector, {u(t.shape[0])},
              {first, first + t.shape[0]});
      place += static_cast<std::size_t>(t.shape[0]);
    }
  }

  void compare_evaluation() {
    if (!file_.find("in.eval.state")) return;
    const NetworkLayout n(config_, learner_->table());
    Policy policy(device_, config_, learner_->table(), rows_, "verify", precision_);
    std::vector<float> tight(static_cast<std::size_t>(rows_) * n.state),
        states(static_cast<std::size_t>(rows_) * policy.state_stride());
    fill(tight.data(), "in.eval.state", {u(rows_), u(n.state)});
    for (int b = 0; b < rows_; ++b)
      for (int i = 0; i < n.state; ++i)
        states[static_cast<std::size_t>(b) * policy.state_stride() + i] =
            tight[static_cast<std::size_t>(b) * n.state + i];
    upload(device_, policy.states(), states.data(), states.size());
    device::Recorder recorder(device_, learner_->stream(), device::ModuleSet::evaluation);
    policy.record(recorder, learner_->params(), learner_->control(), false);
    compare_q("out.eval.q.", get(policy.q(), static_cast<std::size_t>(rows_) * n.actions), n);
  }

  void compare_projection() {
    if (!file_.find("in.project.probs")) return;
    const auto rows = file_.at("in.project.probs").shape.at(0);
    const auto atoms = u(config_.atoms);
    device::Buffer<float> p(device_, rows * atoms), reward(device_, rows), discount(device_, rows),
        target(device_, rows * atoms);
    const auto put = [&](const device::Buffer<float>& to, const char* name, const Shape& shape) {
      std::vector<float> values(to.size());
      fill(values.data(), name, shape);
      upload(device_, to.data(), values.data(), values.size());
    };
    put(p, "in.project.probs", {rows, atoms});
    put(reward, "in.project.reward", {rows});
    put(discount, "in.project.discount", {rows});
    device::Recorder recorder(device_, learner_->stream(), device::ModuleSet::eager);
    recorder.launch(row_launch(static_cast<std::int64_t>(rows), 3 * static_cast<std::uint32_t>(atoms) * 4),
                    kernels::ProjectRowsArgs{.probabilities = p.data(),
                                             .reward = reward.data(),
                                             .discount = discount.data(),
                                             .control = learner_->control(),
                                             .target = target.data(),
                                             .rows = static_cast<int>(rows),
                                             .atoms = config_.atoms,
                                             .branch = 0});
    compare("out.project.target", Tolerance::other, {rows, atoms}, get(target.data(), target.size()));
  }

  device::Device& device_;
  SafetensorsFile file_;
  device::Precision precision_;
  LearnerConfig config_;
  int steps_ = 0, rows_ = 0;
  Learner* learner_ = nullptr;
  std::set<std::string> seen_;
  VerifyStepResult result_;
};

}  // namespace

VerifyStepResult verify_step(device::Device& device, const std::filesystem::path& fixture,
                             device::Precision precision) {
  return Verifier(device, fixture, precision).run();
}

nlohmann::ordered_json to_json(const VerifyStepResult& result) {
  nlohmann::ordered_json out{
      {"passed", result.passed}, {"steps", result.steps}, {"tensors", nlohmann::ordered_json::array()}};
  for (const auto& t : result.tensors)
    out["tensors"].push_back({{"name", t.name},
                              {"error", json_number(t.error)},
                              {"tolerance", t.tolerance},
                              {"share", json_number(t.share())},
                              {"passed", t.passed()}});
  return out;
}

}  // namespace foxhunt
