// What the program prints: documents, plain text, tables; and how loud the log is.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace foxhunt {
class Error;
}

namespace foxhunt::app {

// To standard output, at once; throws Error when it cannot be written.
void print(const std::string& text);
void print_document(const nlohmann::ordered_json& document);
// {message, file, offset or line where known, field, hint}; what does not apply is null.
nlohmann::ordered_json error_json(const Error& error);

// Whether standard output is a terminal on which a block of lines can be redrawn.
bool on_terminal();
// Columns of that terminal; 80 where it does not say.
std::size_t terminal_width();

// The log on standard error from `level` on (spdlog's numbers); a run's log.txt stays whole.
enum class LogLevel { everything, warnings, nothing };
void limit_log(LogLevel level);

// Columns that line up: the first one left, the others right.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> head);
  void add(std::vector<std::string> row);
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

// A number of a document as text: 6 digits; "n/a" for null, "nan" and "inf" as they are.
std::string number_text(const nlohmann::ordered_json& value);
// "12,345".
std::string grouped(std::int64_t value);
// "2023-12-25T23:00:01Z", with a fraction where there is one; of UTC nanoseconds.
std::string time_text(std::int64_t nanoseconds);
// "1 h 05 min", "12 s".
std::string duration_text(double seconds);

}  // namespace foxhunt::app
