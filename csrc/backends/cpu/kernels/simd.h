// Included by every kernel file: Highway for the one target of this variant, and the macros that define kernels.
#pragma once

#include <hwy/highway.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../kernel.h"

static_assert(HWY_STATIC_TARGET == FERRULE_CPU_TARGET, "Highway chose another target than this variant is meant for");

// A kernel for whole nodes: KERNEL(name, .dtypes = ..., ...) { ... return nullptr; }
#define KERNEL(x, ...)                                                                        \
  static fe_error* run_##x(const Call& call);                                                 \
  extern const Kernel kernel_##x;                                                             \
  constinit const Kernel kernel_##x = {.name = #x, __VA_ARGS__ __VA_OPT__(, ).run = run_##x}; \
  static fe_error* run_##x([[maybe_unused]] const Call& call)

// An elementwise op: ELEMENTWISE(name, table of ElementwiseKernel, .string_attributes = ..., ...)
#define ELEMENTWISE(x, table, ...)                                                        \
  static constexpr auto elementwise_table_##x = table;                                    \
  extern const Kernel kernel_##x;                                                         \
  constinit const Kernel kernel_##x = {.name = #x __VA_OPT__(, ) __VA_ARGS__,             \
                                       .elementwise_kernels = elementwise_table_##x.data, \
                                       .elementwise_count = elementwise_table_##x.count};

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Full = hn::ScalableTag<T>;
template <class T>
constexpr size_t lanes_of = HWY_MAX_BYTES / sizeof(T);

constexpr DTypes one_of(DType dtype) { return DTypes{1} << static_cast<unsigned>(dtype); }
constexpr DTypes f32 = one_of(DType::f32);
constexpr DTypes f64 = one_of(DType::f64);

// The plain dtypes of a class.
constexpr DTypes dtypes_of(fe_dtype_class wanted) {
#define FERRULE_BIT(id, abbreviation, name, kind, ...) \
  | (FE_CLASS_##kind == wanted ? one_of(DType::abbreviation) : DTypes{0})
  return DTypes{0} FE_DTYPES(FERRULE_BIT, FE_NO_DTYPE);
#undef FERRULE_BIT
}
constexpr DTypes integer_dtypes = dtypes_of(FE_CLASS_SIGNED) | dtypes_of(FE_CLASS_UNSIGNED);

// The dtype whose elements have a type of C++, bool or a number; DType::count if there is none.
template <class T>
consteval DType dtype_of_number() {
  if (__is_same(T, bool)) return DType::boolean;
  const auto is_number = [](fe_dtype_class kind, bool is_fractional) {
    return kind == FE_CLASS_FLOAT ? is_fractional : kind == FE_CLASS_SIGNED || kind == FE_CLASS_UNSIGNED;
  };
#define FERRULE_NUMBER(id, abbreviation, name, kind, stored, ...) \
  if (__is_same(T, stored) && is_number(FE_CLASS_##kind, static_cast<stored>(0.5) != 0)) return DType::abbreviation;
  FE_DTYPES(FERRULE_NUMBER, FE_NO_DTYPE)
#undef FERRULE_NUMBER
  return DType::count;
}
// The dtype of an element type. The files that define other element types specialise it.
template <class T>
constexpr DType dtype_of = dtype_of_number<T>();

constexpr int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
constexpr int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
constexpr int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }

// Calls `body(begin, end)`, which returns nothing, or an error or null.
template <class Body>
HWY_INLINE fe_error* run_range(Body& body, int64_t begin, int64_t end) {
  if constexpr (std::is_void_v<decltype(body(begin, end))>) {
    body(begin, end);
    return nullptr;
  } else {
    return body(begin, end);
  }
}

// Runs `body` over [0, n) on the core's threads, in ranges whose bounds are multiples of `grain`; see run_range.
template <class Body>
fe_error* parallel(const Call& call, int64_t n, int64_t grain, Body body) {
  if (n <= 0) return nullptr;
  if (n <= grain) return run_range(body, 0, n);
  return call.host->parallel_for(
      n, grain, call.thread_limit,
      [](void* argument, int64_t begin, int64_t end, uint32_t) -> fe_error* {
        return run_range(*static_cast<Body*>(argument), begin, end);
      },
      &body);
}

// Largest number of threads that a loop of this call gets now. Results must not depend on it.
inline int64_t thread_count(const Call& call) {
  const uint32_t threads = call.host->thread_count();
  return larger(1, call.thread_limit == 0 || threads < call.thread_limit ? threads : call.thread_limit);
}

// Like parallel, for `body(begin, end, local)`, which returns an error or null. `local` is the calling thread's part of
// the scratch memory; no other range uses it at the same time.
template <class Body>
fe_error* parallel_with_local(const Call& call, int64_t n, int64_t grain, Body body) {
  if (n <= 0) return nullptr;
  if (n <= grain) return body(int64_t{0}, n, call.local.part(0));
  struct Work {
    Body& body;
    const LocalMemory& local;
  } work{body, call.local};
  const uint32_t limit =
      call.thread_limit == 0 || call.local.count < call.thread_limit ? call.local.count : call.thread_limit;
  return call.host->parallel_for(
      n, grain, limit,
      [](void* argument, int64_t begin, int64_t end, uint32_t thread) -> fe_error* {
        const Work& given = *static_cast<Work*>(argument);
        return given.body(begin, end, given.local.part(thread));
      },
      &work);
}

// Divides memory into arrays, each at a multiple of 64 bytes. With a null pointer it only counts bytes.
class ScratchArena {
 public:
  explicit ScratchArena(char* memory) : memory_(memory) {}
  template <class T>
  T* array(int64_t count) {
    char* const at = memory_ == nullptr ? nullptr : memory_ + used_;
    used_ += round_up(count * static_cast<int64_t>(sizeof(T)), 64);
    return reinterpret_cast<T*>(at);
  }
  uint64_t bytes() const { return static_cast<uint64_t>(used_); }

 private:
  char* memory_;
  int64_t used_ = 0;
};

// The larger, or the smaller, of a bound and x; NaN where x is NaN. SSE's instructions give that if x is second, and
// NEON's give the bound.
template <class D, class V>
HWY_INLINE V at_least(D d, hn::TFromD<D> bound, V x) {
#if HWY_TARGET == HWY_NEON
  return hn::IfThenElse(hn::Lt(x, hn::Set(d, bound)), hn::Set(d, bound), x);
#else
  return hn::Max(hn::Set(d, bound), x);
#endif
}
template <class D, class V>
HWY_INLINE V at_most(D d, hn::TFromD<D> bound, V x) {
#if HWY_TARGET == HWY_NEON
  return hn::IfThenElse(hn::Gt(x, hn::Set(d, bound)), hn::Set(d, bound), x);
#else
  return hn::Min(hn::Set(d, bound), x);
#endif
}

// Loads or stores the first `count` lanes, 0 < count < lanes. Lanes past them are `fill`, and their memory is not
// accessed. The arithmetic in between uses whole vectors, so a result never depends on an element's position in an
// array.
template <class T>
constexpr bool has_masked_access = HWY_MAX_BYTES >= 32 && sizeof(T) >= 4;
template <class T>
HWY_INLINE auto load_first(Full<T> d, const T* from, size_t count, T fill = T(0)) {
  if constexpr (has_masked_access<T>) {
    const auto first = hn::FirstN(d, count);
    return hn::IfThenElse(first, hn::MaskedLoad(first, d, from), hn::Set(d, fill));
  } else {
    alignas(64) T lanes[lanes_of<T>];
    for (size_t i = 0; i < lanes_of<T>; ++i) lanes[i] = fill;
    __builtin_memcpy(lanes, from, count * sizeof(T));
    return hn::Load(d, lanes);
  }
}
template <class T, class V>
HWY_INLINE void store_first(Full<T> d, V v, T* to, size_t count) {
  if constexpr (has_masked_access<T>) {
    hn::BlendedStore(v, hn::FirstN(d, count), d, to);
  } else {
    alignas(64) T lanes[lanes_of<T>];
    hn::Store(v, d, lanes);
    __builtin_memcpy(to, lanes, count * sizeof(T));
  }
}

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
