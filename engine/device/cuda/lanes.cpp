// Search for products of one lane that no edge orders.
#include "engine/device/cuda/lanes.h"

#include <fmt/format.h>

#include <set>

namespace foxhunt::device::cuda {

void LaneReport::conflict_between(const std::string& lane, const std::string& one, const std::string& other) {
  if (conflict.empty()) {
    conflict = fmt::format("products {} and {} both use lane '{}', and no edge orders them", one, other, lane);
  }
}

LaneReport lanes_of_steps(const std::vector<LaneStep>& steps) {
  LaneReport all;
  std::vector<std::vector<bool>> before(steps.size());  // before[i][j]: step j is done when step i starts
  for (std::size_t i = 0; i < steps.size(); ++i) {
    before[i].resize(i);
    for (const int after : steps[i].after) {
      const auto earlier = static_cast<std::size_t>(after);
      before[i][earlier] = true;
      for (std::size_t j = 0; j < earlier; ++j) before[i][j] = before[i][j] || before[earlier][j];
    }
    if (all.conflict.empty()) all.conflict = steps[i].report.conflict;
    for (const auto& [lane, product] : steps[i].report.uses) {
      for (std::size_t j = 0; j < i; ++j) {
        const auto other = steps[j].report.uses.find(lane);
        if (!before[i][j] && other != steps[j].report.uses.end()) all.conflict_between(lane, other->second, product);
      }
      all.uses.emplace(lane, product);
    }
  }
  return all;
}

LaneReport lanes_of_capture(const std::vector<CapturedProduct>& products, const std::vector<CUgraphNode>& from,
                            const std::vector<CUgraphNode>& to) {
  std::multimap<CUgraphNode, CUgraphNode> next;
  for (std::size_t i = 0; i < from.size(); ++i) next.emplace(from[i], to[i]);
  LaneReport all;
  // Products come in the order of their recording, so only a later one can come after an earlier one.
  for (std::size_t i = 0; i < products.size(); ++i) {
    all.uses.emplace(products[i].lane, products[i].text);
    std::set<CUgraphNode> reached;
    std::vector<CUgraphNode> open = {products[i].node};
    while (!open.empty()) {
      const auto [begin, end] = next.equal_range(open.back());
      open.pop_back();
      for (auto edge = begin; edge != end; ++edge) {
        if (reached.insert(edge->second).second) open.push_back(edge->second);
      }
    }
    for (std::size_t j = i + 1; j < products.size(); ++j) {
      if (products[j].lane == products[i].lane && !reached.count(products[j].node)) {
        all.conflict_between(products[i].lane, products[i].text, products[j].text);
      }
    }
  }
  return all;
}

}  // namespace foxhunt::device::cuda
