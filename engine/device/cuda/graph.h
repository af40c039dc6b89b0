// Graphs of the CUDA driver: composition of children, conditional bodies, counts of nodes.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "engine/device/cuda/context.h"
#include "engine/device/cuda/lanes.h"

namespace foxhunt::device::cuda {

class CudaGraph final : public Graph {
 public:
  CudaGraph(std::shared_ptr<Context> context, CUgraph handle) : context_(std::move(context)), handle_(handle) {}
  ~CudaGraph() override;
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;

  const Context* context() const { return context_.get(); }
  int nodes() const override { return static_cast<int>(measure(handle_).nodes); }
  int critical_nodes() const override { return static_cast<int>(measure(handle_).critical); }

  NodeId add_child(const std::string& name, const CudaGraph& child, std::span<const NodeId> after);
  NodeId add_event_record(CUevent event, std::span<const NodeId> after);
  Condition create_condition(std::uint32_t initial);
  NodeId add_conditional(const char* call, CUgraphConditionalNodeType type, const Condition& condition,
                         std::span<const NodeId> after, Graph** body);
  // Errors: Error naming two products of one lane that no edge orders, among others.
  CUgraphExec instantiate() const;
  // The products that the capture recorded, in order.
  void note_products(const std::vector<CapturedProduct>& products);

 private:
  struct Size {
    long nodes = 0;     // kernels, copies, fills
    long critical = 0;  // the longest chain of them
  };
  // A conditional's body, owned by the driver's node.
  CudaGraph(std::shared_ptr<Context> context, CUgraph handle, CudaGraph* root)
      : context_(std::move(context)), handle_(handle), root_(root) {}

  void check_open(const char* call) const;
  std::vector<CUgraphNode> resolve(const char* call, std::span<const NodeId> after) const;
  NodeId keep(CUgraphNode node, std::span<const NodeId> after, LaneReport report);
  LaneReport lanes() const;
  struct Edges {
    std::vector<CUgraphNode> from, to;
  };
  Edges edges_of(CUgraph graph) const;
  Size measure(CUgraph graph) const;
  Size measure_node(CUgraphNode node) const;
  const CudaGraph& root() const { return root_ ? *root_ : *this; }
  CudaGraph& root() { return root_ ? *root_ : *this; }

  std::shared_ptr<Context> context_;
  CUgraph handle_;
  CudaGraph* root_ = nullptr;  // set for bodies: the parent graph that owns them all
  std::vector<CUgraphNode> ids_;
  std::vector<LaneStep> steps_;  // by NodeId; a conditional's body is looked up when needed
  LaneReport captured_;          // of a captured graph
  std::map<CUgraphNode, std::unique_ptr<CudaGraph>> bodies_;
  std::vector<CUgraphConditionalHandle> conditions_;  // of a root
  bool conditional_ = false;                          // holds conditional nodes, so it can be no child
  bool events_ = false;                               // holds event nodes, so it can stand in no body
  mutable bool instantiated_ = false;                 // of a root
};

class CudaExecutable final : public Executable {
 public:
  CudaExecutable(std::shared_ptr<Context> context, CUgraphExec executable)
      : context_(std::move(context)), handle(executable) {}
  ~CudaExecutable() override {
    if (context_->enter_quietly()) FH_CU_QUIET(*context_, cuGraphExecDestroy, handle);
  }
  CudaExecutable(const CudaExecutable&) = delete;
  CudaExecutable& operator=(const CudaExecutable&) = delete;

  const Context* context() const { return context_.get(); }

 private:
  std::shared_ptr<Context> context_;

 public:
  const CUgraphExec handle;
};

}  // namespace foxhunt::device::cuda
