// The op set as a page of the documentation.
#include "ops/describe.h"
#include "ops/generate/generate.h"
#include "ops/table.h"

#include <set>
#include <string_view>

namespace ferrule::ops {

namespace {

// Text of a table cell, with bars escaped.
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
      "Generated from `csrc/ops` by `./dev lint --fix`. An *elementwise* op may be fused; a *view* is strides, never a "
      "kernel; a\n"
      "*primitive* needs a kernel; a *composite* is decomposed where a device has none; a *host* op runs on the CPU "
      "where a\n"
      "device has no kernel for it.\n\n"
      "A heading is an op family: the name of the file with the rows, and of the files or folders with the kernels and "
      "the\n"
      "kit's cases.\n";
  std::set<std::string_view> families;
  for (const Row* row : all_ops())
    if (row->kind != Kind::internal) families.insert(family_of(*row));
  for (const std::string_view family : families) {
    text += fmt::format("\n## {}\n\n| op | kind | inputs | attributes | outputs | what |\n|---|---|---|---|---|---|\n",
                        family);
    for (const Row* row : all_ops()) {
      if (row->kind == Kind::internal || family_of(*row) != family) continue;
      std::string inputs, attributes, outputs;
      for (std::size_t i = 0; i < row->input_count; ++i)
        inputs += fmt::format("{}{}{}", i ? ", " : "", row->inputs[i].name, row->inputs[i].optional ? "?" : "");
      for (std::size_t i = 0; i < row->attribute_count; ++i)
        attributes += fmt::format("{}{}: {}", i ? ", " : "", row->attributes[i].name, name_of(row->attributes[i].type));
      for (std::size_t i = 0; i < row->output_count; ++i) outputs += (i ? ", " : "") + std::string(row->outputs[i]);
      text += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", row->name, name_of(row->kind), inputs, attributes,
                          outputs, cell(row->text));
    }
  }
  return text;
}

}  // namespace ferrule::ops
