// Recording of telemetry's kernels.
#include "engine/telemetry/telemetry.h"

#include <algorithm>
#include <iterator>

#include "engine/telemetry/tables.h"

namespace foxhunt::telemetry {
namespace {

using namespace kernels;

// Where words differ in what they are made of, a warp makes one.
constexpr device::Launch kOneBlock{.threads = 256}, kWarpAWord{.threads = 768};

device::Launch rows_launch(std::int64_t rows, std::int64_t tile) {
  return {.grid_x = tiles(rows, tile), .threads = 512};  // a team has two rows
}

// Gradient slot of a tensor group: the value expectiles and the auxiliary heads share the last.
std::int8_t gradient_slot(std::string_view group) {
  constexpr std::string_view names[kGradientSlots] = {"vsn",       "grn1",  "grn2",    "moe", "value", "direction",
                                                      "magnitude", "order", "urgency", "iqn", "iql"};
  if (group == "aux") group = "iql";
  const auto* found = std::find(std::begin(names), std::end(names), group);
  return found == std::end(names) ? std::int8_t{-1} : static_cast<std::int8_t>(found - std::begin(names));
}

template <class Args>
void fill_kinds(Args& args) {
  const auto table = signal_table();
  for (int slot = 0; slot < kSignals; ++slot) args.kind[slot] = table[slot].kind;
}

template <class Args>
void fill_mirror(Args& args) {
  const auto table = health_table();
  for (int word = 0; word < kHealthWords; ++word)
    args.from[word] = table[word].mirror < 0 ? kNoMirror : static_cast<std::uint8_t>(table[word].mirror);
}

const StepResults& checked(const StepResults& r, const TelemetryLayout& layout) {
  if (!Telemetry::supports(r)) {
    throw usage_error(
        fmt::format("telemetry shows branches of 4, 3, 3 and 3 actions, at most {} experts and {} feature groups; this "
                    "learner has {} branches with {} actions, {} experts, {} groups",
                    kShownExperts, kShownGroups, r.branches, r.actions, r.experts, r.groups),
        {.field = "learner.branches", .hint = "other sizes can be verified with verify-step, not trained"});
  }
  FH_CHECK(layout.groups.size() <= kMaxTensorGroups, "{} tensor groups", layout.groups.size());
  FH_CHECK(layout.sigma.size() <= kMaxTensors && layout.sigma.size() == layout.size.size(), "{} tensors, {} sizes",
           layout.sigma.size(), layout.size.size());
  return r;
}

}  // namespace

bool Telemetry::supports(const StepResults& r) {
  constexpr int actions[kShownBranches] = {4, 3, 3, 3};
  return r.branches == kShownBranches && std::equal(actions, actions + kShownBranches, r.branch_actions) &&
         r.experts <= kShownExperts && r.groups <= kShownGroups && r.batch > 0 && r.taus > 0;
}

Telemetry::Telemetry(device::Device& device, const StepResults& results, const TelemetryLayout& layout)
    : results_(checked(results, layout)),
      layout_(layout),
      state_(device, 1),
      publish_(device, 1),
      collector_(device, 1),
      mapped_(device, 1),
      batch_rows_(device, static_cast<std::size_t>(results.batch) * kBatchColumns),
      batch_partial_(device, tiles(results.batch, kSampleTile) * std::size_t{kBatchColumns}),
      arena_partial_(device, tiles(results.tiles, kArenaChunk) * std::size_t{kArenaColumns}),
      sample_rows_(device, static_cast<std::size_t>(results.batch) * kSampleColumns),
      sample_partial_(device, tiles(results.batch, kSampleTile) * std::size_t{kSampleColumns}),
      magnitude_partial_(device, tiles(results.batch, kMagnitudeTile) * std::size_t{kMagnitudeColumns}),
      health_totals_(device, std::size_t{kSampleColumns} + kMagnitudeColumns),
      histogram_partial_(device, std::size_t{kHistogramBlocks} * kShownActions),
      side_(device.create_stream()),
      forked_(device.create_event()),
      joined_(device.create_event()) {}

void Telemetry::record_stamp(device::Recorder& recorder) {
  recorder.launch({.threads = 1}, StampStepArgs{publish_.data()});
}

void Telemetry::record_batch_statistics(device::Recorder& recorder) {
  recorder.launch(rows_launch(results_.batch, kSampleTile),
                  BatchStatisticsArgs{results_, batch_rows_.data(), batch_partial_.data()});
}

void Telemetry::record_maintenance(device::Recorder& recorder) {
  ArenaStatisticsArgs arena{results_, arena_partial_.data(), {}, {}};
  std::fill(std::begin(arena.group_slot), std::end(arena.group_slot), std::int8_t{-1});
  for (std::size_t i = 0; i < layout_.groups.size(); ++i) arena.group_slot[i] = gradient_slot(layout_.groups[i]);
  std::fill(std::begin(arena.tensor_sigma), std::end(arena.tensor_sigma), TelemetryLayout::kNoSigma);
  std::copy(layout_.sigma.begin(), layout_.sigma.end(), arena.tensor_sigma);
  recorder.launch({.grid_x = tiles(results_.tiles, kArenaChunk), .threads = 512}, arena);

  UpdateSignalsArgs signals{};
  signals.results = results_;
  signals.state = state_.data();
  signals.publish = publish_.data();
  signals.collector = collector_.data();
  signals.batch_partial = batch_partial_.data();
  signals.arena_partial = arena_partial_.data();
  signals.batch_tiles = static_cast<std::int32_t>(tiles(results_.batch, kSampleTile));
  signals.arena_tiles = static_cast<std::int32_t>(tiles(results_.tiles, kArenaChunk));
  for (std::size_t i = 0; i < layout_.sigma.size(); ++i) {
    if (layout_.sigma[i] != TelemetryLayout::kNoSigma)
      signals.sigma_count[layout_.sigma[i]] += static_cast<double>(layout_.size[i]);
  }
  fill_kinds(signals);
  recorder.launch(kWarpAWord, signals);
}

void Telemetry::batch_health(device::Recorder& recorder, bool forced) {
  const std::uint32_t force = forced ? 1 : 0;
  recorder.launch(rows_launch(results_.batch, kSampleTile),
                  SampleStatisticsArgs{results_, sample_rows_.data(), sample_partial_.data(), force});
  recorder.launch(rows_launch(results_.batch, kMagnitudeTile),
                  MagnitudeStatisticsArgs{results_, magnitude_partial_.data(), force});
}

void Telemetry::finish_health(device::Recorder& recorder, bool forced) {
  const std::uint32_t force = forced ? 1 : 0;
  MirrorSignalsArgs mirror{results_.control, state_.data(), publish_.data(), force, {}};
  fill_mirror(mirror);
  device::Recorder side = recorder.fork(*side_, *forked_);  // they write different words
  side.launch(kOneBlock, mirror);

  FinaliseHealthArgs finalise{};
  finalise.results = results_;
  finalise.state = state_.data();
  finalise.publish = publish_.data();
  finalise.samples = sample_partial_.data();
  finalise.magnitudes = magnitude_partial_.data();
  finalise.totals = health_totals_.data();
  finalise.sample_tiles = static_cast<std::int32_t>(tiles(results_.batch, kSampleTile));
  finalise.magnitude_tiles = static_cast<std::int32_t>(tiles(results_.batch, kMagnitudeTile));
  finalise.forced = force;
  fill_mirror(finalise);
  recorder.launch(kOneBlock, finalise);
  recorder.join(side, *joined_);
}

void Telemetry::publish(device::Recorder& recorder, bool forced) {
  recorder.launch(kWarpAWord,
                  PublishArgs{results_, state_.data(), publish_.data(), mapped_.device(), forced ? 1u : 0u});
}

void Telemetry::end_epoch(device::Recorder& recorder, const EpochWords& words, bool advance) {
  recorder.launch({.threads = 1}, EndEpochArgs{state_.data(), advance ? 1u : 0u, words});
}

void Telemetry::record_end_epoch(device::Recorder& recorder, const EpochWords& words) {
  end_epoch(recorder, words, false);
  batch_health(recorder, true);
  finish_health(recorder, true);
  end_epoch(recorder, words, true);
  publish(recorder, true);
}

void Telemetry::record_begin_fold(device::Recorder& recorder) {
  BeginFoldSignalsArgs args{state_.data(), {}};
  fill_kinds(args);
  recorder.launch(kOneBlock, args);
}

void Telemetry::record_evaluation_histogram(device::Recorder& recorder, const std::int32_t* greedy, std::int64_t rows) {
  FH_CHECK(rows > 0, "an evaluation of {} rows", rows);
  EvaluationHistogramArgs args{};
  args.greedy = greedy;
  args.rows = rows;
  args.tile = (rows + kHistogramBlocks - 1) / kHistogramBlocks;
  args.branches = results_.branches;
  args.actions = results_.actions;
  std::copy(std::begin(results_.branch_first), std::end(results_.branch_first), args.branch_first);
  for (int branch = 0; branch < results_.branches; ++branch) {
    for (int i = 0; i < results_.branch_actions[branch]; ++i)
      args.branch_of[results_.branch_first[branch] + i] = branch;
  }
  args.partial = histogram_partial_.data();
  const auto blocks = tiles(rows, args.tile);
  recorder.launch({.grid_x = blocks, .threads = 32}, args);
  recorder.launch({.threads = 32}, EvaluationSharesArgs{histogram_partial_.data(), static_cast<std::int32_t>(blocks),
                                                        results_.actions, rows, state_.data()});
}

void Telemetry::record_injection(device::Recorder& recorder, std::optional<NanPlace> place) {
  recorder.launch({.threads = 1},
                  FillWordsArgs{&publish_.data()->inject, 1, place ? static_cast<std::uint32_t>(*place) + 1 : 0});
}

}  // namespace foxhunt::telemetry
