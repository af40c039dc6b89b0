// The CUDA device: capture, graphs and their launch.
#include "engine/device/cuda/cuda_device.h"

namespace foxhunt::device::cuda {

CudaGraph& CudaDevice::own(const char* call, Graph& graph) const {
  auto* mine = dynamic_cast<CudaGraph*>(&graph);
  if (!mine || mine->context() != context_.get()) {
    throw Error(fmt::format("{}: the graph belongs to another device", call));
  }
  return *mine;
}

void CudaDevice::begin_capture(Stream& stream) {
  context_->enter("begin_capture");
  CudaStream& on = own("begin_capture", stream);
  if (context_->capturing(on.handle)) throw Error("begin_capture: the stream is being captured already");
  products_.flush();
  FH_CU(*context_, cuStreamBeginCapture, on.handle, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  on.capture_origin = true;
  if (!context_->capture_open()) captured_sets_.clear();
  context_->capture_opened();
}

std::unique_ptr<Graph> CudaDevice::end_capture(Stream& stream) {
  context_->enter("end_capture");
  CudaStream& on = own("end_capture", stream);
  if (!on.capture_origin) {
    throw Error(context_->capturing(on.handle) ? "end_capture: the capture was begun on another stream"
                                               : "end_capture: the stream is not being captured");
  }
  CUstreamCaptureStatus state{};
  cuuint64_t number = 0;
  context_->api.cuStreamGetCaptureInfo(on.handle, &state, &number, nullptr, nullptr, nullptr, nullptr);
  CUgraph handle = nullptr;
  const CUresult status = context_->api.cuStreamEndCapture(on.handle, &handle);
  on.capture_origin = false;
  const std::string refused = context_->capture_closed();
  std::vector<CapturedProduct> products, others;
  for (CapturedProduct& product : captured_products_) {
    (product.capture == number ? products : others).push_back(std::move(product));
  }
  captured_products_ = std::move(others);
  if (!context_->capture_open()) captured_products_.clear();  // of captures that were abandoned
  auto graph = handle ? std::make_unique<CudaGraph>(context_, handle) : nullptr;
  if (!refused.empty()) {
    throw Error(fmt::format("end_capture: the capture was spoilt by a refused call: {}", refused));
  }
  context_->check(status, "cuStreamEndCapture");
  FH_CHECK(graph, "cuStreamEndCapture gave no graph");
  graph->note_products(products);
  return graph;
}

std::unique_ptr<Graph> CudaDevice::create_graph() {
  context_->enter("create_graph");
  CUgraph graph = nullptr;
  FH_CU(*context_, cuGraphCreate, &graph, 0);
  return std::make_unique<CudaGraph>(context_, graph);
}

NodeId CudaDevice::add_child(Graph& parent, const std::string& name, const Graph& child,
                             std::span<const NodeId> after) {
  context_->enter("add_child");
  const auto* mine = dynamic_cast<const CudaGraph*>(&child);
  if (!mine || mine->context() != context_.get()) {
    throw Error(fmt::format("add_child {}: the child belongs to another device", name));
  }
  return own("add_child", parent).add_child(name, *mine, after);
}

NodeId CudaDevice::add_event_record(Graph& parent, Event& event, std::span<const NodeId> after) {
  context_->enter("add_event_record");
  return own("add_event_record", parent).add_event_record(own("add_event_record", event).handle, after);
}

Condition CudaDevice::create_condition(Graph& parent, std::uint32_t initial) {
  context_->enter("create_condition");
  return own("create_condition", parent).create_condition(initial);
}

NodeId CudaDevice::add_while(Graph& parent, const Condition& condition, std::span<const NodeId> after, Graph** body) {
  context_->enter("add_while");
  return own("add_while", parent).add_conditional("add_while", CU_GRAPH_COND_TYPE_WHILE, condition, after, body);
}

NodeId CudaDevice::add_if(Graph& parent, const Condition& condition, std::span<const NodeId> after, Graph** body) {
  context_->enter("add_if");
  return own("add_if", parent).add_conditional("add_if", CU_GRAPH_COND_TYPE_IF, condition, after, body);
}

std::unique_ptr<Executable> CudaDevice::instantiate(const Graph& graph) {
  context_->enter_outside_capture("instantiate");
  const auto* mine = dynamic_cast<const CudaGraph*>(&graph);
  if (!mine || mine->context() != context_.get()) throw Error("instantiate: the graph belongs to another device");
  return std::make_unique<CudaExecutable>(context_, mine->instantiate());
}

void CudaDevice::launch(Executable& executable, Stream& stream) {
  context_->enter("launch");
  CudaStream& on = own("launch", stream);
  auto* mine = dynamic_cast<CudaExecutable*>(&executable);
  if (!mine || mine->context() != context_.get()) throw Error("launch: the graph belongs to another device");
  if (context_->capturing(on.handle)) {
    context_->refuse_in_capture("launch of a graph on the stream", "launch it after end_capture");
  }
  FH_CU(*context_, cuGraphLaunch, mine->handle, on.handle);
  ++count_.launches;
}

}  // namespace foxhunt::device::cuda
