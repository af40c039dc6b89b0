// Walk-forward folds: their properties for many shapes, and every refusal.
#include "engine/market/folds.h"

#include "engine/market/features.h"
#include "tests/market/market_fixture.h"
#include "tests/support/shared_data.h"

namespace foxhunt::market::test {
namespace {

// Only the number of rows and the warm-up matter to folds.
MarketTable rows(std::int64_t n, std::int64_t warm_up = 113) {
  MarketTable table;
  table.close.assign(static_cast<std::size_t>(n), 0.0);
  table.warm_up = std::min(warm_up, n);
  return table;
}

FoldsConfig shape(int count, std::int64_t train, std::int64_t validation, std::int64_t test = 0, std::int64_t gap = 0) {
  FoldsConfig config;
  config.count = count;
  config.train_bars = train;
  config.validation_bars = validation;
  config.test_bars = test;
  config.gap_bars = gap;
  return config;
}

FoldsConfig table_of(const std::string& text) {
  FoldsConfig config;
  config.table = (::foxhunt::test::scratch_folder() / "folds.json").string();
  std::ofstream(config.table) << text;
  return config;
}

void check(const std::vector<Fold>& folds, const MarketTable& table, const FoldsConfig& config, int n_step) {
  const std::int64_t gap = config.gap_bars ? config.gap_bars : least_gap(n_step);
  for (std::size_t i = 0; i < folds.size(); ++i) {
    const Fold& f = folds[i];
    EXPECT_EQ(f.index, static_cast<int>(i));
    EXPECT_GE(f.train.begin, table.warm_up);
    EXPECT_EQ(f.train.end, f.gap.begin);
    EXPECT_EQ(f.gap.size(), gap);
    EXPECT_EQ(f.gap.end, f.validation.begin);
    EXPECT_EQ(f.validation.size(), config.validation_bars);
    EXPECT_EQ(f.validation.end, f.test.begin);
    EXPECT_EQ(f.test.size(), config.test_bars);
    EXPECT_LE(f.test.end, table.rows());
    if (config.scheme == "rolling") {
      EXPECT_EQ(f.train.size(), config.train_bars);
    } else {
      EXPECT_EQ(f.train.begin, table.warm_up);
    }
    if (i > 0) {
      EXPECT_EQ(f.validation.begin, folds[i - 1].validation.end + gap - gap);
    }
    for (std::size_t j = 0; j <= i; ++j) {
      EXPECT_FALSE(f.validation.overlaps(folds[j].train));
      EXPECT_FALSE(f.test.overlaps(folds[j].train));
    }
  }
}

}  // namespace

TEST(Folds, PropertiesOfManyShapes) {
  std::mt19937 random(7);
  int built = 0, refused = 0;
  for (int i = 0; i < 500; ++i) {
    const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
    const auto table = rows(pick(200, 5000));
    auto config = shape(pick(1, 6), pick(1, 1500), pick(2, 500), pick(0, 3) ? 0 : pick(1, 300));
    const int n_step = pick(1, 5);
    if (pick(0, 1)) config.scheme = "anchored";
    if (pick(0, 1)) config.gap_bars = least_gap(n_step) + pick(0, 50);
    const std::int64_t gap = config.gap_bars ? config.gap_bars : least_gap(n_step);
    const std::int64_t needed =
        table.warm_up + config.train_bars + gap + config.count * config.validation_bars + config.test_bars;
    if (needed <= table.rows()) {
      const auto folds = make_folds(table, config, n_step);
      EXPECT_EQ(folds.size(), static_cast<std::size_t>(config.count));
      check(folds, table, config, n_step);
      ++built;
    } else {
      EXPECT_EQ(error_of([&] { make_folds(table, config, n_step); }).kind(), ErrorKind::usage);
      ++refused;
    }
  }
  EXPECT_GT(built, 100);
  EXPECT_GT(refused, 100);
}

TEST(Folds, GapCoversLookBackHorizonStepsAndDelay) {
  EXPECT_EQ(least_gap(1), feature_look_back() + 3);
  EXPECT_EQ(least_gap(5), feature_look_back() + 7);
  const auto error = error_of([] { make_folds(rows(5000), shape(1, 500, 200, 0, 20), 3); });
  EXPECT_EQ(error.place().field, "folds.gap_bars");
  EXPECT_TRUE(says(error, "is 20; it must be 0 (the least) or 118 or more"));
}

TEST(Folds, ExactFitAndOneBarShort) {
  const auto config = shape(2, 500, 200, 50);
  const std::int64_t needed = 113 + 500 + least_gap(1) + 2 * 200 + 50;
  EXPECT_EQ(make_folds(rows(needed), config).back().test.end, needed);
  const auto error = error_of([&] { make_folds(rows(needed - 1), config); });
  EXPECT_EQ(error.place().field, "folds.count");
  EXPECT_TRUE(says(error, "folds.count is 2, but 1 fits"));
  EXPECT_EQ(error.place().hint, "allowed: 1 to 1");
}

TEST(Folds, RefusalsNameFieldValueAndBars) {
  const auto table = rows(986);
  const auto refused = [&](const FoldsConfig& config, const std::string& field, const std::string& part) {
    const auto error = error_of([&] { make_folds(table, config); });
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_EQ(error.place().field, field);
    EXPECT_TRUE(says(error, part)) << error.sentence();
  };
  refused(shape(0, 500, 200), "folds.count", "is 0; it must be 1 or more");
  refused(shape(1, 0, 200), "folds.train_bars", "is 0");
  refused(shape(1, 500, 1), "folds.validation_bars", "is 1; it must be 2 or more");
  refused(shape(1, 500, 200, -1), "folds.test_bars", "is -1");
  refused(shape(1, 6000, 200), "folds.train_bars", "is 6000, but the data has 986 bars");
  refused(shape(1, 700, 200), "folds.train_bars", "the data has 986 bars, one fold needs 1129");
  refused(shape(1, std::numeric_limits<std::int64_t>::max(), 200), "folds.train_bars", "but the data has 986 bars");
  auto scheme = shape(1, 500, 200);
  scheme.scheme = "sliding";
  refused(scheme, "folds.scheme", "'sliding'; allowed are rolling, anchored");
  EXPECT_TRUE(says(error_of([] { make_folds(rows(0), {}); }), "no bars"));
}

TEST(Folds, TableIsRead) {
  const auto config = table_of(R"({ // two folds, the second with a test window
    "folds": [ { "train": [113, 600], "validation": [716, 900] },
               { "train": [200, 800], "validation": [1000, 1200], "test": [1210, 1300] } ] })");
  const auto folds = make_folds(rows(1300), config);
  ASSERT_EQ(folds.size(), 2U);
  EXPECT_EQ(folds[0].train, (Range{113, 600}));
  EXPECT_EQ(folds[0].gap, (Range{600, 716}));
  EXPECT_TRUE(folds[0].test.empty());
  EXPECT_EQ(folds[1].index, 1);
  EXPECT_EQ(folds[1].test, (Range{1210, 1300}));
}

TEST(Folds, TableErrorsSayWhere) {
  const auto refused = [](const std::string& text, const std::string& field, const std::string& part) {
    const auto error = error_of([&] { make_folds(rows(1300), table_of(text)); });
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_EQ(error.place().field, field) << error.sentence();
    EXPECT_TRUE(says(error, part)) << error.sentence();
  };
  refused("nonsense", "folds", "must be a JSON object");
  refused(R"({"folds": []})", "folds", "at least one fold");
  refused(R"({"folds": [7]})", "folds[0]", "is 7");
  refused(R"({"folds": [{"train": [113, 600]}]})", "folds[0].validation", "is missing");
  refused(R"({"folds": [{"train": [113, 600], "validation": [716, "x"]}]})", "folds[0].validation", "two integers");
  refused(R"({"folds": [{"train": [113, 600], "validation": [716, 1301]}]})", "folds[0].validation",
          "rows run from 0 to 1300");
  refused(R"({"folds": [{"train": [600, 600], "validation": [716, 900]}]})", "folds[0].train", "not empty");
  refused(R"({"folds": [{"train": [112, 600], "validation": [716, 900]}]})", "folds[0].train",
          "the first 113 rows are warm-up");
  refused(R"({"folds": [{"train": [113, 600], "validation": [715, 900]}]})", "folds[0].validation",
          "begins 115 rows after");
  refused(R"({"folds": [{"train": [113, 600], "validation": [800, 801]}]})", "folds[0].validation", "has 1 row");
  refused(R"({"folds": [{"train": [113, 600], "validation": [716, 900], "test": [899, 950]}]})", "folds[0].test",
          "inside or before");
  refused(R"({"folds": [{"train": [113, 600], "valid": [716, 900]}]})", "folds[0]", "unknown field 'valid'");
  refused(
      R"({"folds": [{"train": [400, 800], "validation": [950, 1000]}, {"train": [113, 300], "validation": [500, 700]}]})",
      "folds[1].validation", "overlaps the training window [400, 800] of fold 0");
  FoldsConfig absent;
  absent.table = "/nonexistent/folds.json";
  EXPECT_EQ(error_of([&] { make_folds(rows(1300), absent); }).place().field, "folds.table");
}

}  // namespace foxhunt::market::test
