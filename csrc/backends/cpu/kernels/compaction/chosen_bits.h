// Counts and bits of masks, for the ops that keep or replace some of the elements. The ops count first, so that each
// thread knows where to write. The owner of borrowed memory may write to it meanwhile: the second pass never writes
// outside the range that the first one counted.
#pragma once

#include "../simd.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

constexpr int64_t chunk = 16384;

// Number of bytes that are not zero.
inline int64_t count_nonzero_bytes(const uint8_t* data, int64_t size) {
  const hn::ScalableTag<uint8_t> d;
  const hn::Repartition<uint64_t, decltype(d)> d64;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto sums = hn::Zero(d64);
  const auto one = hn::Set(d, uint8_t{1});
  int64_t i = 0;
  for (; i + lanes <= size; i += lanes) sums = hn::Add(sums, hn::SumsOf8(hn::Min(hn::LoadU(d, data + i), one)));
  auto count = static_cast<int64_t>(hn::GetLane(hn::SumOfLanes(d64, sums)));
  for (; i < size; ++i) count += data[i] != 0;
  return count;
}

// Writes the number of bytes before each chunk of `size` that are not zero to `places`, and their total behind the
// last.
inline fe_error* count_chunks(const Call& call, const uint8_t* condition, int64_t length, int64_t size,
                              int64_t* places) {
  const int64_t chunks = ceil_div(length, size);
  fe_error* error = parallel(call, chunks, larger(1, 65536 / size), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      places[i + 1] = count_nonzero_bytes(condition + i * size, smaller(size, length - i * size));
  });
  places[0] = 0;
  for (int64_t i = 0; i < chunks; ++i) places[i + 1] += places[i];
  return error;
}

// Whether the last output is the number of elements that are kept.
inline bool has_count(const Call& call) {
  return call.out_count == 2 && call.out[1].dtype == DType::i64 && call.out[1].rank == 0;
}

// Bit i is set if byte i of 64 is not zero.
HWY_INLINE uint64_t bits_of(const uint8_t* condition) {
  uint64_t bits = 0;
#if HWY_MAX_BYTES == 64
  const Full<uint8_t> d;
  hn::StoreMaskBits(d, hn::Ne(hn::LoadU(d, condition), hn::Zero(d)), reinterpret_cast<uint8_t*>(&bits));
#else
  constexpr uint64_t low = 0x7f7f7f7f7f7f7f7f, ones = 0x0101010101010101, gather = 0x0102040810204080;
  for (int i = 0; i < 8; ++i) {
    uint64_t eight;
    __builtin_memcpy(&eight, condition + i * 8, sizeof eight);
    const uint64_t flags = ((((eight & low) + low) | eight) >> 7) & ones;
    bits |= (flags * gather >> 56) << (i * 8);
  }
#endif
  return bits;
}

HWY_INLINE uint64_t bits_of(const uint8_t* condition, int64_t count) {
  if (count >= 64) return bits_of(condition);
  uint64_t bits = 0;
  for (int64_t i = 0; i < count; ++i) bits |= static_cast<uint64_t>(condition[i] != 0) << i;
  return bits;
}

// Calls f(first, count) for each run of set bits; not all 64 are set.
template <class F>
HWY_INLINE void for_each_run(uint64_t bits, F f) {
  while (bits != 0) {
    const int first = __builtin_ctzll(bits), count = __builtin_ctzll(~(bits >> first));
    f(static_cast<int64_t>(first), static_cast<int64_t>(count));
    bits &= ~(((uint64_t{1} << count) - 1) << first);
  }
}

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
