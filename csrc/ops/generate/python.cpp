// ferrule/functions/ops.py: one function per op, except ops with another calling convention, which are written by hand.
// The text is not formatted; `./dev lint --fix` passes the stub through ruff.
#include "ops/generate/generate.h"
#include "ops/table.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

namespace ferrule::ops {
namespace {

constexpr std::string_view by_hand[] = {
    "arange",
    "argsort",
    "astype",
    "bincount",
    "broadcast_to",
    "cholesky",
    "compress",
    "concat",
    "conj",
    "copy",
    "cumulative_prod",
    "cumulative_sum",
    "det",
    "dynamic_slice",
    "eigh",
    "eigvalsh",
    "fft_complex",
    "fft_real",
    "fft_to_real",
    "fused",
    "imag",
    "inv",
    "iota",
    "masked_scatter",
    "nonzero",
    "pad",
    "permute_dims",
    "qr",
    "random_bits",
    "real",
    "reshape",
    "scaled_dot_product_attention",
    "scatter",
    "searchsorted",
    "slice",
    "slogdet",
    "solve",
    "sort",
    "sum_of_squares",
    "svd",
    "svdvals",
    "take",
    "take_along_axis",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
    "update_slice",
    "var",
};

bool is_generated(const Row& row) { return std::ranges::find(by_hand, row.name) == std::end(by_hand); }

const char* python_type(AttributeType type) {
  switch (type) {
    case AttributeType::integer:
      return "int";
    case AttributeType::real:
      return "float";
    case AttributeType::boolean:
      return "bool";
    case AttributeType::string:
      return "str";
    case AttributeType::integers:
      return "int | Sequence[int] | None";
    case AttributeType::reals:
      return "float | Sequence[float] | None";
    case AttributeType::dtype:
      return "str";
  }
  return "object";
}

std::string default_of(const AttributeRow& attribute) {
  if (attribute.required) return "";
  switch (attribute.type) {
    case AttributeType::integer:
      return fmt::format(" = {}", attribute.integer_default);
    case AttributeType::real: {
      const std::string text = fmt::format("{}", attribute.real_default);
      return " = " + (text.find_first_of(".e") == std::string::npos ? text + ".0" : text);
    }
    case AttributeType::boolean:
      return attribute.integer_default ? " = True" : " = False";
    case AttributeType::string:
      return fmt::format(" = \"{}\"", attribute.string_default);
    default:
      return " = None";
  }
}

// "Array", or a name such as "TopkResult" for an op with several outputs.
std::string result_type(const Row& row) {
  if (row.output_count == 1) return "Array";
  std::string name = std::string(row.name) + "Result";
  name[0] = static_cast<char>(name[0] - 'a' + 'A');
  return name;
}

std::string signature(const Row& row) {
  std::vector<std::string> parameters;
  // Optional inputs may also be passed by name.
  const std::size_t required = row.required_inputs();
  parameters.reserve(row.input_count + 1);
  for (std::size_t i = 0; i < required; ++i) parameters.push_back(fmt::format("{}: Operand", row.inputs[i].name));
  parameters.emplace_back("/");
  for (std::size_t i = required; i < row.input_count; ++i)
    parameters.push_back(fmt::format("{}: Operand | None = None", row.inputs[i].name));
  // Attributes without a default come first, and may be passed by position.
  for (const bool is_required : {true, false}) {
    bool is_first = true;
    for (std::size_t i = 0; i < row.attribute_count; ++i) {
      if (row.attributes[i].required != is_required) continue;
      if (std::exchange(is_first, false) && !is_required) parameters.emplace_back("*");
      parameters.push_back(fmt::format("{}: {}{}", row.attributes[i].name, python_type(row.attributes[i].type),
                                       default_of(row.attributes[i])));
    }
  }
  return fmt::format("def {}({}) -> {}:", row.name, fmt::join(parameters, ", "), result_type(row));
}

// The named tuple of an op with several outputs.
std::string result_class(const Row& row) {
  std::string text =
      fmt::format("\n\nclass {}(NamedTuple):\n    \"\"\"What {} gives.\"\"\"\n\n", result_type(row), row.name);
  for (std::size_t i = 0; i < row.output_count; ++i) text += fmt::format("    {}: Array\n", row.outputs[i]);
  return text;
}

std::string head(const char* sentence) {
  return fmt::format(
      "\"\"\"{}\n\nGenerated from csrc/ops by ferrule-generate-ops.\n\"\"\"\n\nfrom __future__ import annotations\n\n"
      "from collections.abc import Sequence\nfrom typing import Any, NamedTuple\n\n",
      sentence);
}

std::string all_names() {
  std::string text = "__all__ = [\n";
  for (const Row* row : all_ops())
    if (is_generated(*row)) text += fmt::format("    \"{}\",\n", row->name);
  return text + "]\n";
}

}  // namespace

std::string python_module() {
  std::string text = head("The ops, one function each.");
  text +=
      "from ferrule.array.array import Array\nfrom ferrule.array.caller_names import explains_arguments as _explains\n"
      "from ferrule.array.recording import apply as _apply\n"
      "from ferrule.array.recording import apply_all as _apply_all\n\nOperand = Any\n\n" +
      all_names();
  for (const Row* row : all_ops()) {
    if (!is_generated(*row)) continue;
    std::string inputs, attributes;
    for (std::size_t i = 0; i < row->input_count; ++i) inputs += fmt::format("{}, ", row->inputs[i].name);
    for (std::size_t i = 0; i < row->attribute_count; ++i) {
      const AttributeRow& attribute = row->attributes[i];
      const bool list = attribute.type == AttributeType::integers;
      attributes += fmt::format("{}\"{}\": {}{}", i ? ", " : "", attribute.name, attribute.name,
                                list ? " if " + std::string(attribute.name) + " is not None else ()" : "");
    }
    const std::string call = fmt::format("(\"{}\", ({}), {{{}}})", row->name, inputs, attributes);
    const bool is_one = row->output_count == 1;
    if (!is_one) text += result_class(*row);
    text += fmt::format("\n\n{}{}\n    \"\"\"{}\"\"\"\n    return {}\n", row->attribute_count ? "@_explains\n" : "",
                        signature(*row), row->text,
                        is_one ? "_apply" + call : result_type(*row) + "(*_apply_all" + call + ")");
  }
  return text;
}

std::string python_stub() {
  std::string text = head("The ops, one function each.");
  text += "from ferrule.array.array import Array\n\nOperand = Any\n\n" + all_names();
  for (const Row* row : all_ops())
    if (is_generated(*row))
      text += fmt::format("{}\n{}\n    \"\"\"{}\"\"\"\n", row->output_count == 1 ? "" : result_class(*row).substr(1),
                          signature(*row), row->text);
  return text;
}

}  // namespace ferrule::ops
