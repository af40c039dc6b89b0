// Book updates and trades of several files as one stream in order of ts_recv, without holding the files in memory.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "engine/config/config.h"
#include "engine/market/data_report.h"
#include "engine/market/file_reader.h"
#include "engine/market/records.h"

namespace foxhunt::market {

// Something that puts records into a sink, in order; may throw.
using RecordSource = std::function<void(RecordSink&)>;

// Runs `trades` on a thread of its own, a bounded number of records ahead, and `books` on this one. `sink` is called on
// this thread only. At equal times the venue's sequence number decides; where that is equal or absent the trade comes
// before the book update, since it hit the book as it was. What either source or the sink throws is rethrown here after
// the thread has ended.
void merge_records(const RecordSource& books, const RecordSource& trades, RecordSink& sink);

}  // namespace foxhunt::market
