// The sink and the bounded list behind it.
#include "ui/models/log_model.h"

#include <spdlog/sinks/base_sink.h>

#include <algorithm>
#include <chrono>

#include "engine/base/log.h"
#include "ui/models/event_model.h"

namespace foxhunt::ui {

class LogModel::Sink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit Sink(std::shared_ptr<Inbox> inbox) : inbox_(std::move(inbox)) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    LogLine line;
    line.wall = std::chrono::duration<double>(message.time.time_since_epoch()).count();
    line.level = static_cast<int>(message.level);
    line.text = QString::fromUtf8(message.payload.data(), static_cast<qsizetype>(message.payload.size()));
    const std::scoped_lock lock(inbox_->mutex);
    inbox_->lines.push_back(std::move(line));
    if (inbox_->lines.size() > most_lines) {
      inbox_->lines.pop_front();
      ++inbox_->dropped;
    }
  }
  void flush_() override {}

 private:
  std::shared_ptr<Inbox> inbox_;
};

LogModel::LogModel(QObject* parent)
    : CellTableModel({{tr("Time"), tr("local time"), false}, {tr("Level"), {}, false}, {tr("Line"), {}, false}},
                     parent),
      inbox_(std::make_shared<Inbox>()),
      sink_(std::make_shared<Sink>(inbox_)) {
  add_log_sink(sink_);
}

LogModel::~LogModel() {
  remove_log_sink(sink_);
}

int LogModel::drain() {
  std::deque<LogLine> fresh;
  {
    const std::scoped_lock lock(inbox_->mutex);
    fresh.swap(inbox_->lines);
    dropped_ += inbox_->dropped;
    inbox_->dropped = 0;
  }
  if (fresh.empty()) return 0;
  const int count = static_cast<int>(fresh.size());
  const int most = static_cast<int>(most_lines);
  const int excess = static_cast<int>(lines_.size()) + count - most;
  if (excess > 0) {
    const int gone = std::min(excess, static_cast<int>(lines_.size()));
    if (gone > 0) {
      beginRemoveRows({}, 0, gone - 1);
      lines_.erase(lines_.begin(), lines_.begin() + gone);
      endRemoveRows();
    }
    dropped_ += static_cast<std::uint64_t>(gone);
  }
  const int at = static_cast<int>(lines_.size());
  beginInsertRows({}, at, at + count - 1);
  std::move(fresh.begin(), fresh.end(), std::back_inserter(lines_));
  endInsertRows();
  return count;
}

int LogModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(lines_.size());
}

TableCell LogModel::cell(int row, int column) const {
  const LogLine& entry = line(row);
  TableCell cell;
  if (column == 0) {
    cell.text = clockText(entry.wall);
    cell.sort = entry.wall;
    cell.muted = true;
  } else if (column == 1) {
    const bool error = entry.level >= spdlog::level::err, warning = entry.level == spdlog::level::warn;
    cell.text = error                                ? tr("error")
                : warning                            ? tr("warning")
                : entry.level == spdlog::level::info ? tr("info")
                                                     : tr("debug");
    cell.sort = entry.level;
    cell.lamp = error ? Lamp::bad : warning ? Lamp::warning : Lamp::idle;
  } else {
    cell.text = entry.text;
    cell.sort = entry.text;
  }
  return cell;
}

}  // namespace foxhunt::ui
