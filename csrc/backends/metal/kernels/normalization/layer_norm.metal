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

// The power of two that a row is multiplied by if the mean of its squares is out of range.
inline float factor_for(float mean_square) {
  // 2^-90 and 2^90
  return !(mean_square < 3.4e38f) ? 8.077935669e-28f : mean_square < 7.888609052e-31f ? 1.237940039e27f : 1.0f;
}

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
  FERRULE_THREADGROUP(atomic_uint, has_scaled_row, [1]);
  const ulong row = (group_number(group, groups) * THREADS + own) / TEAM;
  const bool counts = row < p.row_count;
  const ulong width = counts ? p.width : 0;
  const long start = counts ? offset_in(p.rows, row) : 0;
  const float number = float(p.width);

  if (own == 0) atomic_store_explicit(&has_scaled_row[0], 0, memory_order_relaxed);
  float by = 1.0f, mean = 0.0f, mean_square;
  for (uint attempt = 0;; ++attempt) {
    if (IS_CENTERED) {
      Sum sum;
      for (ulong k = own % TEAM; k < width; k += TEAM) sum.add(element_at(from, start + long(k) * p.stride) * by);
      mean = op_divide(of_team(sum.result(), true, shared, own), number);
    }
    Sum sum;
    for (ulong k = own % TEAM; k < width; k += TEAM) {
      const float distance = element_at(from, start + long(k) * p.stride) * by - mean;
      sum.add(distance * distance);
    }
    mean_square = op_divide(of_team(sum.result(), true, shared, own), number) + p.epsilon * by * by;
    if (attempt == 1) break;
    // The threads of all rows compute again if those of one do, because of the barriers in between.
    by = factor_for(mean_square);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (by != 1.0f) atomic_store_explicit(&has_scaled_row[0], 1, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (atomic_load_explicit(&has_scaled_row[0], memory_order_relaxed) == 0) break;
  }
  const float factor = op_rsqrt(mean_square);
  for (ulong k = own % TEAM; k < width; k += TEAM) {
    float y = (element_at(from, start + long(k) * p.stride) * by - mean) * factor;
#if INPUTS > 1
    y = y * element_at(weight, long(k) * p.weight_stride);
#endif
#if INPUTS > 2
    y = y + element_at(bias, long(k) * p.bias_stride);
#endif
    compute(operands, row * p.width + k, y);
  }
}
