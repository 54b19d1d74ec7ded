// Layer normalisation of rows, in two passes for the mean and the variance; root-mean-square normalisation, which takes
// 0 for the mean. The order of summation of a row depends on its width alone. Defined in front: Stored, element_at,
// THREADS, TEAM, IS_CENTERED, and INPUTS: 1, 2 with a weight, 3 with a bias, too.
#include "interface.metal"
#include "elementwise/arithmetic.metal"
#include "elementwise/exponential.metal"
#include "normalization/row_teams.metal"

struct Parameters {
  Layout rows;
  ulong row_count, width;
  long stride;  // within a row
  long weight_stride, bias_stride;
  float epsilon;
  uint unused;
  ElementLayouts layouts;
};

kernel void layer_norm(device const Stored* from [[buffer(0)]],
#if INPUTS > 1
                       device const Stored* weight [[buffer(1)]],
#endif
#if INPUTS > 2
                       device const Stored* bias [[buffer(2)]],
#endif
                       OPERAND_PARAMETERS, constant Parameters& p [[buffer(30)]], GRID_PARAMETERS) {
  const Operands operands = OPERANDS;
  FERRULE_THREADGROUP(float, shared, [THREADS]);
  const ulong row = (group_number(group, groups) * THREADS + own) / TEAM;
  const bool counts = row < p.row_count;
  const ulong width = counts ? p.width : 0;
  const long start = counts ? offset_in(p.rows, row) : 0;
  const float number = float(p.width);

  float mean = 0.0f;
  if (IS_CENTERED) {
    Sum sum;
    for (ulong k = own % TEAM; k < width; k += TEAM) sum.add(element_at(from, start + long(k) * p.stride));
    mean = op_divide(of_team(sum.result(), true, shared, own), number);
  }
  Sum sum;
  for (ulong k = own % TEAM; k < width; k += TEAM) {
    const float distance = element_at(from, start + long(k) * p.stride) - mean;
    sum.add(distance * distance);
  }
  const float variance = op_divide(of_team(sum.result(), true, shared, own), number);
  const float factor = op_rsqrt(variance + p.epsilon);
  for (ulong k = own % TEAM; k < width; k += TEAM) {
    float y = (element_at(from, start + long(k) * p.stride) - mean) * factor;
#if INPUTS > 1
    y = y * element_at(weight, long(k) * p.weight_stride);
#endif
#if INPUTS > 2
    y = y + element_at(bias, long(k) * p.bias_stride);
#endif
    compute(operands, row * p.width + k, y);
  }
}
