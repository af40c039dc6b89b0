// The file of pinned product algorithms: which one was chosen for a shape on a GPU, driver and library version, so that
// another process with the same file computes the same bits.
#pragma once

#include <spdlog/spdlog.h>

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace foxhunt::device::cuda {

struct PinnedPlan {
  std::string algorithm;  // cublasLtMatmulAlgo_t in hexadecimal; valid for its library version alone
  bool fused = true;      // the library does the epilogue itself
  std::string words;      // what a reader of the file wants to know
};

// What a plan depends on besides its shape.
struct PlanPlace {
  std::string gpu, driver, library;
};

class PlanCache {
 public:
  // `path` empty: nothing is read or written. An unreadable file is ignored with a warning and replaced at the next
  // flush.
  PlanCache(std::string path, PlanPlace place, std::shared_ptr<spdlog::logger> log);

  std::optional<PinnedPlan> find(const std::string& shape) const;
  void put(const std::string& shape, PinnedPlan plan);
  // Writes what was put since the last flush; entries of other GPUs and versions stay. A failure is a warning: the
  // plans work without the file.
  void flush() noexcept;
  // Plans of this place used by this process, as JSON.
  std::string used() const;

  static constexpr int kVersion = 1;

 private:
  using Key = std::string;  // gpu, driver, library and shape, joined by newlines
  struct Entry {
    PlanPlace place;
    std::string shape;
    PinnedPlan plan;
  };

  Key key(const PlanPlace& place, const std::string& shape) const;
  std::map<Key, Entry> read() const;

  std::string path_;
  PlanPlace place_;
  std::shared_ptr<spdlog::logger> log_;
  std::map<Key, Entry> file_;               // as read
  std::map<std::string, PinnedPlan> used_;  // by shape
  bool dirty_ = false;
};

}  // namespace foxhunt::device::cuda
