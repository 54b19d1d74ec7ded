// Softmax of rows, and its logarithm. The order of summation of a row depends on its width alone.
// variants: f32 f16 bf16 subgroup_f32 subgroup_f16 subgroup_bf16
#version 460
#extension GL_GOOGLE_include_directive : require
#include "../shader_interface.glsl"
#include "../float_item.glsl"
#include "../elementwise/arithmetic/float32.glsl"
#include "../elementwise/exponential/float32.glsl"
#include "../row_teams.glsl"

layout(constant_id = 4) const bool LOGARITHM = false;

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Parameters {
  Layout rows;
  int64_t row_count, width;
  int64_t stride;  // within a row
  uint to;
};

void main() {
  Parameters p = Parameters(push.parameters);
  uint64_t row = invocation() / TEAM;
  bool counts = row < uint64_t(p.row_count);
  int64_t width = counts ? p.width : 0l;
  uint64_t from = push.addresses.at[p.rows.value] + (counts ? uint64_t(offset_in(p.rows, row) * ITEM_BYTES) : 0ul);
  uint64_t to = push.addresses.at[p.to] + row * uint64_t(p.width) * ITEM_BYTES;

  float greatest = signed_infinity(SIGN_BIT);
  for (int64_t k = lane(); k < width; k += TEAM) {
    float x = item(from, k * p.stride);
    // NaN counts as infinity: either makes the whole row NaN.
    if (is_nan(x)) x = signed_infinity(0u);
    if (x > greatest) greatest = x;
  }
  greatest = greatest_of_team(greatest);
  bool has_no_sum = is_infinite(greatest);

  Sum sum = Sum(0.0, 0.0, 0u);
  for (int64_t k = lane(); k < width; k += TEAM) add(sum, exp_f32(item(from, k * p.stride) - greatest));
  float total = sum_of_team(total_of(sum));

  float shift = LOGARITHM ? log_f32(total) : 0.0, factor = LOGARITHM ? 1.0 : divide_f32(1.0, total);
  for (int64_t k = lane(); k < width; k += TEAM) {
    float x = item(from, k * p.stride) - greatest;
    precise float y = LOGARITHM ? x - shift : exp_f32(x) * factor;
    store_float(to + uint64_t(k * ITEM_BYTES), has_no_sum ? not_a_number() : y);
  }
}
