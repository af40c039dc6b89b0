// run.json is checked by the strict reader first, then its members are taken one by one.
#include "engine/run/run_info.h"

#include <array>
#include <chrono>
#include <cmath>
#include <ctime>

#include "engine/base/atomic_file.h"
#include "engine/base/error.h"
#include "engine/base/json_number.h"
#include "engine/base/strict_json.h"

namespace foxhunt {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;
constexpr std::uint64_t kMaxBytes = 64 << 20;

// Takes members out of a document with a sentence for each that has the wrong type.
class Members {
 public:
  Members(std::string_view text, const std::string& file) : file_(file) {
    parse_strict_json(text, {.file = file});
    document_ = Json::parse(text);
    if (!document_.is_object()) fail("", "the document must be an object");
  }

  void take(const char* name, std::string& value) {
    with(name, "a text", [&](const Json& j) { return j.is_string() && (value = j.get<std::string>(), true); });
  }
  void take(const char* name, bool& value) {
    with(name, "true or false", [&](const Json& j) { return j.is_boolean() && (value = j.get<bool>(), true); });
  }
  void take(const char* name, std::int64_t& value) {
    with(name, "a whole number",
         [&](const Json& j) { return j.is_number_integer() && (value = j.get<std::int64_t>(), true); });
  }
  void take(const char* name, std::uint64_t& value) {
    with(name, "a whole number from 0",
         [&](const Json& j) { return j.is_number_unsigned() && (value = j.get<std::uint64_t>(), true); });
  }
  void take(const char* name, Json& value) {
    with(name, "an object", [&](const Json& j) { return j.is_object() && (value = j, true); });
  }
  void take(const char* name, std::vector<std::string>& value) {
    with(name, "a list of texts", [&](const Json& j) {
      if (!j.is_array()) return false;
      for (const Json& item : j) {
        if (!item.is_string()) return false;
        value.push_back(item.get<std::string>());
      }
      return true;
    });
  }
  void take(const char* name, std::map<std::string, std::string>& value) {
    with(name, "an object of texts", [&](const Json& j) {
      if (!j.is_object()) return false;
      for (const auto& [key, item] : j.items()) {
        if (!item.is_string()) return false;
        value[key] = item.get<std::string>();
      }
      return true;
    });
  }
  void take(const char* name, std::map<std::string, double>& value) {
    with(name, "an object of numbers", [&](const Json& j) {
      if (!j.is_object()) return false;
      for (const auto& [key, item] : j.items()) {
        if (item.is_number()) {
          value[key] = item.get<double>();
        } else if (item == "nan" || item == "inf" || item == "-inf") {
          value[key] = item == "nan" ? std::nan("") : item == "inf" ? INFINITY : -INFINITY;
        } else {
          return false;
        }
      }
      return true;
    });
  }
  Json rest() { return std::move(document_); }

  [[noreturn]] void fail(const std::string& field, const std::string& message) const {
    throw Error(message, {file_, {}, {}, field, "the file is damaged: the rest of the run can still be read"});
  }

 private:
  template <class Convert>
  void with(const char* name, const char* expected, Convert convert) {
    const auto found = document_.find(name);
    if (found == document_.end()) return;
    if (!convert(*found))
      fail(name, fmt::format("{} is {}, but must be {}", name, found->dump().substr(0, 60), expected));
    document_.erase(name);
  }

  std::string file_;
  Json document_;
};

}  // namespace

bool is_terminal_status(std::string_view status) {
  for (const char* terminal : {"finished", "stopped", "halted", "failed", "interrupted"}) {
    if (status == terminal) return true;
  }
  return false;
}

RunInfo parse_run_info(std::string_view text, const std::string& file) {
  Members members(text, file);
  std::int64_t format = 0;
  members.take("format", format);
  if (format < 1) members.fail("format", fmt::format("format is {}; allowed: 1 to {}", format, kFormat));
  if (format > kFormat) {
    throw Error(fmt::format("format is {}; this program knows up to {}", format, kFormat),
                {file, {}, {}, "format", "a newer version of the program made this run: open it with that one"});
  }
  RunInfo info;
  info.status.clear();
  members.take("created", info.created);
  members.take("finished", info.finished);
  members.take("status", info.status);
  members.take("reason", info.reason);
  members.take("device", info.device);
  members.take("seed", info.seed);
  members.take("resumed_from", info.resumed_from);
  members.take("simulated", info.simulated);
  members.take("configuration", info.configuration);
  members.take("configuration_hash", info.configuration_hash);
  members.take("data_fingerprint", info.data_fingerprint);
  members.take("versions", info.versions);
  members.take("steps", info.steps);
  members.take("fold", info.fold);
  members.take("epoch", info.epoch);
  members.take("best", info.best);
  if (info.created.empty()) members.fail("created", "the member \"created\" is missing");
  if (info.status.empty()) members.fail("status", "the member \"status\" is missing");
  info.others = members.rest();
  return info;
}

Json to_json(const RunInfo& info) {
  Json document;
  document["format"] = kFormat;
  document["status"] = info.status;
  document["reason"] = info.reason;
  document["created"] = info.created;
  document["finished"] = info.finished;
  document["device"] = info.device;
  document["seed"] = info.seed;
  document["simulated"] = info.simulated;
  document["resumed_from"] = info.resumed_from;
  document["steps"] = info.steps;
  document["fold"] = info.fold;
  document["epoch"] = info.epoch;
  document["best"] = Json::object();
  for (const auto& [name, value] : info.best) document["best"][name] = json_number(value);
  document["data_fingerprint"] = info.data_fingerprint;
  document["configuration_hash"] = info.configuration_hash;
  document["versions"] = Json::object();
  for (const auto& [name, value] : info.versions) document["versions"][name] = value;
  document["configuration"] = info.configuration;
  for (const auto& [name, value] : info.others.items()) document[name] = value;
  return document;
}

RunInfo read_run_info(const std::filesystem::path& run_folder) {
  const std::string file = (run_folder / "run.json").string();
  return parse_run_info(read_text_file(file, kMaxBytes), file);
}

void write_run_info(const std::filesystem::path& run_folder, const RunInfo& info) {
  write_file_atomically(run_folder / "run.json",
                        to_json(info).dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

RunNotes read_run_notes(const std::filesystem::path& run_folder) {
  const std::filesystem::path file = run_folder / "notes.json";
  RunNotes notes;
  if (!std::filesystem::exists(file)) return notes;
  Members members(read_text_file(file.string(), kMaxBytes), file.string());
  members.take("tags", notes.tags);
  members.take("notes", notes.notes);
  members.take("starred", notes.starred);
  return notes;
}

void write_run_notes(const std::filesystem::path& run_folder, const RunNotes& notes) {
  Json document;
  document["tags"] = notes.tags;
  document["notes"] = notes.notes;
  document["starred"] = notes.starred;
  write_file_atomically(run_folder / "notes.json", document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::string utc_text(std::int64_t seconds) {
  const std::time_t time = seconds;
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

std::string utc_now() {
  return utc_text(
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count());
}

}  // namespace foxhunt
