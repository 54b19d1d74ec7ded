// The op set as JSON and as a page of the docs.
#include "ops/describe.h"
#include "ops/generate/generate.h"
#include "ops/table.h"

#include <string_view>

namespace ferrule::ops {

std::string json() { return describe_ops() + "\n"; }

namespace {

// Text inside a table, where a bar would end the cell.
std::string cell(std::string_view text) {
  std::string escaped;
  for (const char letter : text) {
    if (letter == '|') escaped += '\\';
    escaped += letter;
  }
  return escaped;
}

}  // namespace

std::string markdown() {
  std::string text =
      "# Ops\n\n"
      "Generated from `csrc/ops` by `./dev abi`. An *elementwise* op may be fused; a *view* is strides, never a "
      "kernel; a\n"
      "*primitive* needs a kernel; a *composite* is decomposed where a device has none.\n";
  for (const Kind kind : {Kind::elementwise, Kind::primitive, Kind::composite, Kind::view}) {
    text += fmt::format("\n## {}\n\n| op | inputs | attributes | what |\n|---|---|---|---|\n", name_of(kind));
    for (const Row* row : all_ops()) {
      if (row->kind != kind) continue;
      std::string inputs, attributes;
      for (std::size_t i = 0; i < row->input_count; ++i)
        inputs += fmt::format("{}{}{}", i ? ", " : "", row->inputs[i].name, row->inputs[i].optional ? "?" : "");
      for (std::size_t i = 0; i < row->attribute_count; ++i)
        attributes += fmt::format("{}{}: {}", i ? ", " : "", row->attributes[i].name, name_of(row->attributes[i].type));
      text += fmt::format("| `{}` | {} | {} | {} |\n", row->name, inputs, attributes, cell(row->text));
    }
  }
  return text;
}

}  // namespace ferrule::ops
