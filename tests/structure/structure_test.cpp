// The rules of the tree: layers, file lengths, what may not stand in a source file.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace foxhunt {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLines = 600;

struct Source {
  std::string path;  // from the project's root
  std::vector<std::string> lines;
};

const std::vector<Source>& sources() {
  static const std::vector<Source> all = [] {
    std::vector<Source> out;
    const fs::path root = FOXHUNT_SOURCE_DIR;
    for (const char* top : {"kernels", "engine", "ui", "app", "tests"}) {
      if (!fs::exists(root / top)) continue;
      for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
        const std::set<std::string> kinds = {".cpp", ".h", ".cu", ".def"};
        if (!entry.is_regular_file() || !kinds.contains(entry.path().extension().string())) continue;
        Source source{.path = fs::relative(entry.path(), root).generic_string(), .lines = {}};
        std::ifstream file(entry.path());
        for (std::string line; std::getline(file, line);) source.lines.push_back(line);
        out.push_back(std::move(source));
      }
    }
    return out;
  }();
  return all;
}

// What stands between the quotes or brackets of an #include, or nothing.
std::string included(const std::string& line) {
  static const std::regex form(R"(^\s*#\s*include\s*[<"]([^>"]+)[>"])");
  std::smatch match;
  return std::regex_search(line, match, form) ? match[1].str() : std::string();
}

std::string top_folder(const std::string& path) {
  const std::size_t slash = path.find('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

// Layers in their order; each includes only those before it and itself.
int layer_of(const std::string& folder) {
  const std::vector<std::string> order = {"kernels", "engine", "ui", "app"};
  for (std::size_t i = 0; i < order.size(); ++i)
    if (order[i] == folder) return static_cast<int>(i);
  return -1;
}

bool starts_with_any(const std::string& text, const std::vector<std::string>& beginnings) {
  for (const std::string& b : beginnings)
    if (text.starts_with(b)) return true;
  return false;
}

TEST(Structure, TheTreeIsThere) {
  std::set<std::string> tops;
  for (const Source& source : sources()) tops.insert(top_folder(source.path));
  for (const char* folder : {"kernels", "engine", "app", "tests"}) EXPECT_TRUE(tops.contains(folder)) << folder;
  EXPECT_GT(sources().size(), 200u);
}

TEST(Structure, LayersIncludeOnlyThoseBefore) {
  int checked = 0;
  for (const Source& source : sources()) {
    const int own = layer_of(top_folder(source.path));
    if (own < 0) continue;
    for (std::size_t i = 0; i < source.lines.size(); ++i) {
      const int other = layer_of(top_folder(included(source.lines[i])));
      checked += other >= 0;
      EXPECT_LE(other, own) << source.path << ":" << i + 1 << " includes a later layer: " << source.lines[i];
    }
  }
  EXPECT_GT(checked, 500);
}

TEST(Structure, NothingButTestsIncludesTests) {
  for (const Source& source : sources()) {
    if (source.path.starts_with("tests/")) continue;
    for (const std::string& line : source.lines) EXPECT_NE(top_folder(included(line)), "tests") << source.path;
  }
}

TEST(Structure, EngineAndKernelsKnowNoQt) {
  const std::regex qt(R"(^(Q[A-Z]|Qt))");
  for (const Source& source : sources()) {
    if (!starts_with_any(source.path, {"engine/", "kernels/", "app/cli", "app/commands/"})) continue;
    for (const std::string& line : source.lines)
      EXPECT_FALSE(std::regex_search(included(line), qt)) << source.path << ": " << line;
  }
}

TEST(Structure, CudaHeadersOnlyInTheirBackend) {
  const std::regex cuda(R"(^(cuda|cublas|cuda_runtime|nvml|nvrtc|driver_types))");
  for (const Source& source : sources()) {
    if (starts_with_any(source.path, {"engine/device/cuda/", "tests/device/cuda"}) || source.path.ends_with(".cu"))
      continue;
    for (const std::string& line : source.lines)
      EXPECT_FALSE(std::regex_search(included(line), cuda)) << source.path << ": " << line;
  }
}

// `ui` sees the session and what it hands out, and data types.
TEST(Structure, TheWindowSeesNoLearnerAndNoDevice) {
  for (const Source& source : sources()) {
    if (!source.path.starts_with("ui/")) continue;
    for (const std::string& line : source.lines) {
      EXPECT_FALSE(starts_with_any(included(line), {"engine/learner/", "engine/device/", "engine/tensors/"}))
          << source.path << ": " << line;
    }
  }
}

TEST(Structure, FilesAreShort) {
  for (const Source& source : sources())
    EXPECT_LE(source.lines.size(), static_cast<std::size_t>(kMostLines)) << source.path;
}

TEST(Structure, FilesSayWhatTheyAreFor) {
  for (const Source& source : sources()) {
    ASSERT_FALSE(source.lines.empty()) << source.path;
    EXPECT_TRUE(source.lines[0].starts_with("// ")) << source.path << " begins with: " << source.lines[0];
  }
}

TEST(Structure, HeadersAreGuarded) {
  for (const Source& source : sources()) {
    if (!source.path.ends_with(".h")) continue;
    bool guarded = false;
    for (const std::string& line : source.lines) guarded |= line == "#pragma once";
    EXPECT_TRUE(guarded) << source.path;
  }
}

// The words are put together here so that this file does not contain them.
TEST(Structure, NothingIsLeftForLater) {
  const std::vector<std::string> words = {std::string("TO") + "DO", std::string("FIX") + "ME",
                                          std::string("XX") + "X:", std::string("HA") + "CK"};
  for (const Source& source : sources()) {
    for (std::size_t i = 0; i < source.lines.size(); ++i) {
      for (const std::string& word : words)
        EXPECT_EQ(source.lines[i].find(word), std::string::npos) << source.path << ":" << i + 1;
    }
  }
}

TEST(Structure, OnlyTheKernelContextAsksForTheCompiler) {
  const std::regex form(R"(^\s*#\s*(if|ifdef|ifndef|elif).*(__CUDACC__|__CUDA_ARCH__|__NVCC__))");
  for (const Source& source : sources()) {
    if (!source.path.starts_with("kernels/") || source.path == "kernels/block.h") continue;
    for (const std::string& line : source.lines)
      EXPECT_FALSE(std::regex_search(line, form)) << source.path << ": " << line;
  }
}

}  // namespace
}  // namespace foxhunt
