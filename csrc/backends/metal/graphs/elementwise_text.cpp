#include "graphs/elementwise_text.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "pipelines/embedded_texts.h"

namespace ferrule::metal {
namespace {

std::optional<Format> format_for(const sdk::DTypeInfo& row) {
  constexpr std::string_view integers[2][4] = {{"uchar", "ushort", "uint", "ulong"}, {"char", "short", "int", "long"}};
  // Metal has no type of these.
  if (row.is_complex() || row.is_block() || (row.is_floating() && row.block_bytes > 4)) return std::nullopt;
  const bool is_half = row.is_floating() && row.block_bytes < 4;
  if (is_half && file_of_function(joined({"load_", row.abbreviation})).empty()) return std::nullopt;
  const std::string_view integer = integers[row.dtype_class == FE_CLASS_SIGNED][std::countr_zero(row.block_bytes)];
  const std::string_view stored = row.is_floating() && !is_half ? "float" : integer;
  const std::string_view computed = row.dtype_class == FE_CLASS_BOOL ? "bool" : is_half ? "float" : stored;
  return Format{row.name, row.abbreviation, stored, computed, is_half};
}

[[noreturn]] void refuse(const std::string& reason) { throw sdk::Error(FE_UNSUPPORTED, reason); }

class Writer {
 public:
  explicit Writer(const PlannedNode& node) : node_(node), shape_(node.output(0)) {}

  struct Value {
    std::string name;
    const Format* format;
  };

  Value load(uint32_t input) {
    const Format& format = formats().of_input(node_, input);
    const std::string number = std::to_string(add_operand(node_.input_value(input), node_.input(input), format, false));
    const bool is_converted = format.is_half || format.name == "bool";
    return variable(format, is_converted ? joined({"load_", format.name, "(array", number, ", at", number, ")"})
                                         : joined({"array", number, "[at", number, "]"}));
  }
  void store(uint32_t output, const Value& value) {
    const Format& format = *value.format;
    const std::string number =
        std::to_string(add_operand(node_.output_value(output), node_.output(output), format, true));
    if (format.is_half || format.name == "bool")
      code_.text += joined({"  store_", format.name, "(array", number, ", at", number, ", ", value.name, ");\n"});
    else
      code_.text += joined({"  array", number, "[at", number, "] = ", value.name, ";\n"});
  }

  // The result that the kernel itself computes.
  Value own(fe_dtype dtype) {
    const Format& format = formats().of(dtype);
    code_.own_type = format.computed;
    return variable(format, rounded("own", format));
  }

  Value apply(fe_op id, std::span<const Value> in, fe_dtype dtype, const void* attributes, uint32_t output) {
    const std::string_view op = sdk::host->op_name(id);
    if (sdk::moves_bits(op)) return in[0];
    const Format& format = formats().of(dtype);
    if (op == "astype") return cast(in[0], format);
    std::string function = "op_" + sdk::function_name(id, attributes, output);
    const Format& computed = *in.back().format;
    const std::string own = joined({function, "_", computed.name});
    if (has_function(own))
      function = own;
    else if (!has_function(function))
      refuse(joined({op, " of ", computed.dtype, " is not supported"}));
    std::string call = function + "(";
    for (size_t i = 0; i < in.size(); ++i) call += (i > 0 ? ", " : "") + in[i].name;
    // It reports negative exponents; the host adds the dtype to the message.
    if (op == "pow" && computed.computed != "float") call += ", fault, " + std::to_string(dtype) + "u";
    return variable(format, rounded(call + ")", format));
  }

  // The number of an element, in C order.
  Value number() { return variable(formats().named("uint64"), "element"); }
  Value cast(const Value& value, const Format& to) {
    if (value.format == &to) return value;
    note("elementwise/conversion.metal");
    return variable(to, joined({"op_astype_", to.dtype, "(", value.name, ")"}));
  }
  // start + number * step, which wraps.
  Value evenly_spaced(const Value& start, const Value& step) {
    const Value product = binary("op_multiply", cast(number(), *start.format), step);
    return binary("op_add", start, product);
  }

  ElementCode take() { return std::move(code_); }

 private:
  bool has_function(const std::string& function) {
    const std::string_view file = file_of_function(function);
    if (file.empty()) return false;
    note(file);
    return true;
  }
  void note(std::string_view file) {
    if (std::find(code_.files.begin(), code_.files.end(), file) == code_.files.end()) code_.files.push_back(file);
  }
  static std::string rounded(const std::string& value, const Format& format) {
    return format.is_half ? joined({"rounded_", format.name, "(", value, ")"}) : value;
  }
  Value variable(const Format& format, const std::string& value) {
    Value made{"v" + std::to_string(variables_++), &format};
    code_.text += joined({"  const ", format.computed, " ", made.name, " = ", value, ";\n"});
    return made;
  }

  Value binary(std::string_view function, const Value& a, const Value& b) {
    note("elementwise/arithmetic.metal");
    return variable(*a.format, joined({function, "(", a.name, ", ", b.name, ")"}));
  }

  size_t add_operand(uint32_t value, const sdk::Operand& operand, const Format& format, bool is_written) {
    code_.operands.push_back(
        {value, &format, sdk::broadcast_strides(operand, static_cast<size_t>(shape_.rank())), is_written});
    return code_.operands.size() - 1;
  }

  const PlannedNode& node_;
  sdk::Operand shape_;  // the first output
  ElementCode code_;
  uint32_t variables_ = 0;
};

}  // namespace

const sdk::Formats<Format>& formats() {
  static const sdk::Formats<Format> all(format_for);
  return all;
}

ElementCode code_of(const PlannedNode& node) {
  Writer writer(node);
  sdk::write_elementwise(node, writer);
  return writer.take();
}

ElementCode counting_code_of(const PlannedNode& node) {
  Writer writer(node);
  const Format& format = formats().of(node.output(0).dtype());
  if (node.input_count() == 0) {
    writer.store(0, writer.cast(writer.number(), format));
    return writer.take();
  }
  const Writer::Value start = writer.load(0), step = writer.load(1);
  writer.store(0, writer.cast(writer.evenly_spaced(start, step), format));
  return writer.take();
}

ElementCode epilogue_of(const PlannedNode& node, uint32_t own_inputs) {
  Writer writer(node);
  sdk::write_epilogue(node, own_inputs, writer);
  return writer.take();
}

}  // namespace ferrule::metal
