// Copies one of the joined arrays to its place. Array and result are treated as rows: a row holds the elements at one
// index of the axes before the joined one.
// variants: u8 u16 u32 u64
#version 460
#extension GL_GOOGLE_include_directive : require
#include "../shader_interface.glsl"
#include "../item.glsl"

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Parameters {
  Layout from;
  int64_t count;
  int64_t row, to_row;  // row lengths of the array and of the result, in elements
  int64_t start;        // offset of this array in a row of the result
  uint to;
};

void main() {
  Parameters p = Parameters(push.parameters);
  uint64_t index = invocation();
  if (index >= uint64_t(p.count)) return;
  int64_t row = int64_t(index / uint64_t(p.row));
  int64_t to = row * p.to_row + p.start + (int64_t(index) - row * p.row);
  item_at(push.addresses.at[p.to], to).at =
      item_at(push.addresses.at[p.from.value], offset_in(p.from, index)).at;
}
