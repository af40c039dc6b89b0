// The program's log as a bounded table: a sink takes lines from any thread, the GUI thread moves them into the model.
#pragma once

#include <spdlog/sinks/sink.h>

#include <deque>
#include <memory>
#include <mutex>

#include "ui/models/cell_table_model.h"

namespace foxhunt::ui {

struct LogLine {
  double wall = 0;  // seconds since 1970 UTC
  int level = 0;    // spdlog's
  QString text;
};

class LogModel : public CellTableModel {
  Q_OBJECT
 public:
  static constexpr std::size_t most_lines = 5000;

  explicit LogModel(QObject* parent = nullptr);
  ~LogModel() override;

  // Moves what came since the last call into the model; returns how many lines.
  int drain();
  int rowCount(const QModelIndex& parent = {}) const override;
  const LogLine& line(int row) const { return lines_[static_cast<std::size_t>(row)]; }
  std::uint64_t dropped() const { return dropped_; }  // lines that no longer fit

 protected:
  TableCell cell(int row, int column) const override;

 private:
  // Shared with the logger, which other threads use.
  struct Inbox {
    std::mutex mutex;
    std::deque<LogLine> lines;
    std::uint64_t dropped = 0;
  };
  class Sink;

  std::shared_ptr<Inbox> inbox_;
  std::shared_ptr<spdlog::sinks::sink> sink_;
  std::deque<LogLine> lines_;
  std::uint64_t dropped_ = 0;
};

}  // namespace foxhunt::ui
