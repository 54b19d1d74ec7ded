// All elementwise ops, single and fused. The host writes the function `compute` (graphs/element_function.h).
#include "interface.metal"

#define THREADS 256  // in a threadgroup
#define ITEMS 4      // elements of a thread

struct Parameters {
  ulong count;
  ElementLayouts layouts;
};

kernel void elementwise(OPERAND_PARAMETERS, constant Parameters& p [[buffer(30)]],
                        uint3 group [[threadgroup_position_in_grid]], uint3 groups [[threadgroups_per_grid]],
                        uint own [[thread_index_in_threadgroup]]) {
  const Operands operands = OPERANDS;
  const ulong block = (ulong(group.z) * groups.y + group.y) * groups.x + group.x;
  for (uint item = 0; item < ITEMS; ++item) {
    const ulong element = (block * ITEMS + item) * THREADS + own;  // neighbours in memory belong to neighbouring threads
    if (element < p.count) compute(operands, element);
  }
}
