// Cumulative sums and products. A row is cut into segments, each of which one invocation computes from its first
// element to its last. The totals of the segments before it, added in their order, are added to each element of a
// segment. The order depends on the length of the row alone. Products of floating-point numbers are computed from the
// first element of the row to the last: a product of later elements could overflow where the product of all does not.
// Half-precision elements are accumulated in float32, and each result is rounded once; integers wrap.
// variants: f32 f16 bf16 f64 i64
#version 460
#extension GL_GOOGLE_include_directive : require
#include "../shader_interface.glsl"

#if defined VARIANT_f64
#define Value double
#define ITEM_BYTES 8
#define VALUE_BYTES 8
double value_at(uint64_t address) { return RefF64(address).at; }
void store(uint64_t address, double value) { RefF64(address).at = value; }
#elif defined VARIANT_i64
#define Value int64_t
#define ITEM_BYTES 8
#define VALUE_BYTES 8
int64_t value_at(uint64_t address) { return RefI64(address).at; }
void store(uint64_t address, int64_t value) { RefI64(address).at = value; }
#else
#include "../float_item.glsl"
#define Value float
#define VALUE_BYTES 4
float value_at(uint64_t address) { return float_at(address); }
void store(uint64_t address, float value) { store_float(address, value); }
#endif
#include "../partial_values.glsl"

// 0: the totals of the segments. 1: the totals of all segments up to each one. 2: the results. 3: the results of one
// segment, behind those of the segment before it. Tasks 1 and 3 take several dispatches (cumulative.cpp).
layout(constant_id = 3) const uint TASK = 0;
layout(constant_id = 4) const bool PRODUCT = false;

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Parameters {
  Layout outer, inner;  // of x: the axes before and after that of the rows
  int64_t count;        // invocations
  int64_t inner_count, segments;
  int64_t row_length, stride;  // of x along the axis
  int64_t segment;         // elements of a segment
  int64_t first, stop;     // the segments of tasks 1 and 3
  int64_t initial;         // 1 if the result begins with the identity
  uint to;
};

Value combined(Value a, Value b) {
  precise Value value = PRODUCT ? a * b : a + b;
  return value;
}

// The totals of the segments of a row are adjacent. Task 3 has one of each row.
#define total_of(row, segment) Partial(scratch_address() + ((row) * uint64_t(p.segments) + (segment)) * VALUE_BYTES)

void accumulate_totals(Parameters p, uint64_t row) {
  Value total = total_of(row, uint64_t(p.first - 1l)).at;
  for (uint64_t segment = uint64_t(p.first); segment < uint64_t(p.stop); ++segment) {
    total = combined(total, total_of(row, segment).at);
    total_of(row, segment).at = total;
  }
}

void main() {
  Parameters p = Parameters(push.parameters);
  uint64_t number = invocation();
  if (number >= uint64_t(p.count)) return;
  if (TASK == 1u) {
    accumulate_totals(p, number);
    return;
  }
  // Neighbours are rows that lie side by side.
  uint64_t rest = number / uint64_t(p.inner_count), inner = number - rest * uint64_t(p.inner_count);
  uint64_t outer = rest / uint64_t(p.segments), row = outer * uint64_t(p.inner_count) + inner;
  uint64_t segment = TASK == 3u ? uint64_t(p.first) : rest - outer * uint64_t(p.segments);
  uint64_t first = segment * uint64_t(p.segment), stop = min(uint64_t(p.row_length), first + uint64_t(p.segment));
  int64_t start = offset_in(p.outer, outer) + offset_in(p.inner, inner) + int64_t(first) * p.stride;
  uint64_t from = push.addresses.at[p.outer.value] + uint64_t(start * ITEM_BYTES);
  uint64_t row_size = uint64_t(p.row_length + p.initial) * uint64_t(p.inner_count);
  uint64_t place = outer * row_size + inner + (first + uint64_t(p.initial)) * uint64_t(p.inner_count);
  uint64_t to = push.addresses.at[p.to] + place * ITEM_BYTES;
  uint64_t step = uint64_t(p.stride * ITEM_BYTES), written = uint64_t(p.inner_count) * ITEM_BYTES;
  if (TASK != 0u && segment == 0ul && p.initial != 0l) store(to - written, Value(PRODUCT ? 1 : 0));
  if (first >= stop) return;
  bool is_later = segment > 0ul;
  Value before = Value(0), sum = value_at(from);
  if (TASK == 2u && is_later) before = total_of(row, segment - 1ul).at;
  if (TASK == 3u && is_later) sum = combined(total_of(row, 0ul).at, sum);
  for (uint64_t i = first;;) {
    if (TASK != 0u) store(to, TASK == 2u && is_later ? combined(before, sum) : sum);
    if (++i >= stop) break;
    from += step;
    to += written;
    sum = combined(sum, value_at(from));
  }
  if (TASK == 0u) total_of(row, segment).at = sum;
  if (TASK == 3u) total_of(row, 0ul).at = sum;
}
