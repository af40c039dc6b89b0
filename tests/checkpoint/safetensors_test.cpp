// Round trips, files made by another writer, and every refusal of the strict reader by a crafted file.
#include "engine/checkpoint/safetensors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/base/atomic_file.h"
#include "engine/base/error.h"
#include "tests/support/shared_data.h"

namespace foxhunt {
namespace {

std::string crafted(const std::string& header, std::size_t data_bytes, std::optional<std::uint64_t> length = {}) {
  const std::uint64_t n = length.value_or(header.size());
  std::string file(8, '\0');
  std::memcpy(file.data(), &n, 8);
  return file + header + std::string(data_bytes, '\x3f');
}

SafetensorsFile over(const std::string& bytes) {
  return SafetensorsFile::over(std::as_bytes(std::span(bytes)), "crafted.safetensors");
}

TEST(Safetensors, RoundTripOfEveryTypeAndOddShapes) {
  const auto path = test::scratch_folder() / "all.safetensors";
  std::vector<unsigned char> bytes(1024);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(i * 37 + 11);
  SafetensorsWriter writer;
  writer.metadata("format", "1");
  writer.metadata("reason", "a \"quoted\" text, \xc3\xa9");
  const std::vector<DType> dtypes = {DType::u8,      DType::f32,  DType::boolean, DType::f64,     DType::i8,
                                     DType::f16,     DType::bf16, DType::i16,     DType::u16,     DType::i32,
                                     DType::u32,     DType::i64,  DType::u64,     DType::f8_e4m3, DType::f8_e5m2,
                                     DType::f8_e8m0, DType::c64,  DType::f4,      DType::f6_e2m3, DType::f6_e3m2};
  for (const DType dtype : dtypes) writer.add(std::string("t.") + dtype_name(dtype), dtype, {2, 3, 4}, bytes.data());
  writer.add("scalar", DType::f32, {}, bytes.data());
  writer.add("empty", DType::f32, {3, 0}, nullptr);
  writer.write(path);

  const SafetensorsFile file = SafetensorsFile::open(path);
  EXPECT_EQ(file.metadata().at("reason"), "a \"quoted\" text, \xc3\xa9");
  EXPECT_EQ(file.tensors().size(), dtypes.size() + 2);
  for (const DType dtype : dtypes) {
    const TensorInfo& tensor = file.at(std::string("t.") + dtype_name(dtype));
    EXPECT_EQ(tensor.dtype, dtype);
    EXPECT_EQ(tensor.shape, (std::vector<std::uint64_t>{2, 3, 4}));
    EXPECT_EQ(tensor.bytes(), 24 * dtype_bits(dtype) / 8);
    const auto read = file.read(tensor.name);
    EXPECT_EQ(std::memcmp(read.data(), bytes.data(), read.size()), 0) << tensor.name;
    EXPECT_EQ(tensor.begin % std::max<std::uint64_t>(1, dtype_bits(dtype) / 8), 0U) << tensor.name;
  }
  EXPECT_TRUE(file.at("scalar").shape.empty());
  EXPECT_EQ(file.as_doubles("scalar").size(), 1U);
  EXPECT_TRUE(file.read("empty").empty());
  EXPECT_EQ(file.find("absent"), nullptr);
  EXPECT_THROW(file.at("absent"), Error);
  // Independently: header length, JSON by another parser, data aligned to 8.
  std::ifstream raw(path, std::ios::binary);
  std::uint64_t length = 0;
  raw.read(reinterpret_cast<char*>(&length), 8);
  EXPECT_EQ(length % 8, 0U);
  std::string header(length, '\0');
  raw.read(header.data(), static_cast<std::streamsize>(length));
  const auto json = nlohmann::json::parse(header);
  EXPECT_EQ(json["scalar"]["shape"].dump(), "[]");
  EXPECT_EQ(
      json["t.F32"]["data_offsets"][1].get<std::uint64_t>() - json["t.F32"]["data_offsets"][0].get<std::uint64_t>(),
      96U);
}

TEST(Safetensors, KeepsTheOrderOfTensorsOfOneType) {
  const auto path = test::scratch_folder() / "order.safetensors";
  const std::vector<float> x(8, 1.5F);
  SafetensorsWriter writer;
  for (const char* name : {"zeta", "alpha", "mid"}) writer.add(name, DType::f32, {8}, x.data());
  EXPECT_EQ(writer.data_bytes(), 96U);
  writer.write(path);
  const SafetensorsFile file = SafetensorsFile::open(path);
  EXPECT_EQ(file.tensors()[0].name, "zeta");
  EXPECT_EQ(file.tensors()[1].name, "alpha");
  EXPECT_EQ(file.tensors()[2].name, "mid");
}

TEST(Safetensors, WriterRefusesNamesThatWouldBreakTheFile) {
  const float x = 1;
  SafetensorsWriter writer;
  writer.add("a", DType::f32, {1}, &x);
  EXPECT_THROW(writer.add("a", DType::f32, {1}, &x), Error);
  EXPECT_THROW(writer.add("__metadata__", DType::f32, {1}, &x), Error);
  EXPECT_THROW(writer.add("b", DType::f4, {3}, &x), Error);
  EXPECT_THROW(writer.add("c", DType::f32, {1ULL << 40, 1ULL << 40}, &x), Error);
  writer.metadata("bad", "\xff");
  const auto folder = test::scratch_folder();
  EXPECT_THROW(writer.write(folder / "f.safetensors"), Error);
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST(Safetensors, FailedWriteLeavesTheOldFileUntouched) {
  const auto folder = test::scratch_folder();
  write_file_atomically(folder / "model.safetensors", "old");
  {
    AtomicFile file(folder / "model.safetensors");
    file.write("new", 3);
  }
  std::ifstream in(folder / "model.safetensors");
  std::string text;
  in >> text;
  EXPECT_EQ(text, "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
  const float x = 1;
  SafetensorsWriter writer;
  writer.add("a", DType::f32, {1}, &x);
  EXPECT_THROW(writer.write(folder / "absent" / "model.safetensors"), Error);
}

TEST(Safetensors, SweepTakesStaleTemporariesAndLeavesLivingOnes) {
  const auto folder = test::scratch_folder();
  std::ofstream(folder / ".model.safetensors.123-0.partial") << "cut";
  std::ofstream(folder / "model.safetensors") << "whole";
  std::ofstream(folder / "notes.partial") << "somebody's";
  AtomicFile living(folder / "model.safetensors");
  EXPECT_EQ(sweep_temporaries(folder), 1);
  living.commit();
  EXPECT_FALSE(std::filesystem::exists(folder / ".model.safetensors.123-0.partial"));
  EXPECT_TRUE(std::filesystem::exists(folder / "notes.partial"));
  EXPECT_EQ(std::filesystem::file_size(folder / "model.safetensors"), 0U);
}

TEST(Safetensors, DecodesSmallFloatsToTheirPublishedValues) {
  const auto one = [](DType dtype, std::uint64_t bits) {
    double out[2];
    std::byte bytes[8];
    std::memcpy(bytes, &bits, 8);
    decode_elements(dtype, bytes, 1, out);
    return out[0];
  };
  EXPECT_EQ(one(DType::f16, 0x3c00), 1.0);
  EXPECT_EQ(one(DType::f16, 0xc000), -2.0);
  EXPECT_EQ(one(DType::f16, 0x7bff), 65504.0);
  EXPECT_EQ(one(DType::f16, 0x0001), std::ldexp(1.0, -24));
  EXPECT_EQ(one(DType::f16, 0xfc00), -INFINITY);
  EXPECT_TRUE(std::isnan(one(DType::f16, 0x7e00)));
  EXPECT_EQ(one(DType::bf16, 0x3f80), 1.0);
  EXPECT_EQ(one(DType::bf16, 0xc040), -3.0);
  EXPECT_EQ(one(DType::f8_e5m2, 0x7b), 57344.0);
  EXPECT_EQ(one(DType::f8_e5m2, 0x7c), INFINITY);
  EXPECT_EQ(one(DType::f8_e5m2, 0x01), std::ldexp(1.0, -16));
  EXPECT_EQ(one(DType::f8_e4m3, 0x7e), 448.0);
  EXPECT_TRUE(std::isnan(one(DType::f8_e4m3, 0x7f)));
  EXPECT_EQ(one(DType::f8_e4m3, 0x01), std::ldexp(1.0, -9));
  EXPECT_EQ(one(DType::f8_e8m0, 127), 1.0);
  EXPECT_EQ(one(DType::f8_e8m0, 0), std::ldexp(1.0, -127));
  EXPECT_TRUE(std::isnan(one(DType::f8_e8m0, 255)));
  EXPECT_EQ(one(DType::f4, 0x7), 6.0);
  EXPECT_EQ(one(DType::f4, 0x1), 0.5);
  EXPECT_EQ(one(DType::f4, 0xf), -6.0);
  EXPECT_EQ(one(DType::f6_e2m3, 0x1f), 7.5);
  EXPECT_EQ(one(DType::f6_e3m2, 0x1f), 28.0);
  EXPECT_EQ(one(DType::i8, 0xff), -1.0);
  EXPECT_EQ(one(DType::u64, ~0ULL), 18446744073709551616.0);
  double two[2];
  const std::byte packed{0x21};
  decode_elements(DType::f4, &packed, 2, two);
  EXPECT_EQ(two[0], 0.5);
  EXPECT_EQ(two[1], 1.0);
}

TEST(Safetensors, PiecesCoverATensorLargerThanOnePiece) {
  const auto path = test::scratch_folder() / "large.safetensors";
  std::vector<float> x(300'001);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  std::vector<unsigned char> packed(300'000, 0x11);  // 400,000 six-bit elements
  SafetensorsWriter writer;
  writer.add("x", DType::f32, {x.size()}, x.data());
  writer.add("p", DType::f6_e3m2, {400'000}, packed.data());
  writer.write(path);
  const SafetensorsFile file = SafetensorsFile::open(path);
  const auto values = file.as_doubles("x");
  ASSERT_EQ(values.size(), x.size());
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(values[i], static_cast<double>(i));
  const auto codes = file.as_doubles("p");
  for (std::size_t i = 4; i < codes.size(); ++i) ASSERT_EQ(codes[i], codes[i - 4]);  // three bytes hold four elements
}

TEST(Safetensors, ReadsTheOracleFixture) {
  FH_NEEDS_SHARED("reference/fixtures/step-core.safetensors");
  const SafetensorsFile file = SafetensorsFile::open(test::shared("reference/fixtures/step-core.safetensors"));
  EXPECT_EQ(file.metadata().at("steps"), "3");
  EXPECT_EQ(file.tensors().size(), 913U);
  EXPECT_EQ(file.at("in.0.batch.action").dtype, DType::i64);
  for (const double a : file.as_doubles("in.0.batch.action")) EXPECT_TRUE(a >= 0 && a < 4);
}

TEST(Safetensors, FileCutWhileOpenIsAnError) {
  const auto path = test::scratch_folder() / "cut.safetensors";
  const std::vector<float> x(1000, 1.0F);
  SafetensorsWriter writer;
  writer.add("x", DType::f32, {1000}, x.data());
  writer.write(path);
  const SafetensorsFile file = SafetensorsFile::open(path);
  std::filesystem::resize_file(path, 2000);
  EXPECT_THROW(file.read("x"), Error);
}

struct Refusal {
  std::string bytes;
  const char* part;  // of the sentence
  const char* field;
};

TEST(Safetensors, RefusesEveryFault) {
  const std::string good = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  EXPECT_EQ(over(crafted(good, 8)).tensors().size(), 1U);
  EXPECT_EQ(over(crafted(good + "   ", 8)).tensors().size(), 1U);
  EXPECT_TRUE(over(crafted("{}", 0)).tensors().empty());
  const auto tensor = [](const std::string& inner) { return "{\"a\":{" + inner + "}}"; };
  const std::vector<Refusal> refusals = {
      {"", "0 bytes", "header length"},
      {"1234567", "7 bytes", "header length"},
      {crafted(good, 8, 100'000'001), "100000001", "header length"},
      {crafted(good, 8, ~0ULL), "at most 100000000", "header length"},
      {crafted(good, 8, 1000), "only", "header length"},
      {crafted("", 0), "does not begin with {", "header"},
      {crafted(" " + good, 8), "does not begin with {", "header"},
      {crafted("[]", 0), "does not begin with {", "header"},
      {crafted("\xef\xbb\xbf{}", 0), "does not begin with {", "header"},
      {crafted(good + std::string(1, '\0'), 8), "NUL", "header"},
      {crafted(good + "{}", 8), "not valid JSON", "header"},
      {crafted("{", 0), "not valid JSON", "header"},
      {crafted("{\"\xff\":{}}", 0), "UTF-8", "header"},
      {crafted("// x\n{}", 0), "does not begin with {", "header"},
      {crafted("{// x\n}", 0), "not valid JSON", "header"},
      {crafted(
           R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
           8),
       "twice", "a"},
      {crafted(
           R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"\u0061":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
           8),
       "twice", "a"},
      {crafted(tensor(R"("dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4])"), 4), "twice", "a"},
      {crafted(R"({"__metadata__":{"k":"1","k":"2"}})", 0), "twice", "__metadata__"},
      {crafted(R"({"__metadata__":{"k":1}})", 0), "must", "__metadata__.k"},
      {crafted(R"({"__metadata__":{"k":{}}})", 0), "an object stands where a text must", "__metadata__.k"},
      {crafted(R"({"__metadata__":null})", 0), "an object of texts", "__metadata__"},
      {crafted(R"({"__metadata__":{},"__metadata__":{}})", 0), "twice", "__metadata__"},
      {crafted(R"({"a":3})", 0), "an object {dtype, shape, data_offsets}", "a"},
      {crafted(R"({"a":[]})", 0), "a list stands where", "a"},
      {crafted(tensor(R"("dtype":"F99","shape":[1],"data_offsets":[0,4])"), 4), "F99", "a.dtype"},
      {crafted(tensor(R"("dtype":"f32","shape":[1],"data_offsets":[0,4])"), 4), "allowed: BOOL", "a.dtype"},
      {crafted(tensor(R"("dtype":32,"shape":[1],"data_offsets":[0,4])"), 4), "the number 32", "a.dtype"},
      {crafted(tensor(R"("dtype":"F32","shape":[1.0],"data_offsets":[0,4])"), 4), "1.0, not a whole number", "a.shape"},
      {crafted(tensor(R"("dtype":"F32","shape":[1e0],"data_offsets":[0,4])"), 4), "not a whole number", "a.shape"},
      {crafted(tensor(R"("dtype":"F32","shape":[-1],"data_offsets":[0,4])"), 4), "negative number -1", "a.shape"},
      {crafted(tensor(R"("dtype":"F32","shape":[true],"data_offsets":[0,4])"), 4), "a boolean", "a.shape"},
      {crafted(tensor(R"("dtype":"F32","shape":[[1]],"data_offsets":[0,4])"), 4), "a list", "a.shape"},
      {crafted(tensor(R"("dtype":"F32","shape":["1"],"data_offsets":[0,4])"), 4), "a text", "a.shape"},
      {crafted(tensor(R"("dtype":"F32","shape":[99999999999999999999],"data_offsets":[0,4])"), 4), "not a whole number",
       "a.shape"},
      {crafted(tensor(R"("dtype":"F32","shape":{},"data_offsets":[0,4])"), 4), "an object", "a.shape"},
      {crafted(tensor(R"("dtype":"F32","shape":null,"data_offsets":[0,4])"), 4), "null", "a.shape"},
      {crafted(tensor(R"("dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4])"), 4), "overflows",
       "a.shape"},
      {crafted(tensor(R"("dtype":"F64","shape":[2305843009213693952],"data_offsets":[0,0])"), 0), "overflows",
       "a.shape"},
      {crafted(tensor(R"("dtype":"F4","shape":[3],"data_offsets":[0,1])"), 1), "whole bytes", "a.shape"},
      {crafted(tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0])"), 4), "fewer than two", "a.data_offsets"},
      {crafted(tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0,4,8])"), 4), "more than two", "a.data_offsets"},
      {crafted(tensor(R"("dtype":"F32","shape":[1],"data_offsets":[4,0])"), 4), "does not lie", "a.data_offsets"},
      {crafted(tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0,18446744073709551615])"), 4), "does not lie",
       "a.data_offsets"},
      {crafted(tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,4])"), 4),
       "holds 4 bytes, but shape [2] of F32 takes 8", "a.data_offsets"},
      {crafted(tensor(R"("dtype":"F32","shape":[1],"data_offsets":[4,8])"), 8), "gap", "a.data_offsets"},
      {crafted(
           R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
           4),
       "overlap", "b.data_offsets"},
      {crafted(
           R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}})",
           12),
       "gap", "b.data_offsets"},
      {crafted(good, 12), "end at data byte 8, but the file has 12", "data"},
      {crafted("{}", 1), "0, but the file has 1", "data"},
      {crafted(good, 7), "does not lie in the 7 bytes", "a.data_offsets"},
      {crafted(tensor(R"("dtype":"F32","shape":[1])"), 4), "no data_offsets", "a"},
      {crafted(tensor(R"("shape":[1],"data_offsets":[0,4])"), 4), "no dtype", "a"},
      {crafted(tensor(R"("dtype":"F32","data_offsets":[0,4])"), 4), "no shape", "a"},
      {crafted(tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0,4],"extra":1)"), 4), "unknown key \"extra\"", "a"},
  };
  for (const Refusal& refusal : refusals) {
    try {
      over(refusal.bytes);
      ADD_FAILURE() << "accepted: " << refusal.bytes;
    } catch (const Error& error) {
      EXPECT_NE(error.sentence().find(refusal.part), std::string::npos)
          << refusal.bytes << "\nsays " << error.sentence() << "\nlacks " << refusal.part;
      EXPECT_EQ(error.place().field, refusal.field) << refusal.bytes << "\n" << error.sentence();
      EXPECT_EQ(error.place().file, "crafted.safetensors");
      EXPECT_TRUE(error.place().offset.has_value()) << refusal.bytes;
      EXPECT_FALSE(error.place().hint.empty()) << refusal.bytes;
    }
  }
}

TEST(Safetensors, EveryCutOfAFileIsRefused) {
  const std::string file =
      crafted(R"({"__metadata__":{"a":"b"},"t":{"dtype":"I16","shape":[2,2],"data_offsets":[0,8]}})", 8);
  EXPECT_EQ(over(file).tensors().size(), 1U);
  for (std::size_t n = 0; n < file.size(); ++n) EXPECT_THROW(over(file.substr(0, n)), Error) << n;
}

TEST(Safetensors, PathsThatAreNoFilesAreRefused) {
  const auto folder = test::scratch_folder();
  EXPECT_THROW(SafetensorsFile::open(folder), Error);
  EXPECT_THROW(SafetensorsFile::open(folder / "absent"), Error);
}

}  // namespace
}  // namespace foxhunt
