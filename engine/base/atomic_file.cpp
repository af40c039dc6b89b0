// Temporaries are called ".<name>.<pid>-<count>.partial"; a lock held by the living writer tells them from stale ones,
// also across process-number spaces.
#include "engine/base/atomic_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "engine/base/error.h"

namespace foxhunt {
namespace {

constexpr std::string_view kSuffix = ".partial";

std::atomic<unsigned> next_number{0};

void sync_folder(const std::filesystem::path& folder) {
  const int handle = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (handle < 0) return;  // some file systems have no folder handles; the rename itself has succeeded
  ::fsync(handle);
  ::close(handle);
}

}  // namespace

AtomicFile::AtomicFile(std::filesystem::path target) : target_(std::move(target)) {
  // A sweep may take the new file between its creation and its lock: then there is no name left, and another is made.
  for (int attempt = 0; attempt < 100; ++attempt) {
    temporary_ = target_.parent_path() /
                 fmt::format(".{}.{}-{}{}", target_.filename().string(), ::getpid(), next_number++, kSuffix);
    file_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file_ < 0 && errno == EEXIST) continue;
    if (file_ < 0) fail("cannot be created");
    struct stat info {};
    if (::flock(file_, LOCK_EX | LOCK_NB) == 0 && ::fstat(file_, &info) == 0 && info.st_nlink == 1) return;
    ::close(file_);
    file_ = -1;
  }
  throw Error("no temporary file could be made beside it", {target_.string(), {}, {}, {}, "check the folder"});
}

AtomicFile::~AtomicFile() {
  if (file_ < 0) return;
  ::unlink(temporary_.c_str());
  ::close(file_);
}

void AtomicFile::fail(const char* what) const {
  const int error = errno;
  throw Error(fmt::format("{}: {}", what, std::strerror(error)),
              {target_.string(),
               {},
               {},
               {},
               error == ENOSPC || error == EDQUOT ? "free some disk space" : "check the folder and its permissions"});
}

void AtomicFile::write(const void* data, std::size_t bytes) {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t done = ::write(file_, at, std::min<std::size_t>(bytes, 1U << 30));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail("cannot be written");
    at += done;
    bytes -= static_cast<std::size_t>(done);
  }
}

void AtomicFile::commit() {
  if (::fsync(file_) != 0) fail("cannot be written to disk");
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail("cannot be put in place");
  ::close(file_);
  file_ = -1;
  sync_folder(target_.parent_path());
}

void write_file_atomically(const std::filesystem::path& target, std::string_view text) {
  AtomicFile file(target);
  file.write(text.data(), text.size());
  file.commit();
}

int sweep_temporaries(const std::filesystem::path& folder) {
  int swept = 0;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.front() != '.' || !name.ends_with(kSuffix) || !entry.is_regular_file(ignored) || entry.is_symlink(ignored))
      continue;
    const int file = ::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) continue;
    if (::flock(file, LOCK_EX | LOCK_NB) == 0 && ::unlink(entry.path().c_str()) == 0) ++swept;
    ::close(file);
  }
  return swept;
}

}  // namespace foxhunt
