// Reduces each leaf (reduce.metal) with one thread. Leaves of adjacent results are adjacent in memory: short rows, and
// columns of matrices. Also defined in front: USED, the lanes that have elements, rounded up to a power of two, and
// THREADS. Part i of result r goes to place i * results + r of the scratch memory.
#include "reduction/reduce.metal"

struct Parameters {
  Layout kept, reduced;
  ulong results, length, parts;
  ElementLayouts layouts;
};

kernel void reduce_columns(device const Stored* from [[buffer(0)]], OPERAND_PARAMETERS,
                           constant Parameters& p [[buffer(30)]], GRID_PARAMETERS) {
  const Operands operands = OPERANDS;
  const ulong unit = group_number(group, groups) * THREADS + own;
  const ulong leaf = unit / p.results, result = unit - leaf * p.results;
  if (leaf >= p.parts) return;
  const long start = offset_in(p.kept, result);
  const ulong stop = min(p.length, (leaf + 1) * LEAF);
  Value values[USED];
  for (uint lane = 0; lane < USED; ++lane) values[lane] = identity();
  for (ulong k = leaf * LEAF; k < stop; k += USED)
    for (uint lane = 0; lane < USED && k + lane < stop; ++lane)
      values[lane] = combined(values[lane], value_of(from, start + reduced_offset(p.reduced, k + lane), k + lane));
  for (uint width = USED / 2; width > 0; width /= 2)
    for (uint lane = 0; lane < width; ++lane) values[lane] = combined(values[lane], values[lane + width]);
  compute(operands, unit, OUTCOME(values[0]));
}
