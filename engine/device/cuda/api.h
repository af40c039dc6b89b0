// The functions of the CUDA driver and of cuBLASLt that the plugin calls. Neither is linked: both are opened at run
// time through the two lists below, so that the plugin loads everywhere and can say what is missing.
#pragma once

#include <cublasLt.h>
#include <cuda.h>

#include <string>

// Versioned names stand as the driver exports them; calls use the plain ones, which cuda.h maps.
#define FH_DRIVER_FUNCTIONS(X)      \
  X(cuInit)                         \
  X(cuDriverGetVersion)             \
  X(cuGetErrorName)                 \
  X(cuGetErrorString)               \
  X(cuDeviceGetCount)               \
  X(cuDeviceGet)                    \
  X(cuDeviceGetName)                \
  X(cuDeviceGetAttribute)           \
  X(cuDeviceTotalMem_v2)            \
  X(cuDevicePrimaryCtxRetain)       \
  X(cuCtxGetCurrent)                \
  X(cuCtxSetCurrent)                \
  X(cuCtxSynchronize)               \
  X(cuCtxGetStreamPriorityRange)    \
  X(cuMemGetInfo_v2)                \
  X(cuMemAlloc_v2)                  \
  X(cuMemFree_v2)                   \
  X(cuMemHostAlloc)                 \
  X(cuMemFreeHost)                  \
  X(cuMemHostGetDevicePointer_v2)   \
  X(cuMemcpyAsync)                  \
  X(cuMemsetD8Async)                \
  X(cuMemsetD32Async)               \
  X(cuStreamCreateWithPriority)     \
  X(cuStreamDestroy_v2)             \
  X(cuStreamSynchronize)            \
  X(cuStreamWaitEvent)              \
  X(cuStreamIsCapturing)            \
  X(cuStreamGetCaptureInfo_v3)      \
  X(cuStreamBeginCapture_v2)        \
  X(cuStreamEndCapture)             \
  X(cuEventCreate)                  \
  X(cuEventDestroy_v2)              \
  X(cuEventRecord)                  \
  X(cuEventRecordWithFlags)         \
  X(cuEventQuery)                   \
  X(cuEventSynchronize)             \
  X(cuEventElapsedTime_v2)          \
  X(cuModuleLoadData)               \
  X(cuModuleUnload)                 \
  X(cuModuleGetFunction)            \
  X(cuFuncLoad)                     \
  X(cuFuncGetAttribute)             \
  X(cuFuncSetAttribute)             \
  X(cuLaunchKernel)                 \
  X(cuGraphCreate)                  \
  X(cuGraphDestroy)                 \
  X(cuGraphAddChildGraphNode)       \
  X(cuGraphAddEventRecordNode)      \
  X(cuGraphConditionalHandleCreate) \
  X(cuGraphAddNode_v2)              \
  X(cuGraphChildGraphNodeGetGraph)  \
  X(cuGraphGetNodes)                \
  X(cuGraphGetEdges_v2)             \
  X(cuGraphNodeGetType)             \
  X(cuGraphInstantiateWithParams)   \
  X(cuGraphExecDestroy)             \
  X(cuGraphLaunch)

#define FH_PRODUCT_FUNCTIONS(X)           \
  X(cublasLtCreate)                       \
  X(cublasLtDestroy)                      \
  X(cublasLtGetVersion)                   \
  X(cublasLtGetStatusName)                \
  X(cublasLtGetStatusString)              \
  X(cublasLtMatmul)                       \
  X(cublasLtMatrixLayoutCreate)           \
  X(cublasLtMatrixLayoutDestroy)          \
  X(cublasLtMatrixLayoutSetAttribute)     \
  X(cublasLtMatmulDescCreate)             \
  X(cublasLtMatmulDescDestroy)            \
  X(cublasLtMatmulDescSetAttribute)       \
  X(cublasLtMatmulPreferenceCreate)       \
  X(cublasLtMatmulPreferenceDestroy)      \
  X(cublasLtMatmulPreferenceSetAttribute) \
  X(cublasLtMatmulAlgoGetHeuristic)       \
  X(cublasLtMatmulAlgoCheck)              \
  X(cublasLtMatmulAlgoConfigGetAttribute)

namespace foxhunt::device::cuda {

struct Api {
#define FH_MEMBER(name) decltype(&::name) name = nullptr;
  FH_DRIVER_FUNCTIONS(FH_MEMBER)
  FH_PRODUCT_FUNCTIONS(FH_MEMBER)
#undef FH_MEMBER

  std::string driver_missing;   // why the driver cannot be used, as a sentence; empty where it can
  std::string product_missing;  // the same of cuBLASLt; looked for only where the driver can be used
  std::string driver_version;   // "13.0 (580.159.03)"
  std::string product_version;  // "13.1.0"
  int gpus = 0;

  bool usable() const {
    return driver_missing.empty() && product_missing.empty();
  }
};

// Opened at the first call, never closed: the libraries keep threads and exit handlers of their own. Never throws.
const Api& api();

}  // namespace foxhunt::device::cuda
