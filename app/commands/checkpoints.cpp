// foxhunt-cli inspect and compare: safetensors files of this program or any other.
#include "app/commands/commands.h"
#include "app/output.h"
#include "engine/base/error.h"
#include "engine/checkpoint/compare.h"
#include "engine/checkpoint/tensor_statistics.h"

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
  return {to_json(compare_files(a, b))};
}

std::string compare_text(const Json& document) {
  std::string out;
  for (const Json& name : document.at("missing")) out += fmt::format("only in A: {}\n", name.get<std::string>());
  for (const Json& name : document.at("extra")) out += fmt::format("only in B: {}\n", name.get<std::string>());
  for (const Json& t : document.at("reshaped"))
    out += fmt::format("reshaped: {} {} -> {}\n", t.at("name").get<std::string>(), t.at("a").dump(), t.at("b").dump());
  if (document.at("identical").get<bool>()) {
    return out + fmt::format("identical: {} tensors, bit by bit\n", document.at("tensors").size());
  }
  TextTable table({"tensor", "largest difference", "relative L2", "cosine", "sign changes"});
  for (const Json& t : document.at("tensors"))
    table.add({t.at("name").get<std::string>(), number_text(t.at("max_abs")), number_text(t.at("relative_l2")),
               number_text(t.at("cosine")), number_text(t.at("sign_changes"))});
  return out + table.text();
}

}  // namespace foxhunt::app
