// Block dtypes in the layout of GGUF files: the blocks, and loops over the blocks of an operand.
#pragma once

#include "half.h"
#include "strided_loops.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

struct BlockQ8_0 {
  static constexpr int64_t elements = 32;
  Float16 scale;
  int8_t numbers[32];
};
// The lower halves of the bytes are the first 16 elements.
struct BlockQ4_0 {
  static constexpr int64_t elements = 32;
  Float16 scale;
  uint8_t numbers[16];
};
// Eight parts of 32 elements, each with a scale and a minimum of 6 bits.
struct BlockQ4K {
  static constexpr int64_t elements = 256;
  Float16 scale, least;
  uint8_t parts[12];
  uint8_t numbers[128];
};
// Sixteen parts of 16 elements, each with a scale.
struct BlockQ6K {
  static constexpr int64_t elements = 256;
  uint8_t low[128];  // 4 bits of each element
  uint8_t high[64];  // 2 bits of each
  int8_t parts[16];
  Float16 scale;
};
static_assert(sizeof(BlockQ8_0) == 34 && sizeof(BlockQ4_0) == 18 && sizeof(BlockQ4K) == 144 && sizeof(BlockQ6K) == 210,
              "they lie in files");

// The starts of the rows of an operand. A row is the last axis, whose elements are contiguous.
[[maybe_unused]] static Nest rows_of(const Operand& x) {
  Nest rows;
  for (int32_t axis = 0; axis + 1 < x.rank; ++axis) rows.add(x.shape[axis], x.strides[axis]);
  return rows;
}

// Calls `work(element, block)` for each block of the operand. `block` numbers the blocks of `elements` elements in C
// order; `element` is the offset of its first element from the operand's first.
template <class Work>
fe_error* for_each_block(const Call& call, const Operand& x, int64_t elements, Work work) {
  const Nest rows = rows_of(x);
  const int64_t per_row = x.shape[x.rank - 1] / elements;
  return parallel(call, rows.count() * per_row, 8192 / elements, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) work(rows.offset(i / per_row) + i % per_row * elements, i);
  });
}

constexpr DTypes block_dtypes = one_of(DType::q8_0) | one_of(DType::q4_0) | one_of(DType::q4_k) | one_of(DType::q6_k);

// Calls f with a block of the given dtype.
template <class F>
fe_error* with_block(DType dtype, F f) {
  switch (dtype) {
    case DType::q8_0:
      return f(BlockQ8_0{});
    case DType::q4_0:
      return f(BlockQ4_0{});
    case DType::q4_k:
      return f(BlockQ4K{});
    default:
      return f(BlockQ6K{});
  }
}

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
