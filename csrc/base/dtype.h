// The dtypes, one row each. To add a dtype, append a row here, and kernels that support it.
#pragma once

#include <ferrule/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ferrule {

// The value is the fe_dtype id; 0 is not a dtype.
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
  float8_e4m3fn,
  float8_e5m2,
  complex64,
  complex128,
  q8_0,
  q4_0,
  q4_K,
  q6_K,
};

struct DTypeRow {
  DType dtype;
  const char* name;
  fe_dtype_class kind;
  uint32_t block_elements;
  uint32_t block_bytes;
};

inline constexpr std::array<DTypeRow, 21> dtype_rows = {{
    {DType::boolean, "bool", FE_CLASS_BOOL, 1, 1},
    {DType::int8, "int8", FE_CLASS_SIGNED, 1, 1},
    {DType::int16, "int16", FE_CLASS_SIGNED, 1, 2},
    {DType::int32, "int32", FE_CLASS_SIGNED, 1, 4},
    {DType::int64, "int64", FE_CLASS_SIGNED, 1, 8},
    {DType::uint8, "uint8", FE_CLASS_UNSIGNED, 1, 1},
    {DType::uint16, "uint16", FE_CLASS_UNSIGNED, 1, 2},
    {DType::uint32, "uint32", FE_CLASS_UNSIGNED, 1, 4},
    {DType::uint64, "uint64", FE_CLASS_UNSIGNED, 1, 8},
    {DType::float32, "float32", FE_CLASS_FLOAT, 1, 4},
    {DType::float64, "float64", FE_CLASS_FLOAT, 1, 8},
    {DType::float16, "float16", FE_CLASS_FLOAT, 1, 2},
    {DType::bfloat16, "bfloat16", FE_CLASS_FLOAT, 1, 2},
    {DType::float8_e4m3fn, "float8_e4m3fn", FE_CLASS_FLOAT, 1, 1},
    {DType::float8_e5m2, "float8_e5m2", FE_CLASS_FLOAT, 1, 1},
    {DType::complex64, "complex64", FE_CLASS_COMPLEX, 1, 8},
    {DType::complex128, "complex128", FE_CLASS_COMPLEX, 1, 16},
    // Quantised weights of GGUF files (https://github.com/ggml-org/ggml, docs/gguf.md).
    {DType::q8_0, "q8_0", FE_CLASS_BLOCK, 32, 34},
    {DType::q4_0, "q4_0", FE_CLASS_BLOCK, 32, 18},
    {DType::q4_K, "q4_K", FE_CLASS_BLOCK, 256, 144},
    {DType::q6_K, "q6_K", FE_CLASS_BLOCK, 256, 210},
}};

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
constexpr fe_dtype_class class_of(DType dtype) { return row_of(dtype).kind; }
constexpr bool is_floating(DType dtype) { return class_of(dtype) == FE_CLASS_FLOAT; }
// 16-bit floats, which are computed in float32.
constexpr bool is_half(DType dtype) { return dtype == DType::float16 || dtype == DType::bfloat16; }
// 8-bit floats (OCP OFP8, 2023). They can only be moved, compared for equality and cast.
constexpr bool is_float8(DType dtype) { return dtype == DType::float8_e4m3fn || dtype == DType::float8_e5m2; }
// Dtypes whose elements are not addressable. Arrays can only be cut into whole blocks, and cast.
constexpr bool is_block(DType dtype) { return class_of(dtype) == FE_CLASS_BLOCK; }
constexpr bool is_complex(DType dtype) { return class_of(dtype) == FE_CLASS_COMPLEX; }
// The dtype of the real and the imaginary part of a complex dtype; another dtype is returned unchanged.
constexpr DType real_dtype_of(DType dtype) {
  return dtype == DType::complex64 ? DType::float32 : dtype == DType::complex128 ? DType::float64 : dtype;
}
constexpr bool is_integer(DType dtype) {
  return class_of(dtype) == FE_CLASS_SIGNED || class_of(dtype) == FE_CLASS_UNSIGNED;
}

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

// The complex dtype of two such parts; another dtype than float32 and float64 is returned unchanged.
constexpr DType complex_dtype_of(DType dtype) {
  return dtype == DType::float32 ? DType::complex64 : dtype == DType::float64 ? DType::complex128 : dtype;
}
// The rank of a dtype's kind in promotion, in ascending order: bool, integer, floating, complex.
int rank_of_kind(DType dtype);

// The row as the public struct; nullptr for an unknown id.
const fe_dtype_info* info_of(fe_dtype id);

// The common dtype of two arrays. Within a kind, and for floating with complex dtypes, it is that of the Python array
// API standard (2024.12). For other mixed kinds, which the standard leaves open, it is the dtype of the higher kind
// (bool < integer < floating < complex). For two floating dtypes of which neither contains the other (the halves, the
// float8), it is float32. DType::none if there is none (uint64 with a signed integer, a block dtype with any other).
DType promote(DType a, DType b);

}  // namespace ferrule
