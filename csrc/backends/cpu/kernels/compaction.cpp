// Ops that keep some of the elements. They count first, so that each thread knows where to write. The owner of borrowed
// memory may write to it meanwhile: the second pass never writes outside the range that the first one counted.
#include "op_attributes.h"
#include "element_types.h"
#include "strided_loops.h"

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

uint64_t kept_size(const Call& call) { return static_cast<uint64_t>(call.in[1].shape[0]) * sizeof(int64_t); }

}  // namespace

KERNEL(nonzero, .layouts = {FE_LAYOUT_CONTIGUOUS}, .accepts = accepts_nonzero, .scratch_size = places_size) {
  fe_error* error = nullptr;
  with_plain_type(call.in[0].dtype, [&](auto zero) { error = nonzero<decltype(zero)>(call); });
  return error;
}

KERNEL(compress, .layouts = {FE_LAYOUT_CONTIGUOUS, FE_LAYOUT_CONTIGUOUS}, .accepts = accepts_compress,
       .scratch_size = kept_size) {
  const Slices slices(call);
  const auto* const condition = reinterpret_cast<const uint8_t*>(call.in[1].data);
  int64_t* const kept = reinterpret_cast<int64_t*>(call.scratch);
  int64_t count = 0;
  for (int64_t i = 0; i < slices.length; ++i) {
    kept[count] = i;
    count += condition[i] != 0;
  }
  *reinterpret_cast<int64_t*>(call.out[1].data) = count;
  const auto row = static_cast<size_t>(slices.inner * call.in[0].item_size);
  if (row == 0) return nullptr;
  return parallel(
      call, slices.outer * slices.size, larger(1, 32768 / static_cast<int64_t>(row)), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t outer = i / slices.size, place = i % slices.size;
          char* const to = call.out[0].data + i * static_cast<int64_t>(row);
          if (place >= count)
            memset(to, 0, row);
          else
            memcpy(to, call.in[0].data + (outer * slices.length + kept[place]) * static_cast<int64_t>(row), row);
        }
      });
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
