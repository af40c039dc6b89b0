// One minute of writing at full speed: no torn snapshot and no torn record is ever returned.
#include <gtest/gtest.h>

#include <atomic>

#include "engine/telemetry/step_ring_reader.h"
#include "tests/telemetry/mapped_writer.h"

namespace foxhunt::test {
namespace {

TEST(Readers, AMinuteAtFullSpeed) {
  MappedWriter writer;
  telemetry::StepRingReader ring(writer.mapped());
  std::atomic<bool> stop{false};
  std::thread thread([&] {
    while (!stop) writer.write();
  });
  telemetry::SnapshotReader snapshots(writer.mapped());
  telemetry::Snapshot snapshot;
  std::vector<telemetry::StepRecord> records;
  std::uint64_t torn = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (std::chrono::steady_clock::now() < end) {
    for (int i = 0; i < 100; ++i) {
      if (snapshots.read(snapshot) && !whole(snapshot)) ++torn;
    }
    records.clear();
    ring.drain(records);
    for (const auto& record : records) torn += whole(record) ? 0 : 1;
  }
  stop = true;
  thread.join();
  records.clear();
  ring.drain(records);
  EXPECT_EQ(torn, 0u);
  EXPECT_EQ(ring.delivered() + ring.missed(), writer.step());
  EXPECT_GT(snapshots.torn(), 0u);
}

}  // namespace
}  // namespace foxhunt::test
