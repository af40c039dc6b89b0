// Fails a test in which something was logged at warning or above without being expected.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace foxhunt::test {

class LogWatch : public ::testing::EmptyTestEventListener {
 public:
  LogWatch();
  void OnTestStart(const ::testing::TestInfo& info) override;
  void OnTestEnd(const ::testing::TestInfo& info) override;
};

// While one lives, warnings and errors whose text contains `part` are allowed; `count` says how many came.
class ExpectLog {
 public:
  explicit ExpectLog(std::string part);
  ~ExpectLog();
  ExpectLog(const ExpectLog&) = delete;
  ExpectLog& operator=(const ExpectLog&) = delete;
  int count() const;

 private:
  std::string part_;
};

}  // namespace foxhunt::test
