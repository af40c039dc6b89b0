// A graph under construction on the host: nodes and the edges they depend on, as CUDA would keep them.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/device/device.h"
#include "engine/device/host/event.h"
#include "engine/device/host/work.h"

namespace foxhunt::device::host {

class HostGraph;

// The word of a condition; set to `initial` at every launch.
struct ConditionWord {
  std::uint32_t value = 0;  // read and written atomically (kernels::set_condition)
  std::uint32_t initial = 0;
};

enum class NodeKind { work, child, event_record, while_loop, if_once };

struct GraphNode {
  NodeKind kind = NodeKind::work;
  std::string name;
  std::vector<NodeId> after;
  std::shared_ptr<const Work> work;          // work
  std::shared_ptr<HostGraph> graph;          // child: a copy; while and if: the body
  std::shared_ptr<EventState> event;         // event_record
  std::shared_ptr<ConditionWord> condition;  // while_loop, if_once
};

class HostGraph : public Graph {
 public:
  explicit HostGraph(const void* device) : device_(device) {}
  int nodes() const override;
  int critical_nodes() const override;

  const void* device() const { return device_; }
  const std::vector<GraphNode>& list() const { return list_; }
  bool has_conditions() const;
  bool has_events() const;
  bool is_body() const { return root_ != nullptr; }
  void freeze() const;  // after it no node may be added

  // Errors of all: Error naming the call when the graph is frozen or `node.after` names no node of it.
  NodeId add(const char* call, GraphNode node);
  // A child is copied, as CUDA clones it. Errors also: a child that holds conditional nodes; events inside a body.
  NodeId add_child(const std::string& name, const HostGraph& child, std::span<const NodeId> after);
  NodeId add_event_record(std::shared_ptr<EventState> event, std::span<const NodeId> after);
  Condition create_condition(std::uint32_t initial);
  NodeId add_conditional(const char* call, NodeKind kind, const Condition& condition, std::span<const NodeId> after,
                         HostGraph** body);

 private:
  HostGraph& root() { return root_ ? *root_ : *this; }

  const void* device_;
  HostGraph* root_ = nullptr;  // of a body: the graph that owns the conditions
  std::vector<GraphNode> list_;
  std::vector<std::shared_ptr<ConditionWord>> conditions_;
  mutable bool frozen_ = false;
};

}  // namespace foxhunt::device::host
