// Operands of a body. The shader includes this after it declares `operands`. Before it calls `spliced`, it sets
// `element`, the element's number in the operands' shape, in C order.

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Operands { Layout at[]; };

Operands operands;
uint64_t element;

// The offset of the element in an operand, in elements from (0, ..., 0): for an operand with the result's layout, for a
// single element, and for one with strides, with offsets of 32 or of 64 bits.
int64_t place_flat() { return int64_t(element); }
int64_t place_single() { return int64_t(0); }
int64_t place_near(uint operand) {
  uint index = uint(element);
  int place = 0;
  uint rank = operands.at[operand].rank;
  for (uint axis = 0u; axis < rank; ++axis) {
    uint size = uint(operands.at[operand].shape[axis]), next = index / size;
    place += int(index - next * size) * int(operands.at[operand].strides[axis]);
    index = next;
  }
  return int64_t(place);
}
int64_t place_far(uint operand) {
  uint64_t index = element;
  int64_t place = int64_t(0);
  uint rank = operands.at[operand].rank;
  for (uint axis = 0u; axis < rank; ++axis) {
    uint64_t size = uint64_t(operands.at[operand].shape[axis]), next = index / size;
    place += int64_t(index - next * size) * operands.at[operand].strides[axis];
    index = next;
  }
  return place;
}

uint64_t address_of(uint operand, int64_t place, uint item_size) {
  return push.addresses.at[operands.at[operand].value] + uint64_t(place * int64_t(item_size));
}

bool load_bool(uint operand, int64_t place) { return uint(RefU8(address_of(operand, place, 1u)).at) != 0u; }
int load_int8(uint operand, int64_t place) { return int(RefI8(address_of(operand, place, 1u)).at); }
int load_int16(uint operand, int64_t place) { return int(RefI16(address_of(operand, place, 2u)).at); }
int load_int32(uint operand, int64_t place) { return RefI32(address_of(operand, place, 4u)).at; }
int64_t load_int64(uint operand, int64_t place) { return RefI64(address_of(operand, place, 8u)).at; }
uint load_uint8(uint operand, int64_t place) { return uint(RefU8(address_of(operand, place, 1u)).at); }
uint load_uint16(uint operand, int64_t place) { return uint(RefU16(address_of(operand, place, 2u)).at); }
uint load_uint32(uint operand, int64_t place) { return RefU32(address_of(operand, place, 4u)).at; }
uint64_t load_uint64(uint operand, int64_t place) { return RefU64(address_of(operand, place, 8u)).at; }
float load_float16(uint operand, int64_t place) {
  return widened_f16(uint(RefU16(address_of(operand, place, 2u)).at));
}
float load_bfloat16(uint operand, int64_t place) {
  return widened_bf16(uint(RefU16(address_of(operand, place, 2u)).at));
}
float load_float32(uint operand, int64_t place) { return RefF32(address_of(operand, place, 4u)).at; }

void store_bool(uint operand, int64_t place, bool x) { RefU8(address_of(operand, place, 1u)).at = uint8_t(uint(x)); }
void store_int8(uint operand, int64_t place, int x) { RefI8(address_of(operand, place, 1u)).at = int8_t(x); }
void store_int16(uint operand, int64_t place, int x) { RefI16(address_of(operand, place, 2u)).at = int16_t(x); }
void store_int32(uint operand, int64_t place, int x) { RefI32(address_of(operand, place, 4u)).at = x; }
void store_int64(uint operand, int64_t place, int64_t x) { RefI64(address_of(operand, place, 8u)).at = x; }
void store_uint8(uint operand, int64_t place, uint x) { RefU8(address_of(operand, place, 1u)).at = uint8_t(x); }
void store_uint16(uint operand, int64_t place, uint x) { RefU16(address_of(operand, place, 2u)).at = uint16_t(x); }
void store_uint32(uint operand, int64_t place, uint x) { RefU32(address_of(operand, place, 4u)).at = x; }
void store_uint64(uint operand, int64_t place, uint64_t x) { RefU64(address_of(operand, place, 8u)).at = x; }
void store_float16(uint operand, int64_t place, float x) {
  RefU16(address_of(operand, place, 2u)).at = uint16_t(narrowed_f16(x));
}
void store_bfloat16(uint operand, int64_t place, float x) {
  RefU16(address_of(operand, place, 2u)).at = uint16_t(narrowed_bf16(x));
}
void store_float32(uint operand, int64_t place, float x) { RefF32(address_of(operand, place, 4u)).at = x; }

#ifdef VARIANT_f64
double load_float64(uint operand, int64_t place) { return RefF64(address_of(operand, place, 8u)).at; }
void store_float64(uint operand, int64_t place, double x) { RefF64(address_of(operand, place, 8u)).at = x; }
#endif
