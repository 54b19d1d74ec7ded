// All elementwise ops, single and fused. The host writes the function `compute` (graphs/element_function.h).
#include "interface.metal"

#define THREADS 256  // in a threadgroup
#define ITEMS 4      // elements of a thread

struct Parameters {
  ulong count;
  ElementLayouts layouts;
};

kernel void elementwise(OPERAND_PARAMETERS, constant Parameters& p [[buffer(30)]], GRID_PARAMETERS) {
  const Operands operands = OPERANDS;
  const ulong block = group_number(group, groups);
  for (uint item = 0; item < ITEMS; ++item) {
    // Neighbours in memory belong to neighbouring threads.
    const ulong element = (block * ITEMS + item) * THREADS + own;
    if (element < p.count) compute(operands, element);
  }
}
