// foxhunt-cli simulate
#include "app/commands/commands.h"
#include "app/interrupt.h"
#include "engine/market/simulator.h"

namespace foxhunt::app {

Outcome run_simulate(const Arguments& arguments, const Manner&) {
  SimulatedConfig config;
  config.bars = arguments.integer("bars", config.bars, 1, 100'000'000);
  config.seed = arguments.seed("seed", config.seed);
  config.edge = arguments.number("edge", config.edge, 0, 4);
  const std::filesystem::path folder = arguments.needed("out");
  const bool is_new = !std::filesystem::exists(folder);
  try {
    market::simulate_files(folder, config, {.report = {}, .cancel = &interrupted()});
  } catch (...) {
    std::error_code ignored;
    if (is_new) std::filesystem::remove(folder, ignored);  // empty: files appear whole or not at all
    throw;
  }
  Json files = Json::object();
  for (const auto& [input, name] :
       {std::pair{"ohlcv", "bars.dbn.zst"}, std::pair{"mbp10", "book.dbn.zst"}, std::pair{"trades", "trades.dbn.zst"}})
    files[input] = (folder / name).string();
  return {{{"files", std::move(files)},
           {"symbol", market::kSimulatedSymbol},
           {"bars", config.bars},
           {"seed", config.seed},
           {"edge", config.edge}}};
}

std::string simulate_text(const Json& document) {
  std::string out = fmt::format("simulated market {}: {} bars, seed {}, edge {}\n",
                                document.at("symbol").get<std::string>(), document.at("bars").get<std::int64_t>(),
                                document.at("seed").get<std::uint64_t>(), document.at("edge").get<double>());
  for (const auto& [input, file] : document.at("files").items())
    out += fmt::format("  {:<6} {}\n", input, file.get<std::string>());
  return out;
}

}  // namespace foxhunt::app
