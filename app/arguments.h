// A parsed command line. Everything wrong in it is a usage error that names the word and what is near or allowed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/options.h"

namespace foxhunt::app {

class Arguments {
 public:
  // `words` from the command on. "--name=value" and "--name value" are the same; after "--" all words are operands.
  // With --help neither operands nor values are asked for.
  static Arguments parse(const std::vector<std::string>& words);

  const CommandInfo& command() const { return *command_; }
  const std::vector<std::string>& operands() const { return operands_; }

  bool has(std::string_view option) const { return values_.contains(option); }
  std::optional<std::string> text(std::string_view option) const;
  const std::vector<std::string>& list(std::string_view option) const;  // empty when not given
  // Throws when it was not given.
  std::string needed(std::string_view option) const;
  // Whole numbers and numbers within [least, most]; `fallback` when not given.
  std::int64_t integer(std::string_view option, std::int64_t fallback, std::int64_t least, std::int64_t most) const;
  std::uint64_t seed(std::string_view option, std::uint64_t fallback) const;
  double number(std::string_view option, double fallback, double least, double most) const;
  std::vector<std::int64_t> integers(std::string_view option, std::int64_t least, std::int64_t most) const;
  // `allowed`: "csv|json".
  std::string choice(std::string_view option, const std::string& fallback, std::string_view allowed) const;

 private:
  void add_option(const std::vector<std::string>& words, std::size_t& at);
  void check_operands() const;

  const CommandInfo* command_ = nullptr;
  std::vector<std::string> operands_;
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
};

}  // namespace foxhunt::app
