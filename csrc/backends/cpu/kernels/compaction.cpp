// Ops that keep, or replace, some of the elements. They count first, so that each thread knows where to write. The
// owner of borrowed memory may write to it meanwhile: the second pass never writes outside the range that the first one
// counted.
#include "op_attributes.h"
#include "element_types.h"
#include "strided_copy.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

constexpr int64_t chunk = 16384;

struct Float8 {  // of both float8 dtypes
  uint8_t bits;
};
template <class Float>
struct Complex {
  Float real, imaginary;
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
  if (dtype == DType::f8e4m3 || dtype == DType::f8e5m2)
    f(Float8{});
  else if (dtype == DType::c64)
    f(Complex<float>{});
  else if (dtype == DType::c128)
    f(Complex<double>{});
  else
    with_type(dtype, f);
}

// Writes the index of an element along each axis.
void write_indices(const Operand& x, int64_t element, int64_t* to) {
  for (int32_t axis = x.rank; axis-- > 0;) {
    to[axis] = element % x.shape[axis];
    element /= x.shape[axis];
  }
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
      int64_t found = 0;
      for (int64_t k = i * chunk; k < smaller(total, (i + 1) * chunk); ++k) found += is_nonzero(data[k]);
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

// The bytes of a slice along the first axis.
int64_t slice_bytes(const Operand& x) {
  int64_t bytes = x.item_size;
  for (int32_t i = 1; i < x.rank; ++i) bytes *= x.shape[i];
  return bytes;
}

// The slices of a chunk: fewer of large ones, so that several threads have work.
int64_t slices_of_chunk(int64_t bytes) { return smaller(chunk, larger(16, 262144 / larger(1, bytes))); }

uint64_t mask_places_size(const Call& call) {
  const int64_t chunks = ceil_div(call.in[1].shape[0], slices_of_chunk(slice_bytes(call.in[0])));
  return static_cast<uint64_t>(chunks + 1) * sizeof(int64_t);
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

// A mask of lanes of T from as many bytes.
template <class D>
HWY_INLINE auto lanes_chosen(D d, const uint8_t* condition) {
  using T = hn::TFromD<D>;
  const hn::Rebind<uint8_t, D> bytes;
  if constexpr (sizeof(T) == 8) {
    const hn::Rebind<uint32_t, D> halves;
    return hn::Ne(hn::PromoteTo(d, hn::PromoteTo(halves, hn::LoadU(bytes, condition))), hn::Zero(d));
  } else {
    return hn::Ne(hn::PromoteTo(d, hn::LoadU(bytes, condition)), hn::Zero(d));
  }
}

template <class T>
constexpr bool has_lanes = sizeof(T) == 4 || sizeof(T) == 8;

// Copies the items of `from` where the condition holds to [to, to + room), and returns how many there are; no more than
// `room`.
template <class T>
int64_t keep_items(const T* from, const uint8_t* condition, int64_t count, T* to, int64_t room) {
  int64_t i = 0, at = 0;
  if constexpr (has_lanes<T>) {
    const hn::ScalableTag<T> d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    for (; i + lanes <= count; i += lanes) {
      const auto chosen = lanes_chosen(d, condition + i);
      const auto found = static_cast<int64_t>(hn::CountTrue(d, chosen));
      const auto items = hn::LoadU(d, from + i);
      if (at + lanes <= room)
        hn::StoreU(hn::Compress(items, chosen), d, to + at);
      else if (at + found <= room)
        hn::CompressBlendedStore(items, chosen, d, to + at);
      else
        break;
      at += found;
    }
  }
  for (; i < count && at < room; ++i) {
    to[at] = from[i];
    at += condition[i] != 0;
  }
  return at;
}

// to[i] = the next one of `values` where the condition holds, else from[i]. There are `room` values; behind them
// from[i] stays.
template <class T>
void replace_items(const T* from, const uint8_t* condition, int64_t count, T* to, const T* values, int64_t room) {
  int64_t i = 0, at = 0;
  // Without branches, which a random mask would make slow. It reads the next value whether it is needed or not.
  for (; i < count && at < room; ++i) {
    to[i] = condition[i] != 0 ? values[at] : from[i];
    at += condition[i] != 0;
  }
  if (to != from) memcpy(to + i, from + i, static_cast<size_t>(count - i) * sizeof(T));
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
  if (mask.dtype != DType::boolean || mask.rank != 1 || x.rank < 1 || mask.shape[0] != x.shape[0]) return false;
  if (values.dtype != x.dtype || out.dtype != x.dtype || values.rank != x.rank || out.rank != x.rank) return false;
  for (int32_t k = 0; k < x.rank; ++k)
    if (out.shape[k] != x.shape[k] || (k > 0 && values.shape[k] != x.shape[k])) return false;
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
  const int64_t length = x.shape[0], given = values.shape[0], row = slice_bytes(x), size = slices_of_chunk(row);
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
  return parallel(call, chunks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i * size, many = smaller(size, length - first), room = places[i + 1] - places[i];
      const char* const from = x.data + first * row;
      char* const to = out.data + first * row;
      const char* const source = values.data + places[i] * row;
      if (row == x.item_size)
        with_item(x.item_size, [&](auto zero) {
          using T = decltype(zero);
          replace_items(reinterpret_cast<const T*>(from), mask + first, many, reinterpret_cast<T*>(to),
                        reinterpret_cast<const T*>(source), room);
        });
      else
        replace_rows(from, mask + first, many, row, to, source, room);
    }
  });
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
