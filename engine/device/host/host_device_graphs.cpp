// The host device: capture, graphs and their launch.
#include <algorithm>

#include "engine/base/error.h"
#include "engine/device/host/host_device.h"
#include "engine/device/host/plan.h"

namespace foxhunt::device::host {
namespace {

class HostExecutable : public Executable {
 public:
  HostExecutable(const void* device, std::shared_ptr<Plan> the_plan) : owner(device), plan(std::move(the_plan)) {}

  const void* owner;
  std::shared_ptr<Plan> plan;
  EventState finished{false};    // of its latest launch: launches of one executable never overlap
  const Stream* last = nullptr;  // where that was
};

}  // namespace

HostGraph& HostDevice::own(const char* call, Graph& graph) const {
  auto* host = dynamic_cast<HostGraph*>(&graph);
  if (!host || host->device() != this) throw Error(fmt::format("{}: the graph belongs to another device", call));
  return *host;
}

bool HostDevice::capturing() {
  std::erase_if(captures_, [](const std::weak_ptr<Capture>& weak) {
    const std::shared_ptr<Capture> capture = weak.lock();
    return !capture || !capture->open;
  });
  return !captures_.empty();
}

void HostDevice::refuse_in_capture(const char* call) {
  if (!capturing()) return;
  for (const std::weak_ptr<Capture>& weak : captures_)
    if (const std::shared_ptr<Capture> capture = weak.lock(); capture && capture->refused.empty())
      capture->refused = call;
  throw Error(fmt::format("{}: refused while a capture is open", call), {.hint = "do it before begin_capture"});
}

void HostDevice::wait_captured(HostStream& stream, HostEvent& event) {
  const std::shared_ptr<Capture> from = event.state()->captured();
  if (!from)
    throw Error("wait: a stream that is being captured cannot wait for an event recorded outside of the capture");
  if (!from->open) throw Error("wait: the event was last recorded in a capture that has ended");
  if (stream.capture && stream.capture != from)
    throw Error("wait: the event was recorded in another capture than the stream's");
  if (!stream.capture) {
    stream.capture = from;
    from->members.push_back(&stream);
  }
  for (const NodeId node : event.state()->captured_nodes())
    if (std::find(stream.frontier.begin(), stream.frontier.end(), node) == stream.frontier.end())
      stream.frontier.push_back(node);
}

void HostDevice::begin_capture(Stream& stream) {
  HostStream& on = own("begin_capture", stream);
  if (on.capture) throw Error("begin_capture: the stream is being captured already");
  capturing();  // forgets ended ones
  auto capture = std::make_shared<Capture>();
  capture->graph = std::make_unique<HostGraph>(this);
  capture->origin = &on;
  capture->members = {&on};
  captures_.push_back(capture);
  on.capture = std::move(capture);
  on.frontier.clear();
}

std::unique_ptr<Graph> HostDevice::end_capture(Stream& stream) {
  HostStream& on = own("end_capture", stream);
  const std::shared_ptr<Capture> capture = on.capture;
  if (!capture) throw Error("end_capture: the stream is not being captured");
  if (capture->origin != &on) throw Error("end_capture: the capture was begun on another stream");
  const bool unjoined = capture->unjoined() != nullptr;
  capture->close();
  if (!capture->refused.empty())
    throw Error(fmt::format("end_capture: the capture was spoilt by a refused call: {}", capture->refused));
  if (unjoined)
    throw Error("end_capture: a stream holds captured work that the first stream does not wait for",
                {.hint = "record an event on it and let the first stream wait"});
  return std::move(capture->graph);
}

std::unique_ptr<Graph> HostDevice::create_graph() {
  return std::make_unique<HostGraph>(this);
}

NodeId HostDevice::add_child(Graph& parent, const std::string& name, const Graph& child,
                             std::span<const NodeId> after) {
  const auto* host = dynamic_cast<const HostGraph*>(&child);
  if (!host || host->device() != this)
    throw Error(fmt::format("add_child {}: the child belongs to another device", name));
  return own("add_child", parent).add_child(name, *host, after);
}

NodeId HostDevice::add_event_record(Graph& parent, Event& event, std::span<const NodeId> after) {
  return own("add_event_record", parent).add_event_record(own("add_event_record", event).state(), after);
}

Condition HostDevice::create_condition(Graph& parent, std::uint32_t initial) {
  return own("create_condition", parent).create_condition(initial);
}

NodeId HostDevice::add_conditional(const char* call, NodeKind kind, Graph& parent, const Condition& condition,
                                   std::span<const NodeId> after, Graph** body) {
  FH_CHECK(body != nullptr, "{} without a place for the body", call);
  HostGraph* inner = nullptr;
  const NodeId node = own(call, parent).add_conditional(call, kind, condition, after, &inner);
  *body = inner;
  return node;
}

NodeId HostDevice::add_while(Graph& parent, const Condition& condition, std::span<const NodeId> after, Graph** body) {
  return add_conditional("add_while", NodeKind::while_loop, parent, condition, after, body);
}

NodeId HostDevice::add_if(Graph& parent, const Condition& condition, std::span<const NodeId> after, Graph** body) {
  return add_conditional("add_if", NodeKind::if_once, parent, condition, after, body);
}

std::unique_ptr<Executable> HostDevice::instantiate(const Graph& graph) {
  const auto* host = dynamic_cast<const HostGraph*>(&graph);
  if (!host || host->device() != this) throw Error("instantiate: the graph belongs to another device");
  if (host->is_body()) throw Error("instantiate: the graph is the body of a conditional node");
  refuse_in_capture("instantiate");
  auto plan = make_plan(*host, pool_.threads());
  host->freeze();
  return std::make_unique<HostExecutable>(this, std::move(plan));
}

void HostDevice::launch(Executable& executable, Stream& stream) {
  HostStream& on = own("launch", stream);
  auto* host = dynamic_cast<HostExecutable*>(&executable);
  if (!host || host->owner != this) throw Error("launch: the graph belongs to another device");
  if (on.capture) refuse_in_capture("launch of a graph on the stream");
  if (host->last && host->last != &on) {
    Task behind;
    behind.wait = host->finished.latest();
    on.push(std::move(behind));
  }
  Task task;
  task.plan = host->plan;
  task.graph_events.reserve(host->plan->events.size());
  for (const std::shared_ptr<EventState>& event : host->plan->events) task.graph_events.push_back(event->next());
  task.record = host->finished.next();
  host->last = &on;
  counters_.launches.fetch_add(1, std::memory_order_relaxed);
  on.push(std::move(task));
}

}  // namespace foxhunt::device::host
