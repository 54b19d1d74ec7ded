// The indices of the chosen elements, and how many there are.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "../shader_interface.glsl"
#include "chosen.glsl"

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Parameters {
  int64_t count, elements, segments, chosen;
  int64_t shape[MAX_RANK];  // of x, the last axis first
  uint rank, indices, total;
};

void main() {
  Parameters p = Parameters(push.parameters);
  int64_t row = int64_t(invocation()), total = total_of(p).at;
  if (row == 0l) RefI64(push.addresses.at[p.total]).at = total;
  if (row >= p.count) return;
  uint64_t to = push.addresses.at[p.indices] + uint64_t(row) * p.rank * 8ul;
  uint64_t rest = row < total ? uint64_t(clamp(chosen_at(p, row).at, 0l, p.elements - 1l)) : 0ul;
  for (uint axis = 0u; axis < p.rank; ++axis) {
    uint64_t size = uint64_t(p.shape[axis]), next = size == 0ul ? 0ul : rest / size;
    RefU64(to + (p.rank - 1u - axis) * 8ul).at = rest - next * size;
    rest = next;
  }
}
