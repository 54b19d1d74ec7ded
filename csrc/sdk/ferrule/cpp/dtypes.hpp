// The table of dtypes (ferrule/dtypes.h) as constants.
#ifndef FERRULE_CPP_DTYPES_HPP
#define FERRULE_CPP_DTYPES_HPP

#include <ferrule/dtypes.h>
#include <ferrule/types.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace ferrule::sdk {

// A binary floating-point format (IEEE 754-2019, 3.4), by the bits of its numbers without the sign.
struct FloatFormat {
  uint32_t exponent_bits, mantissa_bits;
  bool has_infinity;
  constexpr int least_exponent() const { return 2 - (1 << (exponent_bits - 1)); }  // of a normal number
  // NaN as operations make it. Without infinities NaN are the greatest bits.
  constexpr uint64_t nan() const {
    return has_infinity ? infinity() | uint64_t{1} << (mantissa_bits - 1) : infinity() | (infinity() - 1);
  }
  // The greatest number, which is infinity where there is one.
  constexpr uint64_t greatest() const { return has_infinity ? infinity() : nan() - 1; }
  // The bits with the greatest exponent and no mantissa.
  constexpr uint64_t infinity() const { return ((uint64_t{1} << exponent_bits) - 1) << mantissa_bits; }
};

struct DTypeInfo : fe_dtype_info {
  const char* abbreviation;   // such as "f16"; the name of bool and of a block dtype
  std::string_view computed;  // the dtype in which ops compute it, as an identifier: "boolean" for bool; or "none"
  bool is_own_computed;       // it is the dtype itself
  FloatFormat format;         // of a floating-point dtype
  bool is_encoded;            // float32 becomes this block dtype

  constexpr bool is_block() const { return dtype_class == FE_CLASS_BLOCK; }
  constexpr bool is_floating() const { return dtype_class == FE_CLASS_FLOAT; }
  constexpr bool is_complex() const { return dtype_class == FE_CLASS_COMPLEX; }
  constexpr bool is_integer() const { return dtype_class == FE_CLASS_SIGNED || dtype_class == FE_CLASS_UNSIGNED; }
  // Whether ops compute it, not only move, compare and cast it.
  constexpr bool is_computed() const { return computed != "none"; }
  // A floating-point dtype that ops compute in a wider one, and round.
  constexpr bool is_half() const { return is_floating() && is_computed() && !is_own_computed; }
  // A floating-point dtype that is only moved, compared for equality and cast.
  constexpr bool is_float8() const { return is_floating() && !is_computed(); }
};

// In the order of ferrule/dtypes.h.
inline constexpr DTypeInfo dtype_table[] = {
#define FE_DTYPE_ROW(id, abbreviation, name, kind, stored, computed, exponent, mantissa, infinity, ...)    \
  {{sizeof(fe_dtype_info), name, FE_CLASS_##kind, 1, static_cast<uint32_t>(FE_DTYPE_BYTES(kind, stored))}, \
   FE_CLASS_##kind == FE_CLASS_BOOL ? name : #abbreviation,                                                \
   #computed,                                                                                              \
   std::string_view(#id) == #computed,                                                                     \
   {exponent, mantissa, infinity != 0},                                                                    \
   false},
#define FE_BLOCK_DTYPE_ROW(id, elements, bytes, encoded, ...) \
  {{sizeof(fe_dtype_info), #id, FE_CLASS_BLOCK, elements, bytes}, #id, "none", false, {}, encoded != 0},
    FE_DTYPES(FE_DTYPE_ROW, FE_BLOCK_DTYPE_ROW)
#undef FE_DTYPE_ROW
#undef FE_BLOCK_DTYPE_ROW
};
inline constexpr size_t dtype_count = std::size(dtype_table);

// The row of a name; null for an unknown one.
constexpr const DTypeInfo* find_dtype(std::string_view name) {
  for (const DTypeInfo& row : dtype_table)
    if (name == row.name) return &row;
  return nullptr;
}

// Whether a complex dtype's real and imaginary parts have the dtype `part`.
constexpr bool is_part_of(const DTypeInfo& part, const DTypeInfo& whole) {
  return whole.is_complex() && part.is_floating() && part.is_own_computed && whole.block_bytes == 2 * part.block_bytes;
}
// The dtype of the parts of a complex dtype, and the complex dtype of such parts; null if there is none.
constexpr const DTypeInfo* part_of(const DTypeInfo& whole) {
  for (const DTypeInfo& row : dtype_table)
    if (is_part_of(row, whole)) return &row;
  return nullptr;
}
constexpr const DTypeInfo* complex_of(const DTypeInfo& part) {
  for (const DTypeInfo& row : dtype_table)
    if (is_part_of(part, row)) return &row;
  return nullptr;
}

}  // namespace ferrule::sdk

#endif
