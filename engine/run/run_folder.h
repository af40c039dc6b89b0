// The folder of a run: its name, its lock, and the rule that nothing named in it lies outside it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace foxhunt {

// Makes runs/<utc>-<slug>, for example runs/20260301T090507Z-es-demo; letters of the slug that do not suit a folder
// become '-'.
std::filesystem::path make_run_folder(const std::filesystem::path& runs_folder, std::string_view slug);
// `folder` itself, absent or empty; else a usage Error.
std::filesystem::path make_exact_run_folder(const std::filesystem::path& folder);

// `relative` within `folder`, with links followed; throws Error for an absolute path or one that leads outside.
std::filesystem::path path_inside(const std::filesystem::path& folder, const std::string& relative);

// Held by the one process that controls a run. The system lets go of it when the process ends, however it ends.
class RunLock {
 public:
  // Empty when another holds it; throws Error when the folder cannot be written.
  static std::optional<RunLock> try_take(const std::filesystem::path& run_folder);
  // Whether some process (this one too) holds it; takes nothing.
  static bool is_held(const std::filesystem::path& run_folder);
  // "process 4711 on host", as its holder wrote it; may be empty.
  static std::string holder(const std::filesystem::path& run_folder);

  RunLock(RunLock&& other) noexcept;
  RunLock& operator=(RunLock&& other) noexcept;
  ~RunLock();

 private:
  explicit RunLock(int file) : file_(file) {}
  int file_ = -1;
};

}  // namespace foxhunt
