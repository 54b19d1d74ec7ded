// An array whose slices that a mask chooses are replaced by values, in order.
#include "../strided_copy.h"
#include "chosen_bits.h"

#include <hwy/cache_control.h>

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// Results of this size leave the caches before they are read, so that writing past these saves reading the memory
// first.
constexpr int64_t streamed_bytes = int64_t{32} << 20;

// The bytes of a slice that one element of the mask chooses.
int64_t slice_bytes(const Call& call) {
  int64_t bytes = call.in[0].item_size;
  for (int32_t i = call.in[1].rank; i < call.in[0].rank; ++i) bytes *= call.in[0].shape[i];
  return bytes;
}

// The slices of a chunk: fewer of large ones, so that several threads have work.
int64_t slices_of_chunk(int64_t bytes) { return smaller(chunk, larger(16, 262144 / larger(1, bytes))); }

uint64_t mask_places_size(const Call& call) {
  const int64_t chunks = ceil_div(count_of(call.in[1]), slices_of_chunk(slice_bytes(call)));
  return static_cast<uint64_t>(chunks + 1) * sizeof(int64_t);
}

// Copies 64 items to memory that begins at a multiple of a vector's size, past the caches.
template <class T>
HWY_INLINE void stream_items(const T* from, T* to) {
  const Full<uint8_t> d;
  const auto* const bytes = reinterpret_cast<const uint8_t*>(from);
  for (size_t i = 0; i < 64 * sizeof(T); i += HWY_MAX_BYTES)
    hn::Stream(hn::LoadU(d, bytes + i), d, reinterpret_cast<uint8_t*>(to) + i);
}

// The vector with the next items of `values` in the lanes that are chosen.
#if HWY_MAX_BYTES == 64
template <class T>
HWY_INLINE auto replaced_lanes(hn::Vec<Full<T>> v, uint64_t chosen, const T* values) {
  const uint64_t first = (uint64_t{1} << hwy::PopCount(chosen)) - 1;  // no value behind these is read
  using V = hn::Vec<Full<T>>;
  if constexpr (sizeof(T) == 4) {
    const auto next = _mm512_maskz_loadu_epi32(static_cast<__mmask16>(first), values);
    return V{_mm512_mask_expand_epi32(v.raw, static_cast<__mmask16>(chosen), next)};
  } else {
    const auto next = _mm512_maskz_loadu_epi64(static_cast<__mmask8>(first), values);
    return V{_mm512_mask_expand_epi64(v.raw, static_cast<__mmask8>(chosen), next)};
  }
}
#endif

// Replaces those of 64 items whose bits are set by values; `to` may be `from`, unless it is streamed to.
template <bool streams, class T>
HWY_INLINE void replace_64(const T* from, uint64_t bits, T* to, const T* values) {
#if HWY_MAX_BYTES == 64
  if constexpr (sizeof(T) == 4 || sizeof(T) == 8) {
    const Full<T> d;
    constexpr size_t lanes = lanes_of<T>;
    for (size_t k = 0; k < 64; k += lanes) {
      const uint64_t chosen = bits >> k & ((uint64_t{1} << lanes) - 1);
      const auto v = replaced_lanes<T>(hn::LoadU(d, from + k), chosen, values);
      if constexpr (streams)
        hn::Stream(v, d, to + k);
      else if (to == from)  // does not write to memory whose items stay
        hn::BlendedStore(v, hn::LoadMaskBits(d, reinterpret_cast<const uint8_t*>(&chosen)), d, to + k);
      else
        hn::StoreU(v, d, to + k);
      values += hwy::PopCount(chosen);
    }
    return;
  }
#endif
  alignas(64) T merged[64];
  T* const target = streams ? merged : to;
  if (target != from) __builtin_memcpy(target, from, sizeof merged);
  if (hwy::PopCount(bits) > 44) {  // few, long runs
    for_each_run(bits, [&](int64_t first, int64_t run) {
      for (int64_t k = 0; k < run; ++k) target[first + k] = values[k];
      values += run;
    });
  } else {
    for (; bits != 0; bits &= bits - 1) target[__builtin_ctzll(bits)] = *values++;
  }
  if constexpr (streams) stream_items(merged, to);
}

// to[i] = the next one of `values` where the condition holds, else from[i]. There are `room` values; behind them
// from[i] stays.
template <bool streams, class T>
void replace_items(const T* from, const uint8_t* condition, int64_t count, T* to, const T* values, int64_t room) {
  int64_t at = 0;
  for (int64_t i = 0; i < count; i += 64) {
    const int64_t many = smaller(64, count - i);
    uint64_t bits = bits_of(condition + i, many);
    const int64_t found = hwy::PopCount(bits);
    if (many < 64 || at + found > room) {
      for (int64_t k = i; to != from && k < i + many; ++k) to[k] = from[k];
      for (; bits != 0 && at < room; bits &= bits - 1) to[i + __builtin_ctzll(bits)] = values[at++];
      continue;
    }
    if (found != 0 && found != 64) {
      replace_64<streams>(from + i, bits, to + i, values + at);
    } else if (const T* const source = found == 0 ? from + i : values + at; source != to + i) {
      if constexpr (streams)
        stream_items(source, to + i);
      else
        __builtin_memcpy(to + i, source, 64 * sizeof(T));
    }
    at += found;
  }
  if constexpr (streams) hwy::FlushStream();
}

// Like replace_items, for slices of `row` bytes.
void replace_rows(const char* from, const uint8_t* condition, int64_t count, int64_t row, char* to, const char* values,
                  int64_t room) {
  const auto bytes = static_cast<size_t>(row);
  for (int64_t i = 0, at = 0; i < count; ++i) {
    if (condition[i] != 0 && at < room)
      memcpy(to + i * row, values + at++ * row, bytes);
    else if (to != from)
      memcpy(to + i * row, from + i * row, bytes);
  }
}

bool accepts_masked_scatter(const Call& call) {
  const Operand &x = call.in[0], &mask = call.in[1], &values = call.in[2], &out = call.out[0];
  if (mask.dtype != DType::boolean || mask.rank < 1 || mask.rank > x.rank) return false;
  if (values.dtype != x.dtype || out.dtype != x.dtype) return false;
  if (values.rank != x.rank - mask.rank + 1 || out.rank != x.rank) return false;
  for (int32_t k = 0; k < x.rank; ++k)
    if (out.shape[k] != x.shape[k] || (k < mask.rank && mask.shape[k] != x.shape[k])) return false;
  for (int32_t k = 1; k < values.rank; ++k)
    if (values.shape[k] != x.shape[mask.rank + k - 1]) return false;
  return true;
}

}  // namespace

// Works in the memory of x if the core gave it to the output.
KERNEL(masked_scatter, .layouts = {FE_LAYOUT_CONTIGUOUS, FE_LAYOUT_CONTIGUOUS, FE_LAYOUT_CONTIGUOUS},
       .accepts = accepts_masked_scatter, .scratch_size = mask_places_size) {
  const Operand &x = call.in[0], &values = call.in[2], &out = call.out[0];
  const auto* const mask = reinterpret_cast<const uint8_t*>(call.in[1].data);
  const int64_t length = count_of(call.in[1]), given = values.shape[0], row = slice_bytes(call),
                size = slices_of_chunk(row);
  const int64_t chunks = ceil_div(length, size);
  int64_t* const places = reinterpret_cast<int64_t*>(call.scratch);
  if (fe_error* error = count_chunks(call, mask, length, size, places)) return error;
  if (places[chunks] != given) {
    char message[160];
    snprintf(message, sizeof message, "masked_scatter: the mask chooses %lld slices, and there are %lld values",
             static_cast<long long>(places[chunks]), static_cast<long long>(given));
    return call.host->error_create(FE_INVALID_ARGUMENT, message);
  }
  if (row == 0) return nullptr;
  const bool streams = out.data != x.data && length * row >= streamed_bytes &&
                       reinterpret_cast<uintptr_t>(out.data) % HWY_MAX_BYTES == 0;
  return parallel(call, chunks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i * size, many = smaller(size, length - first), room = places[i + 1] - places[i];
      const char* const from = x.data + first * row;
      char* const to = out.data + first * row;
      const char* const source = values.data + places[i] * row;
      if (row == x.item_size)
        with_item(x.item_size, [&](auto zero) {
          using T = decltype(zero);
          const auto replace = streams ? replace_items<true, T> : replace_items<false, T>;
          replace(reinterpret_cast<const T*>(from), mask + first, many, reinterpret_cast<T*>(to),
                  reinterpret_cast<const T*>(source), room);
        });
      else
        replace_rows(from, mask + first, many, row, to, source, room);
    }
  });
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
