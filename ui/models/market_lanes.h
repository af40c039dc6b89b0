// From an evaluation, or a preview of data, to the lanes of a chart.
#pragma once

#include <QStringList>
#include <array>

#include "engine/session/session_types.h"
#include "ui/charts/lane_content.h"

namespace foxhunt::ui {

// Words of the 13 actions by branch: direction, magnitude, order, urgency.
const std::array<QStringList, 4>& actionWords();
// Why a fill came about, by kernels::FillKind: "market order", "trailing stop"; empty for none.
QString fillWord(int kind);

// Order of the lanes that evaluationLanes() makes.
enum EvaluationLane { lane_position, lane_reward, lane_q_gap };
// Position, reward and Q gap of each bar of the window; the strip says the direction that was decided.
// May be called on any thread.
std::shared_ptr<const LaneContent> evaluationLanes(const ValidationTrace& trace);
// A candle a bucket; order flow, volume and spread beneath it. Without order flow the volume alone.
std::shared_ptr<const LaneContent> previewLanes(const market::DataPreview& preview);

}  // namespace foxhunt::ui
