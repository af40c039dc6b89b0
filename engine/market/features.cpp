// The feature table as data.
#include "engine/market/features.h"

#include <algorithm>

namespace foxhunt::market {
namespace {

constexpr std::array<FeatureInfo, kMarketFeatures> kFeatures = {{
#define FH_FEATURE(name, group, unit, look_back, formula, source) \
  {#name, FeatureGroup::group, unit, look_back, formula, source},
#include "engine/market/features.def"
#undef FH_FEATURE
}};

constexpr int count(FeatureGroup group) {
  int n = 0;
  for (const auto& feature : kFeatures) n += feature.group == group;
  return n;
}
static_assert(count(FeatureGroup::price) == 16 && count(FeatureGroup::volume) == 16);
static_assert(count(FeatureGroup::technical) == 8 && count(FeatureGroup::order_flow) == 32);

}  // namespace

std::span<const FeatureInfo, kMarketFeatures> market_features() {
  return kFeatures;
}

std::string_view group_name(FeatureGroup group) {
  constexpr std::array<std::string_view, 4> kNames = {"price", "volume", "technical", "order_flow"};
  return kNames[static_cast<std::size_t>(group)];
}

int feature_look_back() {
  int longest = 0;
  for (const auto& feature : kFeatures) longest = std::max(longest, feature.look_back);
  return longest;
}

}  // namespace foxhunt::market
