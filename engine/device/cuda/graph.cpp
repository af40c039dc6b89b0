// Composing and measuring graphs.
#include "engine/device/cuda/graph.h"

#include <algorithm>

namespace foxhunt::device::cuda {

CudaGraph::~CudaGraph() {
  if (!root_ && context_->enter_quietly()) FH_CU_QUIET(*context_, cuGraphDestroy, handle_);
}

void CudaGraph::check_open(const char* call) const {
  if (root().instantiated_) throw Error(fmt::format("{}: the graph was instantiated and cannot change any more", call));
}

std::vector<CUgraphNode> CudaGraph::resolve(const char* call, std::span<const NodeId> after) const {
  check_open(call);
  std::vector<CUgraphNode> nodes;
  for (NodeId id : after) {
    if (id < 0 || id >= static_cast<NodeId>(ids_.size())) {
      throw Error(fmt::format("{}: there is no node {} in this graph, which has {}", call, id, ids_.size()));
    }
    nodes.push_back(ids_[static_cast<std::size_t>(id)]);
  }
  return nodes;
}

NodeId CudaGraph::keep(CUgraphNode node, std::span<const NodeId> after, LaneReport report) {
  ids_.push_back(node);
  steps_.push_back({{after.begin(), after.end()}, std::move(report)});
  return static_cast<NodeId>(ids_.size()) - 1;
}

NodeId CudaGraph::add_child(const std::string& name, const CudaGraph& child, std::span<const NodeId> after) {
  const auto dependencies = resolve("add_child", after);
  if (child.conditional_) {
    throw Error(fmt::format("add_child: {} holds conditional nodes, which a child may not contain", name),
                {.hint = "conditional nodes stand in the parent"});
  }
  if (&child == this || child.root_) throw Error(fmt::format("add_child: {} is not a graph of its own", name));
  if (root_ && child.events_) {
    throw Error(fmt::format("add_child: {} holds event nodes, which a conditional's body may not contain", name));
  }
  CUgraphNode node = nullptr;
  FH_CU(*context_, cuGraphAddChildGraphNode, &node, handle_, dependencies.data(), dependencies.size(), child.handle_);
  events_ = events_ || child.events_;
  return keep(node, after, child.lanes());
}

NodeId CudaGraph::add_event_record(CUevent event, std::span<const NodeId> after) {
  const auto dependencies = resolve("add_event_record", after);
  if (root_) throw Error("add_event_record: a conditional's body may hold no event nodes");
  CUgraphNode node = nullptr;
  FH_CU(*context_, cuGraphAddEventRecordNode, &node, handle_, dependencies.data(), dependencies.size(), event);
  events_ = true;
  return keep(node, after, {});
}

Condition CudaGraph::create_condition(std::uint32_t initial) {
  check_open("create_condition");
  CUgraphConditionalHandle condition = 0;
  // Of the root also for a nested condition, so that `initial` is assigned once a launch.
  FH_CU(*context_, cuGraphConditionalHandleCreate, &condition, root().handle_, context_->handle, initial,
        CU_GRAPH_COND_ASSIGN_DEFAULT);
  root().conditions_.push_back(condition);
  return {condition};
}

NodeId CudaGraph::add_conditional(const char* call, CUgraphConditionalNodeType type, const Condition& condition,
                                  std::span<const NodeId> after, Graph** body) {
  const auto dependencies = resolve(call, after);
  const auto& known = root().conditions_;
  if (std::find(known.begin(), known.end(), condition.word) == known.end()) {
    throw Error(fmt::format("{}: the condition was not created for this graph", call));
  }
  CUgraphNodeParams parameters{};
  parameters.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  parameters.conditional.handle = condition.word;
  parameters.conditional.type = type;
  parameters.conditional.size = 1;
  parameters.conditional.ctx = context_->handle;
  CUgraphNode node = nullptr;
  FH_CU(*context_, cuGraphAddNode, &node, handle_, dependencies.data(), nullptr, dependencies.size(), &parameters);
  conditional_ = true;
  auto& made = bodies_[node];
  made.reset(new CudaGraph(context_, parameters.conditional.phGraph_out[0], &root()));
  *body = made.get();
  return keep(node, after, {});
}

CUgraphExec CudaGraph::instantiate() const {
  if (root_) throw Error("instantiate: a conditional's body runs with its parent only");
  if (const std::string conflict = lanes().conflict; !conflict.empty()) {
    throw Error("instantiate: " + conflict, {.hint = "give them different lanes or an edge"});
  }
  CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
  // Uploaded now, so that the first launch is like every other; priorities are those of the streams captured from.
  parameters.flags = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD | CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
  parameters.hUploadStream = context_->setup;
  CUgraphExec executable = nullptr;
  FH_CU(*context_, cuGraphInstantiateWithParams, &executable, handle_, &parameters);
  instantiated_ = true;
  FH_CU(*context_, cuStreamSynchronize, context_->setup);
  return executable;
}

void CudaGraph::note_products(const std::vector<CapturedProduct>& products) {
  if (products.empty()) return;
  const Edges edges = edges_of(handle_);
  captured_ = lanes_of_capture(products, edges.from, edges.to);
}

LaneReport CudaGraph::lanes() const {
  if (ids_.empty()) return captured_;
  std::vector<LaneStep> steps = steps_;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (const auto body = bodies_.find(ids_[i]); body != bodies_.end()) steps[i].report = body->second->lanes();
  }
  return lanes_of_steps(steps);
}

CudaGraph::Edges CudaGraph::edges_of(CUgraph graph) const {
  std::size_t count = 0;
  FH_CU(*context_, cuGraphGetEdges, graph, nullptr, nullptr, nullptr, &count);
  Edges edges;
  edges.from.resize(count);
  edges.to.resize(count);
  std::vector<CUgraphEdgeData> data(count);
  if (count) FH_CU(*context_, cuGraphGetEdges, graph, edges.from.data(), edges.to.data(), data.data(), &count);
  return edges;
}

CudaGraph::Size CudaGraph::measure_node(CUgraphNode node) const {
  CUgraphNodeType type{};
  FH_CU(*context_, cuGraphNodeGetType, node, &type);
  switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
    case CU_GRAPH_NODE_TYPE_MEMCPY:
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return {1, 1};
    case CU_GRAPH_NODE_TYPE_GRAPH: {
      CUgraph child = nullptr;
      FH_CU(*context_, cuGraphChildGraphNodeGetGraph, node, &child);
      return measure(child);
    }
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: {
      const auto body = bodies_.find(node);
      return body == bodies_.end() ? Size{} : body->second->measure(body->second->handle_);
    }
    default:
      return {};
  }
}

CudaGraph::Size CudaGraph::measure(CUgraph graph) const {
  context_->enter("nodes");
  std::size_t count = 0;
  FH_CU(*context_, cuGraphGetNodes, graph, nullptr, &count);
  std::vector<CUgraphNode> nodes(count);
  if (count) FH_CU(*context_, cuGraphGetNodes, graph, nodes.data(), &count);
  const auto [from, to] = edges_of(graph);

  struct Place {
    Size own;
    long before = 0;  // longest chain that ends just before this node
    std::size_t waiting = 0;
    std::vector<CUgraphNode> next;
  };
  std::map<CUgraphNode, Place> places;
  for (CUgraphNode node : nodes) places[node].own = measure_node(node);
  for (std::size_t i = 0; i < from.size(); ++i) {
    places[from[i]].next.push_back(to[i]);
    ++places[to[i]].waiting;
  }
  std::vector<CUgraphNode> ready;
  for (const auto& [node, place] : places) {
    if (place.waiting == 0) ready.push_back(node);
  }
  Size total;
  while (!ready.empty()) {
    const Place& place = places[ready.back()];
    ready.pop_back();
    const long end = place.before + place.own.critical;
    total.nodes += place.own.nodes;
    total.critical = std::max(total.critical, end);
    for (CUgraphNode node : place.next) {
      Place& next = places[node];
      next.before = std::max(next.before, end);
      if (--next.waiting == 0) ready.push_back(node);
    }
  }
  return total;
}

}  // namespace foxhunt::device::cuda
