// foxhunt-cli verify-step and verify-environment: a device against the reference's results.
#include "app/commands/commands.h"
#include "app/output.h"
#include "engine/environment/verify_environment.h"
#include "engine/learner/verify_step.h"

namespace foxhunt::app {

Outcome run_verify_step(const Arguments& arguments, const Manner&) {
  const auto fixture = existing_file(arguments.operands()[0], "FIXTURE");
  const auto device = open_device(arguments);
  const device::Precision precision = precision_of(arguments, *device);
  const VerifyStepResult result = verify_step(*device, fixture, precision);
  Json document = to_json(result);
  document["device"] = device->info().name;
  document["precision"] = precision_name(precision);
  return {std::move(document), result.passed ? kDone : kFailed};
}

std::string verify_step_text(const Json& document) {
  TextTable table({"result", "error", "tolerance", "share", ""});
  int failed = 0;
  for (const Json& t : document.at("tensors")) {
    const bool passed = t.at("passed").get<bool>();
    failed += !passed;
    table.add({t.at("name").get<std::string>(), number_text(t.at("error")), number_text(t.at("tolerance")),
               number_text(t.at("share")), passed ? "" : "FAILED"});
  }
  return table.text() + fmt::format("{}: {} results of {} steps on {} ({}), {} beyond their tolerance\n",
                                    document.at("passed").get<bool>() ? "passed" : "FAILED",
                                    document.at("tensors").size(), document.at("steps").get<int>(),
                                    document.at("device").get<std::string>(),
                                    document.at("precision").get<std::string>(), failed);
}

Outcome run_verify_environment(const Arguments& arguments, const Manner&) {
  const auto fixture = existing_file(arguments.operands()[0], "FIXTURE");
  const auto device = open_device(arguments);
  const VerifyEnvironmentResult result = verify_environment(*device, fixture);
  Json document = verify_environment_json(result);
  document["device"] = device->info().name;
  return {std::move(document), result.passed ? kDone : kFailed};
}

std::string verify_environment_text(const Json& document) {
  const Json& worst = document.at("worst");
  return fmt::format("{}: {} rows compared on {}; most of its tolerance used by {} in row {}: {}, expected {}\n",
                     document.at("passed").get<bool>() ? "passed" : "FAILED", document.at("rows").get<std::int64_t>(),
                     document.at("device").get<std::string>(), worst.at("what").get<std::string>(),
                     worst.at("row").dump(), worst.at("got").dump(), worst.at("expected").dump());
}

}  // namespace foxhunt::app
