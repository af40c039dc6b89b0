// A device that lets matrix products through and drops every other piece of work: what the step's own recording
// functions make on it is the step's products back to back, the floor that `bench` compares a step with.
#pragma once

#include "engine/device/device.h"

namespace foxhunt {

class ProductsOnly final : public device::Device {
 public:
  explicit ProductsOnly(device::Device& device) : device_(device) {}

  void launch(device::Stream&, device::ModuleSet, kernels::KernelId, const device::Launch&, const void*,
              std::size_t) override {}
  void copy(device::Stream&, void*, const void*, std::size_t) override {}
  void stage(device::Stream&, void*, const void*, std::size_t) override {}
  void fill(device::Stream&, void*, int, std::size_t) override {}

  const device::DeviceInfo& info() const override { return device_.info(); }
  device::Counters counters() const override { return device_.counters(); }
  void* allocate(std::size_t bytes) override { return device_.allocate(bytes); }
  void release(void* memory) noexcept override { device_.release(memory); }
  device::Mapped allocate_mapped(std::size_t bytes) override { return device_.allocate_mapped(bytes); }
  void release(const device::Mapped& memory) noexcept override { device_.release(memory); }
  std::unique_ptr<device::Stream> create_stream(int priority) override { return device_.create_stream(priority); }
  std::unique_ptr<device::Event> create_event(bool timing) override { return device_.create_event(timing); }
  void record(device::Event& event, device::Stream& stream) override { device_.record(event, stream); }
  void wait(device::Stream& stream, device::Event& event) override { device_.wait(stream, event); }
  void synchronise(device::Stream& stream) override { device_.synchronise(stream); }
  void synchronise(device::Event& event) override { device_.synchronise(event); }
  float elapsed_ms(device::Event& from, device::Event& to) override { return device_.elapsed_ms(from, to); }
  std::unique_ptr<device::Product> plan(const device::ProductShape& shape, const std::string& lane) override {
    return device_.plan(shape, lane);
  }
  void multiply(device::Stream& stream, const device::Product& product,
                const device::ProductOperands& operands) override {
    device_.multiply(stream, product, operands);
  }
  std::string pinned_algorithms() const override { return device_.pinned_algorithms(); }
  void begin_capture(device::Stream& stream) override { device_.begin_capture(stream); }
  std::unique_ptr<device::Graph> end_capture(device::Stream& stream) override { return device_.end_capture(stream); }
  std::unique_ptr<device::Graph> create_graph() override { return device_.create_graph(); }
  device::NodeId add_child(device::Graph& parent, const std::string& name, const device::Graph& child,
                           std::span<const device::NodeId> after) override {
    return device_.add_child(parent, name, child, after);
  }
  device::NodeId add_event_record(device::Graph& parent, device::Event& event,
                                  std::span<const device::NodeId> after) override {
    return device_.add_event_record(parent, event, after);
  }
  bool conditional_nodes() const override { return device_.conditional_nodes(); }
  device::Condition create_condition(device::Graph& parent, std::uint32_t initial) override {
    return device_.create_condition(parent, initial);
  }
  device::NodeId add_while(device::Graph& parent, const device::Condition& condition,
                           std::span<const device::NodeId> after, device::Graph** body) override {
    return device_.add_while(parent, condition, after, body);
  }
  device::NodeId add_if(device::Graph& parent, const device::Condition& condition,
                        std::span<const device::NodeId> after, device::Graph** body) override {
    return device_.add_if(parent, condition, after, body);
  }
  std::unique_ptr<device::Executable> instantiate(const device::Graph& graph) override {
    return device_.instantiate(graph);
  }
  void launch(device::Executable& executable, device::Stream& stream) override { device_.launch(executable, stream); }

 private:
  device::Device& device_;
};

}  // namespace foxhunt
