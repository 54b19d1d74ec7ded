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

constexpr auto infos = [] {
  std::array<fe_dtype_info, dtype_rows.size()> table{};
  for (std::size_t i = 0; i < table.size(); ++i) {
    const DTypeRow& row = dtype_rows[i];
    table[i] = {sizeof(fe_dtype_info), row.name, static_cast<uint32_t>(row.dtype_class), row.block_elements,
                row.block_bytes};
  }
  return table;
}();

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

const fe_dtype_info* info_of(fe_dtype id) { return find_dtype(id) ? &infos[id - 1] : nullptr; }

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
