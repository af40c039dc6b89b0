// Stream capture: what is recorded, what is refused, how streams fork and join.
#include "tests/device/device_fixture.h"

namespace foxhunt::device::test {
namespace {

constexpr std::size_t kWords = 20000;

class DeviceCapture : public DeviceTest {
 protected:
  // Runs `call` while a capture is open on a stream of its own, and gives the capture up. Returns what was refused.
  template <class Call>
  std::string refused_in_capture(Call call) {
    const auto captured = device().create_stream();
    device().begin_capture(*captured);
    const std::string said = refusal([&] { call(*captured); });
    refusal([&] { device().end_capture(*captured); });
    return said;
  }
};
FH_ON_EVERY_DEVICE(DeviceCapture);

TEST_P(DeviceCapture, RecordsAndDoesNotRun) {
  const Buffer<std::uint32_t> words(device(), kWords);
  device().begin_capture(stream());
  fill_words(stream(), ModuleSet::graph, words, 5);
  const auto graph = device().end_capture(stream());
  EXPECT_EQ(graph->nodes(), 1);
  EXPECT_EQ(values(words)[0], 0u);
  const auto executable = device().instantiate(*graph);
  EXPECT_EQ(values(words)[0], 0u);
  device().launch(*executable, stream());
  EXPECT_EQ(values(words), std::vector<std::uint32_t>(kWords, 5u));
}

TEST_P(DeviceCapture, BakedArgumentsStayBakedAndDeviceScalarsDoNot) {
  const auto x = filled<float>(std::vector<float>(64, 1.0f));
  const auto scale = filled<float>({2.0f});
  const Buffer<float> y(device(), 64);
  const Buffer<std::uint32_t> words(device(), 64);
  kernels::FillWordsArgs fill{words.data(), 64, 11};
  kernels::ScaledAddArgs add{x.data(), scale.data(), y.data(), 64};
  device().begin_capture(stream());
  device().launch(stream(), ModuleSet::graph, {}, fill);
  device().launch(stream(), ModuleSet::graph, {}, add);
  const auto graph = device().end_capture(stream());
  fill.value = 12;
  add.x = nullptr;
  const auto executable = device().instantiate(*graph);
  fill.value = 13;
  device().launch(*executable, stream());
  EXPECT_EQ(values(words)[63], 11u);
  EXPECT_EQ(values(y)[63], 2.0f);
  const float three = 3.0f;
  upload(scale.data(), &three, sizeof three);
  device().launch(*executable, stream());
  EXPECT_EQ(values(y)[63], 5.0f);
}

TEST_P(DeviceCapture, ForkAndJoinThroughEvents) {
  const auto side = device().create_stream();
  const auto fork = device().create_event(), join = device().create_event();
  const Buffer<std::uint32_t> a(device(), kWords), b(device(), kWords), c(device(), kWords), d(device(), kWords);
  device().begin_capture(stream());
  Recorder main(device(), stream(), ModuleSet::graph);
  fill_words(main.stream(), main.set(), a, 1);
  Recorder other = main.fork(*side, *fork);
  other.copy(b.data(), a.data(), a.bytes());
  main.copy(c.data(), a.data(), a.bytes());
  main.join(other, *join);
  fill_words(main.stream(), main.set(), a, 9);
  main.copy(d.data(), b.data(), b.bytes());
  const auto graph = device().end_capture(stream());
  EXPECT_EQ(graph->nodes(), 5);
  EXPECT_EQ(graph->critical_nodes(), 4);
  const auto executable = device().instantiate(*graph);
  for (int i = 0; i < 3; ++i) device().launch(*executable, stream());
  EXPECT_EQ(values(b), std::vector<std::uint32_t>(kWords, 1u));
  EXPECT_EQ(values(c), std::vector<std::uint32_t>(kWords, 1u));
  EXPECT_EQ(values(d), std::vector<std::uint32_t>(kWords, 1u));
  EXPECT_EQ(values(a), std::vector<std::uint32_t>(kWords, 9u));
  // After the capture the joined stream is an ordinary one again.
  fill_words(*side, ModuleSet::graph, a, 10);
  device().synchronise(*side);
  EXPECT_EQ(values(a)[0], 10u);
}

TEST_P(DeviceCapture, EagerAndCapturedRunTheSameRecording) {
  const auto x = filled<float>(std::vector<float>(5000, 0.5f));
  const auto scale = filled<float>({3.0f});
  const Buffer<float> eager(device(), 5000), captured(device(), 5000);
  const auto record = [&](Recorder recorder, const Buffer<float>& y) {
    recorder.fill(y.data(), 0, y.bytes());
    scaled_add(recorder.stream(), recorder.set(), x, scale, y);
    scaled_add(recorder.stream(), recorder.set(), x, scale, y);
  };
  record(Recorder(device(), stream(), ModuleSet::eager), eager);
  device().begin_capture(stream());
  record(Recorder(device(), stream(), ModuleSet::graph), captured);
  const auto executable = device().instantiate(*device().end_capture(stream()));
  device().launch(*executable, stream());
  EXPECT_EQ(values(eager), std::vector<float>(5000, 3.0f));
  EXPECT_EQ(values(captured), values(eager));
}

TEST_P(DeviceCapture, CapturedCallsAreNotCounted) {
  const Buffer<std::uint32_t> a(device(), 64), b(device(), 64);
  const Counters before = device().counters();
  device().begin_capture(stream());
  fill_words(stream(), ModuleSet::graph, a, 1);
  device().copy(stream(), b.data(), a.data(), a.bytes());
  device().fill(stream(), b.data(), 0, b.bytes());
  const auto executable = device().instantiate(*device().end_capture(stream()));
  EXPECT_EQ(device().counters().launches, before.launches);
  EXPECT_EQ(device().counters().copies, before.copies);
  for (int i = 0; i < 5; ++i) device().launch(*executable, stream());
  const Counters after = device().counters();
  EXPECT_EQ(after.launches - before.launches, 5u);
  EXPECT_EQ(after.copies, before.copies);
  EXPECT_EQ(after.staging, before.staging);
  EXPECT_EQ(after.synchronisations, before.synchronisations);
  device().synchronise(stream());
}

TEST_P(DeviceCapture, ForbiddenCallsAreRefusedByName) {
  const auto event = device().create_event();
  const Buffer<std::uint32_t> words(device(), 64);
  const MappedBuffer<std::uint32_t> mapped(device(), 64);
  const auto expect = [&](const char* name, auto call) {
    const std::string said = refused_in_capture(call);
    EXPECT_NE(said.find(name), std::string::npos) << "said: '" << said << "'";
  };
  expect("allocate", [&](Stream&) { device().allocate(256); });
  expect("allocate_mapped", [&](Stream&) { device().allocate_mapped(256); });
  expect("create_event", [&](Stream&) { device().create_event(); });
  expect("create_stream", [&](Stream&) { device().create_stream(); });
  expect("synchronise", [&](Stream& captured) { device().synchronise(captured); });
  expect("synchronise", [&](Stream&) { device().synchronise(stream()); });
  expect("synchronise", [&](Stream&) { device().synchronise(*event); });
  expect("plan", [&](Stream&) { device().plan(square(), "lane"); });
  expect("stage", [&](Stream& captured) { device().stage(captured, words.data(), mapped.device(), 256); });
  expect("fill_words", [&](Stream&) { fill_words(stream(), ModuleSet::graph, words, 1); });
  expect("instantiate", [&](Stream&) { device().instantiate(*device().create_graph()); });
  device().synchronise(stream());
  EXPECT_EQ(values(words), std::vector<std::uint32_t>(64, 0u));
}

TEST_P(DeviceCapture, AnEagerModuleMayRunBesideACapture) {
  const Buffer<std::uint32_t> words(device(), 64), other(device(), 64);
  const auto captured = device().create_stream();
  device().begin_capture(*captured);
  fill_words(*captured, ModuleSet::graph, other, 3);
  fill_words(stream(), ModuleSet::eager, words, 2);
  const auto graph = device().end_capture(*captured);
  EXPECT_EQ(graph->nodes(), 1);
  EXPECT_EQ(values(words)[0], 2u);
  EXPECT_EQ(values(other)[0], 0u);
}

TEST_P(DeviceCapture, AModuleThatIsBeingCapturedMayNot) {
  const Buffer<std::uint32_t> words(device(), 64);
  const std::string said = refused_in_capture([&](Stream& captured) {
    fill_words(captured, ModuleSet::evaluation, words, 3);
    fill_words(stream(), ModuleSet::evaluation, words, 2);
  });
  EXPECT_NE(said.find("fill_words"), std::string::npos) << said;
}

TEST_P(DeviceCapture, ARefusedCallSpoilsTheCapture) {
  device().begin_capture(stream());
  FH_EXPECT_REFUSED("allocate", device().allocate(64));
  FH_EXPECT_REFUSED("end_capture", device().end_capture(stream()));
  const Buffer<std::uint32_t> words(device(), 64);  // the capture is closed all the same
  device().begin_capture(stream());
  fill_words(stream(), ModuleSet::graph, words, 3);
  EXPECT_EQ(device().end_capture(stream())->nodes(), 1);
}

TEST_P(DeviceCapture, UnjoinedWorkIsRefused) {
  const auto side = device().create_stream();
  const auto fork = device().create_event();
  const Buffer<std::uint32_t> words(device(), 64);
  device().begin_capture(stream());
  fill_words(stream(), ModuleSet::graph, words, 1);
  device().record(*fork, stream());
  device().wait(*side, *fork);
  fill_words(*side, ModuleSet::graph, words, 2);
  FH_EXPECT_REFUSED("end_capture", device().end_capture(stream()));
  FH_EXPECT_REFUSED("end_capture", device().end_capture(stream()));  // there is none any more
}

TEST_P(DeviceCapture, AStreamThatJoinedWithoutWorkNeedsNoJoin) {
  const auto side = device().create_stream();
  const auto fork = device().create_event();
  const Buffer<std::uint32_t> words(device(), 64);
  device().begin_capture(stream());
  fill_words(stream(), ModuleSet::graph, words, 1);
  device().record(*fork, stream());
  device().wait(*side, *fork);
  fill_words(stream(), ModuleSet::graph, words, 2);
  EXPECT_EQ(device().end_capture(stream())->nodes(), 2);
}

TEST_P(DeviceCapture, EventsOfOtherTimesAreRefused) {
  const auto outside = device().create_event(), inside = device().create_event();
  const Buffer<std::uint32_t> words(device(), 64);
  device().record(*outside, stream());
  device().synchronise(stream());
  const std::string said = refused_in_capture([&](Stream& captured) { device().wait(captured, *outside); });
  EXPECT_NE(said.find("wait"), std::string::npos) << said;
  device().begin_capture(stream());
  fill_words(stream(), ModuleSet::graph, words, 1);
  device().record(*inside, stream());
  device().end_capture(stream());
  FH_EXPECT_REFUSED("wait", device().wait(stream(), *inside));
  FH_EXPECT_REFUSED("synchronise", device().synchronise(*inside));
  FH_EXPECT_REFUSED("done", static_cast<void>(inside->done()));
  device().record(*inside, stream());  // an ordinary record makes it usable again
  device().synchronise(*inside);
  EXPECT_TRUE(inside->done());
}

TEST_P(DeviceCapture, BeginAndEndBelongToOneStream) {
  const auto side = device().create_stream();
  const auto fork = device().create_event(), join = device().create_event();
  const Buffer<std::uint32_t> words(device(), 64);
  FH_EXPECT_REFUSED("end_capture", device().end_capture(stream()));
  device().begin_capture(stream());
  FH_EXPECT_REFUSED("begin_capture", device().begin_capture(stream()));
  refusal([&] { device().end_capture(stream()); });
  device().begin_capture(stream());
  fill_words(stream(), ModuleSet::graph, words, 1);
  device().record(*fork, stream());
  device().wait(*side, *fork);
  FH_EXPECT_REFUSED("end_capture", device().end_capture(*side));
  refusal([&] { device().end_capture(stream()); });
}

TEST_P(DeviceCapture, AStreamMayGoAwayInTheMiddle) {
  const Buffer<std::uint32_t> words(device(), 64);
  {
    const auto captured = device().create_stream();
    device().begin_capture(*captured);
    fill_words(*captured, ModuleSet::graph, words, 1);
  }
  const Buffer<std::uint32_t> more(device(), 64);  // no capture is open any more
  EXPECT_EQ(values(words)[0], 0u);
}

}  // namespace
}  // namespace foxhunt::device::test
