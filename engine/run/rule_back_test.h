// When a user rule would have fired over a recorded run.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "engine/run/run_reader.h"
#include "engine/telemetry/rules.h"

namespace foxhunt {

struct RuleBackTest {
  std::vector<telemetry::RuleEvent> events;  // in the order of the recording
  std::size_t samples = 0;                   // rows that the rule saw
  std::size_t joined = 0;                    // of those, rows that stand for several steps
  bool whole = true;                         // not stopped before the last row
  std::string sentence() const;              // "fires 3 times in 12000 samples, first at step 410"
};

// The rows of the rule's source, oldest first, through the rule that runs live. A row that stands for several steps is
// one sample: its greatest value for above and rises, its least for below, its mean for no_progress. A rule that is off
// is tested all the same. `progress` hears now and then which share of the rows is done; false stops the test.
// Errors: usage_error for a rule that check_rule refuses; Error for a damaged history, or one without the column.
RuleBackTest back_test(const RunReader& run, const telemetry::Rule& rule,
                       const std::function<bool(double share)>& progress = {});

// The same over several run folders, in their order; one that cannot be read has its error in `problem`.
struct RunBackTest {
  std::filesystem::path folder;
  RuleBackTest result;
  std::string problem;  // a sentence, or empty
};
std::vector<RunBackTest> back_test(const std::vector<std::filesystem::path>& folders, const telemetry::Rule& rule);

}  // namespace foxhunt
