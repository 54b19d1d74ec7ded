// Definitions of the reductions. An element is converted to a Value, two Values are combined into one, and a Value is
// converted to the result.
//
// The order depends on the number of elements alone, so a row has the same bits in any batch, layout and kernel.
// Elements are cut into leaves of 1024. Element k of a leaf goes to lane k % 32; each lane adds its elements in order,
// and lanes are folded by halves. Leaves are joined pairwise: neighbours first, then pairs of them. A leaf or lane
// without elements holds the identity, which changes nothing: no sum is ever -0.
//
// The epilogue of floating-point sums and extremes is spliced in (graphs/elementwise_body.h); other results are stored
// as they are.
#if (defined VARIANT_sum || defined VARIANT_extreme) && \
    (defined VARIANT_f32 || defined VARIANT_f16 || defined VARIANT_bf16)
#define SPLICED
#include "../elementwise/functions.glsl"
#endif
#include "offset_in_32_bits.glsl"

#define LANES 32
#define LEAF 1024

// 0: sum, max, any, argmax; 1: prod, min, all, argmin.
layout(constant_id = 3) const uint OP = 0;

#ifdef VARIANT_sum
#if defined VARIANT_f64
#define Value double
#define VALUE_BYTES 8
#define ITEM_BYTES 8
Value value_of(uint64_t address, uint64_t place) { return RefF64(address).at; }
void store(uint64_t address, Value value) { RefF64(address).at = value; }
#elif defined VARIANT_i64
#define Value int64_t
#define VALUE_BYTES 8
#define ITEM_BYTES 8
Value value_of(uint64_t address, uint64_t place) { return RefI64(address).at; }
void store(uint64_t address, Value value) { RefI64(address).at = value; }
#else
#include "../float_item.glsl"
#define Value float
#define VALUE_BYTES 4
Value value_of(uint64_t address, uint64_t place) { return float_at(address); }
float number_of(Value value) { return value; }
#endif
Value identity() { return OP == 0u ? Value(0) : Value(1); }
Value combined(Value a, Value b) {
  precise Value value = OP == 0u ? a + b : a * b;
  return value;
}

#else
#ifdef VARIANT_extreme
#define ZEROS_DIFFER
#endif
#include "../sort_keys.glsl"

Key ordered(Key key) { return OP == 0u ? key : reversed(key); }

#ifdef VARIANT_place
// The first of several equal keys is the extreme.
struct Value {
  Key key;
  int64_t place;
};
#define VALUE_BYTES 16
Value identity() { return Value(Key(0), 0x7fffffffffffffffl); }
Value combined(Value a, Value b) {
  bool first = a.key > b.key || (a.key == b.key && a.place < b.place);
  return Value(first ? a.key : b.key, first ? a.place : b.place);
}
Value value_of(uint64_t address, uint64_t place) { return Value(ordered(key_at(address)), int64_t(place)); }
void store(uint64_t address, Value value) { RefI64(address).at = value.place; }
#define RESULT_BYTES 8
#else
#define Value Key
#define VALUE_BYTES KEY_BYTES
Value identity() { return Key(0); }
Value combined(Value a, Value b) { return max(a, b); }
Value value_of(uint64_t address, uint64_t place) { return ordered(key_at(address)); }
#if defined SPLICED && defined VARIANT_f16
float number_of(Value value) { return widened_f16(bits_of(ordered(value)) >> SHIFT); }
#elif defined SPLICED
float number_of(Value value) { return uintBitsToFloat(bits_of(ordered(value))); }
#else
void store(uint64_t address, Value value) { store_key(address, ordered(value)); }
#endif
#endif
#endif
#ifndef RESULT_BYTES
#define RESULT_BYTES ITEM_BYTES
#endif

#include "../partial_values.glsl"

// Stores a Value of result `index`: if whole, for value `to` of the view; otherwise as a part, in scratch.
#ifdef SPLICED
Value own;
uint64_t own_place;
float result_f32() { return number_of(own); }
void leave_partial() { Partial(own_place).at = own; }
void spliced();  // defined by the shader
void finish(uint64_t index, Value value, bool is_whole, uint to, uint64_t operands_at, uint64_t in_scratch) {
  element = index;
  operands = Operands(operands_at);
  own = value;
  own_place = scratch_address() + in_scratch;
  spliced();
}
#else
void finish(uint64_t index, Value value, bool is_whole, uint to, uint64_t operands_at, uint64_t in_scratch) {
  if (is_whole)
    store(push.addresses.at[to] + index * RESULT_BYTES, value);
  else
    Partial(scratch_address() + in_scratch).at = value;
}
#endif

int64_t offset_of(Layout layout_, bool is_short, uint64_t index) {
  return is_short ? short_offset_in(layout_, uint(index)) : offset_in(layout_, index);
}
