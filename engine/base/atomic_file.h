// Files that appear whole or not at all: written under a temporary name, synced, renamed over the old one, folder
// synced.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace foxhunt {

// One file being written beside its final place. Destroyed without commit(), it leaves what was there untouched.
// While it lives it holds a lock on the temporary, so that sweep_temporaries() of any process leaves it alone.
class AtomicFile {
 public:
  // Throws Error naming the file when the folder cannot be written.
  explicit AtomicFile(std::filesystem::path target);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  // Throws Error (a full disk, for one); the target stays as it was.
  void write(const void* data, std::size_t bytes);
  // fsync, rename, fsync of the folder.
  void commit();

 private:
  [[noreturn]] void fail(const char* what) const;

  std::filesystem::path target_, temporary_;
  int file_ = -1;
};

void write_file_atomically(const std::filesystem::path& target, std::string_view text);

// Removes the temporaries that dead writers left in the folder; returns how many.
int sweep_temporaries(const std::filesystem::path& folder);

}  // namespace foxhunt
