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

// The power of two that a row is multiplied by if the mean of its squares is out of range.
float factor_for(float mean_square) {
  return !(mean_square < 3.4e38) ? 8.077935669e-28 : mean_square < 7.888609052e-31 ? 1.237940039e27 : 1.0;  // 2^-90, 2^90
}

shared uint has_scaled_row;

void main() {
  Parameters p = Parameters(push.parameters);
  uint64_t row = invocation() / TEAM;
  bool counts = row < uint64_t(p.row_count);
  int64_t width = counts ? p.width : 0l;
  uint64_t from = push.addresses.at[p.rows.value] + (counts ? uint64_t(offset_in(p.rows, row) * ITEM_BYTES) : 0ul);
  uint64_t to = push.addresses.at[p.to] + row * uint64_t(p.width) * ITEM_BYTES;
  float number = float(p.width);

  if (own_index() == 0u) has_scaled_row = 0u;
  float by = 1.0, mean = 0.0, mean_square;
  for (uint attempt = 0u;; ++attempt) {
    Sum sum = Sum(0.0, 0.0, 0u);
    if (p.is_centered != 0u) {
      for (int64_t k = lane(); k < width; k += TEAM) add(sum, item(from, k * p.stride) * by);
      mean = divide_f32(sum_of_team(total_of(sum)), number);
    }

    sum = Sum(0.0, 0.0, 0u);
    for (int64_t k = lane(); k < width; k += TEAM) {
      float distance = item(from, k * p.stride) * by - mean;
      add(sum, distance * distance);
    }
    mean_square = divide_f32(sum_of_team(total_of(sum)), number) + p.epsilon * by * by;
    if (attempt == 1u) break;
    // The invocations of all rows compute again if those of one do, because of the barriers in between.
    by = factor_for(mean_square);
    barrier();
    if (by != 1.0) atomicMax(has_scaled_row, 1u);
    barrier();
    if (has_scaled_row == 0u) break;
  }

  float factor = inverse_root(mean_square);
  for (int64_t k = lane(); k < width; k += TEAM) {
    precise float y = (item(from, k * p.stride) * by - mean) * factor;
    if (p.weight != NO_VALUE) y *= item(push.addresses.at[p.weight], k * p.weight_stride);
    if (p.bias != NO_VALUE) y += item(push.addresses.at[p.bias], k * p.bias_stride);
    store_float(to + uint64_t(k * ITEM_BYTES), y);
  }
}
