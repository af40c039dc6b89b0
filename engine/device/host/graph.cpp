// Construction rules and counts of host graphs.
#include "engine/device/host/graph.h"

#include <algorithm>

#include "engine/base/error.h"

namespace foxhunt::device::host {

int HostGraph::nodes() const {
  int count = 0;
  for (const GraphNode& node : list_) {
    if (node.kind == NodeKind::work) ++count;
    if (node.graph) count += node.graph->nodes();
  }
  return count;
}

int HostGraph::critical_nodes() const {
  std::vector<int> finish(list_.size());
  int longest = 0;
  for (std::size_t i = 0; i < list_.size(); ++i) {
    const GraphNode& node = list_[i];
    int start = 0;
    for (const NodeId before : node.after) start = std::max(start, finish[static_cast<std::size_t>(before)]);
    finish[i] = start + (node.kind == NodeKind::work ? 1 : 0) + (node.graph ? node.graph->critical_nodes() : 0);
    longest = std::max(longest, finish[i]);
  }
  return longest;
}

bool HostGraph::has_conditions() const {
  return std::any_of(list_.begin(), list_.end(), [](const GraphNode& node) { return node.condition != nullptr; });
}

bool HostGraph::has_events() const {
  return std::any_of(list_.begin(), list_.end(), [](const GraphNode& node) {
    return node.event != nullptr || (node.graph && node.graph->has_events());
  });
}

void HostGraph::freeze() const {
  frozen_ = true;
  for (const GraphNode& node : list_)
    if (node.graph) node.graph->freeze();
}

NodeId HostGraph::add(const char* call, GraphNode node) {
  if (frozen_) throw Error(fmt::format("{}: the graph was instantiated and can no longer change", call));
  for (const NodeId before : node.after)
    if (before < 0 || before >= static_cast<NodeId>(list_.size()))
      throw Error(
          fmt::format("{}: node {} of `after` does not exist; the graph has {} nodes", call, before, list_.size()));
  list_.push_back(std::move(node));
  return static_cast<NodeId>(list_.size()) - 1;
}

NodeId HostGraph::add_child(const std::string& name, const HostGraph& child, std::span<const NodeId> after) {
  if (&child == this) throw Error(fmt::format("add_child {}: a graph cannot be its own child", name));
  if (child.has_conditions())
    throw Error(fmt::format("add_child {}: the child holds conditional nodes; they may stand in a parent only", name));
  if (is_body() && child.has_events())
    throw Error(fmt::format("add_child {}: the body of a conditional node takes no event nodes", name));
  auto copy = std::make_shared<HostGraph>(device_);
  copy->list_ = child.list_;  // nodes are immutable and their own children are copies already
  return add("add_child",
             {NodeKind::child, name, {after.begin(), after.end()}, nullptr, std::move(copy), nullptr, nullptr});
}

NodeId HostGraph::add_event_record(std::shared_ptr<EventState> event, std::span<const NodeId> after) {
  if (is_body()) throw Error("add_event_record: the body of a conditional node takes no event nodes");
  return add(
      "add_event_record",
      {NodeKind::event_record, "event", {after.begin(), after.end()}, nullptr, nullptr, std::move(event), nullptr});
}

Condition HostGraph::create_condition(std::uint32_t initial) {
  if (frozen_) throw Error("create_condition: the graph was instantiated and can no longer change");
  auto& word = root().conditions_.emplace_back(std::make_shared<ConditionWord>());
  word->initial = word->value = initial;
  return {reinterpret_cast<std::uint64_t>(&word->value)};
}

NodeId HostGraph::add_conditional(const char* call, NodeKind kind, const Condition& condition,
                                  std::span<const NodeId> after, HostGraph** body) {
  const auto& words = root().conditions_;
  const auto at = std::find_if(words.begin(), words.end(), [&](const std::shared_ptr<ConditionWord>& word) {
    return reinterpret_cast<std::uint64_t>(&word->value) == condition.word;
  });
  if (at == words.end()) throw Error(fmt::format("{}: the condition was not created for this graph", call));
  auto inner = std::make_shared<HostGraph>(device_);
  inner->root_ = &root();
  *body = inner.get();
  const char* name = kind == NodeKind::while_loop ? "while" : "if";
  return add(call, {kind, name, {after.begin(), after.end()}, nullptr, std::move(inner), nullptr, *at});
}

}  // namespace foxhunt::device::host
