// Elements at indices along an axis.
// variants: u8 u16 u32 u64
#version 460
#extension GL_GOOGLE_include_directive : require
#include "../shader_interface.glsl"
#include "../index_item.glsl"
#include "../item.glsl"

layout(constant_id = 3) const uint INDEX_BYTES = 8;

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Parameters {
  Layout outer, inner;  // of x: the axes before and after the indexed one
  Layout indices;
  int64_t count, inner_count, index_count;
  int64_t size, stride;  // of the axis
  int64_t axis;
  uint to;
};

void main() {
  Parameters p = Parameters(push.parameters);
  uint64_t number = invocation();
  if (number >= uint64_t(p.count)) return;
  uint64_t row = number / uint64_t(p.inner_count), inner = number - row * uint64_t(p.inner_count);
  uint64_t outer = row / uint64_t(p.index_count), place = row - outer * uint64_t(p.index_count);
  int64_t offset = offset_in(p.indices, place) * int64_t(INDEX_BYTES);
  int64_t found = index_at(push.addresses.at[p.indices.value] + uint64_t(offset), INDEX_BYTES);
  int64_t index = found < 0 ? found + p.size : found;
  if (index < 0 || index >= p.size) {
    report_fault(FAULT_INDEX, p.to, found, p.size, p.axis);
    return;
  }
  int64_t from = offset_in(p.outer, outer) + index * p.stride + offset_in(p.inner, inner);
  item_at(push.addresses.at[p.to], int64_t(number)).at = item_at(push.addresses.at[p.outer.value], from).at;
}
