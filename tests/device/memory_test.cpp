// Memory, mapped memory, streams, events, eager launches and counters of every device.
#include <thread>

#include "tests/device/device_fixture.h"
#include "tests/support/log_watch.h"

namespace foxhunt::device::test {
namespace {

class DeviceBasics : public DeviceTest {};
FH_ON_EVERY_DEVICE(DeviceBasics);

TEST_P(DeviceBasics, InfoNamesProcessorAndLibrary) {
  const DeviceInfo& info = device().info();
  EXPECT_EQ(info.name, GetParam());
  EXPECT_FALSE(info.description.empty());
  EXPECT_FALSE(info.library.empty());
  EXPECT_GT(info.memory_bytes, 0u);
  EXPECT_TRUE(info.available);
  if (host()) {
    EXPECT_EQ(info.threads, 2);
    EXPECT_NE(info.library.find("OpenBLAS"), std::string::npos) << info.library;
    EXPECT_NE(info.library.find("core"), std::string::npos) << info.library;
  }
}

TEST_P(DeviceBasics, MemoryIsZeroFilledAndAligned) {
  for (const std::size_t count : {1u, 63u, 1000u, 300000u}) {
    const Buffer<std::uint32_t> buffer(device(), count);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 256, 0u);
    EXPECT_EQ(values(buffer), std::vector<std::uint32_t>(count, 0u));
    fill_words(stream(), ModuleSet::eager, buffer, 0xffffffffu);  // dirt for the next one
    device().synchronise(stream());
  }
}

TEST_P(DeviceBasics, ImpossibleAllocationsAreRefusedWithTheirSize) {
  FH_EXPECT_REFUSED("1152921504606846976 bytes asked for", device().allocate(std::size_t{1} << 60));
  FH_EXPECT_REFUSED("allocate", device().allocate(0));
}

TEST_P(DeviceBasics, MappedMemoryIsSeenByBothSides) {
  MappedBuffer<std::uint32_t> mapped(device(), 100);
  EXPECT_EQ(mapped.host()[99], 0u);
  const kernels::FillWordsArgs args{mapped.device(), 100, 7};
  device().launch(stream(), ModuleSet::eager, {}, args);
  device().synchronise(stream());
  EXPECT_EQ(mapped.host()[0], 7u);
  EXPECT_EQ(mapped.host()[99], 7u);
}

TEST_P(DeviceBasics, ReleaseOfAnUnknownAddressIsReportedNotThrown) {
  if (!host()) GTEST_SKIP() << "the driver's own report differs";
  foxhunt::test::ExpectLog expected("release");
  int here = 0;
  device().release(&here);
  EXPECT_EQ(expected.count(), 1);
  const Mapped mapped = device().allocate_mapped(16);
  device().release(mapped.host);  // mapped memory through the wrong door
  EXPECT_EQ(expected.count(), 2);
  device().release(mapped);
}

TEST_P(DeviceBasics, AStreamKeepsItsOrder) {
  const Buffer<std::uint32_t> words(device(), 100000), other(device(), 100000);
  for (std::uint32_t i = 1; i <= 50; ++i) {
    fill_words(stream(), ModuleSet::eager, words, i);
    device().copy(stream(), other.data(), words.data(), words.bytes());
  }
  EXPECT_EQ(values(other), std::vector<std::uint32_t>(100000, 50u));
  device().fill(stream(), words.data(), 0xab, words.bytes());
  EXPECT_EQ(values(words), std::vector<std::uint32_t>(100000, 0xababababu));
}

TEST_P(DeviceBasics, ArgumentsAreCopiedAtTheCall) {
  const Buffer<std::uint32_t> words(device(), 5000);
  kernels::FillWordsArgs args{words.data(), 5000, 3};
  device().launch(stream(), ModuleSet::eager, {.grid_x = 2}, args);
  args.value = 4;
  args.words = nullptr;
  EXPECT_EQ(values(words), std::vector<std::uint32_t>(5000, 3u));
}

TEST_P(DeviceBasics, EventsOrderStreams) {
  const auto side = device().create_stream(-1);
  const auto event = device().create_event();
  const Buffer<std::uint32_t> words(device(), 1 << 20), seen(device(), 1 << 20);
  EXPECT_TRUE(event->done());  // never recorded
  device().wait(*side, *event);
  for (std::uint32_t i = 1; i <= 20; ++i) {
    fill_words(stream(), ModuleSet::eager, words, i);
    device().record(*event, stream());
    device().wait(*side, *event);
    device().copy(*side, seen.data(), words.data(), words.bytes());
    device().record(*event, *side);  // recorded again while the earlier record may still be pending
    device().wait(stream(), *event);
  }
  device().synchronise(*event);
  EXPECT_TRUE(event->done());
  EXPECT_EQ(values(seen), std::vector<std::uint32_t>(1 << 20, 20u));
}

TEST_P(DeviceBasics, ElapsedTimeNeedsTimingEventsThatHappened) {
  const auto first = device().create_event(true), second = device().create_event(true), plain = device().create_event();
  const Buffer<std::uint32_t> words(device(), 1 << 20);
  FH_EXPECT_REFUSED("elapsed_ms", device().elapsed_ms(*first, *second));
  device().record(*first, stream());
  fill_words(stream(), ModuleSet::eager, words, 1);
  device().record(*second, stream());
  device().record(*plain, stream());
  device().synchronise(*second);
  const float forward = device().elapsed_ms(*first, *second);
  EXPECT_GT(forward, 0.0f);
  EXPECT_LT(forward, 60000.0f);
  device().synchronise(stream());
  FH_EXPECT_REFUSED("elapsed_ms", device().elapsed_ms(*first, *plain));
}

TEST_P(DeviceBasics, CountersCountHostCalls) {
  const Counters before = device().counters();
  const Buffer<std::uint32_t> a(device(), 64), b(device(), 64);
  const MappedBuffer<std::uint32_t> mapped(device(), 64);
  fill_words(stream(), ModuleSet::eager, a, 1);
  device().copy(stream(), b.data(), a.data(), a.bytes());
  device().fill(stream(), b.data(), 0, b.bytes());
  device().stage(stream(), b.data(), mapped.device(), b.bytes());
  device().synchronise(stream());
  const Counters after = device().counters();
  EXPECT_EQ(after.allocations - before.allocations, 3u);
  EXPECT_EQ(after.launches - before.launches, 1u);
  EXPECT_EQ(after.copies - before.copies, 2u);
  EXPECT_EQ(after.staging - before.staging, 1u);
  EXPECT_EQ(after.synchronisations - before.synchronisations, 1u);
}

TEST_P(DeviceBasics, BadLaunchesNameTheKernel) {
  const Buffer<std::uint32_t> words(device(), 64);
  const kernels::FillWordsArgs args{words.data(), 64, 1};
  const auto launch = [&](const Launch& shape) { device().launch(stream(), ModuleSet::eager, shape, args); };
  FH_EXPECT_REFUSED("fill_words", launch({.grid_x = 0}));
  FH_EXPECT_REFUSED("fill_words", launch({.grid_y = 0}));
  FH_EXPECT_REFUSED("fill_words", launch({.threads = 0}));
  FH_EXPECT_REFUSED("1025 threads", launch({.threads = 1025}));
  FH_EXPECT_REFUSED("fill_words", launch({.block_scratch = 1u << 20}));
  FH_EXPECT_REFUSED("fill_words", device().launch(stream(), ModuleSet::eager, kernels::KernelId::fill_words, {}, &args,
                                                  sizeof args - 1));
  device().synchronise(stream());
  EXPECT_EQ(values(words), std::vector<std::uint32_t>(64, 0u));
}

TEST_P(DeviceBasics, CopiesOutsideOfMemoryAreRefused) {
  if (!host()) GTEST_SKIP() << "the driver finds these when the copy runs";
  const Buffer<std::uint32_t> words(device(), 64), other(device(), 64);
  std::uint32_t here[64] = {};
  FH_EXPECT_REFUSED("copy: the source", device().copy(stream(), words.data(), here, sizeof here));
  FH_EXPECT_REFUSED("needs 260 bytes", device().copy(stream(), words.data(), other.data(), 260));
  FH_EXPECT_REFUSED("fill: the destination", device().fill(stream(), here, 0, sizeof here));
  FH_EXPECT_REFUSED("mapped memory", device().stage(stream(), words.data(), other.data(), 256));
  FH_EXPECT_REFUSED("overlap", device().copy(stream(), words.data() + 1, words.data(), 128));
}

TEST_P(DeviceBasics, ObjectsOfAnotherDeviceAreRefused) {
  if (!host()) GTEST_SKIP() << "one device of a kind";
  const auto other = open_device("cpu", with_threads(1));
  const auto strange = other->create_stream();
  FH_EXPECT_REFUSED("belongs to another device", device().synchronise(*strange));
}

TEST_P(DeviceBasics, CountersAndEventsMayBeReadFromAnotherThread) {
  const auto event = device().create_event();
  const Buffer<std::uint32_t> words(device(), 4096);
  std::uint64_t seen = 0;
  std::atomic<bool> stop{false};
  std::thread reader([&] {
    while (!stop.load()) seen = std::max(seen, device().counters().launches + (event->done() ? 1u : 0u));
  });
  for (std::uint32_t i = 0; i < 200; ++i) {
    fill_words(stream(), ModuleSet::eager, words, i);
    device().record(*event, stream());
  }
  device().synchronise(stream());
  stop.store(true);
  reader.join();
  EXPECT_LE(seen, 201u);
  EXPECT_EQ(device().counters().launches, 200u);
}

TEST_P(DeviceBasics, MemoryIsReleasedAfterTheWorkThatUsesIt) {
  const Buffer<std::uint32_t> kept(device(), 1 << 20);
  for (std::uint32_t i = 1; i <= 5; ++i) {
    const Buffer<std::uint32_t> words(device(), 1 << 20);
    fill_words(stream(), ModuleSet::eager, words, i);
    device().copy(stream(), kept.data(), words.data(), words.bytes());
  }
  EXPECT_EQ(values(kept), std::vector<std::uint32_t>(1 << 20, 5u));
}

TEST_P(DeviceBasics, AStreamFinishesItsWorkBeforeItGoesAway) {
  const Buffer<std::uint32_t> words(device(), 1 << 20);
  {
    const auto side = device().create_stream();
    for (std::uint32_t i = 0; i < 10; ++i) fill_words(*side, ModuleSet::eager, words, i);
    device().synchronise(*side);
  }
  EXPECT_EQ(values(words), std::vector<std::uint32_t>(1 << 20, 9u));
}

}  // namespace
}  // namespace foxhunt::device::test
