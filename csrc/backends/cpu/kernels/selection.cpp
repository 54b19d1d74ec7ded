// Choosing between elements: by a condition, or by which is greater.
#include "elementwise.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// where, by item size: the values are moved and not interpreted.
template <class T>
void run_where(const void* const* in, void* out, size_t count, const void*) {
  const uint8_t* condition = static_cast<const uint8_t*>(in[0]);
  const T* a = static_cast<const T*>(in[1]);
  const T* b = static_cast<const T*>(in[2]);
  T* y = static_cast<T*>(out);
#pragma GCC ivdep
  for (size_t i = 0; i < count; ++i) {
    const T take_a = static_cast<T>(-static_cast<T>(condition[i] != 0));
    y[i] = static_cast<T>((a[i] & take_a) | (b[i] & static_cast<T>(~take_a)));
  }
}
// where for items of 16 bytes.
void run_where_of_pairs(const void* const* in, void* out, size_t count, const void*) {
  const uint8_t* condition = static_cast<const uint8_t*>(in[0]);
  const uint64_t* a = static_cast<const uint64_t*>(in[1]);
  const uint64_t* b = static_cast<const uint64_t*>(in[2]);
  uint64_t* y = static_cast<uint64_t*>(out);
#pragma GCC ivdep
  for (size_t i = 0; i < count; ++i) {
    const uint64_t take_a = -static_cast<uint64_t>(condition[i] != 0);
    y[2 * i] = (a[2 * i] & take_a) | (b[2 * i] & ~take_a);
    y[2 * i + 1] = (a[2 * i + 1] & take_a) | (b[2 * i + 1] & ~take_a);
  }
}
// It moves bits: elements of one size have one function.
template <size_t bytes>
constexpr ElementwiseKernel where_kernel(DType dtype) {
  ElementwiseFunction run = run_where_of_pairs;
  if constexpr (bytes <= 8) run = run_where<hwy::UnsignedFromSize<bytes>>;
  return ElementwiseKernel{run, {DType::boolean, dtype, dtype}, 3, dtype};
}
constexpr ElementwiseTable<__builtin_popcountll(plain_dtypes)> where_kernels = {{
#define FERRULE_WHERE(id, abbreviation, name, kind, stored, ...) \
  where_kernel<FE_DTYPE_BYTES(kind, stored)>(DType::abbreviation),
    FE_DTYPES(FERRULE_WHERE, FE_NO_DTYPE)
#undef FERRULE_WHERE
}};

// NaN in either argument gives NaN.
struct Maximum {
  template <class T>
  T operator()(T a, T b) const {
    return ((a > b) | (a != a)) ? a : b;
  }
};
struct Minimum {
  template <class T>
  T operator()(T a, T b) const {
    return ((a < b) | (a != a)) ? a : b;
  }
};

// clip: limits x to [minimum, maximum]. As with the two ops minimum and maximum, the maximum wins if they cross, and
// NaN in any argument gives NaN.
template <class T>
void run_clip(const void* const* in, void* out, size_t count, const void*) {
  const T *x = static_cast<const T*>(in[0]), *low = static_cast<const T*>(in[1]), *high = static_cast<const T*>(in[2]);
  T* y = static_cast<T*>(out);
#pragma GCC ivdep
  for (size_t i = 0; i < count; ++i) {
    const T above = x[i] > low[i] || x[i] != x[i] ? x[i] : low[i];
    y[i] = above < high[i] || above != above ? above : high[i];
  }
}
template <class... T>
constexpr auto clips() {
  return elementwise_kernels(
      ElementwiseKernel{run_clip<T>, {dtype_of<T>, dtype_of<T>, dtype_of<T>}, 3, dtype_of<T>}...);
}

}  // namespace

ELEMENTWISE(where, where_kernels)
ELEMENTWISE(maximum, (binary<Maximum, FERRULE_FLOATS, FERRULE_INTEGERS, bool>()))
ELEMENTWISE(minimum, (binary<Minimum, FERRULE_FLOATS, FERRULE_INTEGERS, bool>()))
ELEMENTWISE(clip, (clips<FERRULE_FLOATS, FERRULE_INTEGERS>()))

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
