// foxhunt-cli evaluate: a checkpoint on the validation window of its fold.
#include "app/commands/commands.h"
#include "app/output.h"
#include "engine/base/json_number.h"
#include "engine/session/checkpoint_load.h"

namespace foxhunt::app {
namespace {

Json trades_json(const EvaluationResult& result) {
  Json out = Json::array();
  for (const TradeRecord& trade : result.trades) {
    out.push_back({{"entry_bar", trade.entry_bar},
                   {"exit_bar", trade.exit_bar},
                   {"side", trade.side},
                   {"lots", trade.lots},
                   {"entry", json_number(trade.entry)},
                   {"exit", json_number(trade.exit)},
                   {"result", json_number(trade.result)},
                   {"hold", trade.hold},
                   {"costs", json_number(trade.costs)}});
  }
  return out;
}

}  // namespace

Outcome run_evaluate(const Arguments& arguments, const Manner& manner) {
  const auto checkpoint = existing_file(arguments.operands()[0], "CKPT");
  arguments.needed("config");
  if (!manner.json) limit_log(LogLevel::warnings);
  const CheckpointEvaluation evaluation = evaluate_checkpoint(checkpoint, configuration(arguments));
  Json out = evaluation_json(evaluation.result);
  out["fold"] = evaluation.fold;
  out["window"] = {evaluation.window.begin, evaluation.window.end};
  out["windows"] = evaluation.result.windows;
  out["ruined_windows"] = evaluation.result.ruined_windows;
  Json actions = Json::array();
  for (const double share : evaluation.result.action_frequency()) actions.push_back(share);
  out["actions"] = std::move(actions);
  Json equity = Json::array();
  for (const double value : evaluation.result.equity) equity.push_back(json_number(value));
  out["equity"] = std::move(equity);
  out["trades"] = trades_json(evaluation.result);
  return {std::move(out)};
}

std::string evaluate_text(const Json& document) {
  std::string out = fmt::format("fold {}, validation rows {}, {} trades\n\n", document.at("fold").get<int>() + 1,
                                document.at("window").dump(), document.at("trades").size());
  for (const auto& [name, value] : document.at("metrics").items())
    out += fmt::format("{:<18} {}\n", name, number_text(value));
  out += "\nnet of the baselines\n";
  for (const auto& [name, baseline] : document.at("baselines").items())
    out += fmt::format("{:<18} {}\n", name, number_text(baseline.at("net")));
  return out;
}

}  // namespace foxhunt::app
