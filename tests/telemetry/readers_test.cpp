// The host's readers: every step delivered once or counted as missed, no torn snapshot ever returned.
#include <gtest/gtest.h>

#include <atomic>

#include "engine/telemetry/step_ring_reader.h"
#include "tests/telemetry/full_speed.h"
#include "tests/telemetry/mapped_writer.h"

namespace foxhunt::test {
namespace {

using telemetry::Heartbeat;
using telemetry::Snapshot;
using telemetry::SnapshotReader;
using telemetry::StepRecord;
using telemetry::StepRingReader;

TEST(StepRing, DeliversEachStepOnceInOrder) {
  MappedWriter writer;
  StepRingReader reader(writer.mapped());
  std::vector<StepRecord> records;
  EXPECT_EQ(reader.drain(records), 0);
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 37 * round; ++i) writer.write(false);
    reader.drain(records);
  }
  ASSERT_EQ(records.size(), writer.step());
  for (std::size_t i = 0; i < records.size(); ++i) ASSERT_TRUE(records[i].step == i + 1 && whole(records[i])) << i;
  EXPECT_EQ(reader.missed(), 0u);
}

TEST(StepRing, CountsOverrunsExactly) {
  MappedWriter writer;
  StepRingReader reader(writer.mapped());
  std::vector<StepRecord> records;
  for (int i = 0; i < 4096; ++i) writer.write(false);
  EXPECT_EQ(reader.drain(records), 4096);
  EXPECT_EQ(reader.missed(), 0u);
  for (int i = 0; i < 10'000; ++i) writer.write(false);
  EXPECT_EQ(reader.drain(records), 4096);
  EXPECT_EQ(reader.missed(), 10'000u - 4096);
  EXPECT_EQ(records.back().step, 14'096u);
  EXPECT_EQ(records[4096].step, 10'001u);
  EXPECT_EQ(reader.delivered() + reader.missed(), writer.step());
}

TEST(StepRing, ARecordBeingOverwrittenIsMissedAndTorn) {
  MappedWriter writer;
  StepRingReader reader(writer.mapped());
  for (int i = 0; i < 3; ++i) writer.write(false);
  writer.mapped().ring[1][step_word_step] = 4098;  // the writer has come round to step 2's place
  std::vector<StepRecord> records;
  EXPECT_EQ(reader.drain(records), 2);
  EXPECT_EQ(records[1].step, 3u);
  EXPECT_EQ(reader.torn(), 1u);
  EXPECT_EQ(reader.missed(), 1u);
}

TEST(StepRing, BeginsWhereItIsTold) {
  MappedWriter writer;
  writer.go_to(5'000'000'000);  // a resumed run, beyond 32 bits
  StepRingReader resumed(writer.mapped(), 5'000'000'001), unaware(writer.mapped());
  writer.write();
  writer.write();
  StepRingReader late(writer.mapped());
  writer.write();
  std::vector<StepRecord> records;
  EXPECT_EQ(resumed.drain(records), 3);
  EXPECT_EQ(resumed.next_step(), 5'000'000'004u);
  EXPECT_EQ(unaware.drain(records), 3);
  EXPECT_EQ(late.drain(records), 1);
  EXPECT_EQ(resumed.missed() + unaware.missed() + late.missed(), 0u);
}

TEST(StepRing, GoesOnAcrossThe32BitBoundary) {
  MappedWriter writer;
  writer.go_to(0xffff'fff0ull);
  StepRingReader reader(writer.mapped(), 0xffff'fff1ull);
  std::vector<StepRecord> records;
  for (int i = 0; i < 40; ++i) {
    writer.write(false);
    reader.drain(records);
  }
  EXPECT_EQ(records.size(), 40u);
  EXPECT_EQ(reader.next_step(), 0x1'0000'0019ull);
  EXPECT_EQ(reader.missed(), 0u);
}

TEST(StepRing, FollowsAStepNumberThatGoesBack) {
  MappedWriter writer;
  StepRingReader told(writer.mapped()), untold(writer.mapped());
  std::vector<StepRecord> records;
  for (int i = 0; i < 100; ++i) writer.write(false);
  told.drain(records);
  untold.drain(records);
  writer.go_to(40);
  writer.write(false);
  writer.write(false);
  told.restart(41);
  records.clear();
  EXPECT_EQ(told.drain(records), 2);
  EXPECT_EQ(records[0].step, 41u);
  EXPECT_EQ(told.rewinds(), 0u);
  EXPECT_EQ(untold.drain(records), 0);
  EXPECT_EQ(untold.rewinds(), 1u);
  writer.write(false);
  EXPECT_EQ(untold.drain(records), 1);
}

// Reader and writer at full speed; in every fifth round the reader waits until the ring has come round.
TEST(StepRing, UnderAFastWriterNothingIsLostUncounted) {
  MappedWriter writer;
  StepRingReader reader(writer.mapped());
  std::atomic<bool> stop{false};
  std::thread thread([&] {
    while (!stop) writer.write(false);
  });
  std::vector<StepRecord> records;
  std::uint64_t expected = 1, bad = 0, seen = 0;
  for (int round = 0; round < 30; ++round) {
    while (round % 5 == 0 && telemetry::read_pulse(writer.mapped()).completed < reader.next_step() + 5000)
      std::this_thread::yield();
    records.clear();
    reader.drain(records);
    for (const StepRecord& record : records) {
      if (!whole(record) || record.step < expected) ++bad;
      expected = record.step + 1;
    }
    seen += records.size();
  }
  stop = true;
  thread.join();
  records.clear();
  seen += static_cast<std::uint64_t>(reader.drain(records));
  EXPECT_EQ(bad, 0u);
  EXPECT_EQ(seen, reader.delivered());
  EXPECT_EQ(reader.delivered() + reader.missed(), writer.step());
  EXPECT_GE(reader.missed(), 6u * 900);
}

TEST(SnapshotEnvelope, IsReadWhole) {
  MappedWriter writer;
  SnapshotReader reader(writer.mapped());
  Snapshot snapshot;
  EXPECT_FALSE(reader.read(snapshot));  // nothing was published
  writer.write();
  ASSERT_TRUE(reader.read(snapshot));
  EXPECT_TRUE(whole(snapshot));
  EXPECT_EQ(snapshot.signal_step, 1u);
  writer.write(false);  // signals move, the snapshot stays
  ASSERT_TRUE(reader.read(snapshot));
  EXPECT_EQ(snapshot.signal_step, 2u);
  EXPECT_EQ(snapshot.health.step, 1u);
  EXPECT_EQ(reader.torn(), 0u);
}

TEST(SnapshotEnvelope, AStuckWriterIsGivenUpOn) {
  MappedWriter writer;
  writer.write();
  writer.mapped().sequence = 7;
  SnapshotReader reader(writer.mapped());
  Snapshot snapshot;
  snapshot.signal_step = 99;
  EXPECT_FALSE(reader.read(snapshot));
  EXPECT_EQ(snapshot.signal_step, 99u);
  EXPECT_EQ(reader.torn(), 64u);
}

TEST(SnapshotEnvelope, NeverTornUnderAFastWriter) {
  MappedWriter writer;
  std::atomic<bool> stop{false};
  std::thread thread([&] {
    while (!stop) writer.write();
  });
  SnapshotReader reader(writer.mapped());
  Snapshot snapshot;
  std::uint64_t torn = 0, backward = 0;
  std::uint32_t last = 0;
  const auto start = std::chrono::steady_clock::now();
  // Two seconds, and longer where the writer has not been in the way yet.
  const auto goes_on = [&] {
    const auto spent = std::chrono::steady_clock::now() - start;
    return spent < std::chrono::seconds(2) || (spent < std::chrono::seconds(30) && reader.torn() == 0);
  };
  while (goes_on()) {
    if (!reader.read(snapshot)) continue;
    if (!whole(snapshot)) ++torn;
    if (snapshot.signal_step < last) ++backward;
    last = snapshot.signal_step;
  }
  stop = true;
  thread.join();
  EXPECT_EQ(torn, 0u);
  EXPECT_EQ(backward, 0u);
  EXPECT_GT(reader.reads(), 0u);
  EXPECT_GT(reader.torn(), 0u) << "the writer was never in the way: the test shows nothing";
}

// As long as FOXHUNT_FULL_SPEED_SECONDS says, for builds with a sanitizer; the long test takes a minute.
TEST(Readers, AtFullSpeedNothingTornIsReturned) {
  const char* asked = std::getenv("FOXHUNT_FULL_SPEED_SECONDS");
  const FullSpeed seen = at_full_speed(asked ? std::stod(asked) : 1);
  EXPECT_EQ(seen.wrong, 0u);
  EXPECT_EQ(seen.delivered + seen.missed, seen.written);
  EXPECT_GT(seen.delivered, 0u);
}

TEST(Heart, AgeCountsFromTheLastPublication) {
  MappedWriter writer;
  const Heartbeat::Clock::time_point start{};
  const auto at = [&](int ms) { return start + std::chrono::milliseconds(ms); };
  Heartbeat heart(writer.mapped(), at(0));
  EXPECT_EQ(heart.age(at(400)), std::chrono::milliseconds(400));
  writer.write();
  EXPECT_EQ(heart.age(at(500)), std::chrono::milliseconds(0));
  EXPECT_FALSE(heart.stalled(at(10'499)));
  EXPECT_TRUE(heart.stalled(at(10'500)));
  writer.control().halt = kHaltHost;
  writer.beat();  // a halted launch is a sign of life
  EXPECT_FALSE(heart.stalled(at(10'600)));
}

}  // namespace
}  // namespace foxhunt::test
