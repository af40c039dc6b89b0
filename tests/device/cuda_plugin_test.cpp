// The CUDA plugin as a file: it loads without a driver and says why, links neither driver nor cuBLASLt, holds every
// kernel. With a GPU also what is CUDA's alone: the mask's layout, pinned algorithms.
#include <dlfcn.h>
#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>

#include "engine/base/error.h"
#include "engine/device/buffer.h"
#include "engine/device/plugin.h"
#include "tests/support/shared_data.h"

namespace foxhunt::device {
namespace {

const std::string kPluginPath = std::string(FOXHUNT_BINARY_DIR) + "/bin/libfoxhunt_cuda.so";

#define NEEDS_PLUGIN \
  if (!std::filesystem::exists(kPluginPath)) GTEST_SKIP() << "built without CUDA: " << kPluginPath

std::string plugin_bytes() {
  std::ifstream in(kPluginPath, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

const Plugin* load() {
  void* library = dlopen(kPluginPath.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) throw Error(dlerror());
  const auto entry = reinterpret_cast<const Plugin* (*)()>(dlsym(library, kPluginEntry));
  if (!entry) throw Error(dlerror());
  return entry();
}

// What the dynamic linker sees of an ELF file.
struct DynamicView {
  std::set<std::string> needed, undefined, defined;
};

DynamicView dynamic_view(const std::string& bytes) {
  DynamicView view;
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(bytes.data());
  const auto* sections = reinterpret_cast<const Elf64_Shdr*>(bytes.data() + header->e_shoff);
  for (int i = 0; i < header->e_shnum; ++i) {
    const Elf64_Shdr& section = sections[i];
    if (section.sh_type != SHT_DYNSYM && section.sh_type != SHT_DYNAMIC) continue;
    const char* names = bytes.data() + sections[section.sh_link].sh_offset;
    const char* data = bytes.data() + section.sh_offset;
    if (section.sh_type == SHT_DYNAMIC) {
      const auto* entries = reinterpret_cast<const Elf64_Dyn*>(data);
      for (std::size_t k = 0; k < section.sh_size / sizeof(Elf64_Dyn) && entries[k].d_tag != DT_NULL; ++k) {
        if (entries[k].d_tag == DT_NEEDED) view.needed.insert(names + entries[k].d_un.d_val);
      }
      continue;
    }
    const auto* symbols = reinterpret_cast<const Elf64_Sym*>(data);
    for (std::size_t k = 1; k < section.sh_size / sizeof(Elf64_Sym); ++k) {
      (symbols[k].st_shndx == SHN_UNDEF ? view.undefined : view.defined).insert(names + symbols[k].st_name);
    }
  }
  return view;
}

TEST(CudaPlugin, ListsItsGpusOrSaysWhyThereIsNone) {
  NEEDS_PLUGIN;
  const Plugin* plugin = load();
  ASSERT_EQ(plugin->interface_version, kInterfaceVersion);
  const std::vector<DeviceInfo> devices = plugin->list();
  ASSERT_FALSE(devices.empty());
  for (const DeviceInfo& info : devices) {
    EXPECT_EQ(info.kind, DeviceKind::cuda);
    EXPECT_EQ(info.name.rfind("cuda:", 0), 0u) << info.name;
    if (info.available) {
      EXPECT_TRUE(info.reason.empty()) << info.reason;
      EXPECT_FALSE(info.description.empty());
      EXPECT_FALSE(info.driver.empty());
      EXPECT_NE(info.library.find("cuBLASLt"), std::string::npos) << info.library;
      EXPECT_GT(info.memory_bytes, 0u);
      EXPECT_GT(info.threads, 0);
    } else {
      // What is missing and what to do about it.
      EXPECT_NE(info.reason.find(';'), std::string::npos) << info.reason;
      EXPECT_TRUE(info.reason.find("driver") != std::string::npos || info.reason.find("cuBLASLt") != std::string::npos)
          << info.reason;
    }
  }
}

TEST(CudaPlugin, WithoutDriverNamesTheLibraryThatIsMissing) {
  NEEDS_PLUGIN;
  if (void* driver = dlopen("libcuda.so.1", RTLD_LAZY)) {
    dlclose(driver);
    GTEST_SKIP() << "a driver is installed";
  }
  const std::vector<DeviceInfo> devices = load()->list();
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_FALSE(devices[0].available);
  EXPECT_NE(devices[0].reason.find("libcuda.so.1"), std::string::npos) << devices[0].reason;
  EXPECT_NE(devices[0].reason.find("install"), std::string::npos) << devices[0].reason;
}

TEST(CudaPlugin, RefusesAGpuThatIsNotThereAsAUsageError) {
  NEEDS_PLUGIN;
  const Plugin* plugin = load();
  try {
    plugin->open(99, {});
    FAIL() << "cuda:99 was opened";
  } catch (const Error& error) {  // thrown by the plugin's code, caught by the program's
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_FALSE(std::string(error.what()).empty());
  }
}

TEST(CudaPlugin, LinksNeitherDriverNorLibrary) {
  NEEDS_PLUGIN;
  const DynamicView view = dynamic_view(plugin_bytes());
  ASSERT_TRUE(view.needed.count("libc.so.6"));
  for (const std::string& library : view.needed) {
    EXPECT_EQ(library.rfind("libcu", 0), std::string::npos) << library;
    EXPECT_EQ(library.rfind("libnv", 0), std::string::npos) << library;
  }
  for (const std::string& symbol : view.undefined) {
    EXPECT_FALSE(symbol.rfind("cu", 0) == 0 || symbol.rfind("__cuda", 0) == 0) << symbol;
  }
}

TEST(CudaPlugin, ExportsItsEntryAndNothingElseOfItsOwn) {
  NEEDS_PLUGIN;
  const DynamicView view = dynamic_view(plugin_bytes());
  EXPECT_TRUE(view.defined.count(kPluginEntry));
  for (const std::string& symbol : view.defined) {
    EXPECT_TRUE(symbol == kPluginEntry || symbol.find("foxhunt") == std::string::npos) << symbol;
  }
}

TEST(CudaPlugin, HoldsEveryKernel) {
  NEEDS_PLUGIN;
  const std::string bytes = plugin_bytes();
  const char* names[] = {
#define FH_KERNEL(family, function, Args) #function,
#include "kernels/kernels.def"
#undef FH_KERNEL
  };
  for (const char* name : names) {
    // The section of its machine code, with the terminating zero.
    const std::string section = std::string(".text.") + name + "_entry";
    EXPECT_NE(bytes.find(section.c_str(), 0, section.size() + 1), std::string::npos) << name;
  }
}

// With a GPU.

std::unique_ptr<Device> first_gpu(const std::string& plan_cache = {}) {
  if (!std::filesystem::exists(kPluginPath)) return nullptr;
  const Plugin* plugin = load();
  const std::vector<DeviceInfo> devices = plugin->list();
  for (std::size_t i = 0; i < devices.size(); ++i) {
    DeviceOptions options;
    options.plan_cache = plan_cache;
    if (devices[i].available) return plugin->open(static_cast<int>(i), options);
  }
  return nullptr;
}

#define NEEDS_GPU(device) \
  if (!(device)) GTEST_SKIP() << "no usable GPU"

// Operands in mapped memory, so that the test reads and writes them in place.
struct Operands {
  Operands(Device& device, const ProductShape& s)
      : a(device, static_cast<std::size_t>(s.m) * s.k),
        b(device, static_cast<std::size_t>(s.k) * s.n),
        c(device, static_cast<std::size_t>(s.m) * s.n),
        bias(device, static_cast<std::size_t>(std::max(s.m, s.n))),
        mask(device, mask_bytes(s.m, s.n)) {
    for (std::size_t i = 0; i < a.size(); ++i) a.host()[i] = static_cast<float>(static_cast<int>(i * 7 % 11) - 5) / 4;
    for (std::size_t i = 0; i < b.size(); ++i) b.host()[i] = static_cast<float>(static_cast<int>(i * 5 % 13) - 6) / 4;
    for (std::size_t i = 0; i < bias.size(); ++i) bias.host()[i] = static_cast<float>(static_cast<int>(i % 5) - 2) / 8;
  }
  ProductOperands operands() const { return {a.device(), b.device(), c.device(), bias.device(), mask.device()}; }

  MappedBuffer<float> a, b, c, bias;
  MappedBuffer<std::uint8_t> mask;
};

// Fused and separate epilogues read each other's masks: both must have the layout that product_epilogue.h names.
TEST(CudaProducts, MaskHoldsOneBitAnElementLeastSignificantFirst) {
  const auto device = first_gpu();
  NEEDS_GPU(device);
  const auto stream = device->create_stream();
  for (const int n : {128, 256, 36, 33}) {
    const ProductShape shape{.m = 64, .n = n, .k = 32, .epilogue = Epilogue::relu_bias_mask};
    const auto product = device->plan(shape, "test");
    const Operands data(*device, shape);
    device->multiply(*stream, *product, data.operands());
    device->synchronise(*stream);
    const int row_bytes = (n + 127) / 128 * 16;
    for (int i = 0; i < shape.m; ++i) {
      for (int j = 0; j < n; ++j) {
        const bool bit = data.mask.host()[i * row_bytes + j / 8] >> (j % 8) & 1;
        ASSERT_EQ(bit, data.c.host()[i * n + j] > 0) << product->algorithm() << ": n " << n << " at " << i << " " << j;
      }
    }
  }
}

TEST(CudaProducts, PinnedAlgorithmsComeBackFromTheFileWithTheSameBits) {
  const std::string file = (test::scratch_folder() / "plans.json").string();
  const ProductShape shape{.m = 96, .n = 64, .k = 200, .epilogue = Epilogue::bias, .precision = Precision::tf32};
  std::string words, pinned;
  std::vector<float> results;
  for (int process = 0; process < 2; ++process) {
    const auto device = first_gpu(file);
    NEEDS_GPU(device);
    const auto stream = device->create_stream();
    const auto product = device->plan(shape, "test");
    const Operands data(*device, shape);
    device->multiply(*stream, *product, data.operands());
    device->synchronise(*stream);
    const std::vector<float> now(data.c.host(), data.c.host() + data.c.size());
    if (process == 1) {
      EXPECT_EQ(product->algorithm(), words);
      EXPECT_EQ(device->pinned_algorithms(), pinned);
      EXPECT_EQ(std::memcmp(now.data(), results.data(), now.size() * sizeof(float)), 0);
    }
    words = product->algorithm();
    pinned = device->pinned_algorithms();
    results = now;
  }
  EXPECT_TRUE(std::filesystem::exists(file));
}

TEST(CudaProducts, OperandsAlignedToOneElementWork) {
  const auto device = first_gpu();
  NEEDS_GPU(device);
  const auto stream = device->create_stream();
  const ProductShape shape{.m = 24, .n = 40, .k = 16};
  const auto product = device->plan(shape, "test");
  const Operands data(*device, shape);
  MappedBuffer<float> shifted(*device, data.c.size() + 1);
  ProductOperands operands = data.operands();
  operands.c = shifted.device() + 1;
  device->multiply(*stream, *product, operands);
  device->synchronise(*stream);
  for (int i = 0; i < shape.m; ++i) {
    for (int j = 0; j < shape.n; ++j) {
      double sum = 0;
      for (int k = 0; k < shape.k; ++k) {
        sum += static_cast<double>(data.a.host()[i * shape.k + k]) * data.b.host()[k * shape.n + j];
      }
      ASSERT_NEAR(shifted.host()[1 + i * shape.n + j], sum, 1e-5);
    }
  }
}

}  // namespace
}  // namespace foxhunt::device
