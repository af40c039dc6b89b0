// Membership and end of a stream capture.
#include "engine/device/host/capture.h"

#include <algorithm>

namespace foxhunt::device::host {

void Capture::leave(HostStream& stream) {
  if (&stream == origin) {
    close();
    return;
  }
  members.erase(std::remove(members.begin(), members.end(), &stream), members.end());
  if (refused.empty()) refused = "the destruction of a stream that was part of it";
}

void Capture::close() {
  open = false;
  const std::vector<HostStream*> all = std::move(members);
  members.clear();
  for (HostStream* stream : all) {
    stream->frontier.clear();
    stream->capture.reset();  // may release this capture's last owner but the caller's
  }
}

const HostStream* Capture::unjoined() const {
  std::vector<bool> joined(graph->list().size());
  for (const NodeId node : origin->frontier) joined[static_cast<std::size_t>(node)] = true;
  for (std::size_t i = joined.size(); i-- > 0;)
    if (joined[i])
      for (const NodeId before : graph->list()[i].after) joined[static_cast<std::size_t>(before)] = true;
  for (const HostStream* stream : members)
    for (const NodeId node : stream->frontier)
      if (!joined[static_cast<std::size_t>(node)]) return stream;
  return nullptr;
}

}  // namespace foxhunt::device::host
