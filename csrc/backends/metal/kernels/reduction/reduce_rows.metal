// Reduces each leaf (reduce.metal) with the 32 lanes of a simdgroup. The elements of a leaf are adjacent: long rows.
// Also defined in front: LEAVES, those of one result that a threadgroup reduces, and SLOTS, those that it reduces in
// all (powers of two, at most 32), and THREADS. Part i of result r goes to place i * results + r of the scratch memory.
#include "reduction/reduce.metal"

struct Parameters {
  Layout kept, reduced;
  ulong results, length, parts;
  ElementLayouts layouts;
};

inline Value value_of_lane(device const Stored* from, constant Parameters& p, ulong result, ulong leaf, uint lane) {
  Value value = identity();
  const ulong first = leaf * LEAF;
  if (result >= p.results || first >= p.length) return value;
  const long start = offset_in(p.kept, result);
  const ulong stop = min(p.length, first + LEAF);
  for (ulong k = first + lane; k < stop; k += LANES)
    value = combined(value, value_of(from, start + reduced_offset(p.reduced, k), k));
  return value;
}

kernel void reduce_rows(device const Stored* from [[buffer(0)]], OPERAND_PARAMETERS,
                        constant Parameters& p [[buffer(30)]], GRID_PARAMETERS) {
  const Operands operands = OPERANDS;
  FERRULE_THREADGROUP(Value, values, [SLOTS]);
  const ulong first_unit = group_number(group, groups) * (SLOTS / LEAVES);
  const uint lane = own % LANES;
  for (uint slot = own / LANES; slot < SLOTS; slot += THREADS / LANES) {
    const ulong unit = first_unit + slot / LEAVES, result = unit / p.parts;  // a unit is a part of a result
    const ulong leaf = (unit - result * p.parts) * LEAVES + slot % LEAVES;
    Value value = value_of_lane(from, p, result, leaf, lane);
    for (uint width = LANES / 2; width > 0; width /= 2) value = combined(value, value_across(value, width));
    if (lane == 0) values[slot] = value;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (own >= LANES) return;  // the first simdgroup joins the leaves
  Value value = identity();
  if (lane < SLOTS) value = values[lane];
  for (uint gap = 1; gap < LEAVES; gap *= 2) value = combined(value, value_across(value, gap));
  const ulong unit = first_unit + lane / LEAVES, result = unit / p.parts;
  if (lane < SLOTS && lane % LEAVES == 0 && result < p.results)
    compute(operands, (unit - result * p.parts) * p.results + result, OUTCOME(value));
}
