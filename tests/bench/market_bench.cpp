// How fast market files are read: synthetic MBP-10 of any length, plain and zstd, to a sink that only counts and into
// the bars' order flow, on one core; and how much memory that takes.
//
//   market_bench [RECORDS] [FOLDER]     10,000,000 records by default, in a temporary folder; the files are removed
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>

#include "engine/base/error.h"
#include "engine/market/dbn_writer.h"
#include "engine/market/file_reader.h"
#include "engine/market/order_flow.h"

namespace foxhunt::market {
namespace {

constexpr Time kStart = 1'704'067'200'000'000'000;  // 2024-01-01
constexpr Time kStep = 2'000'000;                   // ns between records
constexpr Time kMinute = 60'000'000'000;

// A ten-level book that a tick now and then moves.
class Market {
 public:
  BookRecord next() {
    const std::uint64_t r = random_();
    if (r % 16 == 0) mid_ += r % 32 == 0 ? 250'000'000 : -250'000'000;
    BookRecord out;
    out.ts_recv = kStart + count_ * kStep;
    out.ts_event = out.ts_recv - 20'000;
    out.action = r % 3 == 0 ? Action::add : r % 3 == 1 ? Action::cancel : Action::modify;
    out.side = r % 2 ? Side::bid : Side::ask;
    out.flags = r % 5 == 0 ? 0 : kFlagLast;
    out.depth = static_cast<std::uint8_t>(r % 10);
    out.price = mid_;
    out.size = static_cast<std::uint32_t>(1 + r % 7);
    out.sequence = static_cast<std::uint32_t>(++count_);
    for (int i = 0; i < kBookLevels; ++i) {
      const auto k = static_cast<std::uint64_t>(i);
      out.levels[i] = {mid_ - (i + 1) * 250'000'000LL,
                       mid_ + i * 250'000'000LL,
                       static_cast<std::uint32_t>(1 + (r >> k) % 60),
                       static_cast<std::uint32_t>(1 + (r >> (k + 9)) % 60),
                       static_cast<std::uint32_t>(1 + (r >> k) % 9),
                       static_cast<std::uint32_t>(1 + (r >> (k + 5)) % 9)};
    }
    return out;
  }

 private:
  std::mt19937_64 random_{7};
  Time count_ = 0;
  Price mid_ = 4'800'000'000'000;
};

struct Counting final : RecordSink {
  std::uint64_t records = 0;
  std::int64_t sum = 0;
  void book(const BookRecord& record) override {
    ++records;
    sum += record.levels[0].bid_price;
  }
};

struct Flow final : RecordSink {
  explicit Flow(OrderFlow& flow) : to(flow) {}
  void book(const BookRecord& record) override { to.book(record); }
  OrderFlow& to;
};

long peak_kib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

template <class Read>
void measure(const char* what, std::int64_t records, Read read) {
  const auto wall = std::chrono::steady_clock::now();
  const double cpu = cpu_seconds();
  read();
  const double bytes = static_cast<double>(records) * 368;
  const double passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - wall).count();
  const double used = cpu_seconds() - cpu;
  fmt::print("{:<34} {:>8.2f} s {:>8.2f} s CPU {:>8.0f} MB/s {:>8.0f} MB/s of CPU time   peak {} MiB\n", what, passed,
             used, bytes / passed / 1e6, bytes / used / 1e6, peak_kib() / 1024);
  std::fflush(stdout);
}

void write(const std::filesystem::path& path, std::int64_t records, bool compress) {
  DbnWriter writer(path, dbn::Schema::mbp_10, "ESH4", 17077, compress, kStart + records * kStep);
  Market market;
  for (std::int64_t i = 0; i < records; ++i) writer.write(market.next());
  writer.finish();
}

void run(std::int64_t records, const std::filesystem::path& folder) {
  std::vector<Time> open, close;
  for (Time t = kStart; t < kStart + records * kStep; t += kMinute) open.push_back(t), close.push_back(t + kMinute);
  fmt::print("{} records of mbp-10, {:.2f} GB uncompressed\n", records, static_cast<double>(records) * 368e-9);
  for (const bool compress : {false, true}) {
    const auto path = folder / (compress ? "book.dbn.zst" : "book.dbn");
    write(path, records, compress);
    const std::string kind = compress ? "zstd" : "plain";
    measure((kind + ", counted").c_str(), records, [&] {
      Counting sink;
      DataReport report;
      const auto summary = read_file(path, InputKind::book, {}, sink, report);
      FH_CHECK(summary.records == static_cast<std::uint64_t>(records), "{} records read", summary.records);
    });
    measure((kind + ", into order flow").c_str(), records, [&] {
      DataReport report;
      OrderFlow flow(open, close, report);
      Flow sink(flow);
      read_file(path, InputKind::book, {}, sink, report);
      flow.finish();
    });
    std::filesystem::remove(path);
  }
}

}  // namespace
}  // namespace foxhunt::market

int main(int argc, char** argv) {
  try {
    const std::int64_t records = argc > 1 ? std::strtoll(argv[1], nullptr, 10) : 10'000'000;
    const auto folder =
        (argc > 2 ? std::filesystem::path(argv[2]) : std::filesystem::temp_directory_path()) /
        fmt::format("foxhunt-market-bench-{}", std::chrono::steady_clock::now().time_since_epoch().count());
    std::filesystem::create_directories(folder);
    foxhunt::market::run(records, folder);
    std::filesystem::remove_all(folder);
    return 0;
  } catch (const foxhunt::Error& error) {
    fmt::print(stderr, "{}\n", error.sentence());
    return 1;
  }
}
