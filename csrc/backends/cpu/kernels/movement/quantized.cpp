// Copies and slices of block dtypes, block by block.
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

bool same_dtypes(const Call& call) { return call.in[0].dtype == call.out[0].dtype; }

}  // namespace

KERNEL(copy_blocks, .op = "copy", .dtypes = block_dtypes, .layouts = {FE_LAYOUT_ROWS}, .accepts = same_dtypes) {
  const Operand& x = call.in[0];
  return with_block(x.dtype, [&](auto block) { return moved<decltype(block)>(call, x, 0); });
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
