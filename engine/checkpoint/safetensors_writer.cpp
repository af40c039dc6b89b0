// Header first, padded with spaces so that the data begins at a multiple of 8, then the tensors one after another.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/base/atomic_file.h"
#include "engine/base/error.h"
#include "engine/checkpoint/safetensors.h"

namespace foxhunt {

void SafetensorsWriter::add(const std::string& name, DType dtype, std::vector<std::uint64_t> shape, const void* data) {
  FH_CHECK(name != "__metadata__", "\"{}\" is reserved in safetensors files", name);
  TensorInfo info{name, dtype, std::move(shape), 1, 0, 0};
  std::uint64_t bits = dtype_bits(dtype);
  bool overflow = false;
  for (const std::uint64_t n : info.shape) {
    overflow |= __builtin_mul_overflow(info.elements, n, &info.elements);
    overflow |= __builtin_mul_overflow(bits, n, &bits);
  }
  FH_CHECK(!overflow && bits % 8 == 0, "tensor {} of shape {}", name, shape_text(info.shape));
  FH_CHECK(data || bits == 0, "tensor {} without data", name);
  for (const Source& source : sources_) FH_CHECK(source.info.name != name, "tensor {} is added twice", name);
  info.end = bits / 8;
  sources_.push_back({std::move(info), data});
}

std::uint64_t SafetensorsWriter::data_bytes() const {
  std::uint64_t bytes = 0;
  for (const Source& source : sources_) bytes += source.info.bytes();
  return bytes;
}

void SafetensorsWriter::write(const std::filesystem::path& path) const {
  std::vector<const Source*> order;
  for (const Source& source : sources_) order.push_back(&source);
  std::stable_sort(order.begin(), order.end(), [](const Source* a, const Source* b) {
    return dtype_bits(a->info.dtype) > dtype_bits(b->info.dtype);
  });
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata_.empty()) header["__metadata__"] = metadata_;
  std::uint64_t at = 0;
  for (const Source* source : order) {
    const TensorInfo& info = source->info;
    header[info.name] = {
        {"dtype", dtype_name(info.dtype)}, {"shape", info.shape}, {"data_offsets", {at, at + info.bytes()}}};
    at += info.bytes();
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const nlohmann::json::exception& error) {
    throw Error(fmt::format("a name or text of the metadata is not UTF-8: {}", error.what()),
                {path.string(), {}, {}, "__metadata__", "use UTF-8"});
  }
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const std::uint64_t length = text.size();
  AtomicFile file(path);
  file.write(&length, 8);
  file.write(text.data(), text.size());
  for (const Source* source : order) file.write(source->data, source->info.bytes());
  file.commit();
}

}  // namespace foxhunt
