// Checkpoints in the background: a copy within the device on the training stream, a side stream to mapped memory, and a
// thread that builds and writes the file. Full files and models have memory of their own, so that the small ones never
// wait for the large; training waits only when a second save of one kind comes before the first is written.
#pragma once

#include <condition_variable>
#include <deque>
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
  bool ready();                                      // a full save would not wait for the file before it
  void drain();                                      // waits for all files
  double blocked_ms() const { return blocked_ms_; }  // what the last save cost the calling thread, with such a wait

 private:
  struct Block {
    std::string name;
    const void* data;
    std::size_t bytes, offset;
  };
  // What one file is made of: kept until it is written.
  struct Lane {
    device::Buffer<std::byte> copy;
    device::MappedBuffer<std::byte> staging;
    std::unique_ptr<device::Event> copied, staged;
    bool busy = false;
    SaveRequest request;
    std::vector<Block> blocks;
    std::function<void(const SaveResult&)> done;
  };

  std::vector<Block> blocks(const SaveRequest& request);
  void prepare(Lane& lane, const SaveRequest& largest);
  void work();
  SaveResult write(const Lane& lane) const;

  device::Device& device_;
  Learner& learner_;
  Collector& collector_;
  std::unique_ptr<device::Stream> side_;
  Lane full_, model_;
  double blocked_ms_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Lane*> queue_;  // its first is being written
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace foxhunt
