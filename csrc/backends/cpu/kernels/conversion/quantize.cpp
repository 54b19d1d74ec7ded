// Conversions between block dtypes and float32.
#include "block_encoding.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

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

#define FERRULE_BLOCK(id, elements, bytes, encoded, ...) \
  static_assert(!has_block<DType::id> || is_encoded<Block<DType::id>> == (encoded != 0));
FE_DTYPES(FE_NO_DTYPE, FERRULE_BLOCK)
#undef FERRULE_BLOCK

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
