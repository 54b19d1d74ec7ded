// ferrule/_ops.py: one function an op, but for those whose calling convention array libraries spell by hand.
#include "ops/generate/generate.h"
#include "ops/table.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace ferrule::ops {
namespace {

constexpr std::array<std::string_view, 11> by_hand = {"astype", "broadcast_to", "concat",  "copy",  "fused", "iota",
                                                      "pad",    "permute_dims", "reshape", "slice", "take"};

bool is_generated(const Row& row) { return std::find(by_hand.begin(), by_hand.end(), row.name) == by_hand.end(); }

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

std::string signature(const Row& row) {
  std::string text = fmt::format("def {}(", row.name);
  // Optional inputs may be named, too.
  const std::size_t required = row.required_inputs();
  for (std::size_t i = 0; i < required; ++i) text += fmt::format("{}: Operand, ", row.inputs[i].name);
  text += "/";
  for (std::size_t i = required; i < row.input_count; ++i)
    text += fmt::format(", {}: Operand | None = None", row.inputs[i].name);
  if (row.attribute_count > 0) text += ", *";
  for (std::size_t i = 0; i < row.attribute_count; ++i)
    text += fmt::format(", {}: {}{}", row.attributes[i].name, python_type(row.attributes[i].type),
                        default_of(row.attributes[i]));
  return text + ") -> Array:";
}

std::string head(const char* sentence) {
  return fmt::format(
      "\"\"\"{}\n\nGenerated from csrc/ops by ferrule-generate-ops.\n\"\"\"\n\nfrom __future__ import annotations\n\n"
      "from collections.abc import Sequence\nfrom typing import Any\n\n",
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
      "from ferrule._record import apply as _apply\nfrom ferrule.array import Array\n\nOperand = Any\n\n" + all_names();
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
    text += fmt::format("\n\n{}\n    \"\"\"{}\"\"\"\n    return _apply(\"{}\", ({}), {{{}}})\n", signature(*row),
                        row->text, row->name, inputs, attributes);
  }
  return text;
}

std::string python_stub() {
  std::string text = head("The ops, one function each.");
  text += "from ferrule.array import Array\n\nOperand = Any\n\n" + all_names();
  for (const Row* row : all_ops())
    if (is_generated(*row)) text += fmt::format("\n{}\n    \"\"\"{}\"\"\"\n", signature(*row), row->text);
  return text;
}

}  // namespace ferrule::ops
