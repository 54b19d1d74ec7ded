// The op set as JSON, for fe_ops.
#pragma once

#include "ops/row.h"

#include <string>

namespace ferrule::ops {

const char* name_of(Kind kind);

// JSON: [{"name", "doc", "kind", "revision", "inputs": [{"name", "accepts", "promoted", "optional", "variadic"}],
// "attributes": [{"name", "type", "required", "default"}], "outputs": [name]}], without internal ops.
std::string describe_ops();

}  // namespace ferrule::ops
