// run.json: what a run is and how it stands. Replaced atomically, so that a reader never sees half of it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace foxhunt {

struct RunInfo {
  std::string created;   // ISO 8601 UTC
  std::string finished;  // the same; empty while it runs
  std::string status =
      "preparing";  // preparing, training, paused, validating, stopping; finished, stopped, halted, failed, interrupted
  std::string reason;  // of the last status
  std::string device;  // "cpu", "cuda:0 NVIDIA ..."
  std::uint64_t seed = 0;
  std::string resumed_from;                                                 // checkpoint, or empty
  bool simulated = false;                                                   // trained on the simulated market
  nlohmann::ordered_json configuration = nlohmann::ordered_json::object();  // resolved
  std::string configuration_hash;
  std::string data_fingerprint;
  std::map<std::string, std::string> versions;                       // foxhunt, blas, blas core, driver, ...
  std::int64_t steps = 0, fold = 0, epoch = 0;                       // reached
  std::map<std::string, double> best;                                // metrics of the best checkpoint so far
  nlohmann::ordered_json others = nlohmann::ordered_json::object();  // members this version does not know: kept
};

// finished, stopped, halted, failed, interrupted.
bool is_terminal_status(std::string_view status);

// Throws Error with file, field and hint for a damaged file or one of a newer format.
RunInfo read_run_info(const std::filesystem::path& run_folder);
void write_run_info(const std::filesystem::path& run_folder, const RunInfo& info);
RunInfo parse_run_info(std::string_view text, const std::string& file);
nlohmann::ordered_json to_json(const RunInfo& info);

// notes.json: what the user wrote about a run; apart, so that it can be changed while another process controls the run.
struct RunNotes {
  std::vector<std::string> tags;
  std::string notes;
  bool starred = false;
};
// Empty where there is no file.
RunNotes read_run_notes(const std::filesystem::path& run_folder);
void write_run_notes(const std::filesystem::path& run_folder, const RunNotes& notes);

// "2026-03-01T09:05:07Z", of now or of seconds since 1970.
std::string utc_now();
std::string utc_text(std::int64_t seconds);

}  // namespace foxhunt
