// The merge: a bounded channel of trades between two readers.
#include "engine/market/record_merge.h"

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

namespace foxhunt::market {
namespace {

constexpr std::size_t kBatch = 1024;  // trades handed over at once
constexpr std::size_t kBatches = 64;  // waiting at most

// Thrown into the trade source when nobody wants more.
struct Unwanted {};

class TradeChannel final : public RecordSink {
 public:
  // Producer side.
  void trade(const TradeRecord& record) override {
    filling_.push_back(record);
    if (filling_.size() == kBatch) send();
  }
  void finish(std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    if (!filling_.empty()) batches_.push_back(std::move(filling_));
    error_ = error;
    finished_ = true;
    changed_.notify_all();
  }

  // Consumer side. The next trade, or null after the last one; rethrows what the producer met, after its last trade.
  const TradeRecord* peek() {
    if (next_ < current_.size()) return &current_[next_];
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return finished_ || !batches_.empty(); });
    if (batches_.empty()) {
      if (error_) std::rethrow_exception(error_);
      return nullptr;
    }
    current_ = std::move(batches_.front());
    batches_.pop_front();
    next_ = 0;
    changed_.notify_all();
    return &current_[0];
  }
  void pop() { ++next_; }
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

 private:
  void send() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return closed_ || batches_.size() < kBatches; });
    if (closed_) throw Unwanted{};
    batches_.push_back(std::move(filling_));
    filling_.clear();
    filling_.reserve(kBatch);
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::vector<TradeRecord>> batches_;
  bool finished_ = false, closed_ = false;
  std::exception_ptr error_;
  std::vector<TradeRecord> filling_;  // the producer's
  std::vector<TradeRecord> current_;  // the consumer's
  std::size_t next_ = 0;
};

// Puts the trades that are due before each book record.
class MergeSink final : public RecordSink {
 public:
  MergeSink(TradeChannel& channel, RecordSink& sink) : channel_(channel), sink_(sink) {}
  void book(const BookRecord& record) override {
    for (const TradeRecord* trade = channel_.peek(); trade && due(*trade, record); trade = channel_.peek())
      pass(*trade);
    sink_.book(record);
  }
  void rest() {
    for (const TradeRecord* trade = channel_.peek(); trade; trade = channel_.peek()) pass(*trade);
  }

 private:
  static bool due(const TradeRecord& trade, const BookRecord& book) {
    if (trade.ts_recv != book.ts_recv) return trade.ts_recv < book.ts_recv;
    return trade.sequence <= book.sequence || book.sequence == 0;
  }
  void pass(const TradeRecord& trade) {
    sink_.trade(trade);
    channel_.pop();
  }

  TradeChannel& channel_;
  RecordSink& sink_;
};

void produce(const RecordSource& trades, TradeChannel& channel) {
  try {
    trades(channel);
    channel.finish(nullptr);
  } catch (const Unwanted&) {
    channel.finish(nullptr);
  } catch (...) {
    channel.finish(std::current_exception());
  }
}

}  // namespace

void merge_records(const RecordSource& books, const RecordSource& trades, RecordSink& sink) {
  TradeChannel channel;
  std::jthread thread([&] { produce(trades, channel); });
  // Closed before the thread is joined, whatever happens.
  struct Closer {
    TradeChannel& channel;
    ~Closer() { channel.close(); }
  } closer{channel};
  MergeSink merge(channel, sink);
  books(merge);
  merge.rest();
}

}  // namespace foxhunt::market
