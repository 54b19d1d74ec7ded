#include "graphs/elementwise_body.h"

#include <ferrule/cpp/formats.hpp>

#include <optional>
#include <set>

#include "pipelines/embedded_shaders.h"
#include "pipelines/splice.h"

namespace ferrule::vulkan {
namespace {

// A dtype, as it is stored and as it is computed.
struct Format {
  std::string_view dtype, name, computed_in;
  bool is_floating;
  bool is_narrow() const { return name != computed_in; }
};

[[noreturn]] void refuse(const std::string& reason) { throw sdk::Error(FE_UNSUPPORTED, reason); }

// Whether a body may call a function. Epilogues have fewer: functions.glsl, but not further_functions.glsl.
bool has_function(const std::string& name, bool in_epilogue) {
  static const auto of_elementwise = function_names(find_shader("elementwise.f64"));
  static const auto of_epilogues = function_names(find_shader("matmul.f64"));
  return (in_epilogue ? of_epilogues : of_elementwise).contains(name);
}

std::string joined(std::initializer_list<std::string_view> parts) {
  std::string name;
  for (const std::string_view part : parts) {
    if (!name.empty()) name += '_';
    name += part;
  }
  return name;
}

// Integers narrower than 32 bits are computed in 32 bits.
std::optional<Format> format_for(const sdk::DTypeInfo& row) {
  if (!row.is_computed() || row.is_complex() || !has_function(joined({"load", row.name}), true)) return std::nullopt;
  std::string_view computed = row.abbreviation;
  if (row.is_half()) computed = sdk::find_dtype(row.computed)->abbreviation;
  if (row.is_integer() && row.block_bytes < 4) computed = row.dtype_class == FE_CLASS_SIGNED ? "i32" : "u32";
  return Format{row.name, row.abbreviation, computed, row.is_floating()};
}
const sdk::Formats<Format>& formats() {
  static const sdk::Formats<Format> all(format_for);
  return all;
}

class Writer {
 public:
  Writer(const PlannedNode& node, bool in_epilogue) : node_(node), shape_(node.output(0)), in_epilogue_(in_epilogue) {}

  struct Value {
    uint32_t call;
    const Format* format;
  };

  Value load(uint32_t input) {
    const Format& format = formats().of_input(node_, input);
    const auto slot = add_operand(node_.input_value(input), node_.input(input));
    body_.reads.push_back(node_.input_value(input));
    return {call(joined({"load", format.dtype}), {literal(slot), place(slot)}), note(format)};
  }
  void store(uint32_t output, const Value& value) {
    const sdk::Operand operand = node_.output(output);
    const uint32_t slot = add_operand(node_.output_value(output), operand);
    body_.writes.push_back(node_.output_value(output));
    call(joined({"store", value.format->dtype}), {literal(slot), flat(), of(value)});
  }
  // The result that the shader itself computes.
  Value own(fe_dtype dtype) {
    const Format& format = formats().of(dtype);
    const Value value{call(joined({"result", format.computed_in}), {}), note(format)};
    return format.is_narrow() ? narrow("as", value, format) : value;
  }

  Value apply(fe_op id, std::span<const Value> in, fe_dtype dtype, const void* attributes, uint32_t output) {
    const std::string_view op = sdk::host->op_name(id);
    if (sdk::moves_bits(op)) return in[0];
    const Format& format = *note(formats().of(dtype));
    if (op == "astype") return cast(in[0], format);
    std::string function = sdk::function_name(id, attributes, output);
    const Format& computed = *in.back().format;
    const std::string own = joined({function, computed.name});
    function = has_function(own, in_epilogue_) ? own : joined({function, computed.computed_in});
    if (!has_function(function, in_epilogue_))
      refuse(std::string(op) + " of " + std::string(computed.dtype) + " is not supported" +
             (in_epilogue_ ? " in an epilogue" : ""));
    std::vector<Call::Argument> arguments;
    for (const Value& value : in) arguments.push_back(of(value));
    // The function reports negative exponents; the host adds the dtype to the message.
    if (op == "pow" && !format.is_floating) arguments.push_back(literal(dtype));
    const Value result{call(function, std::move(arguments)), &format};
    return format.is_narrow() ? narrow("as", result, format) : result;
  }

  // start + number * step, where the number is that of the element.
  Value evenly_spaced(Value start, Value step, const Format& to) {
    const Format& wide = *start.format;
    const Value number = cast({flat().value, &formats().named("int64")}, wide);
    const Value product = {call(joined({"multiply", wide.computed_in}), {of(number), of(step)}), &wide};
    const Value sum = {call(joined({"add", wide.computed_in}), {of(start), of(product)}), &wide};
    return cast(sum, *note(to));
  }

  Body take() { return std::move(body_); }

 private:
  static Call::Argument literal(uint32_t value) { return {.is_literal = true, .value = value}; }
  static Call::Argument of(const Value& value) { return {.is_literal = false, .value = value.call}; }

  uint32_t call(std::string function, std::vector<Call::Argument> arguments) {
    body_.calls.push_back({.function = std::move(function), .arguments = std::move(arguments)});
    return static_cast<uint32_t>(body_.calls.size() - 1);
  }
  const Format* note(const Format& format) {
    body_.uses_float64 = body_.uses_float64 || format.name == "f64";
    return &format;
  }
  Value narrow(std::string_view how, Value value, const Format& format) {
    return {call(joined({how, format.name}), {of(value)}), &format};
  }

  Value cast(Value value, const Format& to) {
    const Format& from = *value.format;
    if (&from == &to) return value;
    const bool is_wider = from.computed_in != to.computed_in;
    // An integer or float64 becomes a half in two roundings, of which the first rounds to odd.
    const bool to_odd = is_wider && to.is_floating && to.is_narrow() && from.name != "bool";
    if (is_wider) value.call = call(joined({to_odd ? "odd" : "cast", from.computed_in, to.computed_in}), {of(value)});
    value.format = &to;
    if (!to.is_narrow() || from.name == "bool") return value;
    return narrow(from.is_floating && !to.is_floating ? "saturated" : "as", value, to);
  }

  // Adds the operand with its strides in the outputs' shape; they are zero along broadcast axes.
  uint32_t add_operand(uint32_t value, const sdk::Operand& operand) {
    const auto rank = static_cast<size_t>(shape_.rank());
    const sdk::Strides strides = sdk::broadcast_strides(operand, rank);
    body_.operands.push_back(layout_of(value, shape_.shape(), std::span(strides).first(rank)));
    return static_cast<uint32_t>(body_.operands.size() - 1);
  }

  Call::Argument flat() {
    if (!flat_) flat_ = call("place_flat", {});
    return {.is_literal = false, .value = *flat_};
  }
  // Operands with equal layouts share one calculation of the offset.
  Call::Argument place(uint32_t slot) {
    const Layout& layout = body_.operands[slot];
    if (layout.rank == 1 && layout.strides[0] == 1) return flat();
    for (const auto& [known, at] : places_)
      if (is_alike(body_.operands[known], layout)) return {.is_literal = false, .value = at};
    bool is_single = true;
    for (uint32_t axis = 0; axis < layout.rank; ++axis) is_single = is_single && layout.strides[axis] == 0;
    const uint32_t at = is_single         ? call("place_single", {})
                        : is_near(layout) ? call("place_near", {literal(slot)})
                                          : call("place_far", {literal(slot)});
    places_.emplace_back(slot, at);
    return {.is_literal = false, .value = at};
  }
  static bool is_alike(const Layout& a, const Layout& b) {
    return a.rank == b.rank && std::equal(a.shape, a.shape + a.rank, b.shape) &&
           std::equal(a.strides, a.strides + a.rank, b.strides);
  }
  static bool is_near(const Layout& layout) {
    return sdk::is_near({layout.shape, layout.rank}, {layout.strides, layout.rank});
  }

  const PlannedNode& node_;
  sdk::Operand shape_;  // the first output
  bool in_epilogue_;
  Body body_;
  std::optional<uint32_t> flat_;
  std::vector<std::pair<uint32_t, uint32_t>> places_;  // operand, and the call that computes its offset
};

}  // namespace

Body body_of(const PlannedNode& node) {
  Writer writer(node, false);
  sdk::write_elementwise(node, writer);
  return writer.take();
}

Body arange_body(const PlannedNode& node) {
  Writer writer(node, false);
  const Writer::Value start = writer.load(0), step = writer.load(1);
  writer.store(0, writer.evenly_spaced(start, step, formats().of(node.output(0).dtype())));
  return writer.take();
}

Body epilogue_of(const PlannedNode& node, uint32_t own_inputs) {
  Writer writer(node, true);
  sdk::write_epilogue(node, own_inputs, writer);
  return writer.take();
}

void finish_with(Body body, Dispatch& dispatch) {
  const auto layouts = std::as_bytes(std::span(body.operands));
  dispatch.parameters.insert(dispatch.parameters.end(), layouts.begin(), layouts.end());
  dispatch.reads.insert(dispatch.reads.end(), body.reads.begin(), body.reads.end());
  dispatch.writes = std::move(body.writes);
  dispatch.calls = std::move(body.calls);
}

}  // namespace ferrule::vulkan
