// safetensors files: a strict reader that loads one tensor (or a part of one) at a time, and a writer whose files
// appear whole or not at all. Layout: u64 header length, JSON header, data without gaps; all little-endian.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/checkpoint/dtype.h"

namespace foxhunt {

struct TensorInfo {
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::uint64_t> shape;  // empty: a scalar
  std::uint64_t elements = 1;
  std::uint64_t begin = 0, end = 0;  // bytes from the beginning of the data part
  std::uint64_t bytes() const { return end - begin; }
};

// "[4, 16]"
std::string shape_text(std::span<const std::uint64_t> shape);

class SafetensorsFile {
 public:
  // Checks header, offsets and file size; reads no data. Throws Error with file, offset, field and hint.
  static SafetensorsFile open(const std::filesystem::path& path);
  // The same over bytes in memory (a fuzz target's, a download's); `name` stands for the path. The bytes must outlive
  // the object.
  static SafetensorsFile over(std::span<const std::byte> bytes, const std::string& name);

  SafetensorsFile(SafetensorsFile&& other) noexcept;
  SafetensorsFile& operator=(SafetensorsFile&& other) noexcept;
  ~SafetensorsFile();

  const std::string& path() const { return path_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  const std::vector<TensorInfo>& tensors() const { return tensors_; }  // in the order of their data
  const TensorInfo* find(std::string_view name) const;                 // null when absent
  const TensorInfo& at(std::string_view name) const;                   // throws Error naming file and tensor

  std::vector<std::byte> read(std::string_view name) const;
  // Straight into memory of the tensor's size in bytes.
  void read_into(const TensorInfo& tensor, void* destination) const;
  // Bytes first to first + bytes of the tensor.
  void read_part(const TensorInfo& tensor, std::uint64_t first, void* destination, std::uint64_t bytes) const;
  // Values as double; two (real, imaginary) an element for C64.
  std::vector<double> as_doubles(std::string_view name) const;
  // Bytes in order, in pieces of whole elements of at most 1 MiB; the callback gets the first element's index, the
  // bytes and their number of elements.
  using Piece = std::function<void(std::uint64_t first, std::span<const std::byte> bytes, std::uint64_t elements)>;
  void visit(const TensorInfo& tensor, const Piece& piece) const;

 private:
  SafetensorsFile() = default;
  void parse();
  void read_at(std::uint64_t offset, void* destination, std::uint64_t bytes) const;

  std::string path_;
  int file_ = -1;  // -1: over memory_
  std::span<const std::byte> memory_;
  std::uint64_t size_ = 0, data_ = 0;  // of the file; offset of the data part
  std::map<std::string, std::string> metadata_;
  std::vector<TensorInfo> tensors_;
  std::map<std::string, std::size_t, std::less<>> index_;
};

// Collects tensors and metadata, then writes them. Data is placed by falling alignment of the types, else in the order
// of the calls, so that every tensor lies aligned; the memory pointed to must stay until write() returns.
class SafetensorsWriter {
 public:
  void metadata(const std::string& key, const std::string& value) { metadata_[key] = value; }
  // `data`: elements x type, little-endian. Throws Error on a name given twice or reserved.
  void add(const std::string& name, DType dtype, std::vector<std::uint64_t> shape, const void* data);
  // Temporary name, fsync, rename, fsync of the folder; what was at `path` stays untouched on any error.
  void write(const std::filesystem::path& path) const;
  std::uint64_t data_bytes() const;

 private:
  struct Source {
    TensorInfo info;
    const void* data;
  };
  std::map<std::string, std::string> metadata_;
  std::vector<Source> sources_;
};

}  // namespace foxhunt
