// Conversions between dtypes. A float outside an integer's range gives the nearest integer of the range; NaN gives 0.
#include "../elementwise.h"
#include "../complex.h"
#include "../float8.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

template <class T>
constexpr bool is_floating = false;
template <>
constexpr bool is_floating<float> = true;
template <>
constexpr bool is_floating<double> = true;

template <class T>
constexpr bool is_narrow = is_half<T> || is_float8<T>;
template <class T>
HWY_INLINE T narrowed(float x) {
  if constexpr (is_float8<T>)
    return narrow_float8<T>(x);
  else
    return stored<T>(x);
}

template <class To, class From>
HWY_INLINE To converted(From x) {
  if constexpr (is_complex<From> && is_complex<To>) {
    using Part = typename To::Part;
    return {static_cast<Part>(x.real), static_cast<Part>(x.imaginary)};
  } else if constexpr (is_complex<From>) {  // to bool
    return !(x == From{0, 0});
  } else if constexpr (is_complex<To>) {
    return {converted<typename To::Part>(x), 0};
  } else if constexpr (is_narrow<From>) {
    return converted<To>(widen(x));
  } else if constexpr (is_narrow<To>) {
    float f;
    if constexpr (__is_same(From, float))
      f = x;
    else if constexpr (sizeof(From) >= 4)
      f = round_to_odd(sticky(x));
    else
      f = static_cast<float>(x);
    return narrowed<To>(f);
  } else if constexpr (__is_same(To, bool)) {
    return x != From(0);
  } else if constexpr (is_floating<From> && !is_floating<To>) {
    constexpr To low = To(-1) < To(0) ? static_cast<To>(To(1) << (sizeof(To) * 8 - 1)) : To(0);
    constexpr To high = static_cast<To>(~low);
    // 2^bits is exact in the float type; the largest integer may not be.
    constexpr From limit = static_cast<From>((high >> 1) + 1) * From(2);
    return x != x ? To(0) : x >= limit ? high : x <= static_cast<From>(low) ? low : static_cast<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

template <class To, class From>
void run_cast(const void* const* in, void* out, size_t count, const void*) {
  const From* x = static_cast<const From*>(in[0]);
  To* y = static_cast<To*>(out);
  if constexpr (is_half<From> && __is_same(To, float)) {
    widen_all(x, static_cast<int64_t>(count), y);
    return;
  } else if constexpr (is_half<To> && __is_same(From, float)) {
    narrow_all(x, static_cast<int64_t>(count), y);
    return;
  }
#pragma GCC ivdep
  for (size_t i = 0; i < count; ++i) y[i] = converted<To, From>(x[i]);
}

template <class From, class... To>
constexpr auto casts_from() {
  return elementwise_kernels(ElementwiseKernel{run_cast<To, From>, {dtype_of<From>}, 1, dtype_of<To>}...);
}
#define FERRULE_REALS bool, FERRULE_INTEGERS, float, double, Float16, BFloat16, Float8E4M3, Float8E5M2
template <class... From>
constexpr auto casts_of_reals() {
  return (casts_from<From, FERRULE_REALS, Complex64, Complex128>() + ...);
}
template <class... From>
constexpr auto casts_of_complex() {
  return (casts_from<From, bool, Complex64, Complex128>() + ...);
}

}  // namespace

ELEMENTWISE(astype, (casts_of_reals<FERRULE_REALS>() + casts_of_complex<Complex64, Complex128>()))

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
