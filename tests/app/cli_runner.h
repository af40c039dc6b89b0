// Runs the built foxhunt-cli as a user does and keeps what it printed.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace foxhunt::test {

struct CliResult {
  int exit_code = -1;  // 128 + signal when one ended it
  std::string out, err;
  double ended = 0;  // wall seconds

  // Standard output as one JSON document; an empty object, and a failure of the test, when it is none.
  nlohmann::json document() const;
  // The member `error` of that document.
  nlohmann::json error() const { return document().value("error", nlohmann::json::object()); }
};

struct CliOptions {
  std::filesystem::path folder{};           // working directory; empty: the caller's
  std::filesystem::path interrupt_after{};  // SIGINT once this is there
  int interrupts = 1;                       // so many, 20 ms apart
  std::filesystem::path kill_after{};       // SIGKILL once this is there and
  double kill_seconds = 0;                  // so long has passed
  std::uint64_t largest_file = 0;           // bytes; a write beyond it fails as on a full disk. 0: no limit
};

CliResult run_cli(const std::vector<std::string>& words, const CliOptions& options = {});

}  // namespace foxhunt::test
