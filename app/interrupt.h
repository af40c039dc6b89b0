// Ctrl+C: the first asks to stop, a second stops now.
#pragma once

#include <atomic>

namespace foxhunt::app {

// SIGINT and SIGTERM are counted from now on instead of ending the program; the third ends it at once. A broken pipe is
// an error of the write, not a signal.
void watch_interrupts();
int interrupts();
// Becomes true with the first: what long-running functions of the engine look at.
const std::atomic<bool>& interrupted();

}  // namespace foxhunt::app
