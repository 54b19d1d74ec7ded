// What of an op's row a module knows: the rows are in ferrule/op_table.hpp, generated. See ferrule/backend.hpp.
#ifndef FERRULE_CPP_OP_INFO_HPP
#define FERRULE_CPP_OP_INFO_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ferrule::sdk {

struct DTypeInfo {
  const char* name;
  size_t size;  // bytes of one element
};

enum class OpKind : uint8_t { elementwise, view, primitive, composite, internal };
// `axis` and `axes` are those of the first input, never negative.
enum class AttributeKind : uint8_t { integer, real, boolean, string, integers, dtype, axis, axes };
// The result's dtype: that of the first promoted input (of the first, when none is promoted), one that is always the
// same, or that of an attribute.
enum class ResultDType : uint8_t { same, fixed, attribute };
// The result's shape: that of the first input, that of all inputs broadcast, or the first's without axes; unknown = see
// the op.
enum class ResultShape : uint8_t { unknown, same, broadcast, reduced };

struct InputInfo {
  const char* name;
  uint32_t dtypes;  // bit i: row i of dtype_table
  bool promoted;    // all promoted inputs have one dtype
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
  uint32_t required_inputs, most_inputs;
  bool variadic;  // the last input comes once or more often
  std::array<InputInfo, 4> inputs;
  ResultDType result_dtype;
  const char* fixed_dtype;  // nullptr unless ResultDType::fixed
  ResultShape result_shape;
  uint32_t attribute_count;
  std::array<AttributeInfo, 6> attributes;
};

}  // namespace ferrule::sdk

#endif
