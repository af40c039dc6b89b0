// How a file writes numbers, from evidence over many of them: decimal point or comma, grouping.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/market/decimal.h"

namespace foxhunt::market {

class NumberEvidence {
 public:
  // Text that is not a number is passed over.
  void add(std::string_view text);
  // What the configuration says of the two signs; empty: to be inferred.
  struct Stated {
    std::optional<char> decimal, thousands;  // thousands 0: digits are not grouped
  };
  // Throws usage_error when nothing is stated and the evidence allows both readings ("1,107" and nothing else).
  NumberStyle style(const std::string& file, const Stated& stated) const;

 private:
  NumberStyle with(const Stated& stated) const;

  // Of '.' and ',': what its uses allow.
  struct Mark {
    std::uint64_t used = 0;  // fields that hold it
    bool decimal = false;  // a use that only a decimal sign can have: other than three digits after it, or 0 before it
    bool thousands = false;  // a use that only grouping can have: several in one number
    std::string example;
  };

  Mark point_, comma_;
  char other_thousands_ = 0;  // ' or space
  bool long_plain_ = false;   // more than three digits without any mark: nothing groups
};

}  // namespace foxhunt::market
