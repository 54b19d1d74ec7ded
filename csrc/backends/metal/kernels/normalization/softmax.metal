// Softmax of rows, and its logarithm. The order of summation of a row depends on its width alone. Defined in front:
// Stored, element_at, THREADS, TEAM, LOGARITHM.
#include "interface.metal"
#include "elementwise/exponential.metal"
#include "normalization/row_teams.metal"

struct Parameters {
  Layout rows;
  ulong row_count, width;
  long stride;  // within a row
  ElementLayouts layouts;
};

kernel void softmax(device const Stored* from [[buffer(0)]], OPERAND_PARAMETERS,
                    constant Parameters& p [[buffer(30)]], GRID_PARAMETERS) {
  const Operands operands = OPERANDS;
  FERRULE_THREADGROUP(float, shared, [THREADS]);
  const ulong row = (group_number(group, groups) * THREADS + own) / TEAM;
  const bool counts = row < p.row_count;
  const ulong width = counts ? p.width : 0;
  const long start = counts ? offset_in(p.rows, row) : 0;

  float greatest = signed_infinity(sign_mask);
  for (ulong k = own % TEAM; k < width; k += TEAM) {
    const float x = element_at(from, start + long(k) * p.stride);
    if (x > greatest) greatest = x;  // a NaN is not greater: it makes the sum, and so the row, NaN
  }
  greatest = of_team(greatest, false, shared, own);
  const bool has_no_sum = is_infinite(greatest);

  Sum sum;
  for (ulong k = own % TEAM; k < width; k += TEAM)
    sum.add(op_exp(op_subtract(element_at(from, start + long(k) * p.stride), greatest)));
  const float total = of_team(sum.result(), true, shared, own);

  const float shift = LOGARITHM ? op_log(total) : 0.0f, factor = LOGARITHM ? 1.0f : op_divide(1.0f, total);
  for (ulong k = own % TEAM; k < width; k += TEAM) {
    const float x = op_subtract(element_at(from, start + long(k) * p.stride), greatest);
    const float y = LOGARITHM ? op_subtract(x, shift) : op_multiply(op_exp(x), factor);
    compute(operands, row * p.width + k, has_no_sum ? not_a_number() : y);
  }
}
