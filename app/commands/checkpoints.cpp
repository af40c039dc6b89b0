// foxhunt-cli inspect and compare: safetensors files of this program or any other.
#include "app/commands/commands.h"
#include "app/output.h"
#include "engine/base/error.h"
#include "engine/checkpoint/compare.h"
#include "engine/checkpoint/tensor_statistics.h"
#include "engine/session/probe.h"

namespace foxhunt::app {

Outcome run_inspect(const Arguments& arguments, const Manner&) {
  const auto file = SafetensorsFile::open(existing_file(arguments.operands()[0], "FILE"));
  const std::string only = arguments.text("tensor").value_or("");
  if (arguments.has("tensor") && !file.find(only)) {
    std::vector<std::string> known;
    for (const TensorInfo& tensor : file.tensors()) known.push_back(tensor.name);
    throw usage_error(
        fmt::format("there is no tensor \"{}\" among {}", only, known.size()),
        {.file = file.path(),
         .field = "--tensor",
         .hint = known.empty() ? "the file has none" : fmt::format("did you mean {}?", nearest(only, known))});
  }
  return {inspect_document(file, only)};
}

std::string inspect_text(const Json& document) {
  std::string out;
  for (const auto& [key, value] : document.at("metadata").items()) {
    std::string text = value.get<std::string>();
    if (text.size() > 100) text.replace(97, std::string::npos, "...");
    out += fmt::format("{}: {}\n", key, text);
  }
  TextTable table({"tensor", "type", "shape", "min", "max", "mean", "std", "nan", "inf"});
  for (const Json& t : document.at("tensors")) {
    table.add({t.at("name").get<std::string>(), t.at("dtype").get<std::string>(), t.at("shape").dump(),
               number_text(t.at("min")), number_text(t.at("max")), number_text(t.at("mean")), number_text(t.at("std")),
               number_text(t.at("nan")), number_text(t.at("inf"))});
  }
  return out + table.text();
}

Outcome run_compare(const Arguments& arguments, const Manner&) {
  const auto a = SafetensorsFile::open(existing_file(arguments.operands()[0], "A"));
  const auto b = SafetensorsFile::open(existing_file(arguments.operands()[1], "B"));
  Json document = to_json(compare_files(a, b));
  if (const auto probe = arguments.text("probe")) {
    document["behaviour"] = to_json(
        compare_behaviour(arguments.operands()[0], arguments.operands()[1], probe_configuration(arguments, *probe)));
  } else if (arguments.has("set")) {
    throw usage_error("--set changes the configuration of --probe, which is not given",
                      {.field = "--set", .hint = "add --probe with a configuration"});
  }
  return {std::move(document)};
}

namespace {

std::string shares_text(const Json& shares) {
  std::string out;
  for (const Json& share : shares) out += fmt::format("{}{:.0f}", out.empty() ? "" : " ", 100 * share.get<double>());
  return out;
}

std::string behaviour_text(const Json& behaviour) {
  TextTable table({"branch", "agree", "mean |dQ|", "largest |dQ|", "mean Q of A", "of B", "actions % of A", "of B"});
  for (const Json& b : behaviour.at("branches"))
    table.add({b.at("name").get<std::string>(), number_text(b.at("agreement")), number_text(b.at("q_mean_abs")),
               number_text(b.at("q_max_abs")), number_text(b.at("q_mean_a")), number_text(b.at("q_mean_b")),
               shares_text(b.at("actions_a")), shares_text(b.at("actions_b"))});
  return fmt::format("\nall branches agree in {} of {} states\n{}", number_text(behaviour.at("agreement")),
                     behaviour.at("states").dump(), table.text());
}

}  // namespace

std::string compare_text(const Json& document) {
  std::string out;
  const std::string behaviour = document.contains("behaviour") ? behaviour_text(document.at("behaviour")) : "";
  for (const Json& name : document.at("missing")) out += fmt::format("only in A: {}\n", name.get<std::string>());
  for (const Json& name : document.at("extra")) out += fmt::format("only in B: {}\n", name.get<std::string>());
  for (const Json& t : document.at("reshaped"))
    out += fmt::format("reshaped: {} {} -> {}\n", t.at("name").get<std::string>(), t.at("a").dump(), t.at("b").dump());
  if (document.at("identical").get<bool>()) {
    return out + fmt::format("identical: {} tensors, bit by bit\n", document.at("tensors").size()) + behaviour;
  }
  TextTable table({"tensor", "largest difference", "relative L2", "cosine", "sign changes"});
  for (const Json& t : document.at("tensors"))
    table.add({t.at("name").get<std::string>(), number_text(t.at("max_abs")), number_text(t.at("relative_l2")),
               number_text(t.at("cosine")), number_text(t.at("sign_changes"))});
  return out + table.text() + behaviour;
}

}  // namespace foxhunt::app
