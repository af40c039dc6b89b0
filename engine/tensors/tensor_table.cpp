// Builds the table: checkpoint order first, then the arena's order by fused groups.
#include "engine/tensors/tensor_table.h"

#include <algorithm>
#include <array>

#include "engine/base/error.h"

namespace foxhunt {
namespace {

constexpr std::int64_t kAlignment = 64;  // floats: 256 bytes, so that every product's operands are aligned

std::uint64_t hash(std::uint64_t h, std::string_view text) {  // FNV-1a
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return h;
}

class Builder {
 public:
  explicit Builder(std::vector<TensorSpec>& out) : out_(out) {}

  void tensor(const std::string& name, std::vector<int> shape, Initialiser init, const std::string& group,
              int fan_in = 0) {
    TensorSpec t;
    t.name = name;
    t.size = 1;
    for (const int n : shape) t.size *= n;
    t.decays = shape.size() == 2;
    t.shape = std::move(shape);
    t.initialiser = init;
    t.fan_in = fan_in;
    t.group = group;
    out_.push_back(std::move(t));
  }
  void linear(const std::string& name, int out, int in, const std::string& group, bool bias = true) {
    tensor(name + ".weight", {out, in}, Initialiser::xavier_uniform, group);
    if (bias) tensor(name + ".bias", {out}, Initialiser::zeros, group);
  }
  void norm(const std::string& name, int width, const std::string& group) {
    tensor(name + ".weight", {width}, Initialiser::ones, group);
    tensor(name + ".bias", {width}, Initialiser::zeros, group);
  }
  void noisy(const std::string& name, int out, int in, const std::string& group) {
    linear(name, out, in, group);
    tensor(name + ".weight_sigma", {out, in}, Initialiser::noisy_sigma, group, in);
    tensor(name + ".bias_sigma", {out}, Initialiser::noisy_sigma, group, in);
  }

 private:
  std::vector<TensorSpec>& out_;
};

void checkpoint_order(const LearnerConfig& c, std::vector<TensorSpec>& tensors) {
  Builder b(tensors);
  for (const auto& [g, n] : c.groups) {
    b.linear("vsn." + g + ".1", c.vsn_hidden, n, "vsn");
    b.linear("vsn." + g + ".2", 1, c.vsn_hidden, "vsn");
  }
  for (const auto& [name, in] : {std::pair<std::string, int>{"grn1", c.state()}, {"grn2", c.hidden}}) {
    b.linear(name + ".a", c.hidden, in, name);
    b.linear(name + ".b", 2 * c.hidden, c.hidden, name);
    b.linear(name + ".residual", c.hidden, in, name, false);
    b.norm(name + ".norm", c.hidden, name);
  }
  b.linear("moe.gate", c.experts, c.hidden, "moe");
  b.linear("moe.in", c.experts * c.expert_hidden, c.hidden, "moe");
  b.linear("moe.out", c.hidden, c.experts * c.expert_hidden, "moe", false);
  b.norm("moe.norm", c.hidden, "moe");
  b.linear("value.hidden", c.head_hidden, c.hidden, "value");
  b.noisy("value.out", c.atoms, c.head_hidden, "value");
  for (const auto& [name, n] : c.branches) {
    b.linear(name + ".hidden", c.head_hidden, c.hidden, name);
    b.noisy(name + ".out", n * c.atoms, c.head_hidden, name);
  }
  b.linear("iqn.embed", c.hidden, c.iqn_cosines, "iqn");
  b.linear("iqn.hidden", c.head_hidden, c.hidden, "iqn");
  b.linear("iqn.out", c.actions(), c.head_hidden, "iqn");
  for (const std::string v : {"iql_high", "iql_low"}) {
    b.linear(v + ".hidden", c.iql_hidden, c.state(), "iql");
    b.linear(v + ".out", 1, c.iql_hidden, "iql");
  }
  b.linear("aux.return", 1, c.hidden, "iql");
  b.linear("aux.direction", 3, c.hidden, "iql");
  b.linear("aux.volatility", 1, c.hidden, "iql");
}

// Groups of tensors whose rows must follow each other without padding: one product each.
std::vector<std::vector<std::string>> fused_groups(const LearnerConfig& c) {
  std::vector<std::string> selection1, selection1_bias, selection2, selection2_bias;
  for (const auto& [g, n] : c.groups) {
    selection1.push_back("vsn." + g + ".1.weight");
    selection1_bias.push_back("vsn." + g + ".1.bias");
    selection2.push_back("vsn." + g + ".2.weight");
    selection2_bias.push_back("vsn." + g + ".2.bias");
  }
  std::vector<std::string> heads{"value.hidden.weight"}, heads_bias{"value.hidden.bias"};
  for (const auto& [name, n] : c.branches) {
    heads.push_back(name + ".hidden.weight");
    heads_bias.push_back(name + ".hidden.bias");
  }
  for (const std::string part : {"return", "direction", "volatility"}) {
    heads.push_back("aux." + part + ".weight");
    heads_bias.push_back("aux." + part + ".bias");
  }
  return {selection1,
          selection1_bias,
          selection2,
          selection2_bias,
          {"grn1.a.weight", "grn1.residual.weight"},
          {"grn2.a.weight", "grn2.residual.weight"},
          {"moe.gate.weight", "moe.in.weight"},
          {"moe.gate.bias", "moe.in.bias"},
          heads,
          heads_bias,
          {"iql_high.hidden.weight", "iql_low.hidden.weight"},
          {"iql_high.hidden.bias", "iql_low.hidden.bias"},
          {"iql_high.out.weight", "iql_low.out.weight"},
          {"iql_high.out.bias", "iql_low.out.bias"}};
}

}  // namespace

TensorTable::TensorTable(const LearnerConfig& config) {
  checkpoint_order(config, tensors_);
  for (auto& t : tensors_) t.offset = -1;
  for (const auto& group : fused_groups(config)) place(group);
  for (const auto& t : tensors_)
    if (t.offset < 0) place({t.name});

  std::vector<std::string> listed = {"grn1.a", "grn1.b", "grn2.a", "grn2.b", "moe.in", "moe.out", "value.hidden"};
  for (const auto& [name, n] : config.branches) listed.push_back(name + ".hidden");
  listed.push_back("iqn.embed");
  listed.push_back("iqn.hidden");
  for (const auto& name : listed) {
    const auto i = static_cast<int>(&at(name + ".weight") - tensors_.data());
    tensors_[i].spectral = static_cast<int>(spectral_.size());
    spectral_.push_back(i);
  }
  fingerprint_ = 0xcbf29ce484222325ull;
  for (const auto& t : tensors_) {
    fingerprint_ = hash(fingerprint_, t.name);
    for (const int n : t.shape) fingerprint_ = hash(fingerprint_, "," + std::to_string(n));
    if (std::find(groups_.begin(), groups_.end(), t.group) == groups_.end()) groups_.push_back(t.group);
  }
}

void TensorTable::place(const std::vector<std::string>& fused) {
  for (const auto& name : fused) {
    auto& t = tensors_[&at(name) - tensors_.data()];
    FH_CHECK(t.offset < 0, "tensor {} is placed twice", name);
    t.offset = arena_size_;
    arena_size_ += t.size;
  }
  arena_size_ = (arena_size_ + kAlignment - 1) / kAlignment * kAlignment;
}

const TensorSpec& TensorTable::at(std::string_view name) const {
  const auto found =
      std::find_if(tensors_.begin(), tensors_.end(), [&](const TensorSpec& t) { return t.name == name; });
  if (found == tensors_.end()) throw Error(fmt::format("the network has no tensor named {}", name));
  return *found;
}

}  // namespace foxhunt
