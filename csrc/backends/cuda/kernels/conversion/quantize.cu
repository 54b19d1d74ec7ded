// Conversion of float32 to blocks, by ggml's formulas step by step, so that the bits are those of its Python package
// (gguf.quants). A warp converts a block. Limit: bytes of memory.
#include "kernels/conversion/blocks.h"
#include "kernels/device.h"

namespace ferrule::cuda {
namespace {

constexpr uint32_t all_lanes = 0xffffffffu;
constexpr uint16_t nan_scale = 0x7e00;

// A block that contains NaN becomes NaN as a whole, because it has one scale.
__device__ __forceinline__ void quantize(float x, uint32_t lane, BlockQ8_0& block) {
  const bool has_nan = __any_sync(all_lanes, x != x) != 0;
  float greatest = x != x ? 0.0f : fabsf(x);
  for (int step = 16; step > 0; step /= 2) {
    const float other = __shfl_xor_sync(all_lanes, greatest, step);
    greatest = other > greatest ? other : greatest;
  }
  const float scale = greatest / 127.0f, inverse = scale == 0 ? 0.0f : 1.0f / scale;
  // Rounds half-way cases away from zero.
  const float number = x * inverse, magnitude = fabsf(number), whole = floorf(magnitude);
  const float rounded = whole + floorf(2 * (magnitude - whole));
  const bool fits = rounded <= 127 && !has_nan;  // false for NaN, and for infinity from a tiny scale
  block.numbers[lane] = static_cast<int8_t>(fits ? static_cast<int>(number < 0 ? -rounded : rounded) : 0);
  if (lane == 0) block.scale = has_nan ? nan_scale : from_float<Half>(scale).bits;
}

__device__ __forceinline__ uint32_t number_of_4_bits(float scaled) {
  const float rounded = scaled + 8.5f;
  return rounded >= 15 ? 15 : rounded >= 0 ? static_cast<uint32_t>(rounded) : 0;
}

__device__ __forceinline__ void quantize(float x, uint32_t lane, BlockQ4_0& block) {
  const bool has_nan = __any_sync(all_lanes, x != x) != 0;
  // The element of greatest magnitude, the first of equals.
  float greatest = has_nan ? 0.0f : x;
  uint32_t place = lane;
  for (int step = 16; step > 0; step /= 2) {
    const float other = __shfl_xor_sync(all_lanes, greatest, step);
    const uint32_t other_place = __shfl_xor_sync(all_lanes, place, step);
    const bool is_greater = fabsf(other) > fabsf(greatest);
    if (is_greater || (fabsf(other) == fabsf(greatest) && other_place < place)) {
      greatest = other;
      place = other_place;
    }
  }
  const float scale = greatest / -8.0f, inverse = scale == 0 ? 0.0f : 1.0f / scale;
  const uint32_t number = number_of_4_bits(x * inverse);
  const uint32_t high = __shfl_down_sync(all_lanes, number, 16);
  if (lane < 16) block.numbers[lane] = static_cast<uint8_t>(has_nan ? 0 : number | high << 4);
  if (lane == 0) block.scale = has_nan ? nan_scale : from_float<Half>(scale).bits;
}

template <class Block>
__device__ __forceinline__ void quantize_blocks(const QuantizeParameters& p) {
  const uint32_t lane = threadIdx.x % 32;
  const uint64_t warps = thread_count() / 32;
  for (uint64_t number = thread_number() / 32; number < p.count; number += warps) {
    const float x = pointer<const float>(p.from)[offset_of(p.blocks, number) + lane];
    quantize(x, lane, pointer<Block>(p.to)[number]);
  }
}

}  // namespace
}  // namespace ferrule::cuda

using namespace ferrule::cuda;

FERRULE_KERNEL(quantize_q8_0, QuantizeParameters, 256) { quantize_blocks<BlockQ8_0>(p); }
FERRULE_KERNEL(quantize_q4_0, QuantizeParameters, 256) { quantize_blocks<BlockQ4_0>(p); }
