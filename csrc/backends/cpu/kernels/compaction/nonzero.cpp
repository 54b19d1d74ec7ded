// The indices of elements that are not zero.
#include "../complex.h"
#include "../element_types.h"
#include "../strided_loops.h"
#include "chosen_bits.h"

#include <type_traits>

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

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

// Like with_type, for all dtypes that are not block dtypes.
template <class F>
void with_plain_type(DType dtype, F f) {
  if (dtype == DType::f8_e4m3fn || dtype == DType::f8_e5m2) f(Float8{});
  with_complex_type(dtype, f);
  with_type(dtype, f);
}

// Writes the indices of elements along each axis, in ascending order of the elements.
class IndexWriter {
 public:
  explicit IndexWriter(const Operand& x) : x_(x), last_(x.rank - 1) {}

  HWY_INLINE void write(int64_t element, int64_t* to) {
    if (last_ == 0) {
      *to = element;
      return;
    }
    if (element >= row_end_) find_row(element);
    for (int32_t axis = 0; axis < last_; ++axis) to[axis] = row_[axis];
    to[last_] = element - row_begin_;
  }

 private:
  void find_row(int64_t element) {
    const int64_t length = x_.shape[last_];
    int64_t row = element / length;
    row_begin_ = row * length;
    row_end_ = row_begin_ + length;
    for (int32_t axis = last_; axis-- > 0;) {
      row_[axis] = row % x_.shape[axis];
      row /= x_.shape[axis];
    }
  }

  const Operand& x_;
  const int32_t last_;
  int64_t row_[FE_MAX_RANK] = {}, row_begin_ = 0, row_end_ = 0;
};

// Bit i is set if element i of at most 64 is not zero.
template <class T>
HWY_INLINE uint64_t bits_of_nonzero(const T* data, int64_t count) {
  uint8_t flags[64];
  for (int64_t i = 0; i < count; ++i) flags[i] = is_nonzero(data[i]);
  return bits_of(flags, count);
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
    IndexWriter writer(x);
    for (int64_t i = begin; i < end; ++i) {
      int64_t at = places[i];
      const int64_t stop = smaller(size, places[i + 1]), last = smaller(total, (i + 1) * chunk);
      for (int64_t k = i * chunk; at < stop && k < last; k += 64)
        for (uint64_t bits = bits_of_nonzero(data + k, smaller(64, last - k)); bits != 0 && at < stop; bits &= bits - 1)
          writer.write(k + __builtin_ctzll(bits), to + at++ * rank);
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

bool accepts_nonzero(const Call& call) {
  const Operand& indices = call.out[0];
  return has_count(call) && indices.dtype == DType::i64 && indices.rank == 2 && indices.shape[1] == call.in[0].rank;
}

}  // namespace

KERNEL(nonzero, .layouts = {FE_LAYOUT_CONTIGUOUS}, .accepts = accepts_nonzero, .scratch_size = places_size) {
  fe_error* error = nullptr;
  with_plain_type(call.in[0].dtype, [&](auto zero) { error = nonzero<decltype(zero)>(call); });
  return error;
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
