// A short session on the simulated market behind the window's bridge, for tests of panels.
#pragma once

#include <gtest/gtest.h>

#include <QApplication>
#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QtTest>
#include <functional>

#include "engine/run/run_folder.h"
#include "tests/session/session_fixture.h"
#include "ui/panels/panel.h"
#include "ui/session_bridge.h"
#include "ui/theme.h"

namespace foxhunt::ui::test {

// Spins the event loop until the condition holds; false after `seconds`.
inline bool spinUntil(const std::function<bool()>& condition, double seconds = 60) {
  QElapsedTimer timer;
  timer.start();
  while (!condition()) {
    if (static_cast<double>(timer.elapsed()) > seconds * 1e3) return false;
    QApplication::processEvents(QEventLoop::AllEvents, 5);
    QTest::qWait(2);
  }
  return true;
}

class TrainedRun {
 public:
  TrainedRun() : bridge_(&clock_, &data_) {}
  // The folder can go only once nothing is written into it any more.
  ~TrainedRun() {
    if (bridge_.live()) bridge_.stopNow();
    EXPECT_TRUE(spin([this] { return !bridge_.live(); })) << "the session did not stop";
    const auto folder = data_.source() == RunData::Source::live ? data_.folder() : last_;
    EXPECT_TRUE(folder.empty() || spin([&] { return !RunLock::is_held(folder); }));
  }

  // Trains both folds; the session then stays and waits for commands.
  void train(int epochs = 2, int steps = 30) {
    Config config = foxhunt::test::tiny_config();
    config.training.epochs = epochs;
    config.training.steps_per_epoch = steps;
    SessionOptions options;
    options.runs_folder = runs();
    options.slug = "tiny";
    bridge_.start(config, options);
    ASSERT_TRUE(spin([&] { return data_.epochs().size() == static_cast<std::size_t>(2 * epochs) && !bridge_.busy(); }))
        << bridge_.status().reason;
    ASSERT_TRUE(bridge_.live()) << bridge_.status().reason;
    last_ = data_.folder();
  }
  // A full checkpoint beside the best ones.
  void save() {
    ASSERT_GT(bridge_.saveCheckpoint(), 0u);
    ASSERT_TRUE(spin([this] {
      const auto& all = data_.checkpoints();
      return std::any_of(all.begin(), all.end(),
                         [](const CheckpointView& c) { return c.kind == "full" && c.reason == "manual"; });
    }));
  }
  bool spin(const std::function<bool()>& condition, double seconds = 90) {
    return spinUntil(
        [&] {
          bridge_.poll();
          return condition();
        },
        seconds);
  }

  std::filesystem::path runs() const { return std::filesystem::path(folder_.path().toStdString()) / "runs"; }
  PanelContext context() { return {&bridge_, runs()}; }
  RunData& data() { return data_; }
  SessionBridge& bridge() { return bridge_; }

 private:
  QTemporaryDir folder_;
  FrameClock clock_;
  RunData data_;
  SessionBridge bridge_;
  std::filesystem::path last_;
};

// Shown at that size, fed and refreshed.
template <class P>
std::unique_ptr<P> makeShown(TrainedRun& run, const char* id, QSize size = {640, 420}) {
  auto panel = std::make_unique<P>(run.context(), QString::fromLatin1(id), QString::fromLatin1(id), nullptr);
  panel->setData(&run.data());
  panel->resize(size);
  panel->show();
  QApplication::processEvents();
  panel->refresh();
  return panel;
}

template <class W>
W* child(QWidget& parent, const QString& accessible_name) {
  for (W* each : parent.findChildren<W*>())
    if (each->accessibleName() == accessible_name) return each;
  ADD_FAILURE() << "no child called " << accessible_name.toStdString();
  return nullptr;
}

// A row clicked in its first column.
inline void clickRow(QTableView& table, int row, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
  const QModelIndex index = table.model()->index(row, 0);
  table.scrollTo(index);
  QTest::mouseClick(table.viewport(), Qt::LeftButton, modifiers, table.visualRect(index).center());
}

}  // namespace foxhunt::ui::test
