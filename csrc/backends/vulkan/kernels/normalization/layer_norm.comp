// Layer normalisation of rows, in two passes for the mean and the variance; root-mean-square normalisation, which takes
// 0 for the mean. The order of summation of a row depends on its width alone.
// variants: f32 f16 bf16 subgroup_f32 subgroup_f16 subgroup_bf16
#version 460
#extension GL_GOOGLE_include_directive : require
#include "../shader_interface.glsl"
#include "../float_item.glsl"
#include "../elementwise/arithmetic/float32.glsl"
#include "../row_teams.glsl"

#define NO_VALUE 0xffffffffu

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Parameters {
  Layout rows;
  int64_t row_count, width;
  int64_t stride;  // within a row
  int64_t weight_stride, bias_stride;
  uint weight, bias, to;
  float epsilon;
  uint is_centered;  // 0: rms_norm
};

// 1 / sqrt(x), with one refinement, because the device's result may be off by 2 ULP.
float inverse_root(float x) {
  float root = inversesqrt(x);
  if (!(x > 0.0 && x < 3.0e38)) return root;
  precise float error = fma(-x * root, root, 1.0);
  return fma(0.5 * root, error, root);
}

void main() {
  Parameters p = Parameters(push.parameters);
  uint64_t row = invocation() / TEAM;
  bool counts = row < uint64_t(p.row_count);
  int64_t width = counts ? p.width : 0l;
  uint64_t from = push.addresses.at[p.rows.value] + (counts ? uint64_t(offset_in(p.rows, row) * ITEM_BYTES) : 0ul);
  uint64_t to = push.addresses.at[p.to] + row * uint64_t(p.width) * ITEM_BYTES;
  float number = float(p.width);

  Sum sum = Sum(0.0, 0.0, 0u);
  float mean = 0.0;
  if (p.is_centered != 0u) {
    for (int64_t k = lane(); k < width; k += TEAM) add(sum, item(from, k * p.stride));
    mean = divide_f32(sum_of_team(total_of(sum)), number);
  }

  sum = Sum(0.0, 0.0, 0u);
  for (int64_t k = lane(); k < width; k += TEAM) {
    float distance = item(from, k * p.stride) - mean;
    add(sum, distance * distance);
  }
  float variance = divide_f32(sum_of_team(total_of(sum)), number);

  float factor = inverse_root(variance + p.epsilon);
  for (int64_t k = lane(); k < width; k += TEAM) {
    precise float y = (item(from, k * p.stride) - mean) * factor;
    if (p.weight != NO_VALUE) y *= item(push.addresses.at[p.weight], k * p.weight_stride);
    if (p.bias != NO_VALUE) y += item(push.addresses.at[p.bias], k * p.bias_stride);
    store_float(to + uint64_t(k * ITEM_BYTES), y);
  }
}
