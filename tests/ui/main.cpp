// The main of the window's tests: offscreen, and every Qt warning fails the test that caused it, except the two that
// the offscreen platform prints about propagateSizeHints and raise.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <QApplication>
#include <QTemporaryDir>

#include "tests/support/log_watch.h"

namespace {

void takeMessage(QtMsgType type, const QMessageLogContext&, const QString& text) {
  if (type == QtDebugMsg || type == QtInfoMsg) return;
  if (text.contains(QLatin1String("propagateSizeHints")) || text.contains(QLatin1String("raise"))) return;
  ADD_FAILURE() << "Qt warning: " << text.toStdString();
  if (type == QtFatalMsg) abort();
}

}  // namespace

int main(int argc, char** argv) {
  setenv("QT_QPA_PLATFORM", "offscreen", 0);
  QTemporaryDir runtime;
  setenv("XDG_RUNTIME_DIR", runtime.path().toLocal8Bit().constData(), 0);
  ::testing::InitGoogleTest(&argc, argv);
  qInstallMessageHandler(takeMessage);
  QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates));
  QApplication app(argc, argv);
  ::testing::UnitTest::GetInstance()->listeners().Append(new foxhunt::test::LogWatch);
  return RUN_ALL_TESTS();
}
