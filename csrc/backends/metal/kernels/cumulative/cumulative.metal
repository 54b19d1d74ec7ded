// Cumulative sums and products. A row is cut into segments, each of which one thread computes from its first element to
// its last. The totals of the segments before it, added in their order, are added to each element of a segment. The
// order depends on the length of the row alone. Products of floating-point numbers are computed from the first element
// of the row to the last, as one segment: a product of later elements could overflow where the product of all does not.
// Half-precision elements are accumulated in float32, and each result is rounded once; integers wrap.
//
// Defined in front: Stored and Value, the types of an element in memory and of a total; element_at; store_element,
// which rounds; IS_PRODUCT; HAS_TOTALS, whether there is more than one segment.
#pragma once
#include "interface.metal"

#define COMBINED(a, b) (IS_PRODUCT ? op_multiply(a, b) : op_add(a, b))

struct Parameters {
  Layout outer, inner;  // of x: the axes before and after that of the rows
  ulong rows, inner_count, segments;
  ulong row_length, segment;  // elements of a row and of a segment
  ulong initial;              // 1 if the result begins with the identity
  long stride;                // of x along the axis
};

// A segment of a row. Neighbouring threads have rows that lie side by side.
struct Segment {
  ulong row, number, first, stop;
  ulong to;   // the place of the first result, in elements
  long from;  // and of the first element
};
inline Segment segment_of(constant Parameters& p, ulong thread_number) {
  const ulong rest = thread_number / p.inner_count, inner = thread_number - rest * p.inner_count;
  const ulong outer = rest / p.segments, number = rest - outer * p.segments, first = number * p.segment;
  const ulong row_size = (p.row_length + p.initial) * p.inner_count;
  return Segment{outer * p.inner_count + inner,
                 number,
                 first,
                 min(p.row_length, first + p.segment),
                 outer * row_size + inner + (first + p.initial) * p.inner_count,
                 offset_in(p.outer, outer) + offset_in(p.inner, inner) + long(first) * p.stride};
}

// The totals of the segments of a row are adjacent.
kernel void segment_totals(device const Stored* x [[buffer(0)]], device Value* totals [[buffer(1)]],
                           constant Parameters& p [[buffer(30)]], GRID_PARAMETERS) {
  const ulong number = THREAD_NUMBER;
  if (number >= p.rows * p.segments) return;
  const Segment s = segment_of(p, number);
  Value sum = element_at(x, s.from);
  for (ulong i = 1; i < s.stop - s.first; ++i) sum = COMBINED(sum, element_at(x, s.from + long(i) * p.stride));
  totals[s.row * p.segments + s.number] = sum;
}

// The totals of all segments up to each one.
kernel void accumulate_totals(device Value* totals [[buffer(0)]], constant Parameters& p [[buffer(30)]],
                              GRID_PARAMETERS) {
  const ulong row = THREAD_NUMBER;
  if (row >= p.rows) return;
  Value total = totals[row * p.segments];
  for (ulong i = row * p.segments + 1; i < (row + 1) * p.segments; ++i) totals[i] = total = COMBINED(total, totals[i]);
}

#if HAS_TOTALS
#define TOTALS_PARAMETER device const Value *totals [[buffer(1)]],
#define RESULT_PLACE 2
#define WITH_TOTALS(sum) (s.number > 0 ? COMBINED(before, sum) : sum)
#else
#define TOTALS_PARAMETER
#define RESULT_PLACE 1
#define WITH_TOTALS(sum) sum
#endif

kernel void cumulative(device const Stored* x [[buffer(0)]],
                       TOTALS_PARAMETER device Stored* to [[buffer(RESULT_PLACE)]],
                       constant Parameters& p [[buffer(30)]], GRID_PARAMETERS) {
  const ulong number = THREAD_NUMBER;
  if (number >= p.rows * p.segments) return;
  const Segment s = segment_of(p, number);
  if (s.number == 0 && p.initial != 0) store_element(to, long(s.to - p.inner_count), Value(IS_PRODUCT ? 1 : 0));
  if (s.first >= s.stop) return;
#if HAS_TOTALS
  const Value before = s.number > 0 ? totals[s.row * p.segments + s.number - 1] : Value(0);
#endif
  Value sum = element_at(x, s.from);
  store_element(to, long(s.to), WITH_TOTALS(sum));
  for (ulong i = 1; i < s.stop - s.first; ++i) {
    sum = COMBINED(sum, element_at(x, s.from + long(i) * p.stride));
    store_element(to, long(s.to + i * p.inner_count), WITH_TOTALS(sum));
  }
}
