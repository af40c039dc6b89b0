// Made-up bars and transitions: standard normal features and rewards, so that a step's losses stay finite.
#include "app/commands/bench_fixture.h"

#include <algorithm>
#include <random>
#include <vector>

#include "engine/learner/transfer.h"
#include "engine/session/run_setup.h"

namespace foxhunt::app {
namespace {

constexpr std::int64_t kRows = 20'000;

std::vector<float> normals(std::mt19937_64& random, std::size_t count) {
  std::normal_distribution<float> normal;
  std::vector<float> out(count);
  for (float& x : out) x = normal(random);
  return out;
}

kernels::Transition transition(std::mt19937_64& random, const NamedSizes& branches) {
  std::normal_distribution<float> normal;
  kernels::Transition t{};
  t.bar = static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(kRows - 1));
  t.next_bar = t.bar + 1;
  for (float& x : t.own) x = normal(random);
  for (float& x : t.next_own) x = normal(random);
  for (int b = 0; b < kernels::kTrainingBranches; ++b) {
    t.reward[b] = normal(random);
    t.action[b] =
        static_cast<std::uint8_t>(random() % static_cast<std::uint64_t>(branches[static_cast<std::size_t>(b)].second));
  }
  t.steps = 1;
  return t;
}

}  // namespace

BenchFixture::BenchFixture(device::Device& device, int batch, device::Precision precision) : device_(device) {
  Config config;
  config.training.batch = batch;
  resolve_defaults(config, device);
  LearnerOptions options = learner_options(config, device, 1);
  options.precision = precision;
  learner_ = std::make_unique<Learner>(device, options);
  learner_->initialise();
  make_bars();
  fill_replay();
}

void BenchFixture::make_bars() {
  const auto rows = static_cast<std::size_t>(kRows);
  features_ = {device_, rows * kernels::kMarketWidth};
  labels_ = {device_, rows * 4};
  regime_ = {device_, rows * 4};
  prices_ = {device_, rows * 8};
  book_ = {device_, rows * 40};
  levels_ = {device_, rows * 2};
  std::mt19937_64 random(1);
  const std::vector<float> features = normals(random, features_.size());
  std::vector<float> labels(labels_.size(), 1.0F), regime(regime_.size(), 0.0F);
  for (std::size_t row = 0; row < rows; ++row) {
    labels[4 * row] = features[row * kernels::kMarketWidth];
    labels[4 * row + 1] = static_cast<float>(row % 3);
    regime[4 * row + 1] = 1;  // normal
    regime[4 * row + 3] = 1;
  }
  upload(device_, features_.data(), features.data(), features.size());
  upload(device_, labels_.data(), labels.data(), labels.size());
  upload(device_, regime_.data(), regime.data(), regime.size());
  learner_->set_bar_table({.features = features_.data(),
                           .prices = prices_.data(),
                           .book = book_.data(),
                           .book_levels = levels_.data(),
                           .labels = labels_.data(),
                           .regime = regime_.data(),
                           .rows = kRows});
}

void BenchFixture::fill_replay() {
  const ReplayView replay = learner_->replay();
  constexpr std::int64_t kPiece = 65'536;
  std::mt19937_64 random(2);
  std::uniform_real_distribution<float> priority(0.1F, 1.0F);
  std::vector<kernels::Transition> ring(static_cast<std::size_t>(std::min(kPiece, replay.capacity)));
  std::vector<float> priorities(ring.size());
  for (std::int64_t done = 0; done < replay.capacity; done += kPiece) {
    const auto count = static_cast<std::size_t>(std::min(kPiece, replay.capacity - done));
    for (std::size_t i = 0; i < count; ++i) {
      ring[i] = transition(random, learner_->options().config.branches);
      priorities[i] = priority(random);
    }
    upload(device_, replay.ring + done, ring.data(), count);
    upload(device_, replay.priority + done, priorities.data(), count);
  }
  kernels::Control control = download(device_, learner_->stream(), learner_->control(), 1).front();
  control.inserted = static_cast<std::uint64_t>(replay.capacity);
  control.replay_size = static_cast<std::uint32_t>(replay.capacity);
  control.max_priority = 1;
  upload(device_, learner_->control(), &control, 1);
}

}  // namespace foxhunt::app
