// The types of the op set. An op is one row, built by a constexpr chain of calls:
//
//   OP(silu)
//       .doc("x * sigmoid(x), elementwise.")
//       .elementwise()
//       .input("x", floating)
//       .result(same_shape_and_dtype)
//       .decompose([](Builder& b, Value x) { return b.multiply(x, b.sigmoid(x)); });
//
// OP defines a constant and runs no code. The table of all rows (table.h) is generated from the files.
#pragma once

#include "ops/attributes.h"
#include "ops/builder.h"
#include "base/tensor_type.h"

#include <array>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace ferrule::ops {

struct Row;

// How the compiler treats an op.
enum class Kind : uint8_t {
  elementwise,  // an output element depends on the input elements at its index; may be in a fused body
  view,         // the same bytes with other strides; devices never get it
  primitive,    // computed by a kernel
  composite,    // decomposed if the device has no kernel
  host,         // runs on another device, without a warning, if the device has no kernel
  internal,     // made by the compiler only
};

// The dtypes that an input accepts, by the terms of the Python array API standard: numeric dtypes are integers,
// floating and complex ones, and floating-point dtypes are real or complex. `stored` is `any` and the block dtypes,
// which can only be cut and cast. `any` has float8, which can only be moved, compared for equality and cast. `real` has
// bool. `full_precision` is float32, float64 and the complex dtypes.
enum class Accepts : uint8_t {
  stored,
  any,
  real,
  numeric,
  boolean_or_numeric,
  real_numeric,
  floating,
  real_floating,
  complex,
  integer,
  boolean,
  boolean_or_integer,
  index,
  full_precision
};
inline constexpr Accepts stored = Accepts::stored, any = Accepts::any, real = Accepts::real, numeric = Accepts::numeric,
                         boolean_or_numeric = Accepts::boolean_or_numeric, real_numeric = Accepts::real_numeric,
                         floating = Accepts::floating, real_floating = Accepts::real_floating,
                         complex = Accepts::complex, integer = Accepts::integer, boolean = Accepts::boolean,
                         boolean_or_integer = Accepts::boolean_or_integer, index = Accepts::index,
                         full_precision = Accepts::full_precision;

bool accepts(Accepts what, DType dtype);
const char* name_of(Accepts what);

struct InputRow {
  const char* name = nullptr;
  Accepts accepts = Accepts::any;
  bool promoted = false;  // cast to the common dtype of all promoted inputs
  bool widened = false;   // integers and bool have results of 64 bits, as the standard requires for sum and prod; a
                          // device without a kernel for a narrow dtype gets the input in that of the result
  bool optional = false;  // only for trailing inputs
  bool variadic = false;  // only for the last input: given once or more often
  bool truth = false;     // cast to bool: numbers other than zero are true
  const char* text = "";  // a sentence for the documentation; without one, its dtypes are named
};

struct AttributeRow {
  const char* name = nullptr;
  AttributeType type = AttributeType::integer;
  bool required = true;
  int64_t integer_default = 0;
  double real_default = 0;
  const char* string_default = "";
  const char* choices = nullptr;  // values of a string: "none|tanh"; nullptr = any
  uint32_t since = 1;             // the revision that appended it
  const char* text = "";          // a sentence for the documentation
};

// The arguments of a result rule. Rules may make attributes canonical (axes >= 0).
class Inference {
 public:
  Inference(const Row& row, std::span<const TensorType> inputs, Attributes& attributes)
      : row_(row), inputs_(inputs), attributes_(attributes) {}

  std::size_t input_count() const { return inputs_.size(); }
  const TensorType& input(std::size_t i) const { return inputs_[i]; }
  Attributes& attributes() { return attributes_; }
  AttributeReader attribute() const;
  // The attribute `name`, an axis of `rank` dimensions; makes it non-negative in place. Throws if out of range.
  int axis(const char* name, int rank);
  // The attribute `name`, a list of distinct axes; makes them non-negative and sorts them in place.
  std::vector<int64_t> axes(const char* name, int rank);
  void output(TensorType type) { outputs_.push_back(type); }
  const std::vector<TensorType>& outputs() const { return outputs_; }
  std::vector<TensorType> take_outputs() { return std::move(outputs_); }
  // The call for messages: "softmax(float32(2, 3))".
  std::string call() const;
  const Row& row() const { return row_; }

  template <class... Arguments>
  [[noreturn]] void fail(fmt::format_string<Arguments...> format, Arguments&&... arguments) const {
    throw Error(FE_INVALID_ARGUMENT, name() + ": " + fmt::format(format, std::forward<Arguments>(arguments)...));
  }

 private:
  std::string name() const;
  const Row& row_;
  std::span<const TensorType> inputs_;
  Attributes& attributes_;
  std::vector<TensorType> outputs_;
};

// A call that is decomposed: its operands and canonical attributes.
struct Call {
  const Row& row;
  std::span<const Value> inputs;
  const Attributes& attributes;
  Value input(std::size_t i) const { return inputs[i]; }
  bool has_input(std::size_t i) const { return i < inputs.size(); }
  AttributeReader attribute() const;
};

using ResultRule = void (*)(Inference&);
// The axis of bounded outputs, along which their size is only known after computation.
using BoundedAxis = int64_t (*)(const AttributeReader&);
using Decomposition = Value (*)(Builder&, const Call&);

inline constexpr std::size_t max_inputs = 64;     // of a node: longer lists are computed in groups
inline constexpr std::size_t max_input_rows = 8;  // a variadic input is one
inline constexpr std::size_t max_attributes = 8;
inline constexpr std::size_t max_outputs = 5;

struct Row {
  const char* name = nullptr;
  // The documentation: a sentence, what the result is if its shape and dtype do not say that, when calls fail apart
  // from dtypes and shapes, and lines for doctest.
  const char *text = "", *result_text = "", *error_text = "", *example_text = "";
  bool written_by_hand = false;  // Python's function, because its argument forms are not those of the op
  Kind kind = Kind::primitive;
  uint32_t revision = 1;
  std::array<InputRow, max_input_rows> inputs{};
  std::size_t input_count = 0;
  std::array<AttributeRow, max_attributes> attributes{};
  std::size_t attribute_count = 0;
  // Integers and bools among the inputs are cast to the default dtype, unless another input is floating-point or
  // complex.
  bool casts_integers = false;
  std::array<const char*, max_outputs> outputs{"result"};  // names
  std::size_t output_count = 1;
  ResultRule rule = nullptr;
  BoundedAxis bounded_axis = nullptr;  // null: no output is bounded
  std::size_t bounded_outputs = 0;     // how many are: the first ones
  Decomposition decomposition = nullptr;
  bool may_have_epilogue = false;

  constexpr explicit Row(const char* op_name) : name(op_name) {}

 private:
  // Defined before its uses: clang 14 cannot evaluate a row with a template that follows.
  template <class Change>
  constexpr Row with(Change change) const {
    Row copy = *this;
    change(copy);
    return copy;
  }

 public:
  constexpr std::size_t required_inputs() const {
    std::size_t count = 0;
    while (count < input_count && !inputs[count].optional) ++count;
    return count;
  }
  // The row of an input of a call; the last one, if there are more inputs than rows.
  constexpr const InputRow& input_row(std::size_t i) const {
    return inputs[i < input_count ? i : input_count > 0 ? input_count - 1 : 0];
  }
  constexpr bool variadic() const { return input_count > 0 && inputs[input_count - 1].variadic; }

  constexpr Row doc(const char* sentence) const {
    return with([&](Row& r) { r.text = sentence; });
  }
  constexpr Row returns(const char* sentence) const {
    return with([&](Row& r) { r.result_text = sentence; });
  }
  constexpr Row raises(const char* sentence) const {
    return with([&](Row& r) { r.error_text = sentence; });
  }
  constexpr Row example(const char* lines) const {
    return with([&](Row& r) { r.example_text = lines; });
  }
  constexpr Row by_hand() const {
    return with([&](Row& r) { r.written_by_hand = true; });
  }
  // A sentence about the input or the attribute that was added last.
  constexpr Row about(const char* sentence) const {
    return with([&](Row& r) {
      (r.attribute_count > 0 ? r.attributes[r.attribute_count - 1].text : r.inputs[r.input_count - 1].text) = sentence;
    });
  }
  constexpr Row elementwise() const {
    return with([](Row& r) { r.kind = Kind::elementwise; });
  }
  constexpr Row view() const {
    return with([](Row& r) { r.kind = Kind::view; });
  }
  constexpr Row host() const {
    return with([](Row& r) { r.kind = Kind::host; });
  }
  constexpr Row internal() const {
    return with([](Row& r) { r.kind = Kind::internal; });
  }
  // Elementwise ops on the result may be fused with the op: see the body of fe_node.
  constexpr Row takes_epilogue() const {
    return with([](Row& r) { r.may_have_epilogue = true; });
  }
  constexpr Row input(const char* input_name, Accepts what) const {
    return with([&](Row& r) { r.inputs[r.input_count++] = {input_name, what}; });
  }
  constexpr Row promoted(const char* input_name, Accepts what) const {
    return with([&](Row& r) { r.inputs[r.input_count++] = {input_name, what, true}; });
  }
  constexpr Row widened(const char* input_name, Accepts what) const {
    return with([&](Row& r) {
      r.inputs[r.input_count++] = {input_name, what, false, true};
      r.revision = 2;  // which brought narrow inputs
    });
  }
  constexpr Row optional(const char* input_name, Accepts what, bool is_promoted = false) const {
    return with([&](Row& r) { r.inputs[r.input_count++] = {input_name, what, is_promoted, false, true}; });
  }
  constexpr Row variadic(const char* input_name, Accepts what) const {
    return with([&](Row& r) { r.inputs[r.input_count++] = {input_name, what, true, false, false, true}; });
  }
  // An input of any dtype but block dtypes, whose elements count as true or false.
  constexpr Row truth(const char* input_name) const {
    return with(
        [&](Row& r) { r.inputs[r.input_count++] = {input_name, Accepts::boolean, false, false, false, false, true}; });
  }
  constexpr Row integers_in_default_dtype() const {
    return with([](Row& r) { r.casts_integers = true; });
  }
  // Like variadic, but the inputs may have different dtypes.
  constexpr Row list(const char* input_name, Accepts what) const {
    return with([&](Row& r) { r.inputs[r.input_count++] = {input_name, what, false, false, false, true}; });
  }
  constexpr Row attribute(const char* attribute_name, AttributeType type) const {
    return with([&](Row& r) { r.attributes[r.attribute_count++] = {attribute_name, type}; });
  }
  constexpr Row integer_attribute(const char* attribute_name, int64_t value) const {
    return with([&](Row& r) {
      r.attributes[r.attribute_count++] = {attribute_name, AttributeType::integer, false, value};
    });
  }
  constexpr Row boolean_attribute(const char* attribute_name, bool value) const {
    return with([&](Row& r) {
      r.attributes[r.attribute_count++] = {attribute_name, AttributeType::boolean, false, value};
    });
  }
  constexpr Row real_attribute(const char* attribute_name, double value) const {
    return with([&](Row& r) {
      r.attributes[r.attribute_count++] = {attribute_name, AttributeType::real, false, 0, value};
    });
  }
  // A string attribute with one of the values `choices`, as "none|tanh".
  constexpr Row choice_attribute(const char* attribute_name, const char* value, const char* choices) const {
    return with([&](Row& r) {
      r.attributes[r.attribute_count++] = {attribute_name, AttributeType::string, false, 0, 0, value, choices};
    });
  }
  // A list of axes; empty by default.
  constexpr Row axes_attribute(const char* attribute_name) const {
    return with([&](Row& r) { r.attributes[r.attribute_count++] = {attribute_name, AttributeType::integers, false}; });
  }
  // Marks the previous attribute as appended by a revision. Its default gives the behaviour of earlier revisions.
  constexpr Row since(uint32_t appended_by) const {
    return with([&](Row& r) { r.revision = r.attributes[r.attribute_count - 1].since = appended_by; });
  }
  constexpr Row result(ResultRule result_rule) const {
    return with([&](Row& r) { r.rule = result_rule; });
  }
  // Several outputs with these names; the rule gives their types.
  template <class... Names>
  constexpr Row results(ResultRule result_rule, Names... names) const {
    static_assert(sizeof...(names) > 1 && sizeof...(names) <= max_outputs);
    return with([&](Row& r) {
      r.rule = result_rule;
      r.outputs = {names...};
      r.output_count = sizeof...(names);
    });
  }

  // Makes the first outputs bounded: the rule gives their largest size along an axis. The last output, one int64, is
  // their actual size; zeros follow. A positive attribute `size` sets the size.
  constexpr Row bounded(BoundedAxis axis, std::size_t count = 1) const {
    return with([&](Row& r) {
             r.bounded_axis = axis;
             r.bounded_outputs = count;
           })
        .integer_attribute("size", -1);
  }

  // A function of (Builder&, const Call&), or of (Builder&, Value...) with one Value per input.
  template <class Function>
  constexpr Row decompose(Function) const {
    static_assert(std::is_empty_v<Function>, "a lambda without captures, which its type can make again");
    return with([](Row& r) {
      if (r.kind == Kind::primitive) r.kind = Kind::composite;
      r.decomposition = [](Builder& b, const Call& c) -> Value {
        if constexpr (std::is_invocable_v<Function, Builder&, const Call&>)
          return Function{}(b, c);
        else if constexpr (std::is_invocable_v<Function, Builder&, Value>)
          return Function{}(b, c.input(0));
        else if constexpr (std::is_invocable_v<Function, Builder&, Value, Value>)
          return Function{}(b, c.input(0), c.input(1));
        else
          return Function{}(b, c.input(0), c.input(1), c.input(2));
      };
    });
  }
};

// The lowest revision of the op that can express a call whose first input, if any, has the dtype `first`. An attribute
// of a later revision does not count if it has its default, so a module that is older than the attribute can still
// compute such calls.
uint32_t lowest_revision(const Row& row, const Attributes& attributes, DType first = DType::none);

// Whether the first input of a call has a narrow dtype, and the result one of 64 bits.
bool is_narrow(const Row& row, DType first);

// Whether the size of the bounded outputs is only known after computation: see Row::bounded.
bool is_open_ended(const Row& row, const Attributes& attributes);

// Checks the attributes and the number and dtypes of the inputs, which are already promoted, and runs the result rule.
// Throws Error(invalid_argument) with a message that begins with the op's name.
std::vector<TensorType> infer(const Row& row, std::span<const TensorType> inputs, Attributes& attributes);

// The dtypes that inputs are cast to before infer(): their promotion, or bool for truth values. A weak input (a number)
// only takes part in promotion if its kind is higher than that of all others.
std::vector<DType> input_dtypes(const Row& row, std::span<const TensorType> inputs, const std::vector<bool>& weak);

// The dtype as which an op promotes an input: the default dtype for integers and bools, if its row says so and no array
// is floating-point or complex (`has_inexact`).
DType promoted_as(const Row& row, DType dtype, bool has_inexact);

// int64 for bool and signed integers, uint64 for unsigned ones; other dtypes stay.
DType widened(DType dtype);

}  // namespace ferrule::ops

#define OP(name)                              \
  extern const ::ferrule::ops::Row op_##name; \
  constexpr ::ferrule::ops::Row op_##name = ::ferrule::ops::Row(#name)
