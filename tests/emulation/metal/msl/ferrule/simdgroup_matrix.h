// Metal Shading Language Specification, "SIMD-Group Matrix Functions". Each lane holds two neighbours of a row, as
// Apple's GPUs have them. Sums are of float32, with fused multiply-adds in order.
#pragma once

namespace metal {

template <class T, int Columns, int Rows>
struct simdgroup_matrix {
  static_assert(Columns == 8 && Rows == 8, "a simdgroup_matrix has 8 x 8 elements");
  typedef T ferrule_pair __attribute__((ext_vector_type(2)));
  // A matrix without a value is NaN.
  simdgroup_matrix() : ferrule_elements{T(__builtin_nanf("")), T(__builtin_nanf(""))} {}
  ferrule_pair ferrule_elements;
};
typedef simdgroup_matrix<half, 8, 8> simdgroup_half8x8;
typedef simdgroup_matrix<bfloat, 8, 8> simdgroup_bfloat8x8;
typedef simdgroup_matrix<float, 8, 8> simdgroup_float8x8;

// The row of a lane, and the first of its columns.
constexpr ferrule_inline uint ferrule_row(uint lane) { return (lane / 4 & 4) + lane / 2 % 4; }
constexpr ferrule_inline uint ferrule_column_of(uint lane) { return (lane / 4 & 2) * 2 + lane % 2 * 2; }
// The lane that has an element.
constexpr ferrule_inline uint ferrule_lane(uint row, uint column) {
  return (row & 4) * 4 + (column & 4) * 2 + (row & 3) * 2 + (column & 2) / 2;
}

template <class T, int Columns, int Rows>
ferrule_inline simdgroup_matrix<T, Columns, Rows> make_filled_simdgroup_matrix(T value) {
  simdgroup_matrix<T, Columns, Rows> made;
  made.ferrule_elements = typename simdgroup_matrix<T, Columns, Rows>::ferrule_pair{value, value};
  return made;
}

#define FERRULE_LOAD(space)                                                                                          \
  template <class T>                                                                                                 \
  ferrule_inline void simdgroup_load(thread simdgroup_matrix<T, 8, 8>& to, const space T* from,                      \
                                     ulong elements_per_row = 8, ulong2 origin = ulong2{0, 0},                       \
                                     bool is_transposed = false, ferrule_place) {                                    \
    ferrule_host_meet("simdgroup_load", ferrule_at, nullptr, 0, nullptr);                                            \
    const uint lane = ferrule_host_lane(), row = ferrule_row(lane), column = ferrule_column_of(lane);                \
    const space T* const first = from + origin.y * elements_per_row + origin.x;                                      \
    for (uint i = 0; i < 2; ++i)                                                                                     \
      to.ferrule_elements[i] =                                                                                       \
          is_transposed ? first[(column + i) * elements_per_row + row] : first[row * elements_per_row + column + i]; \
  }
#define FERRULE_STORE(space)                                                                                     \
  template <class T>                                                                                             \
  ferrule_inline void simdgroup_store(simdgroup_matrix<T, 8, 8> from, space T* to, ulong elements_per_row = 8,   \
                                      ulong2 origin = ulong2{0, 0}, bool is_transposed = false, ferrule_place) { \
    ferrule_host_meet("simdgroup_store", ferrule_at, nullptr, 0, nullptr);                                       \
    const uint lane = ferrule_host_lane(), row = ferrule_row(lane), column = ferrule_column_of(lane);            \
    space T* const first = to + origin.y * elements_per_row + origin.x;                                          \
    for (uint i = 0; i < 2; ++i)                                                                                 \
      first[is_transposed ? (column + i) * elements_per_row + row : row * elements_per_row + column + i] =       \
          from.ferrule_elements[i];                                                                              \
  }
FERRULE_LOAD(device)
FERRULE_LOAD(threadgroup)
FERRULE_STORE(device)
FERRULE_STORE(threadgroup)
#undef FERRULE_LOAD
#undef FERRULE_STORE

template <class D, class A, class B, class C>
ferrule_inline void simdgroup_multiply_accumulate(thread simdgroup_matrix<D, 8, 8>& d, simdgroup_matrix<A, 8, 8> a,
                                                  simdgroup_matrix<B, 8, 8> b, simdgroup_matrix<C, 8, 8> c,
                                                  ferrule_place) {
  const float4 own = {float(a.ferrule_elements[0]), float(a.ferrule_elements[1]), float(b.ferrule_elements[0]),
                      float(b.ferrule_elements[1])};
  const ferrule_lanes<float4> all = ferrule_meet<float4>("simdgroup_multiply_accumulate", own, ferrule_at);
  if (all.present != 0xffffffffU)
    ferrule_host_fail("simdgroup_multiply_accumulate", ferrule_at, "needs all 32 lanes of a SIMD-group");
  const uint lane = ferrule_host_lane(), row = ferrule_row(lane), column = ferrule_column_of(lane);
  for (uint i = 0; i < 2; ++i) {
    float sum = static_cast<float>(c.ferrule_elements[i]);
    for (uint k = 0; k < 8; ++k)
      sum = __builtin_fmaf(all.values[ferrule_lane(row, k)][k % 2], all.values[ferrule_lane(k, column)][2 + i], sum);
    d.ferrule_elements[i] = static_cast<D>(sum);
  }
}

}  // namespace metal
