// Derives the layout and refuses sizes that kernels keep fixed arrays for.
#include "engine/learner/network_layout.h"

#include <algorithm>

#include "engine/base/error.h"
#include "kernels/network.h"

namespace foxhunt {
namespace {

void limit(const char* field, std::size_t value, std::size_t most) {
  if (value == 0 || value > most)
    throw usage_error(fmt::format("{} entries", value),
                      {.field = field, .hint = fmt::format("1 to {} are allowed", most)});
}

}  // namespace

NetworkLayout::NetworkLayout(const LearnerConfig& c, const TensorTable& table) {
  limit("learner.branches", c.branches.size(), kernels::kMaxBranches);
  limit("learner.groups", c.groups.size(), kernels::kMaxGroups);
  limit("learner.experts", static_cast<std::size_t>(c.experts), kernels::kMaxExperts);
  state = c.state();
  stride = (state + 3) / 4 * 4;
  hidden = c.hidden;
  groups = static_cast<int>(c.groups.size());
  selection_hidden = c.vsn_hidden;
  experts = c.experts;
  expert_hidden = c.expert_hidden;
  head_hidden = c.head_hidden;
  heads = static_cast<int>(c.branches.size()) + 1;
  atoms = c.atoms;
  actions = c.actions();
  branches = static_cast<int>(c.branches.size());
  taus = c.iqn_taus;
  cosines = c.iqn_cosines;
  iql_hidden = c.iql_hidden;

  sizes.branches = branches;
  sizes.atoms = atoms;
  sizes.actions = actions;
  noisy.count = heads;
  noisy.hidden = head_hidden;
  noisy.wide = atoms;
  int first = 0;
  for (int l = 0; l < heads; ++l) {
    const std::string name = l == 0 ? "value" : c.branches[l - 1].first;
    const int outputs = l == 0 ? atoms : c.branches[l - 1].second * atoms;
    if (l > 0) {
      limit("learner.branches", static_cast<std::size_t>(c.branches[l - 1].second), kernels::kMaxBranchActions);
      sizes.count[l - 1] = c.branches[l - 1].second;
      sizes.first[l - 1] = first;
      first += c.branches[l - 1].second;
      largest_branch = std::max(largest_branch, c.branches[l - 1].second);
    }
    noisy.outputs[l] = outputs;
    noisy.weight[l] = table.offset(name + ".out.weight");
    noisy.bias[l] = table.offset(name + ".out.bias");
    noisy.weight_sigma[l] = table.offset(name + ".out.weight_sigma");
    noisy.bias_sigma[l] = table.offset(name + ".out.bias_sigma");
    noisy.wide = std::max(noisy.wide, outputs);
  }
  noisy.wide = (noisy.wide + 3) / 4 * 4;
  wide = noisy.wide;

  selection.groups = groups;
  selection.hidden = selection_hidden;
  selection.state = state;
  int column = 0;
  for (int g = 0; g < groups; ++g) {
    selection.first[g] = column;
    selection.width[g] = c.groups[g].second;
    selection.weight[g] = table.offset("vsn." + c.groups[g].first + ".1.weight");
    column += c.groups[g].second;
  }
}

}  // namespace foxhunt
