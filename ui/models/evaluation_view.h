// The evaluation that market lanes and trade list show: the newest validation of a live session, or a checkpoint that
// was evaluated on request, on another thread.
#pragma once

#include <QObject>
#include <QSet>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "engine/config/config.h"
#include "engine/session/session_types.h"
#include "ui/models/background_task.h"
#include "ui/models/run_types.h"

namespace foxhunt::ui {

class EvaluationView : public QObject {
  Q_OBJECT
 public:
  using Trace = std::shared_ptr<const ValidationTrace>;

  explicit EvaluationView(QObject* parent = nullptr) : QObject(parent) {}

  // --- for panels ---
  // What is shown: the checkpoint if one was evaluated and not put away, else the live one; may be null.
  Trace shown() const { return checkpoint_ ? checkpoint_ : live_; }
  // File of the checkpoint that is shown; empty while it is the live validation.
  const std::filesystem::path& file() const { return file_; }
  // While someone wants it, the newest validation of a live session is handed over.
  void want(const QObject* who, bool on);
  bool wanted() const { return !viewers_.isEmpty(); }
  // Evaluates on another thread, then shows; what was shown stays until then. The configuration says where the data
  // are.
  void evaluate(const std::filesystem::path& checkpoint, const Config& config);
  void cancel();
  bool running() const { return task_.running(); }
  double progress() const { return progress_; }          // 0 to 1, of reading the data
  const QString& activity() const { return activity_; }  // in words
  // While held, newer validations of a live session wait.
  void hold(bool on);
  bool held() const { return held_; }
  // Puts an evaluated checkpoint away: the live validation again.
  void showLive();
  // The trade that the lanes should show; empty: none.
  void select(const std::optional<TradeView>& trade);
  const std::optional<TradeView>& selected() const { return selected_; }

  // Fold and epoch that Validation, Market and Trades show together; empty: they follow the newest.
  using Place = std::pair<int, int>;
  void chooseEpoch(const std::optional<Place>& place);
  const std::optional<Place>& chosenEpoch() const { return epoch_; }

  // --- for the source ---
  void clear();
  void setLive(const Trace& trace);

 Q_SIGNALS:
  void changed();          // shown()
  void activityChanged();  // running, progress, activity
  void selectedChanged();
  void epochChosen();
  void failed(const QString& sentence);

 private:
  QSet<const QObject*> viewers_;
  Trace live_, newest_, checkpoint_;  // newest_ waits while held
  bool held_ = false;
  std::filesystem::path file_;
  std::optional<TradeView> selected_;
  std::optional<Place> epoch_;
  double progress_ = 0;
  QString activity_;
  BackgroundTask task_;
};

// The trades of an evaluation as lists show them.
std::vector<TradeView> tradeViews(const ValidationTrace& trace);

}  // namespace foxhunt::ui
