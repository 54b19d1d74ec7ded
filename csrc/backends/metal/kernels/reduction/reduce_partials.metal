// Joins parts of a result pairwise, in the order of reduce.metal: up to TEAM of them, a power of two that divides
// THREADS, by as many threads. Part i of result r is at place i * results + r of the scratch memory, from `from_part`
// on.
#include "reduction/reduce.metal"

struct Parameters {
  ulong results, parts, from_part, to_part;
  ElementLayouts layouts;
};

kernel void reduce_partials(device const Value* from [[buffer(0)]], OPERAND_PARAMETERS,
                            constant Parameters& p [[buffer(30)]], GRID_PARAMETERS) {
  const Operands operands = OPERANDS;
  FERRULE_THREADGROUP(Value, values, [THREADS]);
  const uint columns = THREADS / TEAM;
  const ulong strips = (p.results + columns - 1) / columns;
  const ulong number = group_number(group, groups), block = number / strips;
  const ulong result = (number - block * strips) * columns + own % columns, part = block * TEAM + own / columns;
  const bool counts = result < p.results && part < p.parts;
  values[own] = identity();
  if (counts) values[own] = from[p.from_part + part * p.results + result];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint gap = 1; gap < TEAM; gap *= 2) {
    const uint at = own / columns * 2 * gap * columns + own % columns;
    if (at + gap * columns < THREADS) values[at] = combined(values[at], values[at + gap * columns]);
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  if (own >= columns || !counts) return;
  compute(operands, p.to_part + block * p.results + result, OUTCOME(values[own]));
}
