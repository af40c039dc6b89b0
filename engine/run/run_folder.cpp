// Locks belong to the open file, not to the process, so that two sessions of one process exclude each other too.
#include "engine/run/run_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "engine/base/error.h"
#include "engine/run/run_info.h"

namespace foxhunt {
namespace {

constexpr const char* kLockName = "lock";

struct flock whole_file(short type) {
  struct flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  return range;
}

std::string folder_slug(std::string_view slug) {
  std::string out;
  for (const char c : slug.substr(0, 60)) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
    if (plain || (!out.empty() && out.back() != '-')) out += plain ? c : '-';
  }
  while (!out.empty() && (out.back() == '-' || out.back() == '.')) out.pop_back();
  return out.empty() ? "run" : out;
}

}  // namespace

std::filesystem::path make_run_folder(const std::filesystem::path& runs_folder, std::string_view slug) {
  std::error_code error;
  std::filesystem::create_directories(runs_folder, error);
  std::string stamp = utc_now();
  std::erase_if(stamp, [](char c) { return c == '-' || c == ':'; });
  const std::string name = stamp + "-" + folder_slug(slug);
  for (int number = 1; number < 10'000 && !error; ++number) {
    const auto folder = runs_folder / (number == 1 ? name : fmt::format("{}-{}", name, number));
    if (std::filesystem::create_directory(folder, error)) return folder;
  }
  throw Error(fmt::format("no run folder can be made: {}", error ? error.message() : "all names are taken"),
              {runs_folder.string(), {}, {}, {}, "check the folder and its permissions"});
}

std::filesystem::path make_exact_run_folder(const std::filesystem::path& folder) {
  std::error_code error;
  if (std::filesystem::exists(folder, error)) {
    if (!std::filesystem::is_directory(folder, error)) {
      throw usage_error("the run folder is a file",
                        {folder.string(), {}, {}, "--run-dir", "name a folder that is absent or empty"});
    }
    if (!std::filesystem::is_empty(folder, error)) {
      throw usage_error("the run folder is not empty",
                        {folder.string(), {}, {}, "--run-dir", "name a folder that is absent or empty"});
    }
    return folder;
  }
  std::filesystem::create_directories(folder, error);
  if (error) {
    throw Error(fmt::format("the run folder cannot be made: {}", error.message()),
                {folder.string(), {}, {}, "--run-dir", "check the path and its permissions"});
  }
  return folder;
}

std::filesystem::path path_inside(const std::filesystem::path& folder, const std::string& relative) {
  const auto refuse = [&](const char* why) {
    throw Error(fmt::format("the path \"{}\" {}", relative.substr(0, 200), why),
                {folder.string(), {}, {}, {}, "paths of a run are relative to its folder and stay in it"});
  };
  if (relative.empty() || relative.find('\0') != std::string::npos) refuse("is no path");
  if (std::filesystem::path(relative).is_absolute()) refuse("is absolute");
  std::error_code error;
  const auto root = std::filesystem::weakly_canonical(folder, error);
  if (error) refuse("cannot be resolved");
  const auto resolved = std::filesystem::weakly_canonical(root / relative, error);
  if (error) refuse("cannot be resolved");
  const auto [end, at] = std::mismatch(root.begin(), root.end(), resolved.begin(), resolved.end());
  if (end != root.end() || at == resolved.end()) refuse("leads outside the run's folder");
  return resolved;
}

std::optional<RunLock> RunLock::try_take(const std::filesystem::path& run_folder) {
  const auto path = run_folder / kLockName;
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (file < 0) {
    throw Error(fmt::format("the run cannot be locked: {}", std::strerror(errno)),
                {path.string(), {}, {}, {}, "check the folder and its permissions"});
  }
  RunLock lock(file);
  struct flock range = whole_file(F_WRLCK);
  if (::fcntl(file, F_OFD_SETLK, &range) != 0) {
    if (errno == EAGAIN || errno == EACCES) return std::nullopt;
    throw Error(fmt::format("the run cannot be locked: {}", std::strerror(errno)),
                {path.string(), {}, {}, {}, "use a file system with locks"});
  }
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  const std::string who = fmt::format("process {} on {}\n", ::getpid(), host.data());
  // Who holds it is for people only: a full disk must not keep the lock from being taken.
  if (::ftruncate(file, 0) == 0 && ::pwrite(file, who.data(), who.size(), 0) < 0) errno = 0;
  return lock;
}

bool RunLock::is_held(const std::filesystem::path& run_folder) {
  const int file = ::open((run_folder / kLockName).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return false;
  struct flock range = whole_file(F_WRLCK);
  const bool asked = ::fcntl(file, F_OFD_GETLK, &range) == 0;
  ::close(file);
  return asked && range.l_type != F_UNLCK;
}

std::string RunLock::holder(const std::filesystem::path& run_folder) {
  const int file = ::open((run_folder / kLockName).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return {};
  std::array<char, 512> text{};
  const ssize_t got = ::pread(file, text.data(), text.size(), 0);
  ::close(file);
  std::string who(text.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  while (!who.empty() && who.back() == '\n') who.pop_back();
  return who;
}

RunLock::RunLock(RunLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

RunLock& RunLock::operator=(RunLock&& other) noexcept {
  std::swap(file_, other.file_);
  return *this;
}

RunLock::~RunLock() {
  if (file_ >= 0) ::close(file_);
}

}  // namespace foxhunt
