// ferrule/_ops.py: one function an op, but for those whose calling convention array libraries spell by hand.
#include "ops/generate/generate.h"
#include "ops/table.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <sstream>
#include <string_view>
#include <vector>

namespace ferrule::ops {
namespace {

constexpr std::array<std::string_view, 11> by_hand = {"astype", "broadcast_to", "concat",  "copy",  "fused", "iota",
                                                      "pad",    "permute_dims", "reshape", "slice", "take"};

constexpr std::size_t widest_line = 120;

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

// As `ruff format` breaks it: on one line, else the parameters on a line of their own, else each on one.
std::string signature(const Row& row) {
  std::vector<std::string> parameters;
  // Optional inputs may be named, too.
  const std::size_t required = row.required_inputs();
  for (std::size_t i = 0; i < required; ++i) parameters.push_back(fmt::format("{}: Operand", row.inputs[i].name));
  parameters.emplace_back("/");
  for (std::size_t i = required; i < row.input_count; ++i)
    parameters.push_back(fmt::format("{}: Operand | None = None", row.inputs[i].name));
  if (row.attribute_count > 0) parameters.emplace_back("*");
  for (std::size_t i = 0; i < row.attribute_count; ++i)
    parameters.push_back(fmt::format("{}: {}{}", row.attributes[i].name, python_type(row.attributes[i].type),
                                     default_of(row.attributes[i])));
  const std::string together = fmt::format("{}", fmt::join(parameters, ", "));
  std::string line = fmt::format("def {}({}) -> Array:", row.name, together);
  if (line.size() <= widest_line) return line;
  if (std::strlen("    ") + together.size() <= widest_line)
    return fmt::format("def {}(\n    {}\n) -> Array:", row.name, together);
  return fmt::format("def {}(\n    {},\n) -> Array:", row.name, fmt::join(parameters, ",\n    "));
}

// The op's sentences, broken between words.
std::string docstring(const Row& row) {
  std::string text;
  std::string line = "    \"\"\"";
  std::istringstream words(row.text);
  for (std::string word, space; words >> word; space = " ") {
    if (line.size() + space.size() + word.size() + std::strlen("\"\"\"") > widest_line) {
      text += line + "\n";
      line = "    " + word;
    } else {
      line += space + word;
    }
  }
  return text + line + "\"\"\"";
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
    text += fmt::format("\n\n{}\n{}\n    return _apply(\"{}\", ({}), {{{}}})\n", signature(*row), docstring(*row),
                        row->name, inputs, attributes);
  }
  return text;
}

std::string python_stub() {
  std::string text = head("The ops, one function each.");
  text += "from ferrule.array import Array\n\nOperand = Any\n\n" + all_names();
  for (const Row* row : all_ops())
    if (is_generated(*row)) text += fmt::format("\n{}\n{}\n", signature(*row), docstring(*row));
  return text;
}

}  // namespace ferrule::ops
