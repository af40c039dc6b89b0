// The contract tests of the device interface: written once, run on every device of this machine.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/device/buffer.h"
#include "engine/device/recorder.h"
#include "engine/device/registry.h"
#include "kernels/families.h"

namespace foxhunt::device::test {

// "cpu", and the names of the usable GPUs.
inline std::vector<std::string> usable_devices() {
  std::vector<std::string> names;
  for (const DeviceInfo& info : list_devices())
    if (info.available) names.push_back(info.name);
  return names;
}

inline DeviceOptions with_threads(int threads) {
  DeviceOptions options;
  options.threads = threads;
  return options;
}

// [4, 4] = [4, 4] [4, 4].
inline ProductShape square() {
  ProductShape shape;
  shape.m = shape.n = shape.k = 4;
  return shape;
}

class DeviceTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    device_ = open_device(GetParam(), with_threads(2));
    stream_ = device_->create_stream();
  }
  void TearDown() override {
    stream_.reset();
    device_.reset();
  }

  bool host() const { return device_->info().kind == DeviceKind::host; }
  Device& device() { return *device_; }
  Stream& stream() { return *stream_; }

  void upload(void* to, const void* from, std::size_t bytes) {
    const Mapped staging = device_->allocate_mapped(bytes);
    std::memcpy(staging.host, from, bytes);
    device_->stage(*stream_, to, staging.device, bytes);
    device_->synchronise(*stream_);
    device_->release(staging);
  }
  void download(void* to, const void* from, std::size_t bytes) {
    const Mapped staging = device_->allocate_mapped(bytes);
    device_->copy(*stream_, staging.device, from, bytes);
    device_->synchronise(*stream_);
    std::memcpy(to, staging.host, bytes);
    device_->release(staging);
  }
  template <class T>
  std::vector<T> values(const Buffer<T>& buffer) {
    std::vector<T> out(buffer.size());
    download(out.data(), buffer.data(), buffer.bytes());
    return out;
  }
  template <class T>
  Buffer<T> filled(const std::vector<T>& from) {
    Buffer<T> out(*device_, from.size());
    upload(out.data(), from.data(), out.bytes());
    return out;
  }

  void fill_words(Stream& on, ModuleSet set, const Buffer<std::uint32_t>& words, std::uint32_t value) {
    const kernels::FillWordsArgs args{words.data(), static_cast<std::int64_t>(words.size()), value};
    device_->launch(on, set, {.grid_x = kernels::tiles(args.count, kernels::kBasicTile)}, args);
  }
  // y += scale x on 1 scale, [count] x and y.
  void scaled_add(Stream& on, ModuleSet set, const Buffer<float>& x, const Buffer<float>& scale,
                  const Buffer<float>& y) {
    const kernels::ScaledAddArgs args{x.data(), scale.data(), y.data(), static_cast<std::int64_t>(y.size())};
    device_->launch(on, set, {.grid_x = kernels::tiles(args.count, kernels::kBasicTile)}, args);
  }

 private:
  std::unique_ptr<Device> device_;
  std::unique_ptr<Stream> stream_;
};

// What `call` throws, as its whole sentence; empty when it throws nothing.
template <class Call>
std::string refusal(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.sentence();
  }
  return "";
}

#define FH_EXPECT_REFUSED(part, ...)                                                         \
  do {                                                                                       \
    const std::string fh_refused_ = ::foxhunt::device::test::refusal([&] { __VA_ARGS__; });  \
    EXPECT_NE(fh_refused_.find(part), std::string::npos) << "said: '" << fh_refused_ << "'"; \
  } while (false)

#define FH_ON_EVERY_DEVICE(Suite)                                                                          \
  INSTANTIATE_TEST_SUITE_P(Devices, Suite, ::testing::ValuesIn(::foxhunt::device::test::usable_devices()), \
                           [](const auto& device) {                                                        \
                             std::string name = device.param;                                              \
                             for (char& c : name)                                                          \
                               if (c == ':') c = '_';                                                      \
                             return name;                                                                  \
                           })

}  // namespace foxhunt::device::test
