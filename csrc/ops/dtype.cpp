#include "ops/dtype.h"

#include <algorithm>

namespace ferrule {
namespace {

int rank_of_kind(DType dtype) {
  switch (class_of(dtype)) {
    case FE_CLASS_BOOL:
      return 0;
    case FE_CLASS_SIGNED:
    case FE_CLASS_UNSIGNED:
      return 1;
    default:
      return 2;
  }
}

DType signed_of_size(std::size_t size) {
  for (const DTypeRow& row : dtype_rows)
    if (row.kind == FE_CLASS_SIGNED && row.size == size) return row.dtype;
  return DType::none;
}

}  // namespace

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (rank_of_kind(a) != rank_of_kind(b)) return rank_of_kind(a) > rank_of_kind(b) ? a : b;
  if (is_half(a) && is_half(b)) return DType::float32;
  if (class_of(a) == class_of(b)) return size_of(a) > size_of(b) ? a : b;
  const DType unsigned_one = class_of(a) == FE_CLASS_UNSIGNED ? a : b;
  const DType signed_one = class_of(a) == FE_CLASS_UNSIGNED ? b : a;
  return signed_of_size(std::max(size_of(signed_one), 2 * size_of(unsigned_one)));
}

}  // namespace ferrule
