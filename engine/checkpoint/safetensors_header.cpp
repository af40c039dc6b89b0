// A state machine over SAX events. The grammar is { name: {dtype, shape, data_offsets}, ..., "__metadata__": {text:
// text} }.
#include "engine/checkpoint/safetensors_header.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_set>

#include "engine/base/error.h"
#include "engine/base/strict_json.h"

namespace foxhunt::detail {
namespace {

constexpr std::string_view kMetadata = "__metadata__";
constexpr std::size_t kMaxDimensions = 64;

class HeaderParser {
 public:
  HeaderParser(std::string_view text, std::uint64_t data_bytes, const std::string& path)
      : text_(text), data_bytes_(data_bytes), path_(path) {}

  SafetensorsHeader parse() {
    if (text_.empty() || text_.front() != '{')
      fail(0, "header", "the header does not begin with {", "is this a safetensors file?");
    if (const std::size_t nul = text_.find('\0'); nul != std::string_view::npos) {
      fail(nul, "header", "there is a NUL byte in the header", "pad it with spaces");
    }
    const char* begin = text_.data();
    const char* end = begin + text_.size();
    nlohmann::json::sax_parse(CountingIterator(begin, begin, &taken_), CountingIterator(end, begin, &taken_), this);
    check_offsets();
    return std::move(header_);
  }

  // The events of the SAX interface.
  bool null() { refuse("null"); }
  bool boolean(bool) { refuse("a boolean"); }
  bool number_float(double, const std::string& written) { refuse(fmt::format("{}, not a whole number", written)); }
  bool number_integer(std::int64_t value) { refuse(fmt::format("the negative number {}", value)); }
  bool number_unsigned(std::uint64_t value) {
    if (state_ == State::shape) {
      if (tensor_.shape.size() == kMaxDimensions)
        fail_here("shape", fmt::format("more than {} dimensions", kMaxDimensions), "check the file's writer");
      tensor_.shape.push_back(value);
    } else if (state_ == State::offsets) {
      if (offsets_ == 2) fail_here("data_offsets", "more than two offsets", "it must be [begin, end]");
      (offsets_++ == 0 ? tensor_.begin : tensor_.end) = value;
    } else {
      refuse(fmt::format("the number {}", value));
    }
    return true;
  }
  bool string(std::string& value) {
    if (state_ == State::metadata) {
      header_.metadata[key_] = std::move(value);
    } else if (state_ == State::tensor && key_ == "dtype") {
      const auto dtype = dtype_of(value);
      if (!dtype)
        fail_here("dtype", fmt::format("\"{}\" is no type of the format", value.substr(0, 40)),
                  fmt::format("allowed: {}", dtype_names()));
      tensor_.dtype = *dtype;
      seen_.insert(key_);
    } else {
      refuse("a text");
    }
    return true;
  }
  bool binary(std::vector<std::uint8_t>&) { refuse("binary data"); }
  bool start_object(std::size_t) {
    if (state_ == State::begin) {
      state_ = State::names;
    } else if (state_ == State::names) {
      state_ = name_ == kMetadata ? State::metadata : State::tensor;
      tensor_ = {};
      tensor_.name = name_;
      offsets_ = 0;
      seen_.clear();
      inner_keys_.clear();
    } else {
      refuse("an object");
    }
    return true;
  }
  bool end_object() {
    if (state_ == State::tensor) finish_tensor();
    state_ = state_ == State::names ? State::end : State::names;
    return true;
  }
  bool start_array(std::size_t) {
    if (state_ != State::tensor || (key_ != "shape" && key_ != "data_offsets")) refuse("a list");
    state_ = key_ == "shape" ? State::shape : State::offsets;
    seen_.insert(key_);
    return true;
  }
  bool end_array() {
    if (state_ == State::offsets && offsets_ != 2)
      fail_here("data_offsets", "fewer than two offsets", "it must be [begin, end]");
    state_ = State::tensor;
    return true;
  }
  bool key(std::string& name) {
    if (state_ == State::names) {
      name_ = name;
      if (!names_.insert(std::move(name)).second)
        fail_here(name_, fmt::format("the name \"{}\" is given twice", name_), "the file's writer is faulty");
      return true;
    }
    if (!inner_keys_.insert(name).second)
      fail_here(name_, fmt::format("the key \"{}\" is given twice", name), "the file's writer is faulty");
    if (state_ == State::tensor && name != "dtype" && name != "shape" && name != "data_offsets") {
      fail_here(name_, fmt::format("unknown key \"{}\" of a tensor", name.substr(0, 40)),
                "allowed: dtype, shape, data_offsets");
    }
    key_ = std::move(name);
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception& error) {
    std::string what = error.what();
    if (const std::size_t bracket = what.find("] "); bracket != std::string::npos) what.erase(0, bracket + 2);
    if (what.rfind("parse error at", 0) == 0) what.erase(0, what.find(": ") + 2);
    fail_here("header", "the header is not valid JSON: " + what, "the file is damaged or no safetensors file");
  }

 private:
  enum class State { begin, names, metadata, tensor, shape, offsets, end };

  [[noreturn]] void fail(std::size_t position, const std::string& field, const std::string& message,
                         const std::string& hint) const {
    throw Error(message, {path_, 8 + position, {}, field.substr(0, 200), hint});
  }
  [[noreturn]] void fail_here(const std::string& field, const std::string& message, const std::string& hint) const {
    const bool inside = state_ == State::tensor || state_ == State::shape || state_ == State::offsets;
    fail(taken_, inside && field != name_ ? name_.substr(0, 150) + "." + field : field, message, hint);
  }
  // A value that the grammar does not allow at this place.
  [[noreturn]] void refuse(const std::string& what) const {
    const char* expected = "an object {dtype, shape, data_offsets}";
    if (state_ == State::metadata) expected = "a text";
    if (state_ == State::names && name_ == kMetadata) expected = "an object of texts";
    if (state_ == State::tensor) expected = key_ == "dtype" ? "a text" : "a list of whole numbers from 0";
    if (state_ == State::shape || state_ == State::offsets) expected = "a whole number from 0";
    const bool inner =
        state_ == State::metadata || state_ == State::tensor || state_ == State::shape || state_ == State::offsets;
    fail(taken_, inner ? name_.substr(0, 150) + "." + key_ : name_,
         fmt::format("{} stands where {} must", what, expected), "the file's writer is faulty");
  }

  void finish_tensor() {
    for (const char* needed : {"dtype", "shape", "data_offsets"}) {
      if (!seen_.contains(needed))
        fail_here(name_, fmt::format("the tensor has no {}", needed), "the file's writer is faulty");
    }
    tensor_.elements = 1;
    bool overflow = false;
    for (const std::uint64_t n : tensor_.shape)
      overflow |= __builtin_mul_overflow(tensor_.elements, n, &tensor_.elements);
    std::uint64_t bits = 0;
    overflow |= __builtin_mul_overflow(tensor_.elements, std::uint64_t{dtype_bits(tensor_.dtype)}, &bits);
    if (overflow)
      fail_here("shape", fmt::format("the shape {} overflows 64 bits", shape_text(tensor_.shape)),
                "the file is damaged");
    if (bits % 8 != 0) {
      fail_here("shape",
                fmt::format("{} elements of {} do not fill whole bytes", tensor_.elements, dtype_name(tensor_.dtype)),
                "the file's writer is faulty");
    }
    if (tensor_.end < tensor_.begin || tensor_.end > data_bytes_) {
      fail_here("data_offsets",
                fmt::format("[{}, {}] does not lie in the {} bytes of data", tensor_.begin, tensor_.end, data_bytes_),
                "the file is cut or damaged");
    }
    if (tensor_.bytes() != bits / 8) {
      fail_here("data_offsets",
                fmt::format("[{}, {}] holds {} bytes, but shape {} of {} takes {}", tensor_.begin, tensor_.end,
                            tensor_.bytes(), shape_text(tensor_.shape), dtype_name(tensor_.dtype), bits / 8),
                "the file is damaged");
    }
    header_.tensors.push_back(std::move(tensor_));
  }

  void check_offsets() {
    auto& tensors = header_.tensors;
    std::stable_sort(tensors.begin(), tensors.end(), [](const TensorInfo& a, const TensorInfo& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
    });
    std::uint64_t at = 0;
    for (const TensorInfo& tensor : tensors) {
      if (tensor.begin != at) {
        fail(text_.size() + tensor.begin, tensor.name + ".data_offsets",
             fmt::format("the tensor begins at data byte {}, but the one before ends at {}: {}", tensor.begin, at,
                         tensor.begin > at ? "there is a gap" : "they overlap"),
             "data must be contiguous from 0");
      }
      at = tensor.end;
    }
    if (at != data_bytes_) {
      fail(text_.size() + at, "data",
           fmt::format("the tensors end at data byte {}, but the file has {} bytes of data", at, data_bytes_),
           "there must be nothing after the last tensor");
    }
  }

  std::string_view text_;
  std::uint64_t data_bytes_;
  const std::string& path_;
  std::size_t taken_ = 0;
  State state_ = State::begin;
  std::string name_, key_;
  TensorInfo tensor_;
  int offsets_ = 0;
  std::set<std::string> seen_;
  std::unordered_set<std::string> names_, inner_keys_;
  SafetensorsHeader header_;
};

}  // namespace

SafetensorsHeader parse_safetensors_header(std::string_view text, std::uint64_t data_bytes, const std::string& path) {
  return HeaderParser(text, data_bytes, path).parse();
}

}  // namespace foxhunt::detail
