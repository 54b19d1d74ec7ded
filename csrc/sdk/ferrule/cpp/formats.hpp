// The formats in which a module's elementwise kernels store and compute the elements of each dtype.
#ifndef FERRULE_CPP_FORMATS_HPP
#define FERRULE_CPP_FORMATS_HPP

#include <ferrule/cpp/body.hpp>
#include <ferrule/cpp/dtypes.hpp>

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace ferrule::sdk {

// `Format` is the module's. Its functions throw FE_UNSUPPORTED for a dtype that has none.
template <class Format>
class Formats {
 public:
  // `make` returns the format of a row of dtype_table; nullopt if kernels do not compute the dtype.
  explicit Formats(std::optional<Format> (*make)(const DTypeInfo& row)) {
    for (size_t i = 0; i < dtype_count; ++i) rows_[i] = make(dtype_table[i]);
  }

  const Format& named(std::string_view dtype) const {
    for (size_t i = 0; i < dtype_count; ++i)
      if (rows_[i] && dtype == dtype_table[i].name) return *rows_[i];
    throw Error(FE_UNSUPPORTED, "no elements of " + std::string(dtype));
  }
  const Format& of(fe_dtype dtype) const { return named(host->dtype_name(dtype)); }
  // The format for copies, which move bits: that of the unsigned integer with as many.
  const Format& of_bits(const Operand& operand) const {
    for (const DTypeInfo& row : dtype_table)
      if (row.dtype_class == FE_CLASS_UNSIGNED && row.block_bytes == operand.item_size()) return named(row.name);
    return of(operand.dtype());
  }
  // The format in which an elementwise node loads an input.
  const Format& of_input(const Node& node, uint32_t input) const {
    const Operand operand = node.input(input);
    return moves_bits(node.op()) ? of_bits(operand) : of(operand.dtype());
  }

 private:
  std::array<std::optional<Format>, dtype_count> rows_;  // by dtype_table
};

}  // namespace ferrule::sdk

#endif
