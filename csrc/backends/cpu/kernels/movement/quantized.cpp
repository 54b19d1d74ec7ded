// Copies, slices and joins of block dtypes, block by block.
#include "../op_attributes.h"
#include "../quantized_blocks.h"
#include "slicing.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// Copies the elements of x, which is an input or a part of one, starting at the element `first` of its memory.
template <class Block>
fe_error* moved(const Call& call, const Operand& x, int64_t first) {
  const Block* from = reinterpret_cast<const Block*>(x.data) + first / Block::elements;
  Block* to = reinterpret_cast<Block*>(call.out[0].data);
  return for_each_block(call, x, Block::elements,
                        [from, to](int64_t at, int64_t number) { to[number] = from[at / Block::elements]; });
}

bool same_dtypes(const Call& call) {
  for (uint32_t i = 0; i < call.in_count; ++i)
    if (call.in[i].dtype != call.out[0].dtype) return false;
  return true;
}

// Copies x to where its part of the joined axis begins. `at`: in blocks, of the first row.
template <class Block>
fe_error* joined(const Call& call, const Operand& x, int64_t axis, int64_t at) {
  int64_t inner = 1;  // elements of one place of the axis
  for (int32_t i = static_cast<int32_t>(axis) + 1; i < x.rank; ++i) inner *= x.shape[i];
  const int64_t row = x.shape[axis] * inner / Block::elements,
                to_row = call.out[0].shape[axis] * inner / Block::elements;
  const Block* from = reinterpret_cast<const Block*>(x.data);
  Block* to = reinterpret_cast<Block*>(call.out[0].data) + at;
  return for_each_block(call, x, Block::elements, [=](int64_t element, int64_t number) {
    to[number / row * to_row + number % row] = from[element / Block::elements];
  });
}

}  // namespace

KERNEL(copy_blocks, .op = "copy", .dtypes = block_dtypes, .layouts = {FE_LAYOUT_ROWS}, .accepts = same_dtypes) {
  const Operand& x = call.in[0];
  return with_block(x.dtype, [&](auto block) { return moved<decltype(block)>(call, x, 0); });
}

KERNEL(concat_blocks, .op = "concat", .dtypes = block_dtypes,
       .layouts = {FE_LAYOUT_ROWS, FE_LAYOUT_ROWS, FE_LAYOUT_ROWS, FE_LAYOUT_ROWS}, .accepts = same_dtypes) {
  const int64_t axis = attributes_of<fe_concat_attributes>(call).axis;
  return with_block(call.out[0].dtype, [&](auto block) -> fe_error* {
    using Block = decltype(block);
    int64_t at = 0;
    for (uint32_t i = 0; i < call.in_count; ++i) {
      const Operand& x = call.in[i];
      if (fe_error* error = joined<Block>(call, x, axis, at)) return error;
      int64_t size = 1;
      for (int32_t k = static_cast<int32_t>(axis); k < x.rank; ++k) size *= x.shape[k];
      at += size / Block::elements;
    }
    return nullptr;
  });
}

KERNEL(dynamic_slice_blocks, .op = "dynamic_slice", .dtypes = block_dtypes, .layouts = {FE_LAYOUT_ROWS},
       .accepts = accepts_slice) {
  Operand part = call.in[0];
  int64_t first;
  if (fe_error* error = find_slice(call, "dynamic_slice", part, call.out[0].shape, 1, first)) return error;
  for (int32_t axis = 0; axis < part.rank; ++axis) part.shape[axis] = call.out[0].shape[axis];
  return with_block(part.dtype, [&](auto block) { return moved<decltype(block)>(call, part, first); });
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
