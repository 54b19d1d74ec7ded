// Keys with the order of the elements of a dtype, for kernels that compare (sorting_keys.metal).
#pragma once

#include "kernels/planning.h"

namespace ferrule::metal {

inline uint64_t key_bytes(const sdk::Operand& x) { return x.item_size() == 8 ? 8 : 4; }

// Bits of a floating dtype without the sign: of the greatest number, which is infinity where the dtype has one, and of
// NaN.
struct FloatBits {
  uint32_t greatest, nan;
};
inline FloatBits float_bits(const sdk::Operand& x) {
  const sdk::FloatFormat& format = x.dtype_row()->format;
  return {static_cast<uint32_t>(format.greatest()), static_cast<uint32_t>(format.nan())};
}

// The definitions that stand in front of sorting_keys.metal. Elements are `Stored` as unsigned integers.
inline std::string key_definitions(const sdk::Operand& x) {
  formats().of(x.dtype());  // refuses dtypes that kernels do not compute
  const auto kind = static_cast<fe_dtype_class>(x.dtype_info().dtype_class);
  std::string text = "typedef " + std::string(key_bytes(x) == 8 ? "ulong" : "uint") + " Key;\ntypedef " +
                     std::string(formats().of_bits(x).stored) + " Stored;\n";
  if (kind == FE_CLASS_FLOAT) {
    const FloatBits bits = float_bits(x);
    return text + definition("KEYS_OF_FLOATS", 1) + definition("GREATEST_BITS", bits.greatest) +
           definition("NAN_BITS", bits.nan);
  }
  return text + definition(kind == FE_CLASS_BOOL     ? "KEYS_OF_BOOLS"
                           : kind == FE_CLASS_SIGNED ? "KEYS_OF_SIGNED"
                                                     : "KEYS_OF_UNSIGNED",
                           1);
}

}  // namespace ferrule::metal
