// Encodes float32 as q8_0 or q4_0, by ggml's formulas step by step, so that the bits are those of its Python package
// (gguf.quants). A block that contains NaN becomes NaN as a whole, because it has one scale. An invocation encodes a
// block of 32 elements.
// variants: q8_0 q4_0
#version 460
#extension GL_GOOGLE_include_directive : require
#include "../shader_interface.glsl"
#include "../elementwise/float_bits.glsl"
#include "../elementwise/half_precision.glsl"
#include "../elementwise/arithmetic/float32.glsl"

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Parameters {
  Layout blocks;  // of the array: strides in elements
  int64_t count;
  uint to;
};

#define NAN_SCALE 0x7e00u

float element(uint64_t x, uint i) { return RefF32(x + i * 4u).at; }

void main() {
  Parameters p = Parameters(push.parameters);
  uint64_t number = invocation();
  if (number >= uint64_t(p.count)) return;
  uint64_t x = push.addresses.at[p.blocks.value] + uint64_t(offset_in(p.blocks, number) * 4);

  // The element of greatest magnitude, the first of equals: NaN if there is one.
  float greatest = element(x, 0u);
  for (uint i = 1u; i < 32u; ++i)
    if (magnitude_bits(element(x, i)) > magnitude_bits(greatest)) greatest = element(x, i);
#ifdef VARIANT_q8
  float scale = divide_f32(abs_f32(greatest), 127.0);
  const uint words = 16u;
#else
  float scale = divide_f32(greatest, -8.0);
  const uint words = 8u;
#endif
  float inverse = is_zero(scale) ? 0.0 : reciprocal_f32(scale);
  uint64_t to = push.addresses.at[p.to] + number * ((words + 1u) * 2u);
  RefU16(to).at = uint16_t(is_nan(scale) ? NAN_SCALE : narrowed_f16(as_f16(scale)));
  for (uint word = 0u; word < words; ++word) {
    uint bits = 0u;
#ifdef VARIANT_q8
    for (uint k = 0u; k < 2u; ++k) {
      // Rounds half-way cases away from zero.
      float scaled = multiply_f32(element(x, 2u * word + k), inverse), magnitude = abs_f32(scaled);
      float whole = floor(magnitude), nearest = whole + floor(2.0 * (magnitude - whole));
      // False for NaN, and for infinity from a tiny scale.
      if (nearest <= 127.0) bits |= (uint(sign_bit(scaled) != 0u ? -int(nearest) : int(nearest)) & 0xffu) << 8u * k;
    }
#else
    // The lower halves of the bytes are the first 16 elements.
    for (uint k = 0u; k < 4u; ++k) {
      float raised = add_f32(multiply_f32(element(x, 2u * word + k % 2u + k / 2u * 16u), inverse), 8.5);
      uint four = raised >= 15.0 ? 15u : raised >= 0.0 ? uint(raised) : 0u;
      bits |= four << (k % 2u * 8u + k / 2u * 4u);
    }
#endif
    RefU16(to + (word + 1u) * 2u).at = uint16_t(is_nan(scale) ? 0u : bits);
  }
}
