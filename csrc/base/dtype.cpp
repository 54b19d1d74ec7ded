#include "base/dtype.h"

#include <algorithm>
#include <utility>

namespace ferrule {
namespace {

DType signed_of_size(int64_t bytes) {
  for (const DTypeRow& row : dtype_rows)
    if (row.dtype_class == FE_CLASS_SIGNED && row.block_bytes == bytes) return row.dtype;
  return DType::none;
}

}  // namespace

int rank_of_kind(DType dtype) {
  switch (class_of(dtype)) {
    case FE_CLASS_BOOL:
      return 0;
    case FE_CLASS_SIGNED:
    case FE_CLASS_UNSIGNED:
      return 1;
    case FE_CLASS_FLOAT:
      return 2;
    default:
      return 3;
  }
}

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (is_block(a) || is_block(b)) return DType::none;
  if (rank_of_kind(a) > rank_of_kind(b)) std::swap(a, b);
  if (is_complex(b) && a == DType::float64) return DType::complex128;
  if (rank_of_kind(a) != rank_of_kind(b)) return b;
  if (is_floating(a) && block_bytes(a) == block_bytes(b)) return DType::float32;
  if (class_of(a) == class_of(b)) return block_bytes(a) > block_bytes(b) ? a : b;
  const DType unsigned_one = class_of(a) == FE_CLASS_UNSIGNED ? a : b;
  const DType signed_one = class_of(a) == FE_CLASS_UNSIGNED ? b : a;
  return signed_of_size(std::max(block_bytes(signed_one), 2 * block_bytes(unsigned_one)));
}

}  // namespace ferrule
