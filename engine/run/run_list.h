// All runs under one folder. The folders themselves are the index: nothing else has to be kept or rebuilt.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/run/run_info.h"

namespace foxhunt {

struct RunSummary {
  std::filesystem::path folder;
  std::string id;               // the folder's name
  std::optional<RunInfo> info;  // empty when run.json cannot be read
  RunNotes notes;
  bool running = false;  // some process controls it now
  std::string status;    // as in info, but "interrupted" for one whose controller has died; "unreadable" without info
  std::string problem;   // sentence, or empty
};

// Newest name first; empty for an absent folder. Folders without run.json are passed over.
std::vector<RunSummary> list_runs(const std::filesystem::path& runs_folder);
RunSummary summarize_run(const std::filesystem::path& run_folder);

// Writes "interrupted" into run.json of a run whose controller has died; false when it is not such a run.
bool mark_interrupted(const std::filesystem::path& run_folder);
// Of all runs under a folder, at a program's start; returns those newly marked, to offer their resumption.
std::vector<std::filesystem::path> mark_interrupted_runs(const std::filesystem::path& runs_folder);

// A run named by its folder, or by its name (or the beginning of one name only) under `runs_folder`. Throws usage Error
// listing what is near.
std::filesystem::path find_run(const std::filesystem::path& runs_folder, const std::string& name);

// Moves a run that nobody controls into runs/.trash; restore undoes it. Both return where it lies then.
std::filesystem::path trash_run(const std::filesystem::path& run_folder);
std::filesystem::path restore_run(const std::filesystem::path& trashed_folder);

}  // namespace foxhunt
