// When each kernel of a captured step ran, seen from outside through CUPTI: the driver loads this library when
// CUDA_INJECTION64_PATH names it. At the end, of the last 200 launches of the graph that ran most, the one of median
// duration is written to the file that FOXHUNT_TIMELINE names: "start end stream name" a line, microseconds after its
// first kernel began. tests/bench/step_timeline.py reads it. CUPTI's own cost lies between the kernels, not within
// them.
#include <cupti.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace {

using Kernel = CUpti_ActivityKernel10;

struct Span {
  std::uint64_t start, end;  // nanoseconds
  std::uint32_t stream;
  const char* name;
};

constexpr std::size_t kBuffer = 8u << 20;
std::mutex mutex;
std::map<std::uint32_t, std::vector<Span>> launches;  // by correlation: one a graph launch

void CUPTIAPI request(std::uint8_t** buffer, std::size_t* size, std::size_t* records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, kBuffer));
  *size = *buffer ? kBuffer : 0;
  *records = 0;
}

void CUPTIAPI complete(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  {
    const std::scoped_lock lock(mutex);
    CUpti_Activity* record = nullptr;
    while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
      if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && record->kind != CUPTI_ACTIVITY_KIND_KERNEL) continue;
      const auto* kernel = reinterpret_cast<const Kernel*>(record);
      if (kernel->graphNodeId == 0) continue;
      // The names live as long as the program.
      launches[kernel->correlationId].push_back({kernel->start, kernel->end, kernel->streamId, kernel->name});
    }
    // The replayed graphs of interest are the last ones.
    while (launches.size() > 4000) launches.erase(launches.begin());
  }
  std::free(buffer);
}

std::uint64_t begin_of(const std::vector<Span>& spans) {
  return std::min_element(spans.begin(), spans.end(), [](auto& a, auto& b) { return a.start < b.start; })->start;
}

std::uint64_t length_of(const std::vector<Span>& spans) {
  return std::max_element(spans.begin(), spans.end(), [](auto& a, auto& b) { return a.end < b.end; })->end -
         begin_of(spans);
}

void write_timeline() {
  cuptiActivityFlushAll(1);
  const char* path = std::getenv("FOXHUNT_TIMELINE");
  const std::scoped_lock lock(mutex);
  // The graph that ran most: as many kernels a launch, times as many launches, as no other.
  std::map<std::size_t, std::size_t> kernels;
  for (const auto& [id, spans] : launches) kernels[spans.size()] += spans.size();
  std::size_t nodes = 0;
  for (const auto& [size, count] : kernels)
    if (count > kernels[nodes]) nodes = size;
  std::vector<const std::vector<Span>*> whole;
  for (const auto& [id, spans] : launches)
    if (nodes > 0 && spans.size() == nodes) whole.push_back(&spans);
  if (whole.size() > 200) whole.erase(whole.begin(), whole.end() - 200);
  std::FILE* file = path && !whole.empty() ? std::fopen(path, "w") : nullptr;
  if (!file) return;
  std::sort(whole.begin(), whole.end(), [](auto* a, auto* b) { return length_of(*a) < length_of(*b); });
  std::vector<Span> spans = *whole[whole.size() / 2];
  std::sort(spans.begin(), spans.end(), [](auto& a, auto& b) { return a.start < b.start; });
  const std::uint64_t first = spans.front().start;
  for (const Span& s : spans)
    std::fprintf(file, "%.3f %.3f %u %s\n", static_cast<double>(s.start - first) / 1e3,
                 static_cast<double>(s.end - first) / 1e3, s.stream, s.name ? s.name : "?");
  std::fclose(file);
}

}  // namespace

extern "C" int InitializeInjection() {
  CUptiResult result = cuptiActivityRegisterCallbacks(request, complete);
  if (result == CUPTI_SUCCESS) result = cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  if (result != CUPTI_SUCCESS) {
    const char* text = nullptr;
    cuptiGetResultString(result, &text);
    std::fprintf(stderr, "CUPTI refused: %s\n", text ? text : "?");
    return 1;
  }
  std::atexit(write_timeline);
  return 1;
}
