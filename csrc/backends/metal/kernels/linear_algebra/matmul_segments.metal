// Adds up the sums of the segments of K that matmul.metal left in scratch memory, in order. Defined in front: Value,
// Own.
#include "interface.metal"

#define THREADS 256

struct Parameters {
  ulong count;
  uint segments, unused;
  ElementLayouts layouts;
};

kernel void matmul_segments(device const Value* parts [[buffer(0)]], OPERAND_PARAMETERS,
                            constant Parameters& p [[buffer(30)]], GRID_PARAMETERS) {
  const Operands operands = OPERANDS;
  const ulong element = group_number(group, groups) * THREADS + own;
  if (element >= p.count) return;
  Value sum = 0;
  for (uint i = 0; i < p.segments; ++i) sum += parts[i * p.count + element];
  compute(operands, element, Own(sum));
}
