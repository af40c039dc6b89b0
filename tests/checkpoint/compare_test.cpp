// Statistics and comparison against plain loops over the same numbers.
#include "engine/checkpoint/compare.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include "engine/base/error.h"
#include "engine/checkpoint/tensor_statistics.h"
#include "tests/support/shared_data.h"

namespace foxhunt {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

struct Named {
  std::string name;
  std::vector<std::uint64_t> shape;
  std::vector<float> values;
};

SafetensorsFile written(const std::filesystem::path& path, const std::vector<Named>& tensors) {
  SafetensorsWriter writer;
  for (const Named& tensor : tensors) writer.add(tensor.name, DType::f32, tensor.shape, tensor.values.data());
  writer.write(path);
  return SafetensorsFile::open(path);
}

std::vector<float> random_values(std::size_t n, unsigned seed, float mean) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(mean, 2.0F);
  std::vector<float> values(n);
  for (float& x : values) x = normal(generator);
  return values;
}

TEST(TensorStatistics, AgreesWithPlainSumsOverSeveralPieces) {
  const std::vector<float> x = random_values(300'007, 5, 100.0F);
  const auto file = written(test::scratch_folder() / "a.safetensors", {{"x", {x.size()}, x}});
  const TensorStatistics s = tensor_statistics(file, file.at("x"));
  long double sum = 0, squares = 0, deviations = 0;
  for (const float v : x) sum += v, squares += static_cast<long double>(v) * v;
  const long double mean = sum / static_cast<long double>(x.size());
  for (const float v : x) deviations += (v - mean) * (v - mean);
  EXPECT_NEAR(s.mean, static_cast<double>(mean), 1e-10);
  EXPECT_NEAR(s.std, static_cast<double>(std::sqrt(deviations / static_cast<long double>(x.size()))), 1e-10);
  EXPECT_NEAR(s.norm, static_cast<double>(std::sqrt(squares)), 1e-6);
  EXPECT_EQ(s.min, *std::min_element(x.begin(), x.end()));
  EXPECT_EQ(s.max, *std::max_element(x.begin(), x.end()));
  EXPECT_EQ(s.values, x.size());
  EXPECT_EQ(s.nan + s.inf + s.dead_units, 0U);
  const auto bins = tensor_histogram(file, file.at("x"), 7, 90.0, 110.0);
  std::vector<std::uint64_t> expected(7);
  for (const float v : x) {
    int bin = 0;
    while (bin < 6 && v >= 90.0 + 20.0 / 7 * (bin + 1)) ++bin;
    ++expected[static_cast<std::size_t>(bin)];
  }
  EXPECT_EQ(bins, expected);
}

TEST(TensorStatistics, CountsWhatIsNotFiniteAndDeadRows) {
  const auto file = written(
      test::scratch_folder() / "a.safetensors",
      {{"x", {3, 3}, {1, kNan, -3, 0, 0, 0, kInf, -kInf, 0}}, {"none", {2}, {kNan, kInf}}, {"empty", {0, 4}, {}}});
  const TensorStatistics s = tensor_statistics(file, file.at("x"));
  EXPECT_EQ(s.min, -3);
  EXPECT_EQ(s.max, 1);
  EXPECT_EQ(s.mean, -2.0 / 6);
  EXPECT_EQ(s.zeros, 4U);
  EXPECT_EQ(s.nan, 1U);
  EXPECT_EQ(s.inf, 2U);
  EXPECT_EQ(s.dead_units, 1U);
  const auto document = inspect_document(file);
  ASSERT_EQ(document["tensors"].size(), 3U);
  EXPECT_EQ(document["tensors"][1]["name"], "none");
  EXPECT_EQ(document["tensors"][1]["mean"], "nan");
  EXPECT_EQ(document["tensors"][1]["inf"], 1);
  EXPECT_EQ(document["tensors"][2]["shape"].dump(), "[0,4]");
  EXPECT_EQ(document["tensors"][2]["norm"], 0.0);
  EXPECT_TRUE(document["metadata"].is_object());
  EXPECT_EQ(inspect_document(file, "none")["tensors"].size(), 1U);
  EXPECT_THROW(inspect_document(file, "absent"), Error);
}

TEST(Compare, MeasuresAgreeWithPlainLoops) {
  const auto folder = test::scratch_folder();
  const std::vector<float> a = random_values(200'003, 1, 0.0F), b = random_values(200'003, 2, 0.1F);
  const auto comparison =
      compare_files(written(folder / "a", {{"x", {a.size()}, a}}), written(folder / "b", {{"x", {b.size()}, b}}));
  double aa = 0, bb = 0, ab = 0, dd = 0, largest = 0;
  std::uint64_t signs = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double x = a[i], y = b[i];
    aa += x * x, bb += y * y, ab += x * y, dd += (y - x) * (y - x);
    largest = std::max(largest, std::abs(y - x));
    signs += x * y < 0;
  }
  ASSERT_EQ(comparison.tensors.size(), 1U);
  const TensorDifference& d = comparison.tensors[0];
  EXPECT_FALSE(comparison.identical);
  EXPECT_EQ(d.max_abs, largest);
  EXPECT_NEAR(d.relative_l2, std::sqrt(dd / aa), 1e-12);
  EXPECT_NEAR(d.cosine, ab / std::sqrt(aa * bb), 1e-12);
  EXPECT_EQ(d.sign_changes, signs);
}

TEST(Compare, NamesMissingExtraAndReshapedAndSortsByChange) {
  const auto folder = test::scratch_folder();
  const auto a = written(folder / "a", {{"same", {2}, {1, 2}},
                                        {"little", {2}, {1, 2}},
                                        {"much", {2}, {1, 2}},
                                        {"broken", {2}, {1, 2}},
                                        {"gone", {1}, {1}},
                                        {"shape", {2, 1}, {1, 2}},
                                        {"zero", {2}, {0, 0}},
                                        {"born", {2}, {0, 0}}});
  const auto b = written(folder / "b", {{"much", {2}, {-1, -2}},
                                        {"same", {2}, {1, 2}},
                                        {"little", {2}, {1, 2.5F}},
                                        {"broken", {2}, {1, kNan}},
                                        {"new", {1}, {1}},
                                        {"shape", {1, 2}, {1, 2}},
                                        {"zero", {2}, {0, 0}},
                                        {"born", {2}, {0, 3}}});
  const auto document = to_json(compare_files(a, b));
  EXPECT_EQ(document["identical"], false);
  EXPECT_EQ(document["missing"].dump(), R"(["gone"])");
  EXPECT_EQ(document["extra"].dump(), R"(["new"])");
  EXPECT_EQ(document["reshaped"].dump(), R"([{"name":"shape","a":[2,1],"b":[1,2]}])");
  std::vector<std::string> order;
  for (const auto& tensor : document["tensors"]) order.push_back(tensor["name"]);
  EXPECT_EQ(order, (std::vector<std::string>{"broken", "born", "much", "little", "same", "zero"}));
  EXPECT_EQ(document["tensors"][0]["max_abs"], "nan");
  EXPECT_EQ(document["tensors"][1]["relative_l2"], "inf");
  EXPECT_EQ(document["tensors"][1]["cosine"], 0.0);
  EXPECT_NEAR(document["tensors"][2]["cosine"].get<double>(), -1.0, 1e-12);
  EXPECT_EQ(document["tensors"][2]["relative_l2"], 2.0);
  EXPECT_EQ(document["tensors"][5]["cosine"], 1.0);
}

TEST(Compare, IdenticalMeansEveryBitWhateverTheMetadataAndOrder) {
  const auto folder = test::scratch_folder();
  const std::vector<float> x = {1, kNan, kInf, -0.0F};
  SafetensorsWriter one, two, three, four;
  one.metadata("step", "1");
  two.metadata("step", "2");
  const float other = 7;
  one.add("x", DType::f32, {4}, x.data()), one.add("y", DType::f32, {1}, &other);
  two.add("y", DType::f32, {1}, &other), two.add("x", DType::f32, {4}, x.data());
  std::vector<float> positive = x;
  positive[3] = 0.0F;
  three.add("x", DType::f32, {4}, positive.data()), three.add("y", DType::f32, {1}, &other);
  const std::int32_t whole = 7;
  four.add("x", DType::f32, {4}, x.data()), four.add("y", DType::i32, {1}, &whole);
  one.write(folder / "1"), two.write(folder / "2"), three.write(folder / "3"), four.write(folder / "4");
  const auto first = SafetensorsFile::open(folder / "1");
  EXPECT_TRUE(compare_files(first, SafetensorsFile::open(folder / "2")).identical);
  for (const char* name : {"3", "4"}) {
    const auto comparison = compare_files(first, SafetensorsFile::open(folder / name));
    EXPECT_FALSE(comparison.identical) << name;
    for (const TensorDifference& d : comparison.tensors) EXPECT_EQ(d.max_abs, 0) << name;
  }
}

TEST(Compare, InfinityAgainstANumberIsAnInfiniteChange) {
  const auto folder = test::scratch_folder();
  const auto comparison =
      compare_files(written(folder / "a", {{"x", {2}, {1, 2}}}), written(folder / "b", {{"x", {2}, {1, kInf}}}));
  EXPECT_EQ(comparison.tensors[0].max_abs, INFINITY);
  EXPECT_EQ(comparison.tensors[0].relative_l2, INFINITY);
}

}  // namespace
}  // namespace foxhunt
