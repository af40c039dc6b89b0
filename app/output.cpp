// Writing to standard output.
#include "app/output.h"

#include <fmt/format.h>
#include <spdlog/sinks/dist_sink.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "engine/base/error.h"
#include "engine/base/log.h"
#include "engine/run/run_info.h"

namespace foxhunt::app {

void print(const std::string& text) {
  errno = 0;
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0) {
    throw Error(fmt::format("standard output cannot be written: {}", std::strerror(errno)),
                {.file = "standard output", .hint = "check the disk or the program that reads it"});
  }
}

void print_document(const nlohmann::ordered_json& document) {
  print(document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

nlohmann::ordered_json error_json(const Error& error) {
  using Json = nlohmann::ordered_json;
  const auto text_or_null = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
  const ErrorPlace& place = error.place();
  Json out = Json::object();
  out["message"] = error.what();
  out["file"] = text_or_null(place.file);
  if (place.offset) out["offset"] = *place.offset;
  if (place.line) out["line"] = *place.line;
  out["field"] = text_or_null(place.field);
  out["hint"] = text_or_null(place.hint);
  return out;
}

bool on_terminal() {
  const char* term = std::getenv("TERM");
  return isatty(STDOUT_FILENO) && term && *term && std::strcmp(term, "dumb") != 0;
}

std::size_t terminal_width() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

void limit_log(LogLevel level) {
  const auto wanted = level == LogLevel::everything ? spdlog::level::trace
                      : level == LogLevel::warnings ? spdlog::level::warn
                                                    : spdlog::level::off;
  for (const auto& sink : logger()->sinks()) {
    const auto outputs = std::dynamic_pointer_cast<spdlog::sinks::dist_sink_mt>(sink);
    FH_CHECK(outputs && !outputs->sinks().empty(), "the log has no outputs");
    outputs->sinks().front()->set_level(wanted);
  }
}

TextTable::TextTable(std::vector<std::string> head) {
  rows_.push_back(std::move(head));
}

void TextTable::add(std::vector<std::string> row) {
  FH_CHECK(row.size() == rows_.front().size(), "a row of {} cells in a table of {} columns", row.size(),
           rows_.front().size());
  rows_.push_back(std::move(row));
}

std::string TextTable::text() const {
  std::vector<std::size_t> width(rows_.front().size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  }
  std::string out;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i)
      line += i == 0 ? fmt::format("{:<{}}", row[i], width[i]) : fmt::format("  {:>{}}", row[i], width[i]);
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string number_text(const nlohmann::ordered_json& value) {
  if (value.is_null()) return "n/a";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return fmt::format("{:.6g}", value.get<double>());
  return value.dump();
}

std::string grouped(std::int64_t value) {
  std::string out = fmt::format("{}", value);
  for (auto at = static_cast<std::ptrdiff_t>(out.size()) - 3; at > (value < 0 ? 1 : 0); at -= 3)
    out.insert(static_cast<std::size_t>(at), ",");
  return out;
}

std::string time_text(std::int64_t nanoseconds) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  std::int64_t seconds = nanoseconds / kSecond, fraction = nanoseconds % kSecond;
  if (fraction < 0) fraction += kSecond, --seconds;
  std::string out = utc_text(seconds);
  if (fraction != 0) out.insert(out.size() - 1, fmt::format(".{:09}", fraction));
  return out;
}

std::string duration_text(double seconds) {
  if (!(seconds > 0)) return "0 s";
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

}  // namespace foxhunt::app
