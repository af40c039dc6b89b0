// Reads with pread alone: a file that shrinks while it is open is an error, where a mapping would kill the process.
#include "engine/checkpoint/safetensors.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "engine/base/error.h"
#include "engine/checkpoint/safetensors_header.h"

namespace foxhunt {
namespace {

constexpr std::uint64_t kMaxHeader = 100'000'000;
constexpr std::uint64_t kPiece = 1 << 20;

}  // namespace

std::string shape_text(std::span<const std::uint64_t> shape) {
  std::string out = "[";
  for (const std::uint64_t n : shape) out += fmt::format("{}{}", out.size() > 1 ? ", " : "", n);
  return out + "]";
}

SafetensorsFile SafetensorsFile::open(const std::filesystem::path& path) {
  SafetensorsFile made;
  made.path_ = path.string();
  made.file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (made.file_ < 0) {
    throw Error(fmt::format("cannot be opened: {}", std::strerror(errno)),
                {made.path_, {}, {}, {}, "check the path and its permissions"});
  }
  struct stat info {};
  if (::fstat(made.file_, &info) != 0 || !S_ISREG(info.st_mode)) {
    throw Error("not a regular file", {made.path_, {}, {}, {}, "name a .safetensors file"});
  }
  made.size_ = static_cast<std::uint64_t>(info.st_size);
  made.parse();
  return made;
}

SafetensorsFile SafetensorsFile::over(std::span<const std::byte> bytes, const std::string& name) {
  SafetensorsFile made;
  made.path_ = name;
  made.memory_ = bytes;
  made.size_ = bytes.size();
  made.parse();
  return made;
}

SafetensorsFile::SafetensorsFile(SafetensorsFile&& other) noexcept {
  *this = std::move(other);
}

SafetensorsFile& SafetensorsFile::operator=(SafetensorsFile&& other) noexcept {
  if (this == &other) return *this;
  std::swap(file_, other.file_);
  path_ = std::move(other.path_);
  memory_ = other.memory_;
  size_ = other.size_;
  data_ = other.data_;
  metadata_ = std::move(other.metadata_);
  tensors_ = std::move(other.tensors_);
  index_ = std::move(other.index_);
  return *this;
}

SafetensorsFile::~SafetensorsFile() {
  if (file_ >= 0) ::close(file_);
}

void SafetensorsFile::read_at(std::uint64_t offset, void* destination, std::uint64_t bytes) const {
  char* at = static_cast<char*>(destination);
  if (file_ < 0) {
    FH_CHECK(offset <= memory_.size() && bytes <= memory_.size() - offset, "{} bytes at {} of {}", bytes, offset,
             memory_.size());
    if (bytes > 0) std::memcpy(at, memory_.data() + offset, bytes);
    return;
  }
  while (bytes > 0) {
    const ssize_t got = ::pread(file_, at, std::min<std::uint64_t>(bytes, 1U << 30), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      throw Error(fmt::format("cannot be read: {}", std::strerror(errno)), {path_, offset, {}, {}, "check the disk"});
    if (got == 0)
      throw Error("the file ends here now, it was longer when it was opened",
                  {path_, offset, {}, {}, "something has cut it: open it again"});
    at += got;
    offset += static_cast<std::uint64_t>(got);
    bytes -= static_cast<std::uint64_t>(got);
  }
}

void SafetensorsFile::parse() {
  if (size_ < 8) {
    throw Error(fmt::format("the file has {} bytes, but begins with a header length of 8", size_),
                {path_, 0, {}, "header length", "the file is cut or no safetensors file"});
  }
  std::uint64_t length = 0;
  read_at(0, &length, 8);
  if (length > kMaxHeader) {
    throw Error(fmt::format("the header length is {}; allowed: at most {}", length, kMaxHeader),
                {path_, 0, {}, "header length", "is this a safetensors file?"});
  }
  if (length > size_ - 8) {
    throw Error(fmt::format("the header length is {}, but only {} bytes follow", length, size_ - 8),
                {path_, 0, {}, "header length", "the file is cut or no safetensors file"});
  }
  std::string text(length, '\0');
  read_at(8, text.data(), length);
  data_ = 8 + length;
  detail::SafetensorsHeader header = detail::parse_safetensors_header(text, size_ - data_, path_);
  metadata_ = std::move(header.metadata);
  tensors_ = std::move(header.tensors);
  for (std::size_t i = 0; i < tensors_.size(); ++i) index_[tensors_[i].name] = i;
}

const TensorInfo* SafetensorsFile::find(std::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &tensors_[found->second];
}

const TensorInfo& SafetensorsFile::at(std::string_view name) const {
  if (const TensorInfo* tensor = find(name)) return *tensor;
  throw Error(
      fmt::format("there is no tensor \"{}\" in the file", name),
      {path_, {}, {}, std::string(name), fmt::format("it has {} tensors; `inspect` lists them", tensors_.size())});
}

void SafetensorsFile::read_into(const TensorInfo& tensor, void* destination) const {
  read_at(data_ + tensor.begin, destination, tensor.bytes());
}

void SafetensorsFile::read_part(const TensorInfo& tensor, std::uint64_t first, void* destination,
                                std::uint64_t bytes) const {
  FH_CHECK(first <= tensor.bytes() && bytes <= tensor.bytes() - first, "bytes {} + {} of {}", first, bytes,
           tensor.bytes());
  read_at(data_ + tensor.begin + first, destination, bytes);
}

std::vector<std::byte> SafetensorsFile::read(std::string_view name) const {
  const TensorInfo& tensor = at(name);
  std::vector<std::byte> bytes(tensor.bytes());
  read_into(tensor, bytes.data());
  return bytes;
}

std::vector<double> SafetensorsFile::as_doubles(std::string_view name) const {
  const TensorInfo& tensor = at(name);
  const std::uint32_t parts = dtype_parts(tensor.dtype);
  std::vector<double> values(tensor.elements * parts);
  visit(tensor, [&](std::uint64_t first, std::span<const std::byte> bytes, std::uint64_t elements) {
    decode_elements(tensor.dtype, bytes.data(), elements, values.data() + first * parts);
  });
  return values;
}

void SafetensorsFile::visit(const TensorInfo& tensor, const Piece& piece) const {
  const std::uint64_t bits = dtype_bits(tensor.dtype);
  const std::uint64_t step = kPiece / 8;  // elements; a multiple of 4 keeps packed types on whole bytes
  std::vector<std::byte> buffer(std::min(tensor.bytes(), (step * bits + 7) / 8));
  for (std::uint64_t first = 0; first < tensor.elements; first += step) {
    const std::uint64_t elements = std::min(step, tensor.elements - first);
    const std::uint64_t bytes = elements * bits / 8;
    read_at(data_ + tensor.begin + first * bits / 8, buffer.data(), bytes);
    piece(first, std::span<const std::byte>(buffer).first(bytes), elements);
  }
}

}  // namespace foxhunt
