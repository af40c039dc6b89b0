// devices, inspect, compare, verify-step, verify-environment and bench: their documents by name.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "engine/checkpoint/safetensors.h"
#include "tests/app/cli_runner.h"
#include "tests/support/shared_data.h"

namespace foxhunt {
namespace {

using nlohmann::json;
using test::run_cli;

void write_tensors(const std::filesystem::path& path, std::vector<float> w, std::vector<float> b) {
  SafetensorsWriter writer;
  writer.metadata("step", "12");
  writer.add("w", DType::f32, {2, w.size() / 2}, w.data());
  writer.add("b", DType::f32, {b.size()}, b.data());
  writer.write(path);
}

TEST(Devices, TheHostIsAlwaysThereAndOthersSayWhyNot) {
  const auto result = run_cli({"devices", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json devices = result.document()["devices"];
  ASSERT_GE(devices.size(), 1u);
  EXPECT_EQ(devices[0]["name"], "cpu");
  EXPECT_EQ(devices[0]["available"], true);
  for (const json& device : devices) {
    EXPECT_EQ(device.value("reason", "").empty(), device["available"].get<bool>()) << device;
  }
  EXPECT_NE(run_cli({"devices"}).out.find("cpu"), std::string::npos);
}

TEST(Inspect, MetadataAndStatistics) {
  const auto folder = test::scratch_folder();
  write_tensors(folder / "a.safetensors", {1, 2, 3, 6}, {std::nanf(""), INFINITY, 0, 4});
  const auto result = run_cli({"inspect", "a.safetensors", "--json"}, {.folder = folder});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json d = result.document();
  EXPECT_EQ(d["metadata"]["step"], "12");
  ASSERT_EQ(d["tensors"].size(), 2u);
  const json& w = d["tensors"][0]["name"] == "w" ? d["tensors"][0] : d["tensors"][1];
  const json& b = d["tensors"][0]["name"] == "w" ? d["tensors"][1] : d["tensors"][0];
  EXPECT_EQ(w["dtype"], "F32");
  EXPECT_EQ(w["shape"], (json{2, 2}));
  EXPECT_EQ(w["min"], 1.0);
  EXPECT_EQ(w["max"], 6.0);
  EXPECT_EQ(w["mean"], 3.0);
  EXPECT_NEAR(w["std"].get<double>(), std::sqrt(3.5), 1e-12);
  EXPECT_EQ(b["nan"], 1);
  EXPECT_EQ(b["inf"], 1);
  const auto one = run_cli({"inspect", "a.safetensors", "--tensor", "b", "--json"}, {.folder = folder});
  EXPECT_EQ(one.document()["tensors"].size(), 1u);
  const auto none = run_cli({"inspect", "a.safetensors", "--tensor", "bb", "--json"}, {.folder = folder});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_EQ(none.error()["hint"], "did you mean b?");
}

TEST(Inspect, ATruncatedFileIsRefusedWithItsPlace) {
  const auto folder = test::scratch_folder();
  write_tensors(folder / "a.safetensors", {1, 2, 3, 6}, {1});
  std::filesystem::resize_file(folder / "a.safetensors", std::filesystem::file_size(folder / "a.safetensors") - 3);
  const auto result = run_cli({"inspect", "a.safetensors", "--json"}, {.folder = folder});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.error().value("file", "").find("a.safetensors"), std::string::npos);
  EXPECT_NE(result.error().value("message", ""), "");
}

TEST(Compare, TellsIdenticalFromChanged) {
  const auto folder = test::scratch_folder();
  write_tensors(folder / "a.safetensors", {1, 2, 3, 6}, {1});
  write_tensors(folder / "b.safetensors", {1, 2, 3, 7}, {1});
  const auto same = run_cli({"compare", "a.safetensors", "a.safetensors", "--json"}, {.folder = folder});
  EXPECT_EQ(same.exit_code, 0);
  EXPECT_EQ(same.document()["identical"], true);
  const auto changed = run_cli({"compare", "a.safetensors", "b.safetensors", "--json"}, {.folder = folder});
  EXPECT_EQ(changed.exit_code, 0);
  const json d = changed.document();
  EXPECT_EQ(d["identical"], false);
  for (const char* name : {"missing", "extra", "reshaped"}) EXPECT_TRUE(d[name].empty()) << name;
  EXPECT_EQ(d["tensors"][0]["name"], "w");
  EXPECT_EQ(d["tensors"][0]["max_abs"], 1.0);
  EXPECT_NEAR(d["tensors"][0]["relative_l2"].get<double>(), 1 / std::sqrt(50.0), 1e-12);
  EXPECT_TRUE(d["tensors"][0].contains("cosine"));
}

TEST(VerifyStep, TheHostReproducesTheFixture) {
  FH_NEEDS_SHARED("reference/fixtures/step-core.safetensors");
  const auto result = run_cli(
      {"verify-step", test::shared("reference/fixtures/step-core.safetensors").string(), "--device", "cpu", "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const json d = result.document();
  EXPECT_EQ(d["passed"], true);
  ASSERT_GT(d["tensors"].size(), 500u);
  for (const char* name : {"name", "error", "tolerance", "share"}) EXPECT_TRUE(d["tensors"][0].contains(name)) << name;
}

TEST(VerifyStep, AnotherFileIsNoFixture) {
  const auto folder = test::scratch_folder();
  write_tensors(folder / "a.safetensors", {1, 2, 3, 6}, {1});
  const auto result = run_cli({"verify-step", "a.safetensors", "--device", "cpu", "--json"}, {.folder = folder});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.error().value("file", "").find("a.safetensors"), std::string::npos) << result.out;
}

TEST(VerifyStep, ThePrecisionOfTheHostIsFixed) {
  FH_NEEDS_SHARED("reference/fixtures/step-core.safetensors");
  const auto result = run_cli({"verify-step", test::shared("reference/fixtures/step-core.safetensors").string(),
                               "--device", "cpu", "--precision", "tf32", "--json"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.error()["field"], "--precision");
}

TEST(VerifyEnvironment, EveryScriptedSession) {
  FH_NEEDS_SHARED("reference/fixtures/environment-es-book.json");
  for (const char* name : {"es-book", "mes-bars-only", "crypto-lots", "ruin"}) {
    const auto file = test::shared(std::string("reference/fixtures/environment-") + name + ".json").string();
    const auto result = run_cli({"verify-environment", file, "--device", "cpu", "--json"});
    EXPECT_EQ(result.exit_code, 0) << name << result.out;
    const json d = result.document();
    EXPECT_EQ(d["passed"], true) << name;
    EXPECT_GT(d["rows"].get<int>(), 0) << name;
    for (const char* member : {"what", "row", "got", "expected"}) EXPECT_TRUE(d["worst"].contains(member)) << member;
  }
}

TEST(VerifyEnvironment, AChangedSessionFailsWithItsDocument) {
  FH_NEEDS_SHARED("reference/fixtures/environment-es-book.json");
  std::ifstream file(test::shared("reference/fixtures/environment-es-book.json"));
  json fixture = json::parse(file);
  fixture["expected"]["end"]["equity"] = fixture["expected"]["end"]["equity"].get<double>() + 1;
  const auto folder = test::scratch_folder();
  std::ofstream(folder / "changed.json") << fixture.dump();
  const auto result = run_cli({"verify-environment", "changed.json", "--device", "cpu", "--json"}, {.folder = folder});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.document()["passed"], false);
  EXPECT_FALSE(result.document().contains("error"));
}

TEST(Bench, AStepIsOneLaunchAndNothingElse) {
  const auto result = run_cli(
      {"bench", "--batch", "8", "16", "--steps", "10", "--children", "--device", "cpu", "--threads", "2", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.out << result.err;
  const json rows = result.document()["rows"];
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1]["batch"], 16);
  for (const json& row : rows) {
    EXPECT_GT(row["us_per_step"].get<double>(), row["us_products"].get<double>() / 4);
    EXPECT_GT(row["us_products"].get<double>(), 0);
    EXPECT_EQ(row["launches_per_step"], 1.0);
    for (const char* name : {"copies_per_step", "syncs_per_step", "allocations_per_step"})
      EXPECT_EQ(row[name], 0.0) << name;
    std::vector<std::string> names;
    for (const json& child : row["children"]) {
      names.push_back(child["name"]);
      EXPECT_GE(child["nodes"].get<int>(), child["critical_nodes"].get<int>());
      EXPECT_TRUE(child["us"].is_number()) << child;
    }
    for (const char* name : {"per_sample", "counters", "spectral", "forward", "ddqn", "aux", "post_aux", "adam_grad",
                             "adam", "maintenance", "iql_modulate", "per_priority", "diagnose", "publish"})
      EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
  }
}

}  // namespace
}  // namespace foxhunt
