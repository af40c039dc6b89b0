// The training step as named children and the edges between them: recorded eagerly, or each child captured once and
// composed into one parent graph that a single launch runs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/device/recorder.h"

namespace foxhunt {

class StepGraph {
 public:
  using Record = std::function<void(device::Recorder&)>;
  StepGraph(device::Device& device, device::Stream& stream) : device_(device), stream_(stream) {}

  // `after` names children added before: what this one reads was written there.
  void add(const std::string& name, const std::vector<std::string>& after, Record record);

  void run_eagerly();
  void capture();  // after one eager run: every module is loaded and every plan warm
  bool captured() const { return executable_ != nullptr; }
  void launch();

  struct Child {
    std::string name;
    std::vector<int> after;
    Record record;
    std::unique_ptr<device::Graph> graph;
  };
  const std::vector<Child>& children() const { return children_; }

  // Mean microseconds of each child over `steps` launches of a second instantiation in which children follow each other
  // with event nodes between them: what a child costs alone, without overlap.
  std::vector<double> time_children(int steps, const std::function<void()>& before_each);
  // Mean microseconds of one pass over all products of the children, in their order.
  double time_products(int repetitions);

 private:
  device::Device& device_;
  device::Stream& stream_;
  std::vector<Child> children_;
  std::unique_ptr<device::Graph> parent_;
  std::unique_ptr<device::Executable> executable_;
};

}  // namespace foxhunt
