// The ops' part of ferrule/abi_snapshot.inc: what kernels that were compiled earlier rely on.
#include "ops/attributes.h"
#include "ops/generate/generate.h"
#include "ops/row.h"
#include "ops/table.h"

#include <fmt/format.h>

namespace ferrule::ops {

std::string snapshot() {
  std::string text;
  for (const Row* row : all_ops()) {
    text += fmt::format("FE_OP({}, {})\n", row->name, row->revision);
    const std::vector<std::size_t> offsets = packed_layout(*row);
    for (std::size_t i = 0; i < row->attribute_count; ++i) {
      const AttributeRow& attribute = row->attributes[i];
      text += fmt::format("FE_ATTRIBUTE({}, {}, {}, \"{}\", {})\n", row->name, attribute.name, offsets[i],
                          name_of(attribute.type), attribute.since);
    }
  }
  return text;
}

}  // namespace ferrule::ops
