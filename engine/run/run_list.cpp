// Listing reads one small file a run.
#include "engine/run/run_list.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/run/run_folder.h"
#include "engine/run/run_reader.h"

namespace foxhunt {
namespace {

constexpr const char* kTrash = ".trash";

// run.json of a run that was killed is up to a second old; its history may know more.
void catch_up(const std::filesystem::path& run_folder, RunInfo& info) {
  try {
    info.steps = std::max(info.steps, RunReader::open(run_folder).last_step());
  } catch (const Error&) {
    // A history that cannot be read says nothing about the rest of the run.
  }
}

std::filesystem::path without_slash(const std::filesystem::path& folder) {
  const auto normal = folder.lexically_normal();
  return normal.has_filename() ? normal : normal.parent_path();
}

std::filesystem::path move_run(const std::filesystem::path& from, const std::filesystem::path& to_folder) {
  std::error_code error;
  std::filesystem::create_directories(to_folder, error);
  const auto to = to_folder / from.filename();
  if (!error && std::filesystem::exists(to)) error = std::make_error_code(std::errc::file_exists);
  if (!error) std::filesystem::rename(from, to, error);
  if (error)
    throw Error(fmt::format("the run cannot be moved to {}: {}", to.string(), error.message()),
                {from.string(), {}, {}, {}, "check the folders"});
  return to;
}

}  // namespace

RunSummary summarize_run(const std::filesystem::path& run_folder) {
  RunSummary summary;
  summary.folder = run_folder;
  summary.id = without_slash(run_folder).filename().string();
  summary.running = RunLock::is_held(run_folder);
  try {
    summary.info = read_run_info(run_folder);
    summary.status =
        !summary.running && !is_terminal_status(summary.info->status) ? "interrupted" : summary.info->status;
    if (summary.status != summary.info->status) catch_up(run_folder, *summary.info);
  } catch (const Error& error) {
    summary.status = "unreadable";
    summary.problem = error.sentence();
  }
  try {
    summary.notes = read_run_notes(run_folder);
  } catch (const Error& error) {
    if (summary.problem.empty()) summary.problem = error.sentence();
  }
  return summary;
}

std::vector<RunSummary> list_runs(const std::filesystem::path& runs_folder) {
  std::vector<RunSummary> runs;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(runs_folder, error)) {
    std::error_code ignored;
    const std::string name = entry.path().filename().string();
    if (name.front() == '.' || !entry.is_directory(ignored) ||
        !std::filesystem::exists(entry.path() / "run.json", ignored))
      continue;
    runs.push_back(summarize_run(entry.path()));
  }
  std::sort(runs.begin(), runs.end(), [](const RunSummary& a, const RunSummary& b) { return a.id > b.id; });
  return runs;
}

bool mark_interrupted(const std::filesystem::path& run_folder) {
  if (is_terminal_status(read_run_info(run_folder).status)) return false;
  const std::optional<RunLock> lock = RunLock::try_take(run_folder);
  if (!lock) return false;
  RunInfo info = read_run_info(run_folder);  // again: it may have finished before the lock was ours
  if (is_terminal_status(info.status)) return false;
  info.reason = fmt::format("the program ended while the run was {}", info.status);
  info.status = "interrupted";
  catch_up(run_folder, info);
  info.finished = utc_now();
  write_run_info(run_folder, info);
  return true;
}

std::vector<std::filesystem::path> mark_interrupted_runs(const std::filesystem::path& runs_folder) {
  std::vector<std::filesystem::path> marked;
  for (const RunSummary& run : list_runs(runs_folder)) {
    try {
      if (run.status == "interrupted" && mark_interrupted(run.folder)) marked.push_back(run.folder);
    } catch (const Error&) {
      // A run in a folder that cannot be written is listed as interrupted all the same.
    }
  }
  return marked;
}

std::filesystem::path find_run(const std::filesystem::path& runs_folder, const std::string& name) {
  if (name.empty())
    throw usage_error("no run is named", {{}, {}, {}, "RUN", "give its folder, its name or the beginning of its name"});
  if (std::filesystem::exists(std::filesystem::path(name) / "run.json")) return name;
  std::vector<std::string> near;
  for (const RunSummary& run : list_runs(runs_folder)) {
    if (run.id == name) return run.folder;
    if (run.id.starts_with(name)) near.push_back(run.id);
  }
  if (near.size() == 1) return runs_folder / near[0];
  std::string hint =
      near.empty() ? fmt::format("`runs list` shows the runs of {}", runs_folder.string()) : "it begins several names:";
  for (const std::string& id : near) hint += " " + id;
  throw usage_error(fmt::format("there is no run \"{}\"", name), {runs_folder.string(), {}, {}, "RUN", hint});
}

std::filesystem::path trash_run(const std::filesystem::path& run_folder) {
  const auto folder = without_slash(run_folder);
  if (!std::filesystem::exists(folder / "run.json")) {
    throw Error("there is no run in this folder", {folder.string(), {}, {}, "run.json", "name a run's folder"});
  }
  const std::optional<RunLock> lock = RunLock::try_take(folder);
  if (!lock)
    throw Error(fmt::format("the run is controlled by {}", RunLock::holder(folder)),
                {folder.string(), {}, {}, "lock", "stop it first"});
  return move_run(folder, folder.parent_path() / kTrash);
}

std::filesystem::path restore_run(const std::filesystem::path& trashed_folder) {
  const auto folder = without_slash(trashed_folder);
  FH_CHECK(folder.parent_path().filename() == kTrash, "{} is not in the trash", folder.string());
  return move_run(folder, folder.parent_path().parent_path());
}

}  // namespace foxhunt
