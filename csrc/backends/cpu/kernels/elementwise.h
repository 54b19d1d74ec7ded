// Tables of elementwise kernels, made from functors.
//
// A scalar functor has `T operator()(T...)` and is vectorised by the compiler; a vector functor has `V
// operator()(Full<T>, V...)`. An element's result never depends on its position in a block.
#pragma once

#include "simd.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

template <size_t n>
struct ElementwiseTable {
  ElementwiseKernel data[n];
  uint32_t count = n;
};
template <class... B>
constexpr auto elementwise_kernels(B... b) {
  return ElementwiseTable<sizeof...(B)>{{b...}};
}
template <size_t n, size_t m>
constexpr ElementwiseTable<n + m> operator+(const ElementwiseTable<n>& a, const ElementwiseTable<m>& b) {
  ElementwiseTable<n + m> sum{};
  for (size_t i = 0; i < n; ++i) sum.data[i] = a.data[i];
  for (size_t i = 0; i < m; ++i) sum.data[n + i] = b.data[i];
  return sum;
}

// ---- scalar functors ----

template <class F, class Out, class In>
void run_unary(const void* const* in, void* out, size_t count, const void*) {
  const In* x = static_cast<const In*>(in[0]);
  Out* y = static_cast<Out*>(out);
#pragma GCC ivdep
  for (size_t i = 0; i < count; ++i) y[i] = F{}(x[i]);
}
template <class F, class Out, class In>
void run_binary(const void* const* in, void* out, size_t count, const void*) {
  const In* a = static_cast<const In*>(in[0]);
  const In* b = static_cast<const In*>(in[1]);
  Out* y = static_cast<Out*>(out);
#pragma GCC ivdep
  for (size_t i = 0; i < count; ++i) y[i] = F{}(a[i], b[i]);
}

// T -> T
template <class F, class... T>
constexpr auto unary() {
  return elementwise_kernels(ElementwiseKernel{run_unary<F, T, T>, {dtype_of<T>}, 1, dtype_of<T>}...);
}
template <class F, class... T>
constexpr auto binary() {
  return elementwise_kernels(ElementwiseKernel{run_binary<F, T, T>, {dtype_of<T>, dtype_of<T>}, 2, dtype_of<T>}...);
}
// T -> bool
template <class F, class... T>
constexpr auto test() {
  return elementwise_kernels(ElementwiseKernel{run_unary<F, bool, T>, {dtype_of<T>}, 1, DType::boolean}...);
}
template <class F, class... T>
constexpr auto compare() {
  return elementwise_kernels(
      ElementwiseKernel{run_binary<F, bool, T>, {dtype_of<T>, dtype_of<T>}, 2, DType::boolean}...);
}

// ---- vector functors ----

template <class F, class T>
void run_vector_unary(const void* const* in, void* out, size_t count, const void*) {
  const Full<T> d;
  const T* x = static_cast<const T*>(in[0]);
  T* y = static_cast<T*>(out);
  constexpr size_t n = lanes_of<T>;
  size_t i = 0;
  for (; i + 2 * n <= count; i += 2 * n) {
    const auto first = F{}(d, hn::LoadU(d, x + i));
    const auto second = F{}(d, hn::LoadU(d, x + i + n));
    hn::StoreU(first, d, y + i);
    hn::StoreU(second, d, y + i + n);
  }
  for (; i + n <= count; i += n) hn::StoreU(F{}(d, hn::LoadU(d, x + i)), d, y + i);
  if (i < count) store_first<T>(d, F{}(d, load_first<T>(d, x + i, count - i, T(1))), y + i, count - i);
}
template <class F, class T>
void run_vector_binary(const void* const* in, void* out, size_t count, const void*) {
  const Full<T> d;
  const T* a = static_cast<const T*>(in[0]);
  const T* b = static_cast<const T*>(in[1]);
  T* y = static_cast<T*>(out);
  constexpr size_t n = lanes_of<T>;
  size_t i = 0;
  for (; i + n <= count; i += n) hn::StoreU(F{}(d, hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, y + i);
  if (i < count)
    store_first<T>(d, F{}(d, load_first<T>(d, a + i, count - i, T(1)), load_first<T>(d, b + i, count - i, T(1))), y + i,
                   count - i);
}
template <class F, class... T>
constexpr auto vector_unary() {
  return elementwise_kernels(ElementwiseKernel{run_vector_unary<F, T>, {dtype_of<T>}, 1, dtype_of<T>}...);
}
template <class F, class... T>
constexpr auto vector_binary() {
  return elementwise_kernels(ElementwiseKernel{run_vector_binary<F, T>, {dtype_of<T>, dtype_of<T>}, 2, dtype_of<T>}...);
}

// The types of a class of dtypes, as template arguments: binary<Add, FERRULE_INTEGERS>().
#define FERRULE_INTEGERS int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
#define FERRULE_FLOATS float, double

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
