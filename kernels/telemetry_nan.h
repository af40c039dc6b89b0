// The search for values that are not finite: tiles of up to 48 ranges in one launch, then one block combines their
// flags and sets the sticky halt bit. Two passes, no atomics.
#pragma once

#include "kernels/telemetry_state.h"

namespace foxhunt::kernels {

inline constexpr int kMaxNanRanges = 48;
inline constexpr int64_t kNanTile = 8192;

struct NanRange {
  const void* data;  // float or double
  int64_t count;     // elements tested
  int32_t stride;    // elements from one to the next
  NanPlace place;
  uint8_t is_double;  // 0 or 1
};

struct ScanNansArgs {
  uint32_t* partial;  // [blocks] flag of the range, or 0; overwritten
  int32_t ranges;
  int32_t first_block[kMaxNanRanges + 1];  // of each range; then the number of blocks
  NanRange range[kMaxNanRanges];
};

FH_FN bool not_finite_at(const NanRange& range, int64_t i) {
  if (!range.is_double) return not_finite(static_cast<const float*>(range.data)[i * range.stride]);
  const double x = static_cast<const double*>(range.data)[i * range.stride];
  uint64_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  return (bits & 0x7ff0000000000000ull) == 0x7ff0000000000000ull;
}

FH_FN void scan_nans(const Block& block, const ScanNansArgs& a) {
  int k = 0;
  while (k + 1 < a.ranges && static_cast<int32_t>(block.x) >= a.first_block[k + 1]) ++k;
  const NanRange& range = a.range[k];
  const Tile tile = tile_of(static_cast<int64_t>(block.x) - a.first_block[k], range.count, kNanTile);
  uint32_t bad = 0;
  if (!range.is_double && range.stride == 1) {
    const uint32_t* x = static_cast<const uint32_t*>(range.data);
    for (int64_t i = tile.begin + block.thread(); i < tile.end; i += block.threads())
      bad |= (x[i] & 0x7f800000u) == 0x7f800000u ? 1u : 0u;
  } else {
    for (int64_t i = tile.begin + block.thread(); i < tile.end; i += block.threads()) bad |= not_finite_at(range, i);
  }
  bad = block.max(bad);
  if (block.thread() == 0) a.partial[block.x] = bad << static_cast<int>(range.place);
}

struct RaiseNansArgs {
  const uint32_t* partial;  // [blocks]
  int32_t blocks;
  const PublishState* publish;  // the place that a test wants reported
  Control* control;
};

FH_FN void raise_nans(const Block& block, const RaiseNansArgs& a) {
  uint32_t flags = 0;
  for (int i = block.thread(); i < a.blocks; i += block.threads()) flags |= a.partial[i];
  flags = block.reduce(flags, [](uint32_t x, uint32_t y) { return x | y; });
  if (block.thread() == 0) {
    if (a.publish->inject) flags |= 1u << (a.publish->inject - 1);
    if (flags && !a.control->halt) {
      a.control->nan_flags |= flags;
      a.control->halt |= kHaltNan;
    }
  }
}

}  // namespace foxhunt::kernels
