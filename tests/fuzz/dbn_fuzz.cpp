// libFuzzer target: any bytes read as a DBN market file end in records or an Error, never otherwise.
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "engine/base/error.h"
#include "engine/market/file_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace foxhunt::market;
  static const auto path = std::filesystem::temp_directory_path() / ("foxhunt-fuzz-dbn-" + std::to_string(::getpid()));
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  foxhunt::DataConfig config;
  config.timezone = "America/New_York";
  for (const InputKind kind : {InputKind::bars, InputKind::book, InputKind::trades}) {
    RecordSink sink;
    DataReport report;
    try {
      read_file(path, kind, config, sink, report);
    } catch (const foxhunt::Error&) {
      continue;  // a refusal is a right answer
    }
  }
  return 0;
}
