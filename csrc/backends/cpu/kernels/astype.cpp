// Conversions between dtypes. A float outside of an integer's range gives the nearest integer of the range, NaN gives
// 0.
#include "blocks.h"
#include "half.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

template <class T>
constexpr bool is_floating = false;
template <>
constexpr bool is_floating<float> = true;
template <>
constexpr bool is_floating<double> = true;

template <class To, class From>
HWY_INLINE To converted(From x) {
  if constexpr (is_half<From>) {
    return converted<To>(widen(x));
  } else if constexpr (is_half<To>) {
    float f;
    if constexpr (__is_same(From, float))
      f = x;
    else if constexpr (sizeof(From) >= 4)
      f = round_to_odd(sticky(x));
    else
      f = static_cast<float>(x);
    return stored<To>(f);
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
  return blocks(Block{run_cast<To, From>, {dtype_of<From>}, 1, dtype_of<To>}...);
}
template <class... From>
constexpr auto all_casts() {
  return (casts_from<From, bool, FERRULE_INTEGERS, float, double, Float16, BFloat16>() + ...);
}

}  // namespace

ELEMENTWISE(astype, (all_casts<bool, FERRULE_INTEGERS, float, double, Float16, BFloat16>()))

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
