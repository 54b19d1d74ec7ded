// The part of an op's row that a module knows. The rows are in ferrule/op_table.hpp, which is generated.
#ifndef FERRULE_CPP_OP_INFO_HPP
#define FERRULE_CPP_OP_INFO_HPP

#include <ferrule/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace ferrule::sdk {

struct DTypeInfo {
  const char* name;
  fe_dtype_class dtype_class;
  uint32_t block_elements, block_bytes;
};

// Rows of dtype_table.
struct DTypeSet {
  std::array<uint64_t, 2> words;
  constexpr bool contains(size_t row) const { return (words[row / 64] >> row % 64 & 1) != 0; }
};

enum class OpKind : uint8_t { elementwise, view, primitive, composite, host, internal };
// `axis` and `axes` are those of the first input, never negative.
enum class AttributeKind : uint8_t { integer, real, boolean, string, integers, reals, dtype, axis, axes };
// A result's dtype: that of the first promoted input (of the first, when none is promoted), one that is always the
// same, or that of an attribute.
enum class ResultDType : uint8_t { same, fixed, attribute };
// A result's shape: that of the first input, that of all inputs broadcast, or the first's without axes; unknown = see
// the op.
enum class ResultShape : uint8_t { unknown, same, broadcast, reduced };

struct InputInfo {
  const char* name;
  DTypeSet dtypes;
  bool promoted;  // all promoted inputs have one dtype
};

struct ResultInfo {
  const char* name;
  ResultDType dtype;
  const char* fixed_dtype;  // nullptr unless ResultDType::fixed
  ResultShape shape;
};

struct AttributeInfo {
  const char* name;
  AttributeKind kind;
  uint16_t offset, size;  // in the op's struct of ferrule/ops.h
  uint32_t since;         // revision of the op that appended it
  const char* choices;    // of a string: "none|tanh"; nullptr = any
};

// Whether `text` is one of "none|tanh".
constexpr bool is_choice(std::string_view choices, std::string_view text) {
  for (;;) {
    const size_t bar = choices.find('|');
    if (choices.substr(0, bar) == text) return true;
    if (bar == std::string_view::npos) return false;
    choices.remove_prefix(bar + 1);
  }
}

struct OpInfo {
  const char* name;
  uint32_t revision;
  OpKind kind;
  uint32_t required_inputs;
  bool variadic;  // the last input comes once or more often
  std::span<const InputInfo> inputs;
  std::span<const ResultInfo> results;
  std::span<const AttributeInfo> attributes;
};

}  // namespace ferrule::sdk

#endif
