// Slices whose starts are operands: read from x, or written into it.
// variants: u8 u16 u32 u64
#version 460
#extension GL_GOOGLE_include_directive : require
#include "../shader_interface.glsl"
#include "../index_item.glsl"
#include "../item.glsl"

// 0: copies x to the output, unless the output has the memory of x. 1: copies `moved` to the slice. 2: copies the
// slice.
layout(constant_id = 3) const uint TASK = 0;
layout(constant_id = 4) const uint START_BYTES = 8;

struct Start {
  uint value;  // index of the address table
  uint axis;
  int64_t most, stride;
};

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Parameters {
  Layout moved;  // the source; for task 2, relative to the first element of x
  Layout to;     // the destination, with the same shape
  int64_t count;
  uint result;  // for messages
  uint start_count;
  Start starts[MAX_RANK];
};

void main() {
  Parameters p = Parameters(push.parameters);
  uint64_t number = invocation();
  if (number >= uint64_t(p.count)) return;
  uint64_t from = push.addresses.at[p.moved.value], to = push.addresses.at[p.to.value];
  if (TASK == 0u && from == to) return;
  int64_t moved = 0l;
  if (TASK != 0u)
    for (uint i = 0u; i < p.start_count; ++i) {
      int64_t start = index_at(push.addresses.at[p.starts[i].value], START_BYTES);
      if (start < 0l || start > p.starts[i].most) {
        report_fault(FAULT_START, p.result, start, p.starts[i].most, int64_t(uint64_t(p.starts[i].axis)));
        return;
      }
      moved += start * p.starts[i].stride;
    }
  int64_t read = offset_in(p.moved, number) + (TASK == 2u ? moved : 0l);
  int64_t written = offset_in(p.to, number) + (TASK == 1u ? moved : 0l);
  item_at(to, written).at = item_at(from, read).at;
}
