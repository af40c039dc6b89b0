// foxhunt-cli bench: what a step costs, and that it is one launch and nothing else.
#include <algorithm>
#include <chrono>

#include "app/commands/bench_fixture.h"
#include "app/commands/commands.h"
#include "app/interrupt.h"
#include "app/output.h"
#include "engine/base/error.h"
#include "engine/base/json_number.h"

namespace foxhunt::app {
namespace {

constexpr int kStretches = 5, kWarmUp = 8;

struct StepCost {
  double us = 0;           // median over the stretches
  device::Counters calls;  // of all timed steps
  std::int64_t steps = 0;
};

// Differences of the counters from before the first to after the last launch of each stretch; the wait at a stretch's
// end is the clock's, not the step's.
void add(device::Counters& sum, const device::Counters& before, const device::Counters& after) {
  sum.launches += after.launches - before.launches;
  sum.copies += after.copies - before.copies + after.staging - before.staging;
  sum.synchronisations += after.synchronisations - before.synchronisations;
  sum.allocations += after.allocations - before.allocations;
}

StepCost time_steps(Learner& learner, std::int64_t steps) {
  const std::int64_t stretch = std::max<std::int64_t>(1, steps / kStretches);
  StepCost out;
  std::vector<double> times;
  for (int i = 0; i < kStretches; ++i) {
    const device::Counters before = learner.device().counters();
    const auto begin = std::chrono::steady_clock::now();
    for (std::int64_t s = 0; s < stretch; ++s) learner.step();
    add(out.calls, before, learner.device().counters());
    learner.drain();
    const std::chrono::duration<double, std::micro> spent = std::chrono::steady_clock::now() - begin;
    times.push_back(spent.count() / static_cast<double>(stretch));
    out.steps += stretch;
    if (interrupted()) throw Error("interrupted");
  }
  std::nth_element(times.begin(), times.begin() + kStretches / 2, times.end());
  out.us = times[kStretches / 2];
  return out;
}

Json children_json(const std::vector<ChildTiming>& children) {
  Json out = Json::array();
  for (const ChildTiming& child : children)
    out.push_back({{"name", child.name},
                   {"nodes", child.nodes},
                   {"critical_nodes", child.critical_nodes},
                   {"us", json_number(child.microseconds)}});
  return out;
}

Json bench_row(device::Device& device, int batch, device::Precision precision, std::int64_t steps, bool children) {
  BenchFixture fixture(device, batch, precision);
  Learner& learner = fixture.learner();
  for (int i = 0; i < kWarmUp; ++i) learner.step();
  learner.drain();
  const StepCost cost = time_steps(learner, steps);
  if (learner.halted()) throw Error(fmt::format("the step halted itself with NaN flags {:#x}", learner.nan_flags()));
  const auto per_step = [&](std::uint64_t count) {
    return static_cast<double>(count) / static_cast<double>(cost.steps);
  };
  const int repetitions = static_cast<int>(std::clamp<std::int64_t>(steps / 4, 5, 200));
  Json row{{"batch", batch}, {"us_per_step", cost.us}};
  Json timings = Json::array();
  if (children) timings = children_json(learner.profile(repetitions));
  const double products = learner.time_products(repetitions);
  row["us_products"] = products;
  row["ratio"] = cost.us / products;
  row["launches_per_step"] = per_step(cost.calls.launches);
  row["copies_per_step"] = per_step(cost.calls.copies);
  row["syncs_per_step"] = per_step(cost.calls.synchronisations);
  row["allocations_per_step"] = per_step(cost.calls.allocations);
  row["steps"] = cost.steps;
  row["capacity"] = learner.options().capacity;
  row["children"] = std::move(timings);
  return row;
}

}  // namespace

Outcome run_bench(const Arguments& arguments, const Manner&) {
  const auto device = open_device(arguments);
  const bool host = device->info().kind == device::DeviceKind::host;
  const device::Precision precision = precision_of(arguments, *device);
  std::vector<std::int64_t> batches = arguments.integers("batch", 1, 65'536);
  if (batches.empty()) batches = host ? std::vector<std::int64_t>{64} : std::vector<std::int64_t>{256, 1024, 8192};
  const std::int64_t steps = arguments.integer("steps", host ? 60 : 600, kStretches, 1'000'000);
  Json rows = Json::array();
  for (const std::int64_t batch : batches)
    rows.push_back(bench_row(*device, static_cast<int>(batch), precision, steps, arguments.has("children")));
  return {{{"device", device->info().name},
           {"description", device->info().description},
           {"library", device->info().library},
           {"threads", device->info().threads},
           {"precision", precision_name(precision)},
           {"rows", std::move(rows)}}};
}

std::string bench_text(const Json& document) {
  std::string out = fmt::format("{}: {}, {}, {}\n\n", document.at("device").get<std::string>(),
                                document.at("description").get<std::string>(),
                                document.at("library").get<std::string>(), document.at("precision").get<std::string>());
  TextTable table({"batch", "us a step", "us products", "ratio", "launches", "copies", "syncs", "allocations"});
  for (const Json& row : document.at("rows"))
    table.add({row.at("batch").dump(), fmt::format("{:.1f}", row.at("us_per_step").get<double>()),
               fmt::format("{:.1f}", row.at("us_products").get<double>()),
               fmt::format("{:.2f}", row.at("ratio").get<double>()), number_text(row.at("launches_per_step")),
               number_text(row.at("copies_per_step")), number_text(row.at("syncs_per_step")),
               number_text(row.at("allocations_per_step"))});
  out += table.text();
  for (const Json& row : document.at("rows")) {
    if (row.at("children").empty()) continue;
    TextTable children({fmt::format("\nbatch {}", row.at("batch").dump()), "nodes", "critical", "us"});
    for (const Json& child : row.at("children"))
      children.add({child.at("name").get<std::string>(), child.at("nodes").dump(), child.at("critical_nodes").dump(),
                    child.at("us").is_string() ? child.at("us").get<std::string>()
                                               : fmt::format("{:.1f}", child.at("us").get<double>())});
    out += children.text();
  }
  return out;
}

}  // namespace foxhunt::app
