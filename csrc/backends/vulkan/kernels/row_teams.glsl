// Rows that TEAM invocations share, and their sums and maxima, folded by halves. All invocations of the workgroup call
// these functions. A subgroup shader uses shuffles for the folds within a subgroup; the order of additions is the same.
layout(constant_id = 3) const uint TEAM = 1;  // a power of two that divides the workgroup's size

shared float shared_values[gl_WorkGroupSize.x];

uint lane() { return own_index() % TEAM; }

float combined(float a, float b, bool adds) { return adds ? a + b : b > a ? b : a; }

float of_team(float value, bool adds) {
#ifdef VARIANT_subgroup
  const uint together = min(TEAM, gl_SubgroupSize);
#else
  const uint together = 1;
#endif
  uint own = own_index();
  if (TEAM > together) {
    shared_values[own] = value;
    barrier();
    for (uint width = TEAM / 2; width >= together; width /= 2) {
      if (lane() < width) shared_values[own] = combined(shared_values[own], shared_values[own + width], adds);
      barrier();
    }
    value = shared_values[own - lane() + lane() % together];
    barrier();
  }
#ifdef VARIANT_subgroup
  for (uint width = together / 2; width > 0; width /= 2)
    value = combined(value, subgroupShuffleXor(value, width), adds);
  // Lanes may have kept different ones of two equal zeros.
  value = subgroupShuffle(value, gl_SubgroupInvocationID - gl_SubgroupInvocationID % together);
#endif
  return value;
}

float sum_of_team(float value) { return of_team(value, true); }
float greatest_of_team(float value) { return of_team(value, false); }

// Adds in pieces of sixteen, so that long rows lose less precision.
struct Sum {
  float total, piece;
  uint count;
};
void add(inout Sum sum, float value) {
  sum.piece += value;
  if (++sum.count % 16u == 0u) {
    sum.total += sum.piece;
    sum.piece = 0.0;
  }
}
float total_of(Sum sum) { return sum.total + sum.piece; }
