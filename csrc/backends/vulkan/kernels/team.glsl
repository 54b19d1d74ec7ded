// Rows that TEAM invocations share, and what they find out together, folded by halves. All of the workgroup call these.
layout(constant_id = 3) const uint TEAM = 1;  // a power of two that divides the workgroup's size

shared float shared_values[gl_WorkGroupSize.x];

uint lane() { return gl_LocalInvocationIndex % TEAM; }

float sum_of_team(float value) {
  uint own = gl_LocalInvocationIndex;
  shared_values[own] = value;
  barrier();
  for (uint width = TEAM / 2; width > 0; width /= 2) {
    if (lane() < width) shared_values[own] += shared_values[own + width];
    barrier();
  }
  float sum = shared_values[own - lane()];
  barrier();
  return sum;
}

float greatest_of_team(float value) {
  uint own = gl_LocalInvocationIndex;
  shared_values[own] = value;
  barrier();
  for (uint width = TEAM / 2; width > 0; width /= 2) {
    if (lane() < width && shared_values[own + width] > shared_values[own])
      shared_values[own] = shared_values[own + width];
    barrier();
  }
  float greatest = shared_values[own - lane()];
  barrier();
  return greatest;
}

// Adds up in pieces of sixteen, so that long rows lose less.
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
