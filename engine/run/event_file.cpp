// Fields used, from tensorflow's event.proto and summary.proto: Event {1 wall_time double, 2 step int64, 3 file_version
// string, 5 summary}; Summary {1 value}; Summary.Value {1 tag string, 2 simple_value float}.
#include "engine/run/event_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "engine/base/error.h"

namespace foxhunt {
namespace {

constexpr std::array<std::uint32_t, 256> crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t c = i;
    for (int bit = 0; bit < 8; ++bit) c = (c >> 1) ^ (c & 1U ? 0x82f63b78U : 0U);
    table[i] = c;
  }
  return table;
}

std::uint32_t masked_crc(std::string_view data) {
  const std::uint32_t crc = crc32c(data);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
}

template <class T>
void put_raw(std::string& out, T value) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  out.append(bytes, sizeof(T));
}

void put_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>((value & 0x7f) | 0x80);
  out += static_cast<char>(value);
}

// Wire types: 0 varint, 1 eight bytes, 2 length and bytes, 5 four bytes.
void put_key(std::string& out, unsigned field, unsigned wire) {
  put_varint(out, field << 3 | wire);
}

void put_bytes(std::string& out, unsigned field, std::string_view bytes) {
  put_key(out, field, 2);
  put_varint(out, bytes.size());
  out += bytes;
}

}  // namespace

std::uint32_t crc32c(std::string_view data) {
  static constexpr std::array<std::uint32_t, 256> table = crc_table();
  std::uint32_t crc = 0xffffffffU;
  for (const char c : data) crc = (crc >> 8) ^ table[(crc ^ static_cast<unsigned char>(c)) & 0xff];
  return crc ^ 0xffffffffU;
}

EventFileWriter::EventFileWriter(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const double now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  for (int number = 0; number < 10'000 && !file_; ++number) {
    path_ =
        folder / fmt::format("events.out.tfevents.{:010}.{}.{}", static_cast<std::int64_t>(now), host.data(), number);
    const int handle = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (handle < 0 && errno == EEXIST) continue;
    if (handle < 0) break;
    file_ = ::fdopen(handle, "wb");
  }
  if (!file_) fail("cannot be made");
  std::string event;
  put_key(event, 1, 1);
  put_raw(event, now);
  put_bytes(event, 3, "brain.Event:2");
  frame(event);
  flush();
}

EventFileWriter::~EventFileWriter() {
  if (file_) std::fclose(file_);
}

void EventFileWriter::fail(const char* what) const {
  throw Error(fmt::format("{}: {}", what, std::strerror(errno)),
              {path_.string(), {}, {}, {}, "check the folder and the free space"});
}

void EventFileWriter::frame(const std::string& data) {
  std::string out;
  put_raw(out, static_cast<std::uint64_t>(data.size()));
  put_raw(out, masked_crc(std::string_view(out).substr(0, 8)));
  out += data;
  put_raw(out, masked_crc(data));
  if (std::fwrite(out.data(), 1, out.size(), file_) != out.size()) fail("cannot be written");
}

void EventFileWriter::scalars(double wall, std::int64_t step,
                              const std::vector<std::pair<std::string, double>>& values) {
  std::string summary, event;
  for (const auto& [tag, number] : values) {
    std::string value;
    put_bytes(value, 1, tag);
    put_key(value, 2, 5);
    put_raw(value, static_cast<float>(number));
    put_bytes(summary, 1, value);
  }
  put_key(event, 1, 1);
  put_raw(event, wall);
  put_key(event, 2, 0);
  put_varint(event, static_cast<std::uint64_t>(step));
  put_bytes(event, 5, summary);
  frame(event);
}

void EventFileWriter::flush() {
  if (std::fflush(file_) != 0) fail("cannot be written");
}

}  // namespace foxhunt
