// Checkpoints in the background: a copy within the device on the training stream, a side stream to mapped memory, and a
// thread that builds and writes the file. Training waits only when a second save comes before the first is written.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "engine/device/buffer.h"
#include "engine/environment/collector.h"
#include "engine/environment/device_market.h"
#include "engine/learner/learner.h"

namespace foxhunt {

struct SaveRequest {
  std::filesystem::path path;
  bool full = true;  // model file: parameters, target and what evaluation needs
  int slot = -1;     // model files: this snapshot slot; -1: what stands now
  std::map<std::string, std::string> metadata;
  FoldModel model;  // feature scaler and regimes of the fold
};

struct SaveResult {
  std::filesystem::path path;
  std::uintmax_t bytes = 0;
  std::string error;  // empty: written
};

class Checkpointer {
 public:
  Checkpointer(device::Device& device, Learner& learner, Collector& collector);
  ~Checkpointer();  // writes what is pending

  // Returns when the copies are queued. `done` runs on the writing thread.
  void save(SaveRequest request, std::function<void(const SaveResult&)> done);
  void drain();                                      // waits for the file
  double blocked_ms() const { return blocked_ms_; }  // what the last save cost the calling thread

 private:
  struct Block {
    std::string name;
    const void* data;
    std::size_t bytes, offset;
  };
  std::vector<Block> blocks(const SaveRequest& request);
  void work();
  SaveResult write(const SaveRequest& request, const std::vector<Block>& blocks) const;

  device::Device& device_;
  Learner& learner_;
  Collector& collector_;
  device::Buffer<std::byte> copy_;
  device::MappedBuffer<std::byte> staging_;
  std::unique_ptr<device::Stream> side_;
  std::unique_ptr<device::Event> copied_, staged_;
  double blocked_ms_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool busy_ = false, stop_ = false;
  SaveRequest request_;
  std::vector<Block> request_blocks_;
  std::function<void(const SaveResult&)> done_;
  std::thread thread_;
};

}  // namespace foxhunt
