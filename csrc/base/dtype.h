// The dtypes (ferrule/dtypes.h) as an enumeration, and what the core asks about them.
#pragma once

#include <ferrule/cpp/dtypes.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ferrule {

// The value is the fe_dtype id; 0 is not a dtype.
enum class DType : fe_dtype {
  none,
#define FERRULE_ENUMERATOR(id, ...) id,
  FE_DTYPES(FERRULE_ENUMERATOR, FERRULE_ENUMERATOR)
#undef FERRULE_ENUMERATOR
};

struct DTypeRow : sdk::DTypeInfo {
  DType dtype;
};

inline constexpr auto dtype_rows = [] {
  std::array<DTypeRow, sdk::dtype_count> rows{};
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = {sdk::dtype_table[i], static_cast<DType>(i + 1)};
  return rows;
}();

// The row of a dtype; nullptr for an unknown id.
constexpr const DTypeRow* find_dtype(fe_dtype id) {
  return id >= 1 && id <= dtype_rows.size() ? &dtype_rows[id - 1] : nullptr;
}
constexpr const DTypeRow* find_dtype(std::string_view name) {
  for (const DTypeRow& row : dtype_rows)
    if (name == row.name) return &row;
  return nullptr;
}
constexpr const DTypeRow& row_of(DType dtype) { return dtype_rows[static_cast<fe_dtype>(dtype) - 1]; }
constexpr const char* name_of(DType dtype) { return row_of(dtype).name; }
constexpr fe_dtype_class class_of(DType dtype) { return static_cast<fe_dtype_class>(row_of(dtype).dtype_class); }
constexpr bool is_floating(DType dtype) { return row_of(dtype).is_floating(); }
// 16-bit floats, which are computed in float32.
constexpr bool is_half(DType dtype) { return row_of(dtype).is_half(); }
// 8-bit floats (OCP OFP8, 2023). They can only be moved, compared for equality and cast.
constexpr bool is_float8(DType dtype) { return row_of(dtype).is_float8(); }
// Dtypes whose elements are not addressable. Arrays can only be cut into whole blocks, and cast.
constexpr bool is_block(DType dtype) { return row_of(dtype).is_block(); }
constexpr bool is_complex(DType dtype) { return row_of(dtype).is_complex(); }
constexpr bool is_integer(DType dtype) { return row_of(dtype).is_integer(); }

// Bytes of an element of a plain dtype, or of a block of a block dtype.
constexpr int64_t block_bytes(DType dtype) { return row_of(dtype).block_bytes; }
constexpr int64_t block_elements(DType dtype) { return row_of(dtype).block_elements; }
// Size in bytes of a whole number of blocks of elements. Negative for a negative number, such as an offset.
constexpr int64_t bytes_of(DType dtype, int64_t elements) {
  return elements / block_elements(dtype) * block_bytes(dtype);
}
// Number of elements in `bytes`, a whole number of blocks.
constexpr int64_t elements_in(DType dtype, uint64_t bytes) {
  return static_cast<int64_t>(bytes) / block_bytes(dtype) * block_elements(dtype);
}
// Alignment of a block in bytes: the largest power of two that divides its size.
constexpr uint64_t alignment_of(DType dtype) {
  const auto bytes = static_cast<uint64_t>(block_bytes(dtype));
  return bytes & (~bytes + 1);
}

// The dtype of the real and the imaginary part of a complex dtype; another dtype is returned unchanged.
constexpr DType real_dtype_of(DType dtype) {
  for (const DTypeRow& row : dtype_rows)
    if (sdk::is_part_of(row, row_of(dtype))) return row.dtype;
  return dtype;
}
// The complex dtype of two such parts; a dtype that is the part of none is returned unchanged.
constexpr DType complex_dtype_of(DType dtype) {
  for (const DTypeRow& row : dtype_rows)
    if (sdk::is_part_of(row_of(dtype), row)) return row.dtype;
  return dtype;
}
// The rank of a dtype's kind in promotion, in ascending order: bool, integer, floating, complex.
int rank_of_kind(DType dtype);

// The row as the public struct; nullptr for an unknown id.
constexpr const fe_dtype_info* info_of(fe_dtype id) { return find_dtype(id); }

// The common dtype of two arrays. Within a kind, and for floating with complex dtypes, it is that of the Python array
// API standard (2024.12). For other mixed kinds, which the standard leaves open, it is the dtype of the higher kind
// (bool < integer < floating < complex). For two floating dtypes of which neither contains the other (the halves, the
// float8), it is float32. DType::none if there is none (uint64 with a signed integer, a block dtype with any other).
DType promote(DType a, DType b);

}  // namespace ferrule
