// ferrule/op_table.hpp: the rows as constants, with which every module built on the SDK checks nodes.
#include "ops/generate/generate.h"
#include "ops/generate/result_words.h"
#include "ops/table.h"

#include <array>
#include <string_view>

namespace ferrule::ops {
namespace {

std::string dtype_set(Accepts what) {
  std::array<uint64_t, 2> words{};
  for (std::size_t i = 0; i < dtype_rows.size(); ++i)
    if (accepts(what, dtype_rows[i].dtype)) words[i / 64] |= uint64_t{1} << i % 64;
  return fmt::format("{{{{{{0x{:x}, 0x{:x}}}}}}}", words[0], words[1]);
}

std::string inputs_of(const Row& row) {
  std::string text;
  for (std::size_t i = 0; i < row.input_count; ++i)
    text += fmt::format("    {{\"{}\", {}, {}}},\n", row.inputs[i].name, dtype_set(row.inputs[i].accepts),
                        row.inputs[i].promoted);
  return text;
}

std::string results_of(const Row& row) {
  std::string text;
  for (std::size_t i = 0; i < row.output_count; ++i) {
    const ResultWords words = result_words(row, i);
    const std::string dtype = words.fixed_dtype.empty() ? "nullptr" : fmt::format("\"{}\"", words.fixed_dtype);
    text += fmt::format("    {{\"{}\", ResultDType::{}, {}, ResultShape::{}}},\n", row.outputs[i], words.dtype, dtype,
                        words.shape);
  }
  return text;
}

std::string attributes_of(const Row& row) {
  std::string text;
  for (std::size_t i = 0; i < row.attribute_count; ++i) {
    const AttributeRow& attribute = row.attributes[i];
    const std::string choices = attribute.choices ? fmt::format("\"{}\"", attribute.choices) : "nullptr";
    text += fmt::format(
        "    {{\"{1}\", AttributeKind::{2}, offsetof(fe_{0}_attributes, {1}), sizeof(fe_{0}_attributes::{1}), {3}, "
        "{4}}},\n",
        row.name, attribute.name, attribute_kind(attribute), attribute.since, choices);
  }
  return text;
}

// A list that a row of op_table points to; no text if it is empty.
std::string list(const char* type, const char* op, const char* name, const std::string& elements) {
  if (elements.empty()) return {};
  return fmt::format("inline constexpr {} {}_{}[] = {{\n{}}};\n", type, op, name, elements);
}

}  // namespace

std::string op_table() {
  std::string text =
      "// Generated from the op rows by ferrule-generate-ops: what a node of each op must be like.\n"
      "#ifndef FERRULE_OP_TABLE_HPP\n#define FERRULE_OP_TABLE_HPP\n\n"
      "#include <ferrule/cpp/op_info.hpp>\n#include <ferrule/ops.h>\n\n#include <cstddef>\n\n"
      "namespace ferrule::sdk {\n\n";
  for (const Row* row : all_ops()) {
    text += list("InputInfo", row->name, "inputs", inputs_of(*row));
    text += list("ResultInfo", row->name, "results", results_of(*row));
    text += list("AttributeInfo", row->name, "attributes", attributes_of(*row));
  }
  text += "\n// In the order of their names.\ninline constexpr OpInfo op_table[] = {\n";
  for (const Row* row : all_ops())
    text += fmt::format("    {{\"{0}\", {1}, OpKind::{2}, {3}, {4}, {5}, {0}_results, {6}}},\n", row->name,
                        row->revision, name_of(row->kind), row->required_inputs(), row->variadic(),
                        row->input_count > 0 ? fmt::format("{}_inputs", row->name) : "{}",
                        row->attribute_count > 0 ? fmt::format("{}_attributes", row->name) : "{}");
  return text + "};\n\n}  // namespace ferrule::sdk\n\n#endif\n";
}

}  // namespace ferrule::ops
