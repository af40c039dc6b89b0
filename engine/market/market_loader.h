// From files (or the simulator) to the market table.
#pragma once

#include "engine/config/config.h"
#include "engine/market/file_reader.h"
#include "engine/market/market_table.h"

namespace foxhunt::market {

// Bars are read first: they are the clock. Book and trades are then streamed, merged by ts_recv, into the bars' order
// flow; no raw record stays in memory. Several files of a kind are read in the order of their first record.
//
// order_flow "required": all three inputs must be named, else a usage_error comes before any file is opened. "absent":
// only bars are read, table.order_flow is false, the order-flow features are 0 and their mask is off. `simulated`
// stands for the files and goes the same way. Symbols of the files must agree.
//
// Throws Error (usage_error where the configuration is wrong) as read_file does, and for inputs that do not cover one
// instrument; Error("cancelled") on cancel. A table without rows is legal here: make_folds refuses it.
MarketTable load_market(const DataConfig& config, const Progress& progress = {});

}  // namespace foxhunt::market
