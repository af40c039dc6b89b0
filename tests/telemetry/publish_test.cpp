// What leaves the device: step records, ring, polled words, the NaN search.
#include <gtest/gtest.h>

#include "engine/telemetry/snapshot_reader.h"
#include "engine/telemetry/step_ring_reader.h"
#include "tests/telemetry/fake_step.h"

namespace foxhunt::test {
namespace {

using telemetry::NanCheck;
using telemetry::read_pulse;
using telemetry::StepRecord;
using telemetry::StepRingReader;

TEST(Publish, StepRecordHoldsItsForty) {
  TelemetryRig rig({.batch = 29});
  StepRingReader reader(rig.telemetry.mapped());
  rig.run(1);
  rig.telemetry.record_end_epoch(rig.recorder, {});
  const double q_first = expected_health(rig.step).at("q.mean");
  rig.run(2);
  std::vector<StepRecord> records;
  ASSERT_EQ(reader.drain(records), 2);
  EXPECT_EQ(records[0].step, 1u);
  EXPECT_EQ(records[0].drift_ratio, 0);
  const StepRecord& r = records[1];
  const auto e = expected_health(rig.step);
  const Control& c = rig.step.control[0];
  EXPECT_EQ(r.step, 2u);
  EXPECT_EQ(r.step_last, 2u);
  EXPECT_EQ(r.fold, rig.step.control[0].settings.fold);
  EXPECT_EQ(r.epoch, rig.step.control[0].settings.epoch);
  for (int i = 0; i < kLossTerms; ++i)
    EXPECT_EQ(telemetry::word_value(r, step_word_loss_total + i), static_cast<float>(rig.step.losses[i])) << i;
  const std::map<int, double> want = {
      {step_word_c51_alpha, c.c51_alpha},
      {step_word_grad_norm_raw, rig.step.gradient_norm[0]},
      {step_word_grad_norm_clipped, rig.step.gradient_norm[0] * rig.step.gradient_norm[1]},
      {step_word_lr, c.settings.lr},
      {step_word_tau, c.tau},
      {step_word_beta, c.beta},
      {step_word_q_mean_direction, e.at("q.mean.direction")},
      {step_word_q_mean_magnitude, e.at("q.mean.magnitude")},
      {step_word_q_mean_order, e.at("q.mean.order")},
      {step_word_q_mean_urgency, e.at("q.mean.urgency")},
      {step_word_td_mean, e.at("loss.td_mean")},
      {step_word_td_max, e.at("loss.td_max")},
      {step_word_action_entropy, expected_action_entropy(rig.step)},
      {step_word_drift_ratio, std::abs(e.at("q.mean") / q_first)},
      {step_word_epsilon, c.settings.epsilon},
      {step_word_q_mean, e.at("q.mean")}};
  for (const auto& [word, value] : want)
    EXPECT_NEAR(telemetry::word_value(r, word), value, 1e-5 * std::abs(value)) << telemetry::step_table()[word].name;
  for (int w = 33; w < 39; ++w) EXPECT_EQ(telemetry::word_value(r, w), 0);
  EXPECT_EQ(r.nan_flags, 0u);
  EXPECT_EQ(r.halt, 0u);
}

TEST(Publish, DeviceTimeCountsFromTheStamp) {
  TelemetryRig rig;
  StepRingReader reader(rig.telemetry.mapped());
  rig.run(1);
  rig.telemetry.record_stamp(rig.recorder);
  rig.run(2);
  rig.run(3);
  std::vector<StepRecord> records;
  ASSERT_EQ(reader.drain(records), 3);
  EXPECT_EQ(records[0].device_time, 0);
  EXPECT_GT(records[1].device_time, 0);
  EXPECT_EQ(records[2].device_time, 0);  // one stamp serves one step
  EXPECT_EQ(rig.telemetry.signals()[signal_step_time], records[1].device_time);
}

TEST(Publish, HaltedLaunchesBeatWithoutARecord) {
  TelemetryRig rig;
  StepRingReader reader(rig.telemetry.mapped());
  std::vector<StepRecord> records;
  rig.run(1);
  rig.run(2);
  rig.step.control[0].halt = kHaltHost;
  rig.run();
  rig.run();
  const auto pulse = read_pulse(rig.telemetry.mapped());
  EXPECT_EQ(pulse.completed, 2u);
  EXPECT_EQ(pulse.publishes, 4u);
  EXPECT_EQ(pulse.halt, kHaltHost);
  EXPECT_EQ(reader.drain(records), 2);
  rig.step.control[0].halt = 0;
  rig.run();
  EXPECT_EQ(reader.drain(records), 1);
  EXPECT_EQ(records.back().step, 3u);
  EXPECT_EQ(read_pulse(rig.telemetry.mapped()).halt, 0u);
}

// Sixteen buffers of odd sizes, one a place.
struct NanRig : TelemetryRig {
  NanRig() {
    for (int place = 0; place < kNanPlaces; ++place) {
      buffers.emplace_back(*device, static_cast<std::size_t>(7919 + 4001 * place));
      for (std::size_t i = 0; i < buffers.back().size(); ++i) buffers.back()[i] = 1.0f + static_cast<float>(i);
      checks.push_back(
          {static_cast<NanPlace>(place), buffers.back().device(), static_cast<std::int64_t>(buffers.back().size())});
    }
    scanner = std::make_unique<telemetry::NanScanner>(*device, step.control.device(), checks, &telemetry);
  }
  std::uint32_t scan() {
    scanner->record(recorder);
    device->synchronise(*stream);
    return step.control[0].nan_flags;
  }
  std::vector<Shared<float>> buffers;
  std::vector<NanCheck> checks;
  std::unique_ptr<telemetry::NanScanner> scanner;
};

TEST(NanSearch, FindsEachPlaceAlone) {
  NanRig rig;
  EXPECT_EQ(rig.scan(), 0u);
  EXPECT_EQ(rig.step.control[0].halt, 0u);
  const float bad[3] = {std::nanf(""), INFINITY, -INFINITY};
  for (int place = 0; place < kNanPlaces; ++place) {
    rig.step.control[0].halt = rig.step.control[0].nan_flags = 0;
    auto& buffer = rig.buffers[static_cast<std::size_t>(place)];
    for (std::size_t at : {std::size_t{0}, buffer.size() / 2, buffer.size() - 1}) {
      const float kept = buffer[at];
      buffer[at] = bad[(place + at) % 3];
      EXPECT_EQ(rig.scan(), 1u << place) << "element " << at;
      EXPECT_EQ(rig.step.control[0].halt, kHaltNan);
      buffer[at] = kept;
      rig.step.control[0].halt = rig.step.control[0].nan_flags = 0;
    }
  }
  EXPECT_EQ(rig.scan(), 0u);
}

TEST(NanSearch, FlagsAreStickyAndTheFirstFaultIsKept) {
  NanRig rig;
  rig.buffers[2][5] = std::nanf("");
  rig.buffers[12][6] = INFINITY;
  EXPECT_EQ(rig.scan(), 1u << 2 | 1u << 12);
  rig.buffers[0][0] = std::nanf("");
  EXPECT_EQ(rig.scan(), 1u << 2 | 1u << 12);  // halted: what followed is no cause
  rig.buffers[0][0] = rig.buffers[2][5] = rig.buffers[12][6] = 0;
  EXPECT_EQ(rig.scan(), 1u << 2 | 1u << 12);
  rig.run();
  EXPECT_EQ(read_pulse(rig.telemetry.mapped()).nan_flags, 1u << 2 | 1u << 12);
}

TEST(NanSearch, ReadsDoublesAndColumns) {
  TelemetryRig rig;
  const NanCheck checks[] = {{NanPlace::loss, rig.step.losses.device(), kLossTerms, 1, true},
                             {NanPlace::gradients, &rig.step.tile_sums.device()->gradient, rig.step.n.tiles,
                              sizeof(TileSums) / sizeof(double), true}};
  telemetry::NanScanner scanner(*rig.device, rig.step.control.device(), checks, nullptr);
  rig.step.fill(1);
  rig.step.tile_sums[20].update = std::nan("");  // another column
  scanner.record(rig.recorder);
  rig.device->synchronise(*rig.stream);
  EXPECT_EQ(rig.step.control[0].nan_flags, 0u);
  rig.step.tile_sums[149].gradient = std::nan("");
  scanner.record(rig.recorder);
  rig.device->synchronise(*rig.stream);
  EXPECT_EQ(rig.step.control[0].nan_flags, 1u << 6);
  rig.step.control[0].nan_flags = rig.step.control[0].halt = 0;
  rig.step.losses[10] = INFINITY;
  scanner.record(rig.recorder);
  rig.device->synchronise(*rig.stream);
  EXPECT_EQ(rig.step.control[0].nan_flags, 1u << 6 | 1u << 3);
}

TEST(NanSearch, ReportsAnInjectedPlace) {
  NanRig rig;
  rig.telemetry.record_injection(rig.recorder, NanPlace::gates);
  EXPECT_EQ(rig.scan(), 1u << 13);
  rig.step.control[0].nan_flags = rig.step.control[0].halt = 0;
  rig.telemetry.record_injection(rig.recorder, std::nullopt);
  EXPECT_EQ(rig.scan(), 0u);
}

TEST(Publish, RecordOfTheFaultyStepShowsItsFlags) {
  NanRig rig;
  StepRingReader reader(rig.telemetry.mapped());
  rig.run(1);
  rig.step.fill(2);
  rig.step.losses[loss_total] = std::nan("");
  rig.step.control[0].nan_flags = 1u << 3;
  rig.step.control[0].halt = kHaltNan;
  rig.step.control[0].step = 2;  // the step began, then a flag rose
  rig.run();
  std::vector<StepRecord> records;
  ASSERT_EQ(reader.drain(records), 2);
  EXPECT_EQ(records[1].nan_flags, 1u << 3);
  EXPECT_EQ(records[1].halt, kHaltNan);
  EXPECT_TRUE(std::isnan(records[1].loss_total));
}

}  // namespace
}  // namespace foxhunt::test
