// Common definitions of the matrix product shaders. Each shader adds up an element in the same order: along K, in
// segments of 512, each from zero and in order, padded to a multiple of 16 with zeros; then the segments in order. So
// the bits of a row depend only on the row and the other matrix, and any shader and tile may be chosen.
//
// Each has two constants: SEGMENTED if K has more than one segment; SPLIT if a workgroup computes one segment.
#include "product.glsl"

#define STEP 16
#define SEGMENT 512

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Parameters {
  Layout a_batches, b_batches;
  int64_t a_row, a_column, b_row, b_column, to_row, to_column;
  int64_t b_first;  // of blocks, in bytes
  uint64_t batches;
  uint m, n, k;
  uint codebook_bytes;
  uint16_t codebook[];  // of blocks (../block_weights.glsl); behind it Layout operands[]
};
#define PARAMETER_BYTES 352

// Spliced in where K is split: stores the sum of a segment for matmul_segments.comp.
uint64_t partials;  // an address
void leave_partial() { Partial(partials + element * VALUE_BYTES).at = result; }

uint64_t bytes_to(uint row, int64_t row_stride, uint column, int64_t column_stride) {
  int64_t offset = int64_t(uint64_t(row)) * row_stride + int64_t(uint64_t(column)) * column_stride;
  return uint64_t(offset * ITEM_BYTES);
}
