// Loops over the blocks of an operand, and calls by its block dtype.
#pragma once

#include "block_layouts.h"
#include "strided_loops.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

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

#define FERRULE_BLOCK(id, ...) | (has_block<DType::id> ? one_of(DType::id) : DTypes{0})
constexpr DTypes block_dtypes = DTypes{0} FE_DTYPES(FE_NO_DTYPE, FERRULE_BLOCK);
#undef FERRULE_BLOCK

template <DType dtype, class F>
fe_error* with_block_of(F f) {
  if constexpr (has_block<dtype>) return f(Block<dtype>{});
  return nullptr;
}
// Calls f with a block of the given dtype, one of block_dtypes.
template <class F>
fe_error* with_block(DType dtype, F f) {
  switch (dtype) {
#define FERRULE_CASE(id, ...) \
  case DType::id:             \
    return with_block_of<DType::id>(f);
    FE_DTYPES(FE_NO_DTYPE, FERRULE_CASE)
#undef FERRULE_CASE
    default:
      return nullptr;
  }
}

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
