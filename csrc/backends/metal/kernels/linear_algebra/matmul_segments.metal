// Adds up the sums of the segments of K that matmul.metal left in scratch memory, in order. Defined in front: Value, Own.
#include "interface.metal"

#define THREADS 256

struct Parameters {
  ulong count;
  uint segments, unused;
  ElementLayouts layouts;
};

kernel void matmul_segments(device const Value* parts [[buffer(0)]], OPERAND_PARAMETERS,
                            constant Parameters& p [[buffer(30)]], uint3 group [[threadgroup_position_in_grid]],
                            uint3 groups [[threadgroups_per_grid]], uint own [[thread_index_in_threadgroup]]) {
  const Operands operands = OPERANDS;
  const ulong element = ((ulong(group.z) * groups.y + group.y) * groups.x + group.x) * THREADS + own;
  if (element >= p.count) return;
  Value sum = 0;
  for (uint i = 0; i < p.segments; ++i) sum += parts[i * p.count + element];
  compute(operands, element, Own(sum));
}
