// Element types that a reduction reads in place of its operand's, to reduce a function of the elements: powers of two
// times them, and squares of these. Sums that overflow, or vanish, are computed once more with such a factor, which is
// exact and is divided out of the result.
#pragma once

#include "complex.h"
#include "half.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// Factors for numbers of any size, so that sums of their squares are far from both ends of the range; and the least
// mean of squares that has all of its digits.
template <class T>
struct Range {
  static constexpr T shrink = T(0x1p-90), grow = T(0x1p90), least_square = T(0x1p-100);
};
template <>
struct Range<double> {
  static constexpr double shrink = 0x1p-700, grow = 0x1p700, least_square = 0x1p-900;
};

// The factor that squares with this mean need: 1 if they are in range; `shrink` for NaN, too, as infinities may have
// met.
template <class T>
HWY_INLINE T factor_for(T mean_square) {
  if (!(mean_square < static_cast<T>(HUGE_VAL))) return Range<T>::shrink;
  return mean_square < Range<T>::least_square ? Range<T>::grow : T(1);
}

enum class Factor { none, shrink, grow };
template <class T, Factor factor>
struct SquareOf {
  T element;
};
template <class T>
struct Shrunk {
  T element;
};
template <class T, Factor factor>
struct ComputedIn<SquareOf<T, factor>> {
  using Type = Computed<T>;
};
template <class T>
struct ComputedIn<Shrunk<T>> {
  using Type = Computed<T>;
};

template <class T, Factor factor>
HWY_INLINE const Computed<T>* computed(const SquareOf<T, factor>* from, int64_t count, Computed<T>* buffer) {
  using Value = Computed<T>;
  constexpr Value by = factor == Factor::none     ? Value(1)
                       : factor == Factor::shrink ? Range<Value>::shrink
                                                  : Range<Value>::grow;
  const Value* const values = computed(reinterpret_cast<const T*>(from), count, buffer);
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) buffer[i] = (values[i] * by) * (values[i] * by);
  return buffer;
}

template <class T>
HWY_INLINE const Computed<T>* computed(const Shrunk<T>* from, int64_t count, Computed<T>* buffer) {
  const Computed<T>* const values = computed(reinterpret_cast<const T*>(from), count, buffer);
  if constexpr (is_complex<T>) {
    constexpr auto by = Range<typename T::Part>::shrink;
    for (int64_t i = 0; i < count; ++i) buffer[i] = {values[i].real * by, values[i].imaginary * by};
  } else {
#pragma GCC ivdep
    for (int64_t i = 0; i < count; ++i) buffer[i] = values[i] * Range<Computed<T>>::shrink;
  }
  return buffer;
}

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
