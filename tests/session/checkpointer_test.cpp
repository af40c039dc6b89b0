// Files being written: what waits for them and what does not.
#include "engine/session/checkpointer.h"

#include <gtest/gtest.h>

#include <future>

#include "engine/checkpoint/safetensors.h"
#include "engine/device/registry.h"
#include "engine/learner/policy.h"
#include "engine/market/market_loader.h"
#include "tests/session/session_fixture.h"

namespace foxhunt {
namespace {

// A learner, a collector and what they need, on the host.
class CheckpointerTest : public ::testing::Test {
 protected:
  CheckpointerTest()
      : device_(device::open_device("cpu", {.threads = 1, .plan_cache = {}})),
        table_(market::load_market(test::tiny_config().data)),
        learner_(*device_, options()),
        market_(*device_, learner_.stream(), table_),
        policy_(*device_, options().config, learner_.table(), kEnvironments, "collect", device::Precision::fp32),
        collector_(*device_, collector_target(learner_), greedy_actor(policy_), market_, collecting()) {
    market_.load_fold(learner_.stream(), FoldModel::fit(table_, {0, table_.rows()}));
    learner_.set_bar_table(market_.bars());
  }

  static LearnerOptions options() {
    LearnerOptions o;
    o.config = test::tiny_config().learner;
    o.batch = 8;
    o.capacity = 256;
    return o;
  }
  static CollectorOptions collecting() {
    CollectorOptions o;
    o.environments = kEnvironments;
    o.max_timesteps = 16;
    o.contract = {0.25, 50, 2.0, 0, 1};
    o.rules = {16, 1e6, 0.5, 3.0, 0.25, {1, 1, 0.01, 0.1, 0.1, 0.02}};
    return o;
  }
  SaveRequest request(const std::string& name, bool full) const {
    SaveRequest r;
    r.path = folder_ / name;
    r.full = full;
    r.model = FoldModel::fit(table_, {0, table_.rows()});
    return r;
  }

  static constexpr int kEnvironments = 2;
  const std::filesystem::path folder_ = test::scratch_folder();
  std::unique_ptr<device::Device> device_;
  market::MarketTable table_;
  Learner learner_;
  DeviceMarket market_;
  Policy policy_;
  Collector collector_;
};

TEST_F(CheckpointerTest, AModelDoesNotWaitForAFullFileThatIsBeingWritten) {
  std::promise<void> let_go;
  std::vector<std::string> order;
  {
    Checkpointer checkpointer(*device_, learner_, collector_);
    EXPECT_TRUE(checkpointer.ready());
    auto gate = let_go.get_future().share();
    checkpointer.save(request("full.safetensors", true), [&, gate](const SaveResult& result) {
      gate.wait();  // the writing thread stands here: the file is not done with
      order.push_back("full " + result.error);
    });
    EXPECT_FALSE(checkpointer.ready());
    checkpointer.save(request("model.safetensors", false),
                      [&](const SaveResult& result) { order.push_back("model " + result.error); });
    EXPECT_TRUE(order.empty()) << "the second call came back while the first file was held";
    EXPECT_FALSE(checkpointer.ready());
    let_go.set_value();
    checkpointer.drain();
    EXPECT_TRUE(checkpointer.ready());
  }
  EXPECT_EQ(order, (std::vector<std::string>{"full ", "model "}));
  const auto full = SafetensorsFile::open(folder_ / "full.safetensors");
  const auto model = SafetensorsFile::open(folder_ / "model.safetensors");
  EXPECT_GT(full.tensors().size(), model.tensors().size());
}

TEST_F(CheckpointerTest, ASecondFullFileHoldsWhatStoodWhenItWasAskedFor) {
  Checkpointer checkpointer(*device_, learner_, collector_);
  for (const char* name : {"first.safetensors", "second.safetensors"}) {
    // The arena's first parameter is another one for each.
    device_->fill(learner_.stream(), learner_.params(), name[0] == 'f' ? 0 : 0x3f, sizeof(float));
    checkpointer.save(request(name, true), [](const SaveResult& result) { EXPECT_EQ(result.error, ""); });
  }
  checkpointer.drain();
  const auto first_value = [&](const char* name) {
    const auto file = SafetensorsFile::open(folder_ / name);
    float value = -1;
    const auto& all = learner_.table().tensors();
    const auto front = std::find_if(all.begin(), all.end(), [](const TensorSpec& t) { return t.offset == 0; });
    for (const auto& tensor : file.tensors()) {
      if (tensor.name != "params." + front->name) continue;
      file.visit(tensor, [&](std::uint64_t first, std::span<const std::byte> bytes, std::uint64_t) {
        if (first == 0) std::memcpy(&value, bytes.data(), sizeof value);
      });
    }
    return value;
  };
  EXPECT_EQ(first_value("first.safetensors"), 0.0F);
  EXPECT_FLOAT_EQ(first_value("second.safetensors"), 0.74705883F);  // bits 0x3f3f3f3f
}

class Saving : public ::testing::Test {
 protected:
  static Config config() {
    Config c = test::tiny_config();
    c.training.epochs = 200;
    return c;
  }
  std::uint64_t post(CommandKind kind) {
    return session_.post({.kind = kind, .first = 0, .last = -1, .field = {}, .value = {}, .by = {}});
  }
  CommandRecord settled(std::uint64_t number) {
    const double until = steady_seconds() + 30;
    while (steady_seconds() < until && !session_.ended()) {
      for (const CommandRecord& record : session_.commands())
        if (record.number == number && record.stage >= CommandRecord::Stage::done) return record;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ADD_FAILURE() << "command " << number << " was never settled";
    return {};
  }
  void train_to(std::uint64_t step) {
    while (!session_.ended() && session_.status()->step < step)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  std::size_t manual_files() const {
    std::size_t count = 0;
    for (const auto& path : session_.checkpoints())
      count += path.filename().string().find("manual") != std::string::npos ? 1 : 0;
    return count;
  }

  Session session_{config(), test::options_in(test::scratch_folder() / "run")};
};

TEST_F(Saving, TwiceInAPause) {
  train_to(5);
  settled(post(CommandKind::pause));
  const std::uint64_t one = post(CommandKind::save_checkpoint);
  const std::uint64_t step = post(CommandKind::one_step);
  const std::uint64_t two = post(CommandKind::save_checkpoint);
  for (const std::uint64_t number : {one, step, two}) EXPECT_EQ(settled(number).stage, CommandRecord::Stage::done);
  EXPECT_EQ(manual_files(), 2u);
  post(CommandKind::stop_now);
  EXPECT_TRUE(session_.wait(30));
}

TEST_F(Saving, InARowWhileTrainingEachIsDoneOrRefusedAndNoneHoldsTrainingUp) {
  train_to(5);
  std::vector<std::uint64_t> asked;
  for (int i = 0; i < 12; ++i) asked.push_back(post(CommandKind::save_checkpoint));
  std::size_t done = 0;
  for (const std::uint64_t number : asked) {
    const CommandRecord record = settled(number);
    if (record.stage == CommandRecord::Stage::done)
      ++done;
    else
      EXPECT_NE(record.message.find("waiting to be saved already"), std::string::npos) << record.message;
  }
  EXPECT_GE(done, 1u);
  const std::uint64_t step = session_.status()->step;
  train_to(step + 20);
  EXPECT_GE(session_.status()->step, step + 20);
  for (const auto& path : session_.checkpoints()) EXPECT_NO_THROW(SafetensorsFile::open(path)) << path;
  post(CommandKind::stop_now);
  EXPECT_TRUE(session_.wait(30));
}

}  // namespace
}  // namespace foxhunt
