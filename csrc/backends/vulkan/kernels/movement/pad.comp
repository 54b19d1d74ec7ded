// pad: adds elements around an array.
// variants: u8 u16 u32 u64
#version 460
#extension GL_GOOGLE_include_directive : require
#include "../shader_interface.glsl"
#include "../item.glsl"

#define NO_VALUE 0xffffffffu

// One for each axis, the last axis first.
struct Axis {
  int64_t size;    // of the result
  int64_t before;  // elements added
  int64_t inside;  // size of the array
  int64_t stride;  // of the array
};

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Parameters {
  Axis axes[MAX_RANK];
  int64_t count;
  uint rank, from, value, to;
};

void main() {
  Parameters p = Parameters(push.parameters);
  uint64_t index = invocation();
  if (index >= uint64_t(p.count)) return;
  uint64_t rest = index;
  int64_t from = 0;
  bool inside = true;
  for (uint k = 0; k < p.rank; ++k) {
    uint64_t size = uint64_t(p.axes[k].size), next = rest / size;
    int64_t at = int64_t(rest - next * size) - p.axes[k].before;
    inside = inside && at >= 0 && at < p.axes[k].inside;
    from += at * p.axes[k].stride;
    rest = next;
  }
  Wide bits = Wide(0);
  if (inside)
    bits = Wide(item_at(push.addresses.at[p.from], from).at);
  else if (p.value != NO_VALUE)
    bits = Wide(item_at(push.addresses.at[p.value], 0).at);
  item_at(push.addresses.at[p.to], int64_t(index)).at = Narrow(bits);
}
