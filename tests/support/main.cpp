// The main of every test program without Qt. A logged warning or error fails the test that caused it,
// unless the test expects it (support/expect_log.h).
#include <gtest/gtest.h>

#include "tests/support/log_watch.h"

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  ::testing::UnitTest::GetInstance()->listeners().Append(new foxhunt::test::LogWatch);
  return RUN_ALL_TESTS();
}
