// The host's tables of the formats, types and functions of elementwise programs: a row for each value of the enums of
// parameters/elementwise.h, in their order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "parameters/elementwise.h"

namespace ferrule::cuda {

struct TypeRow {
  elementwise::Type type;
  const char* name;  // in C++
};
inline constexpr TypeRow type_rows[] = {{elementwise::Type::i32, "int32_t"}, {elementwise::Type::u32, "uint32_t"},
                                        {elementwise::Type::i64, "int64_t"}, {elementwise::Type::u64, "uint64_t"},
                                        {elementwise::Type::f32, "float"},   {elementwise::Type::f64, "double"}};

struct FormatRow {
  elementwise::Format format;
  const char* name;        // of the enumerator
  elementwise::Type type;  // in which functions compute
  uint32_t bytes;
};
inline constexpr FormatRow format_rows[] = {{elementwise::Format::boolean, "boolean", elementwise::Type::u32, 1},
                                            {elementwise::Format::i8, "i8", elementwise::Type::i32, 1},
                                            {elementwise::Format::i16, "i16", elementwise::Type::i32, 2},
                                            {elementwise::Format::i32, "i32", elementwise::Type::i32, 4},
                                            {elementwise::Format::i64, "i64", elementwise::Type::i64, 8},
                                            {elementwise::Format::u8, "u8", elementwise::Type::u32, 1},
                                            {elementwise::Format::u16, "u16", elementwise::Type::u32, 2},
                                            {elementwise::Format::u32, "u32", elementwise::Type::u32, 4},
                                            {elementwise::Format::u64, "u64", elementwise::Type::u64, 8},
                                            {elementwise::Format::f16, "f16", elementwise::Type::f32, 2},
                                            {elementwise::Format::bf16, "bf16", elementwise::Type::f32, 2},
                                            {elementwise::Format::f32, "f32", elementwise::Type::f32, 4},
                                            {elementwise::Format::f64, "f64", elementwise::Type::f64, 8}};

// The sets of types in elementwise_functions.inc, as in kernels/elementwise/computed_types.h, and whether all versions
// of CUDA give the same bits.
namespace function_columns {
constexpr uint32_t bit(elementwise::Type type) { return 1u << static_cast<uint32_t>(type); }
inline constexpr uint32_t booleans = bit(elementwise::Type::u32), float32 = bit(elementwise::Type::f32),
                          integers = bit(elementwise::Type::i32) | bit(elementwise::Type::u32) |
                                     bit(elementwise::Type::i64) | bit(elementwise::Type::u64),
                          floats = bit(elementwise::Type::f32) | bit(elementwise::Type::f64),
                          numbers = integers | floats;
inline constexpr bool exact = true, inexact = false;
}  // namespace function_columns

struct FunctionRow {
  const char* name;
  uint32_t arity;
  uint32_t types;  // bits of the types that it computes in
  bool is_exact;   // for floating-point numbers: what it calls is defined exactly. A new version may have another exp
};
inline constexpr auto function_rows = [] {
  using namespace function_columns;
  return std::to_array<FunctionRow>({
#define FUNCTION(name, arity, types, exactness) {#name, arity, types, exactness},
#include "parameters/elementwise_functions.inc"
#undef FUNCTION
  });
}();

constexpr const TypeRow& row_of(elementwise::Type type) { return type_rows[static_cast<size_t>(type)]; }
constexpr const FormatRow& row_of(elementwise::Format format) { return format_rows[static_cast<size_t>(format)]; }
constexpr const FunctionRow& row_of(elementwise::Function function) {
  return function_rows[static_cast<size_t>(function)];
}
constexpr bool computes_in(const FunctionRow& function, elementwise::Type type) {
  return (function.types & function_columns::bit(type)) != 0;
}
constexpr bool is_wide(elementwise::Type type) {
  using elementwise::Type;
  return type == Type::i64 || type == Type::u64 || type == Type::f64;
}

constexpr bool rows_stand_in_order() {
  for (size_t i = 0; i < std::size(type_rows); ++i)
    if (static_cast<size_t>(type_rows[i].type) != i) return false;
  for (size_t i = 0; i < std::size(format_rows); ++i)
    if (static_cast<size_t>(format_rows[i].format) != i) return false;
  return std::size(type_rows) == static_cast<size_t>(elementwise::Type::f64) + 1 &&
         std::size(format_rows) == static_cast<size_t>(elementwise::Format::f64) + 1 &&
         std::size(function_rows) == static_cast<size_t>(elementwise::Function::count);
}
static_assert(rows_stand_in_order());

}  // namespace ferrule::cuda
