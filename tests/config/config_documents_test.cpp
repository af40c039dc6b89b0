// The shipped documents are those that the field table makes. FOXHUNT_UPDATE_DOCUMENTS=1 writes them anew.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/base/error.h"
#include "engine/config/config_documents.h"
#include "engine/config/config_fields.h"
#include "engine/config/load_config.h"

namespace foxhunt {
namespace {

void expect_shipped(const std::string& relative, const std::string& made) {
  const std::string path = std::string(FOXHUNT_SOURCE_DIR) + "/" + relative;
  if (std::getenv("FOXHUNT_UPDATE_DOCUMENTS")) std::ofstream(path) << made;
  std::ifstream file(path);
  ASSERT_TRUE(file) << path << " is absent; FOXHUNT_UPDATE_DOCUMENTS=1 writes it";
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_TRUE(text.str() == made) << relative
                                  << " is not what fields.def makes; FOXHUNT_UPDATE_DOCUMENTS=1 writes it anew";
}

TEST(ConfigDocuments, ShippedPageAndSchemaAreThoseOfTheTable) {
  expect_shipped("docs/configuration.md", config_markdown());
  expect_shipped("resources/config.schema.json", config_schema().dump(2) + "\n");
}

TEST(ConfigDocuments, EveryFieldHasHelpAndADefaultInItsRange) {
  EXPECT_GT(config_fields().size(), 90U);
  for (const Field& field : config_fields()) {
    EXPECT_FALSE(field.help.empty()) << field.path;
    EXPECT_EQ(find_field(field.path), &field) << "twice: " << field.path;
    Config config;
    EXPECT_NO_THROW(set_field(config, field.path, field.default_text)) << field.path;
    EXPECT_NE(config_help().find(field.path + " = "), std::string::npos) << field.path;
    EXPECT_NE(config_markdown().find("| `" + field.path + "` |"), std::string::npos) << field.path;
  }
}

TEST(ConfigDocuments, BoundsOfTheTableHold) {
  // At each end of each range, one value inside and one outside.
  for (const Field& field : config_fields()) {
    if (field.type != FieldType::integer && field.type != FieldType::number && field.type != FieldType::optional_number)
      continue;
    if (field.is_unsigned) continue;
    const auto accepts = [&](double value) {
      Config config;
      try {
        set_field(config, field.path,
                  field.type == FieldType::integer ? fmt::format("{:.0f}", value) : fmt::format("{}", value));
        return true;
      } catch (const Error&) {
        return false;
      }
    };
    const Constraint& c = field.constraint;
    const double step = field.type == FieldType::integer ? 1 : 1e-9;
    EXPECT_EQ(accepts(c.minimum), !c.minimum_excluded) << field.path;
    EXPECT_FALSE(accepts(c.minimum - step)) << field.path;
    if (std::isfinite(c.maximum)) {
      EXPECT_EQ(accepts(c.maximum), !c.maximum_excluded) << field.path;
      EXPECT_FALSE(accepts(c.maximum + step)) << field.path;
    }
  }
}

TEST(ConfigDocuments, SchemaSaysWhatTheTableSays) {
  const auto schema = config_schema();
  const auto& lr = schema["properties"]["learner"]["properties"]["lr"];
  EXPECT_EQ(lr["type"], "number");
  EXPECT_EQ(lr["exclusiveMinimum"], 0);
  EXPECT_EQ(lr["maximum"], 1);
  EXPECT_EQ(lr["default"], 1e-4);
  EXPECT_EQ(schema["properties"]["data"]["properties"]["simulated"]["properties"]["bars"]["default"], 20000);
  EXPECT_EQ(schema["properties"]["data"]["properties"]["simulated"]["type"],
            (nlohmann::ordered_json{"object", "null"}));
  EXPECT_EQ(schema["properties"]["learner"]["additionalProperties"], false);
  EXPECT_EQ(schema["properties"]["instrument"]["enum"][0], "ES");
  EXPECT_TRUE(schema["properties"]["contract"]["properties"]["tick"]["default"].is_null());
}

TEST(NearestField, FindsMisspeltNames) {
  EXPECT_EQ(nearest_field("trainig.batch"), "training.batch");
  EXPECT_EQ(nearest_field("learner.expert"), "learner.experts");
  EXPECT_EQ(nearest_field("sede"), "seed");
  EXPECT_EQ(nearest_field("training.lr"), "learner.lr");
}

}  // namespace
}  // namespace foxhunt
