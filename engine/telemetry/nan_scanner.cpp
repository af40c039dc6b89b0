// Recording of the NaN search.
#include <algorithm>

#include "engine/telemetry/telemetry.h"

namespace foxhunt::telemetry {

using namespace kernels;

NanScanner::NanScanner(device::Device& device, Control* control, std::span<const NanCheck> checks,
                       const Telemetry* telemetry)
    : control_(control), checks_(checks.begin(), checks.end()) {
  FH_CHECK(!checks.empty() && checks.size() <= kMaxNanRanges, "{} NaN checks; 1 to {} fit", checks.size(),
           kMaxNanRanges);
  if (telemetry) {
    publish_ = telemetry->publish_state();
  } else {
    own_publish_ = device::Buffer<PublishState>(device, 1);
    publish_ = own_publish_.data();
  }
  std::int32_t blocks = 0;
  for (const NanCheck& check : checks_) {
    FH_CHECK(check.data && check.count > 0 && check.stride > 0, "NaN check {}: {} elements, stride {}",
             static_cast<int>(check.place), check.count, check.stride);
    first_block_.push_back(blocks);
    blocks += static_cast<std::int32_t>(tiles(check.count, kNanTile));
  }
  first_block_.push_back(blocks);
  partial_ = device::Buffer<std::uint32_t>(device, static_cast<std::size_t>(blocks));
}

void NanScanner::record(device::Recorder& recorder) {
  ScanNansArgs scan{};
  scan.partial = partial_.data();
  scan.ranges = static_cast<std::int32_t>(checks_.size());
  std::copy(first_block_.begin(), first_block_.end(), scan.first_block);
  for (std::size_t i = 0; i < checks_.size(); ++i) {
    const NanCheck& check = checks_[i];
    scan.range[i] = {check.data, check.count, check.stride, check.place,
                     check.is_double ? std::uint8_t{1} : std::uint8_t{0}};
  }
  const std::int32_t blocks = first_block_.back();
  recorder.launch({.grid_x = static_cast<std::uint32_t>(blocks), .threads = 256}, scan);
  recorder.launch({.threads = 128}, RaiseNansArgs{partial_.data(), blocks, publish_, control_});
}

}  // namespace foxhunt::telemetry
