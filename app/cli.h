// From the words of a command line to an exit code.
#pragma once

#include <string>
#include <vector>

namespace foxhunt::app {

// 0 done, 1 failed, 2 usage or configuration, 3 halted by a guard, 130 interrupted.
inline constexpr int kDone = 0, kFailed = 1, kUsage = 2, kHalted = 3, kInterrupted = 130;

// `words`: without the program's name. Never throws.
int run_cli(const std::vector<std::string>& words);

}  // namespace foxhunt::app
