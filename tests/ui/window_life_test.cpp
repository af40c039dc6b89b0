// What is left when the window is closed or killed: the recorded steps, the checkpoints, readable settings. And runs
// that another process is writing.
#include <gtest/gtest.h>

#include <QDir>
#include <QLabel>
#include <QMessageBox>
#include <QProcess>

#include "engine/checkpoint/safetensors.h"
#include "engine/run/run_reader.h"
#include "tests/session/session_fixture.h"
#include "tests/ui/window_fixture.h"
#include "ui/settings_store.h"

namespace foxhunt::ui {
namespace {

using test::WindowRig;

// The program itself, offscreen, with settings and runs in a folder of the test.
class Program {
 public:
  explicit Program(const QString& folder) : folder_(folder) {
    QDir(folder_).mkpath(QStringLiteral("runtime"));
    QFile::setPermissions(folder_ + QStringLiteral("/runtime"), QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert(QStringLiteral("QT_QPA_PLATFORM"), QStringLiteral("offscreen"));
    environment.insert(QStringLiteral("XDG_RUNTIME_DIR"), folder_ + QStringLiteral("/runtime"));
    environment.insert(QStringLiteral("XDG_CONFIG_HOME"), folder_ + QStringLiteral("/config"));
    process_.setProcessEnvironment(environment);
    process_.setProcessChannelMode(QProcess::MergedChannels);
  }
  ~Program() { kill(); }
  void start(const QStringList& more) {
    process_.start(QStringLiteral(FOXHUNT_BINARY_DIR "/bin/foxhunt"),
                   QStringList{QStringLiteral("--runs"), runs()} + more);
    ASSERT_TRUE(process_.waitForStarted(30000)) << process_.errorString().toStdString();
  }
  // Without any chance to clean up.
  void kill() {
    if (process_.state() == QProcess::NotRunning) return;
    process_.kill();
    EXPECT_TRUE(process_.waitForFinished(30000));
  }
  bool running() { return process_.state() == QProcess::Running; }
  QString runs() const { return folder_ + QStringLiteral("/runs"); }
  QString settings() const { return folder_ + QStringLiteral("/config/foxhunt"); }
  // Its only run; empty before there is one.
  QString run() const {
    const QStringList found = QDir(runs()).entryList(QDir::Dirs | QDir::NoDotAndDotDot);
    if (found.size() != 1) return {};
    const QString folder = runs() + QLatin1Char('/') + found.front();
    return QFile::exists(folder + QStringLiteral("/run.sqlite")) ? folder : QString();
  }
  std::string output() { return process_.readAll().toStdString(); }

 private:
  QString folder_;
  QProcess process_;
};

void expectReadableSettings(const QString& folder) {
  QString problem;
  SettingsStore(folder).load(&problem);
  EXPECT_EQ(problem, QString());
  EXPECT_TRUE(QDir(folder).entryList({QStringLiteral("*.broken-*")}).isEmpty());
}

// Recorded steps, each once, from the first to the last.
std::vector<double> recordedSteps(const QString& folder) {
  const RunReader reader = RunReader::open(folder.toStdString());
  if (reader.last_id(RunTable::steps) == 0) return {};  // its tables come with the first rows
  const RunRows rows = reader.rows(RunTable::steps, 0, 1000000, {"step"});
  return rows.values.empty() ? std::vector<double>{} : rows.values.front();
}

TEST(WindowLife, ARunOfAnotherProcessIsFollowedAndSurvivesItsKill) {
  QTemporaryDir folder;
  Program other(folder.path());
  other.start({QStringLiteral("--demo")});
  WindowRig rig;
  MainWindow& window = *rig.window;
  const auto recorded = [&] { return other.run().isEmpty() ? 0u : recordedSteps(other.run()).size(); };
  ASSERT_TRUE(rig.spin([&] { return recorded() > 10; }, 120)) << other.output();
  const QString run = other.run();

  window.openRun(run);
  ASSERT_TRUE(rig.spin([&] { return window.stored().loaded(); })) << window.messageText().toStdString();
  EXPECT_TRUE(window.stored().following());
  const auto* name = window.findChild<QLabel*>(QStringLiteral("runName"));
  EXPECT_TRUE(rig.spin([&] { return name->toolTip().contains(QStringLiteral("read only")); }));
  EXPECT_FALSE(window.action(QStringLiteral("pause"))->isEnabled());
  const auto shown = window.data().stepCount();
  ASSERT_TRUE(rig.spin([&] { return window.data().stepCount() > shown + 10; }, 120)) << "its curves grow";
  ASSERT_TRUE(rig.spin([&] { return QFile::exists(other.settings() + QStringLiteral("/settings.json")); }, 60));

  const auto before = recorded();
  const auto seen = window.data().lastStep();
  ASSERT_TRUE(other.running());
  other.kill();
  expectReadableSettings(other.settings());
  const std::vector<double> steps = recordedSteps(run);
  EXPECT_GE(steps.size(), before);
  EXPECT_GE(steps.back(), static_cast<double>(seen)) << "what was on screen is on disk";
  for (std::size_t i = 0; i < steps.size(); ++i) ASSERT_EQ(steps[i], static_cast<double>(i + 1)) << "no step is lost";
  ASSERT_TRUE(rig.spin([&] { return window.data().stateWord() == QStringLiteral("Interrupted"); }));
  EXPECT_EQ(window.data().lastStep(), steps.size());
  for (const CheckpointView& checkpoint : window.data().checkpoints()) {
    EXPECT_NO_THROW(SafetensorsFile::open(checkpoint.file)) << checkpoint.file;
  }
}

// What was remembered before is still there after each kill, whatever the program was about to write.
TEST(WindowLife, SettingsSurviveKillsAtAnyMoment) {
  QTemporaryDir folder;
  const SettingsStore store(Program(folder.path()).settings());
  WindowSettings before;
  before.theme = ThemeChoice::light;
  before.layouts.insert(QStringLiteral("mine"), QByteArray("arrangement"));
  QString problem;
  ASSERT_TRUE(store.save(before, &problem)) << problem.toStdString();
  for (const int after_ms : {0, 60, 150, 300, 600, 1200}) {
    Program program(folder.path());
    program.start({});
    QTest::qWait(after_ms);
    program.kill();
    expectReadableSettings(program.settings());
    const WindowSettings after = store.load(&problem);
    EXPECT_EQ(after.theme, before.theme) << "killed after " << after_ms << " ms";
    EXPECT_EQ(after.layouts, before.layouts) << "killed after " << after_ms << " ms";
  }
}

TEST(WindowLife, ClosingKeepsEveryStepAndTheLastCheckpoint) {
  WindowRig rig;
  MainWindow& window = *rig.window;
  Config config = foxhunt::test::tiny_config();
  config.training.epochs = 400;
  config.telemetry.record_rows_per_second = 100000;
  window.session().setConfig(config);
  QTest::keyClick(&window, Qt::Key_F5);
  ASSERT_TRUE(rig.spin([&] { return window.data().stepCount() > 50; })) << window.messageText().toStdString();
  QTimer::singleShot(100, qApp, [] {
    auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
    ASSERT_NE(box, nullptr);
    QTest::keyClick(box, Qt::Key_Return);  // the default: stop and save
  });
  window.close();
  ASSERT_TRUE(rig.spin([&] { return !window.isVisible(); }));
  ASSERT_TRUE(SessionBridge::waitForEnded(60));
  const QString run = QString::fromStdString(window.data().folder().string());
  const std::vector<double> steps = recordedSteps(run);
  ASSERT_FALSE(steps.empty());
  EXPECT_EQ(steps.back(), static_cast<double>(window.data().lastStep()));
  const RunReader reader = RunReader::open(run.toStdString());
  const auto checkpoints = reader.checkpoints();
  ASSERT_FALSE(checkpoints.empty());
  EXPECT_EQ(checkpoints.back().reason, "stop");
  EXPECT_EQ(static_cast<double>(checkpoints.back().step), steps.back());
  EXPECT_NO_THROW(SafetensorsFile::open(checkpoints.back().file));
  expectReadableSettings(rig.folder.path() + QStringLiteral("/settings"));
}

}  // namespace
}  // namespace foxhunt::ui
