// Definitions of the reductions. An element becomes a Value, two Values are combined to one, and a Value becomes the
// result.
//
// The order depends on the number of elements alone, so a row has the same bits in any batch, layout and kernel.
// Elements are cut into leaves of 1024. Element k of a leaf goes to lane k % 32; each lane takes its elements in order,
// and lanes are folded by halves. Leaves are joined pairwise: neighbours first, then pairs of them. A leaf or lane
// without elements holds the identity, which changes nothing: no sum is ever -0.
//
// The text in front of this one defines REVERSED (0: sum, max, any, argmax; 1: prod, min, all, argmin), `Stored`, the
// type of an element in memory, IS_WHOLE, whether the kernel gives results and not parts of them, and one of
//   ADDS_FLOATS    a Value is a float
//   ADDS_INTEGERS  a Value is a ulong
//   FINDS_EXTREME  a Value is a Key (sorting_keys.metal)
//   FINDS_PLACE    a Value is a Key with its place; of equal keys the first one is found
// A result of ADDS_INTEGERS and FINDS_EXTREME is an `Own`.
#pragma once
#include "interface.metal"

#define LANES 32
#define LEAF 1024

#if defined ADDS_FLOATS
typedef float Value;
inline Value value_of(device const Stored* from, long at, ulong) { return element_at(from, at); }
inline Value combined(Value a, Value b) { return REVERSED ? op_multiply(a, b) : op_add(a, b); }
inline Value identity() { return REVERSED ? 1.0f : 0.0f; }
inline float result_of(Value value) { return value; }
#elif defined ADDS_INTEGERS
typedef ulong Value;
inline Value value_of(device const Stored* from, long at, ulong) { return ulong(from[at]); }
inline Value combined(Value a, Value b) { return REVERSED ? a * b : a + b; }
inline Value identity() { return REVERSED; }
inline Own result_of(Value value) { return Own(value); }
#else
#include "sorting_keys.metal"
inline Key ordered_key(Key key) { return REVERSED ? reversed(key) : key; }
#ifdef FINDS_PLACE
struct Value {
  Key key;
  ulong place;
};
inline Value identity() { return Value{0, ~ulong(0)}; }
inline Value value_of(device const Stored* from, long at, ulong place) {
  return Value{ordered_key(key_at(from, at)), place};
}
inline Value combined(Value a, Value b) {
  const bool is_first = a.key > b.key || (a.key == b.key && a.place < b.place);
  return Value{is_first ? a.key : b.key, is_first ? a.place : b.place};
}
inline long result_of(Value value) { return long(value.place); }
#else
typedef Key Value;
inline Value identity() { return 0; }
inline Value value_of(device const Stored* from, long at, ulong) { return ordered_key(key_at(from, at)); }
inline Value combined(Value a, Value b) { return max(a, b); }
inline Own result_of(Value value) { return own_of_stored(stored_key(ordered_key(value))); }
#endif
#endif

// The value of the lane whose number differs in the bit `mask`. Shuffles of MSL have no integers of 64 bits.
inline float value_across(float value, uint mask) { return simd_shuffle_xor(value, ushort(mask)); }
inline uint value_across(uint value, uint mask) { return simd_shuffle_xor(value, ushort(mask)); }
inline ulong value_across(ulong value, uint mask) {
  return as_type<ulong>(simd_shuffle_xor(as_type<uint2>(value), ushort(mask)));
}
#ifdef FINDS_PLACE
inline Value value_across(Value value, uint mask) {
  return Value{value_across(value.key, mask), value_across(value.place, mask)};
}
#endif

// A whole result, or a part of one for scratch memory.
#if IS_WHOLE
#define OUTCOME(value) result_of(value)
#else
#define OUTCOME(value) value
#endif

// The offset of a reduced element; most are along one axis.
inline long reduced_offset(constant Layout& reduced, ulong place) {
  return reduced.rank <= 1 ? long(place) * reduced.strides[0] : offset_in(reduced, place);
}
