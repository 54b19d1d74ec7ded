// The op set as data, for programs: what fe_ops returns.
#pragma once

#include "ops/row.h"

#include <string>

namespace ferrule::ops {

const char* name_of(Kind kind);

// JSON: [{"name", "doc", "kind", "revision", "inputs": [{"name", "accepts", "promoted", "optional", "variadic"}],
// "attributes": [{"name", "type", "required", "default"}], "outputs": [name]}]; internal ops are left out.
std::string describe_ops();

}  // namespace ferrule::ops
