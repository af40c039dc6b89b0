// Counts a program's calls of the CUDA driver from outside, through CUPTI: the driver loads this library when
// CUDA_INJECTION64_PATH names it. At the end the counts are written to the file that FOXHUNT_DRIVER_CALLS names, one
// "count name" a line, largest first. What a training step calls is the difference of two runs of unlike length
// (tests/bench/driver_calls.sh).
#include <cupti.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

namespace {

std::array<std::atomic<long>, CUPTI_DRIVER_TRACE_CBID_SIZE> counts;

void CUPTIAPI called(void*, CUpti_CallbackDomain, CUpti_CallbackId id, const void* data) {
  if (static_cast<const CUpti_CallbackData*>(data)->callbackSite == CUPTI_API_ENTER && id < counts.size()) ++counts[id];
}

void write_counts() {
  const char* path = std::getenv("FOXHUNT_DRIVER_CALLS");
  std::FILE* file = path ? std::fopen(path, "w") : nullptr;
  if (!file) return;
  std::vector<std::pair<long, CUpti_CallbackId>> sorted;
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts[i]) sorted.emplace_back(counts[i], static_cast<CUpti_CallbackId>(i));
  std::sort(sorted.rbegin(), sorted.rend());
  for (const auto& [count, id] : sorted) {
    const char* name = nullptr;
    cuptiGetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, id, &name);
    std::fprintf(file, "%ld %s\n", count, name ? name : "?");
  }
  std::fclose(file);
}

}  // namespace

extern "C" int InitializeInjection() {
  CUpti_SubscriberHandle subscriber;
  const CUptiResult result = cuptiSubscribe(&subscriber, called, nullptr);
  if (result != CUPTI_SUCCESS) {
    const char* text = nullptr;
    cuptiGetResultString(result, &text);
    std::fprintf(stderr, "CUPTI refused: %s\n", text ? text : "?");
    return 1;
  }
  cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API);
  std::atexit(write_counts);
  return 1;
}
