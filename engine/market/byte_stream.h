// The bytes of one file, decompressed when it is zstd (by magic) and made UTF-8 when it is UTF-16 (by its byte order
// mark), through buffers of fixed size.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "engine/base/error.h"
#include "engine/market/file_reader.h"

namespace foxhunt::market {

// Forward only. Frames follow one another and may border anywhere; skippable frames are skipped. A cut or damaged
// compressed stream throws Error with the offset in the compressed file, when it is reached.
class ByteStream {
 public:
  static constexpr std::size_t kWindow = std::size_t{1} << 20;  // bytes: the most that peek() can promise

  explicit ByteStream(const std::filesystem::path& path, const Progress& progress = {});
  ~ByteStream();
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  // What lies ahead, contiguous: at least `wanted` (<= kWindow) bytes unless the end comes first. Valid until the next
  // call.
  std::span<const std::uint8_t> peek(std::size_t wanted);
  // `count` bytes of the last peek() are done with.
  void skip(std::size_t count);

  bool compressed() const;
  // Of the next byte, in the decompressed data.
  std::uint64_t position() const;
  // The place for an error at `position` of the data: in a compressed file the offset reached in the compressed stream.
  ErrorPlace place(std::uint64_t position, std::string field = {}, std::string hint = {}) const;
  std::uint64_t file_offset(std::uint64_t position) const;
  const std::string& name() const;       // the path as the user gave it
  const std::string& file_name() const;  // its last part, for reports

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace foxhunt::market
