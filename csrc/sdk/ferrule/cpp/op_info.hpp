// Types of the op table. Its rows are in ferrule/op_table.hpp, which is generated.
#ifndef FERRULE_CPP_OP_INFO_HPP
#define FERRULE_CPP_OP_INFO_HPP

#include <ferrule/cpp/dtypes.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace ferrule::sdk {

// A set of rows of dtype_table.
struct DTypeSet {
  std::array<uint64_t, 2> words;
  static_assert(dtype_count <= 64 * 2);
  constexpr bool contains(size_t row) const { return (words[row / 64] >> row % 64 & 1) != 0; }
};

enum class OpKind : uint8_t { elementwise, view, primitive, composite, host, internal };
// `axis` and `axes` refer to the first input and are not negative.
enum class AttributeKind : uint8_t { integer, real, boolean, string, integers, reals, dtype, axis, axes };
// Dtype of a result: that of the first promoted input (of the first input, if none is promoted), that of the input's
// real and imaginary parts (of the input itself, if it is not complex), the complex dtype of two such parts, a fixed
// dtype, the value of an attribute, or, of an integer or bool input, the dtype of 64 bits of its kind, else its own.
enum class ResultDType : uint8_t { same, real, complex, fixed, attribute, widened };
// Shape of a result: that of the first input, that of all inputs broadcast, or that of the first input with axes
// removed. For `unknown` see the op.
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
  const char* choices;    // values of a string: "none|tanh"; nullptr = any
};

// Whether `text` is one of the words of `choices`, as "none|tanh".
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
  bool variadic;  // the last input may be repeated
  std::span<const InputInfo> inputs;
  std::span<const ResultInfo> results;
  std::span<const AttributeInfo> attributes;
};

}  // namespace ferrule::sdk

#endif
