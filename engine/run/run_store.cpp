// A queue and the thread that empties it into the database.
#include "engine/run/run_store.h"

#include <spdlog/sinks/basic_file_sink.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "engine/base/atomic_file.h"
#include "engine/base/log.h"
#include "engine/run/row_writer.h"
#include "engine/run/run_folder.h"

namespace foxhunt {

namespace {

constexpr auto kProgressInterval = std::chrono::milliseconds(400);  // with commits every half second: twice a second

struct Progress {
  std::int64_t steps = 0, fold = 0, epoch = 0;
};

}  // namespace

struct RunStore::Impl {
  Impl(std::filesystem::path run_folder, RunLock run_lock, RunInfo run_info, const TelemetryColumns& columns,
       const RunStoreOptions& run_options)
      : folder(std::move(run_folder)),
        lock(std::move(run_lock)),
        options(run_options),
        info(std::move(run_info)),
        writer(folder / "run.sqlite", columns, options.max_bytes) {}

  void push(detail::PendingRow row);
  void write_info();  // with info_mutex held; never throws
  bool take_progress();
  void write_progress();
  void work();
  void write_batch(std::unique_lock<std::mutex>& held);
  void drop_oldest();

  const std::filesystem::path folder;
  RunLock lock;
  const RunStoreOptions options;
  std::shared_ptr<spdlog::sinks::sink> log;

  mutable std::mutex info_mutex;  // guards info and what is written of it
  RunInfo info;
  bool info_behind = false;           // the file lacks something of info
  mutable std::mutex progress_mutex;  // held for copies alone: the training thread takes it
  Progress progress;
  bool progress_moved = false;
  std::chrono::steady_clock::time_point progress_written;  // the thread's alone

  detail::RowWriter writer;  // used by the thread alone
  mutable std::mutex mutex;  // guards what follows
  std::condition_variable wake, written;
  std::deque<detail::PendingRow> queue;
  std::size_t queued_bytes = 0;
  std::uint64_t appended = 0;  // rows ever queued
  std::uint64_t tries = 0;     // batches tried, failed ones too
  std::uint64_t flush_requests = 0;
  RunStoreState state;
  bool stopping = false;
  std::thread thread;
};

void RunStore::Impl::write_info() {
  try {
    write_run_info(folder, info);
    if (info_behind) log_info("{} is written again", (folder / "run.json").string());
    info_behind = false;
  } catch (const Error& error) {
    if (!info_behind) log_error("the run's state cannot be written and is tried again: {}", error.sentence());
    info_behind = true;
  }
}

// What set_progress left, into info; with info_mutex held.
bool RunStore::Impl::take_progress() {
  const std::lock_guard held(progress_mutex);
  if (!progress_moved) return false;
  info.steps = progress.steps;
  info.fold = progress.fold;
  info.epoch = progress.epoch;
  progress_moved = false;
  return true;
}

void RunStore::Impl::write_progress() {
  const auto now = std::chrono::steady_clock::now();
  if (now - progress_written < kProgressInterval) return;
  const std::lock_guard held(info_mutex);
  if (!take_progress() && !info_behind) return;
  progress_written = now;
  write_info();
}

void RunStore::Impl::push(detail::PendingRow row) {
  const std::lock_guard held(mutex);
  queued_bytes += row.bytes();
  queue.push_back(std::move(row));
  ++appended;
  drop_oldest();
}

void RunStore::Impl::drop_oldest() {
  while (queued_bytes > options.max_pending_bytes && queue.size() > 1) {
    queued_bytes -= queue.front().bytes();
    queue.pop_front();
    ++state.rows_lost;
  }
}

void RunStore::Impl::write_batch(std::unique_lock<std::mutex>& held) {
  std::deque<detail::PendingRow> batch;
  batch.swap(queue);
  queued_bytes = 0;
  state.rows_pending = batch.size();  // together with the queue while they are being written
  held.unlock();
  std::optional<Error> error;
  try {
    if (!batch.empty()) writer.write(batch);
  } catch (const Error& caught) {
    error = caught;
  } catch (const std::exception& caught) {
    error = Error(caught.what(), {folder.string(), {}, {}, {}, "see the log"});
  }
  held.lock();
  if (error) {
    if (!state.error) log_error("the run's history cannot be written and is kept in memory: {}", error->sentence());
    for (auto row = batch.rbegin(); row != batch.rend(); ++row) {
      queued_bytes += row->bytes();
      queue.push_front(std::move(*row));
    }
    drop_oldest();
  } else {
    if (state.error) log_info("the run's history is written again; {} rows were lost", state.rows_lost);
    state.rows_written += batch.size();
  }
  state.rows_pending = 0;
  state.error = std::move(error);
  ++tries;
  written.notify_all();
}

void RunStore::Impl::work() {
  std::unique_lock held(mutex);
  std::uint64_t served = 0;
  const auto period = std::chrono::duration<double>(std::min(options.commit_seconds, 1.0));
  while (!stopping) {
    wake.wait_for(held, period, [&] { return stopping || flush_requests != served; });
    served = flush_requests;
    write_batch(held);
    held.unlock();
    write_progress();
    held.lock();
  }
  if (!queue.empty()) write_batch(held);
  held.unlock();
  const std::lock_guard info_held(info_mutex);
  if (take_progress() || info_behind) write_info();
}

RunStore::RunStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {
  impl_->thread = std::thread([this] { impl_->work(); });
}

std::unique_ptr<RunStore> RunStore::start(const std::filesystem::path& folder, std::optional<RunInfo> info,
                                          const TelemetryColumns& columns, const RunStoreOptions& options) {
  std::optional<RunLock> lock = RunLock::try_take(folder);
  if (!lock) {
    const std::string holder = RunLock::holder(folder);
    throw Error(fmt::format("the run is controlled by {}", holder.empty() ? "another session" : holder),
                {folder.string(), {}, {}, "lock", "stop that one, or open the run read-only"});
  }
  if (!info) {
    info = read_run_info(folder);
    info->finished.clear();
  }
  write_run_info(folder, *info);  // before all else: a kill from here on leaves a run that can be listed
  std::filesystem::create_directories(folder / "checkpoints");
  std::filesystem::create_directories(folder / "flight");
  for (const auto& swept : {folder, folder / "checkpoints", folder / "flight"}) sweep_temporaries(swept);
  auto impl = std::make_unique<Impl>(folder, std::move(*lock), std::move(*info), columns, options);
  impl->log = std::make_shared<spdlog::sinks::basic_file_sink_mt>((folder / "log.txt").string());
  add_log_sink(impl->log);
  return std::unique_ptr<RunStore>(new RunStore(std::move(impl)));
}

std::unique_ptr<RunStore> RunStore::create(const std::filesystem::path& runs_folder, std::string_view slug,
                                           RunInfo info, const TelemetryColumns& columns,
                                           const RunStoreOptions& options) {
  if (info.created.empty()) info.created = utc_now();
  return start(make_run_folder(runs_folder, slug), std::move(info), columns, options);
}

std::unique_ptr<RunStore> RunStore::create_at(const std::filesystem::path& folder, RunInfo info,
                                              const TelemetryColumns& columns, const RunStoreOptions& options) {
  if (info.created.empty()) info.created = utc_now();
  return start(make_exact_run_folder(folder), std::move(info), columns, options);
}

std::unique_ptr<RunStore> RunStore::open(const std::filesystem::path& folder, const TelemetryColumns& columns,
                                         const RunStoreOptions& options) {
  return start(folder, std::nullopt, columns, options);
}

RunStore::~RunStore() {
  {
    const std::lock_guard held(impl_->mutex);
    impl_->stopping = true;
  }
  impl_->wake.notify_all();
  impl_->thread.join();
  remove_log_sink(impl_->log);
}

const std::filesystem::path& RunStore::folder() const {
  return impl_->folder;
}
std::filesystem::path RunStore::checkpoints_folder() const {
  return impl_->folder / "checkpoints";
}
std::filesystem::path RunStore::flight_folder() const {
  return impl_->folder / "flight";
}

RunInfo RunStore::info() const {
  const std::lock_guard held(impl_->info_mutex);
  return impl_->info;
}

void RunStore::update_info(const std::function<void(RunInfo&)>& change) {
  const std::lock_guard held(impl_->info_mutex);
  impl_->take_progress();
  change(impl_->info);
  impl_->write_info();
}

void RunStore::set_progress(std::int64_t steps, std::int64_t fold, std::int64_t epoch) {
  const std::lock_guard held(impl_->progress_mutex);
  impl_->progress = {steps, fold, epoch};
  impl_->progress_moved = true;
}

void RunStore::set_status(const std::string& status, const std::string& reason) {
  update_info([&](RunInfo& info) {
    info.status = status;
    info.reason = reason;
    info.finished = is_terminal_status(status) ? utc_now() : "";
  });
}

void RunStore::append_step(double wall, std::span<const double> values) {
  FH_CHECK(values.size() == impl_->writer.width(RunTable::steps), "{} values for {} columns of steps", values.size(),
           impl_->writer.width(RunTable::steps));
  detail::PendingRow row{RunTable::steps, {wall, 1.0}, {}, false};
  row.numbers.insert(row.numbers.end(), values.begin(), values.end());
  impl_->push(std::move(row));
}

void RunStore::append_step_bucket(double wall, const StepBucket& bucket) {
  const std::size_t width = impl_->writer.width(RunTable::steps);
  FH_CHECK(bucket.count >= 1, "a bucket of {} steps", bucket.count);
  detail::PendingRow row{RunTable::steps, {wall, static_cast<double>(bucket.count)}, {}, false};
  for (const auto* part : {&bucket.mean, &bucket.min, &bucket.max, &bucket.not_finite}) {
    FH_CHECK(part->size() == width, "{} values of a bucket for {} columns of steps", part->size(), width);
    row.numbers.insert(row.numbers.end(), part->begin(), part->end());
  }
  impl_->push(std::move(row));
}

void RunStore::append_health(double wall, std::span<const double> values) {
  FH_CHECK(values.size() == impl_->writer.width(RunTable::health), "{} values for {} columns of health", values.size(),
           impl_->writer.width(RunTable::health));
  detail::PendingRow row{RunTable::health, {wall}, {}, false};
  row.numbers.insert(row.numbers.end(), values.begin(), values.end());
  impl_->push(std::move(row));
}

void RunStore::append_signals(double wall, std::int64_t step, std::int64_t fold, std::int64_t epoch,
                              std::span<const double> values) {
  FH_CHECK(values.size() == impl_->writer.width(RunTable::signals), "{} values for {} columns of signals",
           values.size(), impl_->writer.width(RunTable::signals));
  detail::PendingRow row{RunTable::signals,
                         {wall, static_cast<double>(step), static_cast<double>(fold), static_cast<double>(epoch)},
                         {},
                         false};
  row.numbers.insert(row.numbers.end(), values.begin(), values.end());
  impl_->push(std::move(row));
}

void RunStore::append(RunTable table, RunRecord record) {
  FH_CHECK(!is_telemetry(table) && !record.empty(), "a record for the table {}", table_name(table));
  for (auto field = record.begin(); field != record.end(); ++field) {
    check_column_name(field->first);
    FH_CHECK(field->first != "id", "the store numbers the rows itself");
    for (auto before = record.begin(); before != field; ++before)
      FH_CHECK(before->first != field->first, "the column {} twice", field->first);
  }
  impl_->push({table, {}, std::move(record), /*removal=*/false});
}

namespace {

double wall_or_now(double wall) {
  return wall > 0 ? wall : std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

void RunStore::append(const RunEvent& event) {
  append(RunTable::events, {{"wall", wall_or_now(event.wall)},
                            {"step", event.step},
                            {"fold", event.fold},
                            {"epoch", event.epoch},
                            {"kind", event.kind},
                            {"source", event.source},
                            {"severity", event.severity},
                            {"message", event.message},
                            {"details", event.details}});
}

void RunStore::append(const RunCheckpoint& checkpoint) {
  path_inside(impl_->folder, checkpoint.path);
  append(RunTable::checkpoints, {{"wall", wall_or_now(checkpoint.wall)},
                                 {"step", checkpoint.step},
                                 {"fold", checkpoint.fold},
                                 {"epoch", checkpoint.epoch},
                                 {"reason", checkpoint.reason},
                                 {"kind", checkpoint.kind},
                                 {"path", checkpoint.path},
                                 {"bytes", checkpoint.bytes},
                                 {"rejected", std::int64_t{checkpoint.rejected}},
                                 {"metrics", checkpoint.metrics}});
}

void RunStore::forget_checkpoint(const std::string& path) {
  impl_->push({RunTable::checkpoints, {}, {{"path", path}}, /*removal=*/true});
}

void RunStore::flush() {
  std::unique_lock held(impl_->mutex);
  // A batch may be under way that was taken before the last rows came: two more tries cover both cases, the second only
  // if needed.
  const std::uint64_t wanted = impl_->appended;
  do {
    const std::uint64_t before = impl_->tries;
    ++impl_->flush_requests;
    impl_->wake.notify_all();
    impl_->written.wait(held, [&] { return impl_->tries != before; });
    if (impl_->state.error) throw *impl_->state.error;
  } while (impl_->state.rows_written + impl_->state.rows_lost < wanted);
}

RunStoreState RunStore::state() const {
  const std::lock_guard held(impl_->mutex);
  RunStoreState state = impl_->state;
  state.rows_pending += impl_->queue.size();
  return state;
}

}  // namespace foxhunt
