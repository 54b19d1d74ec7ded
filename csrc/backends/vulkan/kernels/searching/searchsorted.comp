// The places of elements in a sorted array, by binary search.
// variants: bool i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64
#version 460
#extension GL_GOOGLE_include_directive : require
#include "../shader_interface.glsl"
#include "../sort_keys.glsl"

layout(constant_id = 3) const bool RIGHT = false;  // behind equal elements

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Parameters {
  Layout wanted;
  int64_t count, size, stride;  // the last two of the sorted array
  uint sorted, to;
};

void main() {
  Parameters p = Parameters(push.parameters);
  uint64_t number = invocation();
  if (number >= uint64_t(p.count)) return;
  Key key = key_at(push.addresses.at[p.wanted.value] + uint64_t(offset_in(p.wanted, number) * ITEM_BYTES));
  uint64_t sorted = push.addresses.at[p.sorted];
  // All elements before `low` come before the place, none from `high` on.
  uint64_t low = 0ul, high = uint64_t(p.size);
  while (low < high) {
    uint64_t middle = low + (high - low) / 2ul;
    Key found = key_at(sorted + uint64_t(int64_t(middle) * p.stride * ITEM_BYTES));
    if (RIGHT ? found <= key : found < key)
      low = middle + 1ul;
    else
      high = middle;
  }
  RefU64(push.addresses.at[p.to] + number * 8ul).at = low;
}
