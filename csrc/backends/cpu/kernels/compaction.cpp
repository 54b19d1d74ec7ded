// Ops that keep, or replace, some of the elements. They count first, so that each thread knows where to write. The
// owner of borrowed memory may write to it meanwhile: the second pass never writes outside the range that the first one
// counted.
#include "complex.h"
#include "compressed.h"
#include "op_attributes.h"
#include "element_types.h"
#include "strided_copy.h"

#include <hwy/cache_control.h>

#include <type_traits>

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

constexpr int64_t chunk = 16384;
// Results of this size leave the caches before they are read, so that writing past these saves reading the memory
// first.
constexpr int64_t streamed_bytes = int64_t{32} << 20;

struct Float8 {  // of both float8 dtypes
  uint8_t bits;
};

template <class T>
HWY_INLINE bool is_nonzero(T x) {
  return x != T(0);
}
HWY_INLINE bool is_nonzero(Float16 x) { return (x.bits & 0x7fffu) != 0; }
HWY_INLINE bool is_nonzero(BFloat16 x) { return (x.bits & 0x7fffu) != 0; }
HWY_INLINE bool is_nonzero(Float8 x) { return (x.bits & 0x7fu) != 0; }
template <class Float>
HWY_INLINE bool is_nonzero(Complex<Float> x) {
  return x.real != 0 || x.imaginary != 0;
}

// As with_type, for all dtypes that are not block dtypes.
template <class F>
void with_plain_type(DType dtype, F f) {
  if (dtype == DType::f8e4m3 || dtype == DType::f8e5m2) f(Float8{});
  with_complex_type(dtype, f);
  with_type(dtype, f);
}

// Writes the index of an element along each axis.
void write_indices(const Operand& x, int64_t element, int64_t* to) {
  for (int32_t axis = x.rank; axis-- > 0;) {
    to[axis] = element % x.shape[axis];
    element /= x.shape[axis];
  }
}

// How many bytes are not zero.
int64_t count_nonzero_bytes(const uint8_t* data, int64_t size) {
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

template <class T>
fe_error* nonzero(const Call& call) {
  const Operand &x = call.in[0], &indices = call.out[0];
  const T* data = reinterpret_cast<const T*>(x.data);
  const int64_t total = count_of(x), chunks = ceil_div(total, chunk), size = indices.shape[0], rank = x.rank;
  // places[chunk] is the position of the chunk's first index in the output; the last entry is the total number.
  int64_t* const places = reinterpret_cast<int64_t*>(call.scratch);
  fe_error* error = parallel(call, chunks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i * chunk, last = smaller(total, first + chunk);
      int64_t found = 0;
      if constexpr (sizeof(T) == 1 && !std::is_same_v<T, Float8>)
        found = count_nonzero_bytes(reinterpret_cast<const uint8_t*>(data) + first, last - first);
      else
        for (int64_t k = first; k < last; ++k) found += is_nonzero(data[k]);
      places[i + 1] = found;
    }
  });
  if (error != nullptr) return error;
  places[0] = 0;
  for (int64_t i = 0; i < chunks; ++i) places[i + 1] += places[i];
  int64_t* const to = reinterpret_cast<int64_t*>(indices.data);
  error = parallel(call, chunks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t at = places[i];
      const int64_t stop = smaller(size, places[i + 1]);
      for (int64_t k = i * chunk; at < stop && k < smaller(total, (i + 1) * chunk); ++k)
        if (is_nonzero(data[k])) write_indices(x, k, to + at++ * rank);
      if (at < stop) memset(to + at * rank, 0, static_cast<size_t>((stop - at) * rank) * sizeof(int64_t));
    }
  });
  const int64_t count = places[chunks];
  if (count < size) memset(to + count * rank, 0, static_cast<size_t>((size - count) * rank) * sizeof(int64_t));
  *reinterpret_cast<int64_t*>(call.out[1].data) = count;
  return error;
}

uint64_t places_size(const Call& call) {
  return static_cast<uint64_t>(ceil_div(count_of(call.in[0]), chunk) + 1) * sizeof(int64_t);
}

bool has_count(const Call& call) {
  return call.out_count == 2 && call.out[1].dtype == DType::i64 && call.out[1].rank == 0;
}

bool accepts_nonzero(const Call& call) {
  const Operand& indices = call.out[0];
  return has_count(call) && indices.dtype == DType::i64 && indices.rank == 2 && indices.shape[1] == call.in[0].rank;
}

// x as [outer][axis][inner]. A list of positions along the axis names the slices that are kept.
struct Slices {
  int64_t axis, outer = 1, length, inner = 1, size;
  explicit Slices(const Call& call) {
    const Operand& x = call.in[0];
    axis = attributes_of<fe_compress_attributes>(call).axis;
    length = x.shape[axis];
    size = call.out[0].shape[axis];
    for (int32_t i = 0; i < axis; ++i) outer *= x.shape[i];
    for (int32_t i = static_cast<int32_t>(axis) + 1; i < x.rank; ++i) inner *= x.shape[i];
  }
};

bool accepts_compress(const Call& call) {
  const Operand &x = call.in[0], &condition = call.in[1], &out = call.out[0];
  const int64_t kept = attributes_of<fe_compress_attributes>(call).axis;
  if (!has_count(call) || out.dtype != x.dtype || condition.dtype != DType::boolean) return false;
  if (condition.rank != 1 || condition.shape[0] != x.shape[kept] || out.rank != x.rank) return false;
  for (int32_t axis = 0; axis < x.rank; ++axis)
    if (axis != kept && out.shape[axis] != x.shape[axis]) return false;
  return true;
}

// The positions along the axis that are kept, and the position of the first one of each chunk among them.
struct KeptScratch {
  int64_t* places;
  int64_t* kept;
  KeptScratch(char* memory, int64_t length) {
    Scratch scratch(memory);
    places = scratch.array<int64_t>(ceil_div(length, chunk) + 1);
    kept = scratch.array<int64_t>(length);
  }
  static uint64_t size(int64_t length) {
    Scratch scratch(nullptr);
    scratch.array<int64_t>(ceil_div(length, chunk) + 1);
    scratch.array<int64_t>(length);
    return scratch.bytes();
  }
};

uint64_t kept_size(const Call& call) { return KeptScratch::size(call.in[1].shape[0]); }

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

// Writes the number of bytes before each chunk of `size` that are not zero to `places`, and their total behind the
// last.
fe_error* count_chunks(const Call& call, const uint8_t* condition, int64_t length, int64_t size, int64_t* places) {
  const int64_t chunks = ceil_div(length, size);
  fe_error* error = parallel(call, chunks, larger(1, 65536 / size), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      places[i + 1] = count_nonzero_bytes(condition + i * size, smaller(size, length - i * size));
  });
  places[0] = 0;
  for (int64_t i = 0; i < chunks; ++i) places[i + 1] += places[i];
  return error;
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

// Copies the items of `from` where the condition holds to [to, to + room), and returns how many there are; no more than
// `room`.
template <class T>
int64_t keep_items(const T* from, const uint8_t* condition, int64_t count, T* to, int64_t room) {
  int64_t at = 0;
  for (int64_t i = 0; i < count; i += 64) {
    uint64_t bits = bits_of(condition + i, count - i);
    const int64_t found = hwy::PopCount(bits);
    if (found == 64 && at + 64 <= room) {
      __builtin_memcpy(to + at, from + i, 64 * sizeof(T));
      at += 64;
      continue;
    }
    if constexpr (sizeof(T) == 4) {                           // for other sizes, Highway looks the order up in tables
      if (found > 8 && count - i >= 64 && at + 64 <= room) {  // a vector is written even if fewer items are kept
        const hn::ScalableTag<T> d;
        const auto lanes = static_cast<int64_t>(hn::Lanes(d));
        for (int64_t k = 0; k < 64; k += lanes) {
          const uint64_t part = bits >> k;
          const auto chosen = hn::LoadMaskBits(d, reinterpret_cast<const uint8_t*>(&part));
          hn::StoreU(compressed(hn::LoadU(d, from + i + k), chosen), d, to + at);
          at += static_cast<int64_t>(hn::CountTrue(d, chosen));
        }
        continue;
      }
    }
    if (found > 44 && at + found <= room) {  // few, long runs
      for_each_run(bits, [&](int64_t first, int64_t many) {
        memcpy(to + at, from + i + first, static_cast<size_t>(many) * sizeof(T));
        at += many;
      });
      continue;
    }
    for (; bits != 0 && at < room; bits &= bits - 1) to[at++] = from[i + __builtin_ctzll(bits)];
  }
  return at;
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

// As replace_items, for slices of `row` bytes.
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

// The kept items of one row of small items: each chunk knows where its items begin.
fe_error* compress_items(const Call& call, const uint8_t* condition, int64_t length, int64_t size,
                         const int64_t* places) {
  const int64_t chunks = ceil_div(length, chunk);
  const Operand &x = call.in[0], &out = call.out[0];
  return parallel(call, chunks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = smaller(places[i], size), room = smaller(places[i + 1], size) - first;
      with_item(x.item_size, [&](auto zero) {
        using T = decltype(zero);
        T* const to = reinterpret_cast<T*>(out.data) + first;
        const int64_t found = keep_items(reinterpret_cast<const T*>(x.data) + i * chunk, condition + i * chunk,
                                         smaller(chunk, length - i * chunk), to, room);
        memset(to + found, 0, static_cast<size_t>(room - found) * sizeof(T));
      });
    }
  });
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

KERNEL(nonzero, .layouts = {FE_LAYOUT_CONTIGUOUS}, .accepts = accepts_nonzero, .scratch_size = places_size) {
  fe_error* error = nullptr;
  with_plain_type(call.in[0].dtype, [&](auto zero) { error = nonzero<decltype(zero)>(call); });
  return error;
}

KERNEL(compress, .layouts = {FE_LAYOUT_CONTIGUOUS, FE_LAYOUT_CONTIGUOUS}, .accepts = accepts_compress,
       .scratch_size = kept_size) {
  const Slices slices(call);
  const Operand& x = call.in[0];
  const auto* const condition = reinterpret_cast<const uint8_t*>(call.in[1].data);
  const KeptScratch scratch(call.scratch, slices.length);
  if (fe_error* error = count_chunks(call, condition, slices.length, chunk, scratch.places)) return error;
  const int64_t chunks = ceil_div(slices.length, chunk), count = scratch.places[chunks];
  const int64_t written = smaller(count, slices.size);
  *reinterpret_cast<int64_t*>(call.out[1].data) = count;
  const int64_t row = slices.inner * x.item_size;
  if (row == 0) return nullptr;
  if (slices.outer == 1 && slices.inner == 1) {
    if (attributes_of<fe_compress_attributes>(call).size != -1)  // else the rest is cut off
      memset(call.out[0].data + written * row, 0, static_cast<size_t>((slices.size - written) * row));
    return compress_items(call, condition, slices.length, slices.size, scratch.places);
  }
  int64_t* const kept = scratch.kept;
  fe_error* error = parallel(call, chunks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t at = scratch.places[i];
      const int64_t stop = scratch.places[i + 1];
      for (int64_t k = i * chunk; at < stop && k < smaller(slices.length, (i + 1) * chunk); ++k) {
        kept[at] = k;
        at += condition[k] != 0;
      }
      while (at < stop) kept[at++] = 0;
    }
  });
  if (error != nullptr) return error;
  return parallel(call, slices.outer * slices.size, larger(1, 32768 / row), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t outer = i / slices.size, place = i % slices.size;
      char* const to = call.out[0].data + i * row;
      if (place >= count)
        memset(to, 0, static_cast<size_t>(row));
      else
        memcpy(to, x.data + (outer * slices.length + kept[place]) * row, static_cast<size_t>(row));
    }
  });
}

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
