// Buffered reading with optional zstd and UTF-16; see byte_stream.h.
#include "engine/market/byte_stream.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

namespace foxhunt::market {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 18;            // bytes a read of a compressed file
constexpr std::size_t kFrameHeader = 5;                         // bytes: the least of a zstd frame header
constexpr std::uint64_t kReportEvery = std::uint64_t{4} << 20;  // bytes between two progress reports

std::uint32_t little32(const std::uint8_t* at) {
  std::uint32_t value = 0;
  std::memcpy(&value, at, sizeof value);
  return value;
}

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

// UTF-16 code units into UTF-8, unit by unit: what is cut at the end of one piece is taken up by the next.
struct Utf16Decoder {
  bool big_endian = false;
  int half = -1;           // the first byte of a unit
  std::uint32_t high = 0;  // the first unit of a pair

  // Returns the bytes written at `to`, at most three for two of `from`. A unit without its pair becomes U+FFFD.
  std::size_t decode(std::span<const std::uint8_t> from, std::uint8_t* to) {
    std::uint8_t* at = to;
    const auto put = [&at](std::uint32_t c) {
      if (c < 0x80) {
        *at++ = static_cast<std::uint8_t>(c);
        return;
      }
      const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
      *at++ = static_cast<std::uint8_t>((0xF00 >> (more + 1) & 0xFF) | c >> (6 * more));
      for (int i = more - 1; i >= 0; --i) *at++ = static_cast<std::uint8_t>(0x80 | (c >> (6 * i) & 0x3F));
    };
    for (const std::uint8_t byte : from) {
      if (half < 0) {
        half = byte;
        continue;
      }
      const auto first = static_cast<std::uint32_t>(half);
      const std::uint32_t unit = big_endian ? first << 8 | byte : static_cast<std::uint32_t>(byte) << 8 | first;
      half = -1;
      const bool low = unit >= 0xDC00 && unit < 0xE000;
      if (high != 0 && low) {
        put(0x10000 + ((high - 0xD800) << 10) + (unit - 0xDC00));
        high = 0;
        continue;
      }
      if (high != 0) put(0xFFFD);
      high = unit >= 0xD800 && unit < 0xDC00 ? unit : 0;
      if (high == 0) put(low ? 0xFFFD : unit);
    }
    return static_cast<std::size_t>(at - to);
  }
};
struct ContextFreer {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

}  // namespace

struct ByteStream::State {
  std::string name, file_name;
  Progress progress;
  std::unique_ptr<std::FILE, FileCloser> file;
  std::uint64_t file_size = 0, file_read = 0, reported = 0;

  std::unique_ptr<ZSTD_DCtx, ContextFreer> context;  // set when the file is zstd
  std::vector<std::uint8_t> compressed;              // input of the decompressor
  std::size_t compressed_begin = 0, compressed_end = 0;
  std::size_t frame_rest = 0;  // what the decompressor still expects; 0 on a frame border

  std::vector<std::uint8_t> window;  // decompressed bytes [begin, end)
  std::size_t begin = 0, end = 0;
  std::uint64_t position = 0;  // of window[begin]
  bool ended = false;

  std::uint64_t compressed_offset() const { return file_read - (compressed_end - compressed_begin); }

  [[noreturn]] void fail(const std::string& message, std::uint64_t offset, const std::string& hint) const {
    throw Error(message, ErrorPlace{name, offset, std::nullopt, "", hint});
  }

  std::size_t read(std::uint8_t* to, std::size_t count) {
    if (progress.cancel != nullptr && progress.cancel->load(std::memory_order_relaxed)) {
      throw Error("cancelled", ErrorPlace{.file = name});
    }
    const std::size_t got = std::fread(to, 1, count, file.get());
    if (got < count && std::ferror(file.get()) != 0) {
      fail(fmt::format("cannot be read: {}", std::strerror(errno)), file_read, "check the disk and the permissions");
    }
    file_read += got;
    if (progress.report && (file_read - reported >= kReportEvery || got < count)) {
      reported = file_read;
      progress.report(file_read, file_size, file_name);
    }
    return got;
  }

  bool started = false;           // the first bytes were looked at for a byte order mark
  Utf16Decoder* utf16 = nullptr;  // of `decoder`, when the data is UTF-16
  Utf16Decoder decoder;
  std::vector<std::uint8_t> wide;  // undecoded bytes

  // Appends to the window; false at the end of the data.
  bool fill() {
    if (utf16 == nullptr) {
      const std::size_t got = produce(window.data() + end, window.size() - end);
      end += got;
      return got > 0;
    }
    while (true) {                                                 // an odd byte alone makes no character
      const std::size_t room = (window.size() - end - 8) / 3 * 2;  // two bytes become three at most
      const std::size_t got = produce(wide.data(), std::min(room, wide.size()));
      const std::size_t made = utf16->decode({wide.data(), got}, window.data() + end);
      end += made;
      if (made > 0 || got == 0) return made > 0;
    }
  }

  // What the window holds is the data's start: a byte order mark of UTF-16 makes all of it UTF-8.
  void look_for_mark() {
    started = true;
    if (end < 2) return;
    const bool little = window[0] == 0xFF && window[1] == 0xFE, big = window[0] == 0xFE && window[1] == 0xFF;
    if (!little && !big) return;
    utf16 = &decoder;
    decoder.big_endian = big;
    wide.assign(window.begin() + 2, window.begin() + static_cast<std::ptrdiff_t>(end));
    window.resize(std::max(window.size(), wide.size() / 2 * 3 + kWindow));
    end = decoder.decode(wide, window.data());
    wide.resize(kChunk);
  }

  // Bytes of the data put at `to`; 0 at the end.
  std::size_t produce(std::uint8_t* to, std::size_t room) { return context ? inflate(to, room) : read(to, room); }

  std::size_t inflate(std::uint8_t* to, std::size_t room) {
    while (true) {
      if (compressed_begin == compressed_end) {
        compressed_begin = 0;
        compressed_end = read(compressed.data(), compressed.size());
        if (compressed_end == 0 && frame_rest == 0) return 0;
      }
      // Not more than the decompressor asks for: a step is then one block, and an error has the block's offset.
      const std::size_t step = frame_rest == 0 ? kFrameHeader : frame_rest;
      ZSTD_inBuffer in{compressed.data(), std::min(compressed_end, compressed_begin + step), compressed_begin};
      ZSTD_outBuffer out{to, room, 0};
      const bool input_over = compressed_end == 0;
      const std::size_t rest = ZSTD_decompressStream(context.get(), &out, &in);
      compressed_begin = in.pos;
      if (ZSTD_isError(rest)) {
        fail(fmt::format("the zstd stream is damaged: {}", ZSTD_getErrorName(rest)), compressed_offset(),
             "download the file again");
      }
      frame_rest = rest;
      if (out.pos > 0) return out.pos;
      if (input_over && rest != 0) {
        fail("the zstd stream is cut: the file ends inside a frame", file_read,
             "the download is incomplete: download the file again");
      }
    }
  }
};

ByteStream::ByteStream(const std::filesystem::path& path, const Progress& progress) : state_(new State) {
  State& s = *state_;
  s.name = path.string();
  s.file_name = path.filename().string();
  s.progress = progress;
  struct stat info {};
  if (stat(s.name.c_str(), &info) != 0) {
    throw Error(fmt::format("cannot be opened: {}", std::strerror(errno)),
                ErrorPlace{.file = s.name, .hint = "check the path"});
  }
  if (!S_ISREG(info.st_mode)) {
    throw Error("is not a regular file", ErrorPlace{.file = s.name, .hint = "give the path of a DBN or CSV file"});
  }
  s.file_size = static_cast<std::uint64_t>(info.st_size);
  s.file.reset(std::fopen(s.name.c_str(), "rb"));
  if (!s.file) {
    throw Error(fmt::format("cannot be opened: {}", std::strerror(errno)),
                ErrorPlace{.file = s.name, .hint = "check the permissions"});
  }
  std::setvbuf(s.file.get(), nullptr, _IONBF, 0);
  s.window.resize(kWindow);
  s.compressed.resize(kChunk);
  s.compressed_end = s.read(s.compressed.data(), s.compressed.size());
  const std::uint32_t magic = s.compressed_end >= 4 ? little32(s.compressed.data()) : 0;
  if (magic == ZSTD_MAGICNUMBER || (magic & 0xFFFFFFF0U) == 0x184D2A50U) {
    if (s.compressed_end >= 11 && magic != ZSTD_MAGICNUMBER && std::memcmp(s.compressed.data() + 8, "DBZ", 3) == 0) {
      s.fail("is a legacy DBZ file (2022), which is not read", 0,
             "convert it to DBN 1, 2 or 3 with Databento's dbn tool");
    }
    s.context.reset(ZSTD_createDCtx());
    FH_CHECK(s.context != nullptr, "no memory for a zstd context");
  } else {
    std::memcpy(s.window.data(), s.compressed.data(), s.compressed_end);
    s.end = s.compressed_end;
    s.look_for_mark();
  }
}

ByteStream::~ByteStream() = default;

std::span<const std::uint8_t> ByteStream::peek(std::size_t wanted) {
  FH_CHECK(wanted <= kWindow, "{} bytes asked of a window of {}", wanted, kWindow);
  State& s = *state_;
  if (s.end - s.begin < wanted && !s.ended) {
    std::memmove(s.window.data(), s.window.data() + s.begin, s.end - s.begin);
    s.end -= s.begin;
    s.begin = 0;
    while (s.end < wanted && !s.ended) {
      s.ended = !s.fill();
      if (!s.started && (s.end >= 2 || s.ended)) s.look_for_mark();
    }
  }
  return {s.window.data() + s.begin, s.end - s.begin};
}

void ByteStream::skip(std::size_t count) {
  State& s = *state_;
  FH_CHECK(count <= s.end - s.begin, "{} bytes skipped of {}", count, s.end - s.begin);
  s.begin += count;
  s.position += count;
}

bool ByteStream::compressed() const {
  return state_->context != nullptr;
}
std::uint64_t ByteStream::position() const {
  return state_->position;
}
const std::string& ByteStream::name() const {
  return state_->name;
}
const std::string& ByteStream::file_name() const {
  return state_->file_name;
}

std::uint64_t ByteStream::file_offset(std::uint64_t position) const {
  return state_->context ? state_->compressed_offset() : position;
}

ErrorPlace ByteStream::place(std::uint64_t position, std::string field, std::string hint) const {
  return ErrorPlace{state_->name, file_offset(position), std::nullopt, std::move(field), std::move(hint)};
}

}  // namespace foxhunt::market
