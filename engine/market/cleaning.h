// Cleaning of bars by stated rules, each counted with examples in the report. Book and trade rules: order_flow.h's
// pass.
//
//   undefined_price    a bar with an undefined price is dropped
//   out_of_order       a bar that opens before one already read; the bars are sorted by open time
//   duplicate          a second bar of the same open time is dropped (the first in reading order stays)
//   overlap            a bar that opens before the one before it has closed is dropped
//   inconsistent_bar   high below, or low above, open or close: widened to hold both
//   gap                more than one and a half usual intervals between two opens (usual: the median); nothing is
//   filled in zero_volume        kept ghost_open         an open left over from an earlier session: it equals the last
//   close of one of the five sessions
//                      before, is the bar's high or low, differs from the close before it by more than 5 mean ranges of
//                      the 20 bars before, and the bar closes back on the near side of the middle between the two. The
//                      open becomes the close before it, moved into the rest of the bar; so does the extreme that the
//                      ghost made
//
// A rule that repairs a bar looks only at that bar and earlier ones.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/market/data_report.h"
#include "engine/market/records.h"

namespace foxhunt::market {

// A bar and where it came from.
struct SourcedBar {
  BarRecord bar;
  int file = 0;              // index into `files`
  std::uint64_t record = 0;  // 0-based number among the bars of its file
};

// Median difference of successive open times, ns; 0 for fewer than two bars.
Time usual_interval(const std::vector<SourcedBar>& bars);

// Sorted, unique, consistent bars. `files` are the names used in examples.
std::vector<SourcedBar> clean_bars(std::vector<SourcedBar> bars, const std::vector<std::string>& files,
                                   DataReport& report);

// "2023-12-25T23:00:01.500000000Z"
std::string time_text(Time time);

}  // namespace foxhunt::market
