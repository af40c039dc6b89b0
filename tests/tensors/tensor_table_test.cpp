// The table of tensors: names and shapes in checkpoint order, arena placement, decay, spectral list, fingerprint.
#include "engine/tensors/tensor_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "engine/base/error.h"

namespace foxhunt {
namespace {

LearnerConfig odd() {
  LearnerConfig c;
  c.groups = {{"price", 5}, {"volume", 3}, {"technical", 7}};
  c.branches = {{"direction", 5}, {"magnitude", 2}};
  c.hidden = 11, c.vsn_hidden = 3, c.head_hidden = 7, c.experts = 3, c.expert_hidden = 5, c.atoms = 9;
  c.iqn_cosines = 6, c.iql_hidden = 4;
  return c;
}

std::string text(const TensorTable& table) {
  std::ostringstream out;
  for (const TensorSpec& t : table.tensors()) {
    out << t.name;
    for (const int n : t.shape) out << ' ' << n;
    out << '\n';
  }
  return out.str();
}

// Written out by hand from the reference's list: state 15, hidden 11, heads 7 wide, 9 atoms.
TEST(TensorTable, NamesAndShapesInCheckpointOrder) {
  EXPECT_EQ(text(TensorTable(odd())),
            "vsn.price.1.weight 3 5\nvsn.price.1.bias 3\nvsn.price.2.weight 1 3\nvsn.price.2.bias 1\n"
            "vsn.volume.1.weight 3 3\nvsn.volume.1.bias 3\nvsn.volume.2.weight 1 3\nvsn.volume.2.bias 1\n"
            "vsn.technical.1.weight 3 7\nvsn.technical.1.bias 3\nvsn.technical.2.weight 1 3\nvsn.technical.2.bias 1\n"
            "grn1.a.weight 11 15\ngrn1.a.bias 11\ngrn1.b.weight 22 11\ngrn1.b.bias 22\ngrn1.residual.weight 11 15\n"
            "grn1.norm.weight 11\ngrn1.norm.bias 11\n"
            "grn2.a.weight 11 11\ngrn2.a.bias 11\ngrn2.b.weight 22 11\ngrn2.b.bias 22\ngrn2.residual.weight 11 11\n"
            "grn2.norm.weight 11\ngrn2.norm.bias 11\n"
            "moe.gate.weight 3 11\nmoe.gate.bias 3\nmoe.in.weight 15 11\nmoe.in.bias 15\nmoe.out.weight 11 15\n"
            "moe.norm.weight 11\nmoe.norm.bias 11\n"
            "value.hidden.weight 7 11\nvalue.hidden.bias 7\nvalue.out.weight 9 7\nvalue.out.bias 9\n"
            "value.out.weight_sigma 9 7\nvalue.out.bias_sigma 9\n"
            "direction.hidden.weight 7 11\ndirection.hidden.bias 7\ndirection.out.weight 45 7\ndirection.out.bias 45\n"
            "direction.out.weight_sigma 45 7\ndirection.out.bias_sigma 45\n"
            "magnitude.hidden.weight 7 11\nmagnitude.hidden.bias 7\nmagnitude.out.weight 18 7\nmagnitude.out.bias 18\n"
            "magnitude.out.weight_sigma 18 7\nmagnitude.out.bias_sigma 18\n"
            "iqn.embed.weight 11 6\niqn.embed.bias 11\niqn.hidden.weight 7 11\niqn.hidden.bias 7\niqn.out.weight 7 7\n"
            "iqn.out.bias 7\n"
            "iql_high.hidden.weight 4 15\niql_high.hidden.bias 4\niql_high.out.weight 1 4\niql_high.out.bias 1\n"
            "iql_low.hidden.weight 4 15\niql_low.hidden.bias 4\niql_low.out.weight 1 4\niql_low.out.bias 1\n"
            "aux.return.weight 1 11\naux.return.bias 1\naux.direction.weight 3 11\naux.direction.bias 3\n"
            "aux.volatility.weight 1 11\naux.volatility.bias 1\n");
}

TEST(TensorTable, DefaultSizesGiveThe95TensorsAndThe13Matrices) {
  const TensorTable table{LearnerConfig{}};
  EXPECT_EQ(table.tensors().size(), 95u);
  std::vector<std::string> spectral;
  for (const int i : table.spectral()) spectral.push_back(table.tensors()[static_cast<std::size_t>(i)].name);
  EXPECT_EQ(spectral, (std::vector<std::string>{
                          "grn1.a.weight", "grn1.b.weight", "grn2.a.weight", "grn2.b.weight", "moe.in.weight",
                          "moe.out.weight", "value.hidden.weight", "direction.hidden.weight", "magnitude.hidden.weight",
                          "order.hidden.weight", "urgency.hidden.weight", "iqn.embed.weight", "iqn.hidden.weight"}));
  for (std::size_t k = 0; k < table.tensors().size(); ++k) {
    const TensorSpec& t = table.tensors()[k];
    const auto listed = std::find(spectral.begin(), spectral.end(), t.name);
    EXPECT_EQ(t.spectral, listed == spectral.end() ? -1 : static_cast<int>(listed - spectral.begin())) << t.name;
  }
}

TEST(TensorTable, TensorsLieApartInsideTheArena) {
  for (const LearnerConfig& config : {LearnerConfig{}, odd()}) {
    const TensorTable table(config);
    EXPECT_EQ(table.arena_size() % 64, 0);
    std::vector<const TensorSpec*> sorted;
    for (const TensorSpec& t : table.tensors()) {
      std::int64_t size = 1;
      for (const int n : t.shape) size *= n;
      EXPECT_EQ(t.size, size) << t.name;
      EXPECT_EQ(t.decays, t.shape.size() == 2) << t.name;
      sorted.push_back(&t);
    }
    std::sort(sorted.begin(), sorted.end(), [](auto* a, auto* b) { return a->offset < b->offset; });
    std::int64_t end = 0;
    for (const TensorSpec* t : sorted) {
      EXPECT_GE(t->offset, end) << t->name << " overlaps the one before";
      EXPECT_LT(t->offset - end, 64) << "a hole before " << t->name;
      end = t->offset + t->size;
    }
    EXPECT_LE(end, table.arena_size());
  }
}

// Rows of one product follow each other without padding; each such group begins at 256 bytes.
TEST(TensorTable, FusedTensorsLieTogether) {
  const TensorTable table(odd());
  const std::vector<std::vector<std::string>> groups = {
      {"vsn.price.1.weight", "vsn.volume.1.weight", "vsn.technical.1.weight"},
      {"vsn.price.1.bias", "vsn.volume.1.bias", "vsn.technical.1.bias"},
      {"vsn.price.2.weight", "vsn.volume.2.weight", "vsn.technical.2.weight"},
      {"vsn.price.2.bias", "vsn.volume.2.bias", "vsn.technical.2.bias"},
      {"grn1.a.weight", "grn1.residual.weight"},
      {"moe.gate.weight", "moe.in.weight"},
      {"moe.gate.bias", "moe.in.bias"},
      {"value.hidden.weight", "direction.hidden.weight", "magnitude.hidden.weight", "aux.return.weight",
       "aux.direction.weight", "aux.volatility.weight"},
      {"value.hidden.bias", "direction.hidden.bias", "magnitude.hidden.bias", "aux.return.bias", "aux.direction.bias",
       "aux.volatility.bias"},
      {"iql_high.hidden.weight", "iql_low.hidden.weight"},
      {"iql_high.out.weight", "iql_low.out.weight"},
      {"iql_high.out.bias", "iql_low.out.bias"}};
  for (const auto& group : groups) {
    EXPECT_EQ(table.offset(group[0]) % 64, 0) << group[0];
    for (std::size_t i = 1; i < group.size(); ++i)
      EXPECT_EQ(table.offset(group[i]), table.offset(group[i - 1]) + table.at(group[i - 1]).size) << group[i];
  }
}

TEST(TensorTable, FingerprintFollowsNamesAndShapes) {
  std::set<std::uint64_t> seen{TensorTable(odd()).fingerprint()};
  EXPECT_TRUE(seen.contains(TensorTable(odd()).fingerprint()));
  std::vector<LearnerConfig> others(6, odd());
  others[0].hidden = 12;
  others[1].atoms = 10;
  others[2].branches[1].first = "size";
  others[3].branches[1].second = 3;
  others[4].groups[0].second = 6;
  others[5].iql_hidden = 5;
  for (const LearnerConfig& c : others) EXPECT_TRUE(seen.insert(TensorTable(c).fingerprint()).second);
  LearnerConfig same = odd();
  same.lr = 1;
  EXPECT_TRUE(seen.contains(TensorTable(same).fingerprint())) << "what changes no tensor changes no fingerprint";
}

TEST(TensorTable, AnUnknownNameIsAnError) {
  const TensorTable table(odd());
  try {
    table.at("grn9.a.weight");
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("grn9.a.weight"), std::string::npos);
  }
}

}  // namespace
}  // namespace foxhunt
