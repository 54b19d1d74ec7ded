// The common part of the kernels of matrix products. Each adds up an element in the same order: along K, in segments of
// 512, each from zero and in order; then the segments in order. So the bits of a row depend on the row and the other
// matrix alone, and any tile may be chosen.
//
// Defined in front: Stored and Own, the types of an element in memory and of a result; Value, the type of the sums:
// float, or uint or ulong, in which integers wrap; element_at; IS_SEGMENTED, whether K has more than one segment;
// IS_SPLIT, whether a threadgroup computes one segment, whose sum goes to the scratch memory.
#pragma once
#include "interface.metal"

#define STEP 16
#define SEGMENT 512

struct Parameters {
  Layout a_batches, b_batches;
  long a_row, a_column, b_row, b_column, to_row, to_column;
  ulong batches;
  uint m, n, k, unused;
  ElementLayouts layouts;
};

inline Value value_at(device const Stored* from, long start, uint row, long row_stride, uint column,
                      long column_stride) {
  return Value(element_at(from, start + long(row) * row_stride + long(column) * column_stride));
}
#ifdef ADDS_FLOATS
inline Value multiplied_and_added(Value a, Value b, Value sum) { return fma(a, b, sum); }
#else
inline Value multiplied_and_added(Value a, Value b, Value sum) { return a * b + sum; }
#endif
#if IS_SPLIT
#define OUTCOME(sum) (sum)
#else
#define OUTCOME(sum) Own(sum)
#endif
