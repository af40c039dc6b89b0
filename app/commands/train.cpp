// foxhunt-cli train: a session from a configuration to its last checkpoint.
#include <unistd.h>

#include <charconv>

#include "app/commands/commands.h"
#include "app/dashboard.h"
#include "app/interrupt.h"
#include "app/output.h"
#include "engine/base/error.h"
#include "engine/base/log.h"
#include "engine/config/load_config.h"
#include "engine/run/export.h"
#include "engine/run/run_list.h"
#include "engine/session/session.h"

namespace foxhunt::app {
namespace {

constexpr double kPollSeconds = 0.25;
constexpr int kBoardPolls = 8;  // between updates of the TensorBoard files
constexpr int kEndPolls = 40;   // a session that does not end so soon after "stop now" is left

// "2" or "0-3".
std::pair<int, int> fold_range(const std::string& text) {
  const auto number = [&](std::string_view part) {
    int value = -1;
    const auto [stop, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    return error == std::errc{} && stop == part.data() + part.size() ? value : -1;
  };
  const std::size_t dash = text.find('-');
  const std::string_view whole = text;
  const int first = number(whole.substr(0, dash));
  const int last = dash == std::string::npos ? first : number(whole.substr(dash + 1));
  if (first < 0 || last < first) {
    throw usage_error(fmt::format("--folds is \"{}\"; it must be A-B or one number, from 0 on", text),
                      {.field = "--folds", .hint = "--folds 0-1 trains the first two"});
  }
  return {first, last};
}

SessionOptions session_options(const Arguments& arguments) {
  SessionOptions options;
  options.runs_folder = runs_folder(arguments);
  if (const auto folder = arguments.text("run-dir")) options.run_folder = *folder;
  if (const auto folds = arguments.text("folds")) std::tie(options.first_fold, options.last_fold) = fold_range(*folds);
  options.max_steps = static_cast<std::uint64_t>(arguments.integer("max-steps", 0, 1, INT64_MAX));
  if (const auto checkpoint = arguments.text("resume")) options.resume = existing_file(*checkpoint, "--resume");
  options.accept_rejected = arguments.has("accept-rejected");
  return options;
}

// Runs still marked as running whose program has died; said before a new one starts.
void announce_interrupted(const std::filesystem::path& folder) {
  for (const auto& run : mark_interrupted_runs(folder))
    log_warning("{} was interrupted; --resume with one of its full checkpoints goes on with it", run.string());
}

// TensorBoard files beside the run's history, from the history; a disk that takes no more ends them, not the training.
class LiveBoard {
 public:
  explicit LiveBoard(const Session& session) : session_(session) {}

  void update() {
    if (failed_) return;
    const auto folder = session_.status()->run_folder;
    if (folder.empty()) return;
    try {
      if (!reader_) {
        reader_.emplace(RunReader::open(folder));
        board_.emplace(folder / "tensorboard", std::filesystem::weakly_canonical(folder).filename().string());
      }
      board_->update(*reader_);
    } catch (const Error& e) {
      failed_ = true;
      log_error("no more TensorBoard files are written: {}", e.sentence());
    }
  }

 private:
  const Session& session_;
  bool failed_ = false;
  std::optional<RunReader> reader_;
  std::optional<TensorBoardExport> board_;
};

// The first interrupt stops and saves, a second one stops now; while nothing has been trained there is nothing to save.
void follow(Session& session, Dashboard& dashboard, LiveBoard* board) {
  int posted = 0, polls_since_stop = 0, polls = 0;
  while (!session.wait(kPollSeconds)) {
    if (board && ++polls % kBoardPolls == 0) board->update();
    if (interrupts() > posted) {
      const bool save = posted == 0 && session.status()->state != SessionState::preparing;
      Command command;
      command.kind = save ? CommandKind::stop_and_save : CommandKind::stop_now;
      session.post(command);
      ++posted;
    }
    if (posted > 1 && ++polls_since_stop > kEndPolls) _exit(kInterrupted);
    dashboard.refresh();
  }
  if (board) board->update();
  dashboard.finish();
}

Json folds_json(const Session& session) {
  Json out = Json::array();
  for (const auto& fold : session.results()) {
    Json row{{"index", fold->index}};
    row["best"] = nullptr;
    if (!fold->best_metrics.is_null()) row["best"] = {{"step", fold->best_step}, {"metrics", fold->best_metrics}};
    row["last"] = nullptr;
    if (!fold->epochs.empty()) row["last"] = evaluation_json(fold->epochs.back()->evaluation);
    out.push_back(std::move(row));
  }
  return out;
}

Json session_json(const Session& session) {
  const auto status = session.status();
  Json out{{"status", state_name(status->state)}, {"reason", status->reason}, {"steps", status->step}};
  out["run_dir"] = nullptr;  // stopped before there was one
  if (!status->run_folder.empty()) out["run_dir"] = std::filesystem::absolute(status->run_folder).string();
  out["checkpoints"] = Json::array();
  for (const auto& path : session.checkpoints()) out["checkpoints"].push_back(path.string());
  out["folds"] = folds_json(session);
  out["device"] = status->device;
  return out;
}

int exit_code_of(SessionState state) {
  switch (state) {
    case SessionState::halted:
      return kHalted;
    case SessionState::failed:
      return kFailed;
    case SessionState::stopped:
      return interrupts() > 0 ? kInterrupted : kDone;
    default:
      return kDone;
  }
}

}  // namespace

Outcome run_train(const Arguments& arguments, const Manner& manner) {
  arguments.needed("config");
  const Config config = configuration(arguments);
  const SessionOptions options = session_options(arguments);
  announce_interrupted(options.runs_folder);
  const bool live = manner.progress() && on_terminal();
  if (live && isatty(STDERR_FILENO)) limit_log(LogLevel::nothing);  // events stand above the block
  Session session(config, options);
  Dashboard dashboard(session, live                ? DashboardKind::live
                               : manner.progress() ? DashboardKind::lines
                                                   : DashboardKind::none);
  std::optional<LiveBoard> board;
  if (arguments.has("tensorboard")) board.emplace(session);
  follow(session, dashboard, board ? &*board : nullptr);
  const auto status = session.status();
  const int code = exit_code_of(status->state);
  if (const std::exception_ptr error = session.error()) {
    if (status->run_folder.empty()) std::rethrow_exception(error);  // nothing was begun
    Json document = session_json(session);
    try {
      std::rethrow_exception(error);
    } catch (const Error& e) {
      document["error"] = error_json(e);
      return {std::move(document), e.kind() == ErrorKind::usage ? kUsage : kFailed};
    } catch (const std::exception& e) {
      document["error"] = error_json(Error(e.what()));
    }
    return {std::move(document), code};
  }
  return {session_json(session), code};
}

std::string train_text(const Json& document) {
  const std::string reason = document.at("reason").get<std::string>();
  std::string out =
      fmt::format("\n{}{}{}, {} steps in {}\n", document.at("status").get<std::string>(), reason.empty() ? "" : ": ",
                  reason, document.at("steps").dump(),
                  document.at("run_dir").is_null() ? "no run folder" : document.at("run_dir").get<std::string>());
  TextTable table({"fold", "best step", "best net", "last net", "last sharpe", "buy and hold", "random"});
  for (const Json& fold : document.at("folds")) {
    if (fold.at("last").is_null()) continue;
    const Json& last = fold.at("last");
    const Json& best = fold.at("best");
    const auto net = [&](const char* baseline) { return number_text(last.at("baselines").at(baseline).at("net")); };
    table.add({fmt::format("{}", fold.at("index").get<int>() + 1), best.is_null() ? "n/a" : best.at("step").dump(),
               best.is_null() ? "n/a" : number_text(best.at("metrics").at("net")),
               number_text(last.at("metrics").at("net")), number_text(last.at("metrics").at("sharpe")),
               net("buy_and_hold"), net("random")});
  }
  if (!document.at("folds").empty()) out += table.text();
  if (!document.at("checkpoints").empty())
    out += fmt::format("last checkpoint {}\n", document.at("checkpoints").back().get<std::string>());
  return out;
}

}  // namespace foxhunt::app
