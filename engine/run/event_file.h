// TensorBoard event files: TFRecord frames (length, masked CRC-32C, data, masked CRC-32C) of Event protocol buffers.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace foxhunt {

// Castagnoli polynomial, reflected, as in RFC 3720.
std::uint32_t crc32c(std::string_view data);

// Always a new file: one that a killed writer left half-written is never appended to, readers take the folder's files
// together.
class EventFileWriter {
 public:
  // Makes the folder and events.out.tfevents.<seconds>.<host>.<number> in it. Throws Error.
  explicit EventFileWriter(const std::filesystem::path& folder);
  ~EventFileWriter();
  EventFileWriter(const EventFileWriter&) = delete;
  EventFileWriter& operator=(const EventFileWriter&) = delete;

  // Scalars of one step in one event; values are single precision there, NaN and infinities are kept.
  void scalars(double wall, std::int64_t step, const std::vector<std::pair<std::string, double>>& values);
  // To the operating system, for a TensorBoard that is looking.
  void flush();
  const std::filesystem::path& path() const { return path_; }

 private:
  void frame(const std::string& data);
  [[noreturn]] void fail(const char* what) const;

  std::filesystem::path path_;
  std::FILE* file_ = nullptr;
};

}  // namespace foxhunt
