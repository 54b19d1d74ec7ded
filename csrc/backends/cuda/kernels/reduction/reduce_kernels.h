// The kernels of a reduction for one dtype: REDUCE_KERNELS(sum, f32, Sum<float>) in sum.cu.
#pragma once

#include "kernels/reduction/reduce_columns.h"
#include "kernels/reduction/reduce_join.h"
#include "kernels/reduction/reduce_rows.h"

#define REDUCE_KERNELS(file, dtype, ...)                                                                               \
  FERRULE_KERNEL(file##_rows_##dtype, ReduceParameters, reduce_rows_threads) { reduce_rows<__VA_ARGS__>(p); }          \
  FERRULE_KERNEL(file##_columns_##dtype, ReduceParameters, reduce_columns_threads) { reduce_columns<__VA_ARGS__>(p); } \
  FERRULE_KERNEL(file##_join_##dtype, JoinParameters, reduce_join_threads) { reduce_join<__VA_ARGS__>(p); }
