// Names of states and commands.
#include "engine/session/session_types.h"

namespace foxhunt {

const char* state_name(SessionState state) {
  switch (state) {
    case SessionState::idle:
      return "idle";
    case SessionState::preparing:
      return "preparing";
    case SessionState::training:
      return "training";
    case SessionState::paused:
      return "paused";
    case SessionState::validating:
      return "validating";
    case SessionState::stopping:
      return "stopping";
    case SessionState::finished:
      return "finished";
    case SessionState::stopped:
      return "stopped";
    case SessionState::halted:
      return "halted";
    case SessionState::failed:
      return "failed";
  }
  return "";
}

const char* command_name(CommandKind kind) {
  switch (kind) {
    case CommandKind::start_folds:
      return "start folds";
    case CommandKind::pause:
      return "pause";
    case CommandKind::resume:
      return "resume";
    case CommandKind::one_step:
      return "one step";
    case CommandKind::save_checkpoint:
      return "save checkpoint";
    case CommandKind::stop_and_save:
      return "stop and save";
    case CommandKind::stop_now:
      return "stop now";
    case CommandKind::set_value:
      return "set value";
  }
  return "";
}

}  // namespace foxhunt
