// The table of market features: names, groups, units, look-backs, formulas and sources, from features.def.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "engine/market/market_table.h"

namespace foxhunt::market {

enum class FeatureGroup { price, volume, technical, order_flow };

inline constexpr int kSessionLookBack = -1;

struct FeatureInfo {
  std::string_view name;
  FeatureGroup group;
  std::string_view unit;
  int look_back;  // earlier bars; kSessionLookBack: the session so far or earlier ones
  std::string_view formula, source;
};

// Column numbers, in the state's order.
enum Feature : int {
#define FH_FEATURE(name, group, unit, look_back, formula, source) f_##name,
#include "engine/market/features.def"
#undef FH_FEATURE
  kFeatureCount
};
static_assert(kFeatureCount == kMarketFeatures);

std::span<const FeatureInfo, kMarketFeatures> market_features();
std::string_view group_name(FeatureGroup group);

// Bars that the longest look-back reads before a row: 113. Rows from here on are whole.
int feature_look_back();

}  // namespace foxhunt::market
