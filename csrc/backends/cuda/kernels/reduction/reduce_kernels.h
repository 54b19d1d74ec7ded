// The kernels of a reduction for one dtype: REDUCE_KERNELS(sum, f32, Sum<float>) in sum.cu.
#pragma once

#include "kernels/reduction/reduce_columns.h"
#include "kernels/reduction/reduce_join.h"
#include "kernels/reduction/reduce_rows.h"

namespace ferrule::cuda {

// Number of blocks that a multiprocessor has to hold. Three request enough memory; ptxas would spill registers for a
// fourth.
inline constexpr uint32_t reduce_rows_blocks = 3;
// Indices of items of one byte: 16 items of four results at once, with their places, need 100 registers.
template <class Op>
inline constexpr uint32_t reduce_columns_blocks = 2;
template <class Item>
requires(sizeof(Item) == 1) inline constexpr uint32_t reduce_columns_blocks<ExtremeIndex<Item>> = 1;

}  // namespace ferrule::cuda

#define REDUCE_KERNELS(file, dtype, ...)                                                           \
  FERRULE_KERNEL(file##_rows_##dtype, ReduceParameters, reduce_rows_threads, reduce_rows_blocks) { \
    reduce_rows<__VA_ARGS__>(p);                                                                   \
  }                                                                                                \
  FERRULE_KERNEL(file##_columns_##dtype, ReduceParameters, reduce_columns_threads,                 \
                 reduce_columns_blocks<__VA_ARGS__>) {                                             \
    reduce_columns<__VA_ARGS__>(p);                                                                \
  }                                                                                                \
  FERRULE_KERNEL(file##_join_##dtype, JoinParameters, reduce_join_threads) { reduce_join<__VA_ARGS__>(p); }
