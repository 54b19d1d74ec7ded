// Loop nests over strided arrays: merges dimensions where the strides allow, and iterates over the rest.
#pragma once

#include "simd.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// Dimensions of one iteration space, with the strides of one array over it, in elements.
struct Nest {
  int32_t rank = 0;
  int64_t shape[FE_MAX_RANK + 1];
  int64_t strides[FE_MAX_RANK + 1];

  void add(int64_t size, int64_t stride) {
    if (size == 1) return;
    if (rank > 0 && strides[rank - 1] == stride * size) {  // continues the dimension before it
      shape[rank - 1] *= size;
      strides[rank - 1] = stride;
      return;
    }
    shape[rank] = size;
    strides[rank++] = stride;
  }
  int64_t count() const {
    int64_t n = 1;
    for (int32_t i = 0; i < rank; ++i) n *= shape[i];
    return n;
  }
  // Offset of the element with this index in C order.
  int64_t offset(int64_t index) const {
    int64_t at = 0;
    for (int32_t i = rank; i-- > 0;) {
      at += index % shape[i] * strides[i];
      index /= shape[i];
    }
    return at;
  }
  bool contiguous() const { return rank == 0 || (rank == 1 && strides[0] == 1); }
};

// Copies `count` elements of the nest, from index `first` on, to contiguous memory.
template <class T>
void fetch(const Nest& nest, const T* from, int64_t first, int64_t count, T* HWY_RESTRICT to) {
  if (nest.rank == 0) {
    if (count > 0) *to = *from;
    return;
  }
  const int32_t last = nest.rank - 1;
  const int64_t stride = nest.strides[last];
  while (count > 0) {
    const int64_t inner = first % nest.shape[last], run = smaller(count, nest.shape[last] - inner);
    const T* row = from + nest.offset(first);
    if (stride == 1) {
      __builtin_memcpy(to, row, static_cast<size_t>(run) * sizeof(T));
    } else {
      for (int64_t i = 0; i < run; ++i) to[i] = row[i * stride];
    }
    to += run;
    first += run;
    count -= run;
  }
}

// The dimensions of an operand, split into reduced and kept ones.
struct Split {
  Nest kept, reduced;
};
[[maybe_unused]] static Split split(const Operand& x, uint32_t reduced_axes) {
  Split s;
  for (int32_t i = 0; i < x.rank; ++i) ((reduced_axes >> i & 1) ? s.reduced : s.kept).add(x.shape[i], x.strides[i]);
  return s;
}

[[maybe_unused]] static bool is_contiguous(const Operand& x) {
  int64_t expected = 1;
  for (int32_t i = x.rank; i-- > 0;) {
    if (x.shape[i] != 1 && x.strides[i] != expected) return false;
    expected *= x.shape[i];
  }
  return true;
}

[[maybe_unused]] static int64_t count_of(const Operand& x) {
  int64_t n = 1;
  for (int32_t i = 0; i < x.rank; ++i) n *= x.shape[i];
  return n;
}

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
