// Prints GFLOP/s of typical products at one and two threads, and the cost of launching small graphs on the host.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "engine/device/buffer.h"
#include "engine/device/registry.h"
#include "kernels/families.h"

namespace {

using namespace foxhunt;
using namespace foxhunt::device;

ProductShape shape(int m, int n, int k, int batch = 1, Epilogue epilogue = Epilogue::none) {
  ProductShape s;
  s.m = m, s.n = n, s.k = k, s.batch = batch, s.epilogue = epilogue;
  s.transpose_a = epilogue == Epilogue::bias_gradient;
  s.transpose_b = epilogue == Epilogue::relu_bias_mask;
  s.stride_a = std::int64_t{m} * k, s.stride_b = std::int64_t{k} * n, s.stride_c = std::int64_t{m} * n;
  return s;
}

constexpr std::chrono::milliseconds kTime{200};  // for each figure

// Microseconds of the fastest launch: short ones, so that a busy machine leaves some of them alone.
double best_us(Device& device, Stream& stream, Executable& executable) {
  double best = 1e30;
  const auto end = std::chrono::steady_clock::now() + kTime;
  const auto first = device.create_event(true), last = device.create_event(true);
  while (std::chrono::steady_clock::now() < end) {
    device.launch(executable, stream);  // the stream's thread is awake when the timed one starts
    device.record(*first, stream);
    device.launch(executable, stream);
    device.record(*last, stream);
    device.synchronise(stream);
    best = std::min(best, 1000.0 * static_cast<double>(device.elapsed_ms(*first, *last)));
  }
  return best;
}

// Microseconds of one product out of a graph that holds two, one after the other.
double product_us(Device& device, const ProductShape& s) {
  const auto elements = [&](std::int64_t one) { return static_cast<std::size_t>(one * s.batch); };
  const Buffer<float> a(device, elements(s.stride_a)), b(device, elements(s.stride_b)), c(device, elements(s.stride_c));
  const Buffer<float> bias(device, static_cast<std::size_t>(std::max(s.m, s.n)));
  const Buffer<std::uint8_t> mask(device, mask_bytes(s.m, s.n));
  const auto stream = device.create_stream();
  const auto product = device.plan(s, "bench");
  device.begin_capture(*stream);
  for (int i = 0; i < 2; ++i)
    device.multiply(*stream, *product, {a.data(), b.data(), c.data(), bias.data(), mask.data()});
  const auto executable = device.instantiate(*device.end_capture(*stream));
  return best_us(device, *stream, *executable) / 2;
}

// Microseconds of a graph of 100 kernels of one block over one word: what a launch and its nodes cost by themselves.
double empty_graph_us(Device& device, int blocks) {
  const Buffer<std::uint32_t> words(device, 1);
  const auto stream = device.create_stream();
  device.begin_capture(*stream);
  const kernels::FillWordsArgs args{words.data(), 1, 1};
  const Launch launch{static_cast<std::uint32_t>(blocks), 1, 128, 0, 0};
  for (int i = 0; i < 100; ++i) device.launch(*stream, ModuleSet::graph, launch, args);
  const auto executable = device.instantiate(*device.end_capture(*stream));
  return best_us(device, *stream, *executable);
}

}  // namespace

int main() {
  DeviceOptions options;
  options.threads = 1;
  const auto one = open_device("cpu", options);
  options.threads = 2;
  const auto two = open_device("cpu", options);
  fmt::print("{}; {}\n", one->info().description, one->info().library);
  fmt::print("{:<42}{:>10}{:>10}{:>12}{:>12}{:>8}\n", "product m x n x k (batch)", "us, 1", "us, 2", "GFLOP/s, 1",
             "GFLOP/s, 2", "gain");
  using enum Epilogue;
  for (const ProductShape& s :
       {shape(64, 64, 64), shape(64, 128, 64), shape(64, 256, 96), shape(128, 256, 96), shape(128, 512, 256),
        shape(128, 512, 256, 1, relu_bias_mask), shape(512, 96, 64), shape(512, 96, 64, 1, bias_gradient),
        shape(256, 256, 128, 1, bias_gradient), shape(128, 204, 128, 5), shape(64, 51, 128, 13), shape(4096, 64, 64),
        shape(1024, 256, 256)}) {
    const double flops = 2.0 * s.m * s.n * s.k * s.batch, t1 = product_us(*one, s), t2 = product_us(*two, s);
    fmt::print("{:<42}{:>10.1f}{:>10.1f}{:>12.1f}{:>12.1f}{:>8.2f}\n",
               fmt::format("{} x {} x {} ({}) epilogue {}", s.m, s.n, s.k, s.batch, static_cast<int>(s.epilogue)), t1,
               t2, flops / t1 * 1e-3, flops / t2 * 1e-3, t1 / t2);
  }
  for (const int blocks : {1, 8})
    fmt::print("graph of 100 kernels of {} blocks: {:.1f} us at 1 thread, {:.1f} us at 2\n", blocks,
               empty_graph_us(*one, blocks), empty_graph_us(*two, blocks));
  return 0;
}
