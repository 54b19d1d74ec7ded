// Bits of bytes and words that are scattered over bytes, and gathered from them.
#pragma once

#include "../../simd.h"

#if defined(__BMI2__)
#include <immintrin.h>
#endif

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// The low bits of `bits`, moved to the places of the set bits of `mask`.
HWY_INLINE uint64_t scatter_bits(uint64_t bits, uint64_t mask) {
#if defined(__BMI2__)
  return _pdep_u64(bits, mask);
#else
  uint64_t found = 0;
  for (; mask != 0; mask &= mask - 1, bits >>= 1)
    if ((bits & 1) != 0) found |= mask & -mask;
  return found;
#endif
}
constexpr uint64_t each_byte = 0x0101010101010101;

HWY_INLINE uint64_t eight_bytes(const uint8_t* from) {
  uint64_t word;
  __builtin_memcpy(&word, from, 8);
  return word;
}
HWY_INLINE void put_eight_bytes(uint64_t word, uint8_t* to) { __builtin_memcpy(to, &word, 8); }

// Sixteen bytes, of which the bits `mask` from `shift` on are taken.
using Bytes = hn::Vec128<uint8_t>;
HWY_INLINE Bytes load_bytes(const uint8_t* from) { return hn::LoadU(hn::Full128<uint8_t>(), from); }
HWY_INLINE Bytes bits_of(Bytes bytes, int shift, uint8_t mask) {
  const hn::Full128<uint8_t> d;
  const auto words = hn::ShiftRightSame(hn::BitCast(hn::Full128<uint16_t>(), bytes), shift);
  return hn::And(hn::BitCast(d, words), hn::Set(d, mask));
}
// Bytes that are less than 16, in higher places.
template <int places>
HWY_INLINE Bytes raised(Bytes bytes) {
  return hn::BitCast(hn::Full128<uint8_t>(), hn::ShiftLeft<places>(hn::BitCast(hn::Full128<uint16_t>(), bytes)));
}
HWY_INLINE void store_bytes(Bytes bytes, uint8_t* to) { hn::StoreU(bytes, hn::Full128<uint8_t>(), to); }

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
