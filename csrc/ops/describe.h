// The op set as JSON, for fe_ops.
#pragma once

#include "base/json_text.h"
#include "ops/row.h"

#include <string>

namespace ferrule::ops {

const char* name_of(Kind kind);
// The default of an attribute that is not required; an empty list or null of those without one.
void write_default(const AttributeRow& attribute, JsonText& json);

// JSON: [{"name", "doc", "kind", "revision", "inputs": [{"name", "accepts", "promoted", "optional", "variadic"}],
// "attributes": [{"name", "type", "required", "default"}], "outputs": [name]}], without internal ops.
std::string describe_ops();

}  // namespace ferrule::ops
