// One minute of writing at full speed: no torn snapshot and no torn record is ever returned.
#include <gtest/gtest.h>

#include <iostream>

#include "tests/telemetry/full_speed.h"

namespace foxhunt::test {
namespace {

TEST(Readers, AMinuteAtFullSpeed) {
  const FullSpeed seen = at_full_speed(60);
  std::cout << seen.written << " steps written, " << seen.delivered << " read, " << seen.retried
            << " snapshots read again\n";
  EXPECT_EQ(seen.wrong, 0u);
  EXPECT_EQ(seen.delivered + seen.missed, seen.written);
  EXPECT_GT(seen.retried, 0u);
}

}  // namespace
}  // namespace foxhunt::test
