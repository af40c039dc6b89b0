// A stream capture in progress: the graph it fills and the streams that are part of it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/device/host/graph.h"
#include "engine/device/host/stream.h"

namespace foxhunt::device::host {

struct Capture {
  std::unique_ptr<HostGraph> graph;
  HostStream* origin = nullptr;
  std::vector<HostStream*> members;  // the origin included
  std::vector<ModuleSet> sets;       // whose kernels were captured
  std::string refused;               // the first call that was refused meanwhile: it spoils the capture
  bool open = true;

  // A stream that goes away; the origin takes the capture with it.
  void leave(HostStream& stream);
  // Every member stops capturing.
  void close();
  // A stream with work that the origin does not depend on; null when all are joined.
  const HostStream* unjoined() const;
};

}  // namespace foxhunt::device::host
