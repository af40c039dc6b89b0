// Ring and envelope read while another thread writes them as fast as it can.
#pragma once

#include <atomic>
#include <chrono>
#include <vector>

#include "engine/telemetry/step_ring_reader.h"
#include "tests/telemetry/mapped_writer.h"

namespace foxhunt::test {

struct FullSpeed {
  std::uint64_t wrong = 0;  // snapshots and records returned though they were torn
  std::uint64_t written = 0, delivered = 0, missed = 0, retried = 0;
};

inline FullSpeed at_full_speed(double seconds) {
  MappedWriter writer;
  telemetry::StepRingReader ring(writer.mapped());
  std::atomic<bool> stop{false};
  std::thread thread([&] {
    while (!stop) writer.write();
  });
  telemetry::SnapshotReader snapshots(writer.mapped());
  telemetry::Snapshot snapshot;
  std::vector<telemetry::StepRecord> records;
  FullSpeed out;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (std::chrono::steady_clock::now() < end) {
    for (int i = 0; i < 100; ++i) {
      if (snapshots.read(snapshot) && !whole(snapshot)) ++out.wrong;
    }
    records.clear();
    ring.drain(records);
    for (const auto& record : records) out.wrong += whole(record) ? 0 : 1;
  }
  stop = true;
  thread.join();
  records.clear();
  ring.drain(records);
  for (const auto& record : records) out.wrong += whole(record) ? 0 : 1;
  out.written = writer.step();
  out.delivered = ring.delivered();
  out.missed = ring.missed();
  out.retried = snapshots.torn();
  return out;
}

}  // namespace foxhunt::test
