// Conversions between block dtypes and float32. Encoding follows ggml's formulas step by step in float32, and so gives
// the same bits as its Python package (gguf.quants).
#include "block_decoding.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// A block that contains NaN becomes NaN as a whole, because it has one scale.
bool has_nan(const float* x) {
  bool found = false;
  for (int64_t i = 0; i < 32; ++i) found |= x[i] != x[i];
  return found;
}
constexpr Float16 nan_scale = {0x7e00};

void quantize(const float* x, Block<DType::q8_0>& block) {
  float greatest = 0;
  for (int64_t i = 0; i < 32; ++i) greatest = __builtin_fabsf(x[i]) > greatest ? __builtin_fabsf(x[i]) : greatest;
  const bool nan = has_nan(x);
  const float scale = greatest / 127.0f, inverse = scale == 0 ? 0.0f : 1.0f / scale;
  block.scale = nan ? nan_scale : narrow_f16(scale);
  for (int64_t i = 0; i < 32; ++i) {
    // Rounds half-way cases away from zero.
    const float number = x[i] * inverse, magnitude = __builtin_fabsf(number), whole = __builtin_floorf(magnitude);
    const float rounded = whole + __builtin_floorf(2 * (magnitude - whole));
    const bool fits = rounded <= 127 && !nan;  // false for NaN, and for infinity from a tiny scale
    block.numbers[i] = static_cast<int8_t>(fits ? static_cast<int>(number < 0 ? -rounded : rounded) : 0);
  }
}

int number_of_4_bits(float scaled) {
  const float rounded = scaled + 8.5f;
  return rounded >= 15 ? 15 : rounded >= 0 ? static_cast<int>(rounded) : 0;
}

void quantize(const float* x, Block<DType::q4_0>& block) {
  float greatest = __builtin_fabsf(x[0]), signed_greatest = x[0];  // the first of equals
  for (int64_t i = 1; i < 32; ++i)
    if (__builtin_fabsf(x[i]) > greatest) {
      greatest = __builtin_fabsf(x[i]);
      signed_greatest = x[i];
    }
  const bool nan = has_nan(x);
  const float scale = signed_greatest / -8.0f;
  const float inverse = scale == 0 ? 0 : 1.0f / scale;
  block.scale = nan ? nan_scale : narrow_f16(scale);
  for (int64_t i = 0; i < 16; ++i) {
    const int low = number_of_4_bits(x[i] * inverse);
    const int high = number_of_4_bits(x[i + 16] * inverse);
    block.numbers[i] = static_cast<uint8_t>(nan ? 0 : low | high << 4);
  }
}

template <class Block>
fe_error* to_float(const Call& call) {
  const Block* from = reinterpret_cast<const Block*>(call.in[0].data);
  float* to = reinterpret_cast<float*>(call.out[0].data);
  return for_each_block(call, call.in[0], Block::elements, [from, to](int64_t at, int64_t number) {
    for (int64_t k = 0; k < Block::elements / 32; ++k)
      decode_part(from[at / Block::elements], k, to + number * Block::elements + 32 * k);
  });
}

template <class Block>
fe_error* from_float(const Call& call) {
  const float* from = reinterpret_cast<const float*>(call.in[0].data);
  Block* to = reinterpret_cast<Block*>(call.out[0].data);
  return for_each_block(call, call.in[0], Block::elements,
                        [from, to](int64_t at, int64_t number) { quantize(from + at, to[number]); });
}

// Whether float32 is encoded as blocks of the type.
template <class Block>
constexpr bool is_encoded = requires(const float* x, Block& block) {
  quantize(x, block);
};

bool becomes_float32(const Call& call) { return call.out[0].dtype == DType::f32; }
bool becomes_blocks(const Call& call) {
  switch (call.out[0].dtype) {
#define FERRULE_CASE(id, ...) \
  case DType::id:             \
    return is_encoded<Block<DType::id>>;
    FE_DTYPES(FE_NO_DTYPE, FERRULE_CASE)
#undef FERRULE_CASE
    default:
      return false;
  }
}

}  // namespace

KERNEL(dequantize, .op = "astype", .dtypes = block_dtypes, .layouts = {FE_LAYOUT_ROWS}, .accepts = becomes_float32) {
  return with_block(call.in[0].dtype, [&](auto block) { return to_float<decltype(block)>(call); });
}

KERNEL(quantize, .op = "astype", .dtypes = f32, .layouts = {FE_LAYOUT_ROWS}, .accepts = becomes_blocks) {
  return with_block(call.out[0].dtype, [&](auto block) -> fe_error* {
    if constexpr (is_encoded<decltype(block)>) return from_float<decltype(block)>(call);
    return nullptr;
  });
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
