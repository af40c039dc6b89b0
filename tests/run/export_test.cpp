// Exports are read back by parsers written here: CSV by the RFC, JSON by the library, event files by frames and fields.
#include "engine/run/export.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/run/run_sink.h"
#include "tests/run/run_support.h"

namespace foxhunt {
namespace {

using test::small_columns;
using test::small_info;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::unique_ptr<RunStore> filled_run(const std::filesystem::path& folder) {
  auto store = RunStore::create_at(folder, small_info(), small_columns());
  store->append_step(100.5, std::vector<double>{1, 0, 0.1, kNan});
  store->append_step_bucket(101, {2, {3, 1, -2, 4}, {2, 1, -kInf, 4}, {3, 1, 1, 4}, {0, 0, 1, 0}});
  store->append_health(100, std::vector<double>{1, kInf});
  store->append(RunTable::evaluations, {{"wall", 102.0},
                                        {"step", std::int64_t{3}},
                                        {"fold", std::int64_t{1}},
                                        {"window", std::string("validation")},
                                        {"policy", std::string("agent")},
                                        {"sharpe", 0.75},
                                        {"sortino", std::monostate{}},
                                        {"net", kNan}});
  RunEvent event;
  event.wall = 1;
  event.message = "a \"quoted\", long\nmessage \xc3\xa9";
  store->append(event);
  store->flush();
  return store;
}

std::vector<std::vector<std::string>> parse_csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows(1, std::vector<std::string>(1));
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (inside && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      rows.back().back() += text[++i];
    } else if (c == '"') {
      inside = !inside;
    } else if (!inside && c == ',') {
      rows.back().emplace_back();
    } else if (!inside && c == '\n') {
      rows.emplace_back(1);
    } else {
      rows.back().back() += c;
    }
  }
  rows.pop_back();
  return rows;
}

TEST(Export, CsvKeepsEveryValue) {
  const auto folder = test::scratch_folder();
  auto store = filled_run(folder / "run");
  const auto written = export_run(RunReader::open(folder / "run"), ExportFormat::csv, folder / "out");
  EXPECT_EQ(written.size(), static_cast<std::size_t>(kRunTables) + 1);
  const auto steps = parse_csv(text_of(folder / "out" / "steps.csv"));
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_EQ(steps[0], (std::vector<std::string>{"id", "wall", "bucket", "step", "fold", "loss_total", "order"}));
  EXPECT_EQ(steps[1], (std::vector<std::string>{"1", "100.5", "1", "1", "0", "0.1", "nan"}));
  EXPECT_EQ(steps[2], (std::vector<std::string>{"2", "101", "2", "3", "1", "-2", "4"}));
  EXPECT_EQ(parse_csv(text_of(folder / "out" / "steps_min.csv"))[1][3], "-inf");
  const auto evaluations = parse_csv(text_of(folder / "out" / "evaluations.csv"));
  EXPECT_EQ(evaluations[0][9], "net");
  EXPECT_EQ(evaluations[1][7], "0.75");
  EXPECT_EQ(evaluations[1][8], "");
  EXPECT_EQ(evaluations[1][9], "nan");
  EXPECT_EQ(parse_csv(text_of(folder / "out" / "events.csv"))[1][8], "a \"quoted\", long\nmessage \xc3\xa9");
  EXPECT_EQ(nlohmann::json::parse(text_of(folder / "out" / "run.json"))["seed"], 18446744073709551615ULL);
}

TEST(Export, JsonKeepsEveryValue) {
  const auto folder = test::scratch_folder();
  auto store = filled_run(folder / "run");
  export_run(RunReader::open(folder / "run"), ExportFormat::json, folder / "out");
  const auto steps = nlohmann::json::parse(text_of(folder / "out" / "steps.json"));
  EXPECT_EQ(steps["table"], "steps");
  EXPECT_EQ(steps["columns"][5]["label"], "loss.total");
  EXPECT_EQ(steps["rows"].dump(), R"([[1,100.5,1,1,0,0.1,"nan"],[2,101,2,3,1,-2,4]])");
  const auto evaluations = nlohmann::json::parse(text_of(folder / "out" / "evaluations.json"));
  EXPECT_TRUE(evaluations["rows"][0][8].is_null());
  EXPECT_EQ(evaluations["rows"][0][9], "nan");
  const auto events = nlohmann::json::parse(text_of(folder / "out" / "events.json"));
  EXPECT_EQ(events["rows"][0][8], "a \"quoted\", long\nmessage \xc3\xa9");
  for (int t = 0; t < kRunTables; ++t) {
    const char* name = table_name(static_cast<RunTable>(t));
    EXPECT_EQ(nlohmann::json::parse(text_of(folder / "out" / (std::string(name) + ".json")))["table"], name);
  }
}

// The checksum bit by bit, from its definition.
std::uint32_t slow_masked_crc(std::string_view data) {
  std::uint32_t crc = ~0U;
  for (const char c : data) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1U) ? (crc >> 1) ^ 0x82f63b78U : crc >> 1;
  }
  crc = ~crc;
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
}

struct Scalar {
  double wall = 0;
  std::int64_t step = 0;
  float value = 0;
};

// Fields of one protocol buffer: number -> raw values (varints and fixed ones as eight bytes).
std::multimap<unsigned, std::string> fields_of(std::string_view data) {
  std::multimap<unsigned, std::string> fields;
  std::size_t at = 0;
  const auto varint = [&] {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(data.at(at++));
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < data.size()) {
    const std::uint64_t key = varint();
    std::size_t length = 0;
    std::string raw;
    switch (key & 7) {
      case 0: {
        const std::uint64_t value = varint();
        raw.assign(reinterpret_cast<const char*>(&value), 8);
        break;
      }
      case 1:
        length = 8;
        break;
      case 5:
        length = 4;
        break;
      default:
        length = varint();
    }
    if (length > 0) raw = data.substr(at, length);
    at += length;
    fields.emplace(static_cast<unsigned>(key >> 3), raw);
  }
  return fields;
}

template <class T>
T raw_as(const std::string& raw) {
  T value{};
  EXPECT_GE(raw.size(), sizeof(T));
  std::memcpy(&value, raw.data(), sizeof(T));
  return value;
}

// Every scalar of an event file, by tag; checks frames and checksums.
std::multimap<std::string, Scalar> scalars_of(const std::filesystem::path& path) {
  std::multimap<std::string, Scalar> scalars;
  const std::string file = text_of(path);
  std::string_view rest = file;
  bool first = true;
  while (!rest.empty()) {
    const auto length = raw_as<std::uint64_t>(std::string(rest.substr(0, 8)));
    EXPECT_EQ(raw_as<std::uint32_t>(std::string(rest.substr(8, 4))), slow_masked_crc(rest.substr(0, 8)));
    const std::string_view data = rest.substr(12, length);
    EXPECT_EQ(raw_as<std::uint32_t>(std::string(rest.substr(12 + length, 4))), slow_masked_crc(data));
    rest.remove_prefix(16 + length);
    const auto event = fields_of(data);
    if (first) {
      EXPECT_EQ(event.find(3)->second, "brain.Event:2");
    }
    first = false;
    if (!event.contains(5)) continue;
    for (const auto& [field, raw] : fields_of(event.find(5)->second)) {
      EXPECT_EQ(field, 1U);
      const auto value = fields_of(raw);
      scalars.emplace(value.find(1)->second,
                      Scalar{raw_as<double>(event.find(1)->second), raw_as<std::int64_t>(event.find(2)->second),
                             raw_as<float>(value.find(2)->second)});
    }
  }
  return scalars;
}

TEST(Export, ChecksumIsTheCastagnoliOne) {
  EXPECT_EQ(crc32c("123456789"), 0xe3069283U);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aaU);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43U);
}

TEST(Export, TensorBoardHasFoldsAsSubRunsAndKeepsNan) {
  const auto folder = test::scratch_folder();
  auto store = filled_run(folder / "run");
  const auto written = export_run(RunReader::open(folder / "run"), ExportFormat::tensorboard, folder / "out");
  ASSERT_EQ(written.size(), 3U);
  EXPECT_EQ(written[0].parent_path(), folder / "out" / "run" / "fold-0");
  EXPECT_EQ(written[1].parent_path(), folder / "out" / "run" / "fold-1");
  const auto first = scalars_of(written[0]), second = scalars_of(written[1]);
  ASSERT_EQ(first.count("loss/total"), 1U);
  EXPECT_EQ(first.find("loss/total")->second.step, 1);
  EXPECT_EQ(first.find("loss/total")->second.wall, 100.5);
  EXPECT_EQ(first.find("loss/total")->second.value, 0.1F);
  EXPECT_TRUE(std::isnan(first.find("order")->second.value));
  EXPECT_EQ(first.find("health/q/mean")->second.value, std::numeric_limits<float>::infinity());
  EXPECT_EQ(first.count("loss/total_min"), 0U);
  EXPECT_EQ(second.find("loss/total")->second.value, -2.0F);
  EXPECT_EQ(second.find("loss/total_min")->second.value, -std::numeric_limits<float>::infinity());
  EXPECT_EQ(second.find("loss/total_max")->second.value, 1.0F);
  EXPECT_EQ(second.find("evaluations/validation/agent/sharpe")->second.value, 0.75F);
  EXPECT_TRUE(std::isnan(second.find("evaluations/validation/agent/net")->second.value));
  EXPECT_EQ(second.count("evaluations/validation/agent/sortino"), 0U);
}

TEST(Export, TensorBoardFollowsARunningRunAndNeverAppendsToOldFiles) {
  const auto folder = test::scratch_folder();
  auto store = filled_run(folder / "run");
  const RunReader reader = RunReader::open(folder / "run");
  TensorBoardExport board(folder / "out", "live");
  EXPECT_EQ(board.update(reader), 4);
  EXPECT_EQ(board.update(reader), 0);
  store->append_step(103, std::vector<double>{4, 0, 9, 9});
  store->flush();
  EXPECT_EQ(board.update(reader), 1);
  EXPECT_EQ(scalars_of(board.files()[0]).count("loss/total"), 2U);
  const auto before = text_of(board.files()[0]);
  TensorBoardExport again(folder / "out", "live");
  again.update(reader);
  EXPECT_NE(again.files()[0], board.files()[0]);
  EXPECT_EQ(text_of(board.files()[0]), before);
}

TEST(Export, WrongTargetsAreRefused) {
  const auto folder = test::scratch_folder();
  auto store = filled_run(folder / "run");
  const RunReader reader = RunReader::open(folder / "run");
  EXPECT_THROW(export_run(reader, ExportFormat::csv, folder / "run"), Error);
  std::ofstream(folder / "file") << "x";
  EXPECT_THROW(export_run(reader, ExportFormat::csv, folder / "file" / "out"), Error);
  EXPECT_THROW(export_format_of("xlsx"), Error);
  EXPECT_EQ(export_format_of("json"), ExportFormat::json);
}

TEST(RunSink, TelemetryBecomesColumnsOfTheRun) {
  const auto folder = test::scratch_folder() / "run";
  auto store = RunStore::create_at(folder, small_info(), telemetry_columns());
  RunStoreSink sink(*store);
  std::vector<telemetry::StepRow> rows(3);
  for (std::uint32_t i = 0; i < 3; ++i) {
    rows[i].wall = 50 + i;
    rows[i].record.step = 10 + i;
    rows[i].record.fold = 2;
    rows[i].record.epoch = 5;
    rows[i].record.loss_total = i == 1 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(i);
  }
  sink.step_rows(rows);
  sink.step_bucket(telemetry::make_bucket(60, rows));
  telemetry::HealthDiag health{};
  health.step = 12;
  health.fold = 2;
  health.q_mean = 1.5F;
  sink.health_row(61, health);
  std::vector<float> signals(160);
  signals[0] = 0.25F;
  sink.signals_row(62, 12, signals);
  sink.missed_steps(63, 7);
  store->flush();
  const RunReader reader = RunReader::open(folder);
  const RunRows steps = reader.rows(RunTable::steps, 0, 9, {"step", "fold", "epoch", "loss_total", "bucket"});
  ASSERT_EQ(steps.ids.size(), 4U);
  EXPECT_EQ(steps.values[0], (std::vector<double>{10, 11, 12, 12}));
  EXPECT_EQ(steps.values[1], (std::vector<double>{2, 2, 2, 2}));
  EXPECT_TRUE(std::isnan(steps.values[3][1]));
  EXPECT_EQ(steps.values[3][3], 1.0);  // mean of 0 and 2
  EXPECT_EQ(steps.values[4][3], 3);
  EXPECT_EQ(reader.rows(RunTable::steps_not_finite, 0, 9, {"loss_total"}).values[0][0], 1);
  const RunRows diag = reader.rows(RunTable::health, 0, 9, {"step", "fold", "q_mean"});
  EXPECT_EQ(diag.values[0][0], 12);
  EXPECT_EQ(diag.values[2][0], 1.5);
  EXPECT_EQ(reader.columns(RunTable::health).size(), 148U);  // wall and the 147 words
  const RunRows bus = reader.rows(RunTable::signals, 0, 9, {"step", "fold", "epoch", "loss_total"});
  EXPECT_EQ(bus.values[1][0], 2);
  EXPECT_EQ(bus.values[2][0], 5);
  EXPECT_EQ(bus.values[3][0], 0.25);
  EXPECT_EQ(reader.events().at(0).message.substr(0, 14), "7 step records");
}

}  // namespace
}  // namespace foxhunt
