// The weights of blocks: <ferrule/kernels/block_weights.inc> for one dtype, which a constant of the pipeline chooses. A block
// is its address. In front: a buffer Parameters with `uint16_t codebook[]`, because drivers compile large constants
// slowly.
#define BLOCK uint64_t
#define BYTE(block, number) uint(RefU8(block + uint64_t(number)).at)
#define BLOCK_FUNCTION
#define FUNCTION
#define NUMBERS(numbers) inout int numbers[8]
#define FLOAT16(bits) widened_f16(bits)
#define BITS_AS_FLOAT(bits) uintBitsToFloat(bits)
#define TABLE(type) const type
#define CODEBOOK(name, index) uint(Parameters(push.parameters).codebook[index])
#include "ferrule/kernels/block_weights.inc"

#ifndef DTYPE_CONSTANT
#define DTYPE_CONSTANT 3
#endif
// Which of the block dtypes of FE_DTYPES.
layout(constant_id = DTYPE_CONSTANT) const uint DTYPE = 0;

#define EACH_DTYPE(CASE)                                                                                              \
  CASE(0, q8_0) CASE(1, q4_0) CASE(2, q4_K) CASE(3, q6_K) CASE(4, q4_1) CASE(5, q5_0) CASE(6, q5_1) CASE(7, q2_K)     \
  CASE(8, q3_K) CASE(9, q5_K) CASE(10, iq1_s) CASE(11, iq1_m) CASE(12, iq2_xxs) CASE(13, iq2_xs) CASE(14, iq2_s)      \
  CASE(15, iq3_xxs) CASE(16, iq3_s) CASE(17, iq4_nl) CASE(18, iq4_xs) CASE(19, tq1_0) CASE(20, tq2_0) CASE(21, mxfp4) \
  CASE(22, nvfp4)

// The weights of eight elements from `first` on, a multiple of 8.
void decode(uint64_t block, uint first, out float weights[8]) {
  int numbers[8];
  float scale, least;
  switch (DTYPE) {
#define CASE(row, dtype)                         \
  case row:                                      \
    dtype##_numbers(block, first, numbers);      \
    scale = dtype##_scale(block, first / 16u);   \
    least = dtype##_least(block, first / 16u);   \
    break;
    EACH_DTYPE(CASE)
#undef CASE
  }
  for (uint i = 0u; i < 8u; ++i) {
    precise float product = scale * float(numbers[i]);
    precise float weight = product - least;
    weights[i] = weight;
  }
}
