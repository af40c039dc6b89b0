// An instantiated graph: levels of independent work in execution order, laid out once so that a launch allocates
// nothing.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/device/host/event.h"
#include "engine/device/host/graph.h"
#include "engine/device/host/work.h"

namespace foxhunt::device::host {

struct Sequence;

struct Conditional {
  NodeKind kind = NodeKind::if_once;
  std::shared_ptr<ConditionWord> condition;
  std::unique_ptr<Sequence> body;
};

// Nodes whose dependencies all lie in earlier levels. Their items run as one parallel loop, so independent nodes run
// side by side and small ones share one hand-over.
struct Level {
  std::vector<int> events;                // recorded first; indices into Plan::events
  std::size_t first_item = 0, items = 0;  // then these
  std::vector<Conditional> conditionals;  // then these, one after the other
  // Recent times of both ways to run the items, by which the faster is chosen; what is computed is the same.
  double serial_ns = 0, shared_ns = 0;  // 0: not known yet
  std::uint32_t runs = 0;
};

struct Sequence {
  std::vector<WorkItem> items;
  std::vector<Level> levels;
};

struct Plan {
  Sequence root;
  std::vector<std::shared_ptr<const Work>> works;  // kept alive for the items
  std::vector<std::shared_ptr<EventState>> events;
  std::vector<std::shared_ptr<ConditionWord>> conditions;
};

// Errors: Error naming two products of one lane that no edge orders.
std::shared_ptr<Plan> make_plan(const HostGraph& graph, int threads);

// events: one completion for each of Plan::events. At most one thread runs a plan at a time.
void run_plan(Plan& plan, std::span<const std::shared_ptr<Completion>> events, ThreadPool& pool, std::byte* scratch);

}  // namespace foxhunt::device::host
