// The dtypes: one row each. To add one, append a row here and kernels where they make sense.
#pragma once

#include <ferrule/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ferrule {

// The value is the fe_dtype id; 0 is no dtype.
enum class DType : fe_dtype {
  none,
  boolean,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float32,
  float64,
  float16,
  bfloat16,
};

struct DTypeRow {
  DType dtype;
  const char* name;
  std::size_t size;  // bytes of one element
  fe_dtype_class kind;
};

inline constexpr std::array<DTypeRow, 13> dtype_rows = {{
    {DType::boolean, "bool", 1, FE_CLASS_BOOL},
    {DType::int8, "int8", 1, FE_CLASS_SIGNED},
    {DType::int16, "int16", 2, FE_CLASS_SIGNED},
    {DType::int32, "int32", 4, FE_CLASS_SIGNED},
    {DType::int64, "int64", 8, FE_CLASS_SIGNED},
    {DType::uint8, "uint8", 1, FE_CLASS_UNSIGNED},
    {DType::uint16, "uint16", 2, FE_CLASS_UNSIGNED},
    {DType::uint32, "uint32", 4, FE_CLASS_UNSIGNED},
    {DType::uint64, "uint64", 8, FE_CLASS_UNSIGNED},
    {DType::float32, "float32", 4, FE_CLASS_FLOAT},
    {DType::float64, "float64", 8, FE_CLASS_FLOAT},
    {DType::float16, "float16", 2, FE_CLASS_FLOAT},
    {DType::bfloat16, "bfloat16", 2, FE_CLASS_FLOAT},
}};

// The row of a dtype, or nullptr when the id is none of ours.
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
constexpr std::size_t size_of(DType dtype) { return row_of(dtype).size; }
constexpr fe_dtype_class class_of(DType dtype) { return row_of(dtype).kind; }
constexpr bool is_floating(DType dtype) { return class_of(dtype) == FE_CLASS_FLOAT; }
// Stored in 16 bits and computed in float32.
constexpr bool is_half(DType dtype) { return is_floating(dtype) && size_of(dtype) == 2; }
constexpr bool is_integer(DType dtype) {
  return class_of(dtype) == FE_CLASS_SIGNED || class_of(dtype) == FE_CLASS_UNSIGNED;
}

// The common dtype of two arrays. Within a kind the table of the Python array API standard (2024.12); across kinds,
// which it leaves open, the higher kind's dtype (bool < integer < floating); of the two halves, of which neither holds
// the other, float32. DType::none when there is none (uint64 with a signed integer).
DType promote(DType a, DType b);

}  // namespace ferrule
