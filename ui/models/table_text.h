// Words of the telemetry tables as the window shows them.
#pragma once

#include <QString>
#include <string_view>

#include <nlohmann/json.hpp>

#include "engine/telemetry/tables.h"

namespace foxhunt::ui {

QString tableText(std::string_view text);
// "0 to 100", "from 0"; empty without bounds.
QString healthyRange(const telemetry::TableEntry& entry);
// Sign of the currency in which a run's instrument settles; empty when unknown.
QString currencyOf(const nlohmann::ordered_json& configuration);

}  // namespace foxhunt::ui
