// foxhunt: opens the window.
#include <fmt/format.h>

#include <QApplication>
#include <QDir>
#include <QDockWidget>
#include <QEventLoop>
#include <QScreen>
#include <QStandardPaths>
#include <QTimer>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/log.h"
#include "engine/run/run_list.h"
#include "ui/main_window.h"
#include "ui/panels/data_panel.h"
#include "ui/panels/market_panel.h"
#include "ui/panels/panel_registry.h"

namespace {

constexpr const char* kHelp =
    "foxhunt [RUN_OR_FILE...] [OPTION...]\n"
    "Opens the window. A run folder is shown, a configuration or market data are loaded, a checkpoint is inspected.\n\n"
    "  --demo                 starts training the simulated market at once\n"
    "  --config F             configuration file\n"
    "  --layout NAME          a saved layout, or default\n"
    "  --theme TONE           system, dark or light\n"
    "  --runs DIR             folder of all runs (runs)\n"
    "  --size WxH             size of the window\n"
    "  --screenshot OUT.png   writes the window to a file, stops the session and exits\n"
    "  --panels DIR           with --screenshot: each panel as well, as DIR/<panel>.png\n"
    "  --evaluate             with a run: reads its data and evaluates its best checkpoint, for Data, Market and "
    "Trades\n"
    "  --after SECONDS        when the screenshot is taken (5)\n"
    "  --help, --version\n\n"
    "foxhunt-cli does everything without a display.\n";

struct Words {
  std::vector<std::string> paths;
  bool demo = false, evaluate = false;
  std::optional<std::string> config, layout, screenshot, panels, theme;
  QSize size;  // not valid: as remembered
  std::string runs = "runs";
  double after = 5;
};

// "1280x800"; a usage Error else.
QSize parse_size(const std::string& text) {
  const QStringList parts = QString::fromStdString(text).split(QLatin1Char('x'));
  bool good[2] = {false, false};
  const QSize size = parts.size() == 2 ? QSize(parts[0].toInt(&good[0]), parts[1].toInt(&good[1])) : QSize();
  if (!good[0] || !good[1] || size.width() < 640 || size.height() < 400 || size.width() > 16384 ||
      size.height() > 16384) {
    throw foxhunt::usage_error(fmt::format("--size is \"{}\"; allowed: 640x400 to 16384x16384", text),
                               {.field = "--size", .hint = "two whole numbers with an x between them"});
  }
  return size;
}

// Throws a usage Error naming the word. Options of Qt ("-platform") are its own and left alone.
Words parse(const std::vector<std::string>& words) {
  Words out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string word = words[i];
    std::optional<std::string> value;
    if (const auto equals = word.find('='); word.starts_with("--") && equals != std::string::npos) {
      value = word.substr(equals + 1);
      word.erase(equals);
    }
    const auto needed = [&]() -> std::string {
      if (value) return *value;
      if (i + 1 >= words.size()) throw foxhunt::usage_error(fmt::format("{} needs a value", word), {.field = word});
      return words[++i];
    };
    if (word == "--demo") {
      out.demo = true;
    } else if (word == "--evaluate") {
      out.evaluate = true;
    } else if (word == "--config") {
      out.config = needed();
    } else if (word == "--layout") {
      out.layout = needed();
    } else if (word == "--theme") {
      out.theme = needed();
      if (*out.theme != "system" && *out.theme != "dark" && *out.theme != "light") {
        throw foxhunt::usage_error(fmt::format("--theme is \"{}\"; allowed: system, dark, light", *out.theme),
                                   {.field = "--theme"});
      }
    } else if (word == "--runs") {
      out.runs = needed();
    } else if (word == "--screenshot") {
      out.screenshot = needed();
    } else if (word == "--panels") {
      out.panels = needed();
    } else if (word == "--size") {
      out.size = parse_size(needed());
    } else if (word == "--after") {
      const std::string text = needed();
      char* end = nullptr;
      out.after = std::strtod(text.c_str(), &end);
      if (end == text.c_str() || *end != '\0' || !(out.after >= 0 && out.after <= 86400)) {
        throw foxhunt::usage_error(fmt::format("--after is \"{}\"; allowed: 0 to 86400 seconds", text),
                                   {.field = "--after"});
      }
    } else if (word.starts_with("--")) {
      throw foxhunt::usage_error(fmt::format("there is no option {}", word),
                                 {.field = word, .hint = "foxhunt --help lists them"});
    } else {
      out.paths.push_back(word);
    }
  }
  return out;
}

// QApplication aborts the process when it finds no display.
bool has_display() {
  const auto set = [](const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0';
  };
  const char* platform = std::getenv("QT_QPA_PLATFORM");
  const std::string chosen = platform == nullptr ? "" : platform;
  if (chosen.starts_with("offscreen") || chosen.starts_with("minimal") || chosen.starts_with("vnc")) return true;
  return set("DISPLAY") || set("WAYLAND_DISPLAY");
}

bool save_picture(QWidget& widget, const QString& path) {
  if (widget.grab().save(path, "PNG", 0)) return true;
  foxhunt::log_error("the screenshot could not be written to {}", path.toStdString());
  return false;
}

// Each panel in its place, brought to the front where it shares that with others.
bool save_panels(foxhunt::ui::MainWindow& window, const QString& folder) {
  bool good = QDir().mkpath(folder);
  for (const foxhunt::ui::PanelEntry& entry : foxhunt::ui::panelTable()) {
    const QString id = QString::fromLatin1(entry.id);
    QDockWidget* dock = window.dock(id);
    dock->show();
    dock->raise();
    // The clock paints what has just come into view.
    QEventLoop loop;
    QTimer::singleShot(400, &loop, &QEventLoop::quit);
    loop.exec();
    good = save_picture(*dock, folder + QLatin1Char('/') + id + QStringLiteral(".png")) && good;
  }
  return good;
}

// Data of the run shown, and its newest best checkpoint over its validation window.
void fill_market_panels(foxhunt::ui::MainWindow& window) {
  using namespace foxhunt::ui;
  if (auto* data = qobject_cast<DataPanel*>(window.panel(QStringLiteral("data")))) data->read();
  const auto& all = window.data().checkpoints();
  const auto best = std::find_if(all.rbegin(), all.rend(), [](const CheckpointView& view) {
    return view.reason == QLatin1String("best") && view.problem.isEmpty();
  });
  auto* market = qobject_cast<MarketPanel*>(window.panel(QStringLiteral("market")));
  if (best != all.rend() && market != nullptr) market->evaluate(best->file);
}

void take_screenshot(foxhunt::ui::MainWindow& window, const Words& words, int* exit_code) {
  bool good = save_picture(window, QString::fromStdString(*words.screenshot));
  if (words.panels) good = save_panels(window, QString::fromStdString(*words.panels)) && good;
  if (!good) *exit_code = 1;
  QObject::connect(&window, &foxhunt::ui::MainWindow::closed, qApp, &QCoreApplication::quit);
  window.closeAtOnce();
}

int run_window(QApplication& app, const Words& words) {
  using namespace foxhunt::ui;
  WindowOptions options;
  options.runs_folder = std::filesystem::absolute(words.runs);
  options.settings_folder = QStandardPaths::writableLocation(QStandardPaths::AppConfigLocation);
  if (words.screenshot) options.settings_folder.clear();
  MainWindow window(options);
  if (words.theme || words.screenshot) {
    const std::string tone = words.theme.value_or("system");
    window.setThemeChoice(tone == "dark"    ? ThemeChoice::dark
                          : tone == "light" ? ThemeChoice::light
                                            : ThemeChoice::system);
  }
  if (words.size.isValid()) window.resize(words.size);
  if (words.layout) window.applyLayout(QString::fromStdString(*words.layout));
  for (const auto& folder : foxhunt::mark_interrupted_runs(options.runs_folder)) {
    window.showMessage(QStringLiteral("warning"),
                       MainWindow::tr("The run %1 was interrupted; open it to go on from its last checkpoint.")
                           .arg(QString::fromStdString(folder.filename().string())));
  }
  window.show();
  if (words.config) window.openConfiguration(QString::fromStdString(*words.config));
  for (const std::string& path : words.paths) window.openPath(QString::fromStdString(path));
  if (words.demo) window.startDemo();
  if (words.evaluate) {
    QObject::connect(&window.stored(), &StoredRun::loadedChanged, &window, [&window] { fill_market_panels(window); });
  }
  int exit_code = 0;
  if (words.screenshot) {
    QTimer::singleShot(static_cast<int>(1000 * words.after), &window,
                       [&] { take_screenshot(window, words, &exit_code); });
  }
  const int ended = QApplication::exec();
  SessionBridge::waitForEnded(10);
  Q_UNUSED(app);
  return ended != 0 ? ended : exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> asked(argv + 1, argv + argc);
  for (const std::string& word : asked) {
    if (word == "--help" || word == "-h") return std::fputs(kHelp, stdout), 0;
    if (word == "--version") return std::puts("foxhunt " FOXHUNT_VERSION), 0;
  }
  try {
    if (!has_display()) {
      std::fputs(
          "foxhunt: there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set); foxhunt-cli does the same "
          "without one\n",
          stderr);
      return 1;
    }
    QCoreApplication::setApplicationName(QStringLiteral("foxhunt"));
    QCoreApplication::setApplicationVersion(QStringLiteral(FOXHUNT_VERSION));
    QApplication app(argc, argv);  // takes its own options away
    std::vector<std::string> words;
    for (const QString& word : QCoreApplication::arguments().mid(1)) words.push_back(word.toStdString());
    return run_window(app, parse(words));
  } catch (const foxhunt::Error& error) {
    fmt::print(stderr, "foxhunt: {}\n", error.sentence());
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "foxhunt: {}\n", error.what());
    return 1;
  }
}
