// Matrix products against plain double loops: shapes, transposes, strides, batches, epilogues, accumulation.
#include <cmath>
#include <random>

#include "tests/device/device_fixture.h"

namespace foxhunt::device::test {
namespace {

constexpr float kGuard = -12345.0f;         // around every output
constexpr std::size_t kGuardElements = 64;  // on each side
constexpr std::uint32_t kSeed = 20240511;

// Host copies of the operands of one product; outputs have guards around them.
struct Case {
  ProductShape shape;
  std::vector<float> a, b, c, bias;
};

bool reads_bias(Epilogue e) {
  return e == Epilogue::bias || e == Epilogue::relu_bias || e == Epilogue::relu_bias_mask;
}

std::int64_t extent(int rows, int columns, int ld, int batch, std::int64_t stride) {
  return (batch - 1) * stride + static_cast<std::int64_t>(rows - 1) * (ld ? ld : columns) + columns;
}

std::vector<float> random_values(std::mt19937& random, std::int64_t count) {
  std::normal_distribution<float> normal;
  std::vector<float> out(static_cast<std::size_t>(count));
  for (float& x : out) x = normal(random);
  return out;
}

Case make_case(const ProductShape& s, std::uint32_t seed) {
  std::mt19937 random(seed);
  Case out;
  out.shape = s;
  out.a =
      random_values(random, extent(s.transpose_a ? s.k : s.m, s.transpose_a ? s.m : s.k, s.lda, s.batch, s.stride_a));
  out.b =
      random_values(random, extent(s.transpose_b ? s.n : s.k, s.transpose_b ? s.k : s.n, s.ldb, s.batch, s.stride_b));
  out.c = random_values(random, extent(s.m, s.n, s.ldc, s.batch, s.stride_c));
  const int width = s.epilogue == Epilogue::bias_gradient ? s.m : s.n;
  out.bias = random_values(random, extent(1, width, 0, s.batch, s.stride_bias));
  out.c.insert(out.c.begin(), kGuardElements, kGuard);
  out.c.insert(out.c.end(), kGuardElements, kGuard);
  out.bias.insert(out.bias.begin(), kGuardElements, kGuard);
  out.bias.insert(out.bias.end(), kGuardElements, kGuard);
  return out;
}

double a_at(const Case& x, int batch, int i, int kk) {
  const ProductShape& s = x.shape;
  const int ld = s.lda ? s.lda : (s.transpose_a ? s.m : s.k);
  return x.a[static_cast<std::size_t>(batch * s.stride_a + (s.transpose_a ? kk * ld + i : i * ld + kk))];
}
double b_at(const Case& x, int batch, int kk, int j) {
  const ProductShape& s = x.shape;
  const int ld = s.ldb ? s.ldb : (s.transpose_b ? s.k : s.n);
  return x.b[static_cast<std::size_t>(batch * s.stride_b + (s.transpose_b ? j * ld + kk : kk * ld + j))];
}

// An expected element, and the size of the terms it was added up from.
struct Expected {
  double value, scale;
};

Expected element(const Case& x, int batch, int i, int j, float before) {
  const ProductShape& s = x.shape;
  Expected out{s.accumulate ? before : 0.0, s.accumulate ? std::abs(before) : 0.0};
  for (int kk = 0; kk < s.k; ++kk) {
    const double term = a_at(x, batch, i, kk) * b_at(x, batch, kk, j);
    out.value += term;
    out.scale += std::abs(term);
  }
  if (reads_bias(s.epilogue)) {
    const float bias = x.bias[static_cast<std::size_t>(batch * s.stride_bias + j) + kGuardElements];
    out.value += bias;
    out.scale += std::abs(bias);
  }
  return out;
}

class DeviceProduct : public DeviceTest {
 protected:
  // The outputs (with guards) after one product, eager or captured.
  struct Outputs {
    std::vector<float> c, bias;
  };

  Outputs multiply(const Case& x, bool captured, void* mask = nullptr) {
    const auto a = filled(x.a), b = filled(x.b), c = filled(x.c), bias = filled(x.bias);
    const auto product = device().plan(x.shape, "test");
    EXPECT_FALSE(product->algorithm().empty());
    const ProductOperands operands{a.data(), b.data(), c.data() + kGuardElements, bias.data() + kGuardElements, mask};
    if (captured) {
      device().begin_capture(stream());
      device().multiply(stream(), *product, operands);
      const auto executable = device().instantiate(*device().end_capture(stream()));
      device().launch(*executable, stream());
      device().synchronise(stream());
    } else {
      device().multiply(stream(), *product, operands);
    }
    return {values(c), values(bias)};
  }

  void check(const Case& x, const Outputs& out) {
    const ProductShape& s = x.shape;
    const double tolerance = 4e-7 * (2 + std::sqrt(s.k));  // rounding of k fp32 terms, against their sizes
    const int ldc = s.ldc ? s.ldc : s.n;
    std::vector<bool> written(out.c.size());
    for (int batch = 0; batch < s.batch; ++batch)
      for (int i = 0; i < s.m; ++i)
        for (int j = 0; j < s.n; ++j) {
          const auto at = static_cast<std::size_t>(batch * s.stride_c + i * ldc + j) + kGuardElements;
          written[at] = true;
          Expected e = element(x, batch, i, j, x.c[at]);
          if (s.epilogue == Epilogue::relu_bias || s.epilogue == Epilogue::relu_bias_mask)
            e.value = std::max(e.value, 0.0);
          ASSERT_NEAR(out.c[at], e.value, tolerance * e.scale + 1e-30)
              << "batch " << batch << ", [" << i << ", " << j << "]";
        }
    for (std::size_t at = 0; at < out.c.size(); ++at)
      if (!written[at]) {
        ASSERT_EQ(out.c[at], x.c[at]) << "written outside of the result, element " << at;
      }
    check_bias(x, out, tolerance);
  }

  void check_bias(const Case& x, const Outputs& out, double tolerance) {
    const ProductShape& s = x.shape;
    std::vector<bool> written(out.bias.size());
    if (s.epilogue == Epilogue::bias_gradient)
      for (int batch = 0; batch < s.batch; ++batch)
        for (int i = 0; i < s.m; ++i) {
          const auto at = static_cast<std::size_t>(batch * s.stride_bias + i) + kGuardElements;
          written[at] = true;
          double sum = 0, scale = 0;
          for (int kk = 0; kk < s.k; ++kk) sum += a_at(x, batch, i, kk), scale += std::abs(a_at(x, batch, i, kk));
          ASSERT_NEAR(out.bias[at], sum, tolerance * scale) << "bias gradient " << i << " of " << batch;
        }
    for (std::size_t at = 0; at < out.bias.size(); ++at)
      if (!written[at]) {
        ASSERT_EQ(out.bias[at], x.bias[at]) << "bias element " << at;
      }
  }
};
FH_ON_EVERY_DEVICE(DeviceProduct);

// Sizes cross the edges of register tiles and pieces; leading dimensions and batches vary; both transposes.
ProductShape random_shape(std::mt19937& random, Epilogue epilogue, bool accumulate) {
  const auto any = [&](int low, int high) {
    return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
  };
  ProductShape s;
  s.m = any(1, 70), s.n = any(1, 70), s.k = any(1, 90);
  s.transpose_a = any(0, 1), s.transpose_b = any(0, 1);
  const int a_columns = s.transpose_a ? s.m : s.k, b_columns = s.transpose_b ? s.k : s.n;
  if (any(0, 1)) s.lda = a_columns + any(0, 9);
  if (any(0, 1)) s.ldb = b_columns + any(0, 9);
  if (any(0, 1)) s.ldc = s.n + any(0, 9);
  s.accumulate = accumulate;
  s.epilogue = epilogue;
  s.batch = any(0, 2) ? 1 : any(2, 5);
  if (s.batch > 1) {
    const int a_rows = s.transpose_a ? s.k : s.m, b_rows = s.transpose_b ? s.n : s.k;
    s.stride_a = any(0, 3) ? static_cast<std::int64_t>(a_rows) * std::max(s.lda, a_columns) : 0;
    s.stride_b = any(0, 3) ? static_cast<std::int64_t>(b_rows) * std::max(s.ldb, b_columns) + any(0, 5) : 0;
    s.stride_c = static_cast<std::int64_t>(s.m) * std::max(s.ldc, s.n) + any(0, 5);
    s.stride_bias = epilogue == Epilogue::bias_gradient ? s.m + any(0, 3) : (any(0, 1) ? s.n : 0);
  }
  return s;
}

TEST_P(DeviceProduct, RandomShapesAgreeWithPlainLoops) {
  if (!host()) GTEST_SKIP() << "shapes of odd alignment are not promised there";
  std::mt19937 random(kSeed);
  RecordProperty("seed", static_cast<int>(kSeed));
  const Epilogue epilogues[] = {Epilogue::none, Epilogue::bias, Epilogue::relu_bias, Epilogue::bias_gradient};
  for (std::uint32_t i = 0; i < 120; ++i) {
    const ProductShape shape = random_shape(random, epilogues[i % 4], i / 4 % 2 == 1);
    const Case x = make_case(shape, kSeed + i);
    SCOPED_TRACE(
        fmt::format("case {} of seed {}: {} x {} x {}, batch {}", i, kSeed, shape.m, shape.n, shape.k, shape.batch));
    check(x, multiply(x, i % 3 == 0));
    if (HasFatalFailure()) return;
  }
}

// Sizes of the network: multiples of four, as every device takes them; large enough to be cut into pieces.
std::vector<ProductShape> network_shapes() {
  std::vector<ProductShape> out(6);
  out[0].m = 128, out[0].n = 512, out[0].k = 256, out[0].transpose_b = true, out[0].epilogue = Epilogue::relu_bias;
  out[1].m = 512, out[1].n = 96, out[1].k = 64, out[1].transpose_a = true, out[1].epilogue = Epilogue::bias_gradient;
  out[2].m = 128, out[2].n = 204, out[2].k = 128, out[2].batch = 5, out[2].transpose_b = true;
  out[2].epilogue = Epilogue::bias, out[2].stride_a = 128, out[2].lda = 640, out[2].stride_b = 204 * 128;
  out[2].ldc = 5 * 204, out[2].stride_c = 204, out[2].stride_bias = 204;  // results side by side in one row
  out[3].m = 256, out[3].n = 96, out[3].k = 512, out[3].accumulate = true;
  out[4].m = 128, out[4].n = 512, out[4].k = 128, out[4].transpose_a = true, out[4].accumulate = true;
  out[4].epilogue = Epilogue::bias_gradient;
  out[5].m = 64, out[5].n = 64, out[5].k = 64, out[5].batch = 12, out[5].stride_a = out[5].stride_c = 64 * 64;
  return out;
}

TEST_P(DeviceProduct, NetworkShapesAgreeWithPlainLoops) {
  for (const ProductShape& shape : network_shapes()) {
    SCOPED_TRACE(fmt::format("{} x {} x {}, batch {}", shape.m, shape.n, shape.k, shape.batch));
    const Case x = make_case(shape, kSeed);
    check(x, multiply(x, true));
    if (HasFatalFailure()) return;
  }
}

TEST_P(DeviceProduct, MaskedReluAndItsGradient) {
  for (const int n : {64, 100, 260}) {
    ProductShape forward;
    forward.m = 96, forward.n = n, forward.k = 128, forward.transpose_b = true;
    forward.epilogue = Epilogue::relu_bias_mask;
    ProductShape backward;
    backward.m = 96, backward.n = n, backward.k = 512;
    backward.epilogue = Epilogue::relu_gradient;
    const Case x = make_case(forward, kSeed), y = make_case(backward, kSeed + 1);
    const std::size_t bytes = mask_bytes(forward.m, n);
    const auto mask = filled(std::vector<std::uint8_t>(bytes + 64, 0xee));
    const Outputs out = multiply(x, true, mask.data()), gradient = multiply(y, true, mask.data());
    check(x, out);
    const double tolerance = 4e-7 * (2 + std::sqrt(backward.k));
    int positive = 0;
    for (int i = 0; i < backward.m; ++i)
      for (int j = 0; j < n; ++j) {
        const auto at = static_cast<std::size_t>(i * n + j) + kGuardElements;
        const Expected e = element(y, 0, i, j, 0);
        const bool kept = out.c[at] > 0;
        positive += kept;
        if (kept) {
          ASSERT_NEAR(gradient.c[at], e.value, tolerance * e.scale) << i << ", " << j;
        } else {
          ASSERT_EQ(gradient.c[at], 0.0f) << i << ", " << j;
        }
      }
    EXPECT_GT(positive, forward.m * n / 4);
    EXPECT_LT(positive, forward.m * n * 3 / 4);
    const std::vector<std::uint8_t> after = values(mask);
    EXPECT_EQ(std::vector<std::uint8_t>(after.begin() + static_cast<std::ptrdiff_t>(bytes), after.end()),
              std::vector<std::uint8_t>(64, 0xee));
  }
}

TEST_P(DeviceProduct, AShapeWithFewerRowsReadsTheBeginningOfAMask) {
  ProductShape forward;
  forward.m = 64, forward.n = 128, forward.k = 32, forward.epilogue = Epilogue::relu_bias_mask;
  ProductShape backward = forward;
  backward.m = 32, backward.epilogue = Epilogue::relu_gradient;
  const Case x = make_case(forward, kSeed), y = make_case(backward, kSeed + 1);
  const Buffer<std::uint8_t> mask(device(), mask_bytes(forward.m, forward.n));
  const Outputs out = multiply(x, false, mask.data()), gradient = multiply(y, false, mask.data());
  for (std::size_t at = kGuardElements; at < kGuardElements + 32 * 128; ++at)
    ASSERT_EQ(gradient.c[at] == 0.0f, out.c[at] <= 0.0f) << at;
}

TEST_P(DeviceProduct, NanReachesTheResultThroughRelu) {
  if (!host()) GTEST_SKIP() << "left to the library there";
  ProductShape shape = square();
  shape.epilogue = Epilogue::relu_bias;
  Case x = make_case(shape, kSeed);
  x.a[0] = NAN;
  const Outputs out = multiply(x, false);
  EXPECT_TRUE(std::isnan(out.c[kGuardElements]));
  EXPECT_FALSE(std::isnan(out.c[kGuardElements + 4]));
}

TEST_P(DeviceProduct, TheSameBitsEveryTime) {
  for (const ProductShape& shape : network_shapes()) {
    const Case x = make_case(shape, kSeed);
    const Outputs eager = multiply(x, false), captured = multiply(x, true);
    EXPECT_EQ(eager.c, captured.c);
    EXPECT_EQ(eager.bias, captured.bias);
  }
}

TEST_P(DeviceProduct, BadShapesAndOperandsAreRefused) {
  ProductShape bad = square();
  bad.k = 0;
  FH_EXPECT_REFUSED("4 x 4 x 0", device().plan(bad, "lane"));
  bad = square(), bad.lda = 3;
  FH_EXPECT_REFUSED("lda", device().plan(bad, "lane"));
  bad = square(), bad.batch = 2, bad.stride_a = bad.stride_b = 16;
  FH_EXPECT_REFUSED("stride_c", device().plan(bad, "lane"));
  bad = square(), bad.batch = 2, bad.stride_c = 16, bad.epilogue = Epilogue::relu_bias_mask;
  FH_EXPECT_REFUSED("batch", device().plan(bad, "lane"));
  if (!host()) return;
  ProductShape shape = square();
  shape.epilogue = Epilogue::bias;
  const auto product = device().plan(shape, "lane");
  const Buffer<float> memory(device(), 16), small(device(), 15);
  float here[16] = {};
  const auto multiply_with = [&](const float* a, float* c, float* bias) {
    device().multiply(stream(), *product, {a, memory.data(), c, bias, nullptr});
  };
  FH_EXPECT_REFUSED("bias", multiply_with(memory.data(), memory.data(), nullptr));
  FH_EXPECT_REFUSED("operand a", multiply_with(here, memory.data(), memory.data()));
  FH_EXPECT_REFUSED("operand c of 4 x 4 x 4 needs 64 bytes", multiply_with(memory.data(), small.data(), memory.data()));
}

TEST_P(DeviceProduct, PinnedAlgorithmsNameEveryPlan) {
  EXPECT_EQ(device().pinned_algorithms().front(), '{');
  const auto product = device().plan(square(), "a lane");
  EXPECT_NE(device().pinned_algorithms().find(host() ? "a lane" : "4"), std::string::npos);
}

// Everything of a graph that could depend on threads: products in pieces, blocks, levels of independent nodes.
std::vector<float> run_with(int threads) {
  const auto device = open_device("cpu", with_threads(threads));
  const auto stream = device->create_stream(), side = device->create_stream();
  const auto fork = device->create_event(), join = device->create_event();
  std::vector<float> all;
  for (const ProductShape& shape : network_shapes()) {
    const Case x = make_case(shape, kSeed);
    std::vector<MappedBuffer<float>> memory;
    for (const std::vector<float>* from : {&x.a, &x.b, &x.c, &x.bias, &x.c, &x.bias}) {
      std::memcpy(memory.emplace_back(*device, from->size()).host(), from->data(), from->size() * sizeof(float));
    }
    const auto product = device->plan(shape, "one"), other = device->plan(shape, "two");
    device->begin_capture(*stream);
    Recorder main(*device, *stream, ModuleSet::graph);
    Recorder branch = main.fork(*side, *fork);
    const ProductOperands first{memory[0].device(), memory[1].device(), memory[2].device() + kGuardElements,
                                memory[3].device() + kGuardElements, nullptr};
    const ProductOperands second{memory[0].device(), memory[1].device(), memory[4].device() + kGuardElements,
                                 memory[5].device() + kGuardElements, nullptr};
    main.multiply(*product, first);
    branch.multiply(*other, second);
    main.join(branch, *join);
    const auto executable = device->instantiate(*device->end_capture(*stream));
    for (int i = 0; i < 6; ++i) device->launch(*executable, *stream);  // alone and shared
    device->synchronise(*stream);
    for (const std::size_t i : {2u, 3u, 4u, 5u})
      all.insert(all.end(), memory[i].host(), memory[i].host() + memory[i].size());
  }
  return all;
}

TEST(HostProduct, TheSameBitsForAnyNumberOfThreads) {
  const std::vector<float> one = run_with(1);
  for (const int threads : {2, 3, 4}) EXPECT_EQ(run_with(threads), one) << threads << " threads";
}

}  // namespace
}  // namespace foxhunt::device::test
