// A seeded market in which order flow moves price, so that an agent can learn from it and a test can tell that it did.
//
// One-minute bars of an ES-like instrument (tick 0.25), sessions of 23 hours from 23:00 UTC, weekends off. A latent
// value V in ticks follows V += drift + sigma x noise; the quotes follow V only because orders empty queues: whoever
// empties the best ask moves the market up. Hidden pressure f (unit variance, persistent) tilts market, limit and
// cancel orders of bar t; from bar t+1 on the drift is edge x kappa x sigma x f. So the book and the trades of closed
// bars tell of later price changes with edge 1, and of nothing with edge 0. f is symmetric about 0: holding earns
// nothing in expectation. Four regimes (trend, mean-reverting, quiet, stressed) differ in sigma, activity, depth,
// persistence and kappa.
#pragma once

#include <filesystem>

#include "engine/config/config.h"
#include "engine/market/file_reader.h"
#include "engine/market/records.h"

namespace foxhunt::market {

inline constexpr const char* kSimulatedSymbol = "SIM";
inline constexpr Time kSimulatedInterval = 60'000'000'000;          // ns a bar
inline constexpr Time kSimulatedStart = 1'704'668'400'000'000'000;  // Sunday 2024-01-07 23:00 UTC

// Puts `config.bars` bars with their book updates and trades into `sink`, in time order; a bar comes after its records.
// The same configuration gives the same records on every machine. Throws usage_error for bars below 1 or an edge that
// is negative, above 4 or not finite; Error("cancelled") when asked to stop.
void simulate_records(const SimulatedConfig& config, RecordSink& sink, const Progress& progress = {});

// Writes bars.dbn.zst, book.dbn.zst and trades.dbn.zst into `folder` (made when absent).
void simulate_files(const std::filesystem::path& folder, const SimulatedConfig& config, const Progress& progress = {});

}  // namespace foxhunt::market
