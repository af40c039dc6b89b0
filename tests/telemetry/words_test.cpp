// Every signal, HealthDiag word and record word over random lives: steps on random buffers with the rare cases among
// them, epochs, folds, validations, halts. After each event all that was published is compared with the plain model at
// 1e-5 relative, integers exactly; in the end each word must have had a check that could fail.
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "engine/telemetry/step_ring_reader.h"
#include "tests/telemetry/telemetry_model.h"

namespace foxhunt::test {
namespace {

using telemetry::TableEntry;
using telemetry::WordType;

struct Life {
  FakeSizes sizes;
  unsigned seed;
  int events;
};

// Small ones meet all cases, large ones the edges of the tiles.
const Life kLives[] = {
    {{.batch = 13, .taus = 5}, 2, 150},
    {{.batch = 1, .atoms = 21, .taus = 3, .tiles = 65}, 1, 100},
    {{.batch = 32, .atoms = 21, .taus = 5, .experts = 7, .groups = 5, .tiles = 64}, 3, 40},
    {{.batch = 33, .atoms = 5, .taus = 32, .tiles = 129}, 4, 20},
    {{.batch = 65, .atoms = 3, .taus = 1, .experts = 1, .groups = 1, .tiles = 16}, 5, 20},
    {{.batch = 257, .atoms = 5, .taus = 3, .tiles = 63}, 6, 8},
    {{.batch = 300, .atoms = 33, .taus = 8, .tiles = 200}, 7, 6},
    {{.batch = 517, .atoms = 11, .taus = 2, .experts = 3, .groups = 4, .tiles = 128}, 8, 8},
};

// The cases that random numbers do not meet.
using Twist = void (*)(FakeStep&, std::mt19937_64&);
const Twist kTwists[] = {
    [](FakeStep&, std::mt19937_64&) {},
    // Ties and equal values of Q, of class logits, of the largest weights.
    [](FakeStep& s, std::mt19937_64& random) {
      for (std::size_t i = 0; i < s.q.size(); ++i) s.q[i] = static_cast<float>(random() % 3) - 1;
      for (std::size_t i = 0; i < s.aux_output.size(); ++i) s.aux_output[i] = static_cast<float>(random() % 2);
    },
    // Nobody trades.
    [](FakeStep& s, std::mt19937_64& random) {
      for (int b = 0; b < s.n.batch; ++b) s.action[b * 4] = random() % 2 ? 1 : 3;
    },
    // All choose alike.
    [](FakeStep& s, std::mt19937_64&) {
      for (std::size_t i = 0; i < s.action.size(); ++i) s.action[i] = 2;
    },
    // No weight, no parameters, no target.
    [](FakeStep& s, std::mt19937_64&) {
      for (int b = 0; b < s.n.batch; ++b) s.weight[b] = 0;
      for (int i = 0; i < s.n.tiles; ++i) s.tile_sums[i] = {1, 0, 1, 0, 0, 0};
      s.gradient_norm[1] = 0.25;
    },
    // A target without online parameters; no update.
    [](FakeStep& s, std::mt19937_64&) {
      for (int i = 0; i < s.n.tiles; ++i) s.tile_sums[i] = {1, i % 2 ? 3.0 : 0.0, 0, 0.5, 0.25, 1};
    },
    [](FakeStep& s, std::mt19937_64&) {
      for (int i = 0; i < s.n.tiles; ++i) s.tile_sums[i] = {1, 0, 0, 0.5, 0.25, 0};
    },
    // Update ratios at and beyond both ends of their score; a gradient that was not clipped.
    [](FakeStep& s, std::mt19937_64& random) {
      const double updates[] = {1e-16, 4e-8, 1e-2, 1e2};
      const double update = updates[random() % 4];
      for (int i = 0; i < s.n.tiles; ++i) s.tile_sums[i].parameter = 1, s.tile_sums[i].update = update;
      s.gradient_norm[1] = random() % 2 ? 1 : 1.5;
    },
    // Constant predictions, constant labels.
    [](FakeStep& s, std::mt19937_64& random) {
      const bool labels = random() % 2;
      for (int b = 0; b < s.n.batch; ++b) (labels ? s.aux[b * 4] : s.aux_output[b * 8]) = 0.5f;
    },
    // A variance that rounding made negative.
    [](FakeStep& s, std::mt19937_64&) {
      for (std::size_t i = 0; i < s.q_variance.size(); ++i) s.q_variance[i] = i % 3 ? s.q_variance[i] : -0.25f;
    },
    // An empty replay, one transition, one beyond 32 bits.
    [](FakeStep& s, std::mt19937_64& random) {
      const std::uint32_t sizes[] = {0, 1, 500};
      s.control[0].replay_size = sizes[random() % 3];
      s.control[0].inserted = s.control[0].replay_size < 500 ? s.control[0].replay_size : 0x1'0000'0123ull;
      if (s.control[0].replay_size == 1)
        for (int b = 0; b < s.n.batch; ++b) s.index[b] = 0;
    },
    // One-hot distributions: no entropy; gates and weights too.
    [](FakeStep& s, std::mt19937_64& random) {
      const auto one_hot = [&](Shared<float>& x, int width) {
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0;
        for (std::size_t r = 0; r < x.size() / static_cast<std::size_t>(width); ++r)
          x[r * static_cast<std::size_t>(width) + random() % static_cast<unsigned>(width)] = 1;
      };
      one_hot(s.probabilities, s.n.atoms);
      one_hot(s.vsn, s.n.groups);
      one_hot(s.gates, s.n.experts);
    },
    // Negative Q throughout; negative labels and losses.
    [](FakeStep& s, std::mt19937_64&) {
      for (std::size_t i = 0; i < s.q.size(); ++i)
        s.q[i] = -1 - std::abs(s.q[i]), s.q_next[i] = 2 + std::abs(s.q_next[i]);
      s.losses[loss_total] = -2;
    },
    // A term that is not finite: the bus keeps the old value.
    [](FakeStep& s, std::mt19937_64& random) {
      const double bad[] = {std::nan(""), INFINITY, -INFINITY};
      s.losses[loss_iql_low] = bad[random() % 3];
    },
};

CollectorSignals random_collector(std::mt19937_64& random) {
  std::uniform_real_distribution<float> unit(0.1f, 1.0f);
  CollectorSignals c{};
  float* first = c.action;
  float* last = &c.exploration_share;
  for (float* x = first; x <= last; ++x) *x = unit(random);
  for (float& x : c.reward) x = unit(random) - 2;
  c.regime_now = static_cast<float>(random() % 3);
  c.filled = 1;
  return c;
}

// What a word has been seen to be, of those that were compared.
class Coverage {
 public:
  explicit Coverage(std::span<const TableEntry> table) : table_(table), seen_(table.size()) {}
  void compare(int index, double got, double want, const std::string& where) {
    const TableEntry& entry = table_[static_cast<std::size_t>(index)];
    if (std::isnan(want)) {
      EXPECT_TRUE(std::isnan(got)) << entry.name << " " << where;
      return;
    }
    if (entry.type == WordType::u32 || want == 0 || std::isinf(want)) {
      EXPECT_EQ(got, want) << entry.name << " " << where;
    } else {
      EXPECT_NEAR(got, want, 1e-5 * std::abs(want)) << entry.name << " " << where;
    }
    seen_[static_cast<std::size_t>(index)].insert(want);
  }
  // Words that never differed from zero, or never from themselves, have had no test.
  void expect_complete(const std::set<std::string_view>& constant, const std::set<std::string_view>& zero) const {
    for (std::size_t i = 0; i < table_.size(); ++i) {
      const std::set<double>& values = seen_[i];
      const std::string_view name = table_[i].name;
      if (constant.contains(name)) {
        EXPECT_TRUE(values.size() == 1 && *values.begin() != 0) << name;
      } else if (zero.contains(name) || table_[i].reserved()) {
        EXPECT_EQ(values, std::set<double>{0}) << name;
      } else {
        EXPECT_GE(values.size(), 2u) << table_[i].name << " never changed: nothing tested it";
      }
    }
  }

 private:
  std::span<const TableEntry> table_;
  std::vector<std::set<double>> seen_;
};

struct AllWords {
  Coverage signals{telemetry::signal_table()}, health{telemetry::health_table()}, record{telemetry::step_table()};
};

// One rig and its model side by side.
class Twins {
 public:
  Twins(const Life& life, AllWords& words)
      : random_(life.seed), rig_(life.sizes, 1), ring_(rig_.telemetry.mapped()), words_(words) {
    where_ = fmt::format("(life {})", life.seed);
    rig_.step.fill(static_cast<unsigned>(random_()));
  }

  void live(int events) {
    for (int i = 0; i < events; ++i) {
      where_ = fmt::format("(batch {}, event {})", rig_.step.n.batch, i);
      switch (random_() % 12) {
        case 0:
          end_epoch();
          break;
        case 1:
          begin_fold();
          break;
        case 2:
          validate();
          break;
        case 3:
          collect();
          break;
        case 4:
          fault();
          break;
        default:
          one_step();
      }
      if (::testing::Test::HasFailure()) return;
    }
  }

 private:
  Control& control() { return rig_.step.control[0]; }

  void one_step() {
    rig_.step.fill(static_cast<unsigned>(random_()));
    twist_ = random_() % std::size(kTwists);
    where_ += fmt::format(", twist {}", twist_);
    kTwists[twist_](rig_.step, random_);
    if (random_() % 2) rig_.telemetry.record_stamp(rig_.recorder);
    const std::uint32_t intervals[] = {0, 1, 2, 3};
    control().settings.diag_interval = intervals[random_() % 4];
    step();
  }

  // The step counts, then the kernels run; the model goes first, on the same inputs.
  void step() {
    device_time_ = rig_.telemetry.publish_state()->device_time;
    ++control().step;
    model_.step(rig_.step, *rig_.telemetry.collector(), device_time_);
    --control().step;
    const std::uint32_t halt = control().halt;
    if (halt) ++control().step;  // run() counts only while nothing has halted
    rig_.run();
    compare(true);
  }

  // A step in which a flag rises: its record shows it, the bus stands still, no snapshot is taken; then it is mended.
  void fault() {
    rig_.step.fill(static_cast<unsigned>(random_()));
    control().settings.diag_interval = 1;
    control().nan_flags = 1u << (random_() % 16) | 1u << 3;
    control().halt = kHaltNan;
    step();
    if (random_() % 2) end_epoch();  // forced: the flags are in the snapshot
    rig_.run();                      // a launch while halted publishes nothing new
    compare(false);
    control().nan_flags = control().halt = 0;
  }

  void end_epoch() {
    EpochWords words{};
    for (std::uint32_t& x : words.controllers) x = static_cast<std::uint32_t>(random_() % 2);
    words.reward_median = static_cast<float>(random_() % 1000) * 1e-3f - 0.5f;
    words.reward_iqr = static_cast<float>(random_() % 1000) * 1e-3f + 0.1f;
    model_.end_epoch(rig_.step, words);
    rig_.telemetry.record_end_epoch(rig_.recorder, words);
    rig_.device->synchronise(*rig_.stream);
    compare(false);
  }

  void begin_fold() {
    model_.begin_fold();
    rig_.telemetry.record_begin_fold(rig_.recorder);
    rig_.device->synchronise(*rig_.stream);
    one_step();
  }

  void validate() {
    const int rows_of[] = {1, 63, 64, 65, 130, 1001};
    const int rows = rows_of[random_() % 6];
    Shared<std::int32_t> greedy(*rig_.device, static_cast<std::size_t>(rows) * 4);
    for (int i = 0; i < rows; ++i)
      for (int d = 0; d < 4; ++d)
        greedy[static_cast<std::size_t>(i) * 4 + d] = static_cast<int>(random_() % kActionCount[d]);
    rig_.telemetry.record_evaluation_histogram(rig_.recorder, greedy.device(), rows);
    rig_.device->synchronise(*rig_.stream);
    model_.validation(greedy, rows);
    one_step();
  }

  void collect() {
    *rig_.telemetry.collector() = random_collector(random_);
    one_step();
  }

  void compare(bool stepped) {
    telemetry::SnapshotReader reader(rig_.telemetry.mapped());
    telemetry::Snapshot snapshot;
    ASSERT_TRUE(reader.read(snapshot));
    for (int s = 0; s < kSignals; ++s) {
      words_.signals.compare(s, snapshot.signals[s], model_.signals()[static_cast<std::size_t>(s)], where_);
      ASSERT_EQ(float_bits(snapshot.signals[s]), float_bits(rig_.telemetry.signals()[s])) << s;
    }
    EXPECT_EQ(snapshot.signal_step, static_cast<std::uint32_t>(control().step)) << where_;
    EXPECT_NEAR(snapshot.q_epoch_mean, model_.q_epoch_mean(), 1e-5 * std::abs(model_.q_epoch_mean())) << where_;
    EXPECT_EQ(snapshot.q_epoch_steps, model_.q_epoch_steps()) << where_;
    EXPECT_EQ(snapshot.reference_updates, model_.reference_updates()) << where_;
    EXPECT_EQ(snapshot.health_snapshots, model_.snapshots()) << where_;
    for (int w = 0; w < kHealthWords; ++w) {
      const std::string name(telemetry::health_table()[w].name);
      if (model_.health().empty()) {
        EXPECT_EQ(telemetry::word_value(snapshot.health, w), 0) << name;
      } else {
        ASSERT_TRUE(model_.health().contains(name)) << name;
        words_.health.compare(w, telemetry::word_value(snapshot.health, w), model_.health().at(name), where_);
      }
    }
    records_.clear();
    ASSERT_EQ(ring_.drain(records_), stepped ? 1 : 0) << where_;
    if (stepped) compare_record(records_.back());
  }

  void compare_record(const telemetry::StepRecord& record) {
    for (int w = 0; w < kStepWords; ++w) {
      const std::string name(telemetry::step_table()[w].name);
      if (name == "device_time") {  // by the clock: what the next step's signal was told
        words_.record.compare(w, record.device_time, rig_.telemetry.publish_state()->device_time, where_);
        continue;
      }
      ASSERT_TRUE(model_.record().contains(name)) << name;
      words_.record.compare(w, telemetry::word_value(record, w), model_.record().at(name), where_);
    }
  }

  std::mt19937_64 random_;
  TelemetryRig rig_;
  TelemetryModel model_;
  telemetry::StepRingReader ring_;
  AllWords& words_;
  std::vector<telemetry::StepRecord> records_;
  std::string where_;
  std::size_t twist_ = 0;
  double device_time_ = 0;
};

TEST(Words, AllOfThemAreTheirDefinitionsThroughRandomLives) {
  AllWords words;
  for (const Life& life : kLives) {
    std::printf("life of batch %d, seed %u\n", life.sizes.batch, life.seed);
    Twins twins(life, words);
    twins.live(life.events);
    if (HasFailure()) return;
  }
  words.signals.expect_complete({}, {});
  words.health.expect_complete({"progress.layout_version"}, {});
  words.record.expect_complete({}, {});
}

}  // namespace
}  // namespace foxhunt::test
