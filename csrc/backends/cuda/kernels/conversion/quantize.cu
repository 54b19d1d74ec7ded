// Conversion of float32 to blocks, by ggml's formulas step by step, so that the bits are those of its Python package
// (gguf.quants). Eight lanes convert a block, four adjacent elements each. Limit: bytes of memory.
#include "kernels/conversion/blocks.h"
#include "kernels/device.h"

namespace ferrule::cuda {
namespace {

constexpr uint32_t all_lanes = 0xffffffffu, lanes_of_block = 8;
constexpr uint16_t nan_scale = 0x7e00;

struct alignas(16) Four {
  float at[4];
};

// Whether a lane of the same block has `value`.
__device__ __forceinline__ bool any_of_block(bool value) {
  return (__ballot_sync(all_lanes, value) >> threadIdx.x % 32 / lanes_of_block * lanes_of_block & 0xffu) != 0;
}
__device__ __forceinline__ bool has_nan(const Four& x) {
  return any_of_block(x.at[0] != x.at[0] || x.at[1] != x.at[1] || x.at[2] != x.at[2] || x.at[3] != x.at[3]);
}

// Blocks are aligned to 2 bytes.
__device__ __forceinline__ void store_bytes(void* to, uint32_t bytes) {
  static_cast<uint16_t*>(to)[0] = static_cast<uint16_t>(bytes);
  static_cast<uint16_t*>(to)[1] = static_cast<uint16_t>(bytes >> 16);
}

// `lane` is that within the block. `to` is null where there is no block.
__device__ __forceinline__ void quantize(const Four& x, uint32_t lane, BlockQ8_0* to) {
  const bool is_nan = has_nan(x);
  float greatest = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) greatest = fabsf(x.at[i]) > greatest ? fabsf(x.at[i]) : greatest;
#pragma unroll
  for (int step = lanes_of_block / 2; step > 0; step /= 2) {
    const float other = __shfl_xor_sync(all_lanes, greatest, step);
    greatest = other > greatest ? other : greatest;
  }
  const float scale = greatest / 127.0f, inverse = scale == 0 ? 0.0f : 1.0f / scale;
  uint32_t bytes = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    // Rounds half-way cases away from zero.
    const float number = x.at[i] * inverse, magnitude = fabsf(number), whole = floorf(magnitude);
    const float rounded = whole + floorf(2 * (magnitude - whole));
    const bool fits = rounded <= 127 && !is_nan;  // false for NaN, and for infinity from a tiny scale
    bytes |= (static_cast<uint32_t>(fits ? static_cast<int>(number < 0 ? -rounded : rounded) : 0) & 0xffu) << 8 * i;
  }
  if (to == nullptr) return;
  store_bytes(to->numbers + 4 * lane, bytes);
  if (lane == 0) to->scale = is_nan ? nan_scale : from_float<Half>(scale).bits;
}

__device__ __forceinline__ uint32_t number_of_4_bits(float scaled) {
  const float rounded = scaled + 8.5f;
  return rounded >= 15 ? 15 : rounded >= 0 ? static_cast<uint32_t>(rounded) : 0;
}

__device__ __forceinline__ void quantize(const Four& x, uint32_t lane, BlockQ4_0* to) {
  const bool is_nan = has_nan(x);
  // The element of greatest magnitude, the first of equals.
  float greatest = x.at[0];
#pragma unroll
  for (int i = 1; i < 4; ++i) greatest = fabsf(x.at[i]) > fabsf(greatest) ? x.at[i] : greatest;
  uint32_t place = lane;
#pragma unroll
  for (int step = lanes_of_block / 2; step > 0; step /= 2) {
    const float other = __shfl_xor_sync(all_lanes, greatest, step);
    const uint32_t other_place = __shfl_xor_sync(all_lanes, place, step);
    const bool is_greater = fabsf(other) > fabsf(greatest);
    if (is_greater || (fabsf(other) == fabsf(greatest) && other_place < place)) {
      greatest = other;
      place = other_place;
    }
  }
  const float scale = greatest / -8.0f, inverse = scale == 0 ? 0.0f : 1.0f / scale;
  uint32_t bytes = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) bytes |= number_of_4_bits(x.at[i] * inverse) << 8 * i;
  // The lower halves of the bytes are the first 16 elements.
  const uint32_t high = __shfl_down_sync(all_lanes, bytes, lanes_of_block / 2);
  if (to == nullptr) return;
  if (lane < lanes_of_block / 2) store_bytes(to->numbers + 4 * lane, is_nan ? 0 : bytes | high << 4);
  if (lane == 0) to->scale = is_nan ? nan_scale : from_float<Half>(scale).bits;
}

template <class Block>
__device__ __forceinline__ void quantize_blocks(const QuantizeParameters& p) {
  constexpr uint32_t together = 32 / lanes_of_block;  // blocks of a warp
  const uint32_t lane = threadIdx.x % lanes_of_block, own = threadIdx.x % 32 / lanes_of_block;
  const uint64_t step = thread_count() / lanes_of_block;
  for (uint64_t first = thread_number() / 32 * together; first < p.count; first += step) {
    const uint64_t number = first + own;
    const bool is_there = number < p.count;
    Four x = {};
    if (is_there) {
      const float* const from = pointer<const float>(p.from) + offset_of(p.blocks, number) + 4 * lane;
      if (reinterpret_cast<uintptr_t>(from) % sizeof(Four) == 0) {
        x = *reinterpret_cast<const Four*>(from);
      } else {
#pragma unroll
        for (int i = 0; i < 4; ++i) x.at[i] = from[i];
      }
    }
    quantize(x, lane, is_there ? pointer<Block>(p.to) + number : nullptr);
  }
}

}  // namespace
}  // namespace ferrule::cuda

using namespace ferrule::cuda;

FERRULE_KERNEL(quantize_q8_0, QuantizeParameters, 256) { quantize_blocks<BlockQ8_0>(p); }
FERRULE_KERNEL(quantize_q4_0, QuantizeParameters, 256) { quantize_blocks<BlockQ4_0>(p); }
