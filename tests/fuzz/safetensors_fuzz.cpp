// Any bytes as a safetensors file: refused by Error, or read through to the last value.
#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/base/error.h"
#include "engine/checkpoint/compare.h"
#include "engine/checkpoint/tensor_statistics.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto file = foxhunt::SafetensorsFile::over(std::as_bytes(std::span(data, size)), "fuzz.safetensors");
    for (const foxhunt::TensorInfo& tensor : file.tensors()) foxhunt::tensor_statistics(file, tensor);
    if (!foxhunt::compare_files(file, file).identical) __builtin_trap();
  } catch (const foxhunt::Error&) {
  }
  return 0;
}
