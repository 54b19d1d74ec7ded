// ferrule/ops.h: a struct for each op that has attributes, with the layout that ops/attributes.h describes.
#include "ops/generate/generate.h"
#include "ops/table.h"

namespace ferrule::ops {
namespace {

const char* c_type(AttributeType type) {
  switch (type) {
    case AttributeType::integer:
      return "int64_t ";
    case AttributeType::real:
      return "double ";
    case AttributeType::boolean:
      return "int32_t ";
    case AttributeType::string:
      return "const char *";
    case AttributeType::integers:
      return "fe_int64_list ";
    case AttributeType::reals:
      return "fe_float64_list ";
    case AttributeType::dtype:
      return "fe_dtype ";
  }
  return "?";
}

}  // namespace

std::string c_header() {
  std::string text =
      "/* Generated from the op rows by ferrule-generate-ops: the attributes of each op that has any. C11, also valid\n"
      " * C++. A node's `attributes` points to the struct of its op. */\n"
      "#ifndef FERRULE_OPS_H\n#define FERRULE_OPS_H\n\n#include <ferrule/types.h>\n\n"
      "#ifdef __cplusplus\nextern \"C\" {\n#endif\n";
  for (const Row* row : all_ops()) {
    if (row->attribute_count == 0) continue;
    text += fmt::format("\n/* {}: {} */\ntypedef struct fe_{}_attributes {{\n  size_t struct_size;\n", row->name,
                        row->text, row->name);
    for (std::size_t i = 0; i < row->attribute_count; ++i)
      text += fmt::format("  {}{};\n", c_type(row->attributes[i].type), row->attributes[i].name);
    text += fmt::format("}} fe_{}_attributes;\n", row->name);
  }
  return text + "\n#ifdef __cplusplus\n}\n#endif\n#endif\n";
}

}  // namespace ferrule::ops
