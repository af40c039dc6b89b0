// Composition of the parent graph.
#include "engine/learner/step_graph.h"

#include <algorithm>
#include <chrono>

#include "engine/base/error.h"
#include "engine/learner/products_only.h"

namespace foxhunt {

void StepGraph::add(const std::string& name, const std::vector<std::string>& after, Record record) {
  Child child{.name = name, .after = {}, .record = std::move(record), .graph = nullptr};
  for (const auto& earlier : after) {
    const auto found =
        std::find_if(children_.begin(), children_.end(), [&](const Child& c) { return c.name == earlier; });
    FH_CHECK(found != children_.end(), "child {} comes after {}, which is not there", name, earlier);
    child.after.push_back(static_cast<int>(found - children_.begin()));
  }
  children_.push_back(std::move(child));
}

void StepGraph::run_eagerly() {
  device::Recorder recorder(device_, stream_, device::ModuleSet::eager);
  for (const Child& child : children_) child.record(recorder);
}

void StepGraph::capture() {
  device::Recorder recorder(device_, stream_, device::ModuleSet::graph);
  parent_ = device_.create_graph();
  std::vector<device::NodeId> nodes;
  for (Child& child : children_) {
    device_.begin_capture(stream_);
    try {
      child.record(recorder);
    } catch (...) {
      device_.end_capture(stream_);
      throw;
    }
    child.graph = device_.end_capture(stream_);
    std::vector<device::NodeId> after;
    for (const int i : child.after) after.push_back(nodes[i]);
    nodes.push_back(device_.add_child(*parent_, child.name, *child.graph, after));
  }
  executable_ = device_.instantiate(*parent_);
}

void StepGraph::launch() {
  device_.launch(*executable_, stream_);
}

std::vector<double> StepGraph::time_children(int steps, const std::function<void()>& before_each) {
  FH_CHECK(captured(), "children are timed after capture");
  const auto chain = device_.create_graph();
  std::vector<std::unique_ptr<device::Event>> events;
  std::vector<device::NodeId> last;
  const auto mark = [&] {
    events.push_back(device_.create_event(true));
    last = {device_.add_event_record(*chain, *events.back(), last)};
  };
  mark();
  for (const Child& child : children_) {
    last = {device_.add_child(*chain, child.name, *child.graph, last)};
    mark();
  }
  const auto executable = device_.instantiate(*chain);
  std::vector<double> sums(children_.size(), 0.0);
  for (int step = 0; step < steps; ++step) {
    before_each();
    device_.launch(*executable, stream_);
    device_.synchronise(stream_);
    for (std::size_t i = 0; i < children_.size(); ++i) sums[i] += device_.elapsed_ms(*events[i], *events[i + 1]) * 1e3;
  }
  for (double& sum : sums) sum /= steps;
  return sums;
}

double StepGraph::time_products(int repetitions) {
  FH_CHECK(captured() && repetitions > 0, "products are timed after capture");
  ProductsOnly products(device_);
  device::Recorder recorder(products, stream_, device::ModuleSet::graph);
  device_.synchronise(stream_);
  device_.begin_capture(stream_);
  try {
    for (const Child& child : children_) child.record(recorder);
  } catch (...) {
    device_.end_capture(stream_);
    throw;
  }
  const auto graph = device_.end_capture(stream_);
  const auto executable = device_.instantiate(*graph);
  device_.launch(*executable, stream_);
  device_.synchronise(stream_);
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < repetitions; ++i) device_.launch(*executable, stream_);
  device_.synchronise(stream_);
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count() / repetitions;
}

}  // namespace foxhunt
