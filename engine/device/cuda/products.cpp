// Choosing, pinning and running cuBLASLt algorithms.
#include "engine/device/cuda/products.h"

#include <algorithm>
#include <cstring>

namespace foxhunt::device::cuda {
namespace {

constexpr int kCandidates = 16;                                             // of the heuristic, timed once
constexpr std::size_t kRounds = 9;                                          // of all candidates in turn
constexpr std::size_t kHopperWorkspace = 32u << 20, kWorkspace = 8u << 20;  // what the library's documentation advises
constexpr std::uint32_t kThreads = 128;                                     // a block of the separate epilogues
constexpr int kAlignments[] = {16, 4};                                      // bytes, by variant

// In-place split-K adds up with atomics: its sums differ from run to run.
constexpr std::uint32_t kReductions = CUBLASLT_REDUCTION_SCHEME_MASK & ~CUBLASLT_REDUCTION_SCHEME_INPLACE;

std::string to_hex(const cublasLtMatmulAlgo_t& algorithm) {
  std::string text;
  for (std::uint64_t word : algorithm.data) text += fmt::format("{:016x}", word);
  return text;
}

bool from_hex(const std::string& text, cublasLtMatmulAlgo_t* algorithm) {
  constexpr std::size_t digits = 16;
  if (text.size() != digits * std::size(algorithm->data) ||
      text.find_first_not_of("0123456789abcdef") != std::string::npos) {
    return false;
  }
  for (std::size_t i = 0; i < std::size(algorithm->data); ++i) {
    algorithm->data[i] = std::stoull(text.substr(i * digits, digits), nullptr, 16);
  }
  return true;
}

bool aligned(const ProductOperands& o, std::uintptr_t bytes) {
  const auto of = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p); };
  return ((of(o.a) | of(o.b) | of(o.c) | of(o.bias)) & (bytes - 1)) == 0;
}

}  // namespace

// Operands of a shape on the device, and the least alignment that a variant promises.
struct Products::Scratch {
  Scratch(Context& owner, const ProductShape& s, std::size_t skip) : context(owner) {
    const std::size_t a = s.transpose_a ? span_elements(s.k, s.m, s.lda, s.batch, s.stride_a)
                                        : span_elements(s.m, s.k, s.lda, s.batch, s.stride_a);
    const std::size_t b = s.transpose_b ? span_elements(s.n, s.k, s.ldb, s.batch, s.stride_b)
                                        : span_elements(s.k, s.n, s.ldb, s.batch, s.stride_b);
    try {
      operands.a = floats(a, skip);
      operands.b = floats(b, skip);
      operands.c = floats(span_elements(s.m, s.n, s.ldc, s.batch, s.stride_c), skip);
      operands.bias = floats(span_elements(1, std::max(s.m, s.n), 0, s.batch, s.stride_bias), skip);
      if (uses_mask(s.epilogue)) operands.mask = floats(mask_bytes(s.m, s.n) / sizeof(float), 0);
      FH_CU(context, cuStreamSynchronize, context.setup);
    } catch (...) {
      clear();
      throw;
    }
  }
  ~Scratch() { clear(); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  Context& context;
  ProductOperands operands;

 private:
  float* floats(std::size_t count, std::size_t skip) {
    // The library reads whole vectors, also past the last row's end where a row's stride has room for one.
    constexpr std::size_t slack = 16;
    CUdeviceptr memory = 0;
    FH_CU(context, cuMemAlloc, &memory, (count + skip + slack) * sizeof(float));
    held.push_back(memory);
    FH_CU(context, cuMemsetD32Async, memory, 0x3f000000u, count + skip + slack, context.setup);  // 0.5
    return reinterpret_cast<float*>(memory) + skip;
  }
  void clear() noexcept {
    for (CUdeviceptr memory : held) context.free_device(reinterpret_cast<void*>(memory));
  }
  std::vector<CUdeviceptr> held;
};

Products::Products(std::shared_ptr<Context> context, Modules* modules, Memory* memory, const std::string& cache)
    : context_(std::move(context)),
      modules_(modules),
      memory_(memory),
      workspace_bytes_(context_->capability >= 90 ? kHopperWorkspace : kWorkspace) {
  const DeviceInfo& info = context_->info;
  cache_ = std::make_unique<PlanCache>(
      cache,
      PlanPlace{fmt::format("{} with {} multiprocessors", info.description, info.threads), info.driver, info.library},
      context_->log);
  FH_CU(*context_, cublasLtCreate, &handle_);
}

Products::~Products() {
  cache_->flush();
  if (!context_->enter_quietly()) return;
  for (const auto& [lane, workspace] : workspaces_) context_->free_device(reinterpret_cast<void*>(workspace));
  context_->api.cublasLtDestroy(handle_);
}

CUdeviceptr Products::workspace_of(const std::string& lane) {
  const auto found = workspaces_.find(lane);
  if (found != workspaces_.end()) return found->second;
  CUdeviceptr memory = 0;
  FH_CU(*context_, cuMemAlloc, &memory, workspace_bytes_);
  workspaces_[lane] = memory;
  return memory;
}

std::unique_ptr<Product> Products::plan(const ProductShape& shape, const std::string& lane) {
  const ProductShape full = checked_shape(shape);
  auto product = std::make_unique<CudaProduct>(context_.get(), full, lane, workspace_of(lane));
  make_variant(*product, 0);
  return product;
}

void Products::make_variant(const CudaProduct& product, std::size_t which) {
  const ProductShape& shape = product.shape();
  const std::string key = shape_text(shape, kAlignments[which]);
  const Scratch scratch(*context_, shape, which == 0 ? 0 : 1);
  Variant variant;
  bool chosen = take_pinned(shape, key, &variant);
  if (chosen) {
    // Run once, so that its kernels are loaded before a capture; one that does not run is chosen again.
    variant.descriptor->point(scratch.operands);
    chosen = run_once(variant, product, scratch);
    FH_CU(*context_, cuStreamSynchronize, context_->setup);
    if (!chosen) context_->log->warn("the pinned algorithm of product {} does not run and is chosen again", key);
  }
  if (!chosen && !choose(product, which, scratch, &variant)) {
    throw Error(fmt::format("plan {}: {} has no algorithm for this product", key, context_->info.library));
  }
  cache_->put(key, {to_hex(variant.algorithm), variant.fused, variant.words});
  product.variants[which] = std::move(variant);
}

bool Products::take_pinned(const ProductShape& shape, const std::string& key, Variant* variant) {
  const auto pinned = cache_->find(key);
  if (!pinned) return false;
  variant->fused = pinned->fused;
  variant->words = pinned->words;
  variant->descriptor = std::make_shared<ProductDescriptor>(*context_, shape, pinned->fused);
  cublasLtMatmulHeuristicResult_t result{};
  const ProductDescriptor& d = *variant->descriptor;
  const bool usable =
      from_hex(pinned->algorithm, &variant->algorithm) &&
      context_->api.cublasLtMatmulAlgoCheck(handle_, d.operation, d.first, d.second, d.result, d.result,
                                            &variant->algorithm, &result) == CUBLAS_STATUS_SUCCESS &&
      result.workspaceSize <= workspace_bytes_ &&
      setting(variant->algorithm, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME) != CUBLASLT_REDUCTION_SCHEME_INPLACE;
  if (!usable) context_->log->warn("the pinned algorithm of product {} is stale and is chosen again", key);
  return usable;
}

std::vector<cublasLtMatmulHeuristicResult_t> Products::candidates(const ProductDescriptor& d, std::uint32_t alignment) {
  cublasLtMatmulPreference_t preference = nullptr;
  FH_CU(*context_, cublasLtMatmulPreferenceCreate, &preference);
  const auto set = [&](cublasLtMatmulPreferenceAttributes_t attribute, const auto& value) {
    FH_CU(*context_, cublasLtMatmulPreferenceSetAttribute, preference, attribute, &value, sizeof value);
  };
  std::vector<cublasLtMatmulHeuristicResult_t> results(kCandidates);
  int count = 0;
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  try {
    set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<std::uint64_t>(workspace_bytes_));
    set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, kReductions);
    for (auto attribute : {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                           CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
      set(attribute, alignment);
    }
    status = context_->api.cublasLtMatmulAlgoGetHeuristic(handle_, d.operation, d.first, d.second, d.result, d.result,
                                                          preference, kCandidates, results.data(), &count);
  } catch (...) {
    context_->api.cublasLtMatmulPreferenceDestroy(preference);
    throw;
  }
  context_->api.cublasLtMatmulPreferenceDestroy(preference);
  // Not supported and invalid are how the library says that it cannot do an epilogue for a shape.
  results.resize(status == CUBLAS_STATUS_SUCCESS ? static_cast<std::size_t>(count) : 0);
  return results;
}

bool Products::run_once(const Variant& variant, const CudaProduct& product, const Scratch& scratch) {
  if (variant.descriptor->run(handle_, scratch.operands, variant.algorithm, product.workspace, workspace_bytes_,
                              context_->setup) != CUBLAS_STATUS_SUCCESS) {
    return false;
  }
  if (!variant.fused) finish(context_->setup, false, product.shape(), scratch.operands);
  return true;
}

// Microseconds of each, as a step runs them: nodes of a graph, so that the host's calls cost nothing, and all in turn,
// so that each finds the instruction caches full of the others' code. (The same product again and again takes half as
// long as in a step.) The median over the rounds; the events between the nodes cost each of them the same.
std::vector<float> Products::time(const std::vector<Variant>& variants, const CudaProduct& product,
                                  const Scratch& scratch) {
  const std::size_t count = variants.size(), marks = kRounds * count + 1;
  std::vector<CUevent> events(marks, nullptr);
  CUgraph chain = nullptr;
  CUgraphExec executable = nullptr;
  bool capturing = false;
  const auto clear = [&] {
    if (capturing) context_->api.cuStreamEndCapture(context_->setup, &chain);
    for (CUevent event : events)
      if (event) FH_CU_QUIET(*context_, cuEventDestroy, event);
    if (executable) FH_CU_QUIET(*context_, cuGraphExecDestroy, executable);
    if (chain) FH_CU_QUIET(*context_, cuGraphDestroy, chain);
  };
  try {
    for (CUevent& event : events) FH_CU(*context_, cuEventCreate, &event, CU_EVENT_DEFAULT);
    FH_CU(*context_, cuStreamBeginCapture, context_->setup, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    capturing = true;
    bool runs = true;
    const auto mark = [&](std::size_t i) {
      runs = runs &&
             context_->api.cuEventRecordWithFlags(events[i], context_->setup, CU_EVENT_RECORD_EXTERNAL) == CUDA_SUCCESS;
    };
    for (std::size_t i = 0; i + 1 < marks; ++i) {
      mark(i);
      runs = runs && run_once(variants[i % count], product, scratch);
    }
    mark(marks - 1);
    capturing = false;
    const CUresult captured = context_->api.cuStreamEndCapture(context_->setup, &chain);
    context_->check(captured, "cuStreamEndCapture");
    FH_CHECK(runs, "a product that ran is refused by a capture");
    CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
    FH_CU(*context_, cuGraphInstantiateWithParams, &executable, chain, &parameters);
    for (int warm = 0; warm < 2; ++warm) FH_CU(*context_, cuGraphLaunch, executable, context_->setup);
    FH_CU(*context_, cuStreamSynchronize, context_->setup);
    std::vector<float> medians;
    for (std::size_t v = 0; v < count; ++v) {
      std::vector<float> all;
      for (std::size_t i = v; i + 1 < marks; i += count) {
        float milliseconds = 0;
        FH_CU(*context_, cuEventElapsedTime, &milliseconds, events[i], events[i + 1]);
        all.push_back(milliseconds * 1000);
      }
      std::nth_element(all.begin(), all.begin() + kRounds / 2, all.end());
      medians.push_back(all[kRounds / 2]);
    }
    clear();
    return medians;
  } catch (...) {
    clear();
    throw;
  }
}

// All of the heuristic's candidates that run, with the library's epilogue and with a kernel of ours.
std::vector<Variant> Products::tries(const CudaProduct& product, std::size_t which, const Scratch& scratch) {
  const ProductShape& shape = product.shape();
  std::vector<Variant> found;
  for (const bool fused : {true, false}) {
    if (!fused && shape.epilogue == Epilogue::none) continue;  // the same
    Variant variant;
    variant.fused = fused;
    variant.descriptor = std::make_shared<ProductDescriptor>(*context_, shape, fused);
    // The library reads the alignment of bias and mask off their addresses.
    variant.descriptor->point(scratch.operands);
    for (const auto& candidate : candidates(*variant.descriptor, static_cast<std::uint32_t>(kAlignments[which]))) {
      if (candidate.state != CUBLAS_STATUS_SUCCESS || candidate.workspaceSize > workspace_bytes_) continue;
      variant.algorithm = candidate.algo;
      if (run_once(variant, product, scratch)) found.push_back(variant);
    }
  }
  FH_CU(*context_, cuStreamSynchronize, context_->setup);
  return found;
}

bool Products::choose(const CudaProduct& product, std::size_t which, const Scratch& scratch, Variant* variant) {
  const ProductShape& shape = product.shape();
  const std::vector<Variant> found = tries(product, which, scratch);
  if (found.empty()) return false;
  const std::vector<float> times = time(found, product, scratch);
  const auto best = static_cast<std::size_t>(std::min_element(times.begin(), times.end()) - times.begin());
  *variant = found[best];
  variant->words = fmt::format("{}, {}, {:.1f} us, best of {}", describe(variant->algorithm),
                               shape.epilogue == Epilogue::none ? "no epilogue"
                               : variant->fused                 ? "fused epilogue"
                                                                : "separate epilogue",
                               times[best], found.size());
  return true;
}

int Products::setting(const cublasLtMatmulAlgo_t& algorithm, cublasLtMatmulAlgoConfigAttributes_t which) const {
  std::int32_t value = 0;
  std::size_t written = 0;
  if (context_->api.cublasLtMatmulAlgoConfigGetAttribute(&algorithm, which, &value, sizeof value, &written) !=
      CUBLAS_STATUS_SUCCESS) {
    return -1;
  }
  return value;
}

std::string Products::describe(const cublasLtMatmulAlgo_t& algorithm) const {
  return fmt::format(
      "algorithm {}, tile {}, stages {}, split-K {} by scheme {}", setting(algorithm, CUBLASLT_ALGO_CONFIG_ID),
      setting(algorithm, CUBLASLT_ALGO_CONFIG_TILE_ID), setting(algorithm, CUBLASLT_ALGO_CONFIG_STAGES_ID),
      setting(algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM), setting(algorithm, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME));
}

void Products::multiply(CUstream stream, bool capturing, const Product& product, const ProductOperands& operands) {
  const auto* mine = dynamic_cast<const CudaProduct*>(&product);
  if (!mine || mine->context != context_.get()) throw Error("multiply: the product was planned by another device");
  const ProductShape& shape = mine->shape();
  check_operands(shape, operands, *memory_);
  const std::size_t which = aligned(operands, 16) ? 0 : 1;
  if (!mine->variants[which].descriptor) {
    if (context_->capture_open()) {
      context_->refuse_in_capture(
          fmt::format("multiply {} with operands aligned to less than 16 bytes", shape_text(shape, kAlignments[0])),
          "run the product once eagerly with these operands");
    }
    make_variant(*mine, which);
  }
  const Variant& variant = mine->variants[which];
  variant.descriptor->point(operands);
  context_->check(
      variant.descriptor->run(handle_, operands, variant.algorithm, mine->workspace, workspace_bytes_, stream),
      "cublasLtMatmul");
  if (!variant.fused) finish(stream, capturing, shape, operands);
}

void Products::finish(CUstream stream, bool capturing, const ProductShape& s, const ProductOperands& o) {
  using kernels::tiles;
  const ModuleSet set = capturing ? ModuleSet::graph : ModuleSet::eager;
  const auto run = [&](const Launch& launch, const auto& args) {
    using Args = std::remove_cvref_t<decltype(args)>;
    modules_->launch(stream, set, kernels::KernelTraits<Args>::id, launch, &args, sizeof args);
  };
  Launch launch;
  launch.threads = kThreads;
  switch (s.epilogue) {
    case Epilogue::bias:
    case Epilogue::relu_bias:
    case Epilogue::relu_bias_mask: {
      launch.grid_x = tiles(static_cast<std::int64_t>(s.m) * s.batch, kernels::kProductRows);
      auto* mask = s.epilogue == Epilogue::relu_bias_mask ? static_cast<std::uint8_t*>(o.mask) : nullptr;
      run(launch, kernels::ProductBiasArgs{o.c, o.bias, mask, s.m, s.n, s.batch, s.ldc, s.stride_c, s.stride_bias,
                                           s.epilogue != Epilogue::bias});
      break;
    }
    case Epilogue::relu_gradient:
      launch.grid_x = tiles(s.m, kernels::kProductRows);
      run(launch, kernels::ProductMaskArgs{o.c, static_cast<const std::uint8_t*>(o.mask), s.m, s.n, s.ldc});
      break;
    case Epilogue::bias_gradient:
      launch.grid_y = static_cast<std::uint32_t>(s.batch);
      if (s.transpose_a) {
        launch.grid_x = tiles(s.m, kernels::kProductColumns);
        launch.team_scratch = kernels::kColumnSumScratch;
        run(launch, kernels::ProductColumnSumsArgs{o.a, o.bias, s.k, s.m, s.lda, s.stride_a, s.stride_bias});
      } else {
        launch.grid_x = tiles(s.m, kernels::kProductRows);
        run(launch, kernels::ProductRowSumsArgs{o.a, o.bias, s.m, s.k, s.lda, s.stride_a, s.stride_bias});
      }
      break;
    case Epilogue::none:
      break;
  }
}

}  // namespace foxhunt::device::cuda
