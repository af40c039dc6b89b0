// A second decoder of DBN files, written from the format's description alone, for tests to compare the readers with. It
// holds the whole file in memory and knows whole, undamaged files only.
#pragma once

#include <zstd.h>

#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/market/reader_support.h"

namespace foxhunt::market::test {

template <class T>
T at(const std::string& bytes, std::size_t offset) {
  if (offset + sizeof(T) > bytes.size()) throw std::runtime_error("beyond the end");
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

// All frames one after another, skippable ones too.
inline std::string unpacked(const std::string& packed) {
  if (packed.size() < 4) return packed;
  const auto magic = at<std::uint32_t>(packed, 0);
  if (magic != 0xFD2FB528U && (magic & 0xFFFFFFF0U) != 0x184D2A50U) return packed;
  std::string out, piece(1U << 20, '\0');
  ZSTD_DStream* stream = ZSTD_createDStream();
  ZSTD_inBuffer in{packed.data(), packed.size(), 0};
  while (in.pos < in.size) {
    ZSTD_outBuffer piece_out{piece.data(), piece.size(), 0};
    const std::size_t rest = ZSTD_decompressStream(stream, &piece_out, &in);
    if (ZSTD_isError(rest)) break;
    out.append(piece.data(), piece_out.pos);
  }
  ZSTD_freeDStream(stream);
  return out;
}

struct PlainDbn {
  int version = 0;
  std::uint16_t schema = 0;
  std::map<std::uint32_t, std::string> names;  // of instrument ids
  std::vector<std::string> symbols;
  std::vector<std::string> records;

  explicit PlainDbn(const std::string& bytes) {
    if (bytes.compare(0, 3, "DBN") != 0) throw std::runtime_error("not DBN");
    version = static_cast<unsigned char>(bytes.at(3));
    const std::size_t end = 8 + at<std::uint32_t>(bytes, 4);
    schema = at<std::uint16_t>(bytes, 24);
    const std::size_t length = version == 1 ? 22 : at<std::uint16_t>(bytes, 53);
    std::size_t here = 112;
    const auto text = [&] {
      const std::string field = bytes.substr(here, length);
      here += length;
      return field.substr(0, field.find('\0'));
    };
    const auto number = [&] {
      here += 4;
      return at<std::uint32_t>(bytes, here - 4);
    };
    for (int list = 0; list < 3; ++list) {
      for (std::uint32_t i = number(); i > 0; --i) {
        const std::string symbol = text();
        if (list == 0) symbols.push_back(symbol);
      }
    }
    for (std::uint32_t i = number(); i > 0; --i) {
      const std::string raw = text();
      for (std::uint32_t j = number(); j > 0; --j) {
        const std::uint32_t from = number(), to = number();
        const std::string id = text();
        if (from < to && !id.empty() && id.find_first_not_of("0123456789") == std::string::npos)
          names[static_cast<std::uint32_t>(std::stoul(id))] = raw;
      }
    }
    for (std::size_t i = end; i < bytes.size();) {
      const std::size_t size = 4 * static_cast<unsigned char>(bytes[i]);
      records.push_back(bytes.substr(i, size));
      i += size;
    }
  }

  static std::uint8_t type(const std::string& record) { return static_cast<std::uint8_t>(record[1]); }

  // Instruments of the records of these types.
  std::set<std::uint32_t> instruments(const std::set<int>& types) const {
    std::set<std::uint32_t> out;
    for (const auto& record : records) {
      if (types.contains(type(record))) out.insert(at<std::uint32_t>(record, 4));
    }
    return out;
  }
};

inline BarRecord plain_bar(const std::string& r) {
  const std::map<int, Time> lengths = {{0x20, 1}, {0x21, 60}, {0x22, 3600}, {0x23, 86'400}};
  const auto start = at<std::int64_t>(r, 8);
  return {start,
          start + lengths.at(PlainDbn::type(r)) * 1'000'000'000,
          at<std::int64_t>(r, 16),
          at<std::int64_t>(r, 24),
          at<std::int64_t>(r, 32),
          at<std::int64_t>(r, 40),
          static_cast<double>(at<std::uint64_t>(r, 48))};
}

// trades, mbp-1 and mbp-10 share their first 48 bytes.
inline TradeRecord plain_trade(const std::string& r) {
  return {at<std::int64_t>(r, 8),   at<std::int64_t>(r, 32),
          at<std::int64_t>(r, 16),  static_cast<double>(at<std::uint32_t>(r, 24)),
          static_cast<Side>(r[29]), static_cast<std::uint8_t>(r[30]),
          at<std::uint32_t>(r, 44)};
}

inline BookRecord plain_book(const std::string& r) {
  BookRecord out;
  const bool sampled = PlainDbn::type(r) >= 0xC0;  // bbo: no action and no depth
  out.ts_recv = at<std::int64_t>(r, 32);
  out.ts_event = at<std::uint64_t>(r, 8) == ~std::uint64_t{0} ? out.ts_recv : at<std::int64_t>(r, 8);
  out.price = at<std::int64_t>(r, 16);
  out.size = at<std::uint32_t>(r, 24);
  out.action = sampled ? Action::none : static_cast<Action>(r[28]);
  out.side = static_cast<Side>(r[29]);
  out.flags = static_cast<std::uint8_t>(sampled ? r[30] | '\x80' : r[30]);
  out.depth = sampled ? std::uint8_t{0} : static_cast<std::uint8_t>(r[31]);
  out.sequence = at<std::uint32_t>(r, 44);
  const std::size_t levels = PlainDbn::type(r) == 0x0A ? 10 : 1;
  for (std::size_t i = 0; i < levels; ++i) {
    const std::size_t o = 48 + 32 * i;
    out.levels[i] = {at<std::int64_t>(r, o),       at<std::int64_t>(r, o + 8),   at<std::uint32_t>(r, o + 16),
                     at<std::uint32_t>(r, o + 20), at<std::uint32_t>(r, o + 24), at<std::uint32_t>(r, o + 28)};
  }
  return out;
}

// Orders by price, the plain way: every order of a side, summed anew for each state that is asked for.
class PlainOrders {
 public:
  void apply(const std::string& r) {
    const char action = r[38], side = r[39];
    const auto id = at<std::uint64_t>(r, 16);
    const auto price = at<std::int64_t>(r, 24);
    const auto size = at<std::uint32_t>(r, 32);
    if (action == 'R') orders_.clear();
    if (action == 'A' || action == 'M') orders_[id] = {side, price, size};
    if (action == 'C' && orders_.contains(id)) {
      auto& order = orders_[id];
      order.size -= std::min(order.size, size);
      if (order.size == 0) orders_.erase(id);
    }
  }

  std::array<Level, kBookLevels> levels() const {
    std::map<Price, std::pair<std::uint64_t, std::uint32_t>> sides[2];
    for (const auto& [id, order] : orders_) {
      auto& level = sides[order.side == 'B' ? 0 : 1][order.side == 'B' ? -order.price : order.price];
      level.first += order.size;
      ++level.second;
    }
    std::array<Level, kBookLevels> out{};
    for (int side = 0; side < 2; ++side) {
      std::size_t i = 0;
      for (const auto& [price, level] : sides[side]) {
        if (i == out.size()) break;
        Level& to = out[i++];
        (side == 0 ? to.bid_price : to.ask_price) = side == 0 ? -price : price;
        (side == 0 ? to.bid_size : to.ask_size) = static_cast<std::uint32_t>(level.first);
        (side == 0 ? to.bid_count : to.ask_count) = level.second;
      }
    }
    return out;
  }

 private:
  struct Order {
    char side;
    Price price;
    std::uint32_t size;
  };
  std::map<std::uint64_t, Order> orders_;
};

}  // namespace foxhunt::market::test
