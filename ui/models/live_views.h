// From what a live session hands out to what panels show.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "engine/session/session_types.h"
#include "ui/models/run_types.h"

namespace foxhunt::ui {

EventView eventView(const SessionEvent& event);
std::vector<FoldView> foldViews(const SessionPlan& plan);
std::shared_ptr<const EpochView> epochView(const FoldResult& fold, const EpochResult& epoch, const SessionPlan& plan);
// From the file's name (fold0-step000000128-best.safetensors), its size and the results of its step.
CheckpointView checkpointView(const std::filesystem::path& file,
                              const std::vector<std::shared_ptr<const FoldResult>>& results);

}  // namespace foxhunt::ui
