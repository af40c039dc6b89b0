// Runs a test program once for each mutant: forks before main, one child after the other, and notes how each ended.
#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

static int fh_mutant = 0;  // number of the mutant that this process is, 0 none

// FOXHUNT_MUTANTS: numbers, blanks between them. FOXHUNT_RESULTS: file that gets a line "number status" each. A child
// that never ends is killed by its CPU time, one that waits for ever by an alarm.
__attribute__((constructor)) static void fh_serve() {
  const char* list = std::getenv("FOXHUNT_MUTANTS");
  if (!list) return;
  const int results = open(std::getenv("FOXHUNT_RESULTS"), O_WRONLY | O_APPEND);
  char* end = nullptr;
  for (long number = std::strtol(list, &end, 10); end != list; number = std::strtol(list, &end, 10)) {
    list = end;
    const pid_t child = fork();
    if (child == 0) {
      fh_mutant = static_cast<int>(number);
      const rlimit seconds{4, 4}, none{0, 0};
      setrlimit(RLIMIT_CPU, &seconds);
      setrlimit(RLIMIT_CORE, &none);
      alarm(300);
      const int nowhere = open("/dev/null", O_WRONLY);
      dup2(nowhere, 1);
      dup2(nowhere, 2);
      return;
    }
    int status = -1;
    waitpid(child, &status, 0);
    dprintf(results, "%ld %d\n", number, status);
  }
  _exit(0);
}
