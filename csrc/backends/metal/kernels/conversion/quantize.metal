// Encodes float32 as q8_0 or q4_0, by ggml's formulas step by step, so that the bits are those of its Python package
// (gguf.quants). A block that contains NaN becomes NaN as a whole, because it has one scale. A thread encodes a block.
#include "elementwise/arithmetic.metal"

#define BLOCK_ELEMENTS 32

struct Parameters {
  Layout blocks;  // of the array; strides in elements
  ulong count;
};

constant ushort nan_scale = 0x7e00;

// The element of greatest magnitude, the first of equals: NaN if there is one.
inline float greatest_of(device const float* x) {
  float greatest = x[0];
  for (uint i = 1; i < BLOCK_ELEMENTS; ++i)
    if (magnitude_bits(x[i]) > magnitude_bits(greatest)) greatest = x[i];
  return greatest;
}
inline ushort scale_bits(float scale) { return is_nan(scale) ? nan_scale : narrowed_f16(rounded_f16(scale)); }
inline float inverse_of(float scale) { return is_zero(scale) ? 0.0f : op_reciprocal(scale); }

// Rounds half-way cases away from zero.
inline uint byte_of(float number) {
  const float magnitude = magnitude_of(number), whole = floor(magnitude);
  const float nearest = whole + floor(2 * (magnitude - whole));
  if (!(nearest <= 127)) return 0;  // NaN, and infinity from a tiny scale
  return uint(is_negative(number) ? -int(nearest) : int(nearest)) & 0xffu;
}

kernel void quantize_q8_0(device const float* from [[buffer(0)]], device ushort* to [[buffer(1)]],
                          constant Parameters& p [[buffer(30)]], GRID_PARAMETERS) {
  const ulong number = THREAD_NUMBER;
  if (number >= p.count) return;
  device const float* const x = from + offset_in(p.blocks, number);
  device ushort* const block = to + number * 17;
  const float scale = op_divide(magnitude_of(greatest_of(x)), 127.0f), inverse = inverse_of(scale);
  block[0] = scale_bits(scale);
  for (uint i = 0; i < BLOCK_ELEMENTS; i += 2)
    block[1 + i / 2] = is_nan(scale) ? 0 : ushort(byte_of(op_multiply(x[i], inverse)) |
                                                  byte_of(op_multiply(x[i + 1], inverse)) << 8);
}

inline uint four_bits_of(float number) {
  const float raised = number + 8.5f;
  return raised >= 15 ? 15 : raised >= 0 ? uint(raised) : 0;
}

// The lower halves of the bytes are the first 16 elements.
kernel void quantize_q4_0(device const float* from [[buffer(0)]], device ushort* to [[buffer(1)]],
                          constant Parameters& p [[buffer(30)]], GRID_PARAMETERS) {
  const ulong number = THREAD_NUMBER;
  if (number >= p.count) return;
  device const float* const x = from + offset_in(p.blocks, number);
  device ushort* const block = to + number * 9;
  const float scale = op_divide(greatest_of(x), -8.0f), inverse = inverse_of(scale);
  block[0] = scale_bits(scale);
  for (uint i = 0; i < 16; i += 2) {
    uint bits = 0;
    for (uint k = 0; k < 4; ++k)
      bits |= four_bits_of(op_multiply(x[i + k % 2 + k / 2 * 16], inverse)) << (k % 2 * 8 + k / 2 * 4);
    block[1 + i / 2] = is_nan(scale) ? 0 : ushort(bits);
  }
}
