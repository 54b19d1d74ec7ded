// What the shaders of matrix products have in common. Every element is added up alike, whichever computes it: along K in
// segments of 512, each from zero and in order, up to a multiple of 16 with zeros; then the segments in order. So the bits
// of a row depend on itself and the other matrix alone, and shaders and tiles may be chosen freely.
//
// Each has two constants: SEGMENTED, K has more than one segment; SPLIT, a workgroup has one segment.
#include "product.glsl"

#define STEP 16
#define SEGMENT 512

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Parameters {
  Layout a_batches, b_batches;
  int64_t a_row, a_column, b_row, b_column, to_row, to_column;
  uint64_t batches;
  uint m, n, k;
  uint reserved;
  Layout operands[];
};
#define PARAMETER_BYTES 344

// What is spliced where K is split: the sum of a segment is left for matmul_segments.comp.
uint64_t partials;  // an address
void leave_partial() { Partial(partials + element * VALUE_BYTES).at = result; }

uint64_t bytes_to(uint row, int64_t row_stride, uint column, int64_t column_stride) {
  int64_t offset = int64_t(uint64_t(row)) * row_stride + int64_t(uint64_t(column)) * column_stride;
  return uint64_t(offset * ITEM_BYTES);
}
