// Writes the program of an elementwise body: which functions compute the values, where operands lie, which slots values
// take. Only elementwise_body.cpp includes it.
#pragma once

#include <ferrule/cpp/formats.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>

#include "graphs/elementwise_body.h"
#include "graphs/layout.h"
#include "graphs/program_tables.h"

namespace ferrule::cuda {

using elementwise::Access;
using elementwise::Format;
using elementwise::Function;
using elementwise::Instruction;
using elementwise::is_operand;
using elementwise::no_slot;
using elementwise::Operand;
using elementwise::Type;

// The format of a dtype by its abbreviation. Values of a float8 are bits; functions of numbers compute with the float32
// that `from_f8...` gives.
constexpr Format format_named(std::string_view abbreviation) {
  for (const FormatRow& row : format_rows)
    if (row.name == abbreviation) return row.format;
  return Format::u8;
}
// The formats in which elements of a dtype are stored and computed.
struct DtypeRow {
  std::string_view dtype;
  Format format;
  Type type;
  std::string_view suffix;  // of functions for it alone
  std::string cast;         // the function that converts to it
};
inline std::optional<DtypeRow> row_for(const sdk::DTypeInfo& row) {
  if (row.is_complex() || row.is_block()) return std::nullopt;
  const std::string_view id = row.dtype_class == FE_CLASS_BOOL ? "boolean" : row.abbreviation;
  const Format format = format_named(id);
  return DtypeRow{row.name, format, row_of(format).type, row.abbreviation, "to_" + std::string(id)};
}
inline const sdk::Formats<DtypeRow>& dtypes() {
  static const sdk::Formats<DtypeRow> all(row_for);
  return all;
}

[[noreturn]] inline void refuse(const std::string& reason) { throw sdk::Error(FE_UNSUPPORTED, reason); }

// The format of the parts of complex numbers; null for other dtypes.
inline const DtypeRow* part_of(const sdk::Operand& operand) {
  const sdk::DTypeInfo* const row = operand.dtype_row();
  const sdk::DTypeInfo* const part = row ? sdk::part_of(*row) : nullptr;
  return part ? &dtypes().named(part->name) : nullptr;
}
inline bool is_float8(const DtypeRow& row) { return sdk::find_dtype(row.dtype)->is_float8(); }

inline std::optional<Function> find_function(std::string_view name) {
  for (size_t i = 0; i < function_rows.size(); ++i)
    if (function_rows[i].name == name) return static_cast<Function>(i);
  return std::nullopt;
}

inline Function function_named(std::string_view name) {
  if (const auto function = find_function(name)) return *function;
  refuse("there is no function " + std::string(name));
}

class Writer {
 public:
  explicit Writer(const PlannedNode& node) : node_(node), shape_(node.output(0)) {}

  // A value of the body: an operand or the result of an instruction.
  struct Value {
    bool is_operand;
    uint32_t number;
    const DtypeRow* format;
  };

  // The result of the op that the body is fused to.
  Value own(fe_dtype dtype) {
    const DtypeRow& format = dtypes().of(dtype);
    body_.places.push_back({.value = 0, .is_written = false, .is_scalar = false, .is_computed = true});
    return {true, add_operand(shape_, format), note(format)};
  }
  Value load(uint32_t input) {
    const DtypeRow& format = dtypes().of_input(node_, input);
    body_.places.push_back({node_.input_value(input), false, node_.is_scalar_input(input)});
    return {true, add_operand(node_.input(input), format), note(format)};
  }

  // Part 0 or 1 of a complex operand: the real or the imaginary one.
  Value load_part(uint32_t input, uint32_t part) {
    const sdk::Operand operand = node_.input(input);
    body_.places.push_back({node_.input_value(input), false, false});
    return {true, add_operand(operand, *part_of(operand), part), note(*part_of(operand))};
  }

  Value apply(fe_op id, std::span<const Value> in, fe_dtype dtype, const void* attributes, uint32_t output) {
    const std::string_view op = sdk::host->op_name(id);
    const DtypeRow& format = *note(dtypes().of(dtype));
    if (sdk::moves_bits(op)) return in[0];
    if (op == "astype") return convert(in[0], format);
    // Functions of numbers take a float8 as a float32.
    std::vector<Value> arguments(in.begin(), in.end());
    for (Value& value : arguments)
      if (op != "where" && is_float8(*value.format)) value = convert(value, dtypes().named("float32"));
    const DtypeRow& rounded = op != "where" && is_float8(format) ? dtypes().named("float32") : format;
    const DtypeRow& computed = *arguments.back().format;  // of `where` and `clip` too
    const std::string name = sdk::function_name(id, attributes, output);
    // Some functions exist for one format alone, such as nextafter_f16.
    auto function = find_function(name + "_" + std::string(computed.suffix));
    if (!function) function = find_function(name);
    if (!function || !computes_in(row_of(*function), computed.type))
      refuse(std::string(op) + " of " + std::string(computed.dtype) + " is not supported");
    const bool is_power = op == "pow" && rounded.format < Format::f16;
    body_.has_faults = body_.has_faults || is_power;
    return convert(add(*function, arguments, computed.type, rounded, is_power ? dtype : 0), format);
  }
  Value convert(Value value, const DtypeRow& to) {
    if (value.format == &to) return value;
    if (is_float8(*value.format)) {
      const Function decoding = function_named("from_" + std::string(value.format->suffix));
      value = add(decoding, {&value, 1}, value.format->type, dtypes().named("float32"), 0);
      if (value.format == &to) return value;
    }
    return add(function_named(to.cast), {&value, 1}, value.format->type, *note(to), 0);
  }
  Value call(std::string_view function, std::initializer_list<Value> in, Type type, const DtypeRow& format) {
    return add(function_named(function), {in.begin(), in.size()}, type, *note(format), 0);
  }
  Value copy(Value value) { return add(function_named("copy"), {&value, 1}, value.format->type, *value.format, 0); }

  // The value becomes an output, or one part of an output.
  void store(uint32_t output, Value value, uint32_t part = 0) { results_.push_back({value, output, part}); }

  // Writes the outputs after everything has been read: an output may have the memory of an input.
  Body take() {
    for (Result& result : results_)
      if (result.value.is_operand) result.value = copy(result.value);
    const size_t computing = body_.instructions.size();
    for (const auto& [value, output, part] : results_) {
      body_.places.push_back({node_.output_value(output), true, false});
      const uint32_t number = add_operand(node_.output(output), *value.format, part);
      const bool is_last = value.number + 1 == computing && body_.instructions.size() == computing;
      const size_t writer = is_last && body_.instructions.back().output == no_slot ? value.number : copy(value).number;
      body_.instructions[writer].output = static_cast<uint8_t>(number);
    }
    choose_slots();
    merge_axes();
    return std::move(body_);
  }

 private:
  struct Result {
    Value value;
    uint32_t output, part;
  };

  Value add(Function function, std::span<const Value> in, Type type, const DtypeRow& format, fe_dtype detail) {
    Instruction instruction{.function = function,
                            .type = type,
                            .format = format.format,
                            .sources = {no_slot, no_slot, no_slot},
                            .result = no_slot,
                            .output = no_slot,
                            .unused = {},
                            .detail = static_cast<uint32_t>(detail)};
    for (size_t i = 0; i < in.size(); ++i)
      instruction.sources[i] = static_cast<uint8_t>(in[i].is_operand ? is_operand | in[i].number : in[i].number);
    if (body_.instructions.size() >= elementwise::large_instructions) refuse("it has too many instructions");
    body_.instructions.push_back(instruction);
    return {false, static_cast<uint32_t>(body_.instructions.size() - 1), &format};
  }
  const DtypeRow* note(const DtypeRow& format) {
    body_.is_wide = body_.is_wide || is_wide(format.type);
    return &format;
  }

  // Adds the operand with its strides in the outputs' shape; they are zero along broadcast axes. The strides of complex
  // operands count parts.
  uint32_t add_operand(const sdk::Operand& operand, const DtypeRow& format, uint32_t part = 0) {
    if (body_.operands.size() >= elementwise::large_operands) refuse("it has too many operands");
    const int64_t parts = part_of(operand) == &format ? 2 : 1;  // copies move whole numbers
    Operand added{.address = part * operand.item_size() / 2,
                  .strides = {},
                  .format = format.format,
                  .access = Access::strided,
                  .unused = {}};
    const sdk::Strides strides = sdk::broadcast_strides(operand, static_cast<size_t>(shape_.rank()));
    std::transform(strides.begin(), strides.end(), added.strides, [&](int64_t stride) { return stride * parts; });
    body_.operands.push_back(added);
    return static_cast<uint32_t>(body_.operands.size() - 1);
  }

  // Results get slots; a slot is used again after the last instruction that reads it.
  void choose_slots() {
    std::vector<uint32_t> last_use(body_.instructions.size(), 0);
    for (uint32_t i = 0; i < body_.instructions.size(); ++i)
      for (uint32_t k = 0; k < row_of(body_.instructions[i].function).arity; ++k)
        if ((body_.instructions[i].sources[k] & is_operand) == 0) last_use[body_.instructions[i].sources[k]] = i;
    sdk::ValueSlots slots;
    std::vector<uint8_t> slot_of(body_.instructions.size(), no_slot);
    for (uint32_t i = 0; i < body_.instructions.size(); ++i) {
      Instruction& instruction = body_.instructions[i];
      for (uint32_t k = 0; k < row_of(instruction.function).arity; ++k)
        if ((instruction.sources[k] & is_operand) == 0) instruction.sources[k] = slot_of[instruction.sources[k]];
      // A slot may be taken over from a source: sources are read first.
      if (last_use[i] != 0) slot_of[i] = instruction.result = static_cast<uint8_t>(slots.take(i, last_use[i]));
    }
    body_.slots = slots.count();
  }

  // Drops axes of size one and merges neighbouring ones that are one axis for each operand; chooses how each operand is
  // accessed.
  void merge_axes() {
    body_.count = static_cast<uint64_t>(shape_.count());
    std::vector<sdk::Strides> strides;
    for (const Operand& operand : body_.operands)
      std::copy_n(operand.strides, max_rank, strides.emplace_back().begin());
    const sdk::MergedAxes axes(shape_.shape(), strides);
    body_.rank = static_cast<uint32_t>(axes.rank());
    std::copy_n(axes.shape().begin(), axes.rank(), body_.shape);
    body_.is_near = true;
    for (size_t i = 0; i < body_.operands.size(); ++i) {
      Operand& operand = body_.operands[i];
      const std::span<const int64_t> merged = axes.strides(i);
      std::fill(std::copy(merged.begin(), merged.end(), operand.strides), std::end(operand.strides), 0);
      body_.is_near = body_.is_near && sdk::is_near(axes.shape(), merged);
      const bool is_single = std::all_of(merged.begin(), merged.end(), [](int64_t stride) { return stride == 0; });
      if (body_.places[i].is_scalar)
        operand.access = Access::constant;
      else if (is_single)
        operand.access = Access::single;
      else if (is_flat(axes.shape(), merged))
        operand.access = Access::flat;
    }
  }
  static bool is_flat(std::span<const int64_t> shape, std::span<const int64_t> strides) {
    int64_t expected = 1;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      if (strides[axis] != expected) return false;
      expected *= shape[axis];
    }
    return true;
  }

  const PlannedNode& node_;
  sdk::Operand shape_;  // the first output
  Body body_;
  std::vector<Result> results_;
};

}  // namespace ferrule::cuda
