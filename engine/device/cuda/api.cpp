// Opens libcuda and libcublasLt, fills the function table and words what is missing.
#include "engine/device/cuda/api.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

namespace foxhunt::device::cuda {
namespace {

namespace fs = std::filesystem;

// The first function of the list that `library` lacks, or null.
template <class Function>
const char* resolve(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function ? nullptr : name;
}

std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

// Of the kernel module, which the driver API does not tell; empty where the system does not show it.
std::string kernel_module_version() {
  std::ifstream file("/sys/module/nvidia/version");
  std::string text;
  std::getline(file, text);
  return text;
}

std::string open_driver(Api* api) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    return fmt::format("the NVIDIA driver is not installed ({}); install it to train on a GPU", dlerror());
  }
  const char* absent = nullptr;
#define FH_RESOLVE(name) \
  if (!absent) absent = resolve(library, #name, &api->name);
  FH_DRIVER_FUNCTIONS(FH_RESOLVE)
#undef FH_RESOLVE
  if (absent) {
    return fmt::format("the NVIDIA driver has no function {}: it is older than CUDA {}; update the driver", absent,
                       version_text(CUDA_VERSION));
  }
  if (const CUresult status = api->cuInit(0); status == CUDA_ERROR_NO_DEVICE) {
    return "the NVIDIA driver finds no GPU; check nvidia-smi and CUDA_VISIBLE_DEVICES";
  } else if (status != CUDA_SUCCESS) {
    const char* text = nullptr;
    api->cuGetErrorString(status, &text);
    return fmt::format("the NVIDIA driver does not start: cuInit says \"{}\" ({}); check nvidia-smi",
                       text ? text : "unknown error", static_cast<int>(status));
  }
  int version = 0;
  api->cuDriverGetVersion(&version);
  api->driver_version = version_text(version);
  if (const std::string module = kernel_module_version(); !module.empty()) api->driver_version += " (" + module + ")";
  if (version / 1000 < CUDA_VERSION / 1000) {
    return fmt::format("the NVIDIA driver supports CUDA {}, and this program needs {}.0; update the driver",
                       version_text(version), CUDA_VERSION / 1000);
  }
  if (api->cuDeviceGetCount(&api->gpus) != CUDA_SUCCESS || api->gpus == 0) {
    return "the NVIDIA driver finds no GPU; check nvidia-smi and CUDA_VISIBLE_DEVICES";
  }
  return {};
}

void add_python_folders(const fs::path& environment, std::vector<fs::path>* folders) {
  std::error_code ignored;
  for (const auto& python : fs::directory_iterator(environment / "lib", ignored)) {
    const fs::path packages = python.path() / "site-packages" / "nvidia";
    for (const char* package : {"cu13", "cublas", "cu12"}) {
      if (fs::is_directory(packages / package / "lib", ignored)) folders->push_back(packages / package / "lib");
    }
  }
}

// Where the loader does not look by itself.
std::vector<fs::path> product_folders() {
  std::vector<fs::path> folders;
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* home = std::getenv(name)) {
      for (const char* part : {"lib64", "lib", "targets/x86_64-linux/lib"}) folders.push_back(fs::path(home) / part);
    }
  }
  for (const char* home : {"/usr/local/cuda", "/opt/cuda"}) {
    for (const char* part : {"lib64", "lib", "targets/x86_64-linux/lib"}) folders.push_back(fs::path(home) / part);
  }
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (const char* environment = std::getenv(name)) add_python_folders(environment, &folders);
  }
  return folders;
}

void* open_product_library(std::string* failure) {
  for (const char* name : {"libcublasLt.so.13", "libcublasLt.so.12"}) {
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
    for (const fs::path& folder : product_folders()) {
      std::error_code ignored;
      const fs::path file = folder / name;
      if (!fs::exists(file, ignored)) continue;
      if (void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
      *failure = dlerror();  // there, but unusable: worth telling
    }
  }
  return nullptr;
}

std::string open_products(Api* api) {
  std::string failure;
  void* library = open_product_library(&failure);
  if (!library) {
    return fmt::format(
        "cuBLASLt {} (libcublasLt.so.13 or .12); install the CUDA toolkit or the package nvidia-cublas, and name its "
        "folder in LD_LIBRARY_PATH or the toolkit in CUDA_HOME",
        failure.empty() ? "was not found" : "cannot be opened: " + failure);
  }
  const char* absent = nullptr;
#define FH_RESOLVE(name) \
  if (!absent) absent = resolve(library, #name, &api->name);
  FH_PRODUCT_FUNCTIONS(FH_RESOLVE)
#undef FH_RESOLVE
  if (absent) return fmt::format("cuBLASLt has no function {}; install a newer CUDA toolkit", absent);
  const std::size_t version = api->cublasLtGetVersion();
  // 130100 is 13.1.0; from 12 on the major number stands before four digits.
  api->product_version = fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
  return {};
}

}  // namespace

const Api& api() {
  static const Api* const table = [] {
    auto* made = new Api;  // kept for the life of the process, as the libraries are
    made->driver_missing = open_driver(made);
    if (made->driver_missing.empty()) made->product_missing = open_products(made);
    return made;
  }();
  return *table;
}

}  // namespace foxhunt::device::cuda
