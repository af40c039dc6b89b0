// foxhunt-cli: everything the engine does, from a terminal.
#include "app/cli.h"

int main(int argc, char** argv) {
  return foxhunt::app::run_cli({argv + 1, argv + argc});
}
