// Graphs: children, edges, conditional nodes, event records and the rules of their construction.
#include "tests/device/device_fixture.h"

namespace foxhunt::device::test {
namespace {

class DeviceGraph : public DeviceTest {
 protected:
  std::unique_ptr<Graph> captured_fill(const Buffer<std::uint32_t>& words, std::uint32_t value) {
    device().begin_capture(stream());
    fill_words(stream(), ModuleSet::graph, words, value);
    return device().end_capture(stream());
  }
  std::unique_ptr<Graph> captured_copy(const Buffer<std::uint32_t>& to, const Buffer<std::uint32_t>& from) {
    device().begin_capture(stream());
    device().copy(stream(), to.data(), from.data(), to.bytes());
    return device().end_capture(stream());
  }
  // y += scale x, then left -= 1 and condition = left.
  std::unique_ptr<Graph> captured_turn(const Buffer<float>& x, const Buffer<float>& scale, const Buffer<float>& y,
                                       const Buffer<std::uint32_t>& left, const Condition& condition) {
    device().begin_capture(stream());
    scaled_add(stream(), ModuleSet::graph, x, scale, y);
    const kernels::CountDownArgs args{left.data(), condition.word};
    device().launch(stream(), ModuleSet::graph, {.threads = 32}, args);
    return device().end_capture(stream());
  }
};
FH_ON_EVERY_DEVICE(DeviceGraph);

TEST_P(DeviceGraph, ChildrenRunInTheOrderOfTheirEdges) {
  const Buffer<std::uint32_t> a(device(), 70000), b(device(), 70000), c(device(), 70000);
  const auto fill_one = captured_fill(a, 1), fill_two = captured_fill(a, 2);
  const auto to_b = captured_copy(b, a), to_c = captured_copy(c, a);
  const auto parent = device().create_graph();
  const NodeId one = device().add_child(*parent, "one", *fill_one, {});
  const NodeId copy = device().add_child(*parent, "copy", *to_b, std::vector{one});
  const NodeId two = device().add_child(*parent, "two", *fill_two, std::vector{copy});
  device().add_child(*parent, "last", *to_c, std::vector{two});
  EXPECT_EQ(parent->nodes(), 4);
  EXPECT_EQ(parent->critical_nodes(), 4);
  const auto executable = device().instantiate(*parent);
  for (int i = 0; i < 20; ++i) device().launch(*executable, stream());
  EXPECT_EQ(values(b), std::vector<std::uint32_t>(70000, 1u));
  EXPECT_EQ(values(c), std::vector<std::uint32_t>(70000, 2u));
}

TEST_P(DeviceGraph, AChildIsCopied) {
  const Buffer<std::uint32_t> a(device(), 64);
  const auto parent = device().create_graph();
  {
    auto child = captured_fill(a, 6);
    device().add_child(*parent, "fill", *child, {});
  }
  const auto inner = device().create_graph();
  device().add_child(*parent, "empty so far", *inner, {});
  const auto later = captured_fill(a, 7);
  device().add_child(*inner, "later", *later, {});
  EXPECT_EQ(parent->nodes(), 1);
  EXPECT_EQ(inner->nodes(), 1);
  const auto executable = device().instantiate(*parent);
  device().launch(*executable, stream());
  EXPECT_EQ(values(a)[0], 6u);
}

TEST_P(DeviceGraph, CountsNodesAndTheLongestChain) {
  const Buffer<std::uint32_t> a(device(), 64), b(device(), 64);
  const auto fill = captured_fill(a, 1);
  device().begin_capture(stream());
  for (std::uint32_t i = 0; i < 3; ++i) fill_words(stream(), ModuleSet::graph, b, i);
  const auto three = device().end_capture(stream());
  const auto parent = device().create_graph();
  const NodeId first = device().add_child(*parent, "fill", *fill, {});
  const NodeId side = device().add_child(*parent, "three", *three, {});
  device().add_child(*parent, "join", *fill, std::vector{first, side});
  EXPECT_EQ(parent->nodes(), 5);
  EXPECT_EQ(parent->critical_nodes(), 4);
}

TEST_P(DeviceGraph, LaunchesOfOneExecutableNeverOverlap) {
  const auto x = filled<float>(std::vector<float>(200000, 1.0f));
  const auto scale = filled<float>({1.0f});
  const Buffer<float> y(device(), 200000);
  device().begin_capture(stream());
  for (int i = 0; i < 3; ++i) scaled_add(stream(), ModuleSet::graph, x, scale, y);
  const auto executable = device().instantiate(*device().end_capture(stream()));
  const auto side = device().create_stream();
  for (int i = 0; i < 20; ++i) device().launch(*executable, i % 2 ? *side : stream());
  device().synchronise(*side);
  EXPECT_EQ(values(y), std::vector<float>(200000, 60.0f));
}

TEST_P(DeviceGraph, EventRecordNodesGiveTimes) {
  const Buffer<std::uint32_t> a(device(), 1 << 21);
  const auto child = captured_fill(a, 1);
  const auto begin = device().create_event(true), middle = device().create_event(true),
             end = device().create_event(true);
  const auto parent = device().create_graph();
  NodeId last = device().add_event_record(*parent, *begin, {});
  last = device().add_child(*parent, "one", *child, std::vector{last});
  last = device().add_event_record(*parent, *middle, std::vector{last});
  last = device().add_child(*parent, "two", *child, std::vector{last});
  device().add_event_record(*parent, *end, std::vector{last});
  EXPECT_EQ(parent->nodes(), 2);
  const auto executable = device().instantiate(*parent);
  for (int i = 0; i < 3; ++i) {
    device().launch(*executable, stream());
    device().synchronise(*end);
    const float one = device().elapsed_ms(*begin, *middle), two = device().elapsed_ms(*middle, *end);
    EXPECT_GT(one, 0.0f);
    EXPECT_GT(two, 0.0f);
    EXPECT_NEAR(device().elapsed_ms(*begin, *end), one + two, 0.01f * (one + two) + 0.002f);
  }
}

TEST_P(DeviceGraph, AWhileNodeRepeatsItsBody) {
  if (!device().conditional_nodes()) GTEST_SKIP() << "no conditional nodes here";
  const auto x = filled<float>(std::vector<float>(9000, 1.0f));
  const auto scale = filled<float>({1.0f});
  const Buffer<float> y(device(), 9000);
  const Buffer<std::uint32_t> left(device(), 1);
  const auto parent = device().create_graph();
  const Condition condition = device().create_condition(*parent, 1);
  Graph* body = nullptr;
  const NodeId loop = device().add_while(*parent, condition, {}, &body);
  const auto turn = captured_turn(x, scale, y, left, condition);
  device().add_child(*body, "turn", *turn, {});
  const auto after = captured_fill(left, 77);
  device().add_child(*parent, "after", *after, std::vector{loop});
  const auto executable = device().instantiate(*parent);
  for (const std::uint32_t turns : {5u, 1u}) {
    upload(left.data(), &turns, sizeof turns);
    device().fill(stream(), y.data(), 0, y.bytes());
    const Counters before = device().counters();
    device().launch(*executable, stream());
    EXPECT_EQ(device().counters().launches - before.launches, 1u);
    EXPECT_EQ(values(y), std::vector<float>(9000, static_cast<float>(turns)));
    EXPECT_EQ(values(left)[0], 77u);
  }
}

TEST_P(DeviceGraph, AnIfNodeRunsItsBodyOnceOrNever) {
  if (!device().conditional_nodes()) GTEST_SKIP() << "no conditional nodes here";
  const Buffer<std::uint32_t> words(device(), 64), left(device(), 1);
  const auto parent = device().create_graph();
  const Condition condition = device().create_condition(*parent, 0);
  device().begin_capture(stream());
  const kernels::CountDownArgs args{left.data(), condition.word};
  device().launch(stream(), ModuleSet::graph, {.threads = 1}, args);
  const auto decide = device().end_capture(stream());
  const NodeId first = device().add_child(*parent, "decide", *decide, {});
  Graph* body = nullptr;
  device().add_if(*parent, condition, std::vector{first}, &body);
  const auto fill = captured_fill(words, 4);
  device().add_child(*body, "fill", *fill, {});
  const auto executable = device().instantiate(*parent);
  std::uint32_t start = 1;  // counted down to 0: not taken
  upload(left.data(), &start, sizeof start);
  device().launch(*executable, stream());
  EXPECT_EQ(values(words)[0], 0u);
  start = 9;
  upload(left.data(), &start, sizeof start);
  device().launch(*executable, stream());
  EXPECT_EQ(values(words)[0], 4u);
}

TEST_P(DeviceGraph, AConditionStartsAnewAtEveryLaunch) {
  if (!device().conditional_nodes()) GTEST_SKIP() << "no conditional nodes here";
  const Buffer<std::uint32_t> left(device(), 1), runs(device(), 64);
  const auto parent = device().create_graph();
  const Condition condition = device().create_condition(*parent, 1);
  Graph* body = nullptr;
  device().add_while(*parent, condition, {}, &body);
  device().begin_capture(stream());
  const kernels::CountDownArgs args{left.data(), condition.word};
  device().launch(stream(), ModuleSet::graph, {.threads = 1}, args);
  const auto turn = device().end_capture(stream());
  device().add_child(*body, "turn", *turn, {});
  const auto executable = device().instantiate(*parent);
  for (int i = 0; i < 2; ++i) {
    const std::uint32_t turns = 3;
    upload(left.data(), &turns, sizeof turns);
    device().launch(*executable, stream());
    EXPECT_EQ(values(left)[0], 0u) << "launch " << i;
  }
}

TEST_P(DeviceGraph, AnIfNodeMayStandInAWhileBody) {
  if (!device().conditional_nodes()) GTEST_SKIP() << "no conditional nodes here";
  const auto x = filled<float>(std::vector<float>(64, 1.0f));
  const auto scale = filled<float>({1.0f});
  const Buffer<float> y(device(), 64), z(device(), 64);
  const Buffer<std::uint32_t> left(device(), 1), inner_left(device(), 1);
  const auto parent = device().create_graph();
  const Condition outer = device().create_condition(*parent, 1);
  Graph *loop = nullptr, *then = nullptr;
  device().add_while(*parent, outer, {}, &loop);
  const Condition inner = device().create_condition(*loop, 0);
  const auto turn = captured_turn(x, scale, y, left, outer), choose = captured_turn(x, scale, y, inner_left, inner);
  const NodeId chosen = device().add_child(*loop, "choose", *choose, {});
  const NodeId branch = device().add_if(*loop, inner, std::vector{chosen}, &then);
  device().add_child(*loop, "turn", *turn, std::vector{branch});
  device().begin_capture(stream());
  scaled_add(stream(), ModuleSet::graph, x, scale, z);
  const auto add = device().end_capture(stream());
  device().add_child(*then, "add", *add, {});
  const auto executable = device().instantiate(*parent);
  const std::uint32_t turns = 6, taken = 4;  // the inner condition is 3, 2, 1, 0, then wraps to large numbers
  upload(left.data(), &turns, sizeof turns);
  upload(inner_left.data(), &taken, sizeof taken);
  device().launch(*executable, stream());
  EXPECT_EQ(values(y)[0], 12.0f);
  EXPECT_EQ(values(z)[0], 5.0f);
}

TEST_P(DeviceGraph, ConditionalNodesInsideAChildAreRefused) {
  if (!device().conditional_nodes()) GTEST_SKIP() << "no conditional nodes here";
  const auto inner = device().create_graph(), parent = device().create_graph();
  const Condition condition = device().create_condition(*inner, 0);
  Graph* body = nullptr;
  device().add_if(*inner, condition, {}, &body);
  FH_EXPECT_REFUSED("conditional", device().add_child(*parent, "inner", *inner, {}));
  EXPECT_EQ(parent->nodes(), 0);
}

TEST_P(DeviceGraph, EventNodesInsideABodyAreRefused) {
  if (!device().conditional_nodes()) GTEST_SKIP() << "no conditional nodes here";
  const auto event = device().create_event(true);
  const auto parent = device().create_graph(), child = device().create_graph();
  const Condition condition = device().create_condition(*parent, 0);
  Graph* body = nullptr;
  device().add_while(*parent, condition, {}, &body);
  FH_EXPECT_REFUSED("event", device().add_event_record(*body, *event, {}));
  device().add_event_record(*child, *event, {});
  FH_EXPECT_REFUSED("event", device().add_child(*body, "child", *child, {}));
}

TEST_P(DeviceGraph, WrongEdgesAndConditionsAreRefused) {
  const Buffer<std::uint32_t> a(device(), 64);
  const auto child = captured_fill(a, 1);
  const auto parent = device().create_graph(), other = device().create_graph();
  FH_EXPECT_REFUSED("add_child", device().add_child(*parent, "x", *child, std::vector<NodeId>{0}));
  FH_EXPECT_REFUSED("add_child", device().add_child(*parent, "x", *child, std::vector<NodeId>{-1}));
  FH_EXPECT_REFUSED("add_child", device().add_child(*parent, "x", *parent, {}));
  if (!device().conditional_nodes()) return;
  const Condition condition = device().create_condition(*other, 1);
  Graph* body = nullptr;
  FH_EXPECT_REFUSED("add_while", device().add_while(*parent, condition, {}, &body));
  FH_EXPECT_REFUSED("add_if", device().add_if(*parent, Condition{}, {}, &body));
}

TEST_P(DeviceGraph, AnInstantiatedGraphDoesNotChange) {
  const Buffer<std::uint32_t> a(device(), 64);
  const auto child = captured_fill(a, 1);
  const auto parent = device().create_graph();
  device().add_child(*parent, "one", *child, {});
  const auto executable = device().instantiate(*parent);
  FH_EXPECT_REFUSED("instantiated", device().add_child(*parent, "two", *child, {}));
  const auto again = device().instantiate(*parent);  // a second instance may be made
  device().launch(*again, stream());
  EXPECT_EQ(values(a)[0], 1u);
}

TEST_P(DeviceGraph, AnExecutableOutlivesItsGraphEventsAndProducts) {
  const auto one = filled<float>(std::vector<float>(16, 1.0f));
  const Buffer<float> c(device(), 16);
  std::unique_ptr<Executable> executable;
  {
    const auto product = device().plan(square(), "lane");
    device().begin_capture(stream());
    device().multiply(stream(), *product, {.a = one.data(), .b = one.data(), .c = c.data()});
    const auto graph = device().end_capture(stream());
    if (host()) {
      executable = device().instantiate(*graph);
    } else {
      GTEST_SKIP() << "a product must outlive its graphs there";
    }
  }
  device().launch(*executable, stream());
  EXPECT_EQ(values(c), std::vector<float>(16, 4.0f));
}

TEST_P(DeviceGraph, ProductsOfOneLaneNeedAnEdge) {
  const auto one = filled<float>(std::vector<float>(16, 1.0f));
  const Buffer<float> c(device(), 16), d(device(), 16);
  const auto product = device().plan(square(), "shared");
  const auto capture = [&](const Buffer<float>& out) {
    device().begin_capture(stream());
    device().multiply(stream(), *product, {.a = one.data(), .b = one.data(), .c = out.data()});
    return device().end_capture(stream());
  };
  const auto first = capture(c), second = capture(d);
  const auto loose = device().create_graph(), tied = device().create_graph();
  device().add_child(*loose, "first", *first, {});
  const std::string said = refusal([&] {
    device().add_child(*loose, "second", *second, {});
    device().instantiate(*loose);
  });
  EXPECT_NE(said.find("lane"), std::string::npos) << said;
  const NodeId before = device().add_child(*tied, "first", *first, {});
  device().add_child(*tied, "second", *second, std::vector{before});
  const auto executable = device().instantiate(*tied);
  device().launch(*executable, stream());
  EXPECT_EQ(values(d), std::vector<float>(16, 4.0f));
}

}  // namespace
}  // namespace foxhunt::device::test
