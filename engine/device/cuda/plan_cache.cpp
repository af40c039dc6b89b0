// Reading and writing the file of pinned algorithms.
#include "engine/device/cuda/plan_cache.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/base/atomic_file.h"
#include "engine/base/error.h"
#include "engine/base/strict_json.h"

namespace foxhunt::device::cuda {
namespace {

constexpr const char* kFormat = "foxhunt product plans";
constexpr std::uint64_t kMaxBytes = 16u << 20;

const JsonNode& member(const JsonNode& object, const char* name, JsonKind kind, const std::string& file) {
  const JsonNode* found = object.find(name);
  if (!found || found->kind != kind) {
    throw Error(fmt::format("{} must be {}", name, json_kind_name(kind)), {.file = file, .line = object.line});
  }
  return *found;
}

nlohmann::ordered_json describe(const std::string& shape, const PinnedPlan& plan) {
  return {{"shape", shape}, {"algorithm", plan.algorithm}, {"fused", plan.fused}, {"words", plan.words}};
}

}  // namespace

PlanCache::PlanCache(std::string path, PlanPlace place, std::shared_ptr<spdlog::logger> log)
    : path_(std::move(path)), place_(std::move(place)), log_(std::move(log)) {
  try {
    file_ = read();
  } catch (const Error& error) {
    log_->warn("the file of pinned product algorithms is ignored and will be replaced: {}", error.sentence());
    return;
  }
  std::size_t foreign = 0;
  for (const auto& [unused, entry] : file_) foreign += key(entry.place, "") != key(place_, "");
  if (foreign) {
    log_->info("{}: {} of {} pinned algorithms are for another GPU, driver or library and are ignored", path_, foreign,
               file_.size());
  }
}

PlanCache::Key PlanCache::key(const PlanPlace& place, const std::string& shape) const {
  return place.gpu + "\n" + place.driver + "\n" + place.library + "\n" + shape;
}

std::map<PlanCache::Key, PlanCache::Entry> PlanCache::read() const {
  std::map<Key, Entry> entries;
  if (path_.empty() || !std::filesystem::exists(path_)) return entries;
  const JsonNode document = parse_strict_json(read_text_file(path_, kMaxBytes), {.file = path_});
  if (document.kind != JsonKind::object || member(document, "format", JsonKind::text, path_).text != kFormat) {
    throw Error(fmt::format("this is no file of {}", kFormat), {.file = path_});
  }
  if (const auto& version = member(document, "version", JsonKind::integer, path_); version.integer != kVersion) {
    throw Error(fmt::format("version {}; this program reads {}", version.integer, kVersion),
                {.file = path_, .line = version.line});
  }
  for (const JsonNode& item : member(document, "plans", JsonKind::array, path_).children) {
    const auto text = [&](const char* name) { return member(item, name, JsonKind::text, path_).text; };
    Entry entry{{text("gpu"), text("driver"), text("library")},
                text("shape"),
                {text("algorithm"), member(item, "fused", JsonKind::boolean, path_).boolean, text("words")}};
    entries[key(entry.place, entry.shape)] = entry;
  }
  return entries;
}

std::optional<PinnedPlan> PlanCache::find(const std::string& shape) const {
  if (const auto used = used_.find(shape); used != used_.end()) return used->second;
  const auto found = file_.find(key(place_, shape));
  if (found == file_.end()) return std::nullopt;
  return found->second.plan;
}

void PlanCache::put(const std::string& shape, PinnedPlan plan) {
  const auto found = file_.find(key(place_, shape));
  if (found == file_.end() || found->second.plan.algorithm != plan.algorithm ||
      found->second.plan.fused != plan.fused) {
    dirty_ = true;
  }
  used_[shape] = std::move(plan);
}

void PlanCache::flush() noexcept {
  if (!dirty_ || path_.empty()) return;
  dirty_ = false;
  try {
    // Another process may have written meanwhile: its other entries stay.
    try {
      file_ = read();
    } catch (const Error&) {
      file_.clear();  // the constructor has said so
    }
    for (const auto& [shape, plan] : used_) file_[key(place_, shape)] = {place_, shape, plan};
    nlohmann::ordered_json plans = nlohmann::ordered_json::array();
    for (const auto& [unused, entry] : file_) {
      nlohmann::ordered_json item = {
          {"gpu", entry.place.gpu}, {"driver", entry.place.driver}, {"library", entry.place.library}};
      item.update(describe(entry.shape, entry.plan));
      plans.push_back(std::move(item));
    }
    const nlohmann::ordered_json document = {{"format", kFormat}, {"version", kVersion}, {"plans", std::move(plans)}};
    std::error_code ignored;  // writing says what is wrong
    std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), ignored);
    write_file_atomically(path_, document.dump(1) + "\n");
  } catch (const std::exception& error) {
    log_->warn("the pinned product algorithms cannot be kept in {}: {}", path_, error.what());
  }
}

std::string PlanCache::used() const {
  nlohmann::ordered_json plans = nlohmann::ordered_json::array();
  for (const auto& [shape, plan] : used_) plans.push_back(describe(shape, plan));
  const nlohmann::ordered_json document = {{"backend", "cuda"},
                                           {"gpu", place_.gpu},
                                           {"driver", place_.driver},
                                           {"library", place_.library},
                                           {"plans", std::move(plans)}};
  return document.dump();
}

}  // namespace foxhunt::device::cuda
