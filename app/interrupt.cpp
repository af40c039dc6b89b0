// Signal handlers that only count.
#include "app/interrupt.h"

#include <unistd.h>
#include <csignal>

#include "app/cli.h"

namespace foxhunt::app {
namespace {

std::atomic<int> count{0};
std::atomic<bool> any{false};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

void count_signal(int) {
  any.store(true);
  if (count.fetch_add(1) >= 2) _exit(kInterrupted);
}

}  // namespace

void watch_interrupts() {
  struct sigaction action {};
  action.sa_handler = count_signal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

int interrupts() {
  return count.load();
}
const std::atomic<bool>& interrupted() {
  return any;
}

}  // namespace foxhunt::app
