// The execution context of every kernel, and the only place that knows which compiler is reading.
//
// A kernel is one function over (const Block&, const Args&). It must be right at any number of threads a block, one
// included: the host runs it with one, and there every method below folds away. A block owns one contiguous tile;
// threads or teams stride inside it. A team is the set of threads that share a row: reductions over a team need no
// barrier, so they may stand in a strided loop.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__CUDACC__)
#define FH_DEVICE 1
#define FH_FN static __device__ __forceinline__
#define FH_METHOD __device__ __forceinline__
#else
#define FH_DEVICE 0
#define FH_FN [[maybe_unused]] static inline
#define FH_METHOD inline __attribute__((always_inline))
#include <time.h>

#include <cmath>
#endif

// Loops whose turns the device's compiler writes out; the host's decides for itself.
#if FH_DEVICE
#define FH_PRAGMA(text) _Pragma(#text)
#define FH_UNROLL FH_PRAGMA(unroll)
#define FH_UNROLL_BY(count) FH_PRAGMA(unroll count)
#else
#define FH_UNROLL
#define FH_UNROLL_BY(count)
#endif

namespace foxhunt::kernels {

using std::int32_t;
using std::int64_t;
using std::uint32_t;
using std::uint64_t;
using std::uint8_t;

#if FH_DEVICE

// What the lane whose number differs by the bits of `offset` holds.
template <class T>
FH_FN T shuffle_xor(T x, int offset) {
  return __shfl_xor_sync(0xffffffffu, x, offset);
}

// The lanes of one warp, or a whole block (Block::row_team), where the block is made of whole warps, else single threads.
struct Team {
  int lane, lanes;   // this thread's place in its team
  int index, teams;  // this team's place in its block

  template <class T, class Combine>
  FH_METHOD T reduce(T x, Combine combine) const {
    const int together = lanes < 32 ? lanes : 32;
    for (int offset = together / 2; offset > 0; offset /= 2) x = combine(x, shuffle_xor(x, offset));
    return lanes > 32 ? across(x, combine) : x;
  }
  FH_METHOD void sync() const {
    if (lanes > 32) {
      __syncthreads();
    } else if (lanes > 1) {
      __syncwarp();
    }
  }
  // Value held by `source` lane of a warp.
  template <class T>
  FH_METHOD T broadcast(T x, int source) const {
    return lanes > 1 ? __shfl_sync(0xffffffffu, x, source) : x;
  }
  template <class T>
  FH_METHOD T sum(T x) const {
    return reduce(x, [](T a, T b) { return a + b; });
  }
  template <class T>
  FH_METHOD T max(T x) const {
    return reduce(x, [](T a, T b) { return a > b ? a : b; });
  }
  template <class T>
  FH_METHOD T min(T x) const {
    return reduce(x, [](T a, T b) { return a < b ? a : b; });
  }

 private:
  // What the warps of a block hold, combined in their order; every thread gets it.
  template <class T, class Combine>
  FH_METHOD T across(T x, Combine combine) const {
    __shared__ double memory[32];
    T* values = reinterpret_cast<T*>(memory);
    __syncthreads();  // the values of the reduction before have been read
    if (lane % 32 == 0) values[lane / 32] = x;
    __syncthreads();
    T result = values[0];
    for (int i = 1; i < lanes / 32; ++i) result = combine(result, values[i]);
    return result;
  }
};

struct Block {
  uint32_t x, y;  // place in the grid

  FH_METHOD int thread() const { return static_cast<int>(threadIdx.x); }
  FH_METHOD int threads() const { return static_cast<int>(blockDim.x); }
  FH_METHOD void sync() const { __syncthreads(); }
  FH_METHOD Team team() const {
    const int lanes = blockDim.x % warpSize == 0 ? warpSize : 1;
    return {thread() % lanes, lanes, thread() / lanes, threads() / lanes};
  }
  // The whole block as one team: for kernels whose block owns one row, where a row's own time is what counts. Its reductions hold
  // barriers, so every thread must come to them.
  FH_METHOD Team row_team() const {
    if (blockDim.x % warpSize != 0) return team();
    return {thread(), threads(), 0, 1};
  }
  // Shared by the block, as many bytes as the launch asked for (a multiple of teams() x its bytes a team), 16-byte
  // aligned.
  template <class T>
  FH_METHOD T* scratch() const {
    extern __shared__ __align__(16) unsigned char memory[];
    return reinterpret_cast<T*>(memory);
  }
  // Block-wide reduction in a fixed order; every thread gets the result. Holds barriers: never call it in a strided
  // loop. Teams first, by shuffles; then their results one after another.
  template <class T, class Combine>
  FH_METHOD T reduce(T x, Combine combine) const {
    __shared__ double memory[1024];
    T* values = reinterpret_cast<T*>(memory);
    const Team t = team();
    x = t.reduce(x, combine);
    __syncthreads();
    if (t.lane == 0) values[t.index] = x;
    __syncthreads();
    T result = values[0];
    for (int i = 1; i < t.teams; ++i) result = combine(result, values[i]);
    return result;
  }
  template <class T>
  FH_METHOD T sum(T x) const {
    return reduce(x, [](T a, T b) { return a + b; });
  }
  template <class T>
  FH_METHOD T max(T x) const {
    return reduce(x, [](T a, T b) { return a > b ? a : b; });
  }
  template <class T>
  FH_METHOD T min(T x) const {
    return reduce(x, [](T a, T b) { return a < b ? a : b; });
  }
  // Makes what this thread wrote, and what others wrote before a barrier between them, visible to the whole system (the host reads mapped memory) before what it writes next.
  FH_METHOD void fence_system() const { __threadfence_system(); }
};

// A word that another processor reads or writes while kernels run.
FH_FN uint32_t load_shared_word(const uint32_t* word) {
  return *reinterpret_cast<const volatile uint32_t*>(word);
}
FH_FN void store_shared_word(uint32_t* word, uint32_t value) {
  *reinterpret_cast<volatile uint32_t*>(word) = value;
}
FH_FN void store_release_word(uint32_t* word, uint32_t value) {
  __threadfence_system();
  *reinterpret_cast<volatile uint32_t*>(word) = value;
}
// The same where fence_system and a barrier stand between the data and this: no second fence is paid for.
FH_FN void store_fenced_word(uint32_t* word, uint32_t value) {
  *reinterpret_cast<volatile uint32_t*>(word) = value;
}
FH_FN uint32_t load_acquire_word(const uint32_t* word) {
  const uint32_t value = *reinterpret_cast<const volatile uint32_t*>(word);
  __threadfence_system();
  return value;
}
// Opens a write that others may watch: nothing stored afterwards is seen before this word.
FH_FN void store_opening_word(uint32_t* word, uint32_t value) {
  *reinterpret_cast<volatile uint32_t*>(word) = value;
  __threadfence_system();
}
// Nanoseconds of the device's clock, from an arbitrary origin.
FH_FN uint64_t clock_ns() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}
// Sets the condition of a graph (device::Condition::word); the driver resolves the call when it loads the module.
FH_FN void set_condition(uint64_t condition, uint32_t value) {
  cudaGraphSetConditional(condition, value);
}
FH_FN uint32_t float_bits(float x) {
  return __float_as_uint(x);
}
FH_FN float bits_float(uint32_t x) {
  return __uint_as_float(x);
}

#else

struct Team {
  static constexpr int lane = 0, lanes = 1, index = 0, teams = 1;
  template <class T, class Combine>
  FH_METHOD T reduce(T x, Combine) const {
    return x;
  }
  FH_METHOD void sync() const {}
  template <class T>
  FH_METHOD T broadcast(T x, int) const {
    return x;
  }
  template <class T>
  FH_METHOD T sum(T x) const {
    return x;
  }
  template <class T>
  FH_METHOD T max(T x) const {
    return x;
  }
  template <class T>
  FH_METHOD T min(T x) const {
    return x;
  }
};

struct Block {
  uint32_t x, y;
  void* memory;  // scratch of the running thread

  FH_METHOD static constexpr int thread() { return 0; }
  FH_METHOD static constexpr int threads() { return 1; }
  FH_METHOD void sync() const {}
  FH_METHOD Team team() const { return {}; }
  FH_METHOD Team row_team() const { return {}; }
  template <class T>
  FH_METHOD T* scratch() const {
    return static_cast<T*>(memory);
  }
  template <class T, class Combine>
  FH_METHOD T reduce(T value, Combine) const {
    return value;
  }
  template <class T>
  FH_METHOD T sum(T value) const {
    return value;
  }
  template <class T>
  FH_METHOD T max(T value) const {
    return value;
  }
  template <class T>
  FH_METHOD T min(T value) const {
    return value;
  }
  FH_METHOD void fence_system() const {}
};

// Relaxed accesses, ordered by acquire and release on the sequence word; no stand-alone fences (GCC's TSan rejects
// those).
FH_FN uint32_t load_shared_word(const uint32_t* word) {
  return __atomic_load_n(word, __ATOMIC_RELAXED);
}
FH_FN void store_shared_word(uint32_t* word, uint32_t value) {
  __atomic_store_n(word, value, __ATOMIC_RELAXED);
}
FH_FN void store_release_word(uint32_t* word, uint32_t value) {
  __atomic_store_n(word, value, __ATOMIC_RELEASE);
}
FH_FN void store_fenced_word(uint32_t* word, uint32_t value) {
  __atomic_store_n(word, value, __ATOMIC_RELEASE);
}
FH_FN uint32_t load_acquire_word(const uint32_t* word) {
  return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}
// Opens a write that others may watch: nothing stored afterwards is seen before this word.
FH_FN void store_opening_word(uint32_t* word, uint32_t value) {
  __atomic_exchange_n(word, value, __ATOMIC_ACQ_REL);
}
// Nanoseconds of the device's clock, from an arbitrary origin.
FH_FN uint64_t clock_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000ull + static_cast<uint64_t>(now.tv_nsec);
}
FH_FN void set_condition(uint64_t condition, uint32_t value) {
  __atomic_store_n(reinterpret_cast<uint32_t*>(condition), value, __ATOMIC_RELAXED);
}
FH_FN uint32_t float_bits(float x) {
  uint32_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  return bits;
}
FH_FN float bits_float(uint32_t bits) {
  float x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}

#endif

template <class T>
FH_FN T minimum(T a, T b) {
  return a < b ? a : b;
}
template <class T>
FH_FN T maximum(T a, T b) {
  return a > b ? a : b;
}
template <class T>
FH_FN T clamp(T x, T low, T high) {
  return x < low ? low : (x > high ? high : x);
}
// True for NaN and both infinities, whatever the compiler assumes of floating point.
FH_FN bool not_finite(float x) {
  return (float_bits(x) & 0x7f800000u) == 0x7f800000u;
}

}  // namespace foxhunt::kernels
