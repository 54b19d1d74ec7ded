// Moves the lanes that a mask chooses side by side, for lanes of 32 and 64 bits.
#pragma once

#include "simd.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

#if HWY_ARCH_X86 && HWY_MAX_BYTES < 64

// The numbers of the chosen lanes for each set of lanes, in parts of 32 bits. The tables are not in Highway's function,
// because GCC copies the tables in there to the stack in each call.
template <int lanes, int parts, class Index>
struct ChosenLanes {
  alignas(64) Index numbers[1 << lanes][lanes * parts];
  constexpr ChosenLanes() : numbers() {
    for (int chosen = 0; chosen < 1 << lanes; ++chosen) {
      int count = 0;
      for (int lane = 0; lane < lanes; ++lane)
        if (chosen >> lane & 1)
          for (int part = 0; part < parts; ++part) numbers[chosen][count++] = static_cast<Index>(lane * parts + part);
    }
  }
};
#if HWY_MAX_BYTES == 16
inline constexpr ChosenLanes<4, 1, uint32_t> chosen_of_4;
#else
inline constexpr ChosenLanes<8, 1, uint8_t> chosen_of_8;
inline constexpr ChosenLanes<4, 2, uint32_t> chosen_pairs_of_4;
#endif

#endif

// The lanes whose mask is set, side by side; any lanes follow.
template <class V, class M>
HWY_INLINE V compressed(V v, M mask) {
  using T [[maybe_unused]] = hn::TFromV<V>;
#if HWY_MAX_BYTES == 64
  // Highway also clears the lanes behind, which waits for the register's last value on Zen 4 and 5 (LLVM issue 206849).
  if constexpr (sizeof(T) == 8)
    return V{_mm512_mask_compress_epi64(v.raw, mask.raw, v.raw)};
  else
    return V{_mm512_mask_compress_epi32(v.raw, mask.raw, v.raw)};
#elif HWY_ARCH_X86 && HWY_MAX_BYTES == 32
  const Full<uint32_t> d;
  auto numbers = hn::Zero(d);
  if constexpr (sizeof(T) == 8) {
    const int chosen = _mm256_movemask_pd(_mm256_castsi256_pd(mask.raw));
    numbers = hn::Load(d, chosen_pairs_of_4.numbers[chosen]);
  } else {
    const int chosen = _mm256_movemask_ps(_mm256_castsi256_ps(mask.raw));
    numbers.raw = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(chosen_of_8.numbers[chosen])));
  }
  return V{_mm256_permutevar8x32_epi32(v.raw, numbers.raw)};
#elif HWY_ARCH_X86
  static_assert(sizeof(T) == 4);
  const Full<T> d;
  const int chosen = _mm_movemask_ps(_mm_castsi128_ps(mask.raw));
  return hn::TableLookupLanes(v, hn::SetTableIndices(d, chosen_of_4.numbers[chosen]));
#else
  return hn::Compress(v, mask);
#endif
}

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
