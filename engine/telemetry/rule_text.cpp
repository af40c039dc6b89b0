// Words, then one function a part of the grammar.
#include "engine/telemetry/rule_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "engine/base/error.h"

namespace foxhunt::telemetry {
namespace {

struct Word {
  std::string_view text;
  std::size_t position = 0;
};

// Where and what; caught in check_rule_text.
struct Fault {
  std::string sentence;
  std::size_t position, length;
  std::vector<std::string> allowed;
};

std::vector<Word> words_of(std::string_view text) {
  std::vector<Word> words;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == ' ' || text[at] == '\t') {
      ++at;
      continue;
    }
    std::size_t end = at + 1;
    if (text[at] != ',')
      while (end < text.size() && text[end] != ' ' && text[end] != '\t' && text[end] != ',') ++end;
    words.push_back({text.substr(at, end - at), at});
    at = end;
  }
  return words;
}

// Insertions, deletions and exchanges that make one word of the other.
int distance(std::string_view a, std::string_view b) {
  std::vector<int> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    int before = row[0];
    row[0] = static_cast<int>(i) + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const int exchanged = before + (a[i] == b[j] ? 0 : 1);
      before = row[j + 1];
      row[j + 1] = std::min({exchanged, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

void most_alike_first(std::vector<std::string>& names, std::string_view wanted) {
  std::stable_sort(names.begin(), names.end(), [wanted](const std::string& a, const std::string& b) {
    return distance(a, wanted) < distance(b, wanted);
  });
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), words_(words_of(text)) {}

  Rule parse() {
    Rule rule;
    const Word source = take({"step", "signal", "health"}, "what the rule watches");
    rule.source = rule_source(source.text);
    rule.column = column(rule.source);
    condition(rule);
    while (!done()) {
      take({","}, "the next option");
      option(rule);
    }
    return rule;
  }

 private:
  bool done() const { return at_ == words_.size(); }
  bool next_is(std::string_view word) const { return !done() && words_[at_].text == word; }

  [[noreturn]] void fail(const std::string& what, std::vector<std::string> allowed) const {
    if (done()) throw Fault{fmt::format("{} is missing", what), text_.size(), 0, std::move(allowed)};
    const Word& word = words_[at_];
    most_alike_first(allowed, word.text);
    std::string sentence = fmt::format("\"{}\" is not {}", word.text, what);
    if (!allowed.empty()) sentence += fmt::format("; did you mean \"{}\"?", allowed.front());
    throw Fault{std::move(sentence), word.position, word.text.size(), std::move(allowed)};
  }

  Word take(const std::vector<std::string>& allowed, const std::string& what) {
    if (done() || std::find(allowed.begin(), allowed.end(), words_[at_].text) == allowed.end()) fail(what, allowed);
    return words_[at_++];
  }

  std::string column(RuleSource source) {
    std::vector<std::string> names = rule_columns(source);
    return std::string(take(names, fmt::format("the name of a {} column", rule_word(source))).text);
  }

  double number(const std::string& what) {
    double value = 0;
    if (done()) fail(what, {});
    const std::string_view word = words_[at_].text;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc{} || end != word.data() + word.size() || !std::isfinite(value)) fail(what, {});
    ++at_;
    return value;
  }

  int count(const std::string& what) {
    int value = 0;
    if (done()) fail(what, {});
    const std::string_view word = words_[at_].text;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc{} || end != word.data() + word.size()) fail(what, {});
    ++at_;
    return value;
  }

  void condition(Rule& rule) {
    rule.kind = rule_kind(take({"above", "below", "rises", "no_progress"}, "a condition").text);
    switch (rule.kind) {
      case RuleKind::above:
      case RuleKind::below:
        rule.threshold = number("a number, the bound");
        break;
      case RuleKind::rises:
        rule.sigmas = number("a number of standard deviations");
        take({"sigma"}, "the word after the number of deviations");
        take({"over"}, "the word before the number of samples");
        rule.window = count("a whole number of samples");
        break;
      case RuleKind::no_progress:
        rule.window = count("a whole number of samples");
        if (next_is("by")) {
          ++at_;
          rule.threshold = number("a number, the least improvement");
        }
        if (next_is("lower") || next_is("higher")) rule.lower_is_better = words_[at_++].text == "lower";
        break;
    }
  }

  void option(Rule& rule) {
    if (next_is("cool_down")) {
      ++at_;
      rule.cool_down = number("a number of seconds");
      return;
    }
    if (next_is("off")) {
      ++at_;
      rule.enabled = false;
      return;
    }
    const bool numeric = !done() && words_[at_].text.find_first_not_of("+-0123456789.") == std::string_view::npos;
    if (numeric) {
      rule.needed = count("a whole number of samples");
      take({"of"}, "the word between two numbers of samples");
      rule.of = count("a whole number of samples");
      return;
    }
    rule.action = rule_action(
        take({"cool_down", "mark", "notify", "checkpoint", "pause", "stop", "off"}, "an option or an action").text);
  }

  std::string_view text_;
  std::vector<Word> words_;
  std::size_t at_ = 0;
};

std::span<const TableEntry> table_of(RuleSource source) {
  return source == RuleSource::step ? step_table() : source == RuleSource::signal ? signal_table() : health_table();
}

}  // namespace

std::vector<std::string> rule_columns(RuleSource source) {
  std::vector<std::string> names;
  for (const TableEntry& entry : table_of(source))
    if (!entry.reserved()) names.emplace_back(entry.name);
  return names;
}

RuleCheck check_rule_text(std::string_view text, std::string_view name) {
  RuleCheck check;
  try {
    Rule rule = Parser(text).parse();
    rule.name = name.empty() ? text : name;
    check_rule(rule);
    check.rule = std::move(rule);
  } catch (const Fault& fault) {
    check.sentence = fault.sentence;
    check.position = fault.position;
    check.length = fault.length;
    check.allowed = fault.allowed;
  } catch (const Error& error) {  // each number is one, together they are no rule
    check.sentence = error.what();
    check.length = text.size();
  }
  return check;
}

Rule parse_rule(std::string_view text, std::string_view name) {
  RuleCheck check = check_rule_text(text, name);
  if (check.rule) return std::move(*check.rule);
  throw usage_error(fmt::format("rule \"{}\", character {}: {}", text, check.position + 1, check.sentence),
                    {.field = "rule", .hint = "for example: signal risk.exposure above 0.9, 3 of 5, notify"});
}

std::string rule_text(const Rule& rule) {
  std::string text = fmt::format("{} {} {}", rule_word(rule.source), rule.column, rule_word(rule.kind));
  if (rule.kind == RuleKind::rises) {
    text += fmt::format(" {} sigma over {}", rule.sigmas, rule.window);
  } else if (rule.kind == RuleKind::no_progress) {
    text += fmt::format(" {} by {} {}", rule.window, rule.threshold, rule.lower_is_better ? "lower" : "higher");
  } else {
    text += fmt::format(" {}", rule.threshold);
  }
  return fmt::format("{}, {} of {}, cool_down {}, {}{}", text, rule.needed, rule.of, rule.cool_down,
                     rule_word(rule.action), rule.enabled ? "" : ", off");
}

}  // namespace foxhunt::telemetry
